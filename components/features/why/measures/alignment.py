"""Which token of one text stands for which of another that is a variant of it."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np

from components.core.schema import Tokens

__all__ = ["Alignment", "align"]


@dataclass(frozen=True)
class Alignment:
    """Tokens of two texts, one to one and in order.

    Attributes:
        pairs: positions in the first text and in the second.
        same_length: whether both have as many tokens, and each stands for the one at its place.
        first_alone, second_alone: positions that stand for nothing of the other.
        n_equal: pairs of the same token.
    """

    pairs: tuple[tuple[int, int], ...]
    same_length: bool
    first_alone: tuple[int, ...]
    second_alone: tuple[int, ...]
    n_equal: int

    @property
    def turned(self) -> Alignment:
        """The same of the second text with the first."""
        return Alignment(
            tuple((j, i) for i, j in self.pairs),
            self.same_length,
            self.second_alone,
            self.first_alone,
            self.n_equal,
        )


def align(first: Tokens, second: Tokens) -> Alignment:
    """Align two tokenized texts; padding has no part.

    Of equal length, each token stands for the one at its place. Else equal tokens in the same order
    stand for each other (Ratcliff and Obershelp 1988, as in difflib), and so does what lies between
    them where it is of equal length.
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
    """Padding stands behind everything else, so that places stay what they are."""
    real: list[int] = tokens.token_ids[np.flatnonzero(tokens.attention_mask)].tolist()
    return real


def _matched(ours: list[int], theirs: list[int]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    for _, i, i_end, j, j_end in matcher.get_opcodes():
        if i_end - i == j_end - j:
            found += zip(range(i, i_end), range(j, j_end), strict=True)
    return found
