"""The figures of the Padding & masks page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go

from contextlens.content.language import say
from contextlens.features.masks.measures import FourCases, PaddedBatch, PaddedText, token_labels
from contextlens.figures.frames import spread
from contextlens.figures.theme import (
    CATEGORICAL,
    INK,
    MUTED,
    NEUTRAL,
    SEQUENTIAL,
    SMALLEST,
    figure,
    ink_on,
    plain,
    values,
)

# --- The picture of a batch

_HATCH = {"shape": "/", "fgcolor": NEUTRAL, "fgopacity": 0.4, "size": 9, "solidity": 0.14}
_MAX_ROWS = 23  # tokens that still have room for their names
_MAX_WIDE = 4  # columns; with more, names are smaller
_MAX_VALUES = 3  # columns that still have room for numbers beside the names
_BITS = 0.4  # from a column's middle to its bits, in widths of a column


@dataclass(frozen=True)
class _Heights:
    """Heights: 1 for each position with a token, a limited sum for those with only padding."""

    longest: int
    padded: int

    @property
    def whole(self) -> float:
        room = min(0.8 * self.longest, max(4.0, _MAX_ROWS - self.longest))
        return self.longest + min(float(self.padded), max(4.0, room))

    @property
    def named(self) -> bool:
        """True if the names fit in the cells."""
        return self.whole <= _MAX_ROWS


def batch_grid(
    lab: PaddedBatch,
    layer: int,
    *,
    scale: tuple[float, float],
    averaged: bool,
    title: str,
    height: int = 420,
) -> go.Figure:
    """The batch: a column for each text, with each token's bit of the mask; padding hatched.

    Args:
        lab: the batch.
        layer: the layer whose cosines colour the tokens.
        scale: the ends of the colour scale.
        averaged: True if padding is averaged in.
        title: the finding.
        height: in pixels.
    """
    heights = _Heights(max(lab.lengths), lab.pad_to - max(lab.lengths))
    cells = _Cells(lab, layer, named=heights.named)
    layout = {
        "xaxis": _text_axis(lab, named=heights.named),
        "yaxis": _position_axis(heights),
        "annotations": _padding_labels(lab, heights, averaged=averaged),
        "barmode": "overlay",
        "margin": {"l": 66, "r": 8, "t": 66, "b": 60 if cells.needs_scale else 8},
        "title_y": 0.98,
        "title_yanchor": "top",
    }
    traces = [cells.heatmap(scale), *_padding(lab, layer, heights)]
    if heights.named:
        traces.append(_bits(lab, layer, heights, scale))
    return figure(traces, layout, title=title, height=height)


@dataclass(frozen=True)
class _Cells:
    """The real tokens as a heatmap whose other cells are empty."""

    lab: PaddedBatch
    layer: int
    named: bool

    def heatmap(self, scale: tuple[float, float]) -> dict[str, Any]:
        longest = max(self.lab.lengths)
        columns = [self._column(row) for row in self.lab.rows]
        trace = {
            "type": "heatmap",
            "x": list(range(len(columns))),
            "y": [i + 0.5 for i in range(longest)],
            "z": _across([values(z) for z, _ in columns], longest),
            "customdata": _across([hovers for _, hovers in columns], longest),
            "hovertemplate": "%{customdata}<extra></extra>",
            "hoverongaps": False,
            "xgap": 3,
            "ygap": 1 if self.named else 0,
            **self._colors(scale),
        }
        if self.named:
            texts = [self._texts(row, scale) for row in self.lab.rows]
            trace |= {"text": _across(texts, longest, ""), "texttemplate": "%{text}"}
            if len(columns) > _MAX_WIDE:  # this many are narrow on a phone
                trace["textfont"] = {"size": 10}
        return trace

    def _column(self, row: PaddedText) -> tuple[NDArray[Any], list[str]]:
        """The colours of one text's cells, and their hover texts."""
        cosines = row.damage.tokens[row.damage.layers.index(self.layer)]
        return cosines, self._hovers(row, cosines)

    def _texts(self, row: PaddedText, scale: tuple[float, float]) -> list[str]:
        """Names, and numbers if there is room, in a colour that is readable on the cell."""
        n = len(self.lab.rows)
        cosines, _ = self._column(row)
        form = "  {:.2f}" if n <= _MAX_VALUES else ""
        longest = 9 if n <= 2 or n == 4 else 5
        return [
            f'<span style="color:{_ink(value, scale)}">'
            f"{plain(name, longest)}{form.format(round(value, 2) + 0.0)}</span>"
            for name, value in zip(token_labels(row.alone), cosines.tolist(), strict=False)
        ]

    def _hovers(self, row: PaddedText, cosines: NDArray[Any]) -> list[str]:
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
        """True if a colour bar is needed because the cells have no numbers."""
        return len(self.lab.rows) > _MAX_VALUES or not self.named

    def _colors(self, scale: tuple[float, float]) -> dict[str, Any]:
        name = {"text": say("masks.figure.similarity"), "side": "bottom"}
        place = {"orientation": "h", "y": 0, "yanchor": "top", "ypad": 6}
        bar = {"thickness": 8, "title": name, **place}
        drawn = {"showscale": self.needs_scale, "colorbar": bar, "colorscale": SEQUENTIAL}
        return {"zmin": scale[0], "zmax": scale[1], **drawn}


