"""A corpus in memory and one on disk, as a plain referee finds them; and an export."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextlens.analysis.words import word_vectors
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.errors import CorpusError, RequestError
from contextlens.core.words import Span, find_words, folded
from contextlens.corpus.bundled import ambiguous_corpus
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.live import LiveCorpus
from contextlens.corpus.searchable import SearchableCorpus, WordCount
from contextlens.corpus.store.about import indexing_of
from contextlens.corpus.store.indexing import index
from contextlens.corpus.store.rows import words_of
from contextlens.corpus.store.store import Store
from contextlens.corpus.store.stored_corpus import StoredCorpus
from tests.support.corpus_store import MadeUpService, ignore, indexed, made_up_corpus, rows_in
from tests.support.texts import AWKWARD
from tests.support.tiny_models import TYPICAL

MODEL = "folder:bert"
N_TEXTS = 120  # more than are encoded at a time
LAYERS = (0, 2)


@dataclass(frozen=True)
class Row:
    text: int
    span: Span
    word: str
    surface: str
    left: str
    right: str
    is_target: bool
    vectors: Any


def referee(corpus: Corpus, encode: Callable[[str], Any]) -> list[Row]:
    """Every occurrence in plain Python, one by one."""
    rows = []
    spans = corpus.spans or (None,) * len(corpus.texts)
    for number, (text, target) in enumerate(zip(corpus.texts, spans, strict=True)):
        encoding = encode(text)
        for word in words_of(text, target):
            try:
                vectors = word_vectors(encoding, word.span)
            except RequestError:  # cut off
                continue
            surface = text[slice(*word.span)]
            is_target = word.span == target
            rows.append(Row(number, word.span, folded(surface), surface, word.left, word.right,
                            is_target, vectors))  # fmt: skip
    return rows


def assert_found(corpus: SearchableCorpus, word: str, rows: list[Row]) -> None:
    found = corpus.occurrences(word)
    places = [i for i, row in enumerate(rows) if row.word == folded(word)]
    expected = [rows[i] for i in places]
    assert found.word == folded(word)
    assert found.n_total == len(found) == len(places)
    assert found.rows.tolist() == places
    assert found.texts.tolist() == [row.text for row in expected]
    assert [tuple(span) for span in found.spans.tolist()] == [row.span for row in expected]
    assert found.surfaces == tuple(row.surface for row in expected)
    assert found.left == tuple(row.left for row in expected)
    assert found.right == tuple(row.right for row in expected)
    assert found.is_target.tolist() == [row.is_target for row in expected]


# Both kinds of corpus


@pytest.fixture(scope="module")
def texts() -> Corpus:
    return made_up_corpus(N_TEXTS)


@pytest.fixture(scope="module")
def expected(texts: Corpus, tiny_service: EncoderService) -> list[Row]:
    return referee(texts, lambda text: tiny_service.encode(MODEL, [text], layers=LAYERS)[0])


@pytest.fixture(scope="module", params=["live", "stored"])
def corpus(
    request: pytest.FixtureRequest,
    texts: Corpus,
    tiny_service: EncoderService,
    tmp_path_factory: pytest.TempPathFactory,
) -> SearchableCorpus:
    if request.param == "live":
        return LiveCorpus(texts, tiny_service, MODEL)
    store = Store(str(tmp_path_factory.mktemp("corpora")))
    card = tiny_service.load(MODEL)
    name = store.create(texts, indexing_of(card, LAYERS, "exact")).name
    index(store, tiny_service, name, ignore)
    return store.open(name)


def test_every_occurrence_is_found_with_what_stands_beside_it(
    corpus: SearchableCorpus, expected: list[Row]
) -> None:
    assert corpus.n_occurrences == len(expected)
    assert (corpus.n_texts, corpus.n_dims, corpus.columns) == (N_TEXTS, 32, ("sense",))
    for word in {row.word for row in expected}:
        assert_found(corpus, word, expected)
        assert_found(corpus, word.upper(), expected)


def test_vectors_are_the_means_of_tokens(corpus: SearchableCorpus, expected: list[Row]) -> None:
    found = corpus.at(np.arange(corpus.n_occurrences))
    for place, layer in enumerate(LAYERS):
        vectors = corpus.vectors(found, layer)
        assert vectors.dtype == np.float32
        own = np.stack([expected[row].vectors[place] for row in found.rows])
        np.testing.assert_allclose(vectors, own, atol=2e-3)
    backwards = found.take(np.arange(len(found))[::-1])
    np.testing.assert_array_equal(corpus.vectors(backwards, 0), corpus.vectors(found, 0)[::-1])


@pytest.mark.parametrize("seed", [0, 1])
def test_a_sample_is_of_all_and_the_same_for_the_same_seed(
    corpus: SearchableCorpus, seed: int
) -> None:
    every = corpus.occurrences("python")
    found, again, other = (
        corpus.occurrences("python", most=20, seed=own) for own in (seed, seed, seed + 7)
    )
    assert (len(found), found.n_total, found.is_sample) == (20, len(every), True)
    assert set(found.rows.tolist()) < set(every.rows.tolist())
    assert np.all(np.diff(found.rows) > 0)
    assert found.rows.tolist() == again.rows.tolist() != other.rows.tolist()
    assert found.surfaces == corpus.at(found.rows).surfaces
    assert not corpus.occurrences("python", most=len(every)).is_sample


def test_rows_texts_and_labels_come_in_the_order_asked(
    corpus: SearchableCorpus, texts: Corpus, expected: list[Row]
) -> None:
    rows = np.array([40, 3, 3, 11])
    found = corpus.at(rows)
    assert found.rows.tolist() == rows.tolist()
    assert found.surfaces == tuple(expected[row].surface for row in rows)
    ids, nothing = np.array([5, 0, 5, N_TEXTS - 1, 2]), np.array([], np.int64)
    assert corpus.text(ids) == tuple(texts.texts[i] for i in ids)
    assert corpus.column("sense", ids) == tuple(texts.labels["sense"][i] for i in ids)
    assert (len(corpus.at(nothing)), corpus.text(nothing)) == (0, ())


def test_words_are_counted_with_similar_ones_and_those_that_contain_one(
    corpus: SearchableCorpus, expected: list[Row]
) -> None:
    ordered = sorted(
        Counter(row.word for row in expected).items(), key=lambda item: (-item[1], item[0])
    )
    assert [(own.word, own.n) for own in corpus.words(n=100)] == ordered
    assert [(own.word, own.n) for own in corpus.words("P")] == [
        own for own in ordered if own[0][0] == "p"
    ]
    assert corpus.words("no such") == corpus.words(n=0) == ()
    assert corpus.similar("pyhton")[0].word == "python"
    assert "python" not in {own.word for own in corpus.similar("python")}
    assert corpus.similar("zzzzzz") == corpus.similar("") == corpus.similar("x" * 5000) == ()
    assert [own.word for own in corpus.inside("believ")] == ["unbelievable"]
    assert corpus.inside("python") == corpus.inside("") == ()


def test_a_word_without_an_occurrence_gives_nothing(corpus: SearchableCorpus) -> None:
    found = corpus.occurrences("snake")
    assert (len(found), found.n_total, found.spans.shape) == (0, 0, (0, 2))
    assert corpus.vectors(found, 0).shape == (0, 32)
    assert len(corpus.nearest(np.ones(32, np.float32), 0, 5, word="snake")) == 0


@pytest.mark.parametrize("word", [None, "PYTHON"])
def test_the_nearest_are_those_of_exact_search(
    corpus: SearchableCorpus, expected: list[Row], word: str | None
) -> None:
    random = np.random.default_rng(0)
    places = [i for i, row in enumerate(expected) if word is None or row.word == "python"]
    for layer in LAYERS:
        vector = random.standard_normal(32).astype(np.float32)
        vectors = corpus.vectors(corpus.at(np.array(places)), layer)
        cosines = vectors @ vector / np.linalg.norm(vectors, axis=1) / np.linalg.norm(vector)
        best = np.sort(cosines)[::-1][:10]
        found = corpus.nearest(vector, layer, 10, word=word)
        np.testing.assert_allclose(found.cosines, best, atol=1e-5)
        by_row = dict(zip(places, cosines, strict=True))
        np.testing.assert_allclose([by_row[row] for row in found.rows.tolist()], best, atol=1e-5)
    zero = corpus.nearest(np.zeros(32, np.float32), 0, 3, word=word)
    assert zero.cosines.tolist() == [0, 0, 0]


@pytest.mark.parametrize("n", [0, -1, 10_000])
def test_any_number_may_be_asked_for(corpus: SearchableCorpus, n: int) -> None:
    found = corpus.nearest(np.ones(32, np.float32), 0, n)
    assert len(found) == min(max(n, 0), corpus.n_occurrences)


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda c: c.nearest(np.ones(5, np.float32), 0, 1), "has 32 (finite )?numbers"),
        (lambda c: c.nearest(np.ones(32, np.float32), 9, 1), r"of layer 9.*0(, 2| to 3)"),
        (lambda c: c.vectors(c.occurrences("bank"), 7), "no vectors of layer 7"),
        (lambda c: c.text(np.array([N_TEXTS])), f"texts 0 to {N_TEXTS - 1}"),
        (lambda c: c.text(np.array([-1])), f"texts 0 to {N_TEXTS - 1}"),
        (lambda c: c.column("no such", np.array([0])), "no column “no such”; it has: “sense”"),
        (lambda c: c.at(np.array([10**9])), "Search for the word again"),
        (lambda c: c.at(np.array([-1])), "one of another was asked"),
    ],
)
def test_what_is_not_there_is_told_in_one_sentence(
    corpus: SearchableCorpus, ask: Any, sentence: str
) -> None:
    with pytest.raises(CorpusError, match=sentence):
        ask(corpus)


# In memory


@pytest.mark.parametrize("family", TYPICAL)
def test_every_family_gives_a_vector_for_each_occurrence(
    tiny_service: EncoderService, family: str
) -> None:
    texts = ("A python slept under the lamp.", *AWKWARD.values())
    live = LiveCorpus(Corpus("t", texts), tiny_service, f"folder:{family}")
    vectors = live.vectors(live.at(np.arange(live.n_occurrences)), live.layers[-1])
    assert len(vectors) == live.n_occurrences > 20
    assert np.isfinite(vectors).all()
    assert (np.linalg.norm(vectors, axis=1) > 0).all()


def test_a_marked_span_is_a_target_though_it_be_two_words(tiny_service: EncoderService) -> None:
    texts = ("A python slept. The python woke.", "no snake here, only ice cream!")
    live = LiveCorpus(Corpus("t", texts, spans=((2, 8), (20, 29))), tiny_service, MODEL)
    assert live.has_targets
    assert live.occurrences("python").is_target.tolist() == [True, False]
    assert live.occurrences("ice cream").texts.tolist() == [1]
    assert live.occurrences("ice cream").left == ("only",)
    assert live.occurrences("ice cream").is_target.all()
    assert not live.occurrences("cream").is_target.any()


def test_words_cut_off_by_the_models_length_are_left_out_and_counted(
    tiny_service: EncoderService,
) -> None:
    long = "word " * 100 + "python"
    live = LiveCorpus(Corpus("t", (long, "a python")), tiny_service, MODEL)
    assert live.occurrences("python").texts.tolist() == [1]
    assert live.n_cut("Word") == 100 - len(live.occurrences("word"))
    assert (live.n_cut("word") > 30, live.n_cut("python"), live.n_cut("a")) == (True, 1, 0)


def test_a_corpus_without_words_has_none(tiny_service: EncoderService) -> None:
    for texts in ((), ("!?", "…")):
        live = LiveCorpus(Corpus("t", texts), tiny_service, MODEL)
        assert (live.n_occurrences, live.words()) == (0, ())
        assert live.vectors(live.occurrences("a"), 0).shape == (0, 32)


def test_the_bundled_words_are_all_targets(service: EncoderService) -> None:
    texts = ambiguous_corpus()
    live = LiveCorpus(texts, service, BUNDLED_ID)
    for word in dict.fromkeys(texts.labels["word"]):
        found = live.occurrences(word)
        marked = found.take(np.flatnonzero(found.is_target))
        assert marked.texts.tolist() == [
            i for i, known in enumerate(texts.labels["word"]) if known == word
        ]
    assert live.words("python")[0].n == sum(len(find_words(text, "python")) for text in texts.texts)


# On disk


def made_up_rows(corpus: Corpus) -> list[Row]:
    return referee(corpus, lambda text: MadeUpService().encode("m", [text], layers=LAYERS)[0])


def test_what_is_given_may_be_written_to(corpus: SearchableCorpus) -> None:
    found = corpus.occurrences("bank")
    before = corpus.vectors(found, 0).copy()
    if isinstance(corpus, StoredCorpus):
        corpus.vectors(found, 0)[:] = 0
    corpus.nearest(before[0], 0, 3, word="bank").rows[:] = 0
    assert np.array_equal(corpus.vectors(found, 0), before)
    assert corpus.occurrences("bank").rows.tolist() == found.rows.tolist()


def test_a_vector_that_is_not_finite_is_refused(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    stored = store.open(indexed(store, Corpus("s", ("python",))))
    with pytest.raises(CorpusError, match="finite"):
        stored.nearest(np.full(16, np.nan, np.float32), 0, 1)


def test_composed_and_decomposed_spellings_are_one_word(
    tiny_service: EncoderService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cafe, decomposed = "café", unicodedata.normalize("NFD", "café")
    texts = Corpus("both", (f"a {cafe} b", f"a {decomposed} b"))
    store, older = Store(str(tmp_path / "new")), Store(str(tmp_path / "older"))
    stored = store.open(indexed(store, texts))
    for corpus in (LiveCorpus(texts, tiny_service, MODEL), stored):
        assert corpus.words("caf") == corpus.inside("afe\u0301") == (WordCount(cafe, 2),)
        for word in (cafe, decomposed.upper()):
            assert corpus.occurrences(word).surfaces == (cafe, decomposed)
            vector = np.ones(corpus.n_dims, np.float32)
            assert len(corpus.nearest(vector, 0, 5, word=word)) == 2
    monkeypatch.setattr("contextlens.corpus.store.rows.folded", str.casefold)
    stored = older.open(indexed(older, texts))
    assert len(stored.words("caf")) == 2
    assert stored.occurrences(cafe).surfaces == (cafe, decomposed)


ODD = st.text(st.sampled_from("ab'\"\\%;_\n\t-()= *é🐍蟒ไЗ"), min_size=1, max_size=12)


@pytest.mark.slow
@settings(max_examples=15)
@given(st.lists(ODD, min_size=1, max_size=6))
def test_words_of_any_characters_are_found_as_the_referee_finds_them(
    tmp_path_factory: pytest.TempPathFactory, words: list[str]
) -> None:
    """A marked word may be made of anything; so may what is typed to find it."""
    texts = tuple(f"a {word} b" for word in words)
    odd = Corpus("odd", texts, {}, tuple((2, 2 + len(word)) for word in words))
    store = Store(str(tmp_path_factory.mktemp("odd")))
    stored, rows = store.open(indexed(store, odd)), made_up_rows(odd)
    for word in {*words, "' OR '1'='1", "a' --", "%", "\\"}:
        assert_found(stored, word, rows)
        stored.words(word)
        stored.similar(word)
        expected = {row.word for row in rows if word.casefold() in row.word} - {word.casefold()}
        assert {own.word for own in stored.inside(word, 100)} == expected


@pytest.mark.parametrize("texts", [("python",), ("...",), ("...", "蟒蛇 python", "!!!")])
def test_one_occurrence_or_none_is_a_corpus(tmp_path: Path, texts: tuple[str, ...]) -> None:
    store = Store(str(tmp_path))
    name = indexed(store, Corpus("s", texts))
    assert (store.about(name).state, store.about(name).n_texts_done) == ("done", len(texts))
    rows, stored = made_up_rows(Corpus("s", texts)), store.open(name)
    assert_found(stored, "python", rows)
    assert len(stored.words()) == len(rows)
    assert len(stored.nearest(np.ones(16, np.float32), 0, 9)) == len(rows)


# The export


@pytest.fixture
def exported(tmp_path: Path) -> Callable[[Corpus], tuple[Store, str, Any]]:
    def export(corpus: Corpus) -> tuple[Store, str, Any]:
        store, path = Store(str(tmp_path / "corpora")), tmp_path / "out.parquet"
        name = indexed(store, corpus)
        store.export(name, path)
        return store, name, pq.read_table(path)

    return export


def test_a_corpus_is_exported_whole(exported: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contextlens.corpus.store.stored_corpus._EXPORTED_ROWS", 100)
    corpus = made_up_corpus(40)
    store, name, found = exported(corpus)
    rows = rows_in(store, name)
    assert found.num_rows == rows.num_rows == store.about(name).n_occurrences
    for title in ("text", "start", "end", "word", "surface", "left", "right", "is_target",
                  "layer_0", "layer_2"):  # fmt: skip
        assert found[title].to_pylist() == rows[title].to_pylist(), title
    texts = found["text"].to_pylist()
    assert found["sentence"].to_pylist() == [corpus.texts[i] for i in texts]
    assert found["label: sense"].to_pylist() == [corpus.labels["sense"][i] for i in texts]
    passport = json.loads(found.schema.metadata[b"contextlens"])
    assert passport["indexing"]["model"] == "made-up"
    assert passport["indexing"]["layers"] == [0, 2]


def test_labels_called_as_our_own_columns_are_no_clash(exported: Any) -> None:
    labels = {"word": ("x",), "sentence": ("y",), "layer_0": ("z",), "": ("w",)}
    *_, found = exported(Corpus("c", ("a python",), labels))
    assert found["label: word"].to_pylist() == ["x", "x"]
    assert found["label: layer_0"].to_pylist() == ["z", "z"]


def test_a_corpus_without_a_word_is_exported_as_no_rows(exported: Any) -> None:
    *_, found = exported(Corpus("c", ("...",)))
    assert found.num_rows == 0


def test_a_corpus_that_is_not_there_is_not_exported(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="no such corpus"):
        Store(str(tmp_path)).export("a" * 16, tmp_path / "out.parquet")
    assert not (tmp_path / "out.parquet").exists()
