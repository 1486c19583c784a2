"""What a map's axes show, at one scale for both: points fill the frame, at every layer.

One frame holds all layers, so that what moves is the points. A layer whose points would fill less
than `LEAST` of it either way is enlarged as far as that takes: the frame comes nearer, and the map
says by how much; places stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from components.core.schema import FloatArray

__all__ = ["LEAST", "Ranges", "enlarged", "fill", "is_enlarged", "map_frames", "map_ranges"]

Ranges = list[tuple[float, float]]
"""From where to where each axis goes."""
LEAST = 0.7
"""What points span of the frame at least, each way, unless they lie on a line."""
_AIM = 0.72
_AIR, _MOST_AIR = 0.05, 0.19  # beside the points: of the longer side, and of each side at most
_LINE = 0.02  # of the longer side: what a frame has beside points that lie on a line


def map_ranges(places: FloatArray) -> Ranges:
    """What each axis shows: all points, and some air around them."""
    if not len(places):
        return [(-1.0, 1.0)] * places.shape[1]
    low, high = (edge.astype(float) for edge in (places.min(axis=0), places.max(axis=0)))
    spans = high - low
    longest = max(float(spans.max()), 1e-6)
    air = np.clip(_MOST_AIR * spans, _LINE * longest, _AIR * longest)
    return list(zip((low - air).tolist(), (high + air).tolist(), strict=True))


def map_frames(coordinates: FloatArray) -> list[Ranges]:
    """The frame of each layer of one map.

    Args:
        coordinates: (n_layers, n, 2), projected together.
    """
    whole = map_ranges(coordinates.reshape(-1, 2))
    return [_nearer(places, whole) for places in coordinates]


def fill(places: FloatArray, ranges: Ranges) -> tuple[float, float]:
    """The share of a frame's width and of its height that points span, in [0, 1]."""
    inside = [
        np.clip(places[:, i].astype(float), low, high) for i, (low, high) in enumerate(ranges[:2])
    ]
    width, height = (
        float(np.ptp(own) / (high - low)) if len(own) else 0.0
        for own, (low, high) in zip(inside, ranges[:2], strict=True)
    )
    return width, height


def enlarged(frames: Sequence[Ranges]) -> list[float]:
    """How many times larger each layer is drawn than in the frame that holds all; 1 or more."""
    areas = [float(np.prod([high - low for low, high in own])) for own in frames]
    return [float(np.sqrt(max(areas) / area)) for area in areas]


def is_enlarged(times: float) -> bool:
    """Whether a layer is drawn so much larger that it is to be said."""
    return round(times, 1) > 1


def _nearer(places: FloatArray, whole: Ranges) -> Ranges:
    """The common frame; one of its shape around the layer; or else one of the layer's own shape."""
    if not len(places) or min(fill(places, whole)) >= LEAST:
        return whole
    low, high = (edge.astype(float) for edge in (places.min(axis=0), places.max(axis=0)))
    size = np.array([end - start for start, end in whole])
    share = (high - low) / size
    scale = float(share.min()) / _AIM
    if not scale or float(share.max()) > scale / (1 + _AIR):
        return map_ranges(places)
    middle, half = (low + high) / 2, size * scale / 2
    return list(zip((middle - half).tolist(), (middle + half).tolist(), strict=True))
