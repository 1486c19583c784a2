"""The picture of a batch: a column for each text, a row for each position, padding hatched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go

from components.content.language import say
from components.features.masks.measures.laboratory import Lab, LabRow, token_labels
from components.figures.theme import CATEGORICAL, NEUTRAL, SEQUENTIAL, figure, plain, values

__all__ = ["Color", "batch_grid"]

Color = Literal["cosine", "mask", "segment"]

_HATCH = {"shape": "/", "fgcolor": NEUTRAL, "fgopacity": 0.4, "size": 9, "solidity": 0.14}
_MAX_ROWS = 23  # tokens that still have room for their names
_MAX_WIDE = 4  # columns whose names have the usual size
_MAX_VALUES = 3  # columns that still have room for numbers beside the names


@dataclass(frozen=True)
class _Scale:
    """Positions to heights: real ones have 1 each, those of padding alone share less."""

    longest: int
    padded: int

    @property
    def whole(self) -> float:
        room = min(0.8 * self.longest, max(4.0, _MAX_ROWS - self.longest))
        return self.longest + min(float(self.padded), max(4.0, room))

    @property
    def named(self) -> bool:
        """Whether the names have room in the cells."""
        return self.whole <= _MAX_ROWS


def batch_grid(
    lab: Lab,
    layer: int,
    *,
    color: Color,
    scale: tuple[float, float],
    title: str,
    height: int = 430,
) -> go.Figure:
    """The batch, a column for each text and a row for each position, padding hatched."""
    heights = _Scale(max(lab.lengths), lab.pad_to - max(lab.lengths))
    cells = _Cells(lab, layer, color, named=heights.named)
    layout = {
        "xaxis": _text_axis(lab),
        "yaxis": _position_axis(heights),
        "annotations": _padding_labels(lab, heights, color),
        "barmode": "overlay",
        "margin": {"l": 63, "r": 8, "t": 64, "b": 60 if cells.needs_scale else 8},
    }
    traces = [cells.heatmap(scale), *_padding(lab, layer, heights)]
    return figure(traces, layout, title=title, height=height)


@dataclass(frozen=True)
class _Cells:
    """The real tokens as a heatmap whose other cells are empty."""

    lab: Lab
    layer: int
    color: Color
    named: bool

    def heatmap(self, scale: tuple[float, float]) -> dict[str, Any]:
        longest = max(self.lab.lengths)
        columns = [self._column(row) for row in self.lab.rows]
        trace = {
            "type": "heatmap",
            "x": list(range(len(columns))),
            "y": [i + 0.5 for i in range(longest)],
            "z": _across([values(z) for z, _ in columns], longest),
            "customdata": _across([told for _, told in columns], longest),
            "hovertemplate": "%{customdata}<extra></extra>",
            "hoverongaps": False,
            "xgap": 3,
            "ygap": 1 if self.named else 0,
            **self._colors(scale),
        }
        if self.named:
            texts = [self._texts(row, scale) for row in self.lab.rows]
            trace |= {"text": _across(texts, longest, ""), "texttemplate": "%{text}"}
            if len(columns) > _MAX_WIDE:  # so many are narrow on a phone
                trace["textfont"] = {"size": 10}
        return trace

    def _column(self, row: LabRow) -> tuple[NDArray[Any], list[str]]:
        """What colours one text's cells, and what they tell when pointed at."""
        cosines = row.damage.tokens[row.damage.layers.index(self.layer)]
        return self._numbers(row), self._hovers(row, cosines)

    def _numbers(self, row: LabRow) -> NDArray[Any]:
        """(n_real,) what the cells of one text say in colour."""
        kinds = row.padded.token_type_ids
        found: NDArray[Any] = row.mask
        if self.color == "cosine":
            found = row.damage.tokens[row.damage.layers.index(self.layer)]
        elif self.color == "segment":
            found = np.zeros(row.n_real) if kinds is None else kinds
        return found[: row.n_real]

    def _texts(self, row: LabRow, scale: tuple[float, float]) -> list[str]:
        """Names, and numbers where there is room, dark on bright colours and bright on dark."""
        n = len(self.lab.rows)
        bright = scale[0] + 0.45 * (scale[1] - scale[0])
        form = ("  {:.2f}" if self.color == "cosine" else "  {:.0f}") if n <= _MAX_VALUES else ""
        longest = 14 if n <= 2 else 9 if n <= 4 else 5
        both = zip(token_labels(row.alone), self._numbers(row).tolist(), strict=False)
        return [
            f'<span style="color:{_ink(value > bright or self.color != "cosine")}">'
            f"{plain(name, longest)}{form.format(round(value, 2) + 0.0)}</span>"
            for name, value in both
        ]

    def _hovers(self, row: LabRow, cosines: NDArray[Any]) -> list[str]:
        padded, names, mask = row.padded, token_labels(row.alone), row.mask
        kinds = padded.token_type_ids
        return [
            f"{row.label}: {plain(names[i])}<br>position {i} · ID {padded.token_ids[i]} · "
            f"mask {mask[i]}"
            + ("" if kinds is None else f" · segment {kinds[i]}")
            + f"<br>layer {self.layer}: similarity {value:.4f}"
            for i, value in enumerate(cosines.tolist())
        ]

    @property
    def needs_scale(self) -> bool:
        """Whether a colour bar must say what the cells' numbers do not."""
        return self.color == "cosine" and (len(self.lab.rows) > _MAX_VALUES or not self.named)

    def _colors(self, scale: tuple[float, float]) -> dict[str, Any]:
        if self.color == "cosine":
            name = {"text": say("masks.figure.similarity"), "side": "bottom"}
            place = {"orientation": "h", "y": 0, "yanchor": "top", "ypad": 6}
            bar = {"thickness": 8, "title": name, **place}
            drawn = {"showscale": self.needs_scale, "colorbar": bar, "colorscale": SEQUENTIAL}
            return {"zmin": scale[0], "zmax": scale[1], **drawn}
        first, second = CATEGORICAL[5], CATEGORICAL[1]
        steps = [[0, first], [1, second if self.color == "segment" else first]]
        return {"zmin": 0, "zmax": 1, "colorscale": steps, "showscale": False}


