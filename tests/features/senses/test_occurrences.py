"""The occurrences of a word in a corpus, their labels, and the message where there are none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from contextlens.core import EncoderService
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.live import LiveCorpus
from contextlens.features.senses.occurrences import WordUses, column_of, word_in
from contextlens.features.senses.senses import Senses, senses_of
from contextlens.ui.corpora.controls import LABEL
from contextlens.ui.state.view import DEFAULT
from tests.support.senses import (
    HALF,
    MODEL,
    SENSES,
    live,
    missing,
    senses_view,
    shown,
    uses_of,
    word_uses,
)


def test_labels_are_guessed_by_title_or_chosen_by_position(tiny_service: EncoderService) -> None:
    corpus = live(tiny_service, other=("x",) * 8, Sense=SENSES, split=("train",) * 8)
    for labels, column in ((None, "Sense"), ("0", "other"), ("none", ""), ("99", "Sense")):
        view = senses_view() if labels is None else senses_view(labels=labels)
        assert column_of(view, corpus) == column
    assert column_of(senses_view(labels="nonsense"), corpus) == "Sense"
    assert column_of(LABEL.put(DEFAULT, "other"), corpus) == "other"


def test_only_marked_words_carry_labels_where_texts_are_marked(
    tiny_service: EncoderService,
) -> None:
    text = "the python and the python"
    corpus = Corpus("Marked", (text, text), {"sense": ("a", "b")}, spans=((4, 10), (19, 25)))
    uses = uses_of(LiveCorpus(corpus, tiny_service, MODEL))
    assert uses.labels == ("a", "", "", "b")
    assert uses.codes.tolist() == [0, -1, -1, 1]


def test_a_word_that_texts_name_has_only_its_marked_uses(tiny_service: EncoderService) -> None:
    texts = ("the python and the python", "a python by the bank", "a bank of the river")
    labels = {"word": ("python", "bank", "bank"), "sense": ("a", "money", "river")}
    corpus = LiveCorpus(
        Corpus("Marked", texts, labels, spans=((4, 10), (16, 20), (2, 6))), tiny_service, MODEL
    )
    python, river = (word_in(corpus, word, "sense") for word in ("python", "river"))
    assert isinstance(python, WordUses)
    assert isinstance(river, WordUses)
    assert (python.labels, python.occurrences.n_total) == (("a",), 1)
    assert river.labels == ("",)


def test_a_label_that_begins_with_the_word_is_shown_without_it(
    tiny_service: EncoderService,
) -> None:
    labels = tuple(f"Python: {sense}" for sense in SENSES)
    assert set(uses_of(live(tiny_service, sense=labels)).senses) == {"snake", "language"}
    mixed = uses_of(live(tiny_service, sense=(*labels[:7], "python:")))
    assert "Python: snake" in mixed.senses


@pytest.mark.parametrize(
    ("labels", "problem"),
    [
        ({}, "none"),
        ({"sense": ("same",) * 8}, "one"),
        ({"sense": tuple("abcdefgh")}, "single"),
    ],
)
def test_labels_that_separate_nothing_leave_the_rest(
    tiny_service: EncoderService, labels: dict[str, tuple[str, ...]], problem: str
) -> None:
    senses = shown(tiny_service, live(tiny_service, **labels), own="a python sleeps")
    assert senses.uses.trial.problem == problem
    assert (senses.by_layer.curve, senses.separation, senses.curve) == ((), None, None)
    assert len(senses.concordance.lines) == 8
    assert senses.sentence is not None
    assert not senses.sentence.problem


def test_contexts_are_cut_between_words_and_keep_the_word_whole(
    tiny_service: EncoderService,
) -> None:
    uses = uses_of(live(tiny_service, ("word " * 6 + "python\n\tis " + "more " * 500, "python")))
    assert uses.around(0, 12) == ("… word word ", "python", " is more …")
    assert uses.around(1, 12) == ("", "python", "")
    assert uses.around(0, 10_000)[0] == "word " * 6


def test_the_number_of_occurrences_is_stated() -> None:
    claims = [str(uses.count_claim()) for uses in (HALF, word_uses(["a"]))]
    assert claims == [
        r"“python” occurs **32** times in the corpus “Some \*texts\*”.",
        r"“python” occurs once in the corpus “Some \*texts\*”.",
    ]


# A missing word


def test_a_missing_word_names_similar_ones(tiny_service: EncoderService) -> None:
    corpus = live(tiny_service)
    word = missing(tiny_service, corpus, "pithon")
    assert word.similar[0].word == "python"
    assert word.problem == (
        "“pithon” does not occur in Snakes as a word of its own. Similar spellings: python (8)."
    )
    inside = missing(tiny_service, corpus, "pyth")
    assert inside.inside[0].word == "python"
    assert "It occurs inside python (8)." in inside.problem


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("x" * 10_000, "You typed 10,000 characters; a word can have at most 64."),
        ("two  words", "Type one word, without spaces."),
        ("蟒蛇", "Choose another word."),
        ("<b>", "as a word of its own"),
    ],
)
def test_odd_words_get_one_message(tiny_service: EncoderService, word: str, sentence: str) -> None:
    problem = missing(tiny_service, live(tiny_service), word).problem
    assert sentence in problem
    assert len(problem) < 300


def test_uses_that_the_model_does_not_read_are_counted_for_the_word_alone(
    tiny_service: EncoderService,
) -> None:
    corpus = live(tiny_service, ("a python " + "word " * 100 + "a zebra", "a python slept"))
    assert not list(shown(tiny_service, corpus, word="python").notes())
    (note,) = shown(tiny_service, corpus, word="a").notes()
    assert note.startswith("One use is left out")
    assert missing(tiny_service, corpus, "Zebra").problem.startswith(
        "“Zebra” occurs once in Snakes, in a part of a text that the model does not read."
    )


def test_without_a_word_the_corpuss_default_is_shown(tiny_service: EncoderService) -> None:
    view = senses_view("The lamp was green", "Her lamp is warm", word="   ")
    senses = senses_of(replace(view, model=MODEL), tiny_service)
    assert isinstance(senses, Senses)
    assert senses.uses.word == "lamp"
