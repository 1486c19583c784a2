"""The names that stand on a map's clusters: few, large clusters first, none over another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from components.core.schema import FloatArray
from components.features.map.figures.axes import NAME_FONT
from components.figures.theme import plain
from components.maps.clusters import ClusterLabel

__all__ = ["MAX_LABELS", "cluster_notes"]

MAX_LABELS = 12
_WIDE = (900.0, 506.0)  # a 16:9 frame and a phone's, in pixels, in which labels must not touch
_NARROW = (350.0, 460.0)
_LETTER, _LINE, _AIR = 7.6, 17.0, 8.0  # pixels, at the size they are written in
_LONGEST_LINE = 18
_ABOVE = 16  # pixels above the middle of a cluster, which it should not hide

_STYLE: dict[str, Any] = {"showarrow": False, "font": NAME_FONT}


def cluster_notes(
    labels: Sequence[ClusterLabel],
    ranges: Sequence[tuple[float, float]],
    *,
    narrow: bool = False,
) -> list[dict[str, Any]]:
    """Annotations for at most `MAX_LABELS` clusters, the largest first.

    Args:
        labels: what to write, and where.
        ranges: what the map's two axes show.
        narrow: whether the map has a phone's width, where fewer names have room.
    """
    frame = _NARROW if narrow else _WIDE
    per_unit = min(size / (high - low) for size, (low, high) in zip(frame, ranges, strict=True))
    taken: list[FloatArray] = []
    notes: list[dict[str, Any]] = []
    for label in sorted(labels, key=lambda own: (-own.n_points, own.cluster)):
        lines = _lines(label.words)
        if not lines or len(notes) == MAX_LABELS:
            continue
        box = _box(label.place, lines, per_unit)
        if all(_apart(box, other) for other in taken):
            taken.append(box)
            where = {
                "x": label.place[0],
                "y": label.place[1],
                "yshift": _ABOVE,
                "xshift": _inwards(box, frame, ranges),
            }
            notes.append({**where, "text": "<br>".join(lines)})
    return [{**note, **_STYLE} for note in notes]


def _lines(words: Sequence[str]) -> list[str]:
    """The words in one line or more, short ones, safe for plotly."""
    lines: list[list[str]] = []
    for word in words:
        if lines and sum(len(own) + 3 for own in lines[-1]) + len(word) <= _LONGEST_LINE:
            lines[-1].append(word)
        else:
            lines.append([word])
    return [" · ".join(plain(word, _LONGEST_LINE) for word in line) for line in lines]


def _box(place: Sequence[float], lines: Sequence[str], per_unit: float) -> FloatArray:
    """Left, bottom, right and top of a label, in pixels."""
    half = np.array([max(map(len, lines)) * _LETTER + _AIR, len(lines) * _LINE + _AIR]) / 2
    middle = np.array(place[:2]) * per_unit
    return np.concatenate([middle - half, middle + half]).astype(np.float32)


def _inwards(
    box: FloatArray, frame: tuple[float, float], ranges: Sequence[tuple[float, float]]
) -> float:
    """By how many pixels a label must move so that its ends are in the frame."""
    per_unit = min(size / (high - low) for size, (low, high) in zip(frame, ranges, strict=True))
    middle = sum(ranges[0]) / 2 * per_unit
    left, right = middle - frame[0] / 2, middle + frame[0] / 2
    return round(float(max(0, left - box[0]) - max(0, box[2] - right)))


def _apart(one: FloatArray, other: FloatArray) -> bool:
    return bool((one[:2] > other[2:]).any() or (other[:2] > one[2:]).any())
