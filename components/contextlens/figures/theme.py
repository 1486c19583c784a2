"""Palette, template and layout in one place, so that all figures look alike.

Streamlit's theme sets backgrounds, text and grid colours, which change between light and dark
without a rerun. This module sets only colours that are readable on both.
"""

from __future__ import annotations

import colorsys
import html
import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go

from contextlens.content.wording import isolated, shortened

__all__ = [
    "CATEGORICAL",
    "DASHES",
    "GROUND",
    "GROWING",
    "HIGH",
    "INK",
    "LIGHT",
    "LOW",
    "MAP_AXIS",
    "MAX_COLORED",
    "MUTED",
    "NEUTRAL",
    "SEQUENTIAL",
    "SIGNED",
    "SMALLEST",
    "color_of",
    "dot_size",
    "figure",
    "heading",
    "hue_color",
    "ink_on",
    "plain",
    "ramp_color",
    "standalone",
    "tint",
    "values",
]

CATEGORICAL = (
    *("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442"),
    *("#A6761D", "#7570B3", "#8A8F98"),
)
"""Okabe and Ito's palette for readers with colour-vision deficiencies, and three more colours."""
MAX_COLORED = len(CATEGORICAL) - 1
"""Categories with a colour of their own; the palette's last, a grey, is for the others."""
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
_TURNING = 0.505
"""The share of `SEQUENTIAL` at which the theme's text and background have equal contrast to it."""
NEUTRAL = "#808080"
MUTED = "#000010"
"""For text beside a chart: Streamlit replaces it by the theme's tenth category, 4.5:1 or more."""
INK, GROUND = "#000037", "#000038"
"""Streamlit's placeholders for the theme's text and background."""
SEQUENTIAL = [[i / 9, f"#0000{11 + i}"] for i in range(10)]
"""The theme's blue, from the ground's tone to its opposite; Streamlit replaces the placeholders."""
SIGNED = {"autocolorscale": True}
"""For heatmaps whose range is symmetric around zero: the theme's diverging scale, light or dark."""
LOW, HIGH = "#3F8FD6", "#D98A2B"
"""The colours of bars below and above zero, readable in light and dark themes."""
SMALLEST = 14
"""Pixels of the smallest text in a chart; Streamlit's own text has 12 or fewer."""
_FONT = {"size": SMALLEST}
_MUTED_FONT = {**_FONT, "color": MUTED}
_ON_AXES = {"scatter", "scattergl", "bar", "heatmap"}
_MAX_TITLE_LENGTH, _NARROW_TITLE = 80, 42  # characters
_MARGIN = {"l": 84, "r": 16, "t": 40, "b": 70}

_IN_LABEL = re.compile(r'(?<=<span style="color:)#0000\d\d(?=")')
"""A placeholder in the HTML of a label; users' own text is escaped and so has no tags."""
_FIRST_CATEGORY, _FIRST_SEQUENTIAL, _FIRST_DIVERGING = 1, 11, 21
"""The numbers of the first placeholders of ten colours each."""
_SATURATION, _LUMINANCE = 0.6, 0.2  # of colours of all hues
_RAMP = (0.62, 0.80, 0.95), (0.10, 0.40, 0.68)  # red, green and blue of a scale's ends
_TITLE_TOP, _SUBTITLE_LINE = 12, 20  # pixels
_MAX_SUBTITLE_LENGTH = 100  # characters

LIGHT: Mapping[str, Any] = MappingProxyType(
    {
        "textColor": "#1F2933",
        "backgroundColor": "#FFFFFF",
        "borderColor": "#DDE3EA",
        "chartCategoricalColors": (*CATEGORICAL[:9], "#5B6673"),
        "chartSequentialColors": (
            *("#EDF4FB", "#D6E6F5", "#BAD5EE", "#98C0E4", "#70A7D7"),
            *("#2F72AE", "#1F5F9A", "#154C80", "#0D3A66", "#07294B"),
        ),
        "chartDivergingColors": (
            *("#015085", "#0E76BE", "#58A1E1", "#9DC9F3", "#DEEDFB"),
            *("#F7E8DA", "#E6BB91", "#CD8B42", "#A16001", "#6F4100"),
        ),
    }
)
"""The light theme's colours, by their names in Streamlit's configuration: for saved figures."""

MAP_AXIS: Mapping[str, Any] = MappingProxyType(
    {
        "constrain": "domain",
        "showticklabels": False,
        "ticks": "",
        "showgrid": False,
        "zeroline": False,
        "showline": True,
        "mirror": True,
        "linewidth": 1,
        "linecolor": "rgba(128,128,128,0.35)",
    }
)
"""An axis of a map: a frame without numbers, as a single coordinate means nothing."""


GROWING: Mapping[str, Any] = MappingProxyType({"meta": {"made_for": 700}})
"""A map's layout that lets the browser scale its markers, whose sizes are for this width."""


