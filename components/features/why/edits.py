"""Ready edits of a sentence as plain text: negation, order, names, numbers, verbs, spelling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Literal

from components.analysis.baseline import is_in_sample_script
from components.content.bundled_texts import (
    ambiguous_words,
    baseline_sentences,
    everyday_words,
    sentiment_sentences,
)
from components.core.words import Span, split_words
from components.features.why.measures import cut

__all__ = [
    "BASE",
    "FUNCTION_WORDS",
    "NAMES",
    "PAST",
    "THIRD",
    "Edit",
    "case_shape",
    "is_english",
    "negations",
    "other_cases",
    "other_names",
    "replaced",
    "swapped_order",
    "typo",
    "with_neighbours",
    "words_of",
]


# --- Edits, and the words of a text as all edits see them

EditKind = Literal["negation", "order", "neighbour", "case", "typo", "name"]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


DETERMINERS = _set(
    "a an the my your his her its our their this that these those every each one no some"
)
AUXILIARIES = _set(
    "am is are was were can could will would should must may might shall do does did"
)
FUNCTION_WORDS = (
    DETERMINERS
    | AUXILIARIES
    | _set(
        "i you he she it we they me him us them be been have has had and or but not never nor also "
        "just only of in on at by for to with from as if so than then too very there here who "
        "which whom when while"
    )
)
"""English words that are not nouns, verbs or adjectives."""


@dataclass(frozen=True)
class Edit:
    """A sentence changed in one way.

    Attributes:
        kind: the kind of change.
        text: the whole edited sentence.
        what: a description, plain text: 'put “not” behind “is”'.
    """

    kind: EditKind
    text: str
    what: str


def words_of(text: str) -> list[tuple[Span, str]]:
    """Each word with its span, as written; punctuation counts."""
    return [(span, text[slice(*span)]) for span in split_words(text)]


def replaced(text: str, *changes: tuple[Span, str]) -> str:
    """The text with other words at some spans, which must not overlap."""
    for (start, end), new in sorted(changes, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def capitalised_like(word: str, model: str) -> str:
    """A word with its first letter in upper or lower case, like that of another."""
    first = model[:1]
    if first.isupper():
        return word[:1].upper() + word[1:]
    return word[:1].lower() + word[1:] if first.islower() else word


# --- Another given name instead of a known one

_LISTS = (
    ("Mary", "Fatima", "Olga", "Mei", "Aisha", "Anna", "Priya", "Sofia", "Emma", "Adaeze", "Maria"),
    (
        "John",
        "Ahmed",
        "Ivan",
        "Wei",
        "Kwame",
        "Peter",
        "Tomasz",
        "Carlos",
        "James",
        "David",
        "Omar",
    ),
)
NAMES = frozenset(name for names in _LISTS for name in names)


def other_names(text: str) -> list[Edit]:
    """The first known name replaced everywhere by the next one in its list."""
    words = words_of(text)
    for _, word in words:
        for names in _LISTS:
            if word in names:
                new = names[(names.index(word) + 1) % len(names)]
                places = [(span, new) for span, own in words if own == word]
                return [Edit("name", replaced(text, *places), f"“{new}” in place of “{word}”")]
    return []


# --- Some frequent English verbs

_REGULAR = """
accept add answer ask attack bark borrow call cash carry change chase clean close code cook count
cover dance deliver discover enjoy explain fail fix follow greet hate help hug hunt invite jump
kick kiss laugh learn like listen live look love marry miss need notice open own paint pass pay
play pull push reach remember repair rescue scare sleep smile start stop study surprise talk thank
touch trust try turn use visit walk want warn wash watch wait work worry
"""
_IRREGULAR = """
bite:bit bring:brought build:built buy:bought catch:caught choose:chose drink:drank drive:drove
eat:ate feed:fed feel:felt fight:fought find:found forget:forgot get:got give:gave hear:heard
hold:held keep:kept know:knew lead:led leave:left lend:lent lose:lost make:made meet:met pay:paid
ride:rode say:said see:saw sell:sold send:sent sing:sang sleep:slept speak:spoke steal:stole
swim:swam take:took teach:taught tell:told think:thought understand:understood wear:wore win:won
write:wrote go:went come:came run:ran sit:sat stand:stood begin:began break:broke fall:fell
hit:hit cut:cut hurt:hurt shut:shut
"""


def _past(verb: str) -> str:
    if verb.endswith("e"):
        return f"{verb}d"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ied"
    return f"{verb}{verb[-1] if verb in {'hug', 'stop'} else ''}ed"


def _third(verb: str) -> str:
    if verb == "go":
        return "goes"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(("s", "sh", "ch", "x", "o")) else f"{verb}s"


_irregular = dict(each.split(":") for each in _IRREGULAR.split())
_regular = [verb for verb in _REGULAR.split() if verb not in _irregular]

BASE = frozenset((*_regular, *_irregular))
"""The forms after I, you, we and they."""
PAST = MappingProxyType(
    {**{_past(v): v for v in _regular}, **{p: v for v, p in _irregular.items()}}
)
"""Each past form, with its verb."""
THIRD = MappingProxyType({_third(verb): verb for verb in sorted(BASE)})
"""Each form after he, she and it, with its verb."""


# --- A plain test for English

LEAST_KNOWN = 0.6
"""The minimum share of known English words, without words that two languages share."""
LEAST_GRAMMAR = 0.15
"""Alternatively, the minimum share of English function words, at least two: rare words are frequent
in some texts."""
MOST_FOREIGN = 1 / 8
"""The maximum number of function words of other languages, for each known English one."""

_GRAMMAR = """
a af ai al am an ao as att au auf aus aux av avec bei ble ce ces cette che com como con da
dal dans das de dein deine del della delle dem den der des det deze di dich die dit do dont
dos du e een ein eine einen einer el ela ele ella elle elles ellos em en era es est está et
eu för für geen gli ha haben han har hat heeft het hij ho hun ich ihr ik il ils im in inte
io is ist jag je jeg jij kein keine la las le lei les leur lo loro los lui ma maar mais man
me med mein meine meinen men mes met mi mia mich min minha mio mir mit molto mon muito muy
más na naar nach ne nel nella nicht niet no noch noi non nos nosotros not nous nur não o och
oder og om on ook op os ou over où par para pas per pero più por pour på que qui sa sans se
sehr sein seine sem ses sich sie sin sind so som son sono sont su sua sul suo sur sus ta te
til très tu tus uit um uma un una unas und une uno unos uns unser van ved von voor vor vos
votre vous war was wat wenn wie wij wir wird wo y ya yo ze zij zijn zu zum zur à är è é él
"""
"""German, Dutch, French, Spanish, Portuguese, Italian, Danish, Norwegian and Swedish."""
_FOREIGN = frozenset(_GRAMMAR.split())


def is_english(text: str) -> bool:
    """True if most of the words are known English ones; False too if that is unclear."""
    if not is_in_sample_script(text):
        return False
    words = [text[start:end].casefold().replace("’", "'") for start, end in split_words(text)]
    words = [w.removesuffix("'s") for w in words if w[:1].isalpha() and (len(w) > 1 or w in "ai")]
    known, foreign = ([w for w in words if w in own] for own in (_known(), _FOREIGN))
    english = [w for w in known if w not in _FOREIGN]
    n_shared = len(known) - len(english)
    n_foreign, n_grammar = len(foreign) - n_shared, sum(w in FUNCTION_WORDS for w in english)
    is_open = any(w in _known() and w not in FUNCTION_WORDS for w in foreign)  # “die”, “war”
    if not english or n_foreign > MOST_FOREIGN * len(english) or (is_open and not n_grammar):
        return False
    is_grammar = n_grammar >= 2 and n_grammar >= LEAST_GRAMMAR * len(words)
    return is_grammar or len(english) >= LEAST_KNOWN * (len(words) - n_shared)


@cache
def _known() -> frozenset[str]:
    """The words of the English texts that ship with the app, and those that edits use."""
    texts = [
        *baseline_sentences(),
        *(each.text for each in (*ambiguous_words(), *everyday_words())),
        *(each.text for each in sentiment_sentences()),
    ]
    found = {
        text[start:end].casefold().replace("’", "'").removesuffix("'s")
        for text in texts
        for start, end in split_words(text)
    }
    names = {name.casefold() for name in NAMES}
    known = found | names | FUNCTION_WORDS | BASE | set(PAST) | set(THIRD)
    return frozenset(word for word in known if word.isalpha() or "'" in word)


# --- Negation inserted or removed

_PLURAL = frozenset(("i", "you", "we", "they"))
_SINGULAR = frozenset(("he", "she", "it"))
_PRONOUNS = _PLURAL | _SINGULAR
_OBJECTS = frozenset(("me", "you", "him", "her", "it", "us", "them"))
_BEFORE_CLAUSE = frozenset((",", ";", ".", "!", "?", "and", "but", "that", "because", "if", "so"))
_ODD = {"can't": "can", "won't": "will", "shan't": "shall", "cannot": "can"}
_STEMS = AUXILIARIES | {"has", "have", "had", "need", "ought"}
_OTHER = frozenset(("not", "never", "nor", "neither", "nobody", "nothing", "none", "no", "without"))
_MOST = 3  # the most words of a subject, including its article

_Words = list[tuple[Span, str]]


def negations(text: str) -> list[Edit]:
    """The sentence without its first negation; without any, with one inserted."""
    words = words_of(text)
    plain = [word.casefold().replace("’", "'") for _, word in words]
    away = _away(text, words, plain)
    if away is not None:
        return [away]
    if any(word in _OTHER or word.endswith("n't") for word in plain):
        return []  # negated in a way that no rule can undo
    put = _behind_auxiliary(text, words, plain) or _before_verb(text, words, plain)
    return [] if put is None else [put]


def _away(text: str, words: _Words, plain: list[str]) -> Edit | None:
    for i, ((span, word), own) in enumerate(zip(words, plain, strict=True)):
        if own in {"not", "never"} and i:
            return Edit("negation", cut(text, [span]).text, f"took away “{word}”")
        stem = _ODD.get(own) or (own[:-3] if own.endswith("n't") else "")
        if stem in _STEMS:
            new = capitalised_like(stem, word)
            return Edit("negation", replaced(text, (span, new)), f"“{word}” became “{new}”")
    return None


def _behind_auxiliary(text: str, words: _Words, plain: list[str]) -> Edit | None:
    """Insert “not” after the first “is”, “can”, ... of a statement."""
    for i in range(1, len(words) - 1):
        span, word = words[i]
        before, behind = plain[i - 1], plain[i + 1]
        is_auxiliary = plain[i] in AUXILIARIES
        is_written = word == plain[i]  # “May” may be a month, “US” a country
        is_noun = before in DETERMINERS  # “the can”
        if not (is_auxiliary and is_written) or is_noun or behind in _PRONOUNS:
            continue
        if not before.isalpha() or not behind.isalpha():
            continue
        return Edit("negation", replaced(text, (span, f"{word} not")), f"put “not” behind “{word}”")
    return None


def _before_verb(text: str, words: _Words, plain: list[str]) -> Edit | None:
    """Insert “do not”, “does not” or “did not” before the verb after a subject."""
    for i in range(1, len(words)):
        span, word = words[i]
        verb, helper = _verb(plain[:i], plain[i], plain[i + 1 :])
        if helper and word == plain[i]:
            new = f"{helper} not {verb}"
            return Edit("negation", replaced(text, (span, new)), f"“{word}” became “{new}”")
    return None


def _verb(before: list[str], word: str, behind: list[str]) -> tuple[str, str]:
    """The base form of a verb and its auxiliary for a negation; "" if it is no verb, or unclear."""
    subject = before[-1]
    is_pronoun = subject in _PRONOUNS and (len(before) == 1 or before[-2] in _BEFORE_CLAUSE)
    is_named = _is_noun_phrase(before) and _takes_object(behind)
    if is_pronoun and subject in _PLURAL and word in BASE:
        return word, "do"
    if ((is_pronoun and subject in _SINGULAR) or is_named) and word in THIRD:
        return THIRD[word], "does"
    if word in PAST and (is_named or (is_pronoun and word not in BASE)):
        return PAST[word], "did"
    return "", ""


def _is_noun_phrase(words: list[str]) -> bool:
    """True for a given name, or for an article and one or two words that can be a noun's."""
    if len(words) == 1:
        return words[0].capitalize() in NAMES
    rest = words[1:]
    return (
        len(words) <= _MOST
        and words[0] in DETERMINERS
        and all(word.isalpha() and word not in FUNCTION_WORDS for word in rest)
    )


