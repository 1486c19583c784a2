"""The map of a word: its occurrences on a plane at each layer, coloured by sense or group."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from plotly import graph_objects as go

from contextlens.content.language import say
from contextlens.content.wording import number, shortened
from contextlens.core.byte_cache import remembered
from contextlens.core.errors import RequestError
from contextlens.core.schema import FloatArray, IntArray
from contextlens.features.senses.controls import group_name
from contextlens.features.senses.layers import WordLayers
from contextlens.features.senses.occurrences import WordUses
from contextlens.features.senses.own_sentence import OwnSentence
from contextlens.figures.frames import add_frames
from contextlens.figures.side_names import SideName, margins, side_names
from contextlens.figures.theme import (
    CATEGORICAL,
    GROWING,
    INK,
    MAP_AXIS,
    MAX_COLORED,
    NEUTRAL,
    dot_size,
    figure,
    plain,
)

Ranges: TypeAlias = tuple[tuple[float, float], tuple[float, float]]
MAX_PLAYED = 40_000
"""Maximum number of points in all frames together that the browser receives for playback."""
_AIR = 0.06  # of each side's own length, on both ends
_FLATTEST = 0.25  # of the longer side: points nearly on a line are not stretched further
_OPACITY, _FADED = 0.85, 0.15
_TOP, _NARROW_TOP, _BOTTOM = 36, 64, 36  # pixels above and below the frame: buttons, legend
_HALF_LINE = 24  # with more characters before it, the word begins a new line
_LEGEND = {
    "orientation": "h",
    "x": 0,
    "y": 0,
    "yanchor": "top",
    "itemsizing": "constant",
    "bgcolor": "rgba(0,0,0,0)",
}
_LONGEST_WORD = 24
_HOVER_WIDTH = 40  # characters on each side of the word on hover

# --- Colours and shapes

_SHAPES = ("circle", "diamond", "square", "x", "cross", "triangle-up", "star")


@dataclass(frozen=True, eq=False)
class ColorKind:
    """The occurrences of one sense or group.

    Attributes:
        name, title: its name, safe for plotly, and as it was given.
        color, shape: those of its points.
        indices: of the occurrences.
    """

    name: str
    title: str
    color: str
    shape: str
    indices: IntArray


def color_of(code: int, n: int) -> str:
    """The colour for number `code` of `n` senses or groups; neutral for -1, none."""
    if code < 0:
        return NEUTRAL
    return CATEGORICAL[code] if code < _n_colored(n) else CATEGORICAL[-1]


def _n_colored(n: int) -> int:
    return n if n <= MAX_COLORED else MAX_COLORED - 1


# --- The map


@dataclass(frozen=True)
class Spot:
    """The text of a point: its context, its sense, its group, its cosine.

    Attributes:
        left, keyword, right: the parts of the text.
        sense, group: "" for none.
        cosine: to the target of the comparison, or None.
    """

    left: str
    keyword: str
    right: str
    sense: str = ""
    group: str = ""
    cosine: float | None = None


@dataclass(frozen=True, eq=False)
class WordMap:
    """The occurrences at every layer, as they are drawn.

    Attributes:
        positions: (n, 2) coordinates by layer.
        spots: the description of each occurrence.
        names, codes: the names behind the colours, and each occurrence's number; -1 for none.
        by: "sense" or "group".
        word: the word.
        strays: the occurrences at each layer that the test of the senses sorts wrong.
        sentence_positions: (2,) by layer, that of the visitor's sentence; None without one.
        near: the indices of the occurrences nearest to that sentence, which get a thin ring.
    """

    positions: Mapping[int, FloatArray]
    spots: tuple[Spot, ...]
    names: tuple[str, ...]
    codes: IntArray
    by: Literal["sense", "group"]
    word: str = ""
    strays: Mapping[int, IntArray] = field(default_factory=dict)
    sentence_positions: Mapping[int, FloatArray] | None = None
    near: tuple[int, ...] = ()

    @property
    def none(self) -> str:
        """The name for occurrences without a sense or group."""
        return "no sense" if self.by == "sense" else "in no group"

    def color(self, index: int) -> str:
        """The colour of an occurrence."""
        return color_of(int(self.codes[index]), len(self.names))

    def mark(self, index: int) -> str:
        """The name behind an occurrence's colour: its sense or its group."""
        code = int(self.codes[index])
        return self.names[code] if code >= 0 else self.none

    @cached_property
    def kinds(self) -> tuple[ColorKind, ...]:
        """The occurrences by colour, a trace each; those without a name first, below the others."""
        n_named = _n_colored(len(self.names))
        kinds = [
            ColorKind(self.none, self.none, NEUTRAL, "circle-open", np.flatnonzero(self.codes < 0)),
            ColorKind(
                f"other ({len(self.names) - n_named})",
                "",
                CATEGORICAL[-1],
                "hexagon",
                np.flatnonzero(self.codes >= n_named),
            ),
            *(
                ColorKind(
                    plain(self.names[i]),
                    self.names[i],
                    CATEGORICAL[i],
                    _SHAPES[i % len(_SHAPES)],
                    np.flatnonzero(self.codes == i),
                )
                for i in range(n_named)
            ),
        ]
        return tuple(kind for kind in kinds if len(kind.indices))

    def alt(self, layer: int) -> str:
        """A description of the map for readers who cannot see it."""
        about = {"n": len(self.spots), "word": self.word, "by": self.by}
        return say("senses.map_alt", layer=layer, **about)

    def figure(
        self,
        layer: int,
        *,
        chosen: int | None = None,
        selected: Sequence[int] | None = None,
        narrow: bool = False,
        height: int = 520,
    ) -> go.Figure:
        """The occurrences at one layer, with a frame for each layer of the layer bar.

        Args:
            layer: the layer shown.
            chosen: the occurrence with a thick ring; None for none.
            selected: those that stay while all others fade; None for no selection.
            narrow: True for a phone's width: the legend has the names, above the map.
            height: in pixels.

        Raises:
            RequestError: positions, spots and codes differ in number, or the layer has none.
        """
        n = self._checked(layer)
        hovers = [_hover(spot) for spot in self.spots]
        traces = [
            _points(kind, self.positions[layer], hovers, n, selected) | {"showlegend": narrow}
            for kind in self.kinds
        ]
        traces += self._rings(layer, chosen)
        ranges = {at: ranges_of(self._all_positions(at)) for at in self.positions}
        top = _NARROW_TOP if narrow else _TOP
        room = height - top - _BOTTOM
        looks: dict[int, dict[str, Any]] = {}
        for at, bounds in ranges.items():
            x, y = _axes(bounds)
            names = {} if narrow else side_names(self._names(at), bounds, height=room)
            looks[at] = {"xaxis": x, "yaxis": y, **names}
        side = 8 if narrow else max(8, margins(self._names(layer)))
        layout: dict[str, Any] = {
            **looks[layer],
            **GROWING,
            "dragmode": "pan",
            "hovermode": "closest",
            "showlegend": narrow or bool(len(traces) > len(self.kinds)),
            "modebar": {"bgcolor": "rgba(0,0,0,0)"},
            "legend": _LEGEND | ({"y": 1, "yanchor": "bottom"} if narrow else {}),
            "margin": {"l": side, "r": side, "t": top, "b": _BOTTOM},
        }
        whole = figure(traces, layout, title="", height=height, narrow=narrow)
        if len(self.positions) > 1 and len(self.positions) * n <= MAX_PLAYED:
            moved = {at: self._moved(at, chosen) for at in self.positions}
            add_frames(whole, moved, layer, [""] * len(moved), looks=looks, narrow=narrow)
        return whole

    def _names(self, layer: int) -> list[SideName]:
        """The names of the senses or groups, each where most of its points lie."""
        positions = self.positions[layer]
        names = []
        for kind in self.kinds:
            if kind.color not in {NEUTRAL, CATEGORICAL[-1]}:
                x, y = middle_of(positions[kind.indices])
                names.append(SideName(kind.name, kind.title, kind.color, (x, y), len(kind.indices)))
        return names if len(names) > 1 else []

    def _checked(self, layer: int) -> int:
        """The number of occurrences."""
        n = len(self.spots)
        shapes = {coordinates.shape for coordinates in self.positions.values()}
        if shapes != {(n, 2)} or len(self.codes) != n or layer not in self.positions:
            raise RequestError(
                f"{n} occurrences at layer {layer} need two coordinates and a number for each; "
                f"given were coordinates {sorted(shapes)} and {len(self.codes)} numbers."
            )
        return n

    def _all_positions(self, layer: int) -> FloatArray:
        """(n, 2) the positions at a layer, and one more for the visitor's sentence."""
        if self.sentence_positions is None:
            return self.positions[layer]
        return np.concatenate([self.positions[layer], self.sentence_positions[layer][None]])

    def _rings(self, layer: int, chosen: int | None) -> list[dict[str, Any]]:
        """Rings for strays, the nearest and the chosen; a star for the visitor's sentence."""
        positions, rings = self.positions[layer], []
        if any(map(len, self.strays.values())):  # at each layer, so that frames have the trace
            strays = positions[self.strays[layer]]
            rings.append(_ring(strays, say("senses.strays.ring"), "circle-open", 17, 2))
        if self.near:
            near = positions[list(self.near)]
            rings.append(_ring(near, "nearest to your sentence", "circle-open", 13, 1))
        if chosen is not None:
            rings.append(_ring(positions[[chosen]], "chosen", "circle-open", 20, 3))
        if self.sentence_positions is not None:
            star = self.sentence_positions[layer][None]
            rings.append(_ring(star, "your sentence", "star", 15, 1))
        return rings

    def _moved(self, layer: int, chosen: int | None) -> list[dict[str, Any]]:
        """The coordinates of the traces at another layer."""
        positions = self.positions[layer]
        rings = self._rings(layer, chosen)
        return [
            *(_xy(positions[kind.indices]) for kind in self.kinds),
            *({axis: trace[axis] for axis in "xy"} for trace in rings),
        ]


