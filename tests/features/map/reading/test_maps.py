"""A map in words: its labels, groups and title, on vectors whose story is known, or fails."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import NearestNeighbors

from components.features.map.reading.maps import label_agreement, map_reading, map_title
from components.features.map.reading.points import (
    map_neighbours_reading,
    pinned_reading,
    selection_reading,
)
from components.maps.agreement import agreement
from components.maps.honesty import Honesty
from components.maps.neighbors import Neighbors
from components.maps.points import Points
from tests.features.map.points import LABELS, made

RANDOM = np.random.default_rng(3)
RUDE = "*<b>x</b>* $y$ [z](http://a.b)"


HONESTY = Honesty(trustworthiness=0.9, continuity=0.9, recall=0.4, k=15, n_measured=60)


def nearest(vectors: np.ndarray, k: int | None = None, metric: str = "cosine") -> Neighbors:
    k = len(vectors) - 1 if k is None else k
    found = NearestNeighbors(n_neighbors=k, metric=metric, algorithm="brute").fit(vectors)
    distances, indices = found.kneighbors()
    return Neighbors(indices, np.maximum(distances, 0).astype(np.float32), metric)


def heaps(kinds: int, each: int, noise: float) -> np.ndarray:
    centres = np.repeat(np.eye(kinds, 16), each, axis=0)
    return (centres + RANDOM.normal(size=(kinds * each, 16)) * noise).astype(np.float32)


def test_labels_that_the_model_holds_apart_are_told_beside_chance() -> None:
    points, found = made(LABELS, 60), nearest(heaps(3, 20, 0.05), 15)
    said = map_reading(points, found, column="topic")
    assert said == [
        "In the full space, for **100%** of sentences the nearest one has the same “topic” (95% "
        "interval 93% to 100%, by chance 32%).",
        "For every label of 5 sentences or more it is **100%**.",
    ]
    title = map_title(points, column="topic", agreed=label_agreement(points, "topic", found))
    assert title == "topic: 100% of nearest sentences agree (chance 32%)"


def test_labels_that_mean_nothing_to_the_model_are_told_as_chance() -> None:
    points, found = made(LABELS, 60), nearest(RANDOM.normal(size=(60, 16)), 15)
    said = map_reading(points, found, column="topic")
    assert "it is not clear that the nearest one has the same “topic” more often than" in said[0]
    assert len(said) == 1  # which label is best would be chance as well
    title = map_title(points, column="topic", agreed=label_agreement(points, "topic", found))
    assert title == "topic: nearest sentences do not clearly agree beyond chance"


def test_labels_that_alternate_are_told_to_agree_less_than_by_chance() -> None:
    pairs = np.repeat(np.eye(16)[:15], 2, axis=0) + RANDOM.normal(size=(30, 16)) * 0.01
    said = map_reading(made(["a", "b"] * 15, 30), nearest(pairs), column="topic")
    assert "less often than by chance: for **0%** of sentences" in said[0]


def test_a_label_that_keeps_together_better_than_another_one_is_named() -> None:
    vectors = heaps(3, 60, 0.05)
    vectors[120:] = vectors[:60] + RANDOM.normal(size=(60, 16)) * 0.05
    labels = [label for label in LABELS for _ in range(3)]
    said = map_reading(made(labels, 180), nearest(vectors, 15), column="topic")
    assert said[1].startswith("“music” (**100%**, by chance 33%) keeps together better than “")
    few = map_reading(made(labels[::12], 15), nearest(vectors[::12], 14), column="topic")
    assert "better" not in " ".join(few)  # of five each, one may be ahead by accident


def test_neighbours_of_one_sentence_do_not_make_a_label_agree() -> None:
    """Words lie in heaps by sentence, sentences anywhere: labels by sentence mean nothing."""
    sentence = np.repeat(np.arange(20), 5)
    centres = RANDOM.normal(size=(20, 16))
    vectors = centres[sentence] + RANDOM.normal(size=(100, 16)) * 0.05
    labels = ["ab"[i % 2] for i in sentence]
    points = made(labels, 100, "words", sentence)
    said = map_reading(points, nearest(vectors, 30), column="topic")
    assert "the nearest one in another sentence" in said[0]
    assert "not clear" in said[0] or "less often" in said[0]
    short = map_reading(points, nearest(vectors, 4), column="topic")
    assert short[0].startswith("No label of “topic” stands at two words of different sentences")


def test_points_out_of_reach_are_said_not_to_count() -> None:
    sentence = np.r_[np.repeat(0, 8), np.arange(1, 13)]
    vectors = np.r_[np.eye(1, 16).repeat(8, 0), RANDOM.normal(size=(12, 16))]
    vectors += RANDOM.normal(size=vectors.shape) * 0.01
    points = made(["a", "b"] * 10, 20, "words", sentence)
    said = map_reading(points, nearest(vectors, 6), column="topic")
    assert "Counted are **12** of the 20 labelled words" in said[-1]


def test_labels_with_nothing_to_compare_say_so() -> None:
    found = nearest(RANDOM.normal(size=(4, 16)))
    assert "has a label" in map_reading(made([""] * 4, 4), found, column="topic")[0]
    assert "has a label" in map_reading(made(None, 4), found, column="topic")[0]
    assert label_agreement(made(None, 4), "topic", found) is None
    one = map_reading(made(["a", "a", "", "a"], 4), found, column="topic")[0]
    assert one == "All labelled sentences are “a”: there is nothing to part."
    assert "nothing to compare" in map_reading(made([*"abcd"], 4), found, column="topic")[0]


@pytest.mark.parametrize("n", [0, 1])
def test_nothing_to_compare_with_is_said(n: int) -> None:
    none = np.zeros((n, 0))
    empty = Neighbors(none.astype(np.int64), none.astype(np.float32), "cosine")
    for found in (None, empty):
        said = map_reading(made(None, n), found)
        assert said[0].endswith("too few to tell of neighbours.")
    assert map_title(made(None, n)).endswith(("it", "them"))


# Groups


def test_groups_that_the_full_space_has_too_are_told() -> None:
    clusters = np.repeat([2, 1, 0], 20)
    clusters[:5] = clusters[-1] = -1
    points, found = made(None, 60), nearest(heaps(3, 20, 0.05), 15)
    said = map_reading(points, found, clusters=clusters, cluster_names=("", "a · b", "c"))
    assert said[0] == (
        "On the map **3** groups stand out with **90%** of sentences; the largest, “a · b”, holds "
        "**33%**."
    )
    assert said[1].startswith("For **100%** of them the nearest one in the full space is in the")
    assert map_title(points, clusters=clusters) == "3 groups of sentences on the map"


def test_groups_that_are_only_drawn_are_told_for_what_they_are() -> None:
    points, found = made(None, 60), nearest(RANDOM.normal(size=(60, 16)), 15)
    said = map_reading(points, found, clusters=np.arange(60) % 3)
    assert "not clearly more than chance gives" in said[1]


def test_of_groups_of_one_size_none_is_called_the_largest_by_name() -> None:
    points, found = made(None, 60), nearest(RANDOM.normal(size=(60, 16)), 15)
    said = map_reading(points, found, clusters=np.arange(60) % 2, cluster_names=("a", "b"))
    assert said[0].endswith("; the largest holds **50%**.")


def test_one_group_and_none_are_told() -> None:
    points, found = made(None, 60), nearest(RANDOM.normal(size=(60, 16)), 15)
    none = map_reading(points, found, clusters=np.full(60, -1))
    assert none == ["On the map no groups stand out among the 60 sentences."]
    assert map_title(points, clusters=np.full(60, -1)) == "No groups on the map"
    one = map_reading(points, found, clusters=np.r_[np.zeros(30, int), np.full(30, -1)])
    assert one == ["On the map **1** group stands out with **50%** of sentences."]


# Titles


@settings(max_examples=60)
@given(
    st.text(min_size=1),
    st.integers(0, 60),
    st.booleans(),
    st.sampled_from(["labels", "groups", ""]),
)
def test_a_title_fits_and_says_something(name: str, n: int, honest: bool, what: str) -> None:
    labels = [name + "x" * (i % 2) for i in range(n)]
    points = replace(made(None, n, "words"), labels={name: tuple(labels)})
    indices = (np.arange(n)[:, None] + 1 + np.arange(min(n - 1, 3))) % n if n > 1 else None
    agreed = None
    if indices is not None:
        agreed = agreement(labels, points.sentence, indices, np.ones(indices.shape, np.float32))
    title = map_title(
        points,
        column=name if what == "labels" else None,
        agreed=agreed,
        clusters=np.arange(n) % 4 if what == "groups" else None,
        honesty=HONESTY if honest else None,
    )
    assert 0 < len(title) <= 80


def test_without_labels_and_groups_the_title_tells_how_true_the_map_is() -> None:
    assert map_title(made(None, 60), honesty=HONESTY) == (
        "40% of true neighbours are near on the map"
    )
    assert map_title(made(None, 60)) == "60 sentences"
    flat = map_title(made(None, 60), honesty=replace(HONESTY, is_flat=True))
    assert flat == "60 sentences, all equally far from each other"
    assert map_title(made(None, 1)) == "1 sentence: too few to judge it"


# What was typed


def test_what_a_user_typed_is_escaped_everywhere() -> None:
    points = Points(
        **{**vars(made(None, 6)), "names": (RUDE,) * 6, "labels": {RUDE: (RUDE, "b") * 3}}
    )
    found = nearest(RANDOM.normal(size=(6, 4)))
    said = [
        *map_reading(points, found, column=RUDE),
        *map_reading(points, found, clusters=np.zeros(6, int), cluster_names=(RUDE,)),
        *map_reading(points, found),
        *map_neighbours_reading(RUDE, [1, 2], [3, 4], points.names),
        pinned_reading(RUDE, RUDE, 0.5, layer=1),
        *selection_reading(points, [0, 2, 4], column=RUDE, typical=(RUDE,)),
    ]
    for sentence in said:
        assert "<b>" not in sentence
        assert "$y$" not in sentence
        assert sentence.count("“") == sentence.count("”")
