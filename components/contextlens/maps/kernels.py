"""The inner loops of neighbours and layouts, compiled by numba."""

from __future__ import annotations

from typing import Any

import numpy as np

from contextlens.maps.compiled import machine_code

__all__ = [
    "keep_largest",
    "middle_ranks",
    "move",
    "n_as_near",
    "nearest_columns",
    "squared_distances",
]


# --- Distances, as machine code

_CHUNK = 16  # values that are looked through at once


@machine_code
def _insert(values: Any, columns: Any, value: Any, column: Any) -> Any:
    """Insert a value into ascending ones, drop the smallest, and return the new smallest one."""
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
    """Update the largest keys of points from the products of some points with all later ones.

    A key is a product less half the other point's squared length. Each product serves both of its
    points.

    Args:
        products: (m, n - begin) float32, of m points from `begin` on with all from `begin` on.
        halves: (n,) float32, half of each point's squared length.
        begin: the first point.
        values: (n, width) float32, each point's largest keys so far, ascending.
        columns: (n, width) int32, the points that these keys belong to.
        least: (n,) float32, the first of each row of `values`.
    """
    m, n_columns = products.shape
    later = least[begin:]
    half = halves[begin:]
    for i in range(m):
        row, own_half, point = products[i], half[i], begin + i
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
                    low = _insert(values[point], columns[point], key, begin + j)
                if j >= m and back > later[j]:
                    later[j] = _insert(values[begin + j], columns[begin + j], back, point)
        later[i] = low


@machine_code
def squared_distances(places: Any, some: Any, squares: Any) -> None:
    """Write the squared distances of some places from all others to `squares`.

    Args:
        places: (n_axes, n).
        some: (m,) the indices of these places.
        squares: (m, n), overwritten.
    """
    for i in range(len(some)):
        row = squares[i]
        row[:] = 0
        for axis in range(len(places)):
            values = places[axis]
            value = values[some[i]]
            for j in range(len(row)):
                apart = values[j] - value
                row[j] += apart * apart


@machine_code
def nearest_columns(distances: Any, values: Any, columns: Any) -> None:
    """Write the columns of each row's smallest distances to `columns`, the nearest ones last.

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
    """Write twice the rank of each chosen column to `ranks`; equal distances share their mean rank.

    Args:
        distances: (m, n).
        chosen: (m, k) columns.
        slack: (2,) the differences up to which distances are equal: absolute, and per unit of
            distance.
        ranks: (m, k) int32, overwritten.
    """
    for i in range(len(distances)):
        row = distances[i]
        for place in range(chosen.shape[1]):
            distance = row[chosen[i, place]]
            apart = slack[0] + slack[1] * abs(distance)
            low, high = distance - apart, distance + apart
            count = np.int32(1)
            for j in range(len(row)):
                count += np.int32(row[j] < low) + np.int32(row[j] <= high)
            ranks[i, place] = count


@machine_code
def n_as_near(distances: Any, chosen: Any, slack: Any, counts: Any) -> None:
    """Count the distances of each row that are at most the largest of its chosen ones.

    Args:
        distances: (m, n).
        chosen: (m, k) columns.
        slack: (2,) the differences up to which distances are equal: absolute, and per unit of
            distance.
        counts: (m, 2) int32, overwritten: these distances, and those of them that equal the
            largest.
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


# --- One round of UMAP's layout, as machine code

_f4, _i4, _u4, _u8 = np.float32, np.int32, np.uint32, np.uint64
_TINY = _f4(1e-6)  # smaller squared distances count as this


@machine_code
def _log2(value: Any) -> Any:
    """Return the logarithm of a positive normal float32, to about four digits."""
    bits = _f4(value).view(_i4)
    exponent = _f4((bits >> _i4(23)) - _i4(127))
    m = _i4((bits & _i4(0x7FFFFF)) | _i4(0x3F800000)).view(_f4) - _f4(1)
    p = _f4(0.0434289) * m + _f4(-0.1898324)
    p = p * m + _f4(0.4048717)
    p = p * m + _f4(-0.7018146)
    p = p * m + _f4(1.4424915)
    return exponent + p * m


@machine_code
def _exp2(value: Any) -> Any:
    """Return two to the power of a float32 (clipped to -126 to 126), to about four digits."""
    raised = min(max(value, _f4(-126)), _f4(126)) + _f4(127)
    whole = _i4(raised)
    m = raised - _f4(whole)
    p = _f4(0.0136703) * m + _f4(0.051745)
    p = p * m + _f4(0.2416213)
    p = p * m + _f4(0.6929696)
    p = p * m + _f4(1)
    return _i4(whole << _i4(23)).view(_f4) * p


