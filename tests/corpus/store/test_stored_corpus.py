from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.analysis.words import word_vectors
from components.core.errors import CorpusError, RequestError
from components.corpus.corpus import Corpus
from components.corpus.searchable import SearchableCorpus
from components.corpus.store.rows import words_of
from components.corpus.store.store import Store
from components.corpus.store.stored_corpus import StoredCorpus
from tests.support.corpus_store import MadeUpService, indexed, made_up_corpus

LAYERS = (0, 2)


def referee(corpus: Corpus) -> list[dict[str, Any]]:
    """Every occurrence in plain Python, one by one."""
    rows = []
    spans = corpus.spans or (None,) * len(corpus.texts)
    for number, (text, target) in enumerate(zip(corpus.texts, spans, strict=True)):
        encoding = MadeUpService().encode("m", [text], layers=LAYERS)[0]
        for word in words_of(text, target):
            try:
                vectors = word_vectors(encoding, word.span)
            except RequestError:
                continue
            surface = text[slice(*word.span)]
            rows.append(
                {
                    "row": len(rows),
                    "text": number,
                    "span": word.span,
                    "word": surface.casefold(),
                    "surface": surface,
                    "left": word.left,
                    "right": word.right,
                    "is_target": word.span == target,
                    "vectors": vectors.astype(np.float16).astype(np.float32),
                }
            )
    return rows


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return made_up_corpus(120)


@pytest.fixture(scope="module")
def expected(corpus: Corpus) -> list[dict[str, Any]]:
    return referee(corpus)