def color_of(index: int) -> str:
    """Return the palette's colour for the n-th category, starting again after the last."""
    return CATEGORICAL[index % len(CATEGORICAL)]


def dot_size(n: int) -> float:
    """Return the size in pixels of each dot on a map of n: the fewer there are, the larger.

    The browser lets it grow with the map where the layout is `GROWING`.
    """
    return round(min(13.0, max(3.5, 34.0 / math.pow(max(n, 1), 0.27))), 1)


def hue_color(turn: float) -> str:
    """Return a colour of one of all hues, about equally light: to be seen in both themes.

    Args:
        turn: the hue, in [0, 1).
    """
    low, high, rgb = 0.0, 1.0, (0.0, 0.0, 0.0)
    for _ in range(12):  # the lightness that gives the wanted luminance
        middle = (low + high) / 2
        rgb = colorsys.hls_to_rgb(turn, middle, _SATURATION)
        low, high = (middle, high) if _luminance(rgb) < _LUMINANCE else (low, middle)
    return _hex(rgb)


def ramp_color(place: int, n: int) -> str:
    """Return the colour of a place on a scale of n: one blue, light to dark."""
    share = place / max(1, n - 1)
    return _hex([a + share * (b - a) for a, b in zip(*_RAMP, strict=True)])


def _luminance(rgb: Sequence[float]) -> float:
    """Return the relative luminance, as WCAG has it."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))


def _hex(rgb: Sequence[float]) -> str:
    return "#" + "".join(f"{round(255 * channel):02X}" for channel in rgb)


def tint(color: str, opacity: float) -> str:
    """Return a colour of the palette, such as "#0072B2", that lets through what is behind it."""
    red, green, blue = bytes.fromhex(color.removeprefix("#"))
    return f"rgba({red},{green},{blue},{opacity})"


def ink_on(share: float) -> str:
    """Return the colour of a number on a cell of `SEQUENTIAL`, readable in both themes.

    Args:
        share: the place of the cell's value on the scale, in [0, 1].
    """
    return INK if share < _TURNING else GROUND


def plain(text: str, longest: int = 24) -> str:
    """Return a user's text for labels and hovers: one line, cut to a length, no active HTML.

    Plotly renders a subset of HTML, so typed text must be escaped.
    """
    return html.escape(isolated(shortened(text, longest)), quote=False)


def heading(text: str, *, narrow: bool = False) -> str:
    """Return a title for plotly, broken into lines if the figure is narrow."""
    cut = shortened(text, _MAX_TITLE_LENGTH)
    lines = textwrap.wrap(cut, _NARROW_TITLE) if narrow else [cut]
    return "<br>".join(html.escape(line, quote=False) for line in lines)


def values(array: NDArray[Any]) -> list[float]:
    """Return rounded Python floats: a fifth of the bytes of full float64 text in the browser."""
    rounded: list[float] = np.round(array.astype(float), 5).tolist()
    return rounded


def figure(
    traces: list[dict[str, Any]],
    layout: dict[str, Any],
    *,
    title: str,
    height: int,
    narrow: bool = False,
) -> go.Figure:
    """Return a figure in the common layout with the finding as its title, in lines if narrow.

    A layout's margin names only the sides that need other room than usual.
    """
    with_defaults = {
        "title": {
            "text": heading(title, narrow=narrow),
            "x": 0,
            "xanchor": "left",
            "font": {"size": 16, "color": INK},
        },
        "height": height,
        "showlegend": False,
        "hoverlabel": {"align": "left", "font": _FONT},
        "dragmode": False,
        "font": _MUTED_FONT,  # of notes and legends: Streamlit's own grey is too light on white
        **_with_axes(traces),
        **layout,
        "margin": {**_MARGIN, **layout.get("margin", {})},
    }
    # Plain dicts, not the add_* methods: 1 ms instead of 44 ms for twelve lines. Nor does plotly
    # check them, which takes 5 ms: the tests do, with every figure that they draw.
    return go.Figure(
        data=[_readable_trace(trace) for trace in traces],
        layout=_readable(with_defaults),
        _validate=False,
    )


def _with_axes(traces: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the axes that the traces use, which would otherwise have the page's smaller text."""
    on_axes = any(trace.get("type") in _ON_AXES for trace in traces)
    return {"xaxis": {}, "yaxis": {}} if on_axes else {}


def _readable(layout: dict[str, Any]) -> dict[str, Any]:
    """Return a layout whose axes and legend use the smallest size unless they set another."""
    parts = {
        name: _muted(part) if name.startswith(("xaxis", "yaxis")) else part
        for name, part in layout.items()
    }
    legend = layout.get("legend", {})
    title = {"font": _FONT, **legend.get("title", {})}
    return {**parts, "legend": {"font": _FONT, **legend, "title": title}}


