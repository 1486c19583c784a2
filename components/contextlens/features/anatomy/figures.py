"""The pictures of Anatomy: parts by size, models side by side, and one array's numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go

from contextlens.content.language import say
from contextlens.features.anatomy.measures import Node, WeightStatistics
from contextlens.features.anatomy.reading import share_text
from contextlens.figures.margins import beside
from contextlens.figures.theme import (
    CATEGORICAL,
    GROUND,
    INK,
    MUTED,
    NEUTRAL,
    SMALLEST,
    figure,
    plain,
)

HEIGHT = 500
"""Pixels of the map."""
ROOT = "model"
"""The whole model's ID in the map; an empty ID would mean "no parent"."""
_BLUE, _ORANGE, _GREEN, _VERMILION, _PURPLE, _SKY = CATEGORICAL[:6]
_WIDE_SHARE = 0.2
"""The smallest part of a model whose box has room for its size in the heading, too."""
_NAMED_SHARE = 0.02
"""The smallest part of a model whose box has room for its name."""
_BAR_TINT = 0.7
_TINT, _FRAME_TINT, _FAINT_TINT = 0.34, 0.12, 0.06
"""Opacities over the page's ground: of a part, of a frame around parts, and of what is faint."""
_COLORS = {
    **dict.fromkeys(("embeddings", "word"), _BLUE),
    **dict.fromkeys(("position", "segment", "projection", "layer-inputs"), _SKY),
    **dict.fromkeys(("layer-input", "gate", "gate-output"), _SKY),
    **dict.fromkeys(("attention", "query", "key", "value", "qkv", "output"), _ORANGE),
    **dict.fromkeys(("feed-forward", "widening", "narrowing"), _GREEN),
    **dict.fromkeys(("pooler", "last-projection"), _PURPLE),
    **dict.fromkeys(("relative", "convolution"), _VERMILION),
    **dict.fromkeys(("layer", "shared", "model"), NEUTRAL),
}
_DEPTHS = {"treemap": 3, "icicle": 4}
_PADS = {"treemap": {"pad": {"t": 30, "l": 4, "r": 4, "b": 4}}, "icicle": {}}


def part_map(
    tree: Node,
    *,
    kind: Literal["treemap", "icicle"],
    chosen: Node,
    matches: frozenset[str] | None,
    height: int = HEIGHT,
) -> go.Figure:
    """A model's parts, each drawn in proportion to its parameters; a click on one zooms to it.

    Args:
        tree: the whole model.
        kind: "treemap" for nested boxes, "icicle" for levels, from the whole to its small parts.
        chosen: the part that fills the picture; a leaf is highlighted among its neighbours.
        matches: names of the parameters that match a search; parts without any are faint.
        height: in pixels.
    """
    nodes = list(tree.walk())
    level = (chosen.path if chosen.children else _above(chosen)) or ROOT
    last = _depth(level) + _DEPTHS[kind] - 1
    boxes = [not node.children or _depth(node.path or ROOT) == last for node in nodes]
    colors = [
        _color(node, chosen, matches, _TINT if is_box or kind == "icicle" else _FRAME_TINT)
        for node, is_box in zip(nodes, boxes, strict=True)
    ]
    trace: dict[str, Any] = {
        "type": kind,
        "ids": [node.path or ROOT for node in nodes],
        "parents": ["" if node is tree else _above(node) or ROOT for node in nodes],
        "labels": [
            _label(node, tree, kind, is_box=is_box)
            for node, is_box in zip(nodes, boxes, strict=True)
        ],
        "values": [node.n_values for node in nodes],
        "customdata": [plain(node.title, 80) for node in nodes],
        "branchvalues": "total",
        "level": level,
        "maxdepth": _DEPTHS[kind],
        "sort": kind == "treemap",
        "marker": {"colors": colors, "line": {"width": 1, "color": GROUND}, **_PADS[kind]},
        "text": [share_text(node.share_of(tree)) for node in nodes],
        "texttemplate": "%{label}",
        "textfont": {"color": INK, "size": SMALLEST},
        "hovertemplate": "%{customdata}<br>%{value:,} parameters<br>%{text}<extra></extra>",
        "pathbar": {
            "visible": True,
            "thickness": 26,  # 6 of them are padding; a name that does not fit would be hidden
            "edgeshape": "|",
            "textfont": {"color": INK, "size": SMALLEST},
        },
    }
    trace |= _TREEMAP if kind == "treemap" else _ICICLE
    layout = {
        "margin": {"l": 0, "r": 0, "t": 30, "b": 0},  # 26 pixels of t hold the path bar
        "uniformtext": {"minsize": SMALLEST, "mode": "hide"},  # a name is readable or left out
    }
    return figure([trace], layout, title="", height=height)


