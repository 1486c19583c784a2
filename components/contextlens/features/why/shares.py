"""Shares: the score as an exact sum over pairs of tokens, or of words, at its layer."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from plotly.graph_objects import Figure

from contextlens.analysis.baseline import Band
from contextlens.analysis.shares import Doubles, Shares, Unit, is_word, merged
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import about_same, listed_names, quoted, shortened, span
from contextlens.features.why.charts import MIN_SHARE_END, signed_matrix
from contextlens.features.why.controls import PICKED, SIDE, UNIT, WORDS
from contextlens.features.why.explanation import Explanation, at_least, leading_of
from contextlens.features.why.score import SCORE_FORMULA, Score, Side
from contextlens.features.why.script import reader, script, side_arguments
from contextlens.features.why.word_rows import are_compared, linked_words, word_row
from contextlens.figures.frames import signed_end
from contextlens.figures.word_rows import Captions, WordRows
from contextlens.ui.panel import Rows
from contextlens.ui.state.view import ViewState

FORMULA = (
    SCORE_FORMULA
    + r"""
**Shares.** The numerator is a sum over pairs of tokens, so the score is one too, exactly:

$$\cos(a, b) = \sum_{i, j} s_{ij}, \qquad s_{ij} = \frac{w_i v_j \; h_i \cdot g_j}{|a|\,|b|}$$

A token's share is its row's sum or its column's; a word's is the sum over its tokens.
"""
)
SharesVerdict = Literal[
    "cls", "word", "unread", "wordless", "same", "unlike", "usual", "special",
    "none", "one", "several",
]  # fmt: skip
LargestVerdict = Literal["none", "small", "several", "both", "equal", "largest", "only"]
STANDS_OUT = 1.5
"""How many times its part of an even split a pair's share must be to stand out."""
OF_STRONGEST = 0.5
"""The part of the strongest pair's share that another pair must have to be named beside it."""
MAX_NAMED_PAIRS = 3
"""Pairs of words that a sentence names."""
CAPTIONS = Captions(
    quantity=say("why.shares.quantity"),
    between=say("why.shares.between"),
    low=say("why.shares.low"),
    high=say("why.shares.high"),
    hint=say("why.shares.hint"),
)