def _takes_object(behind: list[str]) -> bool:
    """True if the next words mark a word as a verb: not in “a bit of”, but in “bit the man”."""
    is_end = not behind or not behind[0].isalpha()
    return is_end or behind[0] in DETERMINERS | _OBJECTS or behind[0].capitalize() in NAMES


# --- A word replaced by its neighbour in the model's word table


def with_neighbours(text: str, neighbours: Mapping[Span, str]) -> list[Edit]:
    """The sentence with one word replaced by its neighbour, for each of some words.

    Args:
        text: the sentence.
        neighbours: for the span of a word, its replacement.
    """
    return [
        Edit(
            "neighbour",
            replaced(text, (span, new)),
            f"“{new}” in place of “{text[slice(*span)]}”",
        )
        for span, new in neighbours.items()
    ]


def case_shape(word: str) -> str:
    """The case of a word: "small", "Title", "CAPITALS", or "mixed"; "none" without case."""
    if word.casefold() == word.upper():
        return "none"
    if word == word.lower():
        return "small"
    if word == word.upper() and len(word) > 1:
        return "CAPITALS"
    return "Title" if word == word[:1].upper() + word[1:].lower() else "mixed"


# --- Subject and object swapped

_ENDS = frozenset(".!?")
_PLURALS = frozenset(("men", "women", "children", "people", "mice", "police"))


