"""The pictures of Anatomy: parts by size, models side by side, and one array's numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go

from components.features.anatomy.measures import Node, WeightStatistics
from components.features.anatomy.reading import share_text
from components.figures.room import beside
from components.figures.theme import CATEGORICAL, NEUTRAL, SMALLEST, figure, plain

__all__ = ["ROOT", "model_bars", "part_map", "singular_values", "weight_histogram"]

ROOT = "model"
"""The whole model's ID in the map; an empty ID would mean "no parent"."""
_FRAME = "#B9C1CA"
_DARK, _WHITE = "#1F2933", "#FFFFFF"
_BLUE, _ORANGE, _GREEN, _VERMILION, _PURPLE, _SKY = CATEGORICAL[:6]
_COLORS = {
    **dict.fromkeys(("embeddings", "word"), _BLUE),
    **dict.fromkeys(("position", "segment", "projection"), _SKY),
    **dict.fromkeys(("attention", "query", "key", "value", "output"), _ORANGE),
    **dict.fromkeys(("feed-forward", "widening", "narrowing"), _GREEN),
    "pooler": _PURPLE,
    "relative": _VERMILION,
    **dict.fromkeys(("layer", "shared", "model"), _FRAME),
}
_NEEDS_WHITE = {_BLUE, _VERMILION}
_DEPTHS = {"treemap": 3, "icicle": 4}
_PADS = {"treemap": {"pad": {"t": 22, "l": 3, "r": 3, "b": 3}}, "icicle": {}}


def part_map(
    tree: Node,
    *,
    kind: Literal["treemap", "icicle"],
    chosen: Node,
    matches: frozenset[str] | None,
    title: str,
    height: int = 460,
) -> go.Figure:
    """A model's parts, each drawn in proportion to its parameters; a click on one zooms to it.

    Args:
        tree: the whole model.
        kind: "treemap" for nested boxes, "icicle" for levels, from the whole to its small parts.
        chosen: the part that fills the picture; a leaf is highlighted among its neighbours.
        matches: names of the parameters that match a search; parts without any are faint.
        title: the finding.
        height: in pixels.
    """
    nodes = list(tree.walk())
    colors = [_color(node, chosen, matches) for node in nodes]
    trace: dict[str, Any] = {
        "type": kind,
        "ids": [node.path or ROOT for node in nodes],
        "parents": ["" if node is tree else _above(node) or ROOT for node in nodes],
        "labels": [plain(node.name, 40) for node in nodes],
        "values": [node.n_values for node in nodes],
        "customdata": [plain(node.title, 80) for node in nodes],
        "branchvalues": "total",
        "level": (chosen.path if chosen.children else _above(chosen)) or ROOT,
        "maxdepth": _DEPTHS[kind],
        "sort": kind == "treemap",
        "marker": {"colors": colors, "line": {"width": 1, "color": _WHITE}, **_PADS[kind]},
        "text": [share_text(node.share_of(tree)) for node in nodes],
        "texttemplate": "%{label}<br>%{text}",
        "textfont": {
            "color": [_WHITE if color in _NEEDS_WHITE else _DARK for color in colors],
            "size": SMALLEST,
        },
        "hovertemplate": "%{customdata}<br>%{value:,} parameters<br>%{text}<extra></extra>",
        "pathbar": {"visible": True, "thickness": 22, "textfont": {"color": _DARK}},
    }
    trace |= _TREEMAP if kind == "treemap" else _ICICLE
    layout = {
        "margin": {"l": 0, "r": 0, "t": 64, "b": 0},  # 24 pixels of t hold the path bar
        "uniformtext": {"minsize": 9, "mode": "hide"},  # hide names that would be too small
    }
    return figure([trace], layout, title=title, height=height)


_TREEMAP: dict[str, Any] = {
    "tiling": {"packing": "squarify", "pad": 1},
    "textposition": "middle center",
}
_ICICLE: dict[str, Any] = {"tiling": {"orientation": "v", "pad": 1}, "leaf": {"opacity": 1}}


