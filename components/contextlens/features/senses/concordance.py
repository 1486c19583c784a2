"""The concordance: each occurrence of a word in its context, sorted, selected and paged."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contextlens.analysis.baseline import Baseline
from contextlens.core.schema import FloatArray, IntArray
from contextlens.features.senses.controls import PAGE_SIZE
from contextlens.features.senses.occurrences import WordUses

_ONLY = re.compile(r"[sg]-?[0-9]{1,6}")
_WIDTH = 70  # characters on each side of the word


@dataclass(frozen=True)
class ConcordanceLine:
    """One occurrence in its context.

    Attributes:
        index: its index among the word's occurrences, in the order of the text.
        row: its identifier in the corpus.
        left, keyword, right: the word with its context, each on one line.
        cosine: to the chosen occurrence or the visitor's sentence; None without either.
    """

    index: int
    row: int
    left: str
    keyword: str
    right: str
    cosine: float | None


@dataclass(frozen=True, eq=False)
class Concordance:
    """One page of the listed occurrences.

    Attributes:
        lines: the lines of this page.
        order: (n_listed,) the indices of all listed occurrences, sorted.
        page, n_pages: counted from 1; 1 of 1 if nothing is listed.
    """

    lines: tuple[ConcordanceLine, ...]
    order: IntArray
    page: int
    n_pages: int


def concordance(
    uses: WordUses,
    groups: IntArray,
    cosines: FloatArray | None,
    *,
    sort: str = "text",
    page: int = 1,
    only: str = "",
    within: Sequence[int] = (),
) -> Concordance:
    """Return a page of the occurrences.

    Args:
        uses: the word and its occurrences.
        groups: (n,) the group of each occurrence; -1 for none.
        cosines: (n,) to sort by and to show; None if there is nothing to compare with.
        sort: "text", "left" or "right" for the adjacent word, "sense", "group", or "cosine" with
            the highest first; without cosines, that is "text" too.
        page: counted from 1; the last page if it is too high.
        only: "s1" for a sense, "g0" for a group, "g-1" for no group; "" for all.
        within: the indices selected on the map; ignored if `only` leaves none of them.
    """
    indices = _members(uses, groups, only)
    drawn = indices[np.isin(indices, within)]
    indices = drawn if len(drawn) else indices
    order = indices[np.argsort(_sort_keys(uses, groups, cosines, sort)[indices], kind="stable")]
    n_pages = max(1, -(-len(order) // PAGE_SIZE))
    current = min(max(page, 1), n_pages)
    on_page = order[(current - 1) * PAGE_SIZE : current * PAGE_SIZE].tolist()
    return Concordance(lines_at(uses, cosines, on_page), order, current, n_pages)


def lines_at(
    uses: WordUses, cosines: FloatArray | None, indices: Sequence[int]
) -> tuple[ConcordanceLine, ...]:
    """The occurrences at some indices, in the given order."""
    return tuple(
        ConcordanceLine(
            index,
            int(uses.occurrences.rows[index]),
            *uses.around(index, _WIDTH),
            cosine=None if cosines is None else float(cosines[index]),
        )
        for index in indices
    )


def random_mean(baseline: Baseline | None, layer: int) -> float | None:
    """The mean cosine of random pairs of words at a layer; None if it is unknown."""
    if baseline is None:
        return None
    mean = baseline.band("mean", centred=False).mean
    return float(mean[layer]) if layer < len(mean) else None


def concordance_rows(
    uses: WordUses, groups: IntArray, cosines: FloatArray | None
) -> list[dict[str, str | int | float]]:
    """A row for each occurrence in text order, with its whole text, for a download.

    "tested sense" is the label used in the test, and "fold" the fold that tests the occurrence (-1
    for none).
    """
    occurrences, trial = uses.occurrences, uses.trial
    return [
        {
            "number": index + 1,
            "text": int(occurrences.texts[index]),
            "start": int(occurrences.spans[index, 0]),
            "end": int(occurrences.spans[index, 1]),
            "word": occurrences.surfaces[index],
            "before": occurrences.left[index],
            "after": occurrences.right[index],
            "sense": uses.labels[index],
            "group": int(groups[index]) + 1 if groups[index] >= 0 else "",
            "tested sense": trial.senses[trial.codes[index]] if trial.codes[index] >= 0 else "",
            "fold": int(trial.folds[index]),
            **({} if cosines is None else {"cosine": float(cosines[index])}),
            "sentence": uses.texts[index],
        }
        for index in range(uses.n)
    ]


def _members(uses: WordUses, groups: IntArray, only: str) -> IntArray:
    """The indices of the sense or group in `only`; all if it names none, or an empty one."""
    indices = np.arange(uses.n)
    if _ONLY.fullmatch(only):
        is_member = (uses.codes if only[0] == "s" else groups) == int(only[1:])
        return np.flatnonzero(is_member) if is_member.any() else indices
    return indices


def _sort_keys(
    uses: WordUses, groups: IntArray, cosines: FloatArray | None, sort: str
) -> NDArray[Any]:
    """(n,) the sort keys; equal ones stay in text order."""
    occurrences = uses.occurrences
    if sort == "cosine" and cosines is not None:
        return -cosines
    if sort in {"sense", "group"}:  # occurrences without one come last
        numbers = uses.codes if sort == "sense" else groups
        return np.where(numbers < 0, uses.n + 1, numbers)
    if sort in {"left", "right"}:
        words = occurrences.left if sort == "left" else occurrences.right
        return np.unique(np.array(words, dtype=object), return_inverse=True)[1]
    return np.arange(uses.n)
