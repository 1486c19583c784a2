"""From a view and a corpus to what the page shows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from contextlens.core import EncoderService
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.live import LiveCorpus
from contextlens.corpus.store.about import indexing_of
from contextlens.corpus.store.indexing import index
from contextlens.corpus.store.store import Store
from contextlens.features.senses import corpora
from contextlens.features.senses.senses import Senses, reading_task, senses_in, senses_of
from tests.support.corpus_store import ignore
from tests.support.senses import MODEL, live, senses_view, shown


@pytest.mark.slow
def test_the_sentiment_set_is_held_out_by_its_split(service: EncoderService) -> None:
    senses = senses_of(senses_view(corpus="sentiment", word="the"), service)
    assert isinstance(senses, Senses)
    assert senses.uses.column == "sentiment"
    assert senses.uses.trial.how == "split"


def test_a_layer_that_is_not_stored_is_noted(tiny_service: EncoderService) -> None:
    senses = shown(tiny_service, live(tiny_service), layer=9)
    assert senses.layer == 3
    assert list(senses.notes()) == ["This corpus has no vectors of layer 9, so layer 3 is shown."]
    assert shown(tiny_service, live(tiny_service), layer=1).layer == 1


def test_a_word_in_long_texts_is_read_by_a_job(tiny_service: EncoderService) -> None:
    view = replace(senses_view(word="python"), model=MODEL)
    for rest, is_job in (("sleeps", False), ("sleeps " * 2_000, True)):
        corpus = live(tiny_service, [f"{i} python {rest}" for i in range(2)])
        assert (reading_task(corpus, view) is not None) == is_job


def test_a_sample_of_very_many_is_noted(tiny_service: EncoderService) -> None:
    texts = tuple(f"python {i} python" for i in range(1_020))
    senses = shown(tiny_service, live(tiny_service, texts), layer=0, groups="2")
    assert (senses.uses.n, senses.uses.occurrences.n_total) == (2_000, 2_040)
    note = next(senses.notes())
    assert note.startswith("2,000 of the word's 2,040 uses are shown and measured")


def test_a_stored_corpus_shows_the_same_up_to_float16(
    tiny_service: EncoderService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = tuple(
        text.format(i)
        for i in ("one", "two", "three", "four", "five")
        for text in ("my {} python sleeps, python", "write {} lines in Python")
    )
    card, store = tiny_service.load(MODEL), Store(str(tmp_path))
    monkeypatch.setattr(corpora, "store", lambda: store)
    corpus = Corpus("Pets", texts, {"sense": ("snake", "language") * 5})
    name = store.create(corpus, indexing_of(card, range(card.n_layers + 1), "exact")).name
    index(store, tiny_service, name, ignore)
    view = replace(senses_view(corpus=name, word="python", groups="2", own=texts[0]), model=MODEL)
    stored = senses_of(view, tiny_service)
    live = senses_in(LiveCorpus(corpus, tiny_service, MODEL), view, tiny_service)
    assert isinstance(stored, Senses)
    assert isinstance(live, Senses)
    assert stored.uses.labels == live.uses.labels
    assert stored.uses.occurrences.left == live.uses.occurrences.left
    assert stored.uses.occurrences.rows.tolist() == live.uses.occurrences.rows.tolist()
    assert stored.concordance.lines[0].right == live.concordance.lines[0].right
    for ours, theirs in zip(stored.by_layer.curve, live.by_layer.curve, strict=True):
        assert abs(ours.right - theirs.right) <= 1
        assert ours.silhouette == pytest.approx(theirs.silhouette, abs=0.01)
    assert stored.cosines is not None
    assert live.cosines is not None
    np.testing.assert_allclose(stored.cosines, live.cosines, atol=2e-3)


def test_a_corpus_that_was_indexed_fast_is_read_exactly(
    fast_service: EncoderService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = tuple(f"my {i} python sleeps, and the python of {i} eats" for i in range(20))
    card, store = fast_service.load(MODEL), Store(str(tmp_path))
    monkeypatch.setattr(corpora, "store", lambda: store)
    corpus = Corpus("Pets", texts, {"sense": ("snake", "language") * 10})
    name = store.create(corpus, indexing_of(card, range(card.n_layers + 1), "fast")).name
    index(store, fast_service, name, ignore)
    view = replace(senses_view(corpus=name, word="python", groups="2"), model=MODEL)
    stored = senses_of(view, fast_service)
    live = senses_in(LiveCorpus(corpus, fast_service, MODEL), view, fast_service)
    assert isinstance(stored, Senses)
    assert isinstance(live, Senses)
    assert store.open(name).about.indexing.precision == "fast"
    assert stored.passport(fast_service).precision == "exact"
    for layer in stored.corpus.layers:
        exact = live.corpus.vectors(live.uses.occurrences, layer)
        ours = stored.corpus.vectors(stored.uses.occurrences, layer)
        np.testing.assert_allclose(ours, exact, atol=1e-5)
        kept = store.open(name).vectors(stored.uses.occurrences, layer)
        assert np.abs(kept - exact).max() > 1e-3


def test_a_selection_on_the_map_is_listed_alone(tiny_service: EncoderService) -> None:
    corpus = live(tiny_service, [f"{i} the python {i} and the cat" for i in range(10)])
    every = shown(tiny_service, corpus).rows

    def selected(*rows: int, digest: str = "") -> Senses:
        digest = digest or shown(tiny_service, corpus).uses.digest
        senses = senses_in(corpus, senses_view(word="python"), tiny_service, (digest, rows))
        assert isinstance(senses, Senses)
        return senses

    senses = selected(every[7], every[2])
    assert senses.is_drawn
    assert senses.selected == (2, 7)
    assert senses.listed_rows == (every[2], every[7])
    assert [line.index for line in senses.concordance.lines] == [2, 7]
    assert selected(every[2], digest="another").selected is None
    assert selected(10**9).selected is None
