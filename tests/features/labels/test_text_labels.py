"""Labels of whole sentences: the numbers of transformers' pipeline, and what is said of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contextlens.core import EncoderService
from contextlens.core.schema import Labels
from contextlens.features.labels.controls import MAX_SHOWN_LABELS
from contextlens.features.labels.text_labels import LabelledText, TextLabels, answer_of
from tests.support.snippets import run
from tests.support.tiny_models import build

TEXTS = ["I love my pet python", "The bank lends money to her.", "مرحبا بالعالم", "a " * 700]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("labels")
    names = {0: "bad", 1: "good", 2: "so-so"}
    build("bert", folder / "three", head="SequenceClassification", id2label=names)
    many = {i: f"label {i}" for i in range(25)}
    build("bert", folder / "many", head="SequenceClassification", id2label=many)
    return folder


@pytest.fixture(scope="module")
def service(root: Path, open_with: Callable[..., EncoderService]) -> EncoderService:
    return open_with(model_folder=root)


def labelled(
    service: EncoderService, model: str, texts: list[str], *, label: int = 0, **more: Any
) -> TextLabels:
    card = service.load(f"folder:{model}")
    found = service.classify(card.id, texts, **more)
    return TextLabels(card, tuple(LabelledText(i, one) for i, one in enumerate(found)), label)


def with_scores(result: TextLabels, scores: list[list[float]], kind: Any) -> TextLabels:
    """The same result with other scores, one row for each sentence."""
    names = tuple(f"label{i}" for i in range(len(scores[0])))
    card = replace(result.card, labels=Labels(names, kind))
    first = result.texts[0].result
    texts = tuple(
        LabelledText(i, replace(first, labels=names, scores=np.array(row), logits=np.array(row)))
        for i, row in enumerate(scores)
    )
    return TextLabels(card, texts, 0)


# Numbers


@pytest.mark.parametrize("pairs", [None, ["It sleeps", None, "x", None]])
def test_the_script_computes_the_same_scores_with_transformers_alone(
    service: EncoderService, root: Path, pairs: Any
) -> None:
    result = labelled(service, "three", TEXTS, pairs=pairs)
    code = result.snippet().replace('"path/to/three"', repr(str(root / "three")))
    scores = run(code)["scores"]
    for text in result.texts:
        plain = [scores[text.letter][name] for name in result.labels.names]
        np.testing.assert_allclose(text.result.scores, plain, atol=1e-5)
    assert len(result.rows()) == len(TEXTS) * 3
    assert sum(row["answer"] for row in result.rows()) == len(TEXTS)
    assert [str(note) for note in result.notes()] == [
        "The model reads at most 64 tokens, so the end of D was left out."
    ]


# What is said


@pytest.mark.parametrize(
    ("scores", "kind", "said"),
    [
        ([[0.1, 0.9]], "softmax", "The model calls A **label1** (90%)."),
        ([[0.1, 0.9], [0.7, 0.3]], "softmax",
         "The model calls A **label1** (90%) and B **label0** (70%)."),
        ([[0.1, 0.9], [0.2, 0.8]], "softmax", "The model calls A and B **label1** (80% to 90%)."),
        ([[0.6, 0.9], [0.2, 0.4]], "sigmoid",
         "The model calls A **label1** (90%) and **label0** (60%) and B **none of its labels** "
         "(at most 40%)."),
        ([[1.234], [-0.5]], "none", "The model gives A **1.23** and B **−0.50**."),
        ([[1.234, 2.0]], "none", "For label0, the model gives A **1.23**."),
    ],
)  # fmt: skip
def test_the_headline_is_the_answer(
    service: EncoderService, scores: list[list[float]], kind: str, said: str
) -> None:
    result = with_scores(labelled(service, "three", ["a"]), scores, kind)
    assert str(result.title()) == said
    assert said.replace("**", "") in result.alt()


def test_an_answer_is_the_highest_or_all_above_one_half() -> None:
    scores = np.array([0.6, 0.3, 0.8])
    assert answer_of(scores, Labels(("a", "b", "c"), "softmax")) == (2,)
    assert answer_of(scores, Labels(("a", "b", "c"), "sigmoid")) == (2, 0)
    assert answer_of(scores, Labels(("a", "b", "c"), "none")) == ()


# The picture


def test_many_labels_are_counted_and_the_chosen_one_is_drawn(service: EncoderService) -> None:
    result = labelled(service, "many", TEXTS[:2])
    last = int(result.texts[0].result.scores.argmin())
    result = replace(result, label=last)
    shown = result.shown(result.texts[0].result.scores)
    assert len(shown) == MAX_SHOWN_LABELS
    assert shown[-1] == last
    figure = result.figure()
    assert len(figure.data[0].x) == 2 * MAX_SHOWN_LABELS
    notes = [note.text for note in figure.layout.annotations]
    assert sum(note.startswith("15 more labels: ") for note in notes) == 2
    assert [note for note in notes if "love" in note] == ["<b>A · I love my pet python</b>"]
    strong = np.flatnonzero(np.array(figure.data[0].marker.opacity) == 1)
    assert list(strong) == [0, MAX_SHOWN_LABELS]  # the answers, as in the headline


def test_the_picture_of_eight_sentences_stays_small_and_rude_text_is_escaped(
    service: EncoderService,
) -> None:
    result = labelled(service, "many", ["<b>x</b>"] * 8)
    figure = result.figure()
    assert figure.layout.height < 1200
    assert "&lt;b&gt;" in figure.layout.annotations[0].text