def word_map_of(
    uses: WordUses,
    by_layer: WordLayers,
    groups: IntArray,
    cosines: FloatArray | None,
    sentence: OwnSentence | None,
    by: str,
) -> WordMap:
    """The map of a word, coloured by sense if requested and labelled, else by group.

    Args:
        uses: the word and its occurrences.
        by_layer: their data at every layer.
        groups: (n,) their groups at the layer shown; -1 for none.
        cosines: (n,) to the target of the comparison; None without one.
        sentence: the visitor's sentence; None without one.
        by: "sense" or "group".
    """
    is_sense = by == "sense" and bool(uses.senses)
    layers, planes = by_layer.layers, by_layer.planes
    group_names = tuple(group_name(i) for i in range(int(groups.max(initial=-1)) + 1))
    contexts = remembered(
        "senses: contexts",
        uses.key,
        compute=lambda: tuple(uses.around(index, _HOVER_WIDTH) for index in range(uses.n)),
    )
    if sentence is not None and sentence.problem:
        sentence = None
    return WordMap(
        positions={at: plane.positions for at, plane in zip(layers, planes, strict=True)},
        spots=tuple(
            Spot(
                *contexts[index],
                sense=uses.labels[index],
                group=group_names[group] if group >= 0 else "",
                cosine=None if cosines is None else float(cosines[index]),
            )
            for index, group in enumerate(groups.tolist())
        ),
        names=uses.senses if is_sense else group_names,
        codes=uses.codes if is_sense else groups,
        by="sense" if is_sense else "group",
        word=shortened(uses.word, _LONGEST_WORD),
        strays={test.layer: test.strays(uses.trial) for test in by_layer.curve},
        sentence_positions=None
        if sentence is None
        else dict(zip(layers, sentence.positions, strict=True)),
        near=() if sentence is None else sentence.near,
    )


