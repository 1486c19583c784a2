"""Before and after fine-tuning: the numbers of transformers and numpy, and what is said of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from contextlens.core import EncoderService
from contextlens.core.errors import RequestError
from contextlens.corpus.corpus import Corpus
from contextlens.features.labels.before_after import (
    BeforeAfter,
    Movement,
    problem_of,
    task,
    texts_of,
)
from contextlens.features.labels.controls import MAX_COMPARED_TEXTS
from tests.support.snippets import run_alone
from tests.support.tiny_models import build

TEXTS = (
    "A python slept under the warm lamp, and the teacher's cat slept.",
    "The bank of the river was green; the bank lends money.",
    "مرحبا بالعالم",
    "The teacher talked and the python talked. " * 12,
    "The cat is the cat is the cat!",
)


def changed(folder: Path, copy: Path, *, layer: int) -> Path:
    """A copy of a model whose layer, from 1, has other weights."""
    build("bert", copy)
    weights = load_file(folder / "model.safetensors")
    random = torch.Generator().manual_seed(1)
    own = {name: value for name, value in weights.items() if name.startswith("bert.")}
    for name, value in own.items():
        if f"layer.{layer - 1}." in name:
            own[name] = value + torch.randn(value.shape, generator=random) * value.std() * 0.5
    named = {name.removeprefix("bert."): value for name, value in own.items()}
    save_file(named, copy / "model.safetensors", metadata={"format": "pt"})
    return copy


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fine_tuned")
    tuned = build("bert", folder / "tuned", head="SequenceClassification")
    changed(tuned, folder / "base", layer=2)
    build("bert", folder / "other", seed=7)
    build("bert", folder / "deep", num_hidden_layers=4)
    build("bert", folder / "wide", hidden_size=40)
    build("roberta", folder / "roberta")
    cased = build("bert", folder / "cased")
    for path in (cased / "tokenizer.json", cased / "tokenizer_config.json"):
        text = path.read_text(encoding="utf-8")
        for name in ("lowercase", "do_lower_case"):
            text = text.replace(f'"{name}": true', f'"{name}": false')
        path.write_text(text, encoding="utf-8")
        json.loads(text)
    return folder


@pytest.fixture(scope="module")
def service(root: Path, open_with: Callable[..., EncoderService]) -> EncoderService:
    return open_with(model_folder=root)


def compared(
    service: EncoderService, base: str = "base", texts: tuple[str, ...] = TEXTS
) -> BeforeAfter:
    card, other = (service.load(f"folder:{name}") for name in ("tuned", base))
    reports: list[float] = []
    work = task(card, other, texts, "a collection", service, token_seconds=1e-3)
    movement = work.work(lambda _, share: reports.append(share))
    assert reports == sorted(reports)
    return BeforeAfter(card, other, texts, 9, movement)


@pytest.fixture(scope="module")
def result(service: EncoderService) -> BeforeAfter:
    return compared(service)


def moved(result: BeforeAfter, cosines: list[float], different: list[float]) -> BeforeAfter:
    """The same with other averages at each layer."""
    rows = np.array(cosines)[:, None] * np.ones(len(result.movement.words))
    return replace(result, movement=replace(result.movement, cosines=rows,
                                            different=np.array(different)))  # fmt: skip


def test_the_script_computes_the_same_numbers_with_transformers_alone(
    result: BeforeAfter, root: Path
) -> None:
    found = run_alone(result.snippet(), root)
    np.testing.assert_allclose(result.by_layer, found["by_layer"], atol=1e-5)
    np.testing.assert_allclose(result.movement.different, found["different"], atol=1e-5)
    words = {row["word"]: row["similarity"] for row in result.rows()}
    assert words.keys() == found["words"].keys() >= {"the", "python"}
    np.testing.assert_allclose(
        list(words.values()), [found["words"][word] for word in words], atol=1e-5
    )


def test_layers_below_the_changed_one_are_the_same(result: BeforeAfter) -> None:
    np.testing.assert_allclose(result.by_layer[:2], 1.0, atol=1e-5)
    assert (result.by_layer[2:] < 0.99).all()
    assert str(result.title()).startswith("Fine-tuning changed layer")
    assert (np.diff([row["similarity"] for row in result.rows()]) >= 0).all()
    first = result.words[0]
    assert first.lowest <= first.cosine
    assert first.word in first.example.casefold()


def test_models_without_a_common_origin_are_told_apart(service: EncoderService) -> None:
    assert str(compared(service, "other").title()).startswith(
        "**other** is probably not the model that tuned was made from: already at layer 0"
    )
    assert str(compared(service, "tuned").title()).startswith("Fine-tuning changed nothing here")


@pytest.mark.parametrize(
    ("cosines", "different", "said"),
    [
        ([1, 0.9, 0.8, 0.9], [0, 0, 0, 0.85],
         "Fine-tuning changed layer 3 most: there, a word has a similarity of **0.90** to what "
         "it was before. Two different words had 0.85 there before (1: the same)."),
        ([1, 1, 0.8, 0.8], [0, 0, 0, 0],
         "Fine-tuning changed layers 2, 3 most: there, a word has a similarity of about **0.80** "
         "to what it was before. Two different words had 0.00 there before (1: the same)."),
        ([1, 0.9, 0.8, 0.5], [np.nan] * 4,
         "Fine-tuning changed layer 3 most: there, a word has a similarity of **0.50** to what "
         "it was before."),
    ],
)  # fmt: skip
def test_the_layer_that_moved_furthest_by_its_own_yardstick_is_named(
    result: BeforeAfter, cosines: list[float], different: list[float], said: str
) -> None:
    claims = moved(result, cosines, different).claims()
    assert " ".join(map(str, claims[:-1])) == said
    assert f"“{result.words[0].word}”" in str(result.claims()[-1])


def test_a_small_change_is_called_small(result: BeforeAfter) -> None:
    claims = moved(result, [1, 1, 0.999, 0.998], [0.5] * 4).claims()
    assert list(map(str, claims)) == [
        "Fine-tuning changed little here: at every layer, the average similarity of a word to "
        "what it was before is at least **0.9980**."
    ]
    narrow = moved(result, [1, 1, 0.999, 0.998], [0.99] * 4).claims()
    assert "a similarity of **0.9980**" in str(narrow[0])


def test_few_words_have_no_yardstick_and_no_list(service: EncoderService) -> None:
    result = compared(service, texts=("A python slept.",))
    assert np.isnan(result.movement.different).all()
    assert len(result.figure().data) == 1
    assert "No word is used at least 5 times" in str(result.claims()[-1])
    assert not result.rows()


@pytest.mark.parametrize(
    ("base", "said"),
    [
        ("base", None),
        ("cased", None),
        ("deep", "deep has 4 layers and tuned has 3"),
        ("wide", "A vector of wide has 40 numbers and one of tuned has 32"),
        ("roberta", "different vocabularies"),
    ],
)
def test_models_that_do_not_fit_are_refused_with_the_way_out(
    service: EncoderService, base: str, said: str | None
) -> None:
    problem = problem_of(service.load("folder:tuned"), service.load(f"folder:{base}"), service)
    assert (problem is None) == (said is None)
    if said is not None:
        assert said in str(problem)
        assert str(problem).endswith("Choose the model that tuned was made from.")


def test_texts_that_cannot_be_compared_are_refused(service: EncoderService) -> None:
    with pytest.raises(RequestError, match="into different tokens"):
        compared(service, "cased")
    with pytest.raises(RequestError, match="has a word that both models read"):
        compared(service, texts=("!?",))


def test_of_many_texts_evenly_spaced_ones_are_read() -> None:
    corpus = Corpus("many", tuple(map(str, range(2 * MAX_COMPARED_TEXTS))))
    texts = texts_of(corpus)
    assert len(texts) == MAX_COMPARED_TEXTS
    assert (texts[0], texts[-1]) == ("0", corpus.texts[-1])
    assert texts_of(Corpus("few", ("a", "b"))) == ("a", "b")


def test_long_texts_have_no_script(result: BeforeAfter) -> None:
    long: Any = replace(result, texts=("word " * 20_000,))
    assert not long.snippet()
    assert isinstance(result.movement, Movement)
    assert result.movement.nbytes > result.movement.cosines.nbytes