def _readable_trace(trace: dict[str, Any]) -> dict[str, Any]:
    """Return a trace whose texts can be read: sizes, and the ink of numbers beside bars."""
    if trace.get("textposition") == "outside":  # Streamlit's own grey is too light on white
        trace = {**trace, "textfont": {"color": INK, **trace.get("textfont", {})}}
    if trace.get("type") == "heatmap" and "texttemplate" in trace:  # plotly would shrink it to fit
        trace = {**trace, "textfont": {**_FONT, **trace.get("textfont", {})}}
    if "colorbar" in trace:
        bar = trace["colorbar"]
        place = {} if bar.get("orientation") == "h" else {"x": 1}  # the same distance at any width
        trace = {**trace, "colorbar": _muted({**place, **bar})}
    if "colorbar" in trace.get("marker", {}):
        trace = {**trace, "marker": _readable_trace(trace["marker"])}
    return trace


def _muted(part: dict[str, Any]) -> dict[str, Any]:
    title = {"font": _MUTED_FONT, **part.get("title", {})}
    return {"tickfont": _MUTED_FONT, **part, "title": title}


# --- A figure outside of Streamlit


def standalone(chart: go.Figure, *, subtitle: Sequence[str] = ()) -> go.Figure:
    """Return a figure that needs no page: the light theme's colours in place of placeholders.

    It shows one layer: frames of other layers are left out.

    Args:
        chart: a figure of a page; it stays as it is.
        subtitle: lines of text below the title, which are escaped here.
    """
    layout = chart.layout.to_plotly_json()
    layout["template"] = _template()  # not Streamlit's, which is there where it was imported
    traces = [trace.to_plotly_json() for trace in chart.data]  # frames are a page's layer bar's
    whole = go.Figure(data=_with_real_colors(traces), layout=_with_real_colors(layout))
    whole.layout.title.font.update(weight=600)
    if subtitle:
        lines = "<br>".join(plain(line, _MAX_SUBTITLE_LENGTH) for line in subtitle)
        whole.layout.title.subtitle = {"text": lines, "font": {"size": SMALLEST}}
        room = _SUBTITLE_LINE * len(subtitle)
        whole.layout.title.update(yref="container", y=1, yanchor="top", pad={"t": _TITLE_TOP})
        whole.layout.margin.t += room
        whole.layout.height += room
    return whole


def _with_real_colors(part: Any, name: str = "") -> Any:
    """Return a part of a figure, and of this name, with real colours in place of placeholders."""
    if isinstance(part, Mapping):
        return {key: _with_real_colors(value, key) for key, value in part.items()}
    if isinstance(part, list | tuple):
        return [_with_real_colors(value, name) for value in part]
    if not isinstance(part, str):
        return part
    colors = _real_colors()
    if "color" in name:
        return colors.get(part, part)
    return _IN_LABEL.sub(lambda found: colors[found[0]], part)


@cache
def _real_colors() -> Mapping[str, str]:
    """Return the theme's colour for each placeholder that figures use."""
    colors = {INK: LIGHT["textColor"], GROUND: LIGHT["backgroundColor"]}
    for first, scale in (
        (_FIRST_CATEGORY, LIGHT["chartCategoricalColors"]),
        (_FIRST_SEQUENTIAL, LIGHT["chartSequentialColors"]),
        (_FIRST_DIVERGING, LIGHT["chartDivergingColors"]),
    ):
        colors |= {f"#{first + i:06d}": color for i, color in enumerate(scale)}
    return colors


def _template() -> dict[str, Any]:
    """Return plotly's settings that Streamlit's theme would set: grounds, text, grid, scales."""
    ink, ground, line = LIGHT["textColor"], LIGHT["backgroundColor"], LIGHT["borderColor"]
    sequential = _scale(LIGHT["chartSequentialColors"])
    axis = {"gridcolor": line, "linecolor": line, "zerolinecolor": line}
    axis |= {"automargin": True, "ticklabelstandoff": 4}
    bar = {
        "outlinewidth": 8,
        "outlinecolor": "rgba(0,0,0,0)",
    }  # apart from its title
    scene_axis = {"gridcolor": line, "linecolor": line, "backgroundcolor": ground}
    return {
        "data": {"heatmap": [{"colorbar": bar}]},
        "layout": {
            "font": {"family": "sans-serif", "color": ink},
            "paper_bgcolor": ground,
            "plot_bgcolor": ground,
            "colorway": LIGHT["chartCategoricalColors"],
            "colorscale": {
                "sequential": sequential,
                "sequentialminus": sequential,
                "diverging": _scale(LIGHT["chartDivergingColors"]),
            },
            "hoverlabel": {"bgcolor": ground, "bordercolor": line, "font": {"color": ink}},
            "xaxis": axis,
            "yaxis": axis,
            "scene": {f"{name}axis": scene_axis for name in "xyz"},
        },
    }


def _scale(colors: Sequence[str]) -> list[list[Any]]:
    return [[i / (len(colors) - 1), color] for i, color in enumerate(colors)]
