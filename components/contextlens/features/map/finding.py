"""The finding on a map: its labels or its groups at one layer, in the title and in sentences.

A map may draw distant points near each other, so every statement on nearness uses the true
neighbours, never the drawing. Shares are compared in whole per cent, as displayed.

No streamlit, and no visitor: a script draws the same map.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from contextlens.analysis.separation import SPLIT, Separation, Trial, scaled, separation, trial_of
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import quoted, shortened
from contextlens.core.schema import FloatArray, IntArray
from contextlens.features.map.coloring import (
    GROUPS,
    LAYER,
    NOTHING,
    Coloring,
    by_place,
    coloring,
)
from contextlens.features.map.groups import GroupName, MapGroups, groups_of
from contextlens.features.map.identity import once
from contextlens.features.map.trust import FEW, count_equal
from contextlens.figures.theme import MAX_COLORED
from contextlens.maps.agreement import Agreement, agreement, whole_percent
from contextlens.maps.clusters import ClusterLabel
from contextlens.maps.map_quality import MapQuality
from contextlens.maps.neighbors import Neighbors
from contextlens.maps.points import Points
from contextlens.maps.result import MapResult
from contextlens.ui.widgets.sense_claims import (
    senses_claim,
    senses_sure,
    senses_title_at,
    sorted_claim,
)

FORMULA = r"""
**Labels.** For each labelled point, whether its nearest labelled one of another text in the full
space has the same label. Tied points count in equal parts. Always guessing the commonest label is
right for the share $b$ of the points that carry it; of groups, the share $c$ that a neighbour drawn
at random would give is the yardstick. A share stands with its 95% interval (Clopper and Pearson
1934), at each layer for itself. Points that are each other's nearest, or at distance 0, count as
one observation together. Labels separate where the whole interval lies above $b$, in whole per
cent, and the share reaches $(1 + b) / 2$; below that, they separate partly. Two labels, or a
selection and the whole map, are told apart where no interval of all that are compared would miss in
95 of 100 cases; in a selection each sentence is one observation.
""".strip()

# --- The findings at one layer

_MIN_NAMED_POINTS = 60
"""From this many points on, groups have names on the map; with fewer, no word is typical."""


@dataclass(frozen=True, eq=False)
class SenseTests:
    """The test of one word's labelled senses at each layer, as on the Senses page."""

    word: str
    trial: Trial
    curve: tuple[Separation, ...]


@dataclass(frozen=True, eq=False)
class Finding:
    """The finding on a map at one layer, under one colouring.

    Attributes:
        key: a short name, unique to this finding.
        color: the colouring of the points.
        every_layer: True if the points of all layers are drawn at once.
        column: the labels behind the colours and the claims, or None.
        groups: the groups on the map.
        group_labels: the names of the groups, if there are enough points.
        titles: the finding at each layer, in one line.
        claims: the finding at this layer, in sentences.
        sure: sentences on the test behind the claims, and on its certainty.
        one_name: True if all points have the same name, as in a map of one word.
        senses: the test of a word's senses; None for other maps.
    """

    key: str
    color: Coloring
    every_layer: bool
    column: str | None
    groups: MapGroups
    group_labels: tuple[ClusterLabel, ...]
    titles: tuple[str, ...]
    claims: tuple[str, ...]
    sure: tuple[str, ...]
    one_name: bool
    senses: SenseTests | None = None

    @property
    def strays(self) -> tuple[tuple[int, ...], ...]:
        """The points at each layer that the test of a word's senses sorts wrong; () without it."""
        tests = self.senses
        if tests is None:
            return ()
        return tuple(tuple(test.strays(tests.trial).tolist()) for test in tests.curve)


