import sys,re,glob
from collections import Counter
from itertools import combinations
sys.path.insert(0,'/work/main/components')
from contextlens.core.words import find_words, split_words
def words(t): return [w.casefold() for a,b in split_words(t) if (w:=t[a:b])[0].isalnum()]
FW=set("a an and as at by can for from had has he her his i if in is it its my no not of on one or she than that the their them then there they this to was we were what when which who with you your so but be have did do does are been will would could after before out up into only just me our all".split())
NAMES={("apple","company"),("ruby","language"),("arm","company")}
rows=[]
for f in sorted(glob.glob('/tmp/words/b*.txt')):
    key=None
    for l in open(f):
        l=l.rstrip('\n')
        if not l: continue
        if l.startswith('# '):
            w,s=l[2:].split(': '); key=(w,s); continue
        rows.append((*key,l))
old=[tuple(l.rstrip('\n').split('\t')) for l in open('/work/main/components/contextlens/content/ambiguous_words.txt') if l.strip()]
allrows=old+rows
W={r[0] for r in allrows}
import collections
S=collections.defaultdict(list)
for w,s,t in rows: S[(w,s)].append(t)
def p(*a): print(*a)
for (w,s),ts in S.items():
    pre=f"{w}/{s}:"
    for t in ts:
        if not t.isascii(): p(pre,'ascii',t)
        sp=find_words(t,w)
        if len(sp)!=1: p(pre,'count',len(sp),t); continue
        a,b=sp[0]
        forms={w,w.capitalize()} if a==0 or t[:a].strip('"')=='' or (w,s) in NAMES else {w}
        if t[a:b] not in forms: p(pre,'form',t)
        if t.casefold().count(w)!=1: p(pre,'inside',t)
        n=len(words(t))
        if not 5<=n<=30: p(pre,'len',n,t)
    L=[len(words(t)) for t in ts]
    pl=[words(t).index(w)/(len(words(t))-1) if w in words(t) else -1 for t in ts]
    if pl.count(0)<1: p(pre,'no first')
    if pl.count(1)<2: p(pre,'last',pl.count(1))
    if sum(0<x<=.5 for x in pl)<3: p(pre,'early')
    if sum(.5<x<1 for x in pl)<2: p(pre,'late')
    if len(ts)<12: p(pre,'n',len(ts))
    if min(L)>9: p(pre,'min',min(L))
    if max(L)<18: p(pre,'max',max(L))
    if len(set(L))<7: p(pre,'lengths',sorted(L))
    if not any('?' in t for t in ts): p(pre,'?')
    if not any(t.startswith('"') for t in ts): p(pre,'quote')
    if not any(t[0].islower() for t in ts): p(pre,'chat')
    if len({t[-1] for t in ts})<3: p(pre,'ends')
    c=Counter(words(t)[0] for t in ts)
    if max(c.values())>3: p(pre,'opens',c.most_common(1))
    bags=[{x.removesuffix('s') for x in words(t) if x!=w} for t in ts]
    u=Counter(x for b in bags for x in b-FW-{f.removesuffix('s') for f in FW})
    m=[x for x in u.items() if x[1]>3]
    if m: p(pre,'told',m)
others=[]
for w,s,t in allrows:
    o=({x for x in words(t)}|{x.removesuffix('s') for x in words(t)})&(W-{w})
    if o: others.append((w,s,o,t))
print('others',len(others))
if 'o' in sys.argv:
    for o in others: print(o)
def ngr(t,n): x=words(t); return {tuple(x[i:i+n]) for i in range(len(x)-n+1)}
for n,mx in ((4,2),(5,1)):
    c=Counter(g for r in allrows for g in ngr(r[2],n))
    b=[g for g in c.items() if g[1]>mx]
    if b: print(n,b)
c=Counter(tuple(words(r[2])[:2]) for r in allrows); print('open2',[x for x in c.items() if x[1]>4])
bags=[set(words(r[2])) for r in allrows]
for i,j in combinations(range(len(bags)),2):
    if len(bags[i]&bags[j])/len(bags[i]|bags[j])>=.35: print('near',allrows[i],allrows[j])
print(len(rows),len(S),len(W))