def model_bars(
    names: Sequence[str], parts: Sequence[dict[str, int]], *, title: str, height: int = 360
) -> go.Figure:
    """Each model's parameters as a bar, divided into embedding layer, layers and pooler.

    Args:
        names: the models.
        parts: for each model, the number of parameters in each part; the same keys for all.
        title: the finding.
        height: in pixels.
    """
    labels = [plain(name, 34) for name in names]
    colors = {"Embedding layer": _BLUE, "Layers": _GREEN, "Pooler": _PURPLE}
    traces: list[dict[str, Any]] = [
        {
            "type": "bar",
            "orientation": "h",
            "name": part,
            "y": list(range(len(labels))),
            "x": [counts[part] for counts in parts],
            "customdata": labels,
            "marker": {"color": colors.get(part, NEUTRAL)},
            "hovertemplate": f"%{{customdata}}<br>{part}: %{{x:,}} parameters<extra></extra>",
        }
        for part in (parts[0] if parts else ())
    ]
    layout = {
        "barmode": "stack",
        "showlegend": True,
        # Below the chart, because above it the legend would cover the title on a phone.
        "legend": {"orientation": "h", "y": -0.33, "yanchor": "top", "traceorder": "normal"},
        "xaxis": {"title": {"text": "parameters"}, "tickformat": "~s"},
        "yaxis": {
            "tickvals": list(range(len(labels))),
            "ticktext": labels,
            "autorange": "reversed",
            "automargin": True,
            "showgrid": False,
        },
        "margin": {"l": beside(labels, most=220), "r": 20, "b": 124},
    }
    return figure(traces, layout, title=title, height=height)


def weight_histogram(stats: WeightStatistics, *, title: str, height: int = 300) -> go.Figure:
    """A histogram of the values in an array."""
    centres = (stats.edges[:-1] + stats.edges[1:]) / 2
    trace: dict[str, Any] = {
        "type": "bar",
        "x": _short(centres),
        "y": stats.counts.tolist(),
        "width": float(np.diff(stats.edges)[0]),
        "marker": {"color": _BLUE},
        "hovertemplate": "around %{x:.4f}: %{y:,} values<extra></extra>",
    }
    layout = {
        "bargap": 0,
        "xaxis": {"title": {"text": "value"}, "zeroline": False},
        "yaxis": {"title": {"text": "how many"}, "rangemode": "tozero"},
        "margin": {"l": 76},
    }
    return figure([trace], layout, title=title, height=height)


def singular_values(stats: WeightStatistics, *, title: str, height: int = 300) -> go.Figure:
    """Singular values, largest first, beside those of a random matrix of the same shape."""
    ranks = list(range(1, len(stats.singular) + 1))
    traces = [
        _line(ranks, stats.random, "random matrix", NEUTRAL, "dash"),
        _line(ranks, stats.singular, "this matrix", _BLUE, "solid"),
    ]
    layout = {
        "showlegend": True,
        "legend": {"x": 1, "xanchor": "right", "y": 1, "yanchor": "top"},
        "xaxis": {"title": {"text": "singular value, from the largest"}, "zeroline": False},
        "yaxis": {"title": {"text": "size"}, "rangemode": "tozero"},
        "margin": {"l": 76},
    }
    return figure(traces, layout, title=title, height=height)


def _line(
    ranks: Sequence[int], values: NDArray[np.float64], name: str, color: str, dash: str
) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": ranks,
        "y": _short(values),
        "line": {"color": color, "dash": dash, "width": 2},
        "hovertemplate": f"number %{{x}}: %{{y:.4f}}<extra>{name}</extra>",
    }


def _short(values: Any) -> list[float]:
    """Values rounded to five significant digits, as weights may be far below one."""
    return [float(f"{value:.5g}") for value in values]


def _above(node: Node) -> str:
    """The path of the part that contains a part."""
    return node.path.rpartition("/")[0]


def _color(node: Node, chosen: Node, matches: frozenset[str] | None) -> str:
    base = _COLORS.get(node.kind, NEUTRAL)
    is_match = matches is None or any(p.name in matches for p in node.parameters)
    holds_chosen = f"{chosen.path}/".startswith(f"{node.path}/") or not node.path
    beside_chosen = not chosen.children and not holds_chosen
    return base if is_match and not beside_chosen else _faint(base)


def _faint(color: str) -> str:
    """A colour mixed with the frame's grey; transparency would show the parent's colour."""
    pairs = [(int(color[i : i + 2], 16), int(_FRAME[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(0.15 * value + 0.85 * grey):02X}" for value, grey in pairs)