def finding_of(
    result: MapResult,
    row: int,
    by: str,
    order: tuple[str, ...] = (),
    names: tuple[GroupName, ...] = (),
) -> Finding:
    """The finding on a map at one layer.

    Args:
        result: the map.
        row: the layer's row in the arrays of the map.
        by: the column that colours the points.
        order: the categories of another map, whose colours are kept.
        names: the visitor's names of groups.
    """
    points = result.points
    groups = groups_of(result, row, names)
    plain = by in {NOTHING, LAYER}
    color = coloring(points, "" if plain else by, extra={GROUPS: groups.names()}, order=order)
    if len(color.order) > MAX_COLORED and not (order or color.is_scale):
        last = result.map.coordinates[-1]
        color = replace(color, order=by_place(last, [str(value) for value in color.values]))
    column = by if by in points.labels and color.kind == "category" else None
    senses = _senses(result, column)
    if senses is not None:
        layer = result.layers[row]
        curve, trial = senses.curve, senses.trial
        sentences = MapClaims(
            [sorted_claim(senses.word, curve[row], trial)],
            [*senses_claim(senses.word, curve, trial, layer), *senses_sure(curve, trial)],
        )
    else:
        clusters = groups.numbers if column is None else None
        neighbors = result.map.neighbors[row]
        said = map_claims(points, neighbors, column=column, clusters=clusters)
        sentences = MapClaims([claim(f"map.dot.{points.unit}"), *said.claims], said.sure)
    parts = (result.request.key, row, by, order, names)
    return Finding(
        key=hashlib.sha256(repr(parts).encode("utf-8", "replace")).hexdigest()[:16],
        color=color,
        every_layer=by == LAYER,
        column=column,
        groups=groups,
        group_labels=groups.labels if points.n_points >= _MIN_NAMED_POINTS else (),
        titles=_titles(result, row, column, groups.numbers, senses),
        claims=tuple(map(str, sentences.claims)),
        sure=tuple(map(str, sentences.sure)),
        one_name=len({name.casefold() for name in points.names}) == 1,
        senses=senses,
    )


def _titles(
    result: MapResult, row: int, column: str | None, groups: IntArray, senses: SenseTests | None
) -> tuple[str, ...]:
    """The finding at each layer; groups are known only at the shown one."""
    points = result.points
    if senses is not None:
        return tuple(senses_title_at(senses.word, at, senses.trial) for at in senses.curve)
    return tuple(
        map_title(
            points,
            agreed=label_agreement(points, column, near) if column else None,
            column=column,
            clusters=groups if i == row else None,
            quality=result.map.quality[i],
            layer=result.layers[i],
        )
        for i, near in enumerate(result.map.neighbors)
    )


def _senses(result: MapResult, column: str | None) -> SenseTests | None:
    """The tests of a word's senses at each layer; None for other maps."""
    if column != "sense" or len(result.layers) < 2:
        return None
    return once(
        result,
        "senses",
        compute=lambda: sense_tests(result.points, result.vectors, result.layers),
    )


def sense_tests(points: Points, vectors: FloatArray, layers: tuple[int, ...]) -> SenseTests | None:
    """The tests of the labels "sense"; None for several words, or if nothing can be tested.

    Args:
        points: the occurrences of one word.
        vectors: (n_layers, n_points, n_dims) float32.
        layers: the layer of each row of `vectors`.
    """
    words = set(points.labels.get("word", ()))
    if len(words) != 1:
        return None
    word = words.pop()
    labels = [label.removeprefix(f"{word}: ") for label in points.labels["sense"]]
    trial = trial_of(labels, points.labels.get(SPLIT, ()))
    if trial.problem:
        return None
    curve = tuple(
        separation(scaled(rows), trial, layer) for rows, layer in zip(vectors, layers, strict=True)
    )
    return SenseTests(word, trial, curve)


# --- The verdict on labels and groups, in a title and in sentences

_MAX_TITLE = 80
_LONGEST = 36
"""Maximum length of a point's name, which may be part of its sentence."""
_LABEL_POINTS = 5  # a label with fewer points is best or worst by accident

State: TypeAlias = Literal["separate", "partly", "unclear", "not"]
"""The position of a share's interval: above the baseline ("separate" if the share is also at least
halfway from there to 1, else "partly"), around it ("unclear"), or below it ("not")."""
Untested: TypeAlias = Literal["none", "one", "alone", "unshared", "unreached"]
"""Reasons why labels cannot be compared."""


class MapClaims(NamedTuple):
    """The visible sentences on a map, and the folded ones below them."""

    claims: Sequence[Claim | str]
    sure: Sequence[Claim | str]


def label_agreement(points: Points, column: str, neighbors: Neighbors) -> Agreement | None:
    """The share of nearest points in the full space with the same label; None if untestable."""
    labels = points.labels.get(column)
    if labels is None:
        return None
    return agreement(labels, points.distinct_text, neighbors.indices, neighbors.distances)