@dataclass(frozen=True, eq=False)
class SharesResult(Explanation):
    """The score split into shares at its layer.

    Attributes:
        by_token: (n_tokens of the first, n_tokens of the second) cells.
        by_word: (n_units of the first, n_units of the second) cells: words and special tokens, as
            in `score.first.units` and `score.second.units`.
        band: random pairs of sentences at each layer; None if they are not known or do not fit.
        unit: what is drawn: "words" or "tokens".
        picked: "first" or "second", and the index of the picked word or token; None for none.
    """

    formula = FORMULA
    chart_code = 'px.imshow(shares.numpy(), labels={"x": "token of the other", "y": "token"})'

    by_token: Shares
    by_word: Shares
    band: Band | None = None
    unit: str = WORDS
    picked: tuple[str, int] | None = None

    def in_view(self, view: ViewState) -> SharesResult:
        """Return the same shares with a view's unit and picked word."""
        unit = UNIT.of(view)
        return replace(self, unit=unit, picked=_picked(view, self.score, unit))

    @property
    def shares(self) -> Shares:
        """The shares of the words or tokens that are drawn."""
        return self.by_word if self.unit == WORDS else self.by_token

    @cached_property
    def named(self) -> NamedPairs:
        """The pairs of words that the headline names."""
        return named_pairs(self.score, self.by_word)

    # Claims

    def title(self) -> Claim:
        """Return the headline without its numbers."""
        return claim(
            f"why.shares.title.{self._verdict()}", pairs=self._names(quote=_plainly_quoted)
        )

    def claims(self) -> Sequence[Claim]:
        """Return the pairs of words that make the sentences alike, and their part of the score."""
        score, verdict, named = self.score, self._verdict(), self.named
        numbers: dict[str, Any] = {
            "cosine": score.cosine,
            "a": score.first.letter,
            "b": score.second.letter,
            "letters": score.unread_letters or " and ".join(score.wordless_letters),
            "usual": self._usual,
        }
        headline = claim(f"why.shares.summary.{verdict}", pairs=self._names(), **numbers)
        if verdict not in ("one", "several", "special", "none"):
            return (headline,)
        share, n = named.share, len(named.pairs)
        if verdict in ("one", "several"):
            numbers |= {"share": share, "even": at_least(named.even), "n": n}
            number = claim("why.shares.number.named", **numbers)
        elif verdict == "none" and round(named.strongest, 2) > 0:
            number = claim("why.shares.number.strongest", share=named.strongest, **numbers)
        elif verdict == "none":
            number = claim("why.shares.number.small", **numbers)
        else:
            return (headline, self._special())
        return (headline, number, self._special())

    def sure(self) -> Sequence[Claim]:
        """Return what the shares add up to."""
        if self.score.vector_kind != "mean":
            return ()
        return (claim("why.shares.sum", cosine=self.score.cosine), claim("why.shares.caution"))

    @property
    def _usual(self) -> float:
        """The similarity below which the two are as alike as random sentences; 0 at least."""
        return 0.0 if self.band is None else max(0.0, float(self.band.high[self.score.layer]))

    def _verdict(self) -> SharesVerdict:
        """Return the verdict on the words that make the sentences alike.

        None do in sentences that are no more alike than random ones.
        """
        score, named = self.score, self.named
        if score.vector_kind != "mean":
            return score.vector_kind
        if score.unread_letters:
            return "unread"
        if score.wordless_letters:
            return "wordless"
        if score.are_equal:
            return "same"
        if round(score.cosine, 2) <= round(self._usual, 2):
            return "unlike" if self.band is None else "usual"
        if named.of_words < score.cosine / 2:
            return "special"
        return ("none", "one")[len(named.pairs)] if len(named.pairs) < 2 else "several"

    def _special(self) -> Claim:
        """Return the part of the score that words bring, without special tokens."""
        is_beyond = round(self.named.of_words, 2) > round(self.score.cosine, 2)
        verdict = "beyond" if is_beyond else "within"
        numbers = {"words": self.named.of_words, "cosine": self.score.cosine}
        return claim(f"why.shares.special.{verdict}", **numbers)

    def _names(self, quote: Callable[[str], str] = quoted) -> str:
        """Return the named pairs in a row: “cat” with “kitten”; one word if both are the same."""
        pairs = [
            quote(first)
            if first == second
            else say("why.shares.pair", first=quote(first), second=quote(second))
            for first, second in self.named.labels
        ]
        names, n_more = pairs[:MAX_NAMED_PAIRS], len(pairs) - MAX_NAMED_PAIRS
        return listed_names([*names, *([say("why.shares.more", n=n_more)] if n_more > 0 else [])])

    # Pictures

    def word_rows(self) -> WordRows:
        """Return both sentences with the share of each word; lines have those of pairs."""
        sides, shares = self.score.sides, self.shares
        values = [
            np.where(are_compared(side, self.unit), sums, np.nan)
            for side, sums in zip(sides, (shares.rows, shares.columns), strict=True)
        ]
        first, second = map(word_row, sides, (self.unit, self.unit), values)
        is_mean = self.score.vector_kind == "mean"
        return WordRows(
            first,
            second,
            CAPTIONS if is_mean else replace(CAPTIONS, hint=say("why.shares.hint_one")),
            end=signed_end(*values, min_end=MIN_SHARE_END),
            cells=shares.cells,
            links=self._links(),
            is_pickable=True,
            picked=self.picked,
        )

    def _links(self) -> list[tuple[int, int]]:
        """Return lines between all occurrences of the named words."""
        if self.unit != WORDS or self._verdict() not in ("one", "several"):
            return []
        ours, theirs = (distinct_words(side) for side in self.score.sides)
        pairs = [(ours[i], theirs[j]) for i, j in self.named.pairs]
        return [(i, j) for first, second in pairs for i in first for j in second]

    @property
    def detail(self) -> str:
        """The name of the matrix."""
        return say("why.detail.pairs")

    def figure(self) -> Figure:
        """Return the share of each pair of words as a matrix; occurrences of a word are summed."""
        rows, columns = (self._lines(side) for side in self.score.sides)
        first, second = (are_compared(side, self.unit) for side in self.score.sides)
        is_compared = np.outer(first, second)
        cells = _summed(np.where(is_compared, self.shares.cells, 0.0), rows, columns)
        is_empty = _summed(is_compared.astype(float), rows, columns) == 0
        names = [
            [linked_words(side, self.unit)[line[0]].label for line in lines]
            for side, lines in zip(self.score.sides, (rows, columns), strict=True)
        ]
        side, index = self.picked or ("", -1)
        marked = [
            next((n for n, line in enumerate(lines) if side == name and index in line), None)
            for name, lines in (("first", rows), ("second", columns))
        ]
        return signed_matrix(
            np.where(is_empty, np.nan, cells),
            names[0],
            names[1],
            quantity=say("why.shares.quantity"),
            title=str(self.title()),
            axes=(
                say("why.shares.axis", letter=self.score.first.letter),
                say("why.shares.axis", letter=self.score.second.letter),
            ),
            marked=(marked[0], marked[1]),
            min_end=MIN_SHARE_END,
        )

    def _lines(self, side: Side) -> Sequence[Sequence[int]]:
        """Return what each row or column of the matrix is the sum of."""
        if self.unit == WORDS:
            return distinct_words(side)
        return [[i] for i in range(side.encoding.n_tokens)]

    def alt(self) -> str:
        """Return the finding, and what the matrix shows."""
        return say("why.shares.alt", title=str(self.title()), unit=self.unit)

    # Files

    def rows(self) -> Rows:
        """Return a row for each pair of words."""
        first, second = self.score.sides
        return [
            {
                "first": first.letter,
                "first position": a.positions[0],
                "first word": a.label,
                "second": second.letter,
                "second position": b.positions[0],
                "second word": b.label,
                "share": float(share),
            }
            for a, cells in zip(first.units, self.by_word.cells, strict=True)
            for b, share in zip(second.units, cells, strict=True)
        ]

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """Return the shares by token and by word, and their labels."""
        first, second = self.score.sides
        return {
            "shares": self.by_token.cells,
            "word_shares": self.by_word.cells,
            "first_tokens": np.array(first.encoding.tokens),
            "second_tokens": np.array(second.encoding.tokens),
            "first_words": np.array([unit.label for unit in first.units]),
            "second_words": np.array([unit.label for unit in second.units]),
            "cosines": self.score.cosines,
        }

    def snippet(self) -> str:
        """Return a script that computes `shares`, (n_first, n_second) by token."""
        score = self.score
        first, second = (side_arguments(side, score.vector_kind) for side in score.sides)
        body = _SCRIPT.format(one=first, other=second, layer=score.layer)
        return script(score.card, reader(score), body)