def clicked_indices(points: Sequence[Mapping[str, Any]], order: Sequence[IntArray]) -> list[int]:
    """The occurrences among the points that a chart reports; rings and other marks are left out.

    Args:
        points: the points, as plotly reports them.
        order: the indices of the occurrences of each trace of points.
    """
    indices = []
    for point in points:
        trace, number = point.get("curve_number"), point.get("point_index")
        if type(trace) is not int or type(number) is not int:
            continue
        if 0 <= trace < len(order) and 0 <= number < len(order[trace]):
            indices.append(int(order[trace][number]))
    return indices


def ranges_of(positions: FloatArray) -> Ranges:
    """The range of each axis: all points, with a margin; each axis has its own scale."""
    if not len(positions):
        return (-1.0, 1.0), (-1.0, 1.0)
    low, high = (edge.astype(float) for edge in (positions.min(axis=0), positions.max(axis=0)))
    spans = high - low
    longest = max(float(spans.max()), 1e-6)
    air = np.maximum(_AIR * spans, (_FLATTEST * longest - spans) / 2)
    x, y = zip((low - air).tolist(), (high + air).tolist(), strict=True)
    return (x[0], x[1]), (y[0], y[1])


def _axes(ranges: Ranges) -> tuple[dict[str, Any], dict[str, Any]]:
    x, y = ranges
    return {"range": list(x), **MAP_AXIS}, {"range": list(y), **MAP_AXIS}


