"""A word in a corpus, a sentence beside it, and what is said where there is none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from contextlens.analysis.separation import scaled
from contextlens.core import EncoderService
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.live import LiveCorpus
from contextlens.features.senses.compute import Senses, senses_of
from contextlens.features.senses.controls import labels_among
from contextlens.features.senses.words import (
    LONGEST_SENTENCE,
    WordUses,
    around,
    column_of,
    curve_rows,
    units_at,
    word_in,
)
from tests.support.senses import MODEL, SENSES, TEXTS, live, missing, senses_view, shown


def uses_of(corpus: LiveCorpus, word: str = "python") -> WordUses:
    found = word_in(corpus, word, "".join(corpus.columns))
    assert isinstance(found, WordUses)
    return found


def test_labels_are_guessed_by_title_or_chosen_by_place(tiny_service: EncoderService) -> None:
    corpus = live(tiny_service, other=("x",) * 8, Sense=SENSES, split=("train",) * 8)
    for labels, column in ((None, "Sense"), ("0", "other"), ("none", ""), ("99", "Sense")):
        view = senses_view() if labels is None else senses_view(labels=labels)
        assert column_of(view, corpus) == column
    assert column_of(senses_view(labels="nonsense"), corpus) == "Sense"
    assert labels_among(corpus.columns).options["0"] == "other"


def test_only_marked_words_carry_labels_where_texts_are_marked(
    tiny_service: EncoderService,
) -> None:
    text = "the python and the python"
    own = Corpus("Marked", (text, text), {"sense": ("a", "b")}, spans=((4, 10), (19, 25)))
    uses = uses_of(LiveCorpus(own, tiny_service, MODEL))
    assert uses.labels == ("a", "", "", "b")
    assert uses.codes.tolist() == [0, -1, -1, 1]


def test_a_label_that_begins_with_the_word_is_said_without_it(
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
def test_labels_that_part_nothing_leave_the_rest(
    tiny_service: EncoderService, labels: dict[str, tuple[str, ...]], problem: str
) -> None:
    own = shown(tiny_service, live(tiny_service, **labels), own="a python sleeps")
    assert own.uses.trial.problem == problem
    assert (own.course.curve, own.separation, curve_rows(own.uses, ())) == ((), None, [])
    assert len(own.concordance.lines) == 8
    assert own.sentence is not None
    assert not own.sentence.problem


def test_the_words_own_vectors_are_scaled(tiny_service: EncoderService) -> None:
    corpus = live(tiny_service, sense=SENSES)
    uses = uses_of(corpus, "  PYTHON ")
    np.testing.assert_allclose(
        units_at(uses, corpus, 2), scaled(corpus.vectors(uses.occurrences, 2))
    )


def test_contexts_are_cut_between_words_and_keep_the_word_whole(
    tiny_service: EncoderService,
) -> None:
    uses = uses_of(live(tiny_service, ("word " * 6 + "python\n\tis " + "more " * 500, "python")))
    assert around(uses, 0, 12) == ("… word word ", "python", " is more …")
    assert around(uses, 1, 12) == ("", "python", "")
    assert around(uses, 0, 10_000)[0] == "word " * 6


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
        ("<b>", "as a word of its own"),
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


# A visitor's sentence


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pythons", "“python” does not occur in your sentence"),
        ("python " * 2_000, f"and at most {LONGEST_SENTENCE:,} are compared."),
        ("word " * 200 + "python", "lies beyond the part of your sentence that the model reads."),
    ],
)
def test_a_sentence_that_cannot_be_compared_says_why(
    tiny_service: EncoderService, text: str, said: str
) -> None:
    own = shown(tiny_service, live(tiny_service, sense=SENSES), own=text)
    assert own.sentence is not None
    assert said in own.sentence.problem
    assert (own.cosines, own.sentence.text) == (None, text)
    assert len(own.concordance.lines) == 8


def test_a_sentence_of_the_corpus_is_nearest_to_itself(tiny_service: EncoderService) -> None:
    own = shown(tiny_service, live(tiny_service, sense=SENSES), own=TEXTS[6], sort="cosine")
    assert own.sentence is not None
    assert own.sentence.near[0] == own.concordance.lines[0].place == 6
    assert own.sentence.cosines[6] == pytest.approx(1, abs=1e-5)
    np.testing.assert_allclose(own.sentence.places[own.layer], own.places[6], atol=1e-4)
    match = own.sentence.match
    assert match is not None
    assert match.kind == "sense"
    assert set(match.names) == {"snake", "language"}
    assert match.margin == pytest.approx(match.cosines[0] - match.cosines[1], abs=1e-6)
    expected = "in"
    expected = "between" if match.margin < match.low_margin else expected
    expected = "unlike" if match.cosines[0] < match.low_cosine else expected
    assert own.separation is not None
    low = own.separation.interval[0]
    expected = "unclear" if round(100 * low) <= round(100 * own.uses.trial.chance) else expected
    assert match.verdict == expected


def test_without_labels_a_sentence_falls_to_a_group(tiny_service: EncoderService) -> None:
    sentence = shown(tiny_service, live(tiny_service), own=TEXTS[0], groups="2").sentence
    assert sentence is not None
    assert sentence.match is not None
    assert sentence.match.kind == "group"
    alone = shown(tiny_service, live(tiny_service), own=TEXTS[0] + " python").sentence
    assert alone is not None
    assert (alone.match, alone.n_more) == (None, 1)
