"""How layers share a map's frame, in words: what was moved, turned or enlarged, and what stays."""

from __future__ import annotations

__all__ = ["frame_reading"]

_MIDDLE = "Each layer is drawn around its own middle, which keeps every distance within it."
_TURNED = (
    "Each layer is drawn around its own middle, and all are turned alike: both keep every distance "
    "within a layer."
)


def frame_reading(n_layers: int, layer: int, times: float, *, n_axes: int = 2) -> str:
    """A sentence or two on the frame of a map of several layers; "" for one layer's own map.

    Args:
        n_layers: how many are drawn together.
        layer: the one that is shown.
        times: how many times larger it is drawn than in the frame that holds all layers.
        n_axes: of the map; in three dimensions nothing is turned.
    """
    if n_layers < 2:
        return ""
    common = _TURNED if n_axes == 2 else _MIDDLE
    if round(times, 1) <= 1:
        return common
    return (
        f"{common} Layer {layer} is drawn **{times:.1f}** times as large as where one frame holds "
        "all layers, since its points would fill too little of that."
    )
