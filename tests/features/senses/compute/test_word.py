"""A word in a corpus: its labels and vectors there, and what is said where it does not occur."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from components.analysis.separation import scaled
from components.core import EncoderService
from components.corpus.corpus import Corpus
from components.corpus.live import LiveCorpus
from components.features.senses.compute import Senses, senses_of
from components.features.senses.controls import labels_among
from components.features.senses.words import WordUses, column_of, curve_rows, units_at, word_in
from tests.features.senses.compute.live_senses import MODEL, SENSES, live, missing, shown
from tests.support.senses import senses_view

# What is found


def test_labels_are_guessed_by_title_or_chosen_by_place(tiny_service: EncoderService) -> None:
    corpus = live(tiny_service, other=("x",) * 8, Sense=SENSES, split=("train",) * 8)
    assert column_of(senses_view(), corpus) == "Sense"
    assert column_of(senses_view(labels="0"), corpus) == "other"
    assert column_of(senses_view(labels="none"), corpus) == ""
    assert column_of(senses_view(labels="99"), corpus) == "Sense"
    assert column_of(senses_view(labels="nonsense"), corpus) == "Sense"
    assert labels_among(corpus.columns).options["0"] == "other"


def test_only_marked_words_carry_labels_where_texts_are_marked(
    tiny_service: EncoderService,
) -> None:
    text = "the python and the python"
    own = Corpus("Marked", (text, text), {"sense": ("a", "b")}, spans=((4, 10), (19, 25)))
    corpus = LiveCorpus(own, tiny_service, MODEL)
    found = word_in(corpus, "python", "sense")
    assert isinstance(found, WordUses)
    assert found.labels == ("a", "", "", "b")
    assert found.codes.tolist() == [0, -1, -1, 1]


def test_a_label_that_begins_with_the_word_is_said_without_it(
    tiny_service: EncoderService,
) -> None:
    labels = tuple(f"Python: {sense}" for sense in SENSES)
    found = word_in(live(tiny_service, sense=labels), "python", "sense")
    assert isinstance(found, WordUses)
    assert set(found.senses) == {"snake", "language"}
    mixed = word_in(live(tiny_service, sense=(*labels[:7], "python:")), "python", "sense")
    assert isinstance(mixed, WordUses)
    assert "Python: snake" in mixed.senses


@pytest.mark.parametrize(
    ("labels", "problem"),
    [
        ({}, "none"),
        ({"sense": ("",) * 8}, "none"),
        ({"sense": ("same",) * 8}, "one"),
        ({"sense": tuple("abcdefgh")}, "single"),
    ],
)
def test_labels_that_part_nothing_leave_the_rest(
    tiny_service: EncoderService, labels: dict[str, tuple[str, ...]], problem: str
) -> None:
    own = shown(tiny_service, live(tiny_service, **labels), own="a python sleeps")
    assert own.uses.trial.problem == problem
    assert own.course.curve == ()
    assert own.separation is None
    assert curve_rows(own.uses, own.course.curve) == []
    assert len(own.concordance.lines) == 8
    assert own.sentence is not None
    assert not own.sentence.problem


def test_the_words_own_vectors_are_scaled(tiny_service: EncoderService) -> None:
    corpus = live(tiny_service, sense=SENSES)
    found = word_in(corpus, "  PYTHON ", "sense")
    assert isinstance(found, WordUses)
    units = units_at(found, corpus, 2)
    np.testing.assert_allclose(units, scaled(corpus.vectors(found.occurrences, 2)))


# A word that is not there


def test_a_word_that_is_not_there_names_what_is(tiny_service: EncoderService) -> None:
    corpus = live(tiny_service)
    own = missing(tiny_service, corpus, "pithon")
    assert own.similar[0].word == "python"
    assert own.problem == (
        "“pithon” does not occur in Snakes as a word of its own. Similar spellings: python (8)."
    )
    inside = missing(tiny_service, corpus, "pyth")
    assert inside.inside[0].word == "python"
    assert "It occurs inside python (8)." in inside.problem


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("x" * 10_000, "You typed 10,000 characters; a word can have at most 64."),
        ("two  words", "Type one word, without spaces."),
        ("蟒蛇", "Choose another word."),
        ("\N{NULL}", "Choose another word"),
        ("<b>", "as a word of its own"),
        ("*", "as a word of its own"),
    ],
)
def test_odd_words_say_one_sentence(tiny_service: EncoderService, word: str, said: str) -> None:
    own = missing(tiny_service, live(tiny_service), word)
    assert said in own.problem
    assert len(own.problem) < 300


def test_nothing_typed_shows_the_corpuss_own_first_word(tiny_service: EncoderService) -> None:
    view = senses_view("The lamp was green", "Her lamp is warm", word="   ")
    own = senses_of(replace(view, model=MODEL), tiny_service)
    assert isinstance(own, Senses)
    assert own.uses.word == "lamp"


def test_a_corpus_in_another_script_is_searched_too(tiny_service: EncoderService) -> None:
    texts = ("Замок стоит на горе", "замок сломался", "новый замок висит", "你 好 замок")
    own = shown(tiny_service, live(tiny_service, texts), word="ЗАМОК")
    assert own.uses.n == 4
    assert own.concordance.lines[0].keyword == "Замок"
    empty = missing(tiny_service, live(tiny_service, ("?!", "…")), "a")
    assert "does not occur" in empty.problem
