"""A selection of points by box, lasso or rows of the table: its contents in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from contextlens.content.language import Claim, claim
from contextlens.content.wording import quoted
from contextlens.features.map.controls import MAX_TYPICAL_WORDS
from contextlens.maps.agreement import RISK, share_interval, whole_percent
from contextlens.maps.points import Points
from contextlens.maps.typical import typical_of

TABLE, NAMES = "table", "names"
"""Stand for a drawing's name if points were selected in the table, or by a name."""
_LONGEST = 36


@dataclass(frozen=True)
class PointSelection:
    """Selected points, with the drawing and the map on which they were selected."""

    of: str  # the name of the map's points, from `name_of`
    key: str  # the key of the chart's widget
    chart: str  # the drawing's name, or `TABLE`
    points: tuple[int, ...]
    within: tuple[int, ...] | None = None  # the rows of the table in which they were selected
    name: str = ""  # the key of the name whose points they are


def selection_claims(
    points: Points,
    chosen: Sequence[int],
    *,
    column: str | None = None,
    typical: Sequence[str] = (),
) -> list[Claim]:
    """The contents of a selection: number of points, distinctive label, typical words.

    Args:
        points: all points of the map.
        chosen: the selected ones; duplicates count once.
        column: the labels to describe.
        typical: words that set the selection apart, the most typical first.
    """
    rows = sorted(set(chosen))
    n, total = len(rows), points.n_points
    if not n:
        return [claim("map.selection.nothing")]
    if n == total:
        return [claim("map.selection.all", n=n)]
    claims = [claim("map.selection.some", n=n, total=total, share=n / total)]
    claims += _standing_out(points, rows, column)
    if typical:
        words = [quoted(word, _LONGEST) for word in dict.fromkeys(typical)][:MAX_TYPICAL_WORDS]
        claims.append(claim("map.selection.typical", n=len(words), words=", ".join(words)))
    return claims


def _standing_out(points: Points, rows: Sequence[int], column: str | None) -> list[Claim]:
    """The label that is most over-represented in the selection, against the whole map.

    Points of one sentence count as one observation.
    """
    labels = points.labels.get(column or "")
    if column is None or labels is None:
        return []
    inside = [row for row in rows if labels[row]]
    selected, all_labels = Counter(labels[row] for row in inside), Counter(filter(None, labels))
    if not inside:
        return [claim("map.selection.unlabelled", column=quoted(column))]
    if len(all_labels) < 2:
        return []
    n, total = selected.total(), all_labels.total()
    best = max(sorted(selected), key=lambda label: selected[label] / n - all_labels[label] / total)
    share, whole = selected[best] / n, all_labels[best] / total
    n_sentences = len({int(points.sentence[row]) for row in inside})
    low = share_interval(share, n_sentences, RISK / len(selected))[0]
    if whole_percent(low) <= whole_percent(whole):
        return [claim("map.selection.mixed", column=quoted(column))]
    shares = {"share": share, "whole": whole}
    return [claim("map.selection.label", label=quoted(best), **shares)]


def typical_words(points: Points, rows: Sequence[int]) -> tuple[str, ...]:
    """Words that set the selected sentences apart from the rest of the map."""
    inside = np.zeros(points.n_points, dtype=np.int64)
    inside[list(rows)] = 1
    chosen = np.zeros(len(points.texts), dtype=np.int64)
    np.maximum.at(chosen, points.sentence, inside)
    if chosen.all():
        return ()
    return typical_of(points.terms, np.arange(len(chosen)), chosen).get(1, ())


def table_selection(
    of: str, key: str, rows: tuple[int, ...], chosen: Sequence[int], *, are_all: bool
) -> PointSelection | None:
    """Return the points chosen in the table; if none, those that it was filtered by, if any.

    Args:
        of: the name of the map's points.
        key: the key of the chart that draws these points.
        rows: the points in the table.
        chosen: the indices of the chosen rows.
        are_all: True if the table was not filtered.
    """
    points = tuple(sorted(rows[i] for i in chosen if 0 <= i < len(rows)))
    if points:
        return PointSelection(of, key, TABLE, points, None if are_all else rows)
    return None if are_all else PointSelection(of, key, TABLE, rows, rows)
