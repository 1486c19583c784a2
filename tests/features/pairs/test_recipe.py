"""Whole texts compared by the model's own recipe, against sentence-transformers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense, Normalize
from sentence_transformers.sentence_transformer.modules import Pooling

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.pairs.controls import PAGE, POOLING
from contextlens.features.pairs.cosines import compare, pooling_of, recipe_snippet
from contextlens.features.pairs.pair_set import WHOLE, PairSet, pair_set
from contextlens.ui.corpora.controls import COLLECTION
from contextlens.ui.state.view import DEFAULT
from tests.core.spoiled import change_json
from tests.support.fields import field
from tests.support.pages import app_settings, framed, plainly_said, press, settled
from tests.support.recipes import Open, with_recipe
from tests.support.tiny_models import N_DIMS

LONG = "The ferry leaves at nine and comes back at ten, if the wind allows it. " * 40
PASSAGE = "the passage is: "
TITLES = [
    "the model's own recipe, after “query:”",
    "the model's own recipe, after “the passage is:”",
    "the model's own recipe, without a prompt",
]
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


@pytest.mark.slow
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


def with_prompts(open_with: Open, tmp_path: Path) -> Path:
    """The folder of a tiny model whose recipe has further steps and prompts, one the default."""
    torch.manual_seed(2)
    steps = [
        Pooling(N_DIMS, ("cls", "mean"), include_prompt=False), Dense(2 * N_DIMS, 9), Normalize(),
    ]  # fmt: skip
    with_recipe("bert", steps, open_with, tmp_path, max_seq_length=24)
    folder = tmp_path / "models" / "bert"
    prompts = {"query": "query: ", "passage": PASSAGE, "plain": ""}
    path = folder / "config_sentence_transformers.json"
    change_json(path, prompts=prompts, default_prompt_name="query")
    return folder


def test_further_steps_and_prompts_are_the_librarys(open_with: Open, tmp_path: Path) -> None:
    folder = with_prompts(open_with, tmp_path)
    service = open_with(model_folder=folder.parent)
    library = SentenceTransformer(str(folder), device="cpu")
    card = service.load("folder:bert")
    expected = {"recipe": "query: ", "recipe:passage": PASSAGE, "recipe:plain": ""}
    for pooling, prompt in expected.items():
        found = compare(made(PAIRS), card, service, pooling=pooling)
        cosines = cosines_of(library, prompt)
        np.testing.assert_allclose(found.values[-1], cosines, atol=1e-5)
        assert np.isfinite(found.values).all()
        assert found.passport.settings.get("prompt", "") == prompt
        namespace: dict[str, torch.Tensor] = {}
        code = recipe_snippet(card, PAIRS, prompt=prompt)
        exec(code.replace("path/to/", f"{folder.parent}/"), namespace)
        np.testing.assert_allclose(namespace["cosines"].cpu().numpy(), cosines, atol=1e-5)
    options = pooling_of(made(PAIRS), card).options
    assert list(options) == [*expected, "mean"]
    assert [options[name] for name in expected] == TITLES


def test_words_and_models_without_a_recipe_have_the_mean_alone(service: EncoderService) -> None:
    card = service.load(BUNDLED_ID)
    whole, words = made(PAIRS[:1]), made([("a bank", "a bank")], (2, 6))
    assert pooling_of(whole, card).of(DEFAULT) == "recipe"
    bare = replace(card, recipe=None)
    assert (
        list(pooling_of(whole, bare).options) == list(pooling_of(words, card).options) == ["mean"]
    )
    assert "needs no training" in pooling_of(whole, bare).help


def test_a_prompt_that_is_chosen_on_the_page_is_said_there_and_in_the_passport(
    open_with: Open, tmp_path: Path
) -> None:
    folders = str(with_prompts(open_with, tmp_path).parent)
    rows = [f"The ferry {i} leaves,A boat {i} goes,{i % 2}\n" for i in range(8)]
    content = "".join(["text1,text2,label\n", *rows, f"{LONG.replace(',', '')},It is long,0\n"])
    settings = {"MODEL_FOLDERS": folders, "DATA_DIR": str(tmp_path / "data")}
    with app_settings(ALLOW_DOWNLOADS="0", **settings):
        app = settled(framed(replace(COLLECTION.put(DEFAULT, "file"), model="folder:bert"), PAGE))
        uploader = field(app.file_uploader, "pairs_upload")
        app = settled(uploader.set_value(("mine.csv", content.encode(), "text/csv")).run())
        app = settled(press(app, "pairs_use"))
        said = plainly_said(app)
        assert f"{TITLES[0]} · 1 text is longer than 24 tokens; its end is left out" in said
        assert (
            "Its own sentence vector: “query:” before each text, the first token, mean of all "
            "tokens, a prompt's tokens left out, at most 24 tokens, a linear layer to 9 "
            "dimensions (Tanh), scaled to length 1."
        ) in said
        for name, title, prompt in (
            ("recipe:passage", TITLES[1], PASSAGE), ("recipe:plain", TITLES[2], ""),
        ):  # fmt: skip
            app = settled(field(app.selectbox, POOLING.key).set_value(name).run())
            assert not app.exception
            assert title in plainly_said(app)
            code = "\n".join(block.value for block in app.code)
            assert f'prompt="{prompt}"' in code
            assert (f'"prompt": "{prompt}"' in code) == bool(prompt)
        app = settled(field(app.selectbox, POOLING.key).set_value("mean").run())
        assert "mean of all tokens · " in plainly_said(app)
        assert "SentenceTransformer" not in "".join(block.value for block in app.code)
