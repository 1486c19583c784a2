"""Frames that a figure plays in the browser: no rerun, nothing written into the address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from plotly import graph_objects as go

from components.figures.theme import heading

__all__ = ["add_frames"]

_FRAME_MS = 900


def add_frames(
    whole: go.Figure,
    traces: Mapping[int, Sequence[dict[str, Any]]],
    layer: int,
    titles: Sequence[str],
    *,
    notes: Sequence[dict[str, Any]] = (),
    looks: Mapping[int, Mapping[str, Any]] = MappingProxyType({}),
    narrow: bool = False,
) -> None:
    """Gives a figure a frame for each layer, and the button that plays them; the shown one is last.

    Args:
        whole: the figure, as it is at `layer`.
        traces: what its first traces are at each layer.
        layer: the layer shown.
        titles: the finding at each layer.
        notes: what is written on the picture at the layer shown.
        looks: what else of the layout is a layer's own, annotations among it.
        narrow: whether titles are broken into lines.
    """
    frames = []  # their titles are bold, as Streamlit makes that of the figure itself
    for (n, own), title in zip(traces.items(), titles, strict=True):
        font = {**whole.layout.title.font.to_plotly_json(), "weight": 700}
        text = heading(title, narrow=narrow)
        look: dict[str, Any] = dict(looks.get(n, {}))
        written = [_layer_note(n), *look.pop("annotations", ()), *(notes if n == layer else ())]
        own_title = {**whole.layout.title.to_plotly_json(), "text": text, "font": font}
        layout: dict[str, Any] = {**look, "annotations": written, "title": own_title}
        moved = {"data": list(own), "traces": list(range(len(own)))}
        frames.append({"name": str(n), **moved, "layout": layout})
    whole.frames = frames
    here = looks.get(layer, {}).get("annotations", ())
    whole.layout.annotations = [_layer_note(layer), *here, *notes]
    whole.layout.updatemenus = [_player([*map(str, traces), str(layer)])]


def _player(frames: Sequence[str]) -> dict[str, Any]:
    """The button that plays frames by their names."""
    how = {
        "frame": {"duration": _FRAME_MS, "redraw": True},
        "transition": {"duration": 0},
        "mode": "immediate",
    }
    return {
        "type": "buttons",
        "buttons": [{"label": "▶ Play", "method": "animate", "args": [list(frames), how]}],
        "x": 1,
        "xanchor": "right",
        "y": 1,
        "yanchor": "bottom",
        "pad": {"b": 6},
        "showactive": False,
        "bgcolor": "rgba(128,128,128,0.16)",
        "borderwidth": 0,
    }


def _layer_note(layer: int) -> dict[str, Any]:
    """Which layer a frame shows, left of the button."""
    where = {"x": 1, "xref": "paper", "xanchor": "right", "xshift": -84}
    up = {"y": 1, "yref": "paper", "yanchor": "bottom", "yshift": 10}
    return {"text": f"layer {layer}", **where, **up, "showarrow": False, "font": {"size": 13}}
