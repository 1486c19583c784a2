"""Which occurrences teach a sense and which are tested on it: a given split, or folds.

The folds are those of stratified k-fold cross-validation, in the order of the text and not
shuffled: what stands in one text then mostly falls into one fold, and is not tested on itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from components.core.schema import IntArray

__all__ = ["MOST_FOLDS", "TEST", "TRAIN", "Problem", "Trial", "trial_of"]

MOST_FOLDS = 5
LEAST = 2
"""Examples of a sense that cross-validation needs: one to learn from, one to test."""
TRAIN, TEST = ("train", "training"), ("test", "testing")

Problem = Literal["", "none", "one", "single"]
"""Why nothing can be tested: no labels, all equal, or at most one sense that occurs twice."""


@dataclass(frozen=True, eq=False)
class Trial:
    """Which occurrences are tested on which others.

    Attributes:
        senses: every sense that is learned or tested, the most frequent first.
        codes: (n,) the sense of each occurrence, by its number; -1 where it takes no part.
        folds: (n,) the fold that tests it; -1 where it is never tested.
        teaches: (n,) bool: whether others learn from it.
        how: "split" for the one that was given, "folds" for cross-validation.
        n_folds: how many folds there are; 1 for a split.
        left_out: senses with too few examples.
        problem: why nothing can be tested; "" where it can.
        has_split: whether a split was given, even one that could not be used for this word.
    """

    senses: tuple[str, ...]
    codes: IntArray
    folds: IntArray
    teaches: np.ndarray
    how: Literal["split", "folds"]
    n_folds: int
    left_out: tuple[str, ...]
    problem: Problem
    has_split: bool = False

    @cached_property
    def tested(self) -> IntArray:
        """The occurrences that are tested."""
        return np.flatnonzero(self.folds >= 0)

    @cached_property
    def chance(self) -> float:
        """The share of the most frequent sense among the tested: naming it always is right so."""
        own = self.codes[self.tested]
        return float(np.bincount(own).max() / len(own)) if len(own) else float("nan")

    @property
    def most_frequent(self) -> str:
        """The sense that is named by who always says the same."""
        own = self.codes[self.tested]
        return self.senses[int(np.bincount(own).argmax())] if len(own) else ""


def trial_of(labels: Sequence[str], split: Sequence[str] = ()) -> Trial:
    """How the senses of a word are tested.

    Where `split` has rows to train on of two senses, and rows to test, these are held out. Else it
    is stratified k-fold cross-validation with k the number of examples of the rarest sense, at most
    `MOST_FOLDS`; senses of fewer than two examples are left out.

    Args:
        labels: the sense of each occurrence, "" for none.
        split: for each, the value in the split column; nothing where there is no such column.
    """
    parts = [value.strip().casefold() for value in split]
    if any(part in TEST for part in parts):
        found = _held_out(labels, parts)
        if found is not None:
            return found
    return _folded(labels, has_split=bool(split))


def _held_out(labels: Sequence[str], parts: Sequence[str]) -> Trial | None:
    """The given split; None where it leaves nothing to learn or nothing to test."""
    train = np.array([part in TRAIN for part in parts], dtype=np.bool_)
    test = np.array([part in TEST for part in parts], dtype=np.bool_)
    rows = zip(labels, (train | test).tolist(), strict=True)
    senses, codes = _coded([label if used else "" for label, used in rows])
    taught = np.unique(codes[train & (codes >= 0)])
    tested = test & (codes >= 0)
    if len(taught) < 2 or not tested.any():
        return None
    folds = np.where(tested, 0, -1)
    teaches = train & (codes >= 0)
    return Trial(senses, codes, folds, teaches, "split", 1, (), "", has_split=True)


def _folded(labels: Sequence[str], *, has_split: bool) -> Trial:
    counts = Counter(label for label in labels if label)
    left_out = tuple(sorted(label for label, n in counts.items() if n < LEAST))
    senses, codes = _coded([label if counts[label] >= LEAST else "" for label in labels])
    problem: Problem = "" if len(senses) > 1 else "single"
    if len(counts) < 2:
        problem = "one" if counts else "none"
    folds = np.full(len(codes), -1, dtype=np.int64)
    n_folds = 0
    if not problem:
        n_folds = min(MOST_FOLDS, *(counts[sense] for sense in senses))
        own = np.flatnonzero(codes >= 0)
        folds[own] = _stratified(codes[own], n_folds)
    teaches = (codes >= 0) & (not problem)
    return Trial(senses, codes, folds, teaches, "folds", n_folds, left_out, problem, has_split)


def _stratified(codes: IntArray, n_folds: int) -> IntArray:
    """The fold that tests each: scikit-learn's `StratifiedKFold`, not shuffled."""
    from sklearn.model_selection import StratifiedKFold

    folds = np.zeros(len(codes), dtype=np.int64)
    for fold, (_, tested) in enumerate(StratifiedKFold(n_folds).split(codes[:, None], codes)):
        folds[tested] = fold
    return folds


def _coded(labels: Sequence[str]) -> tuple[tuple[str, ...], IntArray]:
    """The different labels, the most frequent first, and the number of each; -1 for ""."""
    counts = Counter(label for label in labels if label)
    senses = tuple(sorted(counts, key=lambda label: (-counts[label], label)))
    places = {sense: i for i, sense in enumerate(senses)}
    return senses, np.array([places.get(label, -1) for label in labels], dtype=np.int64)
