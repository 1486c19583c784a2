"""From a view and a corpus to what the page shows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contextlens.analysis.separation import scaled
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.errors import CorpusError
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.live import LiveCorpus
from contextlens.corpus.searchable import SearchableCorpus
from contextlens.corpus.store.about import indexing_of
from contextlens.corpus.store.indexing import index
from contextlens.corpus.store.store import Store
from contextlens.features.senses import corpora
from contextlens.features.senses.compute import (
    PAGE_SIZE,
    Senses,
    WordResult,
    beside,
    color_of_code,
    concordance,
    concordance_rows,
    lines_at,
    linked_places,
    name_of,
    result_of,
    senses_in,
    senses_of,
    table_of,
    word_map_of,
)
from contextlens.features.senses.controls import corpus_among, only_among, other_model_among
from contextlens.features.senses.corpora import suggested
from contextlens.features.senses.figures import kinds_of
from contextlens.features.senses.words import MissingWord, groups_rows
from contextlens.figures.theme import NEUTRAL
from tests.support.corpus_store import ignore, indexed
from tests.support.senses import MODEL, SENSES, TEXTS, live, senses_view, shown


@pytest.mark.slow
def test_the_sentiment_set_is_held_out_by_its_split(service: EncoderService) -> None:
    own = senses_of(senses_view(corpus="sentiment", word="the"), service)
    assert isinstance(own, Senses)
    assert own.uses.column == "sentiment"
    assert own.uses.trial.how == "split"


@pytest.mark.parametrize("n", [1, 3])
def test_few_occurrences_are_shown_without_groups(tiny_service: EncoderService, n: int) -> None:
    own = shown(tiny_service, live(tiny_service, TEXTS[:n]), groups="found")
    assert own.uses.n == n
    assert own.grouping.descriptions == ()
    assert own.grouping.problem
    assert own.grouping.groups.tolist() == [-1] * n
    assert own.places.shape == (n, 2)
    more = shown(tiny_service, live(tiny_service, TEXTS[:3]), groups="5")
    assert more.grouping.problem == (
        "3 different vectors cannot make 5 groups. Choose 3 groups at most."
    )


def test_a_chosen_number_of_groups_is_made(tiny_service: EncoderService) -> None:
    own = shown(tiny_service, live(tiny_service, sense=SENSES), groups="3")
    sizes = [group.n for group in own.grouping.descriptions]
    assert sizes == sorted(np.bincount(own.grouping.groups).tolist(), reverse=True)
    assert sum(sizes) == 8
    assert np.isfinite(own.grouping.rand)
    for group in own.grouping.descriptions:
        assert set(group.central) <= set(np.flatnonzero(own.grouping.groups == group.number))
        assert "python" not in group.words
    assert len(groups_rows(own.uses, own.grouping)) == 3


def test_a_layer_that_is_not_stored_is_said(tiny_service: EncoderService) -> None:
    own = shown(tiny_service, live(tiny_service), layer=9)
    assert own.layer == 3
    assert own.notes == ("This corpus has no vectors of layer 9, so layer 3 is shown.",)
    assert shown(tiny_service, live(tiny_service), layer=1).layer == 1


@pytest.mark.slow
def test_a_sample_is_taken_of_very_many_and_said(tiny_service: EncoderService) -> None:
    texts = tuple(f"python {i} python" for i in range(1_020))
    own = shown(tiny_service, live(tiny_service, texts), layer=0, groups="2")
    assert (own.uses.n, own.uses.occurrences.n_total) == (2_000, 2_040)
    assert own.notes[0].startswith("2,000 of the word's 2,040 uses are shown and measured")


# Beside it


def test_another_word_layer_or_model_stands_beside(tiny_service: EncoderService) -> None:
    texts = ("my python and my snake", "a snake ate", "the python slept")
    view = replace(senses_view(*texts, word="python"), model=MODEL)
    one = senses_of(view, tiny_service)
    assert isinstance(one, Senses)

    def with_(**controls: Any) -> Senses | MissingWord | None:
        own = {**view.controls["senses"], **controls}
        return beside(replace(view, controls={"senses": own}), one, tiny_service)

    word = with_(beside="word", other_word="snake")
    layer = with_(beside="layer", other_layer=0)
    model = with_(beside="model", other_model="folder:roberta")
    assert isinstance(word, Senses)
    assert isinstance(layer, Senses)
    assert isinstance(model, Senses)
    assert (word.uses.word, layer.layer, model.uses.model) == ("snake", 0, "folder:roberta")
    assert linked_places(one, word, [0]) == ()
    assert linked_places(one, layer, [1, 0]) == (1, 0)
    assert linked_places(one, model, [0, 1]) == (0, 1)
    assert isinstance(with_(beside="word", other_word="lizard"), MissingWord)
    assert with_() is with_(beside="word") is with_(beside="model") is None


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
    assert own.problem.startswith(
        "The rows of this model's word table have 16 numbers, but its layer 0"
    )


# Corpora


def test_a_corpus_that_is_not_there_says_so(tiny_service: EncoderService) -> None:
    with pytest.raises(CorpusError, match="There is no corpus “Zm9vYmFyYmF6cXV4” here"):
        senses_of(senses_view(corpus="Zm9vYmFyYmF6cXV4"), tiny_service)
    with pytest.raises(CorpusError, match="Your sentences are empty"):
        senses_of(senses_view(" ", "", word="a"), tiny_service)


@pytest.mark.slow
def test_a_stored_corpus_shows_the_same_but_for_what_float16_rounds(
    tiny_service: EncoderService, tmp_path: Path
) -> None:
    texts = tuple(
        text.format(i)
        for i in ("one", "two", "three", "four", "five")
        for text in ("my {} python sleeps, python", "write {} lines in Python")
    )
    card, store = tiny_service.load(MODEL), Store(str(tmp_path))
    corpus = Corpus("Pets", texts, {"sense": ("snake", "language") * 5})
    name = store.create(corpus, indexing_of(card, range(card.n_layers + 1), "exact")).name
    index(store, tiny_service, name, ignore)
    view = replace(senses_view(corpus=name, word="python", groups="2", own=texts[0]), model=MODEL)
    kept = senses_of(view, tiny_service, store.open)
    live = senses_in(LiveCorpus(corpus, tiny_service, MODEL), view, tiny_service)
    assert isinstance(kept, Senses)
    assert isinstance(live, Senses)
    assert kept.uses.labels == live.uses.labels
    assert kept.uses.occurrences.left == live.uses.occurrences.left
    assert kept.uses.occurrences.rows.tolist() == live.uses.occurrences.rows.tolist()
    assert kept.concordance.lines[0].right == live.concordance.lines[0].right
    for ours, theirs in zip(kept.course.curve, live.course.curve, strict=True):
        assert abs(ours.right - theirs.right) <= 1
        assert ours.silhouette == pytest.approx(theirs.silhouette, abs=0.01)
    assert kept.cosines is not None
    assert live.cosines is not None
    np.testing.assert_allclose(kept.cosines, live.cosines, atol=2e-3)


def test_other_corpora_and_models_are_offered(service: EncoderService) -> None:
    assert corpus_among({"abc": "My file"}).options["abc"] == "My file"
    assert BUNDLED_ID not in other_model_among(service.models(), BUNDLED_ID).options


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
    found = own.uses.occurrences
    assert [found.left[i] for i in orders["left"]] == sorted(found.left)
    assert [found.right[i] for i in orders["right"]] == sorted(found.right)
    assert orders["nonsense"] == orders["text"] == list(range(28))
    groups = own.grouping.groups
    assert [groups[i] for i in orders["group"]] == sorted(groups.tolist())
    assert orders["sense"] == [*range(0, 28, 2), *range(1, 28, 2)]
    last = shown(tiny_service, corpus, rows=99).concordance
    assert (last.page, last.n_pages, len(last.lines), PAGE_SIZE) == (2, 2, 3, 25)
    assert len(concordance_rows(own.uses, groups, None)) == 28


def test_sorted_by_cosine_the_chosen_comes_first(tiny_service: EncoderService) -> None:
    corpus = live(tiny_service)
    row = int(corpus.occurrences("python").rows[5])
    own = shown(tiny_service, corpus, chosen=row, sort="cosine")
    assert own.chosen == own.concordance.lines[0].place == 5
    assert own.cosine_to == "chosen"
    cosines = [line.cosine for line in own.concordance.lines]
    assert cosines == sorted(cosines, reverse=True)  # type: ignore[type-var]
    assert shown(tiny_service, corpus, chosen=10**9, sort="cosine").concordance.sort == "text"


def test_one_sense_or_group_can_be_shown_alone(tiny_service: EncoderService) -> None:
    corpus = live(tiny_service, sense=SENSES)
    own = shown(tiny_service, corpus, groups="2", only="s1")
    assert own.concordance.order.tolist() == np.flatnonzero(own.uses.codes == 1).tolist()
    own = shown(tiny_service, corpus, groups="2", only="g0")
    assert own.concordance.order.tolist() == np.flatnonzero(own.grouping.groups == 0).tolist()
    for odd in ("g99", "nonsense", "g--1", "s٣"):
        assert len(shown(tiny_service, corpus, only=odd).concordance.order) == 8
    options = only_among(own.uses.senses, 2, some_in_none=True).options
    assert list(options) == ["", "s0", "s1", "g0", "g1", "g-1"]


# The map and its selection


def test_the_map_has_every_layer_and_the_visitors_sentence(tiny_service: EncoderService) -> None:
    own = shown(tiny_service, live(tiny_service, sense=SENSES), own=TEXTS[0])
    picture = word_map_of(own, "sense")
    assert picture.sentence_places is not None
    for layers in (picture.places, picture.titles, picture.sentence_places):
        assert list(layers) == [0, 1, 2, 3]
    assert len(picture.spots) == 8
    assert picture.by == "sense"
    assert word_map_of(shown(tiny_service, live(tiny_service)), "sense").by == "group"


@pytest.fixture
def ten(tiny_service: EncoderService) -> LiveCorpus:
    texts = tuple(f"{i} the python {i} and the cat" for i in range(10))
    return LiveCorpus(Corpus("Ten", texts, {"sense": ("a", "b") * 5}), tiny_service, MODEL)


def selected(corpus: LiveCorpus, service: EncoderService, *rows: int, name: str = "") -> WordResult:
    view = senses_view(word="python", groups="2")
    first = result_of(view, corpus, service)
    assert isinstance(first, WordResult)
    found = result_of(view, corpus, service, (name or name_of(first.senses), rows))
    assert isinstance(found, WordResult)
    return found


def test_what_was_drawn_around_is_shown_alone(
    ten: LiveCorpus, tiny_service: EncoderService
) -> None:
    every = selected(ten, tiny_service).every_row
    own = selected(ten, tiny_service, every[7], every[2])
    assert own.selected == (2, 7)
    assert own.rows == (every[2], every[7])
    assert [line.place for line in own.senses.concordance.lines] == [2, 7]
    assert selected(ten, tiny_service, every[2], name="another").selected is None
    assert selected(ten, tiny_service, 10**9).selected is None


def test_a_lasso_within_a_sense_shows_what_is_in_both(
    ten: LiveCorpus, tiny_service: EncoderService
) -> None:
    senses = selected(ten, tiny_service).senses
    groups = senses.grouping.groups
    found = concordance(senses.uses, groups, None, only="s0", within=[0, 1, 2])
    assert found.order.tolist() == [i for i in (0, 1, 2) if senses.uses.codes[i] == 0]
    assert [line.place for line in lines_at(senses.uses, groups, None, [3, 1])] == [3, 1]


def test_colours_are_those_of_the_points(ten: LiveCorpus, tiny_service: EncoderService) -> None:
    own = selected(ten, tiny_service)
    for kind in kinds_of(own.word_map.names, own.word_map.codes, none=own.word_map.none):
        assert {own.color(place) for place in kind.places.tolist()} == {kind.color}
        assert {own.mark(place) for place in kind.places.tolist()} == {kind.name}
    assert color_of_code(-1, 2) == NEUTRAL
    assert color_of_code(30, 40) == color_of_code(39, 40)


def test_words_that_mean_something_are_suggested_first(ten: LiveCorpus) -> None:
    counts = {own.word: own.n for own in suggested(senses_view(), ten)}
    words = list(counts)
    assert set(words[:2]) == {"python", "cat"}
    assert {"the", "and"} < set(words[2:])
    assert counts["the"] == 20


@pytest.mark.parametrize("is_stored", [False, True])
def test_words_with_most_senses_are_suggested_first(
    tiny_service: EncoderService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_stored: bool
) -> None:
    marked = {"cat": ("a", "b", "a"), "python": ("a", "b", "c"), "lamp": ("a", "a", "")}
    rows = [(f"the {word} and the noise of noise", word, label)
            for word, labels in marked.items() for label in labels]  # fmt: skip
    spans = tuple((4, 4 + len(word)) for _, word, _ in rows)
    labels = {"sense": tuple(label for *_, label in rows), "one": ("x",) * 9}
    corpus = Corpus("Marked", tuple(text for text, *_ in rows), labels, spans=spans)
    searchable: SearchableCorpus = LiveCorpus(corpus, tiny_service, MODEL)
    if is_stored:
        store = Store(str(tmp_path))
        monkeypatch.setattr(corpora, "store", lambda: store)
        searchable = store.open(indexed(store, corpus))
    rows_by_word = {row.word: row for row in suggested(senses_view(), searchable)}
    assert [(row.word, row.n_senses) for row in rows_by_word.values()][:4] == [
        ("python", 3), ("cat", 2), ("lamp", 1), ("noise", 0),
    ]  # fmt: skip
    assert (rows_by_word["noise"].n, rows_by_word["python"].n) == (18, 3)
    assert list(rows_by_word)[4:] == ["the", "and", "of"]
    unlabelled = [row.word for row in suggested(senses_view(labels="none"), searchable)]
    assert unlabelled[0] == "noise"