@pytest.fixture(scope="module")
def stored(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> StoredCorpus:
    store = Store(str(tmp_path_factory.mktemp("corpora")))
    return store.open(indexed(store, corpus))


def test_it_can_be_searched_like_any_corpus(stored: StoredCorpus) -> None:
    any_corpus: SearchableCorpus = stored
    assert any_corpus.layers == LAYERS
    assert any_corpus.n_dims == 16
    assert any_corpus.columns == ("sense",)


def check_occurrences(stored: StoredCorpus, word: str, rows: list[dict[str, Any]]) -> None:
    found = stored.occurrences(word)
    own = [row for row in rows if row["word"] == word.casefold()]
    assert found.word == word.casefold()
    assert found.n_total == len(found) == len(own)
    assert found.rows.tolist() == [row["row"] for row in own]
    assert found.texts.tolist() == [row["text"] for row in own]
    assert [tuple(span) for span in found.spans.tolist()] == [row["span"] for row in own]
    for name, values in (
        ("surface", found.surfaces),
        ("left", found.left),
        ("right", found.right),
        ("is_target", tuple(found.is_target.tolist())),
    ):
        assert values == tuple(row[name] for row in own), name


def test_every_occurrence_is_found_with_what_stands_beside_it(
    stored: StoredCorpus, expected: list[dict[str, Any]]
) -> None:
    assert stored.n_occurrences == len(expected)
    for word in {row["word"] for row in expected}:
        check_occurrences(stored, word, expected)
        check_occurrences(
            stored, word.upper(), [r for r in expected if word.upper().casefold() == word]
        )


def test_vectors_are_the_means_of_tokens_as_float16(
    stored: StoredCorpus, expected: list[dict[str, Any]]
) -> None:
    found = stored.occurrences("unbelievable")
    own = np.stack([expected[row]["vectors"] for row in found.rows], 1)
    for place, layer in enumerate(LAYERS):
        vectors = stored.vectors(found, layer)
        assert vectors.dtype == np.float32
        np.testing.assert_allclose(vectors, own[place], atol=2e-3)
    backwards = found.take(np.arange(len(found))[::-1])
    assert np.array_equal(stored.vectors(backwards, 0), stored.vectors(found, 0)[::-1])


def test_what_is_given_may_be_written_to(stored: StoredCorpus) -> None:
    found = stored.occurrences("bank")
    before = stored.vectors(found, 0)
    stored.vectors(found, 0)[:] = 0
    stored.nearest(before[0], 0, 3, word="bank").rows[:] = 0
    assert np.array_equal(stored.vectors(found, 0), before)
    assert stored.occurrences("bank").rows.tolist() == found.rows.tolist()


@pytest.mark.parametrize("seed", [0, 1])
def test_a_sample_is_of_all_and_the_same_for_the_same_seed(stored: StoredCorpus, seed: int) -> None:
    every = stored.occurrences("python")
    found = stored.occurrences("python", most=20, seed=seed)
    assert (len(found), found.n_total, found.is_sample) == (20, len(every), True)
    assert set(found.rows.tolist()) < set(every.rows.tolist())
    assert np.all(np.diff(found.rows) > 0)
    again = stored.occurrences("python", most=20, seed=seed)
    assert again.rows.tolist() == found.rows.tolist()
    other = stored.occurrences("python", most=20, seed=seed + 7)
    assert other.rows.tolist() != found.rows.tolist()
    places = [every.rows.tolist().index(row) for row in found.rows.tolist()]
    assert found.surfaces == tuple(every.surfaces[place] for place in places)
    assert not stored.occurrences("python", most=len(every)).is_sample


def test_rows_can_be_asked_for_in_any_order(stored: StoredCorpus, expected: Any) -> None:
    rows = np.array([40, 3, 3, 11])
    found = stored.at(rows)
    assert found.rows.tolist() == rows.tolist()
    assert found.surfaces == tuple(expected[row]["surface"] for row in rows)
    assert len(stored.at(np.array([], np.int64))) == 0


def test_texts_and_labels_come_in_the_order_asked(stored: StoredCorpus, corpus: Corpus) -> None:
    ids = np.array([5, 0, 5, 119, 2])
    assert stored.text(ids) == tuple(corpus.texts[i] for i in ids)
    assert stored.column("sense", ids) == tuple(corpus.labels["sense"][i] for i in ids)
    assert stored.text(np.array([], np.int64)) == ()


# Words


def test_words_are_counted_and_come_most_frequent_first(
    stored: StoredCorpus, expected: list[dict[str, Any]]
) -> None:
    counts = Counter(row["word"] for row in expected)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    assert [(own.word, own.n) for own in stored.words(n=100)] == ordered
    assert [(own.word, own.n) for own in stored.words("P")] == [
        o for o in ordered if o[0][0] == "p"
    ]
    assert stored.words("no such") == ()
    assert stored.words(n=0) == ()


def test_a_word_that_is_not_there_has_neighbours_in_spelling(stored: StoredCorpus) -> None:
    assert not len(stored.occurrences("pyhton"))
    assert stored.similar("pyhton")[0].word == "python"
    assert stored.similar("zzzzzz") == ()
    assert stored.similar("x" * 5000) == ()
    assert "python" not in {own.word for own in stored.similar("python")}


def test_a_word_only_inside_others_is_told(stored: StoredCorpus) -> None:
    assert [own.word for own in stored.inside("believ")] == ["unbelievable"]
    assert stored.inside("python") == ()
    assert stored.inside("") == ()


def test_a_word_without_an_occurrence_gives_nothing(stored: StoredCorpus) -> None:
    found = stored.occurrences("snake")
    assert (len(found), found.n_total, found.spans.shape) == (0, 0, (0, 2))
    assert stored.vectors(found, 0).shape == (0, 16)
    assert len(stored.nearest(np.ones(16, np.float32), 0, 5, word="snake")) == 0


# Nearest


@pytest.mark.parametrize("word", [None, "python", "PYTHON"])
def test_the_nearest_are_those_of_exact_search(
    stored: StoredCorpus, expected: list[dict[str, Any]], word: str | None
) -> None:
    rng = np.random.default_rng(0)
    own = [r for r in expected if word is None or r["word"] == word.casefold()]
    for place, layer in enumerate(LAYERS):
        vector = rng.standard_normal(16).astype(np.float32)
        vectors = stored.vectors(stored.at(np.array([r["row"] for r in own])), layer)
        cosines = vectors @ vector / np.linalg.norm(vectors, axis=1) / np.linalg.norm(vector)
        best = np.sort(cosines)[::-1][:10]
        found = stored.nearest(vector, layer, 10, word=word)
        np.testing.assert_allclose(found.cosines, best, atol=1e-5)
        by_row = dict(zip((r["row"] for r in own), cosines, strict=True))
        np.testing.assert_allclose([by_row[row] for row in found.rows.tolist()], best, atol=1e-5)
        assert place in (0, 1)


@pytest.mark.parametrize("n", [0, -1, 10_000])
def test_any_number_may_be_asked_for(stored: StoredCorpus, n: int) -> None:
    found = stored.nearest(np.ones(16, np.float32), 0, n)
    assert len(found) == min(max(n, 0), stored.n_occurrences)


def test_a_vector_of_length_zero_is_near_to_nothing(stored: StoredCorpus) -> None:
    for word in (None, "python"):
        found = stored.nearest(np.zeros(16, np.float32), 0, 3, word=word)
        assert found.cosines.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda c: c.nearest(np.ones(5, np.float32), 0, 1), "has 16 finite numbers"),
        (lambda c: c.nearest(np.full(16, np.nan, np.float32), 0, 1), "finite"),
        (lambda c: c.nearest(np.ones(16, np.float32), 1, 1), "no vectors of layer 1.*0, 2"),
        (lambda c: c.vectors(c.occurrences("bank"), 7), "no vectors of layer 7"),
        (lambda c: c.text(np.array([120])), "texts 0 to 119"),
        (lambda c: c.text(np.array([-1])), "texts 0 to 119"),
        (lambda c: c.column("no such", np.array([0])), "no column “no such”; it has: “sense”"),
        (lambda c: c.at(np.array([10**9])), "Search for the word again"),
    ],
)
def test_what_is_not_there_is_told_in_one_sentence(
    stored: StoredCorpus, ask: Any, sentence: str
) -> None:
    with pytest.raises(CorpusError, match=sentence):
        ask(stored)