def swapped_order(text: str) -> list[Edit]:
    """The sentence with subject and object swapped; nothing for other sentences.

    “The dog bit a man.” becomes “A man bit the dog.”: articles go with their nouns.
    """
    words = words_of(text)
    if words and words[-1][1] in _ENDS:
        words = words[:-1]
    verbs = [i for i, (_, word) in enumerate(words) if word in PAST or word in THIRD]
    if len(verbs) != 1:
        return []
    place = verbs[0]
    subject, verb, thing = words[:place], words[place][1], words[place + 1 :]
    if not (_is_swappable(subject) and _is_swappable(thing)):
        return []
    if verb in THIRD and verb not in PAST and _is_plural(thing):
        return []  # “The dogs bites”
    first, second = _whole(subject), _whole(thing)
    was_first, was_second = text[slice(*first)], text[slice(*second)]
    if was_first.casefold() == was_second.casefold():
        return []
    new = was_second[:1].upper() + was_second[1:] if was_first[:1].isupper() else was_second
    end = was_first if _is_name(subject) else was_first[:1].lower() + was_first[1:]
    what = f"“{was_first}” and “{was_second}” changed places"
    return [Edit("order", replaced(text, (first, new), (second, end)), what)]


def _is_swappable(words: list[tuple[Span, str]]) -> bool:
    """True for a given name alone, or for an article and one or two words that can be a noun's."""
    if _is_name(words):
        return True
    plain = [word.casefold() for _, word in words]
    if not 2 <= len(plain) <= _MOST or plain[0] not in DETERMINERS:
        return False
    rest = plain[1:]
    return all(word.isalpha() and word not in FUNCTION_WORDS and word not in BASE for word in rest)


