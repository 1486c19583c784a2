"""Points of a map, said in words: one point's neighbours, two pinned points, a selection."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from components.analysis.baseline import Band, is_in_sample_script
from components.content.wording import bold, percent, quoted, two
from components.maps.agreement import RISK, share_interval, whole_percent
from components.maps.points import Points
from components.ui.widgets.comparison.reading import EQUAL, against

__all__ = ["map_neighbours_reading", "pinned_reading", "selection_reading"]

_NAMED = 3
_LONGEST = 36
"""Of a point's name, which may be some of its sentence."""


def map_neighbours_reading(
    name: str, true: Sequence[int], near: Sequence[int], names: Mapping[int, str] | Sequence[str]
) -> list[str]:
    """How many of a point's nearest in the full space are among as many nearest on the map.

    Args:
        name: what the point is called.
        true: the points nearest in the full space, nearest first.
        near: as many points nearest on the map.
        names: what each of these points is called, by its number.
    """
    k = len(true)
    if not k:
        return [f"There is no other point to compare {quoted(name, _LONGEST)} with."]
    kept = len(set(true) & set(near))
    lead = f"Of {quoted(name, _LONGEST)}, **{kept}** of its {k} nearest in the full space"
    if k == 1:
        lead = f"The nearest to {quoted(name, _LONGEST)} in the full space"
        is_not = "" if kept else "not "
        return [f"{lead}, {quoted(names[true[0]], _LONGEST)}, is {is_not}the nearest here."]
    said = [f"{lead} {'is' if kept == 1 else 'are'} among its {k} nearest here."]
    missed = [names[point] for point in true if point not in set(near)]
    false = [names[point] for point in near if point not in set(true)]
    if missed and false:
        said.append(
            f"Truly near but drawn further off: {_some(missed)}. "
            f"Drawn near but not among its {k} nearest: {_some(false)}."
        )
    return said


def pinned_reading(
    a: str, b: str, cosine: float, *, layer: int | None, band: Band | None = None
) -> str:
    """Two points' exact cosine in the full space, beside random pairs of words where they serve.

    Args:
        a, b: what the two points are called.
        cosine: of their vectors, not of where they are drawn.
        layer: which one the vectors are of; None for a map that joins several.
        band: cosines of random pairs of words at each layer from 0 on; None where there is none
            for such points. They are English, so other scripts are held against none.
    """
    where = "" if layer is None else f" at layer {layer}"
    both = f"{quoted(a)} and {quoted(b)}"
    if cosine >= EQUAL:
        return f"{both} have the same direction in the full space{where} (cosine {bold(cosine)})."
    value = "over **0.99**" if two(cosine) == "1.00" else bold(cosine)
    said = f"However they are drawn, {both} have a cosine of {value} in the full space"
    known = layer is not None and is_in_sample_script(a) and is_in_sample_script(b)
    return f"{said}{where}{against(cosine, band if known else None, layer or 0)}"


def selection_reading(
    points: Points,
    chosen: Sequence[int],
    *,
    column: str | None = None,
    typical: Sequence[str] = (),
) -> list[str]:
    """What is in a selection: how many points, what label stands out, which words are typical.

    Args:
        points: all points of the map.
        chosen: the selected ones; one that comes twice counts once.
        column: the labels to tell of.
        typical: words that set the selection apart, the most typical first.
    """
    rows = sorted(set(chosen))
    if not rows:
        return ["Nothing is selected."]
    said = [_size(points, rows), _stands_out(points, rows, column), _typical(typical)]
    return [sentence for sentence in said if sentence]


def _size(points: Points, rows: Sequence[int]) -> str:
    n = len(rows)
    if n == points.n_points:
        return f"All **{n:,}** {points.unit} are selected."
    share = percent(n / points.n_points)
    said = f"**{n:,}** of {points.n_points:,} {points.unit} {'is' if n == 1 else 'are'} selected"
    if points.unit == "sentences":
        return f"{said} ({share})."
    sentences = len({int(points.sentence[row]) for row in rows})
    return f"{said} ({share}), from **{sentences:,}** sentence{'' if sentences == 1 else 's'}."


def _stands_out(points: Points, rows: Sequence[int], column: str | None) -> str:
    """The label that the selection has most of, against the whole map.

    Points of one sentence count as one observation.
    """
    labels = points.labels.get(column or "")
    if labels is None or len(rows) == points.n_points:
        return ""
    inside = [row for row in rows if labels[row]]
    own, every = Counter(labels[row] for row in inside), Counter(filter(None, labels))
    n, total = own.total(), every.total()
    if not n or len(every) < 2:
        return "" if n else f"None of them has a label in {quoted(column or '')}."
    best = max(sorted(own), key=lambda label: own[label] / n - every[label] / total)
    share, whole = own[best] / n, every[best] / total
    n_apart = len({int(points.sentence[row]) for row in inside})
    low = share_interval(share, n_apart, RISK / len(own))[0]
    if whole_percent(low) <= whole_percent(whole):
        return f"No label in {quoted(column or '')} clearly stands out among them."
    said = f"{quoted(best)} is **{percent(share)}** of"
    if n == len(rows) and total == points.n_points:
        return f"{said} them, {percent(whole)} of the whole map."
    return f"{said} those with a label, {percent(whole)} of all that have one."


def _typical(words: Sequence[str]) -> str:
    if not words:
        return ""
    return f"Typical word{'' if len(words) == 1 else 's'}: {_some(words)}."


def _some(names: Sequence[str]) -> str:
    different = list(dict.fromkeys(names))
    more = len(different) - _NAMED
    named = ", ".join(quoted(name, _LONGEST) for name in different[:_NAMED])
    return f"{named} and {more} more" if more > 0 else named
