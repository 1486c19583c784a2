"""A frame for each layer, between which the browser moves a figure without the server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from plotly import graph_objects as go

from components.figures.theme import heading

__all__ = ["add_frames"]


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
    """Gives a figure a frame for each layer, named by its number; the layer bar moves between them.

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
        written = [*look.pop("annotations", ()), *(notes if n == layer else ())]
        own_title = {**whole.layout.title.to_plotly_json(), "text": text, "font": font}
        layout: dict[str, Any] = {**look, "annotations": written, "title": own_title}
        moved = {"data": list(own), "traces": list(range(len(own)))}
        frames.append({"name": str(n), **moved, "layout": layout})
    whole.frames = frames
    here = looks.get(layer, {}).get("annotations", ())
    whole.layout.annotations = [*here, *notes]
