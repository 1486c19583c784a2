"""Whole texts compared by the model's own recipe, against sentence-transformers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense, Normalize
from sentence_transformers.sentence_transformer.modules import Pooling

from components.core import BUNDLED_ID, EncoderService
from components.features.pairs.compute import compare, pooling_of
from components.features.pairs.files import WHOLE, PairSet, pair_set
from components.features.pairs.snippet import recipe_snippet
from components.ui.state.view import DEFAULT
from tests.support.recipes import Open, with_recipe
from tests.support.tiny_models import N_DIMS

LONG = "The ferry leaves at nine and comes back at ten, if the wind allows it. " * 40
PAIRS = [
    ("This is an example sentence", "Each sentence is converted"),
    ("I love my pet python", LONG),
    (LONG, "A snake ate, and the " + LONG),
    ("", "The bank is closed"),
    ("Same words", "Same words"),
]


def made(pairs: Sequence[tuple[str, str]], span: tuple[int, int] = WHOLE) -> PairSet:
    n = len(pairs)
    return pair_set(
        "mine", list(pairs), spans=[(span, span)] * n, rows=list(range(1, n + 1)),
        gold=[-1] * n, split=None,
    )  # fmt: skip


def cosines_of(library: SentenceTransformer, prompt: str | None = None) -> np.ndarray:
    first, second = (library.encode(list(side), prompt=prompt) for side in zip(*PAIRS, strict=True))
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    return np.einsum("pd,pd->p", first, second) / lengths


def test_the_bundled_models_last_layer_is_the_librarys(
    service: EncoderService, bundled_folder: Path, tmp_path: Path
) -> None:
    card = service.load(BUNDLED_ID)
    found = compare(made(PAIRS), card, service, pooling="recipe")
    assert found.values[-1, 0] == pytest.approx(0.4046, abs=5e-5)  # as published
    library = SentenceTransformer(str(bundled_folder), device="cpu")
    np.testing.assert_allclose(found.values[-1], cosines_of(library), atol=1e-5)
    assert found.n_cut == 2
    settings = found.passport.settings
    assert (settings["pooling"], settings["max_length"]) == ("recipe", 256)
    namespace: dict[str, torch.Tensor] = {}
    exec(recipe_snippet(card, PAIRS, prompt=""), namespace)
    np.testing.assert_allclose(namespace["cosines"].numpy(), found.values[-1], atol=1e-5)
    mean = compare(made(PAIRS), card, service).values
    short = [0, 3, 4]
    np.testing.assert_allclose(found.values[:, short], mean[:, short], atol=1e-5)
    assert abs(found.values[-1, 1] - mean[-1, 1]) > 1e-3  # 512 tokens are read there


def test_further_steps_and_prompts_are_the_librarys(open_with: Open, tmp_path: Path) -> None:
    torch.manual_seed(2)
    steps = [
        Pooling(N_DIMS, ("cls", "mean"), include_prompt=False), Dense(2 * N_DIMS, 9), Normalize(),
    ]  # fmt: skip
    with_recipe("bert", steps, open_with, tmp_path, max_seq_length=24)
    folder = tmp_path / "models" / "bert"
    path = folder / "config_sentence_transformers.json"
    prompts = {"query": "query: ", "passage": "the passage is: "}
    named = {"prompts": prompts, "default_prompt_name": "query"}
    path.write_text(json.dumps({**json.loads(path.read_text()), **named}))
    service = open_with(model_folder=folder.parent)
    library = SentenceTransformer(str(folder), device="cpu")
    card = service.load("folder:bert")
    for pooling, prompt in (("recipe", "query: "), ("recipe:passage", prompts["passage"])):
        values = compare(made(PAIRS), card, service, pooling=pooling).values
        np.testing.assert_allclose(values[-1], cosines_of(library, prompt), atol=1e-5)
        assert np.isfinite(values).all()
    options = pooling_of(made(PAIRS), card).options
    assert list(options) == ["recipe", "recipe:query", "recipe:passage", "mean"]


def test_words_and_models_without_a_recipe_have_the_mean_alone(service: EncoderService) -> None:
    card = service.load(BUNDLED_ID)
    whole, words = made(PAIRS[:1]), made([("a bank", "a bank")], (2, 6))
    assert pooling_of(whole, card).of(DEFAULT) == "recipe"
    bare = replace(card, recipe=None)
    assert (
        list(pooling_of(whole, bare).options) == list(pooling_of(words, card).options) == ["mean"]
    )
    assert "needs no training" in pooling_of(whole, bare).help
