"""The figures of the Embedding layer page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from plotly import graph_objects as go

from components.core.schema import FloatArray
from components.features.embedding_layer.measures import Contribution, RandomBand, SharedToken
from components.figures.theme import CATEGORICAL, SEQUENTIAL, SIGNED, figure, plain, values

__all__ = [
    "PART_COLORS",
    "Panel",
    "moved_bars",
    "neighbour_bars",
    "position_curve",
    "position_heatmap",
    "sum_strips",
    "token_strips",
    "word_row_heatmap",
]


# --- The main pictures

PART_COLORS: Mapping[str, str] = {
    "word": CATEGORICAL[2],
    "position": CATEGORICAL[4],
    "segment": CATEGORICAL[9],
}
"""The colours of the parts; blue and orange stand for signs in the strips beside them."""
_GAP = 0.022
_SHARE_WIDTH = 0.16
_ROOMY = 3  # up to this many adjacent strips have room for their names on a phone
_LINE = 16  # height of a line of names, in pixels
_MAX_NAMES = 17  # the most rows that have room for every name
_MAX_NUMBERS = 16  # the most dimensions across with room for a number in each cell


@dataclass(frozen=True, eq=False)
class Panel:
    """One step of the sum.

    Attributes:
        sign: the sign before it: "", "+", "=" or "→".
        name: its name: "word", "layer 0".
        rows: (n_tokens, n_dims) float32, the tokens and dimensions shown.
        first: the number of the first dimension shown.
        bound: the colours run from -bound to bound.
    """

    sign: str
    name: str
    rows: FloatArray
    first: int
    bound: float


def sum_strips(
    panels: Sequence[Panel],
    contributions: Mapping[str, Contribution],
    names: Sequence[str],
    *,
    title: str,
    chosen: int | None = None,
    height: int = 400,
) -> go.Figure:
    """Tokens down, the steps of the sum side by side, and each part's share on the right.

    Args:
        panels: the steps, all of the same tokens.
        contributions: the contribution of each part to these tokens; its share is drawn, the rest
            appears on hover.
        names: each token's name; a user's text, escaped here.
        title: the finding.
        chosen: the row with a mark before its name.
        height: in pixels.
    """
    domains = _domains(len(panels))
    rows = [("▸ " if i == chosen else "") + plain(name, 12) for i, name in enumerate(names)]
    traces = [_strip(panel, f"x{i}") for i, panel in enumerate(panels, start=1)]
    last = f"x{len(panels) + 1}"
    traces += [_bars(name, part, last) for name, part in contributions.items()]
    layout: dict[str, Any] = {
        "title_y": 0.975,  # above the names of the steps
        "title_yanchor": "top",
        **{
            f"xaxis{i}": _across(panel, domain)
            for i, (panel, domain) in enumerate(zip(panels, domains, strict=False), start=1)
        },
        f"xaxis{len(panels) + 1}": _share_axis(domains[-1], contributions),
        "yaxis": _down(rows),
        "barmode": "relative",
        "bargap": 0.25,
        "margin": {"r": 10, "t": 76 if len(panels) <= _ROOMY else 92, "b": 66},
        "annotations": [*_heads(panels, domains), _foot(panels)],
    }
    return figure(traces, layout, title=title, height=height)


def token_strips(panels: Sequence[Panel], *, title: str, height: int = 400) -> go.Figure:
    """One token's sum: its steps one below the other, dimensions across, with numbers if they fit.

    Args:
        panels: the steps, each with one row.
        title: the finding.
        height: in pixels.
    """
    traces = [
        {
            **_strip(panel, f"x{i}"),
            "yaxis": f"y{i}",
            "y": [0],
            "ygap": 0,
            "hovertemplate": (f"{panel.name}<br>dimension %{{x}}: %{{z:.4f}}<extra></extra>"),
            **({"texttemplate": "%{z:.3f}"} if panel.rows.shape[1] <= _MAX_NUMBERS else {}),
        }
        for i, panel in enumerate(panels, start=1)
    ]
    n_panels = len(panels)
    layout: dict[str, Any] = {"margin": {"l": 100, "r": 10, "t": 44, "b": 66}}
    for i, panel in enumerate(panels, start=1):
        top = 1 - (i - 1) / n_panels
        layout[f"yaxis{i}"] = {
            **_down([f"{panel.sign} {panel.name}".strip()]),
            "domain": [top - 0.84 / n_panels, top],
            "anchor": f"x{i}",
        }
        layout[f"xaxis{i}"] = {
            **_across(panel, (0.0, 1.0)),
            "anchor": f"y{i}",
            "showticklabels": i == n_panels,
            "nticks": 16,
        }
    layout["annotations"] = [_foot(panels)]
    return figure(traces, layout, title=title, height=height)


def _domains(n_panels: int) -> list[tuple[float, float]]:
    """The horizontal ranges of the strips, from left to right, and of the shares."""
    width = (1 - _SHARE_WIDTH - n_panels * _GAP) / n_panels
    starts = [i * (width + _GAP) for i in range(n_panels)]
    return [(start, start + width) for start in starts] + [(1 - _SHARE_WIDTH, 1.0)]


def _strip(panel: Panel, axis: str) -> dict[str, Any]:
    return {
        "type": "heatmap",
        "z": np.round(panel.rows, 5).astype(np.float32),
        "x0": panel.first,
        "dx": 1,
        "xaxis": axis,
        "yaxis": "y",
        "zmin": -panel.bound,
        "zmax": panel.bound,
        **SIGNED,
        "showscale": False,
        "ygap": 1,
        "name": panel.name,
        "hovertemplate": (f"%{{y}}<br>{panel.name}, dimension %{{x}}: %{{z:.4f}}<extra></extra>"),
    }


def _bars(name: str, part: Contribution, axis: str) -> dict[str, Any]:
    hover = zip(values(part.norm), values(part.moved), values(part.turned), strict=True)
    return {
        "type": "bar",
        "orientation": "h",
        "x": values(part.share),
        "y": list(range(len(part.share))),
        "customdata": [list(token_values) for token_values in hover],
        "xaxis": axis,
        "yaxis": "y",
        "name": name,
        "marker": {"color": PART_COLORS[name], "line": {"width": 0}},
        "hovertemplate": (
            f"%{{y}}<br>{name}: %{{x:.1%}} of the sum's length, along its direction<br>"
            "norm %{customdata[0]:.4f}<br>left out: layer 0 moves by %{customdata[1]:.1%} of its "
            "length (1 - cosine %{customdata[2]:.4f})<extra></extra>"
        ),
    }


def _across(panel: Panel, domain: tuple[float, float]) -> dict[str, Any]:
    last = panel.first + panel.rows.shape[1] - 1
    return {
        "domain": list(domain),
        "range": [panel.first - 0.5, last + 0.5],
        "nticks": 3,
        "showgrid": False,
        "zeroline": False,
    }


def _down(names: Sequence[str]) -> dict[str, Any]:
    step = -(-len(names) // _MAX_NAMES) or 1
    return {
        "tickvals": list(range(0, len(names), step)),
        "ticktext": list(names[::step]),
        "range": [len(names) - 0.5, -0.5],
        "ticks": "",
        "showgrid": False,
        "zeroline": False,
    }


def _share_axis(
    domain: tuple[float, float], contributions: Mapping[str, Contribution]
) -> dict[str, Any]:
    shares = [part.share for part in contributions.values()]
    low = min([0.0, *(float(share.min()) for share in shares if share.size)])
    return {
        "domain": list(domain),
        "range": [low, max(1.0, 1.0 - low)],
        "tickformat": ".0%",
        "nticks": 3,
        "showgrid": False,
        "zeroline": False,
    }


def _heads(panels: Sequence[Panel], domains: Sequence[tuple[float, float]]) -> list[dict[str, Any]]:
    """The name above each step, and one line higher its sign and the colour dot of its share.

    On a phone a name is as wide as its strip, so signs and dots need their own line; with many
    strips, the names alternate between two lines.
    """
    step = _LINE if len(panels) > _ROOMY else 0
    heads = [_note("share", sum(domains[-1]) / 2, 1.01, "bottom")]
    for i, (panel, (start, end)) in enumerate(zip(panels, domains, strict=False)):
        middle = (start + end) / 2
        large = {"yshift": _LINE + step, "font": {"size": 14}}
        name = _note(panel.name, middle, 1.01, "bottom")
        heads.append({**name, "yshift": step * (i % 2)})
        color = PART_COLORS.get(panel.name)
        if color:
            dot = f'<span style="color:{color}">●</span>'
            heads.append(_note(dot, middle, 1.01, "bottom") | large)
        if panel.sign:
            heads.append(_note(f"<b>{panel.sign}</b>", start - _GAP / 2, 1.01, "bottom") | large)
    return heads


def _foot(panels: Sequence[Panel]) -> dict[str, Any]:
    """The title of the horizontal axis, and the ends of the two colour scales."""
    first, last = panels[0], panels[-1]
    text = f"dimension<br>colours: sum and parts ±{first.bound:.2g}, {last.name} ±{last.bound:.2g}"
    return {**_note(text, 0.5, 0, "top"), "yshift": -26}


def _note(text: str, x: float, y: float, anchor: str) -> dict[str, Any]:
    return {
        "text": text,
        "x": x,
        "y": y,
        "xref": "paper",
        "yref": "paper",
        "xanchor": "center",
        "yanchor": anchor,
        "showarrow": False,
    }


# --- Pictures of the position table, and of the movement at layer 0

_BARE = {"showgrid": False, "zeroline": False, "ticks": ""}


def position_heatmap(
    cosines: FloatArray, rows: Sequence[int], *, title: str, height: int = 400
) -> go.Figure:
    """Cosines of position rows with each other, on a colour scale from -1 to 1.

    Args:
        cosines: (n_rows, n_rows).
        rows: the position of each row, in equal steps.
        title: the finding.
        height: in pixels.
    """
    step = rows[1] - rows[0] if len(rows) > 1 else 1
    trace: dict[str, Any] = {
        "type": "heatmap",
        "z": np.round(cosines, 5).astype(np.float32),
        "x0": rows[0],
        "dx": step,
        "y0": rows[0],
        "dy": step,
        "zmin": -1,
        "zmax": 1,
        **SIGNED,
        "hovertemplate": "positions %{y} and %{x}<br>cosine %{z:.4f}<extra></extra>",
        "colorbar": {"title": {"text": "cosine"}, "thickness": 8, "len": 0.9},
    }
    layout = {
        "xaxis": {**_BARE, "title": {"text": "position"}},
        "yaxis": {**_BARE, "title": {"text": "position"}, "autorange": "reversed"},
    }
    return figure([trace], layout, title=title, height=height)


def position_curve(
    curve: FloatArray, explained: tuple[float, float], *, title: str, height: int = 400
) -> go.Figure:
    """The position rows on two principal components, joined in order and coloured by position."""
    places = list(range(len(curve)))
    marked = [p for p in (0, 1, 10, 50, 100, 200, 300, 400, len(curve) - 1) if p < len(curve)]
    trace = {
        "type": "scatter",
        "mode": "lines+markers",
        "x": values(curve[:, 0]),
        "y": values(curve[:, 1]),
        "line": {"color": "rgba(128,128,128,0.35)", "width": 1},
        "marker": {
            "size": 5,
            "color": places,
            "colorscale": SEQUENTIAL,
            "colorbar": {"title": {"text": "position"}, "thickness": 8, "len": 0.9},
        },
        "text": places,
        "hovertemplate": "position %{text}<br>%{x:.4f}, %{y:.4f}<extra></extra>",
    }
    layout = {
        "xaxis": {"title": {"text": f"component 1 ({explained[0]:.0%} of variance)"}},
        "yaxis": {"title": {"text": f"component 2 ({explained[1]:.0%})"}},
        "annotations": [
            {
                "x": float(curve[p, 0]),
                "y": float(curve[p, 1]),
                "text": str(p),
                "showarrow": False,
                "yshift": 12,
            }
            for p in sorted(set(marked))
        ],
    }
    return figure([trace], layout, title=title, height=height)


def moved_bars(
    names: Sequence[str], moved: FloatArray, *, second: bool, title: str, height: int = 300
) -> go.Figure:
    """The distance that each token's vector at layer 0 moved, relative to its length.

    Args:
        names: the tokens; escaped here.
        moved: (n_tokens,) length of the change divided by the vector's length before.
        second: True if the tokens of a second text follow those of the first.
        title: the finding.
        height: in pixels.
    """
    trace = {
        "type": "bar",
        "x": list(range(len(names))),
        "y": values(moved),
        "marker": {"color": CATEGORICAL[0]},
        "text": [f"{share:.0%}" for share in moved] if len(names) <= _MAX_NUMBERS else None,
        "textposition": "outside",
        "cliponaxis": False,
        "hovertemplate": "%{x}<br>moved by %{y:.2%} of its length<extra></extra>",
    }
    layout = {
        "xaxis": {
            **_BARE,
            "tickvals": list(range(len(names))),
            "ticktext": [plain(name, 12) for name in names],
            "automargin": True,
            "title": {
                "text": "tokens of the first text, then of the second" if second else "token"
            },
        },
        "yaxis": {
            "title": {"text": "moved, of its length"},
            "tickformat": ".0%",
            "range": [0, max(0.1, 1.15 * float(moved.max(initial=0)))],
        },
        "margin": {"l": 64, "r": 8, "b": 70},
    }
    return figure([trace], layout, title=title, height=height)


# --- Pictures of word rows


def word_row_heatmap(
    cosines: FloatArray,
    names: tuple[Sequence[str], Sequence[str]],
    equal: Sequence[SharedToken],
    *,
    labels: tuple[str, str],
    title: str,
    height: int = 360,
) -> go.Figure:
    """Cosines of two texts' word rows on a scale from -1 to 1; "=" marks identical rows.

    Args:
        cosines: (n_first, n_second).
        names: the tokens of the first text and of the second; escaped here.
        equal: the tokens in both texts whose word rows are identical.
        labels: the names of the two texts.
        title: the finding.
        height: in pixels.
    """
    equal_cells = {(token.first, token.second) for token in equal}
    down, across = ([plain(name, 12) for name in side] for side in names)
    trace: dict[str, Any] = {
        "type": "heatmap",
        "z": np.round(cosines, 5).astype(np.float32),
        "zmin": -1,
        "zmax": 1,
        **SIGNED,
        "xgap": 1,
        "ygap": 1,
        "text": [
            ["=" if (i, j) in equal_cells else "" for j in range(len(across))]
            for i in range(len(down))
        ],
        "texttemplate": "%{text}",
        "hovertemplate": "%{y} ~ %{x}<br>cosine %{z:.4f}<extra></extra>",
        "colorbar": {"title": {"text": "cosine"}, "thickness": 8, "len": 0.9},
    }
    layout = {
        "xaxis": {**_named(across, labels[1]), "automargin": True},
        "yaxis": {**_named(down, labels[0]), "autorange": "reversed"},
        "margin": {"l": 104, "r": 68},
    }
    return figure([trace], layout, title=title, height=height)


def neighbour_bars(
    names: Sequence[str], cosines: FloatArray, band: RandomBand, *, title: str, height: int = 360
) -> go.Figure:
    """The nearest rows of the word table as bars, in front of the random-row band.

    Args:
        names: each row's token and ID; escaped here.
        cosines: (n_rows,) in the same order, highest first.
        band: cosines of random pairs of rows.
        title: the finding.
        height: in pixels.
    """
    trace = {
        "type": "bar",
        "orientation": "h",
        "x": values(cosines),
        "y": list(range(len(names))),
        "marker": {"color": CATEGORICAL[0]},
        "text": [f"{value:.2f}" for value in cosines],
        "textposition": "outside",
        "hovertemplate": "%{y}<br>cosine %{x:.4f}<extra></extra>",
    }
    layout = {
        "xaxis": {
            "title": {"text": "cosine · grey: random rows"},
            "range": [min(-0.1, band.low - 0.05), 1.08],
            "zeroline": False,
        },
        "yaxis": {
            **_BARE,
            "tickvals": list(range(len(names))),
            "ticktext": [plain(name, 22) for name in names],
            "autorange": "reversed",
        },
        "shapes": [_band(band)],
        "margin": {"l": 150, "b": 48},
        "bargap": 0.3,
    }
    return figure([trace], layout, title=title, height=height)


def _named(names: Sequence[str], title: str) -> dict[str, Any]:
    """An axis with a name at each position."""
    places = list(range(len(names)))
    return {**_BARE, "title": {"text": title}, "tickvals": places, "ticktext": names}


def _band(band: RandomBand) -> dict[str, Any]:
    return {
        "type": "rect",
        "x0": band.low,
        "x1": band.high,
        "y0": 0,
        "y1": 1,
        "yref": "paper",
        "fillcolor": "rgba(128,128,128,0.22)",
        "line": {"width": 0},
        "layer": "below",
    }
