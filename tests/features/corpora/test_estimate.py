"""What indexing is said to take before it begins, against what it took."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.core import BUNDLED_ID, EncoderService
from components.corpus.bundled import ambiguous_corpus, sentiment_corpus
from components.corpus.corpus import Corpus
from components.corpus.store.about import indexing_of
from components.corpus.store.indexing import index
from components.corpus.store.store import Store
from components.features.corpora.compute import indexing_cost, usual_layers
from tests.support.corpus_store import ignore


@pytest.mark.slow
def test_words_and_bytes_are_about_what_is_stored(service: EncoderService, tmp_path: Path) -> None:
    corpus, card = sentiment_corpus(), service.load(BUNDLED_ID)
    own = indexing_of(card, (0, 6), "exact")
    expected = indexing_cost(corpus, own, card, service, 1e-3)
    store = Store(str(tmp_path))
    name = store.create(corpus, own).name
    index(store, service, name, ignore)
    about = store.about(name)
    assert expected.n_texts == about.n_texts
    assert expected.n_words == pytest.approx(about.n_occurrences, rel=0.05)
    assert expected.n_bytes == pytest.approx(about.n_bytes, rel=0.2)


def test_time_grows_with_texts_and_tokens(service: EncoderService) -> None:
    card = service.load(BUNDLED_ID)
    own = indexing_of(card, (6,), "exact")
    texts = ambiguous_corpus().texts
    one, two = (
        indexing_cost(Corpus("x", texts[:n]), own, card, service, 1e-3).seconds for n in (100, 200)
    )
    assert two == pytest.approx(2 * one, rel=0.2)
    slow = indexing_cost(Corpus("x", texts[:100]), own, card, service, 2e-3).seconds
    assert slow == pytest.approx(2 * one)
    long = indexing_cost(Corpus("x", ("word " * 5_000,)), own, card, service, 1.0)
    assert long.seconds <= 1.2 * card.max_length


def test_all_layers_are_usual_unless_they_take_much(service: EncoderService) -> None:
    card = service.load(BUNDLED_ID)
    assert usual_layers(ambiguous_corpus(), card) == tuple(range(7))
    assert usual_layers(Corpus("x", ("one two three four five " * 20,) * 2_000), card) == (0, 3, 6)