def why_untested(points: Points, column: str, agreed: Agreement | None) -> Untested | None:
    """Return why labels cannot be tested in the full space; None if they can."""
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
    return None


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
    if column is not None and agreed is not None and not why_untested(points, column, agreed):
        return _labels_title(column, agreed, _state(agreed, agreed.baseline), layer)
    if column is None and clusters is not None:
        n_groups = len(np.unique(clusters[clusters >= 0]))
        return say("map.title.groups", n=n_groups) if n_groups else say("map.title.no_groups")
    if quality is None:
        return say("map.title.plain", n=n)
    if quality.is_flat:
        return say("map.title.flat", n=n)
    return say("map.title.recall", recall=quality.recall)


def _labels_title(column: str, agreed: Agreement, state: State, layer: int) -> str:
    name = say("map.title.pooler") if layer < 0 else say("map.title.layer", layer=layer)
    for longest in (24, 12, 6, 4):
        title = say(
            f"map.title.labels.{state}",
            layer=name,
            Layer=name[:1].upper() + name[1:],
            column=shortened(column, longest),
            n=agreed.n,
            share=agreed.share,
            baseline=agreed.baseline,
        )
        if len(title) <= _MAX_TITLE:
            return title
    return title


def map_claims(
    points: Points,
    neighbors: Neighbors | None,
    *,
    column: str | None = None,
    clusters: IntArray | None = None,
) -> MapClaims:
    """The finding of a map: on its labels, else on its groups, else on its closest points.

    Args:
        points: the points on the map.
        neighbors: the nearest points of each in the full space; None if there are too few.
        column: the labels to describe; None for a map without labels.
        clusters: (n_points,) the group of each point on the map, -1 for none.
    """
    if neighbors is None or not neighbors.indices.size:
        return MapClaims([claim("map.reading.one_point")], [])
    if column is not None:
        return _labelled(points, column, neighbors)
    if clusters is not None and (clusters >= 0).any():
        return _grouped(points, clusters, neighbors)
    none = [claim("map.groups.none")] if points.n_points >= FEW else []
    return MapClaims([*none, _closest(points, neighbors)], [])


def _labelled(points: Points, column: str, neighbors: Neighbors) -> MapClaims:
    agreed = label_agreement(points, column, neighbors)
    case = why_untested(points, column, agreed)
    if agreed is None or case is not None:
        label = next(filter(None, points.labels.get(column, ())), "")
        why = claim(
            f"map.untested.{case or 'unreached'}", column=quoted(column), label=quoted(label)
        )
        is_plain = case in {"none", "one"}
        closest = _closest(points, neighbors)
        if is_plain:
            return MapClaims([closest, why], [])
        return MapClaims([closest], [why, *_copies(points)])
    finding = claim(
        f"map.labels.{_state(agreed, agreed.baseline)}",
        column=quoted(column),
        share=agreed.share,
        n=agreed.n,
        commonest=quoted(agreed.commonest),
        baseline=agreed.baseline,
    )
    sure = [_interval(agreed), claim("map.sure.nearest", n=agreed.n), *_copies(points)]
    n_left = sum(1 for label in points.labels[column] if label) - agreed.n
    if n_left:
        sure.append(claim("map.sure.left_out", n=n_left))
    ends = agreed.ends(_LABEL_POINTS)
    if ends is not None:
        best, worst = ends
        shares = {"best_share": best.share, "worst_share": worst.share}
        names = {"best": quoted(best.name), "worst": quoted(worst.name)}
        sure.append(claim("map.sure.ends", **names, **shares))
    return MapClaims([finding], sure)


def _interval(agreed: Agreement) -> Claim:
    low, high = agreed.interval
    return claim("map.sure.interval", low=low, high=high)


def _grouped(points: Points, clusters: IntArray, neighbors: Neighbors) -> MapClaims:
    inside = clusters >= 0
    n, share = len(np.unique(clusters[inside])), float(inside.mean())
    claims = [claim("map.groups.some", n=n, share=share)]
    numbers = [str(number) if number >= 0 else "" for number in clusters.tolist()]
    agreed = agreement(numbers, points.distinct_text, neighbors.indices, neighbors.distances)
    is_alone = len(np.unique(points.distinct_text[inside])) < 2
    if is_alone or agreed is None or not 0 < agreed.chance < 1:
        return MapClaims(claims, [claim("map.sure.groups"), *_copies(points)])
    state, chance = _state(agreed, agreed.chance), agreed.chance
    in_space = claim(f"map.groups.{state}", share=agreed.share, chance=chance)
    sure = [in_space, _interval(agreed), claim("map.sure.groups"), *_copies(points)]
    return MapClaims(claims, sure)


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
