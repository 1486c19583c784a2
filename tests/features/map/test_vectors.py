"""The script of the vectors, run as a reader would, beside the service's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contextlens.analysis.similarity import cosine_matrix
from contextlens.analysis.words import Pooling, word_vectors
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.errors import RequestError
from contextlens.core.schema import Encoding
from contextlens.core.words import split_words
from contextlens.features.map.vectors import (
    MapText,
    map_vectors_snippet,
    recipe_snippet,
    vectors_snippet,
)
from contextlens.maps.vectors import SENTENCE_POOLINGS, recipe_rows
from tests.support.maps import QUICK, map_view, shown_map
from tests.support.snippets import run, run_alone

TEXTS = (
    "The unbelievability of it",
    'She said "python" {x} <b> 🐍 na\u00efve',
    "a bank\nof clouds",
)


MODELS = [BUNDLED_ID, "folder:roberta", "folder:albert"]
"""One for each kind of tokenizer: pieces of words, pieces of bytes, pieces with their blanks."""


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
    assert_same(
        run_alone(code, tiny_root), [e.hidden[0, i] for e, rows in both for i in rows], names
    )


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
    assert_same(run_alone(code, tiny_root), expected, [e.text[a:b] for e, (a, b) in pairs])


def sentence_vector(encoding: Encoding, pooling: str) -> np.ndarray:
    hidden = encoding.hidden[0]
    if pooling == "own":
        return hidden[encoding.special_tokens_mask == 0].mean(axis=0)
    if pooling == "pooler":
        assert encoding.pooler_output is not None
        return encoding.pooler_output
    return {"mean": hidden.mean(axis=0), "cls": hidden[0], "max": hidden.max(axis=0)}[pooling]


@pytest.mark.parametrize(
    ("model", "pooling"),
    [*((BUNDLED_ID, pooling) for pooling in SENTENCE_POOLINGS), ("folder:roberta", "own")],
)
def test_sentences(tiny_service: EncoderService, tiny_root: Path, model: str, pooling: str) -> None:
    card = tiny_service.load(model)
    texts = [MapText(t) for t in TEXTS]
    code = map_vectors_snippet(card, texts, "sentences", 1, pooling=pooling)
    encodings = tiny_service.encode(model, TEXTS, layers=[1])
    assert_same(
        run_alone(code, tiny_root), [sentence_vector(e, pooling) for e in encodings], list(TEXTS)
    )


def test_the_models_own_recipe(service: EncoderService, tmp_path: Path) -> None:
    card = service.load(BUNDLED_ID)
    rows = recipe_rows(TEXTS, card, service, "recipe")
    vectors = [row.vectors[0, 0] for row, _ in rows]
    assert_same(run_alone(recipe_snippet(card, TEXTS), tmp_path), vectors, list(TEXTS))
    asked = run_alone(recipe_snippet(card, TEXTS, prompt="query: "), tmp_path)["vectors"].numpy()
    prompted = service.sentence_vectors(BUNDLED_ID, TEXTS, prompt="query: ")
    np.testing.assert_allclose(asked, [made.vector for made in prompted], atol=1e-5)


def test_what_cannot_be_asked_for_is_refused(service: EncoderService) -> None:
    card = service.load(BUNDLED_ID)
    with pytest.raises(RequestError, match="has 0 to 6"):
        map_vectors_snippet(card, [MapText("a")], "tokens", 7)
    with pytest.raises(RequestError, match="Words have no pooling 'cls'"):
        map_vectors_snippet(card, [MapText("a")], "words", 1, pooling="cls")
    with pytest.raises(RequestError, match="Sentences have no pooling 'last'"):
        map_vectors_snippet(card, [MapText("a")], "sentences", 1, pooling="last")


# Those of a map


FEW = ("I love my pet python", "I love coding in python", "The snake sleeps")


@pytest.mark.parametrize("layer", [0, 6])
def test_the_snippet_computes_the_vectors_of_the_first_sentences(
    service: EncoderService, layer: int
) -> None:
    shown = shown_map(service, map_view(*FEW, *FEW, layer=layer, **QUICK))
    names = run(vectors_snippet(shown, service.load(BUNDLED_ID)))
    n = len(names["names"])
    assert names["names"] == list(shown.points.names[:n])
    assert n == sum(shown.points.sentence < 3)
    np.testing.assert_allclose(names["vectors"], shown.vectors[:n], atol=2e-5)


@pytest.mark.parametrize("pooling", ["mean", "pooler"])
def test_the_script_of_a_fast_map_computes_fast(
    fast_service: EncoderService, tiny_root: Path, pooling: str
) -> None:
    card, texts = fast_service.load("folder:bert"), [MapText(t) for t in TEXTS]
    code = map_vectors_snippet(card, texts, "sentences", 3, pooling=pooling, precision="fast")
    found = run_alone(code, tiny_root)["vectors"].numpy()
    options = {"layers": [3], "precision": "fast"}
    encodings = fast_service.encode("folder:bert", TEXTS, **options)  # type: ignore[arg-type]
    vectors = np.stack([sentence_vector(encoding, pooling) for encoding in encodings])
    cosines = (found * vectors).sum(axis=1)
    cosines /= np.linalg.norm(found, axis=1) * np.linalg.norm(vectors, axis=1)
    assert cosines.min() > 0.9995
    assert found.dtype == np.float32
    assert "dtype=torch.bfloat16" in code


def test_the_recipe_of_a_fast_map_computes_fast(
    fast_service: EncoderService, tmp_path: Path
) -> None:
    card = fast_service.load(BUNDLED_ID)
    rows = recipe_rows(TEXTS, card, fast_service, "recipe", "fast")
    assert {made.passport.precision for _, made in rows} == {"fast"}
    found = run_alone(recipe_snippet(card, TEXTS, precision="fast"), tmp_path)["vectors"].numpy()
    vectors = np.stack([row.vectors[0, 0] for row, _ in rows])
    assert ((found * vectors).sum(axis=1) / np.linalg.norm(found, axis=1)).min() > 0.9995
    assert not np.allclose(found, vectors, atol=1e-7)
