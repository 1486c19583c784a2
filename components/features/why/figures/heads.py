"""What each head, each layer's attention and each feed-forward holds of the cosine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from plotly import graph_objects as go

from components.features.why.figures.axes import (
    BARE,
    Numbers,
    colorbar,
    layer_axis,
    signed,
    signed_end,
    titled,
)
from components.figures.theme import CATEGORICAL, SIGNED, values

__all__ = ["switched_off"]

_PARTS = (("attention", CATEGORICAL[4]), ("feed-forward", CATEGORICAL[2]))
_KEY = "<br>".join(
    f'<span style="color:{color}">\N{BLACK SQUARE}</span> {name}' for name, color in _PARTS
)
"""Under the bars: which is which, as there is no room for a legend on a phone."""
_HEADS = (0.0, 0.58)
_LAYERS = (0.76, 1.0)
_BAR = 0.595  # of the width, where the scale of the heads stands


def switched_off(
    heads: Numbers,
    attention: Numbers,
    feed_forward: Numbers,
    *,
    title: str,
    height: int = 360,
) -> go.Figure:
    """The change of the cosine with each head off as a grid, and with whole parts off as bars.

    Args:
        heads: (n_layers, n_heads) changes; layers from 1, heads from 0.
        attention, feed_forward: (n_layers,) changes.
        title: the finding.
        height: in pixels.
    """
    layers = list(range(1, len(heads) + 1))
    traces = [_grid(heads, layers), *_bars((attention, feed_forward), layers)]
    n_heads = heads.shape[1]
    tick = max(1, -(-n_heads // 16))
    end = signed_end(attention, feed_forward)
    round_end = _round(end)
    rows = layer_axis(layers)
    layout = {
        "xaxis": {"domain": list(_HEADS), "title": {"text": "head"}, **BARE, "dtick": tick},
        "xaxis2": {
            "domain": list(_LAYERS),
            "title": {"text": _KEY},
            "range": [-1.15 * end, 1.15 * end],
            "tickvals": [-round_end, 0, round_end],
            "ticktext": [f"\N{MINUS SIGN}{round_end:.1g}", "0", f"+{round_end:.1g}"],
            "anchor": "y",
            "zeroline": True,
            "zerolinewidth": 1,
        },
        "yaxis": rows,
        "barmode": "group",
        "bargap": 0.3,
        "margin": {"l": 8, "r": 24, "b": 56},
    }
    return titled(traces, layout, title=title, height=height)


def _round(end: float) -> float:
    """The largest number of one digit up to an end: 0.08 of 0.087."""
    size = 10.0 ** np.floor(np.log10(end))
    return float(np.floor(end / size + 1e-9) * size)


def _grid(heads: Numbers, layers: Sequence[int]) -> dict[str, Any]:
    end = signed_end(heads)
    return {
        "type": "heatmap",
        "z": np.ascontiguousarray(heads, dtype=np.float32),
        "zmin": -end,
        "zmax": end,
        **SIGNED,
        "xgap": 1,
        "ygap": 1,
        "customdata": [
            [[n, signed(value, 4)] for value in own]
            for n, own in zip(layers, heads.tolist(), strict=True)
        ],
        "hovertemplate": (
            "layer %{customdata[0]}, head %{x}<br>change %{customdata[1]}<extra></extra>"
        ),
        "colorbar": {**colorbar("change", end), "x": _BAR},
    }


def _bars(parts: Sequence[Numbers], layers: Sequence[int]) -> list[dict[str, Any]]:
    places = list(range(len(layers)))
    return [
        {
            "type": "bar",
            "orientation": "h",
            "xaxis": "x2",
            "name": name,
            "x": values(own),
            "y": places,
            "marker": {"color": color},
            "customdata": [
                [n, signed(value, 4)] for n, value in zip(layers, own.tolist(), strict=True)
            ],
            "hovertemplate": f"layer %{{customdata[0]}}, {name} off<br>"
            "change %{customdata[1]}<extra></extra>",
        }
        for (name, color), own in zip(_PARTS, parts, strict=True)
    ]