def _xy(positions: FloatArray) -> dict[str, Any]:
    return {
        axis: np.ascontiguousarray(positions[:, i], dtype=np.float32) for i, axis in enumerate("xy")
    }


def _points(
    kind: ColorKind,
    positions: FloatArray,
    hovers: Sequence[str],
    n: int,
    selected: Sequence[int] | None,
) -> dict[str, Any]:
    trace: dict[str, Any] = {
        "type": "scatter",
        "mode": "markers",
        **_xy(positions[kind.indices]),
        "marker": {
            "size": dot_size(n),
            "opacity": _OPACITY,
            "color": kind.color,
            "symbol": kind.shape,
        },
        "name": kind.name,
        "hovertext": [hovers[i] for i in kind.indices],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "unselected": {"marker": {"opacity": _FADED}},
    }
    if selected is not None:
        trace["selectedpoints"] = np.flatnonzero(np.isin(kind.indices, list(selected))).tolist()
    return trace


def middle_of(positions: FloatArray) -> tuple[float, float]:
    """The point nearest to the median of these: a place where there is one."""
    middle = np.median(positions, axis=0)
    nearest = positions[np.linalg.norm(positions - middle, axis=1).argmin()]
    return float(nearest[0]), float(nearest[1])


def _ring(positions: FloatArray, name: str, shape: str, size: int, line: int) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        **_xy(positions),
        "marker": {
            "symbol": shape,
            "size": size,
            "color": INK,
            "line": {"width": line, "color": INK},
        },
        "name": name,
        "hoverinfo": "skip",
    }


def _hover(spot: Spot) -> str:
    """A point's context with the word in bold, then its labels; safe for plotly."""
    left, word, right = (
        html.escape(part, quote=False) for part in (spot.left, spot.keyword, spot.right)
    )
    is_long = len(spot.left) > _HALF_LINE and len(spot.right) > 0
    lines = [left.rstrip(), f"<b>{word}</b>{right}"] if is_long else [f"{left}<b>{word}</b>{right}"]
    if spot.sense:
        lines.append(f"sense: {plain(spot.sense)}")
    if spot.group:
        lines.append(plain(spot.group))
    if spot.cosine is not None:
        lines.append(f"cosine {number(spot.cosine, '.4f')}")
    return "<br>".join(lines)
