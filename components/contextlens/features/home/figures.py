"""Pictures of words that move apart over the layers, large and as thumbnails, on one scale.

The distance of a word from the first one is 1 - cosine, drawn with the same pixels for every pair.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from plotly import graph_objects as go

from contextlens.content.language import say
from contextlens.core.schema import FloatArray
from contextlens.figures.frames import add_frames
from contextlens.figures.theme import INK, MUTED, SMALLEST, color_of, figure, plain, values

_FARTHEST = 1.1
"""The largest distance with a place of its own, a little more than that of unrelated words."""
_BELOW = 0.02  # room for the lower half of a line
_SMALL_FARTHEST = 0.55
"""The same of the small pictures, which have no yardstick."""
_MARGIN = {"l": 128, "r": 8, "t": 48, "b": 30}
"""Pixels around the picture: each layer is above its place on the layer bar."""
_LINE = 18  # pixels of a name
_MAX_LONG = 2  # names in full on one line
_ABOVE = 9  # pixels from a dot's middle to the name above it
_MUTED_FONT = {"size": SMALLEST, "color": MUTED}


@dataclass(frozen=True)
class DrawnWord:
    """A word with its name, its colour in the palette, and its cosines, (n_layers,).

    Its sentence's letter, if it has one, stands for the name where room is short.
    """

    name: str
    letter: str
    color: int
    cosines: FloatArray


def parting(
    words: Sequence[DrawnWord],
    layers: Sequence[int],
    *,
    layer: int,
    titles: Sequence[str],
    random: FloatArray | None = None,
    height: int = 250,
) -> go.Figure:
    """Return each word's distance from the first one over the layers, with a frame for each layer.

    Args:
        words: their cosines are those with the first one.
        layers: the layer of each cosine.
        layer: the layer shown.
        titles: the finding at each layer.
        random: (n_layers,) the mean cosine of unrelated words, drawn as a yardstick.
        height: in pixels.
    """
    row = list(layers).index(layer)
    moving = _moving(words, layers, row)
    still = [_line(word, layers, 0.3) for word in words]
    yardstick = [] if random is None else [_yardstick(random, layers)]
    layout = {
        "xaxis": {
            "range": [layers[0], layers[-1]] if len(layers) > 1 else None,
            "visible": False,
        },
        "yaxis": {"range": [-_BELOW, _FARTHEST], "visible": False},
        "margin": _MARGIN,
    }
    room = round((height - _MARGIN["t"] - _MARGIN["b"]) * _FARTHEST / (_FARTHEST + _BELOW))
    notes = [*_axis(), *_names(words, room), *_remarks(words, layers, random)]
    chart = figure(
        [*moving, *still, *yardstick],
        {**layout, "annotations": notes},
        title=titles[row],
        height=height,
    )
    if len(layers) > 1:
        rows = {n: _moving(words, layers, i) for i, n in enumerate(layers)}
        looks = {n: {"annotations": notes} for n in layers}
        add_frames(chart, rows, layer, titles, looks=looks)
    return chart


def _distances(word: DrawnWord) -> FloatArray:
    distances: FloatArray = np.clip(1 - word.cosines, 0, _FARTHEST)
    return distances


def _moving(words: Sequence[DrawnWord], layers: Sequence[int], row: int) -> list[dict[str, Any]]:
    """Return the lines up to a layer, and the dots at their ends."""
    reached = [replace(word, cosines=word.cosines[: row + 1]) for word in words]
    dots = {
        "type": "scatter",
        "mode": "markers",
        "x": [layers[row]] * len(words),
        "y": [values(_distances(word))[row] for word in words],
        "marker": {"size": 16, "color": [color_of(word.color) for word in words]},
        "cliponaxis": False,
        "hoverinfo": "skip",
    }
    return [*(_line(word, layers[: row + 1], 1.0) for word in reached), dots]


def _line(word: DrawnWord, layers: Sequence[int], strength: float) -> dict[str, Any]:
    name = plain(word.name, 20)
    return {
        "type": "scatter",
        "mode": "lines",
        "x": list(layers),
        "y": values(_distances(word)),
        "line": {"color": color_of(word.color), "width": 4},
        "opacity": strength,
        "cliponaxis": False,
        "text": [f"{name}<br>layer {n}<br>{say('home.hover', cosine=cosine)}"
                 for n, cosine in zip(layers, word.cosines.tolist(), strict=True)],
        "hovertemplate": "%{text}<extra></extra>",
    }  # fmt: skip


def _yardstick(random: FloatArray, layers: Sequence[int]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": list(layers),
        "y": values(1 - random),
        "line": {"color": MUTED, "width": 1.5, "dash": "dash"},
        "hoverinfo": "skip",
    }


def _axis() -> list[dict[str, Any]]:
    """Return the axis in words: both its ends, and the arrow between them."""
    ends = {say("home.axis.apart"): _FARTHEST, say("home.axis.together"): 0}
    beside = {"x": 0, "xref": "paper", "showarrow": False, "font": _MUTED_FONT}
    words = [
        {
            **beside,
            "text": "<br>".join(plain(line, 40) for line in text.splitlines()),
            "align": "right",
            "xanchor": "right",
            "xshift": -22,
            "y": height,
            "yanchor": "top" if height else "bottom",
        }
        for text, height in ends.items()
    ]
    arrow = {"showarrow": True, "ax": 0, "ay": 0, "ayref": "y", "arrowhead": 2, "arrowcolor": MUTED}
    return [*words, {**beside, **arrow, "text": "", "y": _FARTHEST, "xshift": -12}]


def _names(words: Sequence[DrawnWord], room: int) -> list[dict[str, Any]]:
    """Return the names at the right ends: the first one's below it, all others above their dots."""
    first, *others = words
    ends = {i: float(_distances(word)[-1]) for i, word in enumerate(others)}
    groups = _groups({i: end * room / _FARTHEST for i, end in ends.items()})
    above = [([others[i] for i in group], _ABOVE, ends[group[-1]]) for group in groups]
    return [
        {
            "text": " ".join(_name(word, short=len(group) > _MAX_LONG) for word in group),
            "x": 1,
            "xref": "paper",
            "xanchor": "right",
            "xshift": 8,
            "y": end,
            "yanchor": "bottom",
            "yshift": shift,
            "showarrow": False,
            "font": {"size": SMALLEST, "color": INK},
        }
        for group, shift, end in [([first], -_ABOVE - _LINE, 0.0), *above]
    ]


