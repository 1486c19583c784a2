"""The numbers of the Why alike? page: exact shares, alignment, effects of leaving out.

Numpy in, numpy out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import combinations
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from contextlens.analysis.shares import Doubles
from contextlens.analysis.words import token_positions
from contextlens.core.errors import RequestError
from contextlens.core.schema import Tokens
from contextlens.core.words import Span

# --- The alignment of the tokens of two texts


@dataclass(frozen=True)
class Alignment:
    """Tokens of two texts, one to one and in order.

    Attributes:
        pairs: each a position in the first text and one in the second.
        same_length: True if both texts have equally many tokens, aligned by position.
        first_alone, second_alone: positions without a partner in the other text.
        n_equal: the number of pairs of equal tokens.
    """

    pairs: tuple[tuple[int, int], ...]
    same_length: bool
    first_alone: tuple[int, ...]
    second_alone: tuple[int, ...]
    n_equal: int

    @property
    def turned(self) -> Alignment:
        """The alignment of the second text with the first."""
        return Alignment(
            tuple((j, i) for i, j in self.pairs),
            self.same_length,
            self.second_alone,
            self.first_alone,
            self.n_equal,
        )


def align(first: Tokens, second: Tokens) -> Alignment:
    """Align two tokenized texts, ignoring padding.

    Texts of equal length are aligned by position. Otherwise equal tokens in the same order are
    aligned (Ratcliff and Obershelp 1988, as in difflib), and so are the stretches between them if
    they have equal length.
    """
    ours, theirs = _ids(first), _ids(second)
    same_length = len(ours) == len(theirs)
    pairs = list(zip(range(len(ours)), range(len(theirs)), strict=False))
    if not same_length:
        pairs = _matched(ours, theirs)
    known, others = {i for i, _ in pairs}, {j for _, j in pairs}
    return Alignment(
        pairs=tuple(pairs),
        same_length=same_length,
        first_alone=tuple(i for i in range(len(ours)) if i not in known),
        second_alone=tuple(j for j in range(len(theirs)) if j not in others),
        n_equal=sum(ours[i] == theirs[j] for i, j in pairs),
    )


def _ids(tokens: Tokens) -> list[int]:
    """The token IDs without padding, which follows everything else, so positions do not change."""
    token_ids: list[int] = tokens.token_ids[np.flatnonzero(tokens.attention_mask)].tolist()
    return token_ids


def _matched(ours: list[int], theirs: list[int]) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    for _, i, i_end, j, j_end in matcher.get_opcodes():
        if i_end - i == j_end - j:
            pairs += zip(range(i, i_end), range(j, j_end), strict=True)
    return pairs


# --- A text without some of its words


@dataclass(frozen=True)
class RemainingText:
    """The rest of a text after words were taken out.

    Attributes:
        text: the text without the words.
        places: for each code point of the old text, its new index; -1 if it is gone.
    """

    text: str
    places: tuple[int, ...]

    def moved(self, span: Span) -> Span | None:
        """The new position of a span of the old text; None if some of it is gone."""
        now = self.places[slice(*span)]
        return None if not now or -1 in now else (now[0], now[-1] + 1)


def cut(text: str, spans: Sequence[Span]) -> RemainingText:
    """Take words out of a text, with the white space that would be doubled.

    One space replaces them if letters or digits would otherwise run together.
    """
    is_gone = [False] * len(text)
    for start, end in spans:
        is_gone[start:end] = [True] * (end - start)
    for start, end in spans:
        for i in _left_over(text, is_gone, start, end):
            is_gone[i] = True
    remaining: list[str] = []
    places = []
    for i, character in enumerate(text):
        if is_gone[i]:
            places.append(-1)
            continue
        if i and is_gone[i - 1] and remaining and remaining[-1].isalnum() and character.isalnum():
            remaining.append(" ")
        places.append(len(remaining))
        remaining.append(character)
    return RemainingText("".join(remaining), tuple(places))


def _left_over(text: str, is_gone: Sequence[bool], start: int, end: int) -> range:
    """The positions of the white space beside a word that is removed with the word."""
    first, last = start, end
    while first > 0 and text[first - 1].isspace() and not is_gone[first - 1]:
        first -= 1
    while last < len(text) and text[last].isspace() and not is_gone[last]:
        last += 1
    if all(is_gone[:first]):  # nothing precedes it
        return range(end, last)
    is_last = all(is_gone[last:])
    return range(first, start) if last > end or is_last else range(0)


# --- The compared vector of a text

VectorKind = Literal["mean", "cls", "word"]
"""The mean over all tokens but padding; the first token; the mean over a word's tokens."""
VECTOR_KINDS: tuple[VectorKind, ...] = get_args(VectorKind)


def weights_of(tokens: Tokens, kind: VectorKind, span: Span | None = None) -> Doubles:
    """(n_tokens,) float64 the weight of each token; the weights sum to 1.

    Args:
        tokens: the text's tokens.
        kind: the vector to compare.
        span: the span of the chosen word in the text; only needed for a word.

    Raises:
        RequestError: no word is chosen, or the model does not read it.
    """
    if kind == "word":
        if span is None:
            raise RequestError("No word of this sentence is chosen. Choose one.")
        return _even(token_positions(tokens, span), tokens.n_tokens)
    real = np.flatnonzero(tokens.attention_mask)
    return _even(real[:1] if kind == "cls" else real, tokens.n_tokens)


