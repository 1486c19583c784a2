"""A map, said in words: labels, groups or closest points, each told from the full space.

A map may draw near what is not, and how far its groups lie apart means nothing. So whatever is said
of nearness here comes from the lists of true neighbours, never from where points are drawn. What is
larger than something else is said to be so where its whole interval is, in the digits shown.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from components.content.wording import percent, quoted, shortened
from components.core.schema import IntArray
from components.features.map.reading.closest import closest_reading
from components.features.map.reading.trust import FEW
from components.maps.agreement import Agreement, LabelShare, agreement
from components.maps.honesty import Honesty
from components.maps.neighbors import Neighbors
from components.maps.points import Points

__all__ = ["interval", "label_agreement", "map_reading", "map_title"]

_LONGEST = 24
_LABEL_POINTS = 5  # a label of fewer is best or worst by accident


def label_agreement(points: Points, column: str, neighbors: Neighbors) -> Agreement | None:
    """How often nearest points share a label, in the full space; None with nothing to compare."""
    labels = points.labels.get(column)
    if labels is None:
        return None
    return agreement(labels, points.sentence, neighbors.indices, neighbors.distances)


def interval(found: Agreement) -> str:
    """Where a share may lie: "95% interval 64% to 95%"."""
    low, high = (percent(end) for end in found.interval)
    return f"95% interval {low} to {high}"


def map_reading(
    points: Points,
    neighbors: Neighbors | None,
    *,
    column: str | None = None,
    clusters: IntArray | None = None,
    cluster_names: Sequence[str] = (),
) -> list[str]:
    """One to three sentences on what is on the map: its labels, else its groups, else its points.

    Args:
        points: what is drawn.
        neighbors: the nearest points of each in the full space; None where there are too few.
        column: the labels to tell of; None for a map without.
        clusters: (n_points,) the group of each point on the map, -1 for none.
        cluster_names: the words of each group by its number, "" for one without.
    """
    if neighbors is None or not neighbors.indices.size:
        return [f"{_counted(points, points.n_points)}: too few to tell of neighbours."]
    if column is not None:
        return _labelled(points, column, neighbors)
    if clusters is not None:
        return _grouped(points, clusters, cluster_names, neighbors)
    return closest_reading(points, neighbors)


def map_title(
    points: Points,
    *,
    agreed: Agreement | None = None,
    column: str | None = None,
    clusters: IntArray | None = None,
    honesty: Honesty | None = None,
) -> str:
    """The finding as the chart's title, at most 80 characters; plain text, not Markdown."""
    if points.n_points < FEW:
        one = points.n_points == 1
        return f"{_unit(points, points.n_points, '')}: too few to judge {'it' if one else 'them'}"
    if column is not None and agreed is not None and agreed.chance:
        name = shortened(column, _LONGEST)
        if not (agreed.is_clear or agreed.is_below):
            return f"{name}: nearest {points.unit} do not clearly agree beyond chance"
        share, chance = percent(agreed.share), percent(agreed.chance)
        return f"{name}: {share} of nearest {points.unit} agree (chance {chance})"
    if column is None and clusters is not None:
        n = len(np.unique(clusters[clusters >= 0]))
        return f"{_groups(n, '')} of {points.unit} on the map" if n else "No groups on the map"
    if honesty is None:
        return _unit(points, points.n_points, "")
    if honesty.is_flat:
        return f"{_unit(points, points.n_points, '')}, all equally far from each other"
    return f"{percent(honesty.recall)} of true neighbours are near on the map"


# Labels


def _labelled(points: Points, column: str, neighbors: Neighbors) -> list[str]:
    name = quoted(column)
    labels = points.labels.get(column, ())
    kinds = {label for label in labels if label}
    if not kinds:
        return [f"No {points.unit.removesuffix('s')} on this map has a label in {name}."]
    if len(kinds) == 1:
        return [f"All labelled {points.unit} are {quoted(kinds.pop())}: there is nothing to part."]
    found = label_agreement(points, column, neighbors)
    if found is None or not found.chance:
        return [f"No label of {name} stands at two {_apart(points)}: there is nothing to compare."]
    said = [_overall(points, name, found), _ends(points, found), _left_out(points, labels, found)]
    return [sentence for sentence in said if sentence]