def _name(word: DrawnWord, *, short: bool) -> str:
    name = plain(word.letter if short and word.letter else word.name, 20)
    return f'<span style="color:{color_of(word.color)}">●</span> {name}'


def _groups(ends: Mapping[int, float]) -> list[list[int]]:
    """Return the words whose dots are too near for names between them, from the lowest dot up.

    Args:
        ends: the height of each word's dot, in pixels.
    """
    groups: list[list[int]] = []
    for i in sorted(ends, key=ends.__getitem__):
        if groups and ends[i] - ends[groups[-1][-1]] < _LINE + 2 * _ABOVE:
            groups[-1].append(i)
        else:
            groups.append([i])
    return groups


def _remarks(
    words: Sequence[DrawnWord], layers: Sequence[int], random: FloatArray | None
) -> list[dict[str, Any]]:
    """Return the yardstick's name, and a note on distances beyond the picture."""
    common = {"showarrow": False, "font": _MUTED_FONT, "yanchor": "bottom"}
    remarks: list[dict[str, Any]] = []
    if random is not None:
        at = {"x": layers[0], "xanchor": "left", "y": float(1 - random[0])}
        remarks.append({**common, **at, "text": plain(say("home.axis.unrelated"), 40)})
    lowest = min(float(word.cosines.min()) for word in words)
    if 1 - lowest > _FARTHEST:
        at = {"x": 0.5, "xref": "paper", "xanchor": "center", "y": _FARTHEST, "yanchor": "top"}
        remarks.append({**common, **at, "text": plain(say("home.axis.beyond", cosine=lowest), 60)})
    return remarks


def thumbnail(cosines: FloatArray, *, width: int = 96, height: int = 44) -> str:
    """Return the same picture small, as an SVG data URL; all of them have one scale.

    Args:
        cosines: (n_words, n_layers), those with the first word.
        width: in pixels.
        height: in pixels.
    """
    bottom, room = height - 6, height - 12
    x = np.linspace(4, width - 6, cosines.shape[1])
    parts = []
    for i, along in enumerate(cosines):
        y = bottom - np.clip(1 - along, 0, _SMALL_FARTHEST) / _SMALL_FARTHEST * room
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{color_of(i)}" stroke-width="2"/>'
            f'<circle cx="{x[-1]:.1f}" cy="{y[-1]:.1f}" r="4" fill="{color_of(i)}"/>'
        )
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{"".join(parts)}</svg>'
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
