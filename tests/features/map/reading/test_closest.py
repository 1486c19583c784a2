"""The closest points and the loneliest, told from the full space, and only where they are alone."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import NearestNeighbors

from components.features.map.reading.closest import count_identical
from components.features.map.reading.maps import map_reading
from components.maps.neighbors import Neighbors
from components.maps.points import Points


def nearest(vectors: np.ndarray, k: int | None = None, metric: str = "cosine") -> Neighbors:
    k = len(vectors) - 1 if k is None else k
    found = NearestNeighbors(n_neighbors=k, metric=metric, algorithm="brute").fit(vectors)
    distances, indices = found.kneighbors()
    return Neighbors(indices, np.maximum(distances, 0).astype(np.float32), metric)


def made(n: int) -> Points:
    return Points(
        unit="sentences",
        texts=tuple(f"text {i}" for i in range(n)),
        sentence=np.arange(n),
        spans=np.zeros((n, 2), np.int64),
        names=tuple(f"name{i}" for i in range(n)),
    )


def test_the_closest_and_the_loneliest_are_told_from_the_full_space() -> None:
    vectors = np.array([[1, 0], [0.99, 0.1], [0.6, 0.8], [-1, 0.1]], np.float32)
    said = map_reading(made(4), nearest(vectors))
    assert said[0].startswith(
        "In the full space, “name0” and “name1” are closest (cosine **0.99**); loneliest is "
        "“name3”, whose nearest is “name2” (cosine **"
    )
    pair = map_reading(made(2), nearest(vectors[:2]))
    assert "loneliest" not in pair[0]
    far = map_reading(made(4), nearest(vectors, metric="euclidean"))
    assert "(euclidean distance **0.10**)" in far[0]


def test_what_is_alone_in_the_digits_shown_is_called_the_closest_and_no_other() -> None:
    angles = np.radians([0, 10, 60, 70.01, 150])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    said = map_reading(made(5), nearest(vectors))[0]
    assert "“name0” and “name1” are among the closest (cosine **0.98**)" in said
    square = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.float32)
    said = map_reading(made(4), nearest(square, metric="euclidean"))[0]
    assert "are among the closest" in said
    assert "among the loneliest is" in said


def test_what_is_not_equal_does_not_read_so() -> None:
    near = np.array([[1, 0], [1, 0.01], [0, 1]], np.float32)
    assert "are closest (cosine over **0.99**)" in map_reading(made(3), nearest(near))[0]
    tiny = np.array([[0, 0], [0, 0.001], [0, 9]], np.float32)
    said = map_reading(made(3), nearest(tiny, metric="euclidean"))[0]
    assert "are closest (euclidean distance **0.001**)" in said


def test_a_closest_pair_behind_many_equal_ones_is_not_guessed() -> None:
    """Each list of four is full of equal vectors: the closest others may not be in any."""
    vectors = np.r_[np.tile([1, 0.0], (6, 1)), np.tile([0.9, 0.1], (6, 1)), [[0, 1]]]
    said = map_reading(made(13), nearest(vectors.astype(np.float32), 4))
    assert said[0] == "**12** sentences are at distance 0 from another one."
    assert said[1].startswith("In the full space, loneliest is “name12”")


def test_identical_vectors_are_counted_and_not_called_closest() -> None:
    vectors = np.array([[1, 0], [1, 0], [0.6, 0.8], [0, 1]], np.float32)
    found = nearest(vectors)
    assert count_identical(found) == 2
    said = map_reading(made(4), found)
    assert said[0] == "**2** sentences are at distance 0 from another one."
    assert "apart from such, “name2” and “name3” are closest (cosine **0.80**)" in said[1]
    every = map_reading(made(3), nearest(np.ones((3, 2), np.float32)))
    assert every == ["Each of the **3** sentences is at distance 0 from another one."]
