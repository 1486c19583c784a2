"""The snippets, run as a reader would: vectors as the service has them, and a similar map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial import procrustes

from contextlens.analysis.similarity import cosine_matrix
from contextlens.analysis.words import Pooling, word_vectors
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.errors import RequestError
from contextlens.core.schema import Encoding
from contextlens.core.words import split_words
from contextlens.features.map.compute import map_arrays, map_display
from contextlens.features.map.snippet import (
    PICTURE,
    SENTENCE_POOLINGS,
    MapText,
    map_vectors_snippet,
    recipe_snippet,
    redraw_snippet,
)
from contextlens.maps.vectors import recipe_rows
from contextlens.ui.widgets.export import to_npz
from tests.support.maps import TEXTS as FOUR_TEXTS
from tests.support.maps import drawn_map, map_view
from tests.support.pages import app_settings
from tests.support.snippets import drawn

TEXTS = (
    "The unbelievability of it",
    'She said "python" {x} <b> 🐍 na\u00efve',
    "a bank\nof clouds",
)
MODELS = [BUNDLED_ID, "folder:roberta", "folder:albert"]
"""One for each kind of tokenizer: pieces of words, pieces of bytes, pieces with their blanks."""


# The vectors


def run(code: str, root: Path) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": "snippet"}
    assert "contextlens" not in code
    exec(compile(code.replace("path/to/", f"{root}/"), "snippet.py", "exec"), namespace)
    return namespace


def words_in(encoding: Encoding) -> tuple[tuple[int, int], ...]:
    found = []
    for span in split_words(encoding.text):
        try:
            word_vectors(encoding, span)
        except RequestError:  # the tokenizer drops it
            continue
        found.append(span)
    return tuple(found)


def assert_same(found: dict[str, Any], expected: Sequence[np.ndarray], names: list[str]) -> None:
    vectors = np.stack(expected)
    np.testing.assert_allclose(found["vectors"].numpy(), vectors, atol=2e-5)
    assert float(found["cosine"]) == pytest.approx(cosine_matrix(vectors)[0, 1], abs=1e-5)
    assert found["names"] == names


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "added"), [*((model, True) for model in MODELS), (BUNDLED_ID, False)]
)
def test_tokens(tiny_service: EncoderService, tiny_root: Path, model: str, added: bool) -> None:
    card, layer = tiny_service.load(model), 2
    code = map_vectors_snippet(card, [MapText(t) for t in TEXTS], "tokens", layer, added=added)
    encodings = tiny_service.encode(model, TEXTS, layers=[layer])
    kept = [np.flatnonzero(e.special_tokens_mask <= int(added)) for e in encodings]
    both = list(zip(encodings, kept, strict=True))
    names = [e.tokens[i] for e, rows in both for i in rows]
    assert_same(run(code, tiny_root), [e.hidden[0, i] for e, rows in both for i in rows], names)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "pooling"),
    [*((model, "mean") for model in MODELS), (BUNDLED_ID, "first"), (BUNDLED_ID, "last")],
)
def test_words(tiny_service: EncoderService, tiny_root: Path, model: str, pooling: Pooling) -> None:
    encodings = tiny_service.encode(model, TEXTS, layers=[3])
    texts = [MapText(e.text, words_in(e)) for e in encodings]
    code = map_vectors_snippet(tiny_service.load(model), texts, "words", 3, pooling=pooling)
    pairs = [(e, span) for e, text in zip(encodings, texts, strict=True) for span in text.words]
    expected = [word_vectors(e, span, pooling)[0] for e, span in pairs]
    assert_same(run(code, tiny_root), expected, [e.text[a:b] for e, (a, b) in pairs])


def sentence_vector(encoding: Encoding, pooling: str) -> np.ndarray:
    hidden = encoding.hidden[0]
    if pooling == "own":
        return hidden[encoding.special_tokens_mask == 0].mean(axis=0)
    if pooling == "pooler":
        assert encoding.pooler_output is not None
        return encoding.pooler_output
    return {"mean": hidden.mean(axis=0), "cls": hidden[0], "max": hidden.max(axis=0)}[pooling]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "pooling"),
    [*((BUNDLED_ID, pooling) for pooling in SENTENCE_POOLINGS), ("folder:roberta", "own")],
)
def test_sentences(tiny_service: EncoderService, tiny_root: Path, model: str, pooling: str) -> None:
    card = tiny_service.load(model)
    texts = [MapText(t) for t in TEXTS]
    code = map_vectors_snippet(card, texts, "sentences", 1, pooling=pooling)
    encodings = tiny_service.encode(model, TEXTS, layers=[1])
    assert_same(run(code, tiny_root), [sentence_vector(e, pooling) for e in encodings], list(TEXTS))


@pytest.mark.slow
def test_the_models_own_recipe(service: EncoderService, tmp_path: Path) -> None:
    card = service.load(BUNDLED_ID)
    rows = recipe_rows(TEXTS, card, service, "recipe")
    vectors = [row.vectors[0, 0] for row, _ in rows]
    assert_same(run(recipe_snippet(card, TEXTS), tmp_path), vectors, list(TEXTS))
    asked = run(recipe_snippet(card, TEXTS, prompt="query: "), tmp_path)["vectors"].numpy()
    prompted = service.sentence_vectors(BUNDLED_ID, TEXTS, prompt="query: ")
    np.testing.assert_allclose(asked, [made.vector for made in prompted], atol=1e-5)


@pytest.mark.slow
def test_the_pair_asked_for_is_compared(service: EncoderService, tmp_path: Path) -> None:
    texts = [MapText(t) for t in TEXTS]
    code = map_vectors_snippet(service.load(BUNDLED_ID), texts, "sentences", 6, pair=(2, 1))
    vectors = np.stack(
        [e.hidden[0].mean(axis=0) for e in service.encode(BUNDLED_ID, TEXTS, layers=[6])]
    )
    assert float(run(code, tmp_path)["cosine"]) == pytest.approx(
        cosine_matrix(vectors)[2, 1], abs=1e-5
    )


def test_what_cannot_be_asked_for_is_refused(service: EncoderService) -> None:
    card = service.load(BUNDLED_ID)
    with pytest.raises(RequestError, match="has 0 to 6"):
        map_vectors_snippet(card, [MapText("a")], "tokens", 7)
    with pytest.raises(RequestError, match="Words have no pooling 'cls'"):
        map_vectors_snippet(card, [MapText("a")], "words", 1, pooling="cls")
    with pytest.raises(RequestError, match="Sentences have no pooling 'last'"):
        map_vectors_snippet(card, [MapText("a")], "sentences", 1, pooling="last")


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
    view = map_view(*FOUR_TEXTS, **CASES[name])
    with app_settings(ALLOW_DOWNLOADS="0"):
        picture = drawn_map(service, view)
        arrays = map_arrays(map_display(view, picture))
    (tmp_path / "map.npz").write_bytes(to_npz(arrays, picture.passport))
    monkeypatch.chdir(tmp_path)
    trace = drawn(PICTURE, {"numpy": np}).data[0]
    np.testing.assert_array_equal(np.stack([trace.x, trace.y], 1), arrays["coordinates"][:, :2])
    code = redraw_snippet(picture, file=str(tmp_path / "map.npz"))
    found = run(code, tmp_path)
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
    with app_settings(ALLOW_DOWNLOADS="0"):
        picture = drawn_map(service, map_view(*FOUR_TEXTS, method="pca"))
    assert "trustworthiness" in redraw_snippet(picture)
    quality = [replace(own, n_measured=9) for own in picture.map.quality if own is not None]
    sampled = replace(picture, map=replace(picture.map, quality=tuple(quality)))
    assert "trustworthiness" not in redraw_snippet(sampled)
