"""Cosines of pairs of words over the layers, and the scale that a page's cosines share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from plotly import graph_objects as go

from contextlens.analysis.baseline import Band
from contextlens.analysis.similarity import MAX_MAIN_PAIRS, Comparison, Pair
from contextlens.core.schema import FloatArray
from contextlens.figures.frames import end_label, layer_mark
from contextlens.figures.frames import spread as _spread
from contextlens.figures.theme import (
    DASHES,
    INK,
    MUTED,
    NEUTRAL,
    SMALLEST,
    color_of,
    figure,
    plain,
    values,
)

__all__ = ["band_area", "cosine_lines", "cosine_range"]

_ABOVE, _BELOW = 40, 70  # pixels of the margins: above with a title, and below the lines
_UNTITLED = 16  # pixels above without a title
_MAX_LABELS = 9
_STRONG, _MUTED = 3.5, 1.5  # pixels of a line
_FAINT = {"mode": "lines", "opacity": 0.35}


@dataclass(frozen=True)
class _Style:
    color: str
    dash: str
    width: float


_SIGNS = dict(zip(DASHES, ("—", "- -", "···", "-·-", "– –", "–·–"), strict=True))
"""The text beside a line's name that imitates its dash."""


def cosine_range(*arrays: FloatArray) -> tuple[float, float]:
    """Return one scale for all cosines of a page: from -0.2, or lower if a cosine is, to 1."""
    lowest = min((float(a.min()) for a in arrays if a.size), default=0.0)
    return min(-0.2, np.floor(lowest * 5) / 5), 1.0


def band_area(layers: Sequence[int], band: Band) -> dict[str, Any]:
    """Return the grey area between the two ends of a band over the layers."""
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [*layers, *layers[::-1]],
        "y": [*values(band.high), *values(band.low)[::-1]],
        "fill": "toself",
        "fillcolor": "rgba(128,128,128,0.16)",
        "line": {"width": 0},
        "hoverinfo": "skip",
    }


def cosine_lines(
    comparison: Comparison,
    pairs: Sequence[Pair],
    *,
    layer: int,
    band: Band | None,
    scale: tuple[float, float],
    title: str,
    height: int = 430,
) -> go.Figure:
    """Return each pair's cosine over the layers, with the random-pair band and the layer marked.

    A few lines are equally strong; of many, the first one is, and all others are muted.
    """
    x = list(comparison.layers)
    measure = f"how alike ({comparison.measure})"
    labelled = _to_label(comparison, pairs)
    faint = [pair for pair in pairs if pair not in labelled]
    traces = [
        *_band_traces(x, band, comparison.measure),
        *(_line(comparison, pair, pairs) | _FAINT for pair in faint),
        *(_line(comparison, pair, pairs) for pair in labelled),
    ]
    above = _ABOVE if title else _UNTITLED
    layout = {
        "xaxis": {
            "title": {"text": "layer (0: the words alone)"},
            "tickvals": _ticks(x),
            "range": [x[0] - 0.15, x[-1] + 0.15],
            "zeroline": False,
            "showgrid": False,
        },
        "yaxis": {"title": {"text": measure}, "range": [scale[0], scale[1] + 0.04]},
        "shapes": [layer_mark(layer)],
        "margin": {"l": 80, "r": _label_margin(comparison, labelled), "t": above, "b": _BELOW},
        "annotations": [
            *_line_labels(comparison, labelled, pairs, scale, height),
            *_band_label(x, band),
        ],
        "hovermode": "closest",
    }
    return figure(traces, layout, title=title, height=height)


def _ticks(layers: list[int]) -> list[int]:
    return layers if len(layers) <= 13 else layers[:: 2 if len(layers) <= 25 else 4]


def _band_traces(x: list[int], band: Band | None, kind: str) -> list[dict[str, Any]]:
    if band is None:
        return []
    mean = {
        "type": "scatter",
        "mode": "lines",
        "x": x,
        "y": values(band.mean),
        "line": {"color": NEUTRAL, "width": 1, "dash": "dot"},
        "customdata": [*map(list, zip(values(band.low), values(band.high), strict=True))],
        "hovertemplate": f"random pairs<br>layer %{{x}}<br>mean {kind} %{{y:.4f}}<br>"
        "90 of 100 from %{customdata[0]:.4f} to %{customdata[1]:.4f}<extra></extra>",
    }
    return [band_area(x, band), mean]