def _even(positions: NDArray[np.int64], n_tokens: int) -> Doubles:
    weights = np.zeros(n_tokens)
    weights[positions] = 1 / len(positions)
    return weights


def cosine(first: Doubles, second: Doubles) -> float:
    """The cosine of two vectors in [-1, 1]; 0 if one has length zero."""
    lengths = float(np.linalg.norm(first) * np.linalg.norm(second))
    return 0.0 if lengths == 0 else float(np.clip(first @ second / lengths, -1.0, 1.0))


# --- The effect of an intervention

NOISE = 0.01
"""Changes of a cosine up to this size are not mentioned: two decimals hardly show them."""
NO_WAY = 1e-4
"""The distance between two vectors, relative to their length, below which they count as equal."""


def pair_cosines(vectors: Sequence[Doubles]) -> Doubles:
    """(n_pairs,) the cosines of all pairs of n vectors, in the order of `combinations`."""
    return np.array([cosine(a, b) for a, b in combinations(vectors, 2)], dtype=np.float64)


def is_way(start: Doubles, end: Doubles) -> bool:
    """True if two vectors differ by more than rounding."""
    length = max(float(np.linalg.norm(start)), float(np.linalg.norm(end)))
    return float(np.linalg.norm(end - start)) > NO_WAY * length


def fraction(moved: Doubles, start: Doubles, end: Doubles) -> float:
    """The share of the way from one vector to another that a moved one has covered.

    This is the projection of its movement on the way: 0 at the start and 1 at the end, whatever its
    distance from the way; below 0 if it moved the other way, above 1 if it went beyond the end.

    Raises:
        ValueError: start and end are the same vector, so there is no way; check `is_way` first.
    """
    way = end - start
    length = float(way @ way)
    if length == 0:
        raise ValueError("The two vectors are the same: there is no way between them.")
    return float((moved - start) @ way / length)


def interaction(pairs: Doubles) -> Doubles:
    """(n, n) the effect of two words beyond the sum of their single effects; 0 on the diagonal.

    Args:
        pairs: (n, n) changes with two words left out; with one, on the diagonal.
    """
    single = np.diag(pairs)
    joint: Doubles = pairs - single[:, None] - single[None, :]
    np.fill_diagonal(joint, 0.0)
    return joint


# --- The agreement between shares and the effects of leaving out

FEWEST = 8
"""The minimum number of words for comparing two orders."""
UNRELATED = 0.2
"""The largest absolute Kendall's tau of orders that count as unrelated."""


@dataclass(frozen=True)
class Order:
    """Two orders of the same words: by share, and by the fall of the cosine without each.

    Attributes:
        verdict: "same" or "opposite" if tau lies further from 0 than for 19 of 20 random orders;
            "unrelated" if it is small; else, or for fewer than `FEWEST` words, "cannot tell".
        tau: Kendall's tau-b (1945) of the two, from -1 (reversed) to 1 (the same); None if one of
            them has no order, because all its numbers are equal.
    """

    verdict: Literal["same", "opposite", "unrelated", "cannot tell"]
    tau: float | None


def order_of(shares: Doubles, changes: Doubles) -> Order:
    """Compare the orders of words by share and by change.

    Args:
        shares: (n,) the share of each word.
        changes: (n,) the change of the cosine without each word: below 0 if it falls.
    """
    from scipy.stats import kendalltau

    n = len(shares)
    if n < 2 or np.ptp(shares) == 0 or np.ptp(changes) == 0:
        return Order("cannot tell", None)
    tau = float(kendalltau(shares, -changes).statistic)
    if n < FEWEST:
        return Order("cannot tell", tau)
    by_chance = 1.96 * float(np.sqrt(2 * (2 * n + 5) / (9 * n * (n - 1))))
    if abs(tau) > by_chance:
        return Order("same" if tau > 0 else "opposite", tau)
    return Order("unrelated" if abs(tau) <= UNRELATED else "cannot tell", tau)


# --- The separation of a word's senses


def sense_gap(vectors: Doubles, senses: Sequence[str]) -> float:
    """The mean cosine of pairs of one sense, less that of pairs of two senses.

    It changes gradually with every head, while an accuracy jumps with each sentence.

    Args:
        vectors: (n, n_dims) of one word in n sentences; at least two of one sense, and two senses.
        senses: (n,) the sense in each.

    Raises:
        ValueError: there are no pairs of one sense, or none of two.
    """
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    first, second = np.triu_indices(len(units), 1)
    names = np.array(senses)
    same = names[first] == names[second]
    if not same.any() or same.all():
        raise ValueError("A gap needs pairs of one sense and pairs of two senses.")
    cosines = (units @ units.T)[first, second]
    return float(cosines[same].mean() - cosines[~same].mean())
