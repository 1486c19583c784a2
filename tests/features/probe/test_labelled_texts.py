"""The texts of a corpus with their labels, and the columns that can be labels."""

from __future__ import annotations

import pytest

from contextlens.core import ModelCard
from contextlens.corpus.bundled import sample_corpus, sentiment_corpus
from contextlens.corpus.corpus import Corpus
from contextlens.features.probe.copies import copies_of
from contextlens.features.probe.labelled_texts import label_columns, labelled_texts


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