def _ink(value: float, scale: tuple[float, float]) -> str:
    """The colour of text on a cell of this value."""
    return ink_on((value - scale[0]) / (scale[1] - scale[0]))


def _bits(
    lab: PaddedBatch, layer: int, heights: _Heights, scale: tuple[float, float]
) -> dict[str, Any]:
    """The mask's bit beside each token, and beside the padding of the drawn positions."""
    spots = []
    for x, row in enumerate(lab.rows):
        cosines = row.damage.tokens[row.damage.layers.index(layer)].tolist()
        inks = [_ink(value, scale) for value in cosines] + [INK] * row.n_padding
        spots += [(x + _BITS, i + 0.5, row.mask[i], inks[i]) for i in range(heights.longest)]
        if heights.padded:
            rest = (heights.longest + heights.whole) / 2
            spots.append((x + _BITS, rest, row.mask[-1], INK))
    size = SMALLEST if len(lab.rows) <= _MAX_WIDE else 10
    return {
        "type": "scatter",
        "mode": "text",
        "x": [x for x, *_ in spots],
        "y": [y for _, y, *_ in spots],
        "text": [f'<b style="color:{ink}">{bit}</b>' for *_, bit, ink in spots],
        "textfont": {"size": size},
        "hoverinfo": "skip",
    }


def _across(columns: list[list[Any]], longest: int, fill: Any = None) -> list[list[Any]]:
    """Columns of different lengths as rows, filled up after the end of a column."""
    return [[c[i] if i < len(c) else fill for c in columns] for i in range(longest)]


def _text_axis(lab: PaddedBatch, *, named: bool) -> dict[str, Any]:
    n = len(lab.rows)
    return {
        **_column_names(lab, with_bits=named),
        "side": "top",
        "range": [-0.5, n - 0.5],
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
    }


def _column_names(lab: PaddedBatch, *, with_bits: bool) -> dict[str, Any]:
    """The ticks: each text with its length and, if there is room, a name above its bits."""
    n = len(lab.rows)
    if n > _MAX_WIDE:
        return {"tickvals": list(range(n)), "ticktext": [row.label for row in lab.rows]}
    form = "{} · {} tokens" if n <= 2 else "{} · {}"
    names = [form.format(row.label, row.n_real) for row in lab.rows]
    bits = [say("masks.figure.bit")] * n if with_bits else []
    return {
        "tickvals": [i - 0.08 for i in range(n)] + [i + _BITS for i in range(len(bits))],
        "ticktext": [*names, *bits],
        "tickangle": 0,
    }


def _position_axis(heights: _Heights) -> dict[str, Any]:
    return {
        "title": {"text": say("masks.figure.position")},
        **_position_ticks(heights),
        "range": [heights.whole, 0],
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
    }


