"""Labels of words: transformers' pipeline gives the same parts, and the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from transformers import pipeline

from contextlens.core import EncoderService
from contextlens.features.labels.token_labels import (
    LabelledWord,
    TokenLabels,
    parts_of,
    token_labels,
)
from contextlens.figures.word_rows import words_svg
from tests.support.snippets import run
from tests.support.tiny_models import build

NAMES = {0: "O", 1: "B-PER", 2: "I-PER", 3: "B-LOC", 4: "I-LOC"}
TEXTS = [
    "Ada Lovelace walked in London, unbelievable!",
    "don't you-know  3.5%",
    "مرحبا بالعالم 你好",
    "x",
    "The teachers were talking " * 30,
]
FAMILIES = ["bert", "roberta", "xlm-roberta", "albert", "mpnet"]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("labels")
    for family in [*FAMILIES, "roc_bert"]:
        build(family, folder / family, head="TokenClassification", id2label=NAMES)
    return folder


@pytest.fixture(scope="module")
def service(root: Path, open_with: Callable[..., EncoderService]) -> EncoderService:
    return open_with(model_folder=root)


def labelled(service: EncoderService, model: str, text: str) -> TokenLabels:
    card = service.load(f"folder:{model}")
    (found,) = service.classify(card.id, [text])
    return token_labels(card, 0, found, service.vocabulary(card.id), has_pair=False)


@pytest.mark.filterwarnings("ignore:Tokenizer does not support real words")
@pytest.mark.parametrize("family", FAMILIES)
def test_parts_are_those_of_transformers_pipeline(
    family: str, root: Path, service: EncoderService
) -> None:
    folder, card = str(root / family), service.load(f"folder:{family}")
    answer: Any = pipeline("token-classification", model=folder, tokenizer=folder)
    answer.tokenizer.model_max_length = card.max_length
    for text in TEXTS:
        parts = labelled(service, family, text).parts
        rows = answer(text, aggregation_strategy="first")
        plain = [row for row in rows if text[row["start"] : row["end"]].strip()]
        assert [(part.kind, *part.span) for part in parts] == [
            (row["entity_group"], row["start"], row["end"]) for row in plain
        ]
        np.testing.assert_allclose(
            [part.score for part in parts], [row["score"] for row in plain], atol=1e-5
        )


@pytest.mark.filterwarnings("ignore:Tokenizer does not support real words")
@pytest.mark.parametrize("family", ["bert", "roc_bert"])
def test_the_script_gives_the_tokens_and_the_parts(
    family: str, root: Path, service: EncoderService
) -> None:
    result = labelled(service, family, TEXTS[0])
    found = run(result.snippet().replace(f'"path/to/{family}"', repr(str(root / family))))
    rows = result.rows()
    assert [row["label"] for row in rows] == [token["entity"] for token in found["tokens"]]
    np.testing.assert_allclose(
        [row["score"] for row in rows], [token["score"] for token in found["tokens"]], atol=1e-5
    )
    assert len(found["parts"]) == len(result.parts)


def words(*labels: str) -> list[LabelledWord]:
    return [
        LabelledWord((3 * i, 3 * i + 2), (i,), label, 0.5 + i / 10, are_equal=True)
        for i, label in enumerate(labels)
    ]


@pytest.mark.parametrize(
    ("labels", "parts"),
    [
        (["B-PER", "I-PER", "O", "B-LOC"], [("PER", 0, 5), ("O", 6, 8), ("LOC", 9, 11)]),
        (["B-PER", "B-PER"], [("PER", 0, 2), ("PER", 3, 5)]),
        (["I-PER", "I-LOC"], [("PER", 0, 2), ("LOC", 3, 5)]),
        (["NOUN", "NOUN"], [("NOUN", 0, 5)]),
        ([], []),
    ],
)
def test_words_in_a_row_with_labels_of_one_kind_are_one_part(
    labels: list[str], parts: list[tuple[str, int, int]]
) -> None:
    assert [(part.kind, *part.span) for part in parts_of(words(*labels))] == parts


def test_the_headline_counts_the_parts_and_the_words_carry_their_labels(
    service: EncoderService,
) -> None:
    result = labelled(service, "bert", "Ada met her in London")
    own = TokenLabels(
        result.card, 1, result.result,
        tuple(
            LabelledWord(span, (i + 1,), label, 0.9, are_equal=i != 4)
            for i, (span, label) in enumerate(zip(
                [(0, 3), (4, 7), (8, 11), (12, 14), (15, 21)],
                ["B-PER", "O", "O", "O", "B-LOC"], strict=True,
            ))
        ),
    )  # fmt: skip
    assert str(own.title()) == "In B, the model finds 2 parts: **Ada** (PER) and **London** (LOC)."
    assert [word.tag for word in own.word_rows().first.words] == ["B-PER", "", "", "", "B-LOC"]
    assert "B-LOC" in words_svg(own.word_rows())
    assert [str(note) for note in own.notes()] == [
        "The pieces of “London” have different labels; the word is shown with that of its first "
        "piece."
    ]
    none = TokenLabels(own.card, 0, own.result, own.words[1:4])
    assert "finds nothing in A" in str(none.title())