def shares_at(score: Score, band: Band | None = None) -> SharesResult:
    """Return the shares at the score's layer.

    Args:
        score: the score to explain.
        band: random pairs of sentences at each layer, if they fit.
    """
    shares = score.token_shares
    return SharesResult(score, shares, merged(shares, score.first.units, score.second.units), band)


def _picked(view: ViewState, score: Score, unit: str) -> tuple[str, int] | None:
    """The side of the picked word and its index among the side's words or tokens; None for none."""
    name, position = SIDE.of(view), PICKED.of(view)
    side = score.first if name == SIDE.default else score.second
    if not 0 <= position < side.encoding.n_tokens:
        return None
    if unit != WORDS:
        return name, position
    indices = [i for i, word in enumerate(side.units) if position in word.positions]
    return (name, indices[0]) if indices else None


# --- The pairs of words with the largest shares


@dataclass(frozen=True)
class NamedPairs:
    """The pairs of words that stand out, the strongest first; each word is in one pair at most.

    Occurrences of a word count together. A pair stands out if its share is clearly above its part
    of an even split over all pairs of words and special tokens. Named are the strongest pair, and
    those whose share is at least half of it.

    Attributes:
        pairs: indices of the words, as in `distinct_words`.
        labels: the two words of each pair.
        share: the share of all of them.
        even: their part of an even split.
        strongest: the share of the strongest pair of words, whether it stands out or not.
        of_words: the share of all pairs of words, without special tokens.
    """

    pairs: tuple[tuple[int, int], ...]
    labels: tuple[tuple[str, str], ...]
    share: float
    even: float
    strongest: float
    of_words: float


def named_pairs(score: Score, by_word: Shares) -> NamedPairs:
    """Return the pairs of words that stand out in a score's shares by word."""
    ours, theirs = (distinct_words(side) for side in score.sides)
    cells = _summed(by_word.cells, ours, theirs)
    sizes = np.outer([len(word) for word in ours], [len(word) for word in theirs])
    even = score.cosine * sizes / by_word.cells.size
    first, second = (
        np.array([is_word(side.units[word[0]]) for word in words], dtype=bool)
        for side, words in zip(score.sides, (ours, theirs), strict=True)
    )
    of_words = np.where(np.outer(first, second), cells, 0.0)
    strongest = float(of_words.max(initial=0.0))
    pairs: list[tuple[int, int]] = []
    for index in np.argsort(-of_words, axis=None, kind="stable").tolist():
        i, j = divmod(index, len(theirs))
        if of_words[i, j] <= 0 or of_words[i, j] < OF_STRONGEST * strongest:
            break
        is_free = all(i != one and j != other for one, other in pairs)
        is_visible = round(cells[i, j], 2) > round(even[i, j], 2)
        if is_free and is_visible and cells[i, j] >= STANDS_OUT * even[i, j]:
            pairs.append((i, j))
    units = [(score.first.units[ours[i][0]], score.second.units[theirs[j][0]]) for i, j in pairs]
    names = [
        (one.label, one.label if is_same else other.label)
        for one, other in units
        for is_same in [_word_key(score.first, one) == _word_key(score.second, other)]
    ]
    return NamedPairs(
        pairs=tuple(pairs),
        labels=tuple(names),
        share=float(sum(cells[pair] for pair in pairs)),
        even=float(sum(even[pair] for pair in pairs)),
        strongest=strongest,
        of_words=float(of_words.sum()),
    )


