"""Pictures of the word table's rows: those of two texts, and the nearest to one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from plotly import graph_objects as go

from components.core.schema import FloatArray
from components.features.embedding_layer.measures.words import Band, Shared
from components.figures.theme import CATEGORICAL, SIGNED, figure, plain, values

__all__ = ["neighbour_bars", "word_row_heatmap"]

_BARE = {"showgrid": False, "zeroline": False, "ticks": ""}


def word_row_heatmap(
    cosines: FloatArray,
    names: tuple[Sequence[str], Sequence[str]],
    equal: Sequence[Shared],
    *,
    labels: tuple[str, str],
    title: str,
    height: int = 360,
) -> go.Figure:
    """Cosines of two texts' word rows on the page's scale, "=" where the rows are the same.

    Args:
        cosines: (n_first, n_second).
        names: the tokens of the one text and the other; escaped here.
        equal: the tokens in both whose word rows do not differ.
        labels: what the two texts are called.
        title: the finding.
        height: in pixels.
    """
    same = {(each.first, each.second) for each in equal}
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
            ["=" if (i, j) in same else "" for j in range(len(across))] for i in range(len(down))
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
    names: Sequence[str], cosines: FloatArray, band: Band, *, title: str, height: int = 360
) -> go.Figure:
    """The nearest rows of the word table as bars, the random-row band behind.

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
    """An axis with a name at each place."""
    places = list(range(len(names)))
    return {**_BARE, "title": {"text": title}, "tickvals": places, "ticktext": names}


def _band(band: Band) -> dict[str, Any]:
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
