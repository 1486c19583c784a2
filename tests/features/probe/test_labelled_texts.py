"""The texts of a corpus with their labels, and the columns that can be labels."""

from __future__ import annotations

from dataclasses import replace

import pytest

from contextlens.core import ModelCard
from contextlens.core.schema import FastPrecision
from contextlens.corpus.bundled import sample_corpus, sentiment_corpus
from contextlens.corpus.corpus import Corpus
from contextlens.features.probe.copies import copies_of
from contextlens.features.probe.labelled_texts import label_columns, labelled_texts
from contextlens.features.probe.page import beyond_the_bound


def test_a_given_split_is_respected(card: ModelCard) -> None:
    whole = sentiment_corpus()
    labelled = labelled_texts(whole, "sentiment", card)
    n_test = whole.labels["split"].count("test")
    assert (labelled.trial.how, len(labelled.trial.tested)) == ("split", n_test)
    assert copies_of(labelled.texts, labelled.trial) == (0, 0)


def test_only_columns_with_a_few_labels_can_be_chosen() -> None:
    assert label_columns(sentiment_corpus()) == ["sentiment", "kind"]
    assert "word" in label_columns(sample_corpus())
    many = Corpus("many", tuple("abcd"), {"id": tuple("1231"), "own": tuple("abcd")})
    assert label_columns(many) == ["id"]


@pytest.mark.parametrize("labels", [("a", "b") * 5, tuple(f"{i}.5" for i in range(10))])
def test_empty_texts_take_no_part(card: ModelCard, labels: tuple[str, ...]) -> None:
    empty = labelled_texts(Corpus("mine", ("", " \n") * 5, {"mood": labels}), "mood", card)
    assert empty.trial.problem == "none"
    texts = ("good", "", "bad", "fine", " ", "poor")
    some = labelled_texts(Corpus("mine", texts, {"mood": labels[:6]}), "mood", card)
    assert some.texts == ("good", "bad", "fine", "poor")


def intents(n: int, n_each: int) -> Corpus:
    labels = tuple(f"intent {i}" for i in range(n) for _ in range(n_each))
    texts = tuple(f"please do thing {i} now, way {i % n_each}" for i in range(n * n_each))
    return Corpus("mine", texts, {"intent": labels})


def test_the_bound_is_the_work_and_not_the_number_of_labels(card: ModelCard) -> None:
    many = intents(150, 4)
    assert label_columns(many) == ["intent"]
    labelled = labelled_texts(many, "intent", card)
    assert (len(labelled.trial.senses), labelled.trial.problem) == (150, "")
    assert beyond_the_bound(labelled, card) == ""
    assert label_columns(intents(60, 1)) == []

    large = labelled_texts(intents(4_000, 5), "intent", replace(card, n_dims=768))
    sentence = beyond_the_bound(large, replace(card, n_dims=768, n_layers=12))
    assert "4,000 labels from 20,000 texts by 5-fold" in sentence
    assert "30 minutes" in sentence


def test_many_texts_are_read_fast_unless_exact_reading_is_chosen(card: ModelCard) -> None:
    quick = replace(card, fast=FastPrecision("bfloat16", "So the test says."))
    many = intents(4_000, 5)
    fast, exact = (labelled_texts(many, "intent", quick, exact=exact) for exact in (False, True))
    assert (fast.precision, exact.precision) == ("fast", "exact")
    assert fast.key != exact.key
