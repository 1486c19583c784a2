"""The answer to a comparison's question: does the word mean the same? The same on every page.

Labelled senses decide first, then the visitor's references. A cosine alone decides only where it is
so high that two meanings hardly ever reach it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from contextlens.analysis.sense_names import ONE_MEANING, RIGHT, Verdict, centred_cosine
from contextlens.analysis.similarity import Comparison, Item, Pair
from contextlens.content.language import Claim, claim
from contextlens.content.wording import escape, isolated, listed_names, percent, quoted, shortened
from contextlens.ui.widgets.comparison.compute import Portrait
from contextlens.ui.widgets.comparison.reading import (
    EQUAL,
    NOISE,
    Leaning,
    closer_claim,
    leanings,
    meaning_in_context,
    side_of,
)
from contextlens.ui.widgets.comparison.senses import NamedUses, senses_of

_WORD = 16  # characters of a word in a headline


@dataclass(frozen=True)
class Answer:
    """The headline of a comparison; Markdown.

    Attributes:
        claims: whole sentences; the first one has the verdict.
        asks: True if a word for each meaning would decide.
        suggestions: a word for each of two meanings, if the ready corpus has the word.
    """

    claims: tuple[Claim, ...]
    asks: bool = False
    suggestions: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join(map(str, self.claims))

    @property
    def key(self) -> str:
        """The key of the first sentence."""
        return self.claims[0].key


def answer(portrait: Portrait, uses: NamedUses | None, *, is_pending: bool = False) -> Answer:
    """Return the answer for two or more sentences, in everyday words.

    Args:
        portrait: the comparison.
        uses: the senses of its words; None without any.
        is_pending: True if their senses are still being looked up.
    """
    comparison = portrait.comparison
    pair, *others = comparison.pairs("sentences")
    if any(map(comparison.has_unknown, (pair, *others))):
        return Answer((_unknown(comparison, (pair, *others)),))
    if not (others or _is_one_word(comparison, pair, uses)):
        return Answer((_of_two_words(portrait, pair),))
    if all(portrait.cosine(p) >= EQUAL for p in (pair, *others)):
        return Answer((claim("answer.equal", **_names(comparison, pair)),))
    if uses is not None and (named := of_senses(uses)):
        return Answer(named)
    if is_pending:
        return Answer((claim("answer.pending", **_names(comparison, pair)),))
    if others:
        return Answer((_of_several(portrait, [pair, *others]),))
    return _of_pair(portrait, pair, uses)


def answer_of_single(portrait: Portrait) -> Answer:
    """Return the answer for one sentence: how its word and the nearest reference are related."""
    comparison = portrait.comparison
    pairs = comparison.pairs()
    known = [pair for pair in pairs if not comparison.has_unknown(pair)]
    if not known:
        return Answer((_unknown(comparison, pairs),))
    return Answer((_of_two_words(portrait, max(known, key=portrait.cosine)),))


def evidence(portrait: Portrait, uses: NamedUses | None) -> list[Claim]:
    """Return the numbers behind the answer: of its senses, and of each of two references."""
    comparison = portrait.comparison
    pair, *others = comparison.pairs("sentences")
    if any(map(comparison.has_unknown, (pair, *others))):
        return meaning_in_context(comparison, portrait.layer, portrait.meaning.band)[:1]
    is_plain = not (others or comparison.are_twins(pair))
    found = (_closer(portrait, pair) if is_plain else None) or ()
    closer = [closer_claim(comparison, leaning) for leaning in found]
    if uses is not None and of_senses(uses):
        return [*closer, margins(uses)]
    if is_plain:
        return closer
    return meaning_in_context(comparison, portrait.layer, portrait.meaning.band)[:1]


def _is_one_word(comparison: Comparison, pair: Pair, uses: NamedUses | None) -> bool:
    return uses is not None or comparison.is_one_word(pair)


# --- By labelled senses


def of_senses(uses: NamedUses) -> tuple[Claim, ...]:
    """Return a sentence for each sense; none if no use is clear and they are not almost equal."""
    groups = uses.by_sense
    senses = [sense for sense in groups if sense is not None]
    if uses.verdict is Verdict.SAME and len(senses) != 1:
        return (claim("answer.one_meaning", letters=listed_names(uses.letters)),)
    if uses.verdict is Verdict.SAME:
        title = _titled(uses, senses[0])
        return (claim("answer.sense", letters=listed_names(uses.letters), sense=title),)
    if not senses:
        return ()
    return tuple(
        claim("answer.unclear", letters=listed_names(letters))
        if sense is None
        else claim("answer.sense", letters=listed_names(letters), sense=_titled(uses, sense))
        for sense, letters in groups.items()
    )


def margins(uses: NamedUses) -> Claim:
    """Return the number behind the sentences of `of_senses`."""
    unclear = [i for i, naming in enumerate(uses.namings) if not naming.is_clear]
    if unclear and uses.verdict is Verdict.SAME:
        return claim("answer.evidence.alike", cosine=uses.lowest_cosine, from_here=ONE_MEANING)
    if unclear:
        first, second = uses.nearest_two(unclear[0])
        titles = {"first": _titled(uses, first), "second": _titled(uses, second)}
        return claim("answer.evidence.between", letter=uses.letters[unclear[0]], **titles)
    return claim("answer.evidence.named", right=percent(RIGHT))


def source(uses: NamedUses | None) -> Claim | None:
    """Return where the senses' names come from; None for the ready corpus."""
    if uses is None or uses.own is None:
        return None
    own = uses.own
    names = {
        "column": quoted(own.column),
        "collection": quoted(own.collection, 40),
        "word": quoted(own.word),
    }
    case = "all" if own.n == own.n_total else "sample"
    return claim(f"answer.source.{case}", n=own.n, n_total=own.n_total, **names)


