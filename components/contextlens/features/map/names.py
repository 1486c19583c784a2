"""The names on a map: of its labels, or of its groups, each where most of its points lie.

No streamlit, and no visitor: a script draws the same map.
"""

from __future__ import annotations

import numpy as np

from contextlens.core.schema import FloatArray, IntArray
from contextlens.features.map.coloring import GROUPS, Coloring
from contextlens.features.map.finding import Finding
from contextlens.features.map.identity import once
from contextlens.figures.side_names import SideName
from contextlens.figures.theme import NEUTRAL
from contextlens.maps.result import MapResult

_FEW = 12
"""Up to so many labels are all named; of more, those that are spread over the map are not."""
_SPREAD = 0.2
"""Half of a named label's points lie within this part of the map's size around its place."""
_LEAST_SPREAD = 0.03  # a label with less is no clearer


def members_of(finding: Finding) -> dict[str, IntArray]:
    """Return the points of each name on a map, by the name's key."""
    color = finding.color
    if color.kind == "category" and color.title != GROUPS:
        codes = {name: i for i, name in enumerate(color.order)}
        numbers = np.array([codes.get(str(value), -1) for value in color.values])
        return {name: np.flatnonzero(numbers == i) for name, i in codes.items()}
    clusters: dict[str, list[int]] = {}  # a visitor may give two groups one name
    for label in finding.group_labels:
        if label.words:
            clusters.setdefault(", ".join(label.words), []).append(label.cluster)
    groups = finding.groups.numbers
    return {name: np.flatnonzero(np.isin(groups, own)) for name, own in clusters.items()}


def names_of(result: MapResult, row: int, shown: int, finding: Finding) -> tuple[SideName, ...]:
    """Return the names on a map at one layer.

    Args:
        result: the map.
        row: the layer's row.
        shown: the row of the layer whose finding this is: groups have names only there.
        finding: the finding.
    """
    is_labelled = finding.color.kind == "category" and finding.color.title != GROUPS
    if result.map.coordinates.shape[2] != 2 or (row != shown and not is_labelled):
        return ()

    def compute() -> tuple[SideName, ...]:
        members = members_of(finding)
        return _names(result.map.coordinates[row], members, finding.color)

    return once(result, "names", row, finding.key, compute=compute)


def _names(
    positions: FloatArray, members: dict[str, IntArray], color: Coloring
) -> tuple[SideName, ...]:
    low, high = positions.min(axis=0), positions.max(axis=0)
    size = np.maximum(high - low, 1e-6)
    names = []
    for key, rows in members.items():
        if not len(rows):
            continue
        own = positions[rows]
        far = np.linalg.norm((own - np.median(own, axis=0)) / size, axis=1)
        spread = float(np.median(far))
        if len(members) > _FEW and spread > _SPREAD:
            continue
        x, y = own[far.argmin()].tolist()
        ink = color.colors.get(key, NEUTRAL)
        weight = len(rows) ** 0.5 / max(spread, _LEAST_SPREAD)
        names.append(SideName(key, color.shown.get(key, key), ink, (x, y), weight))
    return tuple(names)
