"""Sentences on a map: its labels or groups, closest points, one point, a selection, nearest points.

A map may draw distant points near each other, so every statement on nearness uses the true
neighbours, never the drawing. Shares are compared in whole per cent, as displayed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from contextlens.analysis.baseline import Band, is_in_sample_script
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import quoted, shortened
from contextlens.core.schema import IntArray
from contextlens.features.map.trust import FEW, count_equal
from contextlens.maps.agreement import RISK, Agreement, agreement, share_interval, whole_percent
from contextlens.maps.map_quality import MapQuality
from contextlens.maps.neighbors import Neighbors
from contextlens.maps.points import Points, Unit
from contextlens.maps.request import Method

_TITLE = 80
_LONGEST = 36
"""Maximum length of a point's name, which may be part of its sentence."""
_LABEL_POINTS = 5  # a label with fewer points is best or worst by accident
_N_LISTED, _N_TYPICAL = 5, 3

State: TypeAlias = Literal["separate", "partly", "unclear", "not"]
"""The position of a share's interval: above the baseline ("separate" if the share is also at least
halfway from there to 1, else "partly"), around it ("unclear"), or below it ("not")."""
Untested: TypeAlias = Literal["none", "one", "alone", "unshared", "unreached"]
"""Reasons why labels cannot be compared."""


class MapReading(NamedTuple):
    """The visible sentences on a map, and the folded ones below them."""

    claims: Sequence[Claim | str]
    sure: Sequence[Claim | str]


def label_agreement(points: Points, column: str, neighbors: Neighbors) -> Agreement | None:
    """The share of nearest points in the full space with the same label; None if untestable."""
    labels = points.labels.get(column)
    if labels is None:
        return None
    return agreement(labels, points.distinct_text, neighbors.indices, neighbors.distances)


def labels_state(points: Points, column: str, agreed: Agreement | None) -> State | Untested:
    """Return whether labels separate in the full space, or why that cannot be tested."""
    labelled = [i for i, label in enumerate(points.labels.get(column, ())) if label]
    kinds = {points.labels[column][i] for i in labelled}
    if len(kinds) < 2:
        return "one" if kinds else "none"
    if len(np.unique(points.distinct_text[labelled])) < 2:
        return "alone"
    if agreed is None or agreed.baseline == 1:
        return "unreached"
    if not agreed.chance:
        return "unshared"
    return _state(agreed, agreed.baseline)


def _state(agreed: Agreement, baseline: float) -> State:
    low, high = (whole_percent(end) for end in agreed.interval)
    if low > whole_percent(baseline):
        return "separate" if agreed.share >= (1 + baseline) / 2 else "partly"
    return "not" if high < whole_percent(baseline) else "unclear"


def map_title(
    points: Points,
    *,
    agreed: Agreement | None = None,
    column: str | None = None,
    clusters: IntArray | None = None,
    quality: MapQuality | None = None,
    layer: int = -1,
) -> str:
    """The finding as the chart's title, at most 80 characters; plain text, not Markdown.

    Layer -1 is the pooler's output.
    """
    n = points.n_points
    if n < FEW:
        return say("map.title.few", n=n)
    if column is not None and agreed is not None:
        state = labels_state(points, column, agreed)
        if state in {"separate", "partly", "unclear", "not"}:
            return _labels_title(column, agreed, state, layer)
    if column is None and clusters is not None:
        n_groups = len(np.unique(clusters[clusters >= 0]))
        return say("map.title.groups", n=n_groups) if n_groups else say("map.title.no_groups")
    if quality is None:
        return say("map.title.plain", n=n)
    if quality.is_flat:
        return say("map.title.flat", n=n)
    return say("map.title.recall", recall=quality.recall)


def _labels_title(column: str, agreed: Agreement, state: str, layer: int) -> str:
    place = say("map.title.pooler") if layer < 0 else say("map.title.layer", layer=layer)
    for longest in (24, 12, 6, 4):
        title = say(
            f"map.title.labels.{state}",
            place=place,
            Place=place[:1].upper() + place[1:],
            column=shortened(column, longest),
            n=agreed.n,
            share=agreed.share,
            baseline=agreed.baseline,
        )
        if len(title) <= _TITLE:
            return title
    return title


def map_reading(
    points: Points,
    neighbors: Neighbors | None,
    *,
    column: str | None = None,
    clusters: IntArray | None = None,
) -> MapReading:
    """The finding of a map: on its labels, else on its groups, else on its closest points.

    Args:
        points: the points on the map.
        neighbors: the nearest points of each in the full space; None if there are too few.
        column: the labels to describe; None for a map without labels.
        clusters: (n_points,) the group of each point on the map, -1 for none.
    """
    if neighbors is None or not neighbors.indices.size:
        return MapReading([claim("map.reading.one_point")], [])
    if column is not None:
        return _labelled(points, column, neighbors)
    if clusters is not None and (clusters >= 0).any():
        return _grouped(points, clusters, neighbors)
    none = [claim("map.groups.none")] if points.n_points >= FEW else []
    return MapReading([*none, _closest(points, neighbors)], [])


