"""A picked point with its nearest ones in the full space and on the map, and two pinned points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from contextlens.analysis.baseline import Band, is_in_sample_script
from contextlens.analysis.ruler import Ruler
from contextlens.analysis.sense_names import SenseNames
from contextlens.analysis.words import POOLINGS
from contextlens.content.language import Claim, claim
from contextlens.content.wording import cut, escape, quoted
from contextlens.features.map.display import MapDisplay
from contextlens.ui.panel import Panel
from contextlens.ui.widgets.comparison.answer import margins, of_senses
from contextlens.ui.widgets.comparison.ruler import RulerShown, pair_on_ruler, ruler_reading
from contextlens.ui.widgets.comparison.senses import covered, uses_at

_LONGEST = 36
_MAX_NAME_LENGTH = 40

# --- A picked point


@dataclass(frozen=True, eq=False)
class PickedPoint(Panel):
    """A picked point.

    Attributes:
        title: its name and its sentence, in Markdown.
        called: its name in the claim: part of its sentence, if all points have the same name.
        true: the points nearest in the full space, nearest first.
        near: as many points nearest on the map.
        near_full, near_here: both of them as tables.
    """

    title: str
    called: str
    true: Sequence[int]
    near: Sequence[int]
    near_full: pd.DataFrame
    near_here: pd.DataFrame

    def claims(self) -> Sequence[Claim]:
        """Return the number of true neighbours that are also neighbours on the map."""
        return (neighbours_claim(self.called, self.true, self.near),)


def picked_point(display: MapDisplay, point: int) -> PickedPoint:
    """Return a point of a map beside its true neighbours and those on the map."""
    true, near = display.true_neighbors(point), display.map_neighbors(point)
    shared = set(true) & set(near)
    return PickedPoint(
        f"**{short_name(display, point)}** · {_sentence(display, point)}",
        display.called(point),
        true,
        near,
        _table(display, point, true, shared),
        _table(display, point, near, shared),
    )


def _table(
    display: MapDisplay, point: int, others: Sequence[int], shared: set[int]
) -> pd.DataFrame:
    points, unit = display.points, display.points.unit.removesuffix("s")
    has_names = points.unit == "sentences" or not display.finding.one_name
    columns = {
        "": ["✓" if row in shared else "" for row in others],
        "on map": [display.labels.get(row, "") for row in others],
        "cosine": display.cosines(point, others),
        **({unit: [points.names[row] for row in others]} if has_names else {}),
        "sentence": [points.text(row) for row in others],
    }
    return pd.DataFrame(columns)


def neighbours_claim(name: str, true: Sequence[int], near: Sequence[int]) -> Claim:
    """Return the number of a point's true neighbours that are also its neighbours on the map.

    Args:
        name: the point's name.
        true: the points nearest in the full space.
        near: as many points nearest on the map.
    """
    k, n_shared = len(true), len(set(true) & set(near))
    if k < 2:
        return claim(f"map.point.{'only' if k else 'alone'}", name=quoted(name, _LONGEST))
    return claim("map.point.kept", name=quoted(name, _LONGEST), n=n_shared, k=k)


def short_name(display: MapDisplay, point: int) -> str:
    """Return a point's name in Markdown, cut if it is long."""
    name = display.points.names[point]
    return escape(name if len(name) <= _MAX_NAME_LENGTH else cut(name, _MAX_NAME_LENGTH - 1) + "…")


def _sentence(display: MapDisplay, point: int) -> str:
    labels = [column[point] for column in display.points.labels.values() if column[point]]
    if display.points.unit == "sentences":
        return escape(" · ".join(labels[:3]))
    return escape(display.points.text(point))


# --- Two pinned points


@dataclass(frozen=True, eq=False)
class PinnedPair(Panel):
    """Two pinned points.

    Attributes:
        a, b: their names.
        cosine: the cosine of their vectors, not of their drawn positions.
        layer: the layer of the vectors; None for the pooler's output.
        band: cosines of random pairs of words at each layer; None if they do not apply.
        on_ruler: their place on the ruler; None if it does not apply to these points or vectors.
        by_sense: their senses, A's and B's, if they are clear uses of a word of the ready corpus.
    """

    a: str
    b: str
    cosine: float
    layer: int | None
    band: Band | None
    on_ruler: RulerShown | None
    by_sense: tuple[Claim, ...] = ()

    def claims(self) -> Sequence[Claim]:
        """Return the senses of two uses, else the place on the ruler, or else the similarity."""
        if self.by_sense:
            return self.by_sense
        if self.on_ruler is not None:
            return (ruler_reading(self.on_ruler),)
        return (pinned_claim(self.a, self.b, self.cosine, layer=self.layer, band=self.band),)


def pinned_pair(
    display: MapDisplay,
    a: int,
    b: int,
    band: Band | None,
    ruler: Ruler | None,
    names: SenseNames | None = None,
) -> PinnedPair:
    """Return two points of a map with their exact similarity.

    Args:
        display: the map.
        a, b: the points.
        band: cosines of random pairs of words, pooled as on the map; None without a baseline.
        ruler: cosines of labelled pairs of words, if they are measured.
        names: the senses of the word that both are uses of; None for others.
    """
    points, layer = display.points, display.layer
    cosine, pooling = display.cosines(a, [b])[0], display.result.request.pooling
    are_words = points.unit == "words" and layer >= 0
    by_sense = _by_sense(display, (a, b), names) if names is not None else ()
    on_ruler = None
    if not by_sense and ruler is not None and are_words and pooling in POOLINGS:
        words = [points.names[point] for point in (a, b)]
        on_ruler = pair_on_ruler(words, cosine, ruler, at=(layer, pooling), band=band)
    return PinnedPair(
        points.names[a],
        points.names[b],
        cosine,
        layer if layer >= 0 else None,
        band if are_words else None,
        on_ruler if on_ruler is not None and on_ruler.ranges else None,
        by_sense,
    )


def sensed_word(display: MapDisplay, a: int | None, b: int | None) -> str | None:
    """Return the word of the ready corpus that two points are uses of; None for other points."""
    points, request = display.points, display.result.request
    if a is None or b is None or points.unit != "words" or request.pooling != "mean":
        return None
    words = {covered(points.names[point]) for point in (a, b)}
    has_all_layers = display.result.layers == tuple(range(len(display.result.layers)))
    return words.pop() if len(words) == 1 and has_all_layers else None


def _by_sense(display: MapDisplay, pair: tuple[int, int], names: SenseNames) -> tuple[Claim, ...]:
    vectors = display.result.vectors[:, list(pair)].swapaxes(0, 1)
    word = sensed_word(display, *pair)
    if word is None or vectors.shape[1:] != names.centre.shape:
        return ()
    uses = uses_at(display.layer, word, names, vectors, letters="AB", items=pair)
    claims = of_senses(uses)
    return (*claims, margins(uses)) if claims else ()


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