def _apart(points: Points) -> str:
    own = points.unit == "sentences"
    return "sentences" if own else f"{points.unit} of different sentences that could be neighbours"


def _overall(points: Points, name: str, found: Agreement) -> str:
    other = "" if points.unit == "sentences" else " in another sentence"
    share = f"for **{percent(found.share)}** of {points.unit}"
    what = f"the nearest one{other} has the same {name}"
    if found.is_clear:
        return f"In the full space, {share} {what} ({_beside(found)})."
    if found.is_below:
        return f"In the full space, {what} less often than by chance: {share} ({_beside(found)})."
    return (
        f"In the full space, it is not clear that {what} more often than by chance: {share} it has "
        f"({_beside(found)})."
    )


def _beside(found: Agreement) -> str:
    return f"{interval(found)}, by chance {percent(found.chance)}"


def _ends(points: Points, found: Agreement) -> str:
    """Two labels of which one keeps together better, or that all do alike."""
    ends = found.ends(_LABEL_POINTS)
    if ends is not None:
        return f"{_label(ends[0])} keeps together better than {_label(ends[1])}."
    kinds = [kind for kind in found.labels if kind.n >= _LABEL_POINTS]
    alike = {percent(kind.share) for kind in kinds}
    if len(kinds) < 2 or len(alike) > 1:
        return ""
    return f"For every label of {_LABEL_POINTS} {points.unit} or more it is **{alike.pop()}**."


def _label(kind: LabelShare) -> str:
    return f"{quoted(kind.name)} (**{percent(kind.share)}**, by chance {percent(kind.chance)})"


def _left_out(points: Points, labels: Sequence[str], found: Agreement) -> str:
    n = sum(1 for label in labels if label)
    if found.n == n:
        return ""
    return (
        f"Counted are **{found.n:,}** of the {n:,} labelled {points.unit}: those with a labelled "
        f"neighbour {'' if points.unit == 'sentences' else 'of another sentence '}in reach."
    )


# Groups


def _grouped(
    points: Points, clusters: IntArray, names: Sequence[str], neighbors: Neighbors
) -> list[str]:
    inside = clusters >= 0
    if not inside.any():
        return [f"On the map no groups stand out among the {points.n_points:,} {points.unit}."]
    counts = np.bincount(clusters[inside])
    n, largest = int((counts > 0).sum()), int(counts.argmax())
    name = names[largest] if largest < len(names) else ""
    called = f", {quoted(name, 40)}," if name else ""
    shares = [percent(count / points.n_points) for count in sorted(counts.tolist())[::-1]]
    if n == 1:
        first = f"On the map **1** group stands out{called} with **{shares[0]}** of {points.unit}."
    else:
        called = called if shares[0] != shares[1] else ""
        all_of_them = percent(float(inside.mean()))
        first = (
            f"On the map {_groups(n, '**')} stand out with **{all_of_them}** of {points.unit}; the "
            f"largest{called} holds **{shares[0]}**."
        )
    return [first, *_truly(points, clusters, neighbors)]


def _truly(points: Points, clusters: IntArray, neighbors: Neighbors) -> list[str]:
    """Whether the groups that are drawn are groups in the full space as well."""
    numbers = [str(number) if number >= 0 else "" for number in clusters.tolist()]
    found = agreement(numbers, points.sentence, neighbors.indices, neighbors.distances)
    if found is None or not 0 < found.chance < 1:
        return []
    other = "" if points.unit == "sentences" else " in another sentence"
    own = f"the nearest one{other} in the full space is in the same group"
    n = int((clusters >= 0).sum())
    them = "them" if found.n == n else f"the **{found.n:,}** that have one{other} in reach"
    share = f"**{percent(found.share)}** of {them} {own} ({_beside(found)})"
    if found.is_clear:
        return [f"For {share}."]
    if found.is_below:
        return [f"For only {share}."]
    return [f"For {share}: that is not clearly more than chance gives."]


def _groups(n: int, mark: str) -> str:
    return f"{mark}{n}{mark} group{'' if n == 1 else 's'}"


def _counted(points: Points, n: int) -> str:
    return f"On the map {'is' if n == 1 else 'are'} {_unit(points, n, '**')}"


def _unit(points: Points, n: int, mark: str) -> str:
    return f"{mark}{n:,}{mark} {points.unit.removesuffix('s') if n == 1 else points.unit}"