def _band_label(x: list[int], band: Band | None) -> list[dict[str, Any]]:
    if band is None:
        return []
    label = {
        "text": "unrelated words (dotted: average)",
        "x": x[0],
        "y": float(band.low[0]),
        "xanchor": "left",
        "yanchor": "top",
        "showarrow": False,
        "font": {"size": SMALLEST, "color": MUTED},
    }
    return [label]


def _style(comparison: Comparison, pair: Pair, pairs: Sequence[Pair]) -> _Style:
    """Return the look of a line: a few are equally strong, of many the first one alone."""
    first, second = comparison.items[pair.first], comparison.items[pair.second]
    if pair == pairs[0]:
        return _Style(INK, "solid", _STRONG)
    width = _STRONG if len(pairs) <= MAX_MAIN_PAIRS else _MUTED
    if second.role == "sentence":
        return _Style(NEUTRAL, "solid", width)
    references = [i for i, item in enumerate(comparison.items) if item.role == "reference"]
    dash = DASHES[references.index(pair.second) % len(DASHES)]
    return _Style(color_of(first.color), dash, width)


def _line(comparison: Comparison, pair: Pair, pairs: Sequence[Pair]) -> dict[str, Any]:
    style = _style(comparison, pair, pairs)
    name, kind = plain(comparison.pair_name(pair), 48), comparison.measure
    return {
        "type": "scatter",
        "mode": "lines+markers" if pair == pairs[0] else "lines",
        "x": list(comparison.layers),
        "y": values(comparison.along(pair)),
        "name": name,
        "line": {"color": style.color, "dash": style.dash, "width": style.width},
        "marker": {"size": 8},
        "cliponaxis": False,
        "text": name,
        "hovertemplate": f"%{{text}}<br>layer %{{x}}<br>{kind} %{{y:.4f}}<extra></extra>",
    }


def _to_label(comparison: Comparison, pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs whose lines get names: all, or of many the first and the extremes."""
    if len(pairs) <= _MAX_LABELS:
        return list(pairs)
    ranked = sorted(pairs[1:], key=lambda p: -float(comparison.along(p)[-1]))
    return [pairs[0], *ranked[:3], *ranked[-3:]]


def _label_margin(comparison: Comparison, pairs: Sequence[Pair]) -> int:
    longest = max((len(_label_text(comparison, p)) for p in pairs), default=0)
    return min(200, 34 + 7 * longest)


def _sign(style: _Style) -> str:
    """A short piece of the line in its colour; the name keeps the theme's readable colour."""
    return f'<span style="color:{style.color}"><b>{_SIGNS[style.dash]}</b></span> '


def _label_text(comparison: Comparison, pair: Pair) -> str:
    first, second = comparison.items[pair.first], comparison.items[pair.second]
    end = second.label if second.role == "sentence" else second.word
    return f"{first.label} ~ {end}"


def _label_font(is_strong: bool) -> dict[str, Any]:
    return {"size": SMALLEST, **({"color": INK, "weight": 700} if is_strong else {"color": MUTED})}


def _line_labels(
    comparison: Comparison,
    labelled: Sequence[Pair],
    pairs: Sequence[Pair],
    scale: tuple[float, float],
    height: int,
) -> list[dict[str, Any]]:
    """Return names at the right ends of the lines, moved apart if they would overlap."""
    ends = [float(comparison.along(pair)[-1]) for pair in labelled]
    gap = (scale[1] - scale[0]) * 17 / max(height - _ABOVE - _BELOW, 1)
    spots = _spread(ends, gap, scale)
    return [
        {
            **end_label(
                _sign(_style(comparison, pair, pairs)) + plain(_label_text(comparison, pair), 24),
                spot,
            ),
            "font": _label_font(pair == pairs[0]),
        }
        for pair, spot in zip(labelled, spots, strict=True)
    ]