def distinct_words(side: Side) -> list[list[int]]:
    """Return the units of each distinct word: the same tokens are the same word.

    Special tokens stay apart.
    """
    units_of: dict[Hashable, list[int]] = {}
    for i, unit in enumerate(side.units):
        units_of.setdefault(_word_key(side, unit) if is_word(unit) else i, []).append(i)
    return list(units_of.values())


def _word_key(side: Side, unit: Unit) -> Hashable:
    """What a word has in common with its other occurrences: its tokens; its text if unknown."""
    token_ids = tuple(side.encoding.token_ids[list(unit.positions)].tolist())
    return unit.label if side.unknown.issuperset(unit.positions) else token_ids


def _summed(
    cells: Doubles, rows: Sequence[Sequence[int]], columns: Sequence[Sequence[int]]
) -> Doubles:
    """(len(rows), len(columns)) sums over the cells of each row and column, given by indices."""
    by_row = np.array([cells[list(row)].sum(axis=0) for row in rows])
    sums: Doubles = np.array([by_row[:, list(column)].sum(axis=1) for column in columns]).T
    return sums


def _plainly_quoted(label: str) -> str:
    """A label for a title: in quotation marks, truncated, not escaped."""
    return f"“{shortened(label, 24)}”"


# --- The words with the largest shares of one sentence


def leading_words(
    sides: Sequence[tuple[Side, Doubles]],
) -> tuple[Literal["both", "neither"], Mapping[str, Any]]:
    """Return the verdict on the leading words of two sentences, and their words if each has one.

    Args:
        sides: each sentence with the share of each of its units.
    """
    leaders = [_leaders(side, sums) for side, sums in sides]
    if not all(len(indices) == 1 for indices in leaders):
        return "neither", {}
    (first_side, _), (second_side, _) = sides
    return "both", {
        "first": first_side.titled(first_side.units[leaders[0][0]]),
        "second": second_side.titled(second_side.units[leaders[1][0]]),
        "a": first_side.letter,
        "b": second_side.letter,
    }


def largest_words(side: Side, sums: Doubles) -> tuple[LargestVerdict, Mapping[str, Any]]:
    """Return the verdict on the words with the largest shares in one sentence, and its numbers."""
    words, leaders = _words(side), _leaders(side, sums)
    shares = [float(sums[i]) for i in leaders or words]
    if not words:
        return "none", {"letter": side.letter}
    if len(words) > 1 and round(max(shares), 2) <= 0:
        return "small", {"letter": side.letter}
    if len(shares) > 1:
        numbers = {"letter": side.letter, "n": len(shares), "span": span(shares)}
        return "several" if leaders else "both" if len(words) == 2 else "equal", numbers
    word = side.quoted(side.units[(leaders or words)[0]])
    return "largest" if leaders else "only", {
        "letter": side.letter,
        "word": word,
        "share": shares[0],
    }


def _words(side: Side) -> list[int]:
    """The indices of the words among a side's units."""
    return [i for i, unit in enumerate(side.units) if is_word(unit)]


def _leaders(side: Side, sums: Doubles) -> list[int]:
    """The indices of the words with the largest shares; none if all shares are about the same."""
    words = _words(side)
    values = [float(sums[i]) for i in words]
    if len(words) < 2 or about_same(values):
        return []
    return [words[i] for i in leading_of(values, -np.inf)]


_SCRIPT = """
first, second = read({one}), read({other})
states = [text[0][{layer}].double() for text in (first, second)]
weights = [text[1].double() / text[1].sum() for text in (first, second)]
a, b = [w @ h for w, h in zip(weights, states)]
parts = [w[:, None] * h for w, h in zip(weights, states)]  # what each token adds to a and b
shares = parts[0] @ parts[1].T / (a.norm() * b.norm())
print(shares, "sum:", shares.sum())
"""