def _labelled(points: Points, column: str, neighbors: Neighbors) -> MapReading:
    agreed = label_agreement(points, column, neighbors)
    state = labels_state(points, column, agreed)
    if agreed is None or state not in {"separate", "partly", "unclear", "not"}:
        label = next(filter(None, points.labels.get(column, ())), "")
        why = claim(f"map.untested.{state}", column=quoted(column), label=quoted(label))
        is_plain = state in {"none", "one"}
        closest = _closest(points, neighbors)
        if is_plain:
            return MapReading([closest, why], [])
        return MapReading([closest], [why, *_copies(points)])
    finding = claim(
        f"map.labels.{state}",
        column=quoted(column),
        share=agreed.share,
        n=agreed.n,
        commonest=quoted(agreed.commonest),
        baseline=agreed.baseline,
    )
    sure = [_interval(agreed), claim("map.sure.nearest"), *_copies(points)]
    n_left = sum(1 for label in points.labels[column] if label) - agreed.n
    if n_left:
        sure.append(claim("map.sure.left_out", n=n_left))
    ends = agreed.ends(_LABEL_POINTS)
    if ends is not None:
        best, worst = ends
        shares = {"best_share": best.share, "worst_share": worst.share}
        names = {"best": quoted(best.name), "worst": quoted(worst.name)}
        sure.append(claim("map.sure.ends", **names, **shares))
    return MapReading([finding], sure)


def _interval(agreed: Agreement) -> Claim:
    low, high = agreed.interval
    return claim("map.sure.interval", low=low, high=high)


def _grouped(points: Points, clusters: IntArray, neighbors: Neighbors) -> MapReading:
    inside = clusters >= 0
    n, share = len(np.unique(clusters[inside])), float(inside.mean())
    claims = [claim("map.groups.some", n=n, share=share)]
    numbers = [str(number) if number >= 0 else "" for number in clusters.tolist()]
    agreed = agreement(numbers, points.distinct_text, neighbors.indices, neighbors.distances)
    is_alone = len(np.unique(points.distinct_text[inside])) < 2
    if is_alone or agreed is None or not 0 < agreed.chance < 1:
        return MapReading(claims, [claim("map.sure.groups"), *_copies(points)])
    state, chance = _state(agreed, agreed.chance), agreed.chance
    claims.append(claim(f"map.groups.{state}", share=agreed.share, chance=chance))
    return MapReading(claims, [_interval(agreed), claim("map.sure.groups"), *_copies(points)])


def _copies(points: Points) -> list[Claim]:
    n, total = points.n_copies, len(np.unique(points.sentence))
    return [claim("map.sure.copies", n=n, total=total)] if n else []


def _closest(points: Points, neighbors: Neighbors) -> Claim:
    """Two points that are as close as any in the full space."""
    row = int(neighbors.distances[:, 0].argmin())
    distance = float(neighbors.distances[row, 0])
    names = [points.names[row], points.names[int(neighbors.indices[row, 0])]]
    case = "two" if names[0] != names[1] else "same"
    a, b = (quoted(name, _LONGEST) for name in names)
    n = count_equal(neighbors)
    measure = "equal" if n else neighbors.metric
    numbers = {"similarity": 1 - distance, "distance": distance}
    return claim(f"map.closest.{measure}.{case}", n=n, total=points.n_points, a=a, b=b, **numbers)


def neighbours_claim(name: str, true: Sequence[int], near: Sequence[int]) -> Claim:
    """The number of a point's true neighbours that are also its neighbours on the map.

    Args:
        name: the point's name.
        true: the points nearest in the full space.
        near: as many points nearest on the map.
    """
    k, n_shared = len(true), len(set(true) & set(near))
    if k < 2:
        return claim(f"map.point.{'only' if k else 'alone'}", name=quoted(name, _LONGEST))
    return claim("map.point.kept", name=quoted(name, _LONGEST), n=n_shared, k=k)


def pinned_claim(
    a: str, b: str, cosine: float, *, layer: int | None = None, band: Band | None = None
) -> Claim:
    """The similarity of two points in the full space, beside random pairs of words if they apply.

    Args:
        a, b: the names of the two points.
        cosine: the cosine of their vectors, not of their drawn positions.
        layer: the layer of the vectors; None for the pooler's output.
        band: cosines of random pairs of words at each layer from 0 on; None if there is none for
            these points. The pairs are English, so texts in other scripts have none.
    """
    numbers = {"a": quoted(a), "b": quoted(b), "cosine": cosine}
    if band is None or layer is None or not (is_in_sample_script(a) and is_in_sample_script(b)):
        return claim("map.pinned.plain", **numbers)
    low, high = float(band.low[layer]), float(band.high[layer])
    return claim("map.pinned.beside", **numbers, low=low, high=high)


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
        words = [quoted(word, _LONGEST) for word in dict.fromkeys(typical)][:_N_TYPICAL]
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


def near_claim(name: str, cosines: Sequence[float]) -> Claim:
    """The points nearest to a typed text, with the range of their full-space similarities."""
    ends = {"high": cosines[0], "low": cosines[-1]}
    return claim("map.near.found", n=len(cosines), name=quoted(name, 40), **ends)


def not_one_claim(unit: Unit, text: str, names: Sequence[str]) -> Claim:
    """The reason why a text is not one point on a map of words or tokens, with a suggestion."""
    if not names:
        return claim(f"map.near.no_{unit}", text=quoted(text, 40))
    listed = ", ".join(quoted(name) for name in names[:_N_LISTED])
    more = ", …" if len(names) > _N_LISTED else ""
    return claim(f"map.near.several_{unit}", n=len(names), names=f"{listed}{more}")


def frame_claims(moved: Sequence[float], layers: Sequence[int], method: Method) -> list[Claim]:
    """The way in which a map's layers belong together; nothing for one layer's own map.

    Args:
        moved: how far points move from each layer to the next, as shares of the map's diagonal.
        layers: the layers of the map.
        method: its method.
    """
    if not moved:
        return []
    most = int(np.argmax(moved))
    case = "pca" if method == "pca" else "linked"
    steps = {"share": float(np.median(moved)), "most": moved[most]}
    return [
        claim(f"map.frame.{case}"),
        claim("map.frame.moved", first=layers[most], last=layers[most + 1], **steps),
    ]
