"""Points fill the frame, at every layer, whatever was mapped and however."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from components.core import EncoderService
from components.corpus.bundled import ambiguous_corpus
from components.corpus.corpus import Corpus
from components.features.map.compute import map_shown
from components.features.map.figures import (
    LEAST,
    Ranges,
    enlarged,
    fill,
    map_frames,
    map_ranges,
)
from components.maps.layer_maps import framed
from components.ui.state.view import DEFAULT
from tests.support.maps import drawn_map, map_view
from tests.support.pages import app_settings

TEXTS = (
    "I love my pet python",
    "My python sleeps, unbelievably",
    "I love coding in python quickly",
    "The snake sleeps",
)
FEW = {"only": "python, the, a, river, bank, of"}
CASES: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "the page's own": ((), {}),
    "aligned": ((), {"footing": "aligned"}),
    "PCA": ((), {"method": "pca"}),
    "t-SNE": ((), {"method": "tsne"}),
    "bank": ((), {"word": "bank"}),
    "bank, PCA": ((), {"word": "bank", "method": "pca"}),
    "all words, PCA": ((), {"word": "all", "method": "pca"}),
    "Euclidean": ((), {"metric": "euclidean"}),
    "tokens": ((), {"unit": "tokens", **FEW}),
    "tokens, PCA": ((), {"unit": "tokens", "method": "pca", **FEW}),
    "sentences": ((), {"unit": "sentences"}),
    "sentences, PCA": ((), {"unit": "sentences", "method": "pca"}),
    "own words": (TEXTS, {}),
    "own tokens, t-SNE": (TEXTS, {"unit": "tokens", "method": "tsne", "neighbors": 5}),
    "own sentences": (TEXTS, {"unit": "sentences"}),
    "one layer": ((), {"footing": "one"}),
    "one layer, PCA": ((), {"footing": "one", "method": "pca"}),
    "one layer of sentences": ((), {"footing": "one", "unit": "sentences"}),
}


@pytest.fixture(scope="module", autouse=True)
def _app() -> Iterator[None]:
    with app_settings(ALLOW_DOWNLOADS="0"):
        yield


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_points_fill_the_frame_each_way_at_every_layer(service: EncoderService, name: str) -> None:
    texts, controls = CASES[name]
    has_few = texts or ("unit" not in controls and controls.get("word") != "all")
    corpus = None if has_few else every_sixth(ambiguous_corpus())
    picture = drawn_map(service, map_view(*texts, **controls), corpus)
    frames = map_shown(DEFAULT, picture).frames
    assert len(frames) == len(picture.layers)
    for places, frame in zip(picture.coordinates, frames, strict=True):
        assert min(fill(places, frame)) >= LEAST
        assert_holds(frame, places)


def every_sixth(corpus: Corpus) -> Corpus:
    assert corpus.spans is not None
    labels = {title: own[::6] for title, own in corpus.labels.items()}
    return Corpus(corpus.name, corpus.texts[::6], labels, corpus.spans[::6])


@pytest.mark.parametrize("n_layers", [1, 2, 13, 25])
def test_layers_of_any_shapes_fill_it(n_layers: int) -> None:
    """Sizes and shapes that differ tenfold, lying any way."""
    random = np.random.default_rng(n_layers)
    places = random.normal(size=(n_layers, 60, 2)) * random.uniform(0.3, 3, (n_layers, 1, 2))
    turned = places @ np.linalg.qr(random.normal(size=(n_layers, 2, 2)))[0]
    own = framed(turned)
    for layer, frame in zip(own, map_frames(own), strict=True):
        assert min(fill(layer, frame)) >= LEAST
        assert_holds(frame, layer)


def assert_holds(frame: Ranges, places: np.ndarray) -> None:
    """No point is outside of it, nor on its edge."""
    low, high = np.array(frame).T
    assert (places > low).all()
    assert (places < high).all()


def test_one_frame_holds_all_layers_that_fill_it() -> None:
    random = np.random.default_rng(0)
    places = framed(random.uniform(-1, 1, size=(4, 200, 2)))
    frames = map_frames(places)
    assert frames == [map_ranges(places.reshape(-1, 2))] * 4
    assert enlarged(frames) == [1.0] * 4


def test_a_layer_that_fills_little_is_enlarged_no_more_than_it_takes() -> None:
    square = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)], float)
    first, second = map_frames(np.stack([square, 0.5 * square]))
    assert first == map_ranges(square)
    assert fill(0.5 * square, second) == pytest.approx((0.72, 0.72))
    large, small = enlarged([first, second])
    width = (first[0][1] - first[0][0]) / (second[0][1] - second[0][0])
    assert (large, small) == pytest.approx((1, width))


def test_how_much_is_filled_is_measured_within_the_frame() -> None:
    places = np.array([(0, 0), (2, 1), (10, 10)], float)
    assert fill(places, [(0.0, 4.0), (0.0, 10.0)]) == pytest.approx((1.0, 1.0))
    assert fill(places[:2], [(0.0, 4.0), (0.0, 10.0)]) == pytest.approx((0.5, 0.1))
    assert fill(places[:0], [(0.0, 4.0), (0.0, 10.0)]) == (0.0, 0.0)


def test_no_points_equal_points_and_points_on_a_line_have_a_frame() -> None:
    line = np.stack([np.arange(5), np.zeros(5)], axis=1)
    for places in (np.zeros((0, 2)), np.ones((4, 2)), line):
        for low, high in (*map_ranges(places), *map_frames(places[None])[0]):
            assert low < high