def tiny_parts(tree: Node, chosen: Node) -> list[Node]:
    """The parts outside of layers whose boxes are too small for a name, where all are shown."""
    if chosen.path:
        return []
    boxes: list[Node] = []
    for node in tree.children:
        if node.kind == "embeddings":
            boxes += node.children
        elif node.kind not in {"layer", "shared"}:
            boxes.append(node)
    return [box for box in boxes if 0 < box.share_of(tree) < _NAMED_SHARE]


_TREEMAP: dict[str, Any] = {
    "tiling": {"packing": "binary", "pad": 2},
    "textposition": "middle center",
}
_ICICLE: dict[str, Any] = {"tiling": {"orientation": "v", "pad": 1}, "leaf": {"opacity": 1}}


def model_bars(
    names: Sequence[str], parts: Sequence[dict[str, int]], *, title: str, height: int = 360
) -> go.Figure:
    """Each model's parameters as a bar with its size, divided into embedding layer, layers, pooler.

    Args:
        names: the models.
        parts: for each model, the number of parameters in each part; the same keys for all.
        title: the finding.
        height: in pixels.
    """
    labels = [plain(name, 34) for name in names]
    kinds = {"Embedding layer": "embeddings", "Layers": "feed-forward", "Pooler": "pooler"}
    totals = [sum(counts.values()) for counts in parts]
    traces: list[dict[str, Any]] = [
        {
            "type": "bar",
            "orientation": "h",
            "name": part,
            "y": list(range(len(labels))),
            "x": [counts[part] for counts in parts],
            "customdata": labels,
            "marker": {"color": _tint(kinds.get(part, ""), _BAR_TINT)},
            "hovertemplate": f"%{{customdata}}<br>{part}: %{{x:,}} parameters<extra></extra>",
        }
        for part in (parts[0] if parts else ())
    ]
    layout = {
        "barmode": "stack",
        "showlegend": True,
        # Below the chart, because above it the legend would cover the title on a phone.
        "legend": {"orientation": "h", "y": -0.05, "yanchor": "top", "traceorder": "normal"},
        "xaxis": {"showticklabels": False, "showgrid": False, "zeroline": False},
        "bargap": 0.35,
        "yaxis": {
            "tickvals": list(range(len(labels))),
            "ticktext": labels,
            "autorange": "reversed",
            "automargin": True,
            "showgrid": False,
        },
        "annotations": [_total(row, total) for row, total in enumerate(totals)],
        "margin": {"l": beside(labels, most=240) + 5, "r": 92, "b": 56},
    }
    return figure(traces, layout, title=title, height=height)


def _size(n_values: int) -> str:
    """A number of parameters as people say it: "11.9 million", "148 thousand", "384"."""
    for unit, name in ((10**9, "billion"), (10**6, "million"), (10**3, "thousand")):
        if n_values >= 0.9995 * unit:
            return say(f"anatomy.size.{name}", n=f"{n_values / unit:.3g}")
    return f"{n_values:,}"


def _total(row: int, n_values: int) -> dict[str, Any]:
    """A model's size at the end of its bar."""
    place = {"x": n_values, "y": row, "xanchor": "left", "xshift": 6, "showarrow": False}
    return {"text": _size(n_values), **place, "font": {"size": SMALLEST, "color": MUTED}}


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
        "margin": {"l": 80},
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
        "margin": {"l": 80},
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


def _depth(path: str) -> int:
    """The number of steps from the whole model to a part."""
    return 0 if path == ROOT else path.count("/") + 1


def _color(node: Node, chosen: Node, matches: frozenset[str] | None, opacity: float) -> str:
    is_match = matches is None or any(p.name in matches for p in node.parameters)
    holds_chosen = f"{chosen.path}/".startswith(f"{node.path}/") or not node.path
    beside_chosen = not chosen.children and not holds_chosen
    return _tint(node.kind, opacity if is_match and not beside_chosen else _FAINT_TINT)


def _tint(kind: str, opacity: float) -> str:
    """A colour that lets the page's ground through, which makes it calm in light and dark."""
    color = _COLORS.get(kind, NEUTRAL)
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"


def _label(node: Node, tree: Node, kind: str, *, is_box: bool) -> str:
    """A part's name and size; a heading, or a level's box, has room for its name alone if small."""
    name = plain(node.name, 40)
    if node.share_of(tree) < _WIDE_SHARE and (kind == "icicle" or not is_box):
        return name
    return f"{name}{'<br>' if is_box or kind == 'icicle' else ': '}{_size(node.n_values)}"
