"""What is done for each of many distances, as machine code.

Importing this imports umap-learn and numba, which takes a while: import it inside functions only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from components.maps.compiled import machine_code

__all__ = [
    "keep_largest",
    "middle_ranks",
    "n_as_near",
    "nearest_columns",
    "squared_distances",
]

_CHUNK = 16  # looked through at once


@machine_code
def _insert(values: Any, columns: Any, value: Any, column: Any) -> Any:
    """Puts a value in its place among ascending ones, the smallest leaving; the new smallest."""
    at = 0
    while at + 1 < len(values) and values[at + 1] < value:
        values[at], columns[at] = values[at + 1], columns[at + 1]
        at += 1
    values[at], columns[at] = value, column
    return values[0]


@machine_code
def keep_largest(
    products: Any, halves: Any, begin: Any, values: Any, columns: Any, least: Any
) -> None:
    """Keeps the largest keys of points, by products of some with themselves and all later.

    A key is a product less half the other's squared length. Each product serves both its points.

    Args:
        products: (m, n - begin) float32, of points from `begin` on.
        halves: (n,) float32, half of each point's squared length.
        begin: the first point.
        values: (n, width) float32, each point's largest keys so far, ascending.
        columns: (n, width) int32, the points that they are about.
        least: (n,) float32, the first of each row of `values`.
    """
    m, n_columns = products.shape
    later = least[begin:]
    half = halves[begin:]
    for i in range(m):
        row, own_half, own = products[i], half[i], begin + i
        low = later[i]
        for at in range(0, n_columns, _CHUNK):
            end = min(at + _CHUNK, n_columns)
            over = np.float32(-1)
            for j in range(at, end):
                over = max(over, row[j] - min(low + half[j], later[j] + own_half))
            if over < np.float32(0):
                continue
            for j in range(at, end):
                key, back = row[j] - half[j], row[j] - own_half
                if key > low and j != i:
                    low = _insert(values[own], columns[own], key, begin + j)
                if j >= m and back > later[j]:
                    later[j] = _insert(values[begin + j], columns[begin + j], back, own)
        later[i] = low


@machine_code
def squared_distances(places: Any, some: Any, squares: Any) -> None:
    """Squared distances of some places from all, into `squares`.

    Args:
        places: (n_axes, n).
        some: (m,) which.
        squares: (m, n), overwritten.
    """
    for i in range(len(some)):
        row = squares[i]
        row[:] = 0
        for axis in range(len(places)):
            own = places[axis]
            here = own[some[i]]
            for j in range(len(row)):
                apart = own[j] - here
                row[j] += apart * apart


@machine_code
def nearest_columns(distances: Any, values: Any, columns: Any) -> None:
    """The columns of each row's smallest distances, into `columns`, those last that are nearest.

    Args:
        distances: (m, n).
        values: (m, k), overwritten.
        columns: (m, k) whole numbers.
    """
    n = distances.shape[1]
    values[:] = -np.inf
    for i in range(len(distances)):
        row = distances[i]
        low = values[i, 0]
        for at in range(0, n, _CHUNK):
            end = min(at + _CHUNK, n)
            smallest = row[at]
            for j in range(at, end):
                smallest = min(smallest, row[j])
            if -smallest <= low:
                continue
            for j in range(at, end):
                if -row[j] > low:
                    low = _insert(values[i], columns[i], -row[j], j)


@machine_code
def middle_ranks(distances: Any, chosen: Any, slack: Any, ranks: Any) -> None:
    """Twice the rank of each chosen column in its row, into `ranks`; equals share their middle one.

    Args:
        distances: (m, n).
        chosen: (m, k) columns.
        slack: (2,) by how much equals may differ: at all, and for each unit of distance.
        ranks: (m, k) int32, overwritten.
    """
    for i in range(len(distances)):
        row = distances[i]
        for place in range(chosen.shape[1]):
            here = row[chosen[i, place]]
            apart = slack[0] + slack[1] * abs(here)
            low, high = here - apart, here + apart
            count = np.int32(1)
            for j in range(len(row)):
                count += np.int32(row[j] < low) + np.int32(row[j] <= high)
            ranks[i, place] = count


@machine_code
def n_as_near(distances: Any, chosen: Any, slack: Any, counts: Any) -> None:
    """How many distances of each row are at most the largest of its chosen columns, or equal it.

    Args:
        distances: (m, n).
        chosen: (m, k) columns.
        slack: (2,) by how much equals may differ: at all, and for each unit of distance.
        counts: (m, 2) int32, overwritten: how many, and how many of these equal the largest.
    """
    for i in range(len(distances)):
        row = distances[i]
        largest = row[chosen[i, 0]]
        for place in range(1, chosen.shape[1]):
            largest = max(largest, row[chosen[i, place]])
        apart = slack[0] + slack[1] * abs(largest)
        low, high = largest - apart, largest + apart
        within = below = np.int32(0)
        for j in range(len(row)):
            within += np.int32(row[j] <= high)
            below += np.int32(row[j] < low)
        counts[i, 0], counts[i, 1] = within, within - below
