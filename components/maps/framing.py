"""Maps of several layers put into one frame: each around its own middle, all turned alike.

What layers have in common does not tell them apart, but a fit may still draw one layer beside
another. To move a layer as a whole keeps every distance within it, and one turn for all layers
keeps those between them. No layer is made larger or smaller than another.
"""

from __future__ import annotations

import numpy as np

from components.core.schema import FloatArray

__all__ = ["framed"]

_ENOUGH = 0.75
"""The share of a common frame that the points of each layer should span, each way."""
_WIDE = 1.4
"""Width by height of a frame that suits a page."""


def framed(coordinates: FloatArray) -> FloatArray:
    """(n_layers, n, n_components) float32, each layer less its mean; in 2-D all turned alike.

    The turn is the one at which the layer that spans least of the frame that holds all layers
    spans most of it; where every layer spans enough, the one whose frame suits a page best.
    """
    middles = coordinates.mean(axis=1, keepdims=True, dtype=np.float64)
    centred = coordinates.astype(np.float64) - middles
    if coordinates.shape[2] == 2 and coordinates.shape[1] > 1:
        centred = centred @ _best_turn(centred)
    places: FloatArray = centred.astype(np.float32)
    return places


def _best_turn(centred: FloatArray) -> FloatArray:
    """(2, 2) the rotation to multiply places with, wider than high."""
    turns = [_turn(np.deg2rad(degrees)) for degrees in range(90)]
    best = max(turns, key=lambda turn: _suits(centred @ turn))
    width, height = _whole(centred @ best)
    return best if width >= height else best @ _turn(np.pi / 2)


def _turn(angle: float) -> FloatArray:
    cos, sin = np.cos(angle), np.sin(angle)
    return np.array([[cos, sin], [-sin, cos]])


def _suits(places: FloatArray) -> tuple[float, float]:
    """How well layers share a frame, and how near its shape is to that of a page."""
    whole = np.maximum(_whole(places), 1e-12)
    least = float(((places.max(axis=1) - places.min(axis=1)) / whole).min())
    shape = abs(float(np.log(whole[0] / whole[1])))
    return min(least, _ENOUGH), -abs(shape - float(np.log(_WIDE)))


def _whole(places: FloatArray) -> FloatArray:
    """(2,) width and height of the frame that holds all layers."""
    whole: FloatArray = places.max(axis=(0, 1)) - places.min(axis=(0, 1))
    return whole
