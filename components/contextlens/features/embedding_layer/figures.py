"""The figures of the Embedding layer page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go

from contextlens.content.language import say
from contextlens.content.wording import percent
from contextlens.core.schema import FloatArray
from contextlens.features.embedding_layer.measures import Contribution, RandomBand, SharedToken
from contextlens.figures.theme import (
    CATEGORICAL,
    INK,
    MUTED,
    SEQUENTIAL,
    SIGNED,
    SMALLEST,
    figure,
    plain,
    values,
)

# --- The main picture

_GAP = 0.045  # between two columns, with room for a sign on a phone
_GRID, _SHARES = (0.2, 1.0), (0.0, 0.1)  # heights of the rows, and of the bars below them
_MUTED_ROW = 0.35  # opacity of the tokens that are not followed
_LEFT = 92  # pixels of the margin with the names
_NAME = 12  # characters of a token
_ONE_LINE = 46  # characters of a title that a phone has room for
_TRACK = "rgba(128,128,128,0.16)"
_INSIDE = 0.7  # the least share with room for its number inside its bar on a phone


@dataclass(frozen=True, eq=False)
class Panel:
    """One step of the sum.

    Attributes:
        sign: the sign before it: "", "+", "=" or "→".
        name: its name: "word", "layer 0".
        rows: (n_tokens, n_dims) float32, the tokens shown.
        bound: the colours run from -bound to bound.
    """

    sign: str
    name: str
    rows: FloatArray
    bound: float


def sum_flow(
    panels: Sequence[Panel],
    contributions: Mapping[str, Contribution],
    names: Sequence[str],
    *,
    title: str,
    focus: int,
    first: int = 0,
    height: int = 450,
) -> go.Figure:
    """The steps of the sum in equal columns with signs between them, one token's row strong.

    Below the columns of the parts stand the shares that they contribute to this token. The points
    on the rows are invisible: they carry the hovers, and a click on one picks its token.

    Args:
        panels: the steps, all of the same tokens.
        contributions: the contribution of each part to these tokens.
        names: each token's name; a user's text, escaped here.
        title: the finding.
        focus: the row of the followed token.
        first: the position of the first row's token in its text.
        height: in pixels.
    """
    domains = _domains(len(panels))
    edges = _edges(len(names), focus)
    middles = ((edges[:-1] + edges[1:]) / 2).tolist()
    shares = {name: float(part.share[focus]) for name, part in contributions.items()}
    shares |= {"sum": round(sum(shares.values()), 3)}
    traces: list[dict[str, Any]] = []
    layout: dict[str, Any] = {}
    for i, (panel, domain) in enumerate(zip(panels, domains, strict=True), start=1):
        traces += _strips(panel, f"x{i}", edges, focus)
        traces.append(_points(panel, f"x{i}", middles, names, contributions, first))
        layout[f"xaxis{i}"] = {**_HIDDEN, "domain": domain, "range": [0, panel.rows.shape[1]]}
        if panel.name in shares:
            axis = i + len(panels)
            traces.append(_share_bar(panel.name, shares[panel.name], f"x{axis}"))
            layout[f"xaxis{axis}"] = {
                **_HIDDEN,
                "domain": domain,
                "range": [min(0.0, *shares.values()), max(1.0, *shares.values())],
                "anchor": "y2",
            }
    layout |= {
        "yaxis": _row_axis(names, middles, edges, focus),
        "yaxis2": {
            **_HIDDEN,
            "showticklabels": True,
            "domain": _SHARES,
            "range": [-0.5, 0.5],
            "tickvals": [0],
            "ticktext": [say("embedding_layer.head.share")],
        },
        "barmode": "overlay",
        "bargap": 0,
        "hoverdistance": -1,
        "margin": {"l": _LEFT, "r": 20, "t": 90, "b": 42},
        "annotations": [*_heads(panels, domains, middles[focus]), _foot(panels)],
        "title_y": 0.98,
        "title_yanchor": "top",
    }
    narrow = len(title) > _ONE_LINE
    return figure(traces, layout, title=title, height=height, narrow=narrow)


_HIDDEN = {"showgrid": False, "zeroline": False, "ticks": "", "showticklabels": False}


def _domains(n_panels: int) -> list[list[float]]:
    """The horizontal ranges of the columns, equally wide, from left to right."""
    width = (1 - (n_panels - 1) * _GAP) / n_panels
    starts = [i * (width + _GAP) for i in range(n_panels)]
    return [[start, min(1.0, start + width)] for start in starts]


def _edges(n_rows: int, focus: int) -> NDArray[np.float64]:
    """(n_rows + 1,) the edges of the rows; the followed one is at least twice as high."""
    heights = np.ones(n_rows)
    heights[focus] = max(2.0, n_rows / 6)
    return np.concatenate([[0.0], np.cumsum(heights)])


def _strips(
    panel: Panel, axis: str, edges: NDArray[np.float64], focus: int
) -> Iterator[dict[str, Any]]:
    """One column: its muted rows, if there are any, and the strong one."""
    rows = np.round(panel.rows, 5).astype(np.float32)
    drawn = {
        "type": "heatmap",
        "dx": 1,
        "x0": 0.5,
        "xaxis": axis,
        "yaxis": "y",
        "zmin": -panel.bound,
        "zmax": panel.bound,
        **SIGNED,
        "showscale": False,
        "hoverinfo": "skip",
        "name": panel.name,
    }
    others = rows.copy()
    others[focus] = np.nan
    if len(rows) > 1:
        yield {**drawn, "z": others, "y": edges.tolist(), "ygap": 1, "opacity": _MUTED_ROW}
    strong = [float(edges[focus]), float(edges[focus + 1])]
    yield {**drawn, "z": rows[focus : focus + 1], "y": strong, "ygap": 1}


def _points(
    panel: Panel,
    axis: str,
    middles: Sequence[float],
    names: Sequence[str],
    contributions: Mapping[str, Contribution],
    first: int,
) -> dict[str, Any]:
    """Invisible points on one column's rows, with each token's position and its hover."""
    hidden = {"marker": {"opacity": 0}}
    part = contributions.get(panel.name)
    norms = np.linalg.norm(panel.rows, axis=1).tolist()
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [panel.rows.shape[1] / 2] * len(middles),
        "y": middles,
        "xaxis": axis,
        "yaxis": "y",
        "customdata": [
            [first + i, plain(name), norms[i], *([] if part is None else part.numbers(i))]
            for i, name in enumerate(names)
        ],
        "hovertemplate": _hover(panel.name, is_part=part is not None),
        **hidden,
        "selected": hidden,
        "unselected": hidden,
        "name": panel.name,
    }


def _hover(name: str, *, is_part: bool) -> str:
    text = (
        f"%{{customdata[1]}}, position %{{customdata[0]}}<br>{name}: length %{{customdata[2]:.4f}}"
    )
    if is_part:
        text += (
            "<br>%{customdata[3]:.1%} of the sum's length, along its direction<br>left out: layer 0"
            " moves by %{customdata[4]:.1%} of its length<br>(1 - cosine %{customdata[5]:.4f})"
        )
    return f"{text}<extra></extra>"


def _share_bar(name: str, share: float, axis: str) -> dict[str, Any]:
    """The share of one part, with its number in the bar or beside it."""
    is_inside = share >= _INSIDE and name != "sum"  # nothing stands beside the sum's bar
    return {
        "type": "bar",
        "orientation": "h",
        "x": [round(share, 5)],
        "y": [0],
        "width": 1,
        "xaxis": axis,
        "yaxis": "y2",
        "name": name,
        "marker": {"color": CATEGORICAL[0], "line": {"width": 0}},
        "text": [percent(share)],
        "textposition": "inside" if is_inside else "outside",
        "insidetextanchor": "start",
        "textfont": {"size": SMALLEST, "color": "#ffffff" if is_inside else INK},
        "constraintext": "none",
        "cliponaxis": False,
        "textangle": 0,
        "hoverinfo": "skip",
    }


def _row_axis(
    names: Sequence[str], middles: Sequence[float], edges: NDArray[np.float64], focus: int
) -> dict[str, Any]:
    shown = [plain(name, _NAME) for name in names]
    shown[focus] = f'<b style="color:{INK}">{shown[focus]}</b>'
    return {
        **_HIDDEN,
        "showticklabels": True,
        "domain": _GRID,
        "tickvals": middles,
        "ticktext": shown,
        "range": [float(edges[-1]), 0.0],
    }


def _heads(
    panels: Sequence[Panel], domains: Sequence[Sequence[float]], middle: float
) -> list[dict[str, Any]]:
    """The names above the columns, all on one level, and the signs beside the strong row."""
    heads = []
    is_projected = any(panel.name == "LayerNorm" for panel in panels)
    keys = [panel.name for panel in panels]
    if is_projected:  # a sixth column is too narrow on a phone
        short = {"segment": "segment_short", "layer 0": "projected"}
        keys = [short.get(key, key) for key in keys]
    for panel, key, (start, end) in zip(panels, keys, domains, strict=True):
        text = say(f"embedding_layer.head.{key}").replace("|", "<br>")
        heads.append(_note(text, (start + end) / 2, 1.01, "bottom") | {"font": {"color": INK}})
        if panel.sign:
            sign = _note(f"<b>{panel.sign}</b>", start - _GAP / 2, middle, "middle")
            heads.append({**sign, "yref": "y", "font": {"size": 24, "color": INK}})
    return heads


def _foot(panels: Sequence[Panel]) -> dict[str, Any]:
    """The meaning of a stripe's colour, with the ends of the two scales."""
    first, last = panels[0], panels[-1]
    text = say("embedding_layer.scale", n=first.rows.shape[1], sums=first.bound, last=last.bound)
    note = {**_note(text.replace("|", "<br>"), 0, 0, "top"), "font": {"color": MUTED}}
    return {**note, "align": "left", "xanchor": "left", "xshift": 8 - _LEFT, "yshift": -4}


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
_MAX_NUMBERS = 16  # the most bars with room for a number above each


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
        "margin": {"l": 68, "r": 8, "b": 72},
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
        "margin": {"l": 104, "r": 74},
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
