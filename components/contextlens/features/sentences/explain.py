"""The formulas behind the page Sentence vectors."""

from __future__ import annotations

FORMULA = r"""
**One vector of many.** After the last layer $L$, token $t$ of a text has the state $h_{L,t}$; token
0 is [CLS], and $T$ are all real tokens:

$$v_{\text{[CLS]}} = h_{L,0}$$

$$v_{\text{mean}} = \frac{1}{|T|} \sum_{t \in T} h_{L,t}$$

Without special tokens, $T$ leaves out [CLS] and [SEP]. **Max** takes the largest value of each
dimension over $T$. The mean of the last four layers averages $h_{\ell,t}$ over $T$ and over
$\ell = L-3, \ldots, L$. The **pooler** is $\tanh(W h_{L,0} + b)$ with weights of its own. The
**recipe** is what the model's authors published, as sentence-transformers runs it.

**Similarity** of two texts is the cosine of their vectors. Cosines of different ways cannot be
compared as they are: the states of many models point in similar directions. So each cosine also has
the share of random pairs of everyday sentences that are below it, by the same way.

**Accuracy.** Each text in turn is held out and gets the label of the nearest other one (the nearest
neighbour by cosine, leave-one-out). The interval is Wilson's at 95%. One way is worse than another
if an exact sign test on the texts that only one of them gets right says so.
""".strip()

SEARCH_FORMULA = r"""
**By the model.** Query and texts have the mean of all tokens of the last layer; texts are ordered
by the cosine with the query.

**Share of a word.** The cosine is a sum over all pairs of a token $s$ of the query and a token $t$
of the text. With $n$ and $m$ tokens and the means $q$ and $v$:

$$\cos(q, v) = \sum_{s,t} \frac{h_s \cdot h'_t}{n m \lVert q \rVert \lVert v \rVert}$$

The share of a word is the sum over its tokens and all of the query's. Shares of special tokens
belong to the sum, too.

**Closest words.** For each word of the query, the word of the text with the highest cosine of the
mean vectors of their tokens.

**By words.** scikit-learn's TF-IDF without English function words: a word counts more, the fewer
texts have it; texts are ordered by the cosine with the query.
""".strip()