@machine_code
def _first_of_run(point: Any, seed: Any, n: Any) -> Any:
    """Return a number from 0 to n - 1, drawn by point and seed (the finalizer of MurmurHash3)."""
    h = _u4(_u4(point) * _u4(0x9E3779B9) + _u4(seed))
    h = _u4((h ^ (h >> _u4(16))) * _u4(0x85EBCA6B))
    h = _u4((h ^ (h >> _u4(13))) * _u4(0xC2B2AE35))
    h = _u4(h ^ (h >> _u4(16)))
    return np.int64((_u8(h) * _u8(n)) >> _u8(32))


@machine_code
def _pull(now: Any, i: Any, ends: Any, weights: Any, first: Any, last: Any, a: Any, b: Any) -> Any:
    """Return the pull of a point's links: their total stiffness, and the force on each axis."""
    xs, ys, zs = now[0], now[1], now[2]
    x, y, z = xs[i], ys[i], zs[i]
    stiffness = fx = fy = fz = _f4(0)
    for e in range(first, last):
        end = ends[e]
        dx, dy, dz = xs[end] - x, ys[end] - y, zs[end] - z
        square = max(dx * dx + dy * dy + dz * dz, _TINY)
        power = _exp2(b * _log2(square))
        w = weights[e] * power / (square * (_f4(1) + a * power))
        stiffness += w
        fx += w * dx
        fy += w * dy
        fz += w * dz
    both = _f4(4) * a * b  # 2 a b, doubled as each link pulls at both of its ends
    return both * stiffness, both * fx, both * fy, both * fz


@machine_code
def _push(now: Any, i: Any, first: Any, last: Any, a: Any, b: Any) -> Any:
    """Return the force on each axis with which a run of points pushes a point."""
    xs, ys, zs = now[0], now[1], now[2]
    x, y, z = xs[i], ys[i], zs[i]
    fx = fy = fz = _f4(0)
    low, high = _f4(-4), _f4(4)
    for other in range(first, last):
        dx, dy, dz = x - xs[other], y - ys[other], z - zs[other]
        square = max(dx * dx + dy * dy + dz * dz, _TINY)
        power = _exp2(b * _log2(square))
        w = _f4(2) * b / ((_f4(0.001) + square) * (_f4(1) + a * power))
        fx += min(max(w * dx, low), high)
        fy += min(max(w * dy, low), high)
        fz += min(max(w * dz, low), high)
    return fx, fy, fz


@machine_code
def move(
    now: Any,
    then: Any,
    starts: Any,
    ends: Any,
    weights: Any,
    pushed: Any,
    n: Any,
    run: Any,
    seed: Any,
    speed: Any,
    momentum: Any,
    a: Any,
    b: Any,
    points: Any,
) -> None:
    """Move some points by one round, reading all points where they were before it.

    Args:
        now: (3, n + run) float32 places; the first `run` points are repeated after the last.
        then: like `now`: the places one round earlier, overwritten with the new places.
        starts, ends, weights: the links of each point, as the arrays of a CSR matrix.
        pushed: (n,) float32, how strongly each point of a run pushes a point.
        n: the number of points.
        run: the number of consecutive points that push each point.
        seed: decides where the runs begin.
        speed: how far a force moves a point, in (0, 1].
        momentum: the share of the last round's step that is repeated, in [0, 1).
        a, b: the parameters of UMAP's curve 1 / (1 + a d^2b).
        points: the first point to move, and the one after the last.
    """
    for i in range(points[0], points[1]):
        stiffness, fx, fy, fz = _pull(now, i, ends, weights, starts[i], starts[i + 1], a, b)
        first = _first_of_run(i, seed, n)
        px, py, pz = _push(now, i, first, first + run, a, b)
        stiff = speed * stiffness
        step = speed
        if stiff > _f4(1e-3):  # as far as springs of this stiffness relax in this time
            step = (_f4(1) - _exp2(_f4(-1.442695) * stiff)) / stiffness
        x, y, z = now[0, i], now[1, i], now[2, i]
        then[0, i] = x + momentum * (x - then[0, i]) + step * (fx + pushed[i] * px)
        then[1, i] = y + momentum * (y - then[1, i]) + step * (fy + pushed[i] * py)
        then[2, i] = z + momentum * (z - then[2, i]) + step * (fz + pushed[i] * pz)
