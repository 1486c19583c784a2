"""The concordance: each occurrence in its context, sorted, a page of it at a time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.core.schema import FloatArray, IntArray
from components.features.senses.compute.contexts import around
from components.features.senses.compute.word import Found
from components.features.senses.snippet import SnippetRow

__all__ = [
    "PAGE_SIZE",
    "Concordance",
    "Line",
    "concordance",
    "concordance_rows",
    "lines_at",
    "snippet_rows",
]

PAGE_SIZE = 25
_ONLY = re.compile(r"[sg]-?[0-9]{1,6}")
_WIDTH = 70  # characters on each side of the word


@dataclass(frozen=True)
class Line:
    """One occurrence in its context.

    Attributes:
        place: where it stands among the word's occurrences.
        row: what names it in its corpus.
        number: counted from 1 in the order of the text.
        left, keyword, right: its context, each on one line.
        sense: its label, "" for none.
        group: its group's number; -1 for none.
        cosine: to the chosen occurrence or the own sentence; None without either.
    """

    place: int
    row: int
    number: int
    left: str
    keyword: str
    right: str
    sense: str
    group: int
    cosine: float | None


@dataclass(frozen=True, eq=False)
class Concordance:
    """One page of the occurrences that are shown.

    Attributes:
        lines: of this page.
        order: (n_shown,) the places of all that are shown, as sorted.
        sort: what they are sorted by; text order where what was asked for is not there.
        page, n_pages: counted from 1; 1 of 1 where nothing is shown.
    """

    lines: tuple[Line, ...]
    order: IntArray
    sort: str
    page: int
    n_pages: int


def concordance(
    found: Found,
    groups: IntArray,
    cosines: FloatArray | None,
    *,
    sort: str = "text",
    page: int = 1,
    only: str = "",
    within: Sequence[int] = (),
) -> Concordance:
    """A page of the occurrences.

    Args:
        found: the word.
        groups: (n,) each one's group.
        cosines: (n,) to sort by and to show, where there is anything to compare with.
        sort: "text", "left" or "right" for the word beside it, "sense", "group", or "cosine" from
            the highest.
        page: counted from 1; the last where there are not so many.
        only: "s1" for those of a sense, "g0" of a group, "g-1" of none; "" for all.
        within: the places that were drawn around; of all where there are none.
    """
    by = "text" if sort == "cosine" and cosines is None else sort
    places = _shown(found, groups, only)
    drawn = places[np.isin(places, within)] if len(within) else places
    places = drawn if len(drawn) else places
    order = places[np.argsort(_keys(found, groups, cosines, by)[places], kind="stable")]
    n_pages = max(1, -(-len(order) // PAGE_SIZE))
    own = min(max(page, 1), n_pages)
    chosen = order[(own - 1) * PAGE_SIZE : own * PAGE_SIZE].tolist()
    return Concordance(lines_at(found, groups, cosines, chosen), order, by, own, n_pages)


def lines_at(
    found: Found, groups: IntArray, cosines: FloatArray | None, places: Sequence[int]
) -> tuple[Line, ...]:
    """The occurrences at some places, in the order given."""
    return tuple(_line(found, groups, cosines, place) for place in places)


def concordance_rows(
    found: Found, groups: IntArray, cosines: FloatArray | None
) -> list[dict[str, str | int | float]]:
    """A row for each occurrence in text order: what a download has of them, the texts whole.

    "tested sense" is the label that takes part in the test, "fold" the one that tests it, -1 for
    none: the snippet reads both.
    """
    own, trial = found.occurrences, found.trial
    return [
        {
            "number": place + 1,
            "text": int(own.texts[place]),
            "start": int(own.spans[place, 0]),
            "end": int(own.spans[place, 1]),
            "word": own.surfaces[place],
            "before": own.left[place],
            "after": own.right[place],
            "sense": found.labels[place],
            "group": int(groups[place]) + 1 if groups[place] >= 0 else "",
            "tested sense": trial.senses[trial.codes[place]] if trial.codes[place] >= 0 else "",
            "fold": int(trial.folds[place]),
            **({} if cosines is None else {"cosine": float(cosines[place])}),
            "sentence": found.texts[place],
        }
        for place in range(found.n)
    ]


def snippet_rows(found: Found) -> list[SnippetRow]:
    """The occurrences that take part in the test, as the snippet takes them."""
    own, trial = found.occurrences, found.trial
    return [
        SnippetRow(
            text=found.texts[place],
            start=int(own.spans[place, 0]),
            end=int(own.spans[place, 1]),
            sense=trial.senses[trial.codes[place]],
            fold=int(trial.folds[place]),
        )
        for place in np.flatnonzero(trial.codes >= 0).tolist()
    ]


def _shown(found: Found, groups: IntArray, only: str) -> IntArray:
    """The places of a sense or a group; of all where there is no such one."""
    every = np.arange(found.n)
    if _ONLY.fullmatch(only):
        own = (found.codes if only[0] == "s" else groups) == int(only[1:])
        return np.flatnonzero(own) if own.any() else every
    return every


def _keys(found: Found, groups: IntArray, cosines: FloatArray | None, by: str) -> NDArray[Any]:
    """(n,) what each is sorted by; equals stay in the order of the text."""
    own = found.occurrences
    if by == "cosine" and cosines is not None:
        return -cosines
    if by in {"sense", "group"}:  # those without one come last
        numbers = found.codes if by == "sense" else groups
        return np.where(numbers < 0, found.n + 1, numbers)
    if by in {"left", "right"}:
        words = own.left if by == "left" else own.right
        return np.unique(np.array(words, dtype=object), return_inverse=True)[1]
    return np.arange(found.n)


def _line(found: Found, groups: IntArray, cosines: FloatArray | None, place: int) -> Line:
    left, keyword, right = around(found, place, _WIDTH)
    return Line(
        place=place,
        row=int(found.occurrences.rows[place]),
        number=place + 1,
        left=left,
        keyword=keyword,
        right=right,
        sense=found.labels[place],
        group=int(groups[place]),
        cosine=None if cosines is None else float(cosines[place]),
    )
