"""A map's table, arrays and snippet hold the numbers that are on the page."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from components.core import BUNDLED_ID, EncoderService
from components.corpus.corpus import Corpus
from components.features.map import compute
from components.features.map.compute import (
    MapShown,
    drawing_snippet,
    map_arrays,
    map_shapes,
    map_shown,
    map_table,
    vectors_snippet,
)
from components.ui.state.view import ViewState
from tests.support.maps import QUICK, drawn_map, map_view

TEXTS = ("I love my pet python", "I love coding in python", "The snake sleeps")


def shown_of(service: EncoderService, view: ViewState) -> MapShown:
    return map_shown(view, drawn_map(service, view))


@pytest.mark.parametrize("unit", ["words", "tokens", "sentences"])
def test_the_table_has_every_point_as_its_rows_tell_it(service: EncoderService, unit: str) -> None:
    shown = shown_of(service, map_view(*TEXTS, unit=unit, dims="3-D", layer=2, **QUICK))
    table = map_table(shown)
    expected = pd.DataFrame(shown.points.rows())
    pd.testing.assert_frame_equal(table[expected.columns], expected)
    assert table.columns.tolist() == [*expected.columns, "group", "x", "y", "z"]
    np.testing.assert_array_equal(table[["x", "y", "z"]].to_numpy(np.float32), shown.places)
    pd.testing.assert_frame_equal(map_table(shown, 2), table[:2])


@pytest.mark.slow
def test_the_table_names_groups_as_the_map_does(service: EncoderService) -> None:
    topics = ("My {} python ate a mouse", "This {} script is written in python")
    adjectives = ("old", "new", "long", "short", "slow", "fast", "odd", "good", "bad", "big")
    texts = [topic.format(f"{a} {b}") for topic in topics for a in adjectives for b in adjectives]
    corpus = Corpus("two topics", tuple(texts))
    view = map_view(source="file", unit="sentences", footing="one", **QUICK)
    shown = map_shown(view, drawn_map(service, view, corpus))
    labels = {own.cluster: " · ".join(own.words) for own in shown.finding.group_labels}
    assert any(labels.values())
    groups = map_table(shown)["group"].tolist()
    assert groups == [labels.get(group, "") for group in shown.finding.groups.tolist()]


def test_the_arrays_are_those_of_the_shown_layer_and_of_all(service: EncoderService) -> None:
    shown = shown_of(service, map_view(layer=2, **QUICK))
    picture, arrays = shown.picture, map_arrays(shown)
    np.testing.assert_array_equal(arrays["vectors"], picture.vectors[2])
    np.testing.assert_array_equal(arrays["coordinates"], picture.coordinates[2])
    np.testing.assert_array_equal(arrays["all_vectors"], picture.vectors)
    np.testing.assert_array_equal(arrays["all_coordinates"], picture.coordinates)
    np.testing.assert_array_equal(arrays["neighbor_indices"], picture.neighbors[2].indices)
    np.testing.assert_array_equal(arrays["neighbor_distances"], picture.neighbors[2].distances)
    assert arrays["layers"].tolist() == list(range(7))
    assert arrays["texts"].tolist() == list(picture.points.texts)
    assert arrays["names"].tolist() == list(picture.points.names)
    assert [row["shape"] for row in map_shapes(shown)] == [
        "(32, 384)", "(32, 2)", "(32, 15)", "(7, 32, 2)",
    ]  # fmt: skip


@pytest.mark.parametrize("layer", [0, 6])
def test_the_snippet_computes_the_vectors_of_the_first_sentences(
    service: EncoderService, layer: int
) -> None:
    shown = shown_of(service, map_view(*TEXTS, *TEXTS, layer=layer, **QUICK))
    names: dict = {}
    exec(vectors_snippet(shown, service.load(BUNDLED_ID)), names)
    n = len(names["names"])
    assert names["names"] == list(shown.points.names[:n])
    assert n == sum(shown.points.sentence < 3)
    np.testing.assert_allclose(names["vectors"], shown.vectors[:n], atol=2e-5)


def test_every_map_has_a_script_that_draws_it_again(service: EncoderService) -> None:
    """The usual one is of all layers: numpy, umap-learn or openTSNE come first, ours at the end."""
    for footing, exact in (("joint", "project_layers("), ("one", "main_axes(")):
        shown = shown_of(service, map_view(*TEXTS, footing=footing, **QUICK))
        code = drawing_snippet(shown, file="map.npz")
        assert "components." not in code.split("# Optional: ")[0].replace("n_components", "")
        assert exact in code


def test_a_long_text_at_many_points_is_cut_in_the_files(
    service: EncoderService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An array is as wide as its longest text: 50,000 texts, one of 20,000 characters, are 4 GB."""
    view = map_view("a short text", "snake " * 300, unit="sentences", layer=2, **QUICK)
    shown = shown_of(service, view)
    assert map_arrays(shown)["texts"].tolist() == list(shown.points.texts)
    monkeypatch.setattr(compute, "_MOST_CHARACTERS", 200)
    assert map_arrays(shown)["texts"].tolist() == ["a short text", ("snake " * 17)[:100]]
    assert map_table(shown)["sentence"].tolist() == ["a short text", ("snake " * 17)[:100]]