def _titled(uses: NamedUses, sense: str) -> str:
    return isolated(escape(uses.title(sense)))


# --- By references, or by the cosine alone


def _of_pair(portrait: Portrait, pair: Pair, uses: NamedUses | None) -> Answer:
    """Return the answer on two uses of a word without clear senses."""
    comparison, names = portrait.comparison, _names(portrait.comparison, pair)
    if portrait.layer == 0 and len(comparison.layers) > 1:
        return Answer((claim("answer.start", **names),))
    closer = _closer(portrait, pair)
    if closer is not None:
        first, second = (_named_item(comparison.items[leaning.reference]) for leaning in closer)
        return Answer((claim("answer.references", **{**names, "first": first, "second": second}),))
    if portrait.layer == comparison.layers[-1] and _are_almost_equal(portrait, pair):
        letters = listed_names([names["a"], names["b"]])
        return Answer((claim("answer.one_meaning", letters=letters),))
    is_ready = uses is not None and uses.own is None  # a label is no word to compare with
    nearest = [naming.nearest for naming in uses.namings] if uses is not None and is_ready else []
    senses = senses_of(comparison.items[pair.first].word)
    suggestions = tuple(dict.fromkeys([*nearest, *senses]))[:2]
    n_references = sum(item.role == "reference" for item in comparison.items)
    if n_references > 1:
        return Answer((claim("answer.other_references", **names),), True, suggestions)
    if not suggestions:
        return Answer((claim("answer.cannot_tell.plain", **names),), asks=True)
    one, other = suggestions
    such = claim("answer.cannot_tell.such", **{**names, "first": one, "second": other})
    return Answer((such,), True, suggestions)


def _are_almost_equal(portrait: Portrait, pair: Pair) -> bool:
    yardstick = portrait.meaning.yardstick
    if yardstick is None:
        return False
    centre, _ = yardstick.baseline.centre(portrait.meaning.pooling)
    vectors = portrait.comparison.vectors[:, portrait.row]
    first, second = vectors[pair.first], vectors[pair.second]
    return centred_cosine(first, second, centre[portrait.layer]) >= ONE_MEANING


def _of_several(portrait: Portrait, pairs: Sequence[Pair]) -> Claim:
    """Return the most similar pair, if it is clearly more similar than all others."""
    best, second, *others = sorted(pairs, key=portrait.cosine, reverse=True)
    if portrait.cosine(best) - portrait.cosine(second) < NOISE:
        lowest = portrait.cosine([second, *others][-1])
        is_alike = portrait.cosine(best) - lowest < NOISE
        return claim("answer.all_alike") if is_alike else claim("answer.no_closest")
    return claim("answer.closest", **_names(portrait.comparison, best))


def _of_two_words(portrait: Portrait, pair: Pair) -> Claim:
    names = _names(portrait.comparison, pair)
    cosine = portrait.cosine(pair)
    return claim(f"answer.two_words.{_relation(portrait, pair)}", cosine=cosine, **names)


def _relation(
    portrait: Portrait, pair: Pair
) -> Literal["same", "twins", "equal", "plain", "similar", "unrelated"]:
    band, cosine = portrait.meaning.band(pair), portrait.cosine(pair)
    if portrait.comparison.are_twins(pair):
        return "same" if portrait.comparison.along(pair).min() >= EQUAL else "twins"
    if cosine >= EQUAL:
        return "equal"
    if band is None:
        return "plain"
    return "similar" if side_of(cosine, band, portrait.row) == 1 else "unrelated"


def _closer(portrait: Portrait, pair: Pair) -> list[Leaning] | None:
    """For each of two words, a reference closer to it than to the other; None unless both have one.

    Closer means by at least `NOISE`, and more similar than random pairs of words. If a word has
    several, the one with the widest gap counts.
    """
    row, band = portrait.row, portrait.meaning.band
    widest: dict[int, Leaning] = {}
    for leaning in leanings(portrait.comparison, row, band):  # widest first
        random = band(Pair(leaning.near, leaning.reference))
        is_close = random is not None and leaning.high > random.high[row]
        if leaning.verdict == "closer" and is_close:
            widest.setdefault(leaning.near, leaning)
    return [widest[pair.first], widest[pair.second]] if len(widest) == 2 else None


# --- Names


def _unknown(comparison: Comparison, pairs: Sequence[Pair]) -> Claim:
    """Return the words of pairs that the model does not know."""
    chosen = dict.fromkeys(i for pair in pairs for i in (pair.first, pair.second))
    items = [comparison.items[i] for i in chosen]
    unknown = {_named_item(item): None for item in items if item.unknown}
    return claim("answer.unknown", words=listed_names([f"“{word}”" for word in unknown]))


def _names(comparison: Comparison, pair: Pair) -> dict[str, str]:
    first, second = (comparison.items[i] for i in (pair.first, pair.second))
    return {
        "a": first.label,
        "b": second.label,
        "first": _named_item(first),
        "second": _named_item(second),
        "word": _named_item(first),
    }


def _named_item(item: Item) -> str:
    return isolated(escape(shortened(item.word, _WORD)))
