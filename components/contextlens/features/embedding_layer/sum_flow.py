"""The picture of the sum: its steps as columns of strips, with one token's row strong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go

from contextlens.content.language import say, table
from contextlens.content.wording import adding_up, percent
from contextlens.core.schema import FloatArray
from contextlens.features.embedding_layer.arithmetic import Contribution
from contextlens.figures.theme import CATEGORICAL, INK, MUTED, SIGNED, SMALLEST, figure, plain

_HEIGHT = 410
_GAP = 0.045  # between two columns, with room for a sign on a phone
_GRID, _SHARES = (0.2, 1.0), (0.0, 0.1)  # heights of the rows, and of the bars below them
_MUTED_ROW = 0.35  # opacity of the tokens that are not followed
_LEFT = 92  # pixels of the margin with the names
_NAME = 12  # characters of a token
_INSIDE = 0.7  # the least share with room for its number inside its bar on a phone


@dataclass(frozen=True, eq=False)
class SumStep:
    """One step of the sum.

    Attributes:
        sign: the sign before it: "", "+", "=" or "→".
        name: its name: "word", "layer 0".
        rows: (n_tokens, n_dims) float32, the tokens shown.
        bound: the colours run from -bound to bound.
        is_scaled: True if the rows are those of a table times a number.
    """

    sign: str
    name: str
    rows: FloatArray
    bound: float
    is_scaled: bool = False


def sum_flow(
    steps: Sequence[SumStep],
    contributions: Mapping[str, Contribution],
    names: Sequence[str],
    *,
    focus: int,
    first: int = 0,
) -> go.Figure:
    """The steps of the sum in equal columns with signs between them, one token's row strong.

    Below the columns of the parts stand the shares that they contribute to this token. The points
    on the rows are invisible: they carry the hovers, and a click on one picks its token.

    Args:
        steps: the steps, all of the same tokens.
        contributions: the contribution of each part to these tokens.
        names: each token's name; a user's text, escaped here.
        focus: the row of the followed token.
        first: the position of the first row's token in its text.
    """
    domains = _domains(len(steps))
    edges = _edges(len(names), focus)
    middles = ((edges[:-1] + edges[1:]) / 2).tolist()
    shares = {name: float(part.share[focus]) for name, part in contributions.items()}
    written = dict(zip(shares, adding_up(list(shares.values())), strict=True))
    shares |= {"sum": round(sum(shares.values()), 3)}
    traces: list[dict[str, Any]] = []
    layout: dict[str, Any] = {}
    for i, (step, domain) in enumerate(zip(steps, domains, strict=True), start=1):
        at = "" if i == 1 else i  # plotly's first axis has no number
        traces += _strips(step, f"x{at}", edges, focus)
        traces.append(_points(step, f"x{at}", middles, names, contributions, first))
        layout[f"xaxis{at}"] = {**_HIDDEN, "domain": domain, "range": [0, step.rows.shape[1]]}
        if step.name in shares:
            axis = i + len(steps)
            traces.append(_share_bar(step.name, shares[step.name], written, f"x{axis}"))
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
        "margin": {"l": _LEFT, "r": 20, "t": 50, "b": 42},
        "annotations": [*_heads(steps, domains, middles[focus]), _foot(steps)],
    }
    return figure(traces, layout, title="", height=_HEIGHT)


_HIDDEN = {"showgrid": False, "zeroline": False, "ticks": "", "showticklabels": False}


def _domains(n_steps: int) -> list[list[float]]:
    """The horizontal ranges of the columns, equally wide, from left to right."""
    width = (1 - (n_steps - 1) * _GAP) / n_steps
    starts = [i * (width + _GAP) for i in range(n_steps)]
    return [[start, min(1.0, start + width)] for start in starts]


def _edges(n_rows: int, focus: int) -> NDArray[np.float64]:
    """(n_rows + 1,) the edges of the rows; the followed one is at least twice as high."""
    heights = np.ones(n_rows)
    heights[focus] = max(2.0, n_rows / 6)
    return np.concatenate([[0.0], np.cumsum(heights)])


def _strips(
    step: SumStep, axis: str, edges: NDArray[np.float64], focus: int
) -> Iterator[dict[str, Any]]:
    """One column: its muted rows, if there are any, and the strong one."""
    rows = np.round(step.rows, 5).astype(np.float32)
    drawn = {
        "type": "heatmap",
        "dx": 1,
        "x0": 0.5,
        "xaxis": axis,
        "yaxis": "y",
        "zmin": -step.bound,
        "zmax": step.bound,
        **SIGNED,
        "showscale": False,
        "hoverinfo": "skip",
        "name": step.name,
    }
    others = rows.copy()
    others[focus] = np.nan
    if len(rows) > 1:
        yield {**drawn, "z": others, "y": edges.tolist(), "ygap": 1, "opacity": _MUTED_ROW}
    strong = [float(edges[focus]), float(edges[focus + 1])]
    yield {**drawn, "z": rows[focus : focus + 1], "y": strong, "ygap": 1}


def _points(
    step: SumStep,
    axis: str,
    middles: Sequence[float],
    names: Sequence[str],
    contributions: Mapping[str, Contribution],
    first: int,
) -> dict[str, Any]:
    """Invisible points on one column's rows, with each token's position and its hover."""
    hidden = {"marker": {"opacity": 0}}
    part = contributions.get(step.name)
    norms = np.linalg.norm(step.rows, axis=1).tolist()
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [step.rows.shape[1] / 2] * len(middles),
        "y": middles,
        "xaxis": axis,
        "yaxis": "y",
        "customdata": [
            [first + i, plain(name), norms[i], *([] if part is None else part.numbers(i))]
            for i, name in enumerate(names)
        ],
        "hovertemplate": _hover(step.name, is_part=part is not None),
        **hidden,
        "selected": hidden,
        "unselected": hidden,
        "name": step.name,
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


def _share_bar(name: str, share: float, written: Mapping[str, float], axis: str) -> dict[str, Any]:
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
        "text": [percent(written.get(name, share))],
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
    labels = [plain(name, _NAME) for name in names]
    labels[focus] = f'<b style="color:{INK}">{labels[focus]}</b>'
    return {
        **_HIDDEN,
        "showticklabels": True,
        "domain": _GRID,
        "tickvals": middles,
        "ticktext": labels,
        "range": [float(edges[-1]), 0.0],
    }


def _heads(
    steps: Sequence[SumStep], domains: Sequence[Sequence[float]], middle: float
) -> list[dict[str, Any]]:
    """The names above the columns, all on one level, and the signs beside the strong row."""
    heads = []
    is_projected = any(step.name == "LayerNorm" for step in steps)
    keys = ["scaled" if step.is_scaled else step.name for step in steps]
    if steps[-1].sign == "=":  # nothing follows the sum
        keys[-1] = "projected"
    if is_projected:  # a sixth column is too narrow on a phone
        short = {"segment": "segment_short", "layer 0": "projected"}
        keys = [short.get(key, key) for key in keys]
    for step, key, (start, end) in zip(steps, keys, domains, strict=True):
        text = table("embedding_layer.head")[key].replace("|", "<br>")
        heads.append(_note(text, (start + end) / 2, 1.01, "bottom") | {"font": {"color": INK}})
        if step.sign:
            sign = _note(f"<b>{step.sign}</b>", start - _GAP / 2, middle, "middle")
            heads.append({**sign, "yref": "y", "font": {"size": 24, "color": INK}})
    return heads


def _foot(steps: Sequence[SumStep]) -> dict[str, Any]:
    """The meaning of a stripe's colour, with the ends of the two scales."""
    first, last = steps[0], steps[-1]
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
