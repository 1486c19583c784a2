"""Shares: the score as an exact sum over pairs of tokens, or of words, at its layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plotly.graph_objects import Figure

from contextlens.analysis.baseline import Band
from contextlens.analysis.shares import Doubles, Shares, is_word, merged
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import MARGIN, are_alike, leading, listed_names, quoted, span
from contextlens.features.why.charts import MIN_SHARE_END, signed_end, signed_matrix
from contextlens.features.why.controls import PICKED, SIDE, UNIT, WORDS
from contextlens.features.why.explanation import Explanation
from contextlens.features.why.score import SCORE_FORMULA, Score, Side
from contextlens.features.why.script import reader, script, side_arguments
from contextlens.features.why.word_rows import (
    Captions,
    WordRows,
    are_compared,
    linked_words,
    word_row,
)
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
STANDS_OUT = 1.2
"""How many times its part of an even split a word's share must be to stand out."""
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

    @property
    def word_sums(self) -> list[tuple[Side, Doubles]]:
        """Each side with the share of each of its units."""
        sums = self.by_word.rows, self.by_word.columns
        return list(zip(self.score.sides, sums, strict=True))

    # Claims

    def title(self) -> Claim:
        """Return the leading word of each sentence, if each has just one."""
        if self.score.vector_kind != "mean":
            return claim("why.shares.title.neither", cosine=self.score.cosine)
        verdict, words = leading_words(self.word_sums)
        return claim(f"why.shares.title.{verdict}", cosine=self.score.cosine, **words)

    def claims(self) -> Sequence[Claim]:
        """Return the words that make the sentences alike."""
        kind = self.score.vector_kind
        if kind != "mean":
            return (claim(f"why.shares.{kind}", cosine=self.score.cosine),)
        return (self._summary(), claim("why.shares.caution"))

    def sure(self) -> Sequence[Claim]:
        """Return the largest words of each sentence, the sum, and the part of special tokens."""
        score, sides = self.score, self.word_sums
        if score.vector_kind != "mean":
            return ()
        largest = []
        for side, sums in sides:
            verdict, numbers = largest_words(side, sums)
            largest.append(claim(f"why.shares.{verdict}", cosine=score.cosine, **numbers))
        first, second = (float(np.delete(sums, _words(side)).sum()) for side, sums in sides)
        letters = {"a": score.first.letter, "b": score.second.letter}
        special = claim("why.shares.special", first=first, second=second, **letters)
        return (*largest, claim("why.shares.sum", cosine=score.cosine), special)

    def _summary(self) -> Claim:
        """The claim about the one or two words that stand out over both sentences.

        None do in sentences that are no more alike than random ones.

        A word stands out if its share is clearly above that of an even split over all words and
        special tokens. It counts wherever it occurs; each pair's share is split evenly between its
        two words.
        """
        score, cosine = self.score, self.score.cosine
        if unread := score.unread_letters:
            return claim("why.shares.summary.unread", letters=unread)
        letters = {"a": score.first.letter, "b": score.second.letter}
        if score.are_equal:
            return claim("why.shares.summary.same", cosine=cosine, **letters)
        usual = 0.0 if self.band is None else float(self.band.high[score.layer])
        if round(cosine, 2) <= round(max(usual, 0.0), 2):
            verdict = "unlike" if self.band is None else "usual"
            return claim(f"why.shares.summary.{verdict}", cosine=cosine, usual=usual)
        ranked = self._word_shares()
        for n in (2, 1):
            named = ranked[:n]
            runner_up = ranked[n].share if n < len(ranked) else -np.inf
            if all(word.stands_out for word in named) and named[-1].share - runner_up > MARGIN:
                words = listed_names([quoted(word.label) for word in named])
                share, even = sum(word.share for word in named), sum(word.even for word in named)
                beyond = "_beyond" if round(share, 2) > round(cosine, 2) else ""
                verdict = ("one", "two")[len(named) - 1] + beyond
                numbers = {"share": share, "even": even, "cosine": cosine}
                return claim(f"why.shares.summary.{verdict}", words=words, **numbers)
        largest = ranked[0]
        words = quoted(largest.label)
        return claim("why.shares.summary.even", words=words, share=largest.share, cosine=cosine)

    def _word_shares(self) -> list[_WordShare]:
        """Each distinct word, the one with the largest share first."""
        words: dict[str, _WordShare] = {}
        for side, sums in self.word_sums:
            even = self.score.cosine / len(side.units)
            for i in _words(side):
                label = side.units[i].label
                word = words.get(label.casefold(), _WordShare(label, 0.0, 0.0))
                words[label.casefold()] = replace(
                    word, share=word.share + float(sums[i]) / 2, even=word.even + even / 2
                )
        return sorted(words.values(), key=lambda word: -word.share)

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
            is_pickable=True,
            picked=self.picked,
        )

    @property
    def detail(self) -> str:
        """The name of the matrix."""
        return say("why.detail.pairs")

    def figure(self) -> Figure:
        """Return the share of each pair of words as a matrix."""
        first, second = (are_compared(side, self.unit) for side in self.score.sides)
        row, column = (
            [word.label for word in linked_words(side, self.unit)] for side in self.score.sides
        )
        side, index = self.picked or ("", None)
        return signed_matrix(
            np.where(np.outer(first, second), self.shares.cells, np.nan),
            row,
            column,
            quantity=say("why.shares.quantity"),
            title=str(self.title()),
            axes=(
                say("why.shares.axis", letter=self.score.first.letter),
                say("why.shares.axis", letter=self.score.second.letter),
            ),
            marked=(index if side == "first" else None, index if side == "second" else None),
            min_end=MIN_SHARE_END,
        )

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


# --- The words with the largest shares


@dataclass(frozen=True)
class _WordShare:
    """A distinct word: its share over both sentences, and that of an even split."""

    label: str
    share: float
    even: float

    @property
    def stands_out(self) -> bool:
        is_visible = round(self.share, 2) > round(self.even, 2)
        return is_visible and self.share >= STANDS_OUT * self.even


def leading_words(sides: Sequence[tuple[Side, Doubles]]) -> tuple[str, Mapping[str, Any]]:
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


def largest_words(side: Side, sums: Doubles) -> tuple[str, Mapping[str, Any]]:
    """Return the verdict on the words with the largest shares in one sentence, and its numbers."""
    words, leaders = _words(side), _leaders(side, sums)
    named = leaders or words
    shares = [float(sums[i]) for i in named]
    if not words:
        return "none", {"letter": side.letter}
    if len(named) > 1:
        verdict = "several" if leaders else "equal"
        return verdict, {"letter": side.letter, "n": len(named), "span": span(shares)}
    word = side.quoted(side.units[named[0]])
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
    if len(words) < 2 or are_alike(values):
        return []
    return [words[i] for i in leading(values)]


_SCRIPT = """
first, second = read({one}), read({other})
states = [text[0][{layer}].double() for text in (first, second)]
weights = [text[1].double() / text[1].sum() for text in (first, second)]
a, b = [w @ h for w, h in zip(weights, states)]
parts = [w[:, None] * h for w, h in zip(weights, states)]  # what each token adds to a and b
shares = parts[0] @ parts[1].T / (a.norm() * b.norm())
print(shares, "sum:", shares.sum())
"""