def _is_name(words: list[tuple[Span, str]]) -> bool:
    return len(words) == 1 and words[0][1] in NAMES


def _is_plural(words: list[tuple[Span, str]]) -> bool:
    noun = words[-1][1]
    return not _is_name(words) and (noun.endswith("s") or noun in _PLURALS)


def _whole(words: list[tuple[Span, str]]) -> Span:
    return words[0][0][0], words[-1][0][1]


# --- The same words with another spelling

_FEWEST = 4  # letters of a word with two inner ones


def other_cases(text: str) -> list[Edit]:
    """The text in small letters and in capitals, if that changes anything."""
    both = (text.lower(), "all in small letters"), (text.upper(), "all in capitals")
    return [Edit("case", new, what) for new, what in both if new != text]


def typo(text: str) -> list[Edit]:
    """The longest word with two inner letters swapped; nothing if no two differ."""
    words = [(span, word) for span, word in words_of(text) if _can_be_mistyped(word)]
    if not words:
        return []
    span, word = max(words, key=lambda each: len(each[1]))
    places = [i for i in range(1, len(word) - 2) if word[i] != word[i + 1]]
    i = min(places, key=lambda place: abs(2 * place + 1 - (len(word) - 1)))
    new = word[:i] + word[i + 1] + word[i] + word[i + 2 :]
    return [Edit("typo", replaced(text, (span, new)), f"“{word}” mistyped as “{new}”")]


def _can_be_mistyped(word: str) -> bool:
    inner = word[1:-1]
    return word.isalpha() and len(word) >= _FEWEST and len(set(inner)) > 1
