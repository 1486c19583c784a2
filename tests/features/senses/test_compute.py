"""From a view and a corpus to what the page shows: any word, any labels, any sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from components.core import BUNDLED_ID, EncoderService
from components.core.errors import CorpusError
from components.corpus.corpus import Corpus
from components.corpus.live import LiveCorpus
from components.features.senses.compute import concordance as concordances
from components.features.senses.compute.concordance import concordance_rows
from components.features.senses.compute.contexts import around
from components.features.senses.compute.course import curve_rows, units_at
from components.features.senses.compute.groups import groups_rows
from components.features.senses.compute.own import LONGEST_OWN
from components.features.senses.compute.picture import picture_of
from components.features.senses.compute.senses import (
    Senses,
    beside,
    linked_places,
    senses_in,
    senses_of,
    table_of,
)
from components.features.senses.compute.word import Found, Missing, column_of, word_in
from components.features.senses.controls import (
    corpus_among,
    labels_among,
    only_among,
    other_model_among,
)
from components.features.senses.measures.vectors import scaled
from tests.support.senses import senses_view

MODEL = "folder:bert"
PETS = ("my {} slept here", "a {} is asleep under the warm lamp", "feed the {}", "the {} was happy")
CODE = ("write it in {}", "a program in {}", "{} is a language", "she taught {} to anyone")
TEXTS = [text.format("python") for text in PETS + CODE]
SENSES = ("snake",) * 4 + ("language",) * 4


def live(
    service: EncoderService, texts: Sequence[str] = TEXTS, model: str = MODEL, **labels: Any
) -> LiveCorpus:
    own = Corpus("Snakes", tuple(texts), labels=labels)
    return LiveCorpus(own, service, model, split="split")


def shown(service: EncoderService, corpus: LiveCorpus, **controls: Any) -> Senses:
    layer = controls.pop("layer", None)
    view = senses_view(layer=layer, **{"word": "python", **controls})
    found = senses_in(corpus, view, service)
    assert isinstance(found, Senses), found
    return found


def missing(service: EncoderService, corpus: LiveCorpus, word: str) -> Missing:
    found = senses_in(corpus, senses_view(word=word), service)
    assert isinstance(found, Missing)
    return found


# The default, on the bundled model


@pytest.mark.slow
def test_the_first_sight_shows_a_word_whose_senses_part(service: EncoderService) -> None:
    own = senses_of(senses_view(), service)
    assert isinstance(own, Senses)
    assert own.found.word == "python"
    assert own.found.senses == ("animal", "language")
    assert own.layers == tuple(range(7))
    assert own.layer == 6
    shares = [point.accuracy for point in own.course.curve]
    assert shares[0] < 0.75 < max(shares)
    assert len(own.grouping.each) > 1
    assert own.grouping.rand > own.grouping.shuffled
    assert all(len(group.central) == 3 for group in own.grouping.each)
    assert len(own.concordance.lines) == 25
    assert own.concordance.n_pages == 2
    assert not own.notes


@pytest.mark.slow
def test_a_sentence_about_snakes_falls_to_the_animal(service: EncoderService) -> None:
    texts = {
        "animal": "The python swallowed a rat and slept in its cage for a week.",
        "language": "My code in Python 3 raises an error when I import the module.",
    }
    for sense, text in texts.items():
        own = senses_of(senses_view(own=text), service)
        assert isinstance(own, Senses)
        assert own.own is not None
        assert own.own.fall is not None
        assert own.own.fall.names[0] == sense
        assert own.cosine_to == "own"
        assert own.found.labels[own.own.near[0]] == sense


@pytest.mark.slow
def test_the_sentiment_set_is_held_out_by_its_split(service: EncoderService) -> None:
    own = senses_of(senses_view(corpus="sentiment", word="new"), service)
    assert isinstance(own, Senses)
    assert own.found.column == "sentiment"
    assert own.found.trial.how == "split"


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
    assert isinstance(found, Found)
    assert found.labels == ("a", "", "", "b")
    assert found.codes.tolist() == [0, -1, -1, 1]


def test_a_label_that_begins_with_the_word_is_said_without_it(
    tiny_service: EncoderService,
) -> None:
    labels = tuple(f"Python: {sense}" for sense in SENSES)
    found = word_in(live(tiny_service, sense=labels), "python", "sense")
    assert isinstance(found, Found)
    assert set(found.senses) == {"snake", "language"}
    mixed = word_in(live(tiny_service, sense=(*labels[:7], "python:")), "python", "sense")
    assert isinstance(mixed, Found)
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
    assert own.found.trial.problem == problem
    assert own.course.curve == ()
    assert own.separation is None
    assert curve_rows(own.found, own.course.curve) == []
    assert len(own.concordance.lines) == 8
    assert own.own is not None
    assert not own.own.problem


def test_the_words_own_vectors_are_scaled(tiny_service: EncoderService) -> None:
    corpus = live(tiny_service, sense=SENSES)
    found = word_in(corpus, "  PYTHON ", "sense")
    assert isinstance(found, Found)
    units = units_at(found, corpus, 2)
    np.testing.assert_allclose(units, scaled(corpus.vectors(found.occurrences, 2)))


# A word that is not there


def test_a_word_that_is_not_there_names_what_is(tiny_service: EncoderService) -> None:
    corpus = live(tiny_service)
    own = missing(tiny_service, corpus, "pithon")
    assert own.similar[0].word == "python"
    assert own.problem == (
        "“pithon” does not stand in Snakes as a word of its own. Spelled alike: python (8)."
    )
    inside = missing(tiny_service, corpus, "pyth")
    assert inside.inside[0].word == "python"
    assert "It stands inside python (8)." in inside.problem


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("x" * 10_000, "has 10,000 characters, and a word here has at most 64."),
        ("two  words", "Type one word, without blanks."),
        ("蟒蛇", "Type another word, or choose one of the list."),
        ("\N{NULL}", "Type another word"),
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
    assert own.found.word == "lamp"


def test_a_corpus_in_another_script_is_searched_too(tiny_service: EncoderService) -> None:
    texts = ("Замок стоит на горе", "замок сломался", "новый замок висит", "你 好 замок")
    own = shown(tiny_service, live(tiny_service, texts), word="ЗАМОК")
    assert own.found.n == 4
    assert own.concordance.lines[0].keyword == "Замок"
    empty = missing(tiny_service, live(tiny_service, ("?!", "…")), "a")
    assert "does not stand" in empty.problem


# Few occurrences


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_few_occurrences_are_shown_without_groups(tiny_service: EncoderService, n: int) -> None:
    own = shown(tiny_service, live(tiny_service, TEXTS[:n]), groups="found")
    assert own.found.n == n
    assert own.grouping.each == ()
    assert own.grouping.problem
    assert own.grouping.groups.tolist() == [-1] * n
    assert own.places.shape == (n, 2)


def test_more_groups_than_occurrences_say_so(tiny_service: EncoderService) -> None:
    own = shown(tiny_service, live(tiny_service, TEXTS[:3]), groups="5")
    assert own.grouping.problem == (
        "3 different vectors cannot make 5 groups. Choose 3 groups at most."
    )


def test_a_chosen_number_of_groups_is_made(tiny_service: EncoderService) -> None:
    own = shown(tiny_service, live(tiny_service, sense=SENSES), groups="3")
    assert [group.n for group in own.grouping.each] == sorted(
        np.bincount(own.grouping.groups).tolist(), reverse=True
    )
    assert sum(group.n for group in own.grouping.each) == 8
    assert np.isfinite(own.grouping.rand)
    for group in own.grouping.each:
        assert set(group.central) <= set(np.flatnonzero(own.grouping.groups == group.number))
        assert "python" not in group.words
    assert len(groups_rows(own.found, own.grouping)) == 3


# The layer


def test_a_layer_that_is_not_stored_is_said(tiny_service: EncoderService) -> None:
    own = shown(tiny_service, live(tiny_service), layer=9)
    assert own.layer == 3
    assert own.notes == ("This corpus has no vectors of layer 9: layer 3 is shown in its place.",)
    assert shown(tiny_service, live(tiny_service), layer=1).layer == 1


# The concordance


def test_the_concordance_is_sorted_and_paged(tiny_service: EncoderService) -> None:
    texts = [f"{word} python {other}" for word in "dbca" for other in "zyxwvut"]
    corpus = live(tiny_service, texts, sense=("s", "t") * 14)
    own = shown(tiny_service, corpus, groups="2", chosen=0)
    orders = {}
    for sort in ("text", "left", "right", "sense", "group", "cosine", "nonsense"):
        view = shown(tiny_service, corpus, groups="2", chosen=1, sort=sort)
        orders[sort] = view.concordance.order.tolist()
        assert sorted(orders[sort]) == list(range(28))
    found = own.found.occurrences
    assert [found.left[i] for i in orders["left"]] == sorted(found.left)
    assert [found.right[i] for i in orders["right"]] == sorted(found.right)
    assert orders["nonsense"] == orders["text"] == list(range(28))
    groups = shown(tiny_service, corpus, groups="2").grouping.groups
    assert [groups[i] for i in orders["group"]] == sorted(groups.tolist())
    assert orders["sense"] == [*range(0, 28, 2), *range(1, 28, 2)]
    last = shown(tiny_service, corpus, rows=99).concordance
    assert (last.page, last.n_pages, len(last.lines)) == (2, 2, 3)
    assert len(concordance_rows(own.found, groups, None)) == 28


def test_sorted_by_cosine_the_chosen_comes_first(tiny_service: EncoderService) -> None:
    corpus = live(tiny_service)
    row = int(corpus.occurrences("python").rows[5])
    own = shown(tiny_service, corpus, chosen=row, sort="cosine")
    assert own.chosen == 5
    assert own.cosine_to == "chosen"
    assert own.concordance.lines[0].place == 5
    cosines = [line.cosine for line in own.concordance.lines]
    assert cosines == sorted(cosines, reverse=True)  # type: ignore[type-var]
    assert shown(tiny_service, corpus, chosen=10**9, sort="cosine").concordance.sort == "text"


def test_one_sense_or_group_can_be_shown_alone(tiny_service: EncoderService) -> None:
    corpus = live(tiny_service, sense=SENSES)
    own = shown(tiny_service, corpus, groups="2", only="s1")
    assert own.concordance.order.tolist() == np.flatnonzero(own.found.codes == 1).tolist()
    own = shown(tiny_service, corpus, groups="2", only="g0")
    assert own.concordance.order.tolist() == np.flatnonzero(own.grouping.groups == 0).tolist()
    for odd in ("g99", "s", "nonsense", "g--1", "s٣"):
        assert len(shown(tiny_service, corpus, only=odd).concordance.order) == 8
    options = only_among(own.found.senses, 2, some_in_none=True).options
    assert list(options) == ["", "s0", "s1", "g0", "g1", "g-1"]


def test_contexts_are_cut_between_words_and_keep_the_word_whole(
    tiny_service: EncoderService,
) -> None:
    long = "word " * 6 + "python\n\tis " + "more " * 500
    own = shown(tiny_service, live(tiny_service, (long, "python")))
    left, word, right = around(own.found, 0, 12)
    assert (left, word, right) == ("… word word ", "python", " is more …")
    assert around(own.found, 1, 12) == ("", "python", "")
    assert around(own.found, 0, 10_000)[0] == "word " * 6
    assert concordances.PAGE_SIZE == 25


# The own sentence


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no snake of that name", "“python” does not stand in your sentence."),
        ("pythons", "does not stand in your sentence"),
        ("python " * 2_000, f"and at most {LONGEST_OWN:,} are compared."),
        ("word " * 200 + "python", "stands behind the part of your sentence that fits the model."),
    ],
)
def test_a_sentence_that_cannot_be_compared_says_why(
    tiny_service: EncoderService, text: str, said: str
) -> None:
    own = shown(tiny_service, live(tiny_service, sense=SENSES), own=text)
    assert own.own is not None
    assert said in own.own.problem
    assert own.cosines is None
    assert own.own.text == text
    assert len(own.concordance.lines) == 8


def test_a_sentence_of_the_corpus_is_nearest_to_itself(tiny_service: EncoderService) -> None:
    own = shown(tiny_service, live(tiny_service, sense=SENSES), own=TEXTS[6], sort="cosine")
    assert own.own is not None
    assert own.own.near[0] == 6
    assert own.own.cosines[6] == pytest.approx(1, abs=1e-5)
    np.testing.assert_allclose(own.own.places[own.layer], own.places[6], atol=1e-4)
    assert own.concordance.lines[0].place == 6
    fall = own.own.fall
    assert fall is not None
    assert fall.kind == "sense"
    assert set(fall.names) == {"snake", "language"}
    assert fall.margin == pytest.approx(fall.cosines[0] - fall.cosines[1], abs=1e-6)
    expected = "in"
    expected = "between" if fall.margin < fall.low_margin else expected
    expected = "unlike" if fall.cosines[0] < fall.low_cosine else expected
    assert fall.verdict == expected


def test_without_labels_a_sentence_falls_to_a_group(tiny_service: EncoderService) -> None:
    own = shown(tiny_service, live(tiny_service), own=TEXTS[0], groups="2")
    assert own.own is not None
    assert own.own.fall is not None
    assert own.own.fall.kind == "group"
    alone = shown(tiny_service, live(tiny_service), own=TEXTS[0] + " python")
    assert alone.own is not None
    assert alone.own.fall is None
    assert alone.own.n_more == 1


# Beside it


def test_another_word_layer_or_model_stands_beside(tiny_service: EncoderService) -> None:
    texts = ("my python and my snake", "a snake ate", "the python slept")
    view = replace(senses_view(*texts, word="python"), model=MODEL)
    one = senses_of(view, tiny_service)
    assert isinstance(one, Senses)

    def with_(**controls: Any) -> Senses | Missing | None:
        own = {**view.controls["senses"], **controls}
        return beside(replace(view, controls={"senses": own}), one, tiny_service)

    word = with_(beside="word", other_word="snake")
    assert isinstance(word, Senses)
    assert word.found.word == "snake"
    assert linked_places(one, word, [0]) == ()
    layer = with_(beside="layer", other_layer=0)
    assert isinstance(layer, Senses)
    assert layer.layer == 0
    assert linked_places(one, layer, [1, 0]) == (1, 0)
    model = with_(beside="model", other_model="folder:roberta")
    assert isinstance(model, Senses)
    assert model.found.model == "folder:roberta"
    assert linked_places(one, model, [0, 1]) == (0, 1)
    assert isinstance(with_(beside="word", other_word="lizard"), Missing)
    assert with_() is None
    assert with_(beside="word") is None
    assert with_(beside="model") is None


def test_the_word_table_has_one_point(tiny_service: EncoderService) -> None:
    texts = ("my python and my snake", "the python slept")
    view = replace(senses_view(*texts, word="python", beside="table"), model=MODEL)
    one = senses_of(view, tiny_service)
    assert isinstance(one, Senses)
    own = table_of(view, one, tiny_service)
    assert own is not None
    (tokens,) = tiny_service.tokenize(MODEL, ["python"])
    ids = tokens.token_ids[tokens.special_tokens_mask == 0]
    row = tiny_service.word_rows(MODEL, ids).mean(axis=0)
    vectors = LiveCorpus(Corpus("t", texts), tiny_service, MODEL)
    layer0 = scaled(vectors.vectors(vectors.occurrences("python"), 0))
    assert own.average == pytest.approx(float((layer0 @ scaled(row)).mean()), abs=1e-5)
    assert "".join(own.pieces).replace("##", "") == "python"


def test_a_word_table_of_another_width_is_said(tiny_service: EncoderService) -> None:
    view = replace(senses_view("a python", word="python", beside="table"), model="folder:albert")
    one = senses_of(view, tiny_service)
    assert isinstance(one, Senses)
    own = table_of(view, one, tiny_service)
    assert own is not None
    assert own.problem.startswith("A row of this model's word table has 16 numbers and its layer 0")


# Corpora


def test_a_corpus_that_is_not_there_says_so(tiny_service: EncoderService) -> None:
    with pytest.raises(CorpusError, match="There is no corpus “Zm9vYmFyYmF6cXV4” here"):
        senses_of(senses_view(corpus="Zm9vYmFyYmF6cXV4"), tiny_service)
    with pytest.raises(CorpusError, match="Your sentences are empty"):
        senses_of(senses_view(" ", "", word="a"), tiny_service)


def test_a_stored_corpus_is_opened_by_its_name(tiny_service: EncoderService) -> None:
    corpus = live(tiny_service, sense=SENSES)
    names: list[str] = []

    def opened(name: str) -> LiveCorpus:
        names.append(name)
        return corpus

    own = senses_of(senses_view(corpus="abc"), tiny_service, opened)
    assert isinstance(own, Senses)
    assert own.found.word == "python"
    assert names == ["abc"]
    assert corpus_among({"abc": "My file"}).options["abc"] == "My file"


def test_other_models_leave_the_own_one_out(service: EncoderService) -> None:
    assert BUNDLED_ID not in other_model_among(service.models(), BUNDLED_ID).options


# The picture


def test_the_picture_has_every_layer_and_the_own_sentence(tiny_service: EncoderService) -> None:
    own = shown(tiny_service, live(tiny_service, sense=SENSES), own=TEXTS[0])
    picture = picture_of(own, "sense")
    assert list(picture.places) == list(picture.titles) == [0, 1, 2, 3]
    assert picture.own is not None
    assert list(picture.own) == [0, 1, 2, 3]
    assert len(picture.spots) == 8
    assert picture.by == "sense"
    assert picture_of(shown(tiny_service, live(tiny_service)), "sense").by == "group"


@pytest.mark.slow
def test_a_sample_is_taken_of_very_many_and_said(
    tiny_service: EncoderService, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = tuple(f"python {i} python" for i in range(1_020))
    own = shown(tiny_service, live(tiny_service, texts), layer=0, groups="2")
    assert own.found.n == 2_000
    assert own.found.occurrences.n_total == 2_040
    assert own.notes[0].startswith("2,000 of its 2,040 occurrences are shown and measured")