def _position_ticks(heights: _Heights) -> dict[str, Any]:
    step = max(1, -(-heights.longest // 16))
    real = list(range(0, heights.longest, step))
    at = [i + 0.5 for i in real]
    if heights.padded > 1:
        at.append(heights.whole - 0.4)
        real.append(heights.longest + heights.padded - 1)
    return {"tickvals": at, "ticktext": [str(i) for i in real]}


def _padding(lab: PaddedBatch, layer: int, heights: _Heights) -> list[dict[str, Any]]:
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


def _padding_hover(row: PaddedText, layer: int) -> str:
    first, last = row.n_real, row.padded.n_tokens - 1
    positions = f"position {first}" if first == last else f"positions {first} to {last}"
    kinds = row.padded.token_type_ids
    segment = "" if kinds is None else f" · segment {kinds[last]}"
    length = float(row.damage.lengths[row.damage.layers.index(layer), first:].mean())
    return (
        f"{row.label}: {row.n_padding} × {plain(row.pad_token)}<br>{positions} · "
        f"ID {row.padded.token_ids[last]} · mask {row.mask[last]}{segment}<br>layer {layer}: "
        f"vectors of length {length:.4f} on average, for no word"
    )


def _padding_labels(lab: PaddedBatch, heights: _Heights, *, averaged: bool) -> list[dict[str, Any]]:
    few = len(lab.rows) <= _MAX_WIDE
    ending = f"<br>{say('masks.figure.averaged')}" if averaged and few else ""
    return [
        {
            "text": (f"{row.n_padding} × {plain(row.pad_token)}" if few else f"{row.n_padding} pad")
            + ("" if heights.named else f"<br>{say('masks.figure.bit')} {row.mask[-1]}")
            + ending,
            "x": i,
            "y": (row.n_real + heights.whole) / 2,
            "showarrow": False,
            "font": {"color": INK if averaged else MUTED},
        }
        for i, row in enumerate(lab.rows)
        if heights.whole - row.n_real >= 0.06 * heights.whole
    ]


# --- The four cases: mask on or off, padding averaged in or not

_OTHERS = 0.4  # opacity of the three cases that are not the present one


def cases_grid(
    cases: FourCases,
    *,
    masked: bool,
    averaged: bool,
    scale: tuple[float, float],
    title: str,
    height: int = 420,
) -> go.Figure:
    """Two rows, mask on and off, and two columns, without padding and with it; one cell strong.

    The points in the cells are invisible; they carry the case that a click chooses.

    Args:
        cases: the four similarities.
        masked: True if the present case has the mask on.
        averaged: True if the present case averages padding in.
        scale: the ends of the colour scale.
        title: the finding.
        height: in pixels.
    """
    values_of = np.array([cases.on, cases.off])
    y, x = int(not masked), int(averaged)
    faint, strong = values_of.copy(), np.full((2, 2), np.nan)
    faint[y, x], strong[y, x] = np.nan, values_of[y, x]
    cells = {
        "type": "heatmap",
        "zmin": scale[0],
        "zmax": scale[1],
        "colorscale": SEQUENTIAL,
        "showscale": False,
        "hoverinfo": "skip",
        "xgap": 6,
        "ygap": 6,
    }
    places = [(i, j) for i in (0, 1) for j in (0, 1)]
    hidden = {"marker": {"opacity": 0}}
    points = {
        "type": "scatter",
        "mode": "markers",
        "x": [j for _, j in places],
        "y": [i for i, _ in places],
        "customdata": [[i == 0, j == 1, float(values_of[i, j])] for i, j in places],
        "hovertemplate": f"{plain(cases.label)}: %{{customdata[2]:.4f}}<extra></extra>",
        **hidden,
        "selected": hidden,
        "unselected": hidden,
    }
    axis = {"showgrid": False, "zeroline": False, "ticks": "", "tickvals": [0, 1]}
    layout = {
        "xaxis": {
            **axis,
            "side": "top",
            "range": [-0.5, 1.5],
            "ticktext": [say("masks.figure.real"), say("masks.figure.all")],
            "title": {"text": say("masks.figure.average")},
        },
        "yaxis": {
            **axis,
            "range": [1.5, -0.5],
            "ticktext": [say("masks.figure.mask_on"), say("masks.figure.mask_off")],
        },
        "annotations": [
            _case_label(values_of[i, j], i, j, scale, strong=(i, j) == (y, x)) for i, j in places
        ],
        "hoverdistance": -1,
        "margin": {"l": 78, "r": 8, "t": 90, "b": 8},
        "title_y": 0.98,
        "title_yanchor": "top",
    }
    traces = [
        {**cells, "z": faint.tolist(), "opacity": _OTHERS},
        {**cells, "z": strong.tolist()},
        points,
    ]
    return figure(traces, layout, title=title, height=height)


def _case_label(
    value: float, i: int, j: int, scale: tuple[float, float], *, strong: bool
) -> dict[str, Any]:
    """The number of a case, and below it what is done wrong."""
    name = say(f"masks.figure.{('on', 'off')[i]}_{('real', 'all')[j]}").replace("|", "<br>")
    size = 34 if strong else 26
    return {
        "text": f'<b style="font-size:{size}px">{value:.3f}</b><br>{name}',
        "x": j,
        "y": i,
        "showarrow": False,
        "font": {"color": _ink(value, scale) if strong else INK},
    }


# --- The pictures of a padded text

_MAX_LINES = 24  # tokens that get a line each; more get a band
_ABOVE, _BELOW = 40, 70  # pixels of the margins above and below
_MAX_NAMES = 21  # tokens whose names have room beside a heatmap


def mask_range(*batches: PaddedBatch) -> tuple[float, float]:
    """One scale for all of the page's cosines: 0 to 1, lower only if a cosine is negative."""
    damages = [row.damage for lab in batches for row in lab.rows]
    lowest = min(float(min(d.tokens.min(), d.mean_all.min(), d.pooled or 0.0)) for d in damages)
    return min(0.0, float(np.floor(lowest * 5)) / 5), 1.0


def layer_lines(
    row: PaddedText,
    layer: int,
    *,
    scale: tuple[float, float],
    pooler: str,
    title: str,
    height: int = 390,
) -> go.Figure:
    """A text's similarity to its unpadded self over the layers: tokens, means, `pooler_output`."""
    x = list(row.damage.layers)
    lines = _main_lines(row)
    traces = [
        *_token_lines(row, x),
        *(_line(x, name, array, color) for name, array, color in lines),
        *_pooled(row, pooler),
    ]
    layout = {
        "xaxis": {
            "title": {"text": say("masks.figure.layer")},
            "tickvals": _layer_ticks(x),
            "range": [x[0] - 0.15, x[-1] + 0.25],
            "zeroline": False,
            "showgrid": False,
        },
        "yaxis": {
            "title": {"text": say("masks.figure.similarity")},
            "range": [scale[0] - 0.02, scale[1] + 0.04],
            "zeroline": False,
        },
        "shapes": [_layer_mark(layer)],
        "annotations": _end_labels(
            [*lines, *_pooled_label(row.damage.pooled, pooler), *_tokens_label(row)], scale, height
        ),
        "margin": {"l": 80, "r": 160, "t": _ABOVE, "b": _BELOW},
        "hovermode": "closest",
    }
    return figure(traces, layout, title=title, height=height)


def token_heatmap(
    row: PaddedText, *, scale: tuple[float, float], title: str, height: int = 390
) -> go.Figure:
    """Each real token of a text at each layer: its cosine with itself in the text alone."""
    names = [plain(name, 16) for name in token_labels(row.alone)]
    x, cosines = list(row.damage.layers), row.damage.tokens.T
    trace: dict[str, Any] = {
        "type": "heatmap",
        "x": x,
        "y": list(range(len(names))),
        "z": values(cosines),
        "zmin": scale[0],
        "zmax": scale[1],
        "colorscale": SEQUENTIAL,
        "customdata": [[name] * len(x) for name in names],
        "hovertemplate": "%{customdata} at position %{y}<br>layer %{x}<br>similarity %{z:.4f}"
        "<extra></extra>",
        "xgap": 2 if len(names) <= _MAX_NAMES else 0,
        "ygap": 1 if len(names) <= _MAX_NAMES else 0,
        "colorbar": {"title": {"text": "similarity"}, "thickness": 8, "len": 0.9},
    }
    step = -(-len(names) // _MAX_NAMES)
    ticks = names if step == 1 else [f"{i}: {name}" for i, name in enumerate(names)]
    layout = {
        "xaxis": {"title": {"text": "layer"}, "tickvals": _layer_ticks(x), "ticks": ""},
        "yaxis": {
            "tickvals": list(range(0, len(names), step)),
            "ticktext": ticks[::step],
            "autorange": "reversed",
            "showgrid": False,
            "zeroline": False,
            "ticks": "",
        },
        "margin": {"l": 96, "r": 68, "t": _ABOVE, "b": _BELOW},
    }
    return figure([trace], layout, title=title, height=height)


_Line = tuple[str, NDArray[Any], str]


def _main_lines(row: PaddedText) -> list[_Line]:
    lines = [
        (row.alone.tokens[0], row.damage.first, CATEGORICAL[0]),
        (say("masks.line.mean"), row.damage.mean, CATEGORICAL[2]),
    ]
    if row.n_padding:
        name = say("masks.line.mean_all", pad=row.pad_token)
        lines.append((name, row.damage.mean_all, CATEGORICAL[3]))
    return lines


def _line(x: list[int], name: str, array: NDArray[Any], color: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": x,
        "y": values(array),
        "name": plain(name),
        "text": plain(name),
        "line": {"color": color, "width": 2.5},
        "marker": {"size": 6},
        "hovertemplate": "%{text}<br>layer %{x}<br>similarity %{y:.4f}<extra></extra>",
    }


def _token_lines(row: PaddedText, x: list[int]) -> list[dict[str, Any]]:
    """The real tokens as faint lines, or as the band that they fill."""
    cosines = row.damage.tokens
    if row.n_real > _MAX_LINES:
        low, high = values(cosines.min(axis=1)), values(cosines.max(axis=1))
        area = {"fill": "toself", "fillcolor": "rgba(128,128,128,0.16)", "line": {"width": 0}}
        outline = {"x": [*x, *x[::-1]], "y": [*high, *low[::-1]], "hoverinfo": "skip"}
        return [{"type": "scatter", "mode": "lines", **outline, **area}]
    faint = {
        "mode": "lines",
        "opacity": 0.45,
        "name": None,
        "line": {"color": NEUTRAL, "width": 1.2},
    }
    return [
        _line(x, say("masks.line.token", name=name, at=i), cosines[:, i], NEUTRAL) | faint
        for i, name in enumerate(token_labels(row.alone))
        if i > 0
    ]


def _pooled(row: PaddedText, name: str) -> list[dict[str, Any]]:
    if row.damage.pooled is None:
        return []
    point = _line([row.damage.layers[-1]], name, np.array([row.damage.pooled]), CATEGORICAL[4])
    return [point | {"mode": "markers", "marker": {"size": 9, "symbol": "diamond"}}]


def _pooled_label(pooled: float | None, name: str) -> list[_Line]:
    return [] if pooled is None else [(name, np.array([pooled]), CATEGORICAL[4])]


def _tokens_label(row: PaddedText) -> list[_Line]:
    """A name for the faint lines (or for the band of all tokens), at the lowest of them."""
    last = row.damage.tokens[-1]
    if row.n_real > _MAX_LINES:
        return [(say("masks.line.every"), last[[last.argmin()]], NEUTRAL)]
    others = last[1:]
    name = say("masks.line.others")
    return [(name, others[[others.argmin()]], NEUTRAL)] if others.size else []


def _end_labels(
    lines: list[_Line], scale: tuple[float, float], height: int
) -> list[dict[str, Any]]:
    """Names at the right ends, each with a dot in its line's colour."""
    gap = (scale[1] - scale[0]) * 17 / max(height - _ABOVE - _BELOW, 1)
    spots = spread([float(array[-1]) for _, array, _ in lines], gap, scale)
    return [
        {
            "text": f'<span style="color:{color}">●</span> {plain(name)}',
            "x": 1,
            "xref": "paper",
            "y": spot,
            "xanchor": "left",
            "xshift": 4,
            "showarrow": False,
        }
        for (name, _, color), spot in zip(lines, spots, strict=True)
    ]


def _layer_ticks(x: list[int]) -> list[int]:
    return x if len(x) <= 13 else x[:: 2 if len(x) <= 25 else 4]


def _layer_mark(layer: int) -> dict[str, Any]:
    line = {"color": NEUTRAL, "width": 1, "dash": "dot"}
    ends = {"x0": layer, "x1": layer, "y0": 0, "y1": 1, "yref": "paper"}
    return {"type": "line", **ends, "line": line}


# --- The picture of a text at a model's limit


def limit_bar(n_kept: int, n_cut: int, *, limit: int, title: str, height: int = 130) -> go.Figure:
    """One text as a bar of tokens, the part beyond the limit hatched."""
    hatch = {"shape": "/", "fgcolor": CATEGORICAL[3], "size": 7, "solidity": 0.3}
    cut = {"color": "rgba(128,128,128,0.07)", "pattern": hatch}
    traces = [_bar("masks.limit.bar_fit", 0, n_kept, {"color": CATEGORICAL[0]})]
    if n_cut:
        traces.append(_bar("masks.limit.bar_cut", n_kept, n_cut, cut))
    edge = {"x0": limit, "x1": limit, "y0": 0, "y1": 1, "yref": "paper", "type": "line"}
    layout = {
        "barmode": "overlay",
        "xaxis": {
            "title": {"text": say("masks.limit.axis")},
            "range": [0, 1.04 * max(limit, n_kept + n_cut)],
            "showgrid": False,
            "zeroline": False,
        },
        "yaxis": {"visible": False},
        "shapes": [{**edge, "line": {"color": NEUTRAL, "width": 2, "dash": "dot"}}],
        "margin": {"l": 8, "r": 8, "t": 36, "b": 44},
    }
    return figure(traces, layout, title=title, height=height)


def _bar(fate: str, start: int, n: int, marker: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "bar",
        "orientation": "h",
        "x": [n],
        "base": [start],
        "y": [0],
        "marker": marker,
        "hovertemplate": f"{say(fate, n=n)}<extra></extra>",
    }
