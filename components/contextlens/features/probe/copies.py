"""Tested texts that are also learned from, word for word or but for one word."""

from __future__ import annotations

from collections.abc import Sequence

from contextlens.analysis.separation import Trial
from contextlens.core.words import bare_words

_MIN_WORDS = 6
"""Shorter texts that differ in one word are different texts."""


def copies_of(texts: Sequence[str], trial: Trial) -> tuple[int, int]:
    """Return the numbers of tested texts that have a copy, or else a near copy, to learn from.

    Copies have the same words, whatever their case, order, spaces and signs. Near copies have one
    word more, fewer or another, and one of the two has six words or more. In cross-validation, one
    in the same fold does not count, as it is not learned from.
    """
    words = [[hash(word) for word in bare_words(text)] for text in texts]
    teaches, folds = trial.teaches.tolist(), trial.folds.tolist()
    by_sum: dict[int, set[int]] = {}
    by_part: dict[int, set[int]] = {}
    for text_words, fold, is_taught in zip(words, folds, teaches, strict=True):
        if is_taught:
            by_sum.setdefault(sum(text_words), set()).add(fold)
            for part in _parts(text_words):
                by_part.setdefault(part, set()).add(fold)
    n_copies = n_near = 0
    for i in trial.tested.tolist():
        others, total, parts = {folds[i]}, sum(words[i]), _parts(words[i])
        if by_sum.get(total, others) - others:
            n_copies += 1
        elif any(by_sum.get(part, others) - others for part in parts) or any(
            by_part.get(part, others) - others for part in (total, *parts)
        ):
            n_near += 1
    return n_copies, n_near


def _parts(words: Sequence[int]) -> set[int]:
    """The sums without one word each; none of a short text."""
    total = sum(words)
    return {total - word for word in words} if len(words) >= _MIN_WORDS else set()