def _ink(on_bright: bool) -> str:
    return "#111111" if on_bright else "#ffffff"


def _across(columns: list[list[Any]], longest: int, fill: Any = None) -> list[list[Any]]:
    """Columns of different lengths as rows, filled up where a column has ended."""
    return [[c[i] if i < len(c) else fill for c in columns] for i in range(longest)]


def _text_axis(lab: Lab) -> dict[str, Any]:
    n = len(lab.rows)
    return {
        "tickvals": list(range(n)),
        "ticktext": [_column_name(row, n) for row in lab.rows],
        "side": "top",
        "range": [-0.5, n - 0.5],
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
    }


def _column_name(row: LabRow, n: int) -> str:
    if n > 4:
        return row.label
    return f"{row.label} · {row.n_real} tokens" if n <= 2 else f"{row.label} · {row.n_real}"


def _position_axis(heights: _Scale) -> dict[str, Any]:
    return {
        "title": {"text": say("masks.figure.position")},
        **_position_ticks(heights),
        "range": [heights.whole, 0],
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
    }


def _position_ticks(heights: _Scale) -> dict[str, Any]:
    step = max(1, -(-heights.longest // 16))
    real = list(range(0, heights.longest, step))
    at = [i + 0.5 for i in real]
    if heights.padded > 1:
        at.append(heights.whole - 0.4)
        real.append(heights.longest + heights.padded - 1)
    return {"tickvals": at, "ticktext": [str(i) for i in real]}


def _padding(lab: Lab, layer: int, heights: _Scale) -> list[dict[str, Any]]:
    """One hatched bar for each text's padding."""
    places = [i for i, row in enumerate(lab.rows) if row.n_padding]
    rows = [lab.rows[i] for i in places]
    if not rows:
        return []
    return [
        {
            "type": "bar",
            "x": places,
            "base": [row.n_real for row in rows],
            "y": [heights.whole - row.n_real for row in rows],
            "width": 1 - 0.008 * len(lab.rows),
            "marker": {"color": "rgba(128,128,128,0.07)", "pattern": _HATCH, "line": {"width": 0}},
            "customdata": [_padding_hover(row, layer) for row in rows],
            "hovertemplate": "%{customdata}<extra></extra>",
        }
    ]


def _padding_hover(row: LabRow, layer: int) -> str:
    first, last = row.n_real, row.padded.n_tokens - 1
    where = f"position {first}" if first == last else f"positions {first} to {last}"
    kinds = row.padded.token_type_ids
    segment = "" if kinds is None else f" · segment {kinds[last]}"
    length = float(row.damage.lengths[row.damage.layers.index(layer), first:].mean())
    return (
        f"{row.label}: {row.n_padding} × {plain(row.pad_token)}<br>{where} · "
        f"ID {row.padded.token_ids[last]} · mask {row.mask[last]}{segment}<br>layer {layer}: "
        f"vectors of length {length:.4f} on average, for no word"
    )


def _padding_labels(lab: Lab, heights: _Scale, color: Color) -> list[dict[str, Any]]:
    few = len(lab.rows) <= 4
    return [
        {
            "text": f"{row.n_padding} × {plain(row.pad_token)}"
            + (f" · {row.mask[-1]}" if color == "mask" else "")
            if few
            else f"{row.n_padding} pad",
            "x": i,
            "y": (max(row.n_real, heights.whole - heights.whole / 3) + heights.whole) / 2,
            "showarrow": False,
        }
        for i, row in enumerate(lab.rows)
        if heights.whole - row.n_real >= 0.06 * heights.whole
    ]
