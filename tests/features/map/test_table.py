"""The numbers of a map as tables and arrays, and the scripts that draw it from these files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.spatial import procrustes

from contextlens.core import EncoderService
from contextlens.corpus.corpus import Corpus
from contextlens.features.map import table
from contextlens.features.map.display import map_display
from contextlens.features.map.table import (
    PICTURE,
    map_arrays,
    map_shapes,
    map_table,
    redraw_snippet,
)
from contextlens.ui.widgets.export import to_npz
from tests.support.maps import QUICK, TEXTS, drawn_map, map_view, shown_map
from tests.support.snippets import drawn, run_alone

FEW = ("I love my pet python", "I love coding in python", "The snake sleeps")


@pytest.mark.parametrize("unit", ["words", "tokens", "sentences"])
def test_the_table_has_every_point_as_its_rows_tell_it(service: EncoderService, unit: str) -> None:
    shown = shown_map(service, map_view(*FEW, unit=unit, dims="3-D", layer=2, **QUICK))
    table = map_table(shown)
    expected = pd.DataFrame(shown.points.rows())
    pd.testing.assert_frame_equal(table[expected.columns], expected)
    assert table.columns.tolist() == [*expected.columns, "group", "x", "y", "z"]
    np.testing.assert_array_equal(table[["x", "y", "z"]].to_numpy(np.float32), shown.positions)
    pd.testing.assert_frame_equal(map_table(shown, 2), table[:2])


def test_the_table_names_groups_as_the_map_does(service: EncoderService) -> None:
    topics = ("My {} python ate a mouse", "This {} script is written in python")
    adjectives = ("old", "new", "long", "short", "slow", "fast", "odd", "good", "bad", "big")
    texts = [topic.format(f"{a} {b}") for topic in topics for a in adjectives for b in adjectives]
    corpus = Corpus("two topics", tuple(texts))
    view = map_view(source="file", unit="sentences", **QUICK)
    shown = shown_map(service, view, corpus)
    labels = {own.cluster: " · ".join(own.words) for own in shown.finding.group_labels}
    assert any(labels.values())
    groups = map_table(shown)["group"].tolist()
    assert groups == [labels.get(group, "") for group in shown.finding.groups.numbers.tolist()]


def test_the_arrays_are_those_of_the_shown_layer_and_of_all(service: EncoderService) -> None:
    shown = shown_map(service, map_view(layer=2, **QUICK))
    picture, arrays = shown.result, map_arrays(shown)
    np.testing.assert_array_equal(arrays["vectors"], picture.vectors[2])
    np.testing.assert_array_equal(arrays["coordinates"], picture.map.coordinates[2])
    np.testing.assert_array_equal(arrays["all_vectors"], picture.vectors)
    np.testing.assert_array_equal(arrays["all_coordinates"], picture.map.coordinates)
    np.testing.assert_array_equal(arrays["neighbor_indices"], picture.map.neighbors[2].indices)
    np.testing.assert_array_equal(arrays["neighbor_distances"], picture.map.neighbors[2].distances)
    assert arrays["layers"].tolist() == list(range(7))
    assert arrays["texts"].tolist() == list(picture.points.texts)
    assert arrays["names"].tolist() == list(picture.points.names)
    assert [row["shape"] for row in map_shapes(shown)] == [
        "(32, 384)", "(32, 2)", "(32, 15)", "(7, 32, 2)",
    ]  # fmt: skip


def test_a_long_text_at_many_points_is_cut_in_the_files(
    service: EncoderService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An array is as wide as its longest text: 50,000 texts, one of 20,000 characters, are 4 GB."""
    view = map_view("a short text", "snake " * 300, unit="sentences", layer=2, **QUICK)
    shown = shown_map(service, view)
    assert map_arrays(shown)["texts"].tolist() == list(shown.points.texts)
    monkeypatch.setattr(table, "MAX_FILE_CHARACTERS", 200)
    for name in ("texts", "names"):
        assert map_arrays(shown)[name].tolist() == ["a short text", ("snake " * 17)[:100]]
    assert map_table(shown)["sentence"].tolist() == ["a short text", ("snake " * 17)[:100]]


# A similar map


CASES: dict[str, dict[str, Any]] = {
    "all layers": {"neighbors": 10},
    "all layers, PCA": {"method": "pca"},
    "all layers, t-SNE": {"method": "tsne", "neighbors": 40, "metric": "euclidean"},
    "all layers, PCA in 3-D": {"method": "pca", "metric": "euclidean", "dims": "3-D"},
    "one layer": {"at_most": "50000", "layer": 3, "neighbors": 200, "effort": "full"},
    "one layer, t-SNE": {"at_most": "50000", "method": "tsne", "neighbors": 5},
    "few points": {"only": "python"},
    "one point": {"only": "coding"},
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_library_alone_draws_a_similar_map_from_the_download(
    service: EncoderService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    view = map_view(*TEXTS, **CASES[name])
    picture = drawn_map(service, view)
    arrays = map_arrays(map_display(view, picture))
    (tmp_path / "map.npz").write_bytes(to_npz(arrays, picture.passport))
    monkeypatch.chdir(tmp_path)
    trace = drawn(PICTURE, {"numpy": np}).data[0]
    np.testing.assert_array_equal(np.stack([trace.x, trace.y], 1), arrays["coordinates"][:, :2])
    code = redraw_snippet(picture, file=str(tmp_path / "map.npz"))
    found = run_alone(code, tmp_path)
    page, places = found["page"], found["places"]
    assert places.shape == page.shape
    assert np.isfinite(places).all()
    assert ("similar map, not the same points" in code) == (picture.map.method != "pca")
    assert ("own optimiser" in code) == (picture.map.method == "umap")
    if picture.map.method == "pca" and picture.points.n_points > 2:
        assert max(procrustes(*pair)[2] for pair in zip(page, places, strict=True)) < 1e-6
    measured = [quality.trustworthiness for quality in picture.map.quality if quality]
    if measured:
        theirs, ours = np.array(found["trusted"])
        # Layer 0 has equal vectors, whose order scikit-learn and the page take differently.
        assert theirs[-1] == pytest.approx(measured[-1], abs=1e-6)
        assert (ours > theirs - 0.1).all()
    else:
        assert "trusted" not in found


def test_a_map_that_was_measured_on_a_sample_is_not_measured_by_the_script(
    service: EncoderService,
) -> None:
    """scikit-learn would need the square of the number of points in memory."""
    picture = drawn_map(service, map_view(*TEXTS, method="pca"))
    assert "trustworthiness" in redraw_snippet(picture)
    quality = [replace(own, n_measured=9) for own in picture.map.quality if own is not None]
    sampled = replace(picture, map=replace(picture.map, quality=tuple(quality)))
    assert "trustworthiness" not in redraw_snippet(sampled)
