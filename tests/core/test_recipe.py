"""Sentence vectors by a model's own recipe equal those of sentence-transformers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense, Normalize
from sentence_transformers.sentence_transformer.modules import LSTM, Pooling

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.errors import RequestError
from contextlens.core.hub.local import choose_files
from tests.core.spoiled import change_json
from tests.support.recipes import Open, with_recipe
from tests.support.tiny_models import N_DIMS, TEXT, build

TEXTS = (
    *("This is an example sentence", "Each sentence is converted", "", "  spaced  out  "),
    *("I am glad😊 today", "ÀÉÎ straße İstanbul", TEXT, TEXT * 12),
)
PAIRS = (("Which snake is it?", "A python."), ("Rain.", "The bank of the river."), ("", "Alone."))
MODES = ("cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")


def test_the_bundled_models_recipe_is_read(service: EncoderService) -> None:
    recipe = service.load(BUNDLED_ID).recipe
    assert recipe is not None
    assert (recipe.poolings, recipe.max_length, recipe.prompts) == (("mean",), 256, ())
    first, second = service.sentence_vectors(BUNDLED_ID, TEXTS[:2])
    assert first.vector @ second.vector == pytest.approx(0.4046, abs=5e-5)  # as published
    np.testing.assert_allclose(first.vector[:4], [0.0677, 0.0635, 0.0487, 0.0793], atol=5e-5)


def test_the_bundled_models_vectors_are_the_librarys(
    service: EncoderService, bundled_folder: Path
) -> None:
    library = SentenceTransformer(str(bundled_folder), device="cpu")
    _compare(service, BUNDLED_ID, library)
    long = service.sentence_vectors(BUNDLED_ID, [TEXTS[-1]])[0]
    assert (long.n_tokens, long.passport.settings["max_length"]) == (256, 256)
    assert long.n_truncated == service.tokenize(BUNDLED_ID, [TEXTS[-1]])[0].n_truncated + 256


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("family", ["bert", "roberta", "mpnet"])
def test_each_pooling_is_the_librarys(
    family: str, mode: str, open_with: Open, tmp_path: Path
) -> None:
    service, model, library = with_recipe(family, [Pooling(N_DIMS, mode)], open_with, tmp_path)
    _compare(service, model, library)


@pytest.mark.parametrize("activation", ["Identity", "Tanh", "ReLU", "GELU", "Sigmoid", "SiLU"])
def test_linear_layers_and_lengths_are_the_librarys(
    activation: str, open_with: Open, tmp_path: Path
) -> None:
    torch.manual_seed(1)
    steps = [
        Pooling(N_DIMS, ("cls", "mean")),
        Dense(2 * N_DIMS, 20, activation_function=getattr(torch.nn, activation)()),
        Dense(20, 20, bias=False, use_residual=True),
        Dense(20, 7, use_residual=True),
        Normalize(),
    ]
    service, model, library = with_recipe("bert", steps, open_with, tmp_path, max_seq_length=16)
    _compare(service, model, library)
    recipe = service.load(model).recipe
    assert recipe is not None
    assert recipe.max_length == 16
    assert [type(step).__name__ for step in recipe.steps] == ["DenseStep"] * 3 + ["NormalizeStep"]


@pytest.mark.parametrize("include_prompt", [True, False])
def test_prompts_are_the_librarys(include_prompt: bool, open_with: Open, tmp_path: Path) -> None:
    pooling = Pooling(N_DIMS, "mean", include_prompt=include_prompt)
    service, model, library = with_recipe("roberta", [pooling], open_with, tmp_path)
    path = tmp_path / "models" / "roberta" / "config_sentence_transformers.json"
    prompts = {"query": "query: ", "passage": "the passage is: "}
    change_json(path, prompts=prompts, default_prompt_name="query")
    service = open_with(model_folder=tmp_path / "models")
    library = SentenceTransformer(str(path.parent), device="cpu")
    recipe = service.load(model).recipe
    assert recipe is not None
    assert dict(recipe.prompts) == prompts
    _compare(service, model, library)  # the default one
    for name in prompts:
        ours = _vectors(service, model, TEXTS, prompt=recipe.prompt(name))
        np.testing.assert_allclose(ours, library.encode(list(TEXTS), prompt_name=name), atol=1e-5)
    assert (recipe.query_prompt, recipe.text_prompt) == tuple(prompts.values())
    ours = _vectors(service, model, TEXTS, prompt=recipe.query_prompt)
    np.testing.assert_allclose(ours, library.encode_query(list(TEXTS)), atol=1e-5)
    given = [service.sentence_vectors(model, ["a"], prompt=p)[0] for p in (None, "x: ", "")]
    assert [v.passport.settings.get("prompt") for v in given] == ["query: ", "x: ", None]
    ours = _vectors(service, model, TEXTS, prompt="")
    np.testing.assert_allclose(ours, library.encode(list(TEXTS), prompt=""), atol=1e-5)


def test_lower_case_is_the_librarys(open_with: Open, tmp_path: Path) -> None:
    """Version 6 of the library reads this setting, and no longer writes it."""
    _, model, _ = with_recipe("roberta", [Pooling(N_DIMS)], open_with, tmp_path)
    folder = tmp_path / "models" / "roberta"
    old = {"max_seq_length": 20, "do_lower_case": True}
    (folder / "sentence_bert_config.json").write_text(json.dumps(old))
    service = open_with(model_folder=folder.parent)
    _compare(service, model, SentenceTransformer(str(folder), device="cpu"))
    one, other = _vectors(service, model, ["A Python", "a python"])
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("mode", [None, *MODES, ("cls", "mean")], ids=str)
def test_a_networks_own_projection_is_the_recipes_first_step(
    mode: Any, open_with: Open, tmp_path: Path
) -> None:
    """As sentence-transformers pools the projected states: after the last layer shown here."""
    family, n = "embedding_gemma2_text", 24
    if mode is None:  # no recipe in the folder: the library then takes the mean
        build(family, tmp_path / "models" / family)
        service, model = open_with(model_folder=tmp_path / "models"), f"folder:{family}"
        library = SentenceTransformer(str(tmp_path / "models" / family), device="cpu")
    else:
        steps = [Pooling(n, mode), Dense(n, 7), Normalize()]
        if mode in {"max", ("cls", "mean")}:
            service, model, _ = with_recipe(family, [Pooling(n, mode)], open_with, tmp_path)
            card = service.load(model)
            assert (card.recipe, "projected" in card.recipe_note) == (None, True)
            return
        service, model, library = with_recipe(family, steps, open_with, tmp_path)
    recipe = service.load(model).recipe
    assert recipe is not None
    assert [type(step).__name__ for step in recipe.steps] == (
        ["DenseStep"] if mode is None else ["DenseStep", "DenseStep", "NormalizeStep"]
    )
    _compare(service, model, library)


def test_a_model_without_a_recipe_says_so(tiny_service: EncoderService) -> None:
    card = tiny_service.load("folder:bert")
    assert (card.recipe, card.recipe_note) == (None, "")
    with pytest.raises(RequestError, match="has no recipe"):
        tiny_service.sentence_vectors("folder:bert", ["a"])


def _without(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def _with_nan(folder: Path) -> None:
    path = folder / "2_Dense" / "model.safetensors"
    save_file({name: array / 0 for name, array in load_file(path).items()}, path)


def _with(name: str, **changes: Any) -> Callable[[Path], None]:
    return lambda folder: change_json(folder / name, **changes)


def _listed(**changes: Any) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        path = folder / "modules.json"
        modules = json.loads(path.read_text())
        modules[2] |= changes
        path.write_text(json.dumps(modules))

    return spoil


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (_without("2_Dense/model.safetensors"), "cannot be read"),
        (_with_nan, "NaN or infinite"),
        (_without("1_Pooling/config.json"), "is missing"),
        (_with("2_Dense/config.json", out_features=8), "size that its settings say"),
        (_with("2_Dense/config.json", in_features=10**9), "maps 1000000000 dimensions"),
        (_with("2_Dense/config.json", activation_function="os.system"), "os.system"),
        (_with("1_Pooling/config.json", pooling_mode="middle"), "its pooling is 'middle'"),
        (_with("sentence_bert_config.json", transformer_task="fill-mask"), "fill-mask"),
        (_listed(type="custom.Step"), "custom.Step"),
        (_listed(path="../elsewhere"), "does not say"),
        (_listed(path=""), "does not say"),
        (lambda folder: (folder / "modules.json").write_text("[1]"), "does not say"),
        (lambda folder: (folder / "modules.json").write_text("[" * 10**5), "does not say"),
    ],
)
def test_a_recipe_that_is_not_understood_is_refused_whole_and_the_model_still_loads(
    spoil: Callable[[Path], None], reason: str, open_with: Open, tmp_path: Path
) -> None:
    steps = [Pooling(N_DIMS), Dense(N_DIMS, 4)]
    _, model, _ = with_recipe("bert", steps, open_with, tmp_path)
    spoil(tmp_path / "models" / "bert")
    service = open_with(model_folder=tmp_path / "models")
    card = service.load(model)
    assert card.recipe is None
    assert reason in card.recipe_note
    assert service.encode(model, ["a"])[0].n_tokens == 3


def test_a_step_of_the_library_that_is_not_supported_is_named(
    open_with: Open, tmp_path: Path
) -> None:
    steps = [LSTM(N_DIMS, 8), Pooling(16)]
    service, model, _ = with_recipe("bert", steps, open_with, tmp_path)
    assert "LSTM" in service.load(model).recipe_note


def test_a_fetch_of_a_model_includes_its_recipe_and_no_other_file() -> None:
    recipe = [
        *("modules.json", "sentence_bert_config.json", "config_sentence_transformers.json"),
        *("1_Pooling/config.json", "2_Dense/config.json", "2_Dense/model.safetensors"),
    ]
    model = ["config.json", "model.safetensors", "tokenizer.json"]
    others = ["2_Dense/pytorch_model.bin", "onnx/model.onnx", "../1_Pooling/config.json", "a/b.py"]
    assert set(choose_files([*recipe, *model, *others])) == {*recipe, *model}
    assert not set(choose_files([*recipe, *model], "tokenizer")) & set(recipe)


def _vectors(service: EncoderService, model: str, texts: Any, **more: Any) -> np.ndarray:
    return np.stack([v.vector for v in service.sentence_vectors(model, list(texts), **more)])


def _compare(service: EncoderService, model: str, library: SentenceTransformer) -> None:
    np.testing.assert_allclose(
        _vectors(service, model, TEXTS), library.encode(list(TEXTS)), atol=1e-5
    )
    first, second = zip(*PAIRS, strict=True)
    ours = _vectors(service, model, first, pairs=list(second))
    np.testing.assert_allclose(ours, library.encode([list(pair) for pair in PAIRS]), atol=1e-5)
