"""The search against scikit-learn, its shares against the cosine, and its words on the page."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.corpus.corpus import Corpus
from contextlens.features.sentences.search import (
    Hit,
    SearchResult,
    first,
    index_of,
    search,
    search_snippet,
    texts_of,
)
from contextlens.features.sentences.vectors import encode_texts
from tests.support.snippets import run

TEXTS = (
    "A bat hung from the ceiling of the cave.",
    "The animal shelter is closed today.",
    "He paid the bill at noon.",
    "An owl hunts at night.",
    "Shares fell by two per cent.",
    "The night train is late; the animal on the line has gone.",
    "She plays the violin.",
)
QUERY = "an animal that flies at night"


@pytest.fixture(scope="module")
def result(service: EncoderService) -> SearchResult:
    return searched(service, QUERY)


def searched(service: EncoderService, query: str, texts: tuple[str, ...] = TEXTS) -> SearchResult:
    card = service.load(BUNDLED_ID)
    vectors = encode_texts(texts, card, service)
    index = index_of(texts, vectors.by_pooling["mean"])
    return search(index, query, texts_of(Corpus("mine", texts)), card, service)


def test_the_order_is_that_of_all_cosines_and_of_tf_idf(
    result: SearchResult, service: EncoderService
) -> None:
    card = service.load(BUNDLED_ID)
    vectors = encode_texts([QUERY, *TEXTS], card, service).by_pooling["mean"]
    cosines = cosine_similarity(vectors[:1], vectors[1:])[0]
    order = np.argsort(-cosines)[:5]
    assert [hit.index for hit in result.by_model] == order.tolist()
    np.testing.assert_allclose([h.cosine for h in result.by_model], cosines[order], atol=1e-5)
    assert [hit.rank for hit in result.by_model] == [1, 2, 3, 4, 5]
    words = TfidfVectorizer(stop_words="english").fit(TEXTS)
    scores = cosine_similarity(words.transform([QUERY]), words.transform(TEXTS))[0]
    found = [h.index for h in result.by_words]
    assert set(found) == set(np.flatnonzero(scores))
    assert np.all(np.diff(scores[found]) <= 0)
    assert {row["text"] for row in result.rows()} >= {TEXTS[i] for i in found}


def test_the_shares_and_those_of_special_tokens_sum_to_the_similarity(
    result: SearchResult, service: EncoderService
) -> None:
    hit = result.by_model[0]
    asked, encoding = service.encode(BUNDLED_ID, [QUERY, hit.text])
    query = asked.hidden[-1].mean(axis=0)
    states = encoding.hidden[-1]
    length = np.linalg.norm(query) * np.linalg.norm(states.mean(axis=0))
    special = states[encoding.special_tokens_mask == 1] @ query / len(states) / length
    shares = sum(share for _, share in hit.shares)
    assert shares + special.sum() == pytest.approx(hit.cosine, abs=1e-5)
    assert hit.matches[0].cosine == max(match.cosine for match in hit.matches)


def test_the_same_word_matches_itself_best(service: EncoderService) -> None:
    hit = searched(service, TEXTS[3]).by_model[0]
    assert (hit.text, round(hit.cosine, 4)) == (TEXTS[3], 1.0)
    assert all(match.query_word == match.text_word for match in hit.matches)


def test_a_query_without_a_content_word_finds_nothing_by_words(service: EncoderService) -> None:
    for query in ("of the", "🙂", "猫"):
        found = searched(service, query)
        assert not found.by_words
        assert found.n_without_word == len(found.by_model) == 5
    assert not searched(service, "a", ("the", "of")).by_words


@pytest.mark.parametrize("n", [0, 1, 3, 6, 9])
def test_the_first_are_those_of_a_whole_sort(n: int) -> None:
    scores = np.array([0.5, 0.9, 0.5, 0.1, 0.9, 0.5], np.float32)
    assert first(scores, n).tolist() == np.argsort(-scores, kind="stable")[:n].tolist()


def test_words_are_lit_by_their_share_and_text_is_escaped() -> None:
    text = "<b>one</b> & two"
    spans = (((3, 6), 0.2), ((13, 16), 0.4), ((0, 1), -0.1))
    hit = Hit(0, text, 0.5, 0.0, 1, 0, spans, ())
    drawn = hit.highlighted()
    assert "<b>" not in drawn
    assert "&lt;b&gt;" in drawn
    assert '28%, transparent)">one</span>' in drawn
    assert '55%, transparent)">two</span>' in drawn
    assert drawn.count("<span") == 2


def test_the_snippet_gives_the_same_similarities(
    result: SearchResult, service: EncoderService
) -> None:
    left = run(search_snippet(service.load(BUNDLED_ID), QUERY, TEXTS))
    for hit in (*result.by_model, *result.by_words):
        assert left["cosines"][hit.index] == pytest.approx(hit.cosine, abs=1e-5)
        assert left["tf_idf"][hit.index] == pytest.approx(hit.word_score, abs=1e-5)