# Whatever is typed


ODD = st.text(st.sampled_from("ab'\"\\%;_\n\t-()= *é🐍蟒ไ"), min_size=1, max_size=12)


@pytest.mark.slow
@settings(max_examples=15)
@given(st.lists(ODD, min_size=1, max_size=6))
def test_words_of_any_characters_are_found_as_the_referee_finds_them(
    tmp_path_factory: pytest.TempPathFactory, words: list[str]
) -> None:
    """A marked word may be made of anything; so may what is typed to find it."""
    texts = tuple(f"a {word} b" for word in words)
    spans = tuple((2, 2 + len(word)) for word in words)
    corpus = Corpus("odd", texts, {}, spans)
    store = Store(str(tmp_path_factory.mktemp("odd")))
    stored = store.open(indexed(store, corpus))
    rows = referee(corpus)
    for word in {*words, "' OR '1'='1", "a' --", "%", "\\"}:
        check_occurrences(stored, word, rows)
        stored.words(word)
        stored.similar(word)
        expected = {r["word"] for r in rows if word.casefold() in r["word"]} - {word.casefold()}
        assert {own.word for own in stored.inside(word, 100)} == expected


@pytest.mark.parametrize(
    ("text", "word"),
    [("蟒蛇在树上睡觉", "蛇"), ("الثعبان نائم", "نائم"), ("งู หลาม", "งู"), ("змея спит", "ЗМЕЯ")],
)
def test_other_scripts_are_searched_like_any(tmp_path: Path, text: str, word: str) -> None:
    store = Store(str(tmp_path))
    stored = store.open(indexed(store, Corpus("s", (text,))))
    check_occurrences(stored, word, referee(Corpus("s", (text,))))
    assert len(stored.occurrences(word)) == 1


@pytest.mark.parametrize("texts", [("python",), ("...",), ("...", "python", "!!!")])
def test_one_occurrence_or_none_is_a_corpus(tmp_path: Path, texts: tuple[str, ...]) -> None:
    store = Store(str(tmp_path))
    name = indexed(store, Corpus("s", texts))
    assert store.about(name).state == "done"
    assert store.about(name).n_texts_done == len(texts)
    check_occurrences(store.open(name), "python", referee(Corpus("s", texts)))
    assert len(store.open(name).words()) == int("python" in texts)
    assert len(store.open(name).nearest(np.ones(16, np.float32), 0, 3)) == int("python" in texts)
