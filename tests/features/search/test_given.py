"""Searches by the vectors of a file, against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity

from contextlens.analysis.content_words import content_words
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.file_vectors import matrix_vectors
from contextlens.features.search.given import GivenQuery, row_query, search_given
from contextlens.features.search.search import index_of

TEXTS = (
    "The river rose.",
    "Money lies on the table today.",
    "A river of money.",
    "Birds sing.",
    "The bank shut.",
)
ROWS = np.random.default_rng(0).normal(size=(len(TEXTS), 8)).astype(np.float32)


def corpus(n: int = len(TEXTS)) -> Corpus:
    rows = ROWS[:n].copy()
    rows[3:4] = 0
    reasons = np.zeros(len(rows), np.int8)
    given = {"title": "v", "file": "a.csv", "sha256": "", "dtype": "text"}
    own = matrix_vectors(rows, reasons, **given)
    return Corpus("a.csv", TEXTS[:n], vectors=(own,)).read_by(own)


def test_numbers_find_rows_by_their_cosine_and_none_by_words() -> None:
    texts, query = corpus(), np.random.default_rng(1).normal(size=8).astype(np.float32)
    assert texts.own is not None
    index = index_of(texts.texts, texts.own.rows)
    result = search_given(index, texts, GivenQuery("numbers", query))
    cosines = cosine_similarity([query], ROWS)[0]
    order = [i for i in np.argsort(-cosines).tolist() if i != 3]  # the row has no vector
    assert [(hit.row, hit.text) for hit in result.by_vectors] == [(i + 1, TEXTS[i]) for i in order]
    np.testing.assert_allclose([hit.cosine for hit in result.by_vectors], cosines[order], atol=1e-6)
    assert not result.by_words
    assert [row["rank by words"] for row in result.rows()] == [None] * 4
    lines = [str(hit.line()).replace("−", "-") for hit in result.by_vectors]
    assert lines == [f"row {i + 1} · similarity {cosines[i]:.2f}" for i in order]
    assert result.median == pytest.approx(np.median(cosines[order]), abs=1e-6)


def test_a_row_finds_others_by_its_vector_and_by_its_words() -> None:
    texts = corpus()
    assert texts.own is not None
    result = search_given(index_of(texts.texts, texts.own.rows), texts, row_query(texts, 3))
    assert 3 not in {hit.row for hit in (*result.by_vectors, *result.by_words)}
    counts = TfidfVectorizer(analyzer=content_words).fit_transform(texts.texts)
    by_words = cosine_similarity(counts[2], counts)[0]
    order = np.argsort(-by_words, kind="stable").tolist()
    found = [hit.row for hit in result.by_words]
    assert found == [i + 1 for i in order if i != 2 and by_words[i] > 0]
    lines = {hit.row: hit.line() for hit in result.by_vectors}
    assert {row: line.key.rpartition(".")[2] for row, line in lines.items()} == {
        1: "hit", 2: "hit", 5: "new_hit"
    }  # fmt: skip
    assert {row: found.index(row) + 1 for row in found} == {
        row: line.numbers["rank"] for row, line in lines.items() if row in found
    }


def test_one_other_text_is_no_yardstick() -> None:
    keys = {}
    for n in (2, 3):
        texts = corpus(n)
        assert texts.own is not None
        result = search_given(index_of(texts.texts, texts.own.rows), texts, row_query(texts, 1))
        keys[n] = [claim.key for claim in result.claims()]
        assert str(result.caption()).startswith("There is 1 text" if n == 2 else "The best of 2")
    assert keys[3] == [*keys[2], "search.given.yardstick"]
