"""How far a token's state of one sentence, put into the other at a layer, takes the result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from plotly import graph_objects as go

from components.content.language import say
from components.features.why.figures.axes import Numbers, layer_axis, names, titled, word_axis
from components.figures.theme import SEQUENTIAL

__all__ = ["swap_heatmap"]

_MANY = 64


def swap_heatmap(
    fractions: Numbers,
    tokens: Sequence[str],
    layers: Sequence[int],
    *,
    ends: tuple[str, str] = ("A", "B"),
    title: str,
    height: int = 360,
) -> go.Figure:
    """Tokens across, layers up, from 0 (nothing changes) to 1 (as in the other sentence).

    Colours end at 0 and 1; what lies beyond is exact on hover.

    Args:
        fractions: (n_layers, n_tokens); NaN for a token that has no partner.
        tokens: what is written under each column, escaped here.
        layers: the layer of each row.
        ends: the letters of the sentence that is changed, and of the one that it is moved towards.
        title: the finding.
        height: in pixels.
    """
    shown = names(tokens)
    gap = int(len(tokens) <= _MANY)
    trace: dict[str, Any] = {
        "type": "heatmap",
        "z": np.ascontiguousarray(fractions, dtype=np.float32),
        "zmin": 0.0,
        "zmax": 1.0,
        "colorscale": SEQUENTIAL,
        "xgap": gap,
        "ygap": 1,
        "hoverongaps": False,
        "customdata": [
            [[token, layer, _said(share, ends[1])] for token, share in zip(shown, own, strict=True)]
            for layer, own in zip(layers, fractions.tolist(), strict=True)
        ],
        "hovertemplate": (
            "%{customdata[0]}, swapped in at layer %{customdata[1]}<br>"
            "%{customdata[2]}<extra></extra>"
        ),
        "colorbar": {"title": {"text": say("why.swap_in.scale")}, "thickness": 8, "len": 0.9,
                     "tickvals": [0, 0.5, 1], "ticktext": ["0%", "50%", "100%"]},
    }  # fmt: skip
    layout = {
        "xaxis": {**word_axis(tokens), "tickangle": -50},
        "yaxis": layer_axis(layers),
        "margin": {"l": 8, "r": 8, "b": 8},
    }
    return titled([trace], layout, title=title, height=height)


def _said(share: float, end: str) -> str:
    """A part of the way in words: in per cent, or where outside of it."""
    if np.isnan(share):
        return ""
    whole = round(100 * share)
    where = "hover_beyond" if whole > 100 else "hover_away" if whole < 0 else "hover"
    return say(f"why.swap_in.{where}", share=abs(share), b=end)
