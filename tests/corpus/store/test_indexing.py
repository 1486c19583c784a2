"""Indexing: as a job, that fails, of real models, and of its vectors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from contextlens.core import Settings, open_service
from contextlens.core.cache import ByteCache, CachedService
from contextlens.core.errors import CorpusError, JobError, RevisionError
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.live import LiveCorpus
from contextlens.corpus.store import indexing as store_indexing
from contextlens.corpus.store import run
from contextlens.corpus.store.about import indexing_of
from contextlens.corpus.store.indexing import (
    go_on,
    index,
    index_key,
    index_vectors,
    layers_without,
    pause,
    start,
    unfinished,
)
from contextlens.corpus.store.rows import schema
from contextlens.corpus.store.store import Store
from contextlens.jobs import Jobs
from tests.support.corpus_store import (
    ME,
    YOU,
    create,
    held,
    ignore,
    indexed,
    indexing,
    made_up_corpus,
    rows_in,
    service,
    whole,
)
from tests.support.revisions import MODEL, two_revisions
from tests.support.together import together

BUNDLED = "all-MiniLM-L6-v2"
pytestmark = pytest.mark.usefixtures("small_steps")


def test_a_job_indexes_a_corpus_and_says_how_far_it_is(store: Store, jobs: Jobs) -> None:
    about = create(store)
    job = start(jobs, store, service(), about.name, ME)
    assert job.key == index_key(store, about.name)
    job.result(20)
    done = store.about(about.name)
    assert (done.state, done.n_texts_done, done.why) == ("done", 40, "")
    assert done.n_occurrences == rows_in(store, about.name).num_rows
    assert job.poll(ME).share == 1.0
    start(jobs, store, service(), about.name, ME).result(20)  # once more: nothing happens
    assert store.about(about.name) == done


def test_progress_is_told_in_words(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 100_000, 2))
    monkeypatch.setattr(run, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    said: list[tuple[str, float]] = []
    index(store, service(), create(store).name, lambda *told: said.append(told))
    words = [stage for stage, _ in said]
    assert words[0] == "Getting made-up ready"
    assert words[1].startswith("Indexing text 1 of 40, ")
    assert any("a second, " in stage and "left, " in stage for stage in words)
    assert all(stage.endswith(" MB") for stage in words[1:-1])
    assert words[-1] == "Making it quick to search"
    shares = [share for _, share in said]
    assert shares == sorted(shares)
    first, second = shares[1:3]
    assert first == 0 < second  # it moves with the first chunk
    assert shares[-2] == 1
    assert "a second" not in words[2]  # chunks are made side by side: one tells no speed
    own = store.about(store.names()[0]).indexing
    assert (run.word_seconds(own) or 0) > 0
    assert run.word_seconds(replace(own, layers=(9,))) is None


# Two visitors


@pytest.mark.slow
def test_two_visitors_index_and_query_at_once(store: Store, jobs: Jobs) -> None:
    """While both grow, whatever is asked of either is answered, and true of what is there."""
    mine, yours = create(store, 160), store.create(made_up_corpus(160, seed=1), indexing())
    old = store.open(indexed(store, made_up_corpus(30, seed=2)))
    running = [
        start(jobs, store, service(), about.name, who) for about, who in ((mine, ME), (yours, YOU))
    ]

    def ask(_: int) -> int:
        n_asked = 0
        while not all(job.done() for job in running) or n_asked < 3:
            for name in (mine.name, yours.name):
                corpus = store.open(name)
                found = corpus.occurrences("python", most=20)
                spans = zip(corpus.text(found.texts), found.spans.tolist(), strict=True)
                assert found.surfaces == tuple(text[a:b] for text, (a, b) in spans)
                if len(found):
                    vector = corpus.vectors(found, 0)[0]
                    near = corpus.nearest(vector, 0, 1, word="python")
                    assert near.cosines[0] > 0.999
                corpus.words("p")
            assert len(old.occurrences("python"))
            n_asked += 1
        return n_asked

    assert min(together(4, ask)) >= 3
    for job in running:
        job.result(60)
    assert rows_in(store, mine.name).equals(whole(store, mine, 160))
    alone = indexed(store, made_up_corpus(160, seed=1))
    assert rows_in(store, yours.name).equals(rows_in(store, alone))


def test_one_visitors_corpora_take_turns_and_leave_room_for_anothers(
    store: Store, jobs: Jobs
) -> None:
    first, second, other = create(store), create(store, 8), create(store, 8)
    with held(store, jobs, first.name):
        waiting = start(jobs, store, service(), second.name, ME)
        start(jobs, store, service(), other.name, YOU).result(20)
        assert waiting.poll().state == "waiting"
    waiting.result(20)


# With a real model


def test_a_corpus_in_the_bundled_model_has_its_words_vectors(store: Store) -> None:
    real = open_service(Settings(allow_downloads=False))
    texts = ("A python sleeps.", "I write Python, in " + "very " * 600 + "long lines of python.")
    own = indexing_of(real.load(BUNDLED), (0, 6), "exact")
    about = store.create(Corpus("c", texts, {}, ((2, 8), (8, 14))), own)
    real.encode(BUNDLED, ["A visitor's own text."])
    before = real.cache_info()
    index(store, real, about.name, ignore)
    assert real.cache_info() == before  # nobody's results had to make room
    corpus = store.open(about.name)
    found = corpus.occurrences("python")
    assert found.spans.tolist() == [[2, 8], [8, 14]]
    assert found.is_target.tolist() == [True, True]
    assert store.about(about.name).n_cut > 50
    for layer in (0, 6):
        expected = np.stack(
            [
                real.encode(BUNDLED, [text])[0].layer(layer)[place].astype(np.float32)
                for text, place in zip(texts, (2, 3), strict=True)
            ]
        )
        np.testing.assert_allclose(corpus.vectors(found, layer), expected, atol=5e-3)


@pytest.mark.parametrize(
    ("stored", "runs", "sentence"),
    [
        ({}, {"checksum": "b" * 64}, "other weights of made-up.*never mixed"),
        ({"precision": "fast"}, {}, "precision “fast”, and “exact” runs here"),
    ],
)
def test_vectors_of_something_else_are_never_mixed_in(
    store: Store, stored: dict[str, Any], runs: dict[str, Any], sentence: str
) -> None:
    about = create(store, **stored)
    with pytest.raises(CorpusError, match=sentence):
        index(store, service(**runs), about.name, ignore)
    failed = store.about(about.name)
    assert (failed.state, failed.n_occurrences) == ("failed", 0)
    assert "never mixed" in failed.why
    assert unfinished(store) == ()


def test_a_model_that_is_gone_is_told_and_what_is_stored_can_be_asked(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = indexed(store, made_up_corpus(20))
    store.set_state(name, "paused")
    gone = service()
    monkeypatch.setattr(
        gone, "spec", lambda _: SimpleNamespace(loaded=False, on_disk=False, source="hub")
    )
    store.set_state(name, "waiting")
    with pytest.raises(CorpusError, match="not on this machine any more"):
        index(store, gone, name, ignore)
    assert "fetches it, and go on" in store.about(name).why
    corpus = store.open(name)
    found = corpus.occurrences("python")
    assert len(corpus.nearest(corpus.vectors(found, 0)[0], 0, 3)) == 3


def test_what_fails_unexpectedly_is_told_and_goes_on_later(store: Store, jobs: Jobs) -> None:
    about = create(store)

    def fail() -> None:
        raise ZeroDivisionError

    job = start(jobs, store, service(fail), about.name, ME)
    assert isinstance(job.exception(20), ZeroDivisionError)
    assert "server's log has the reason" in store.about(about.name).why
    start(jobs, store, service(), about.name, ME).result(20)
    assert store.about(about.name).state == "done"
    assert store.about(about.name).why == ""


def test_a_corpus_that_grows_too_large_stops_and_can_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(str(tmp_path), max_corpus_bytes=60_000)
    monkeypatch.setattr("contextlens.corpus.store.store.estimated_bytes", lambda *_: 0)
    about = create(store, 200)
    with pytest.raises(CorpusError, match=r"one corpus may take 0\.1 MB"):
        index(store, service(), about.name, ignore)
    failed = store.about(about.name)
    assert failed.state == "failed"
    assert 0 < failed.n_texts_done < 200
    assert len(store.open(about.name).occurrences("python"))


def test_a_corpus_that_is_not_there_cannot_be_indexed(store: Store, jobs: Jobs) -> None:
    with pytest.raises(CorpusError, match="no such corpus"):
        start(jobs, store, service(), "a" * 16, ME)
    with pytest.raises(CorpusError, match="no such corpus"):
        pause(store, "a" * 16)


def test_nothing_begins_while_the_server_ends(store: Store) -> None:
    over = Jobs(10**6)
    over.stop()
    about = create(store, 4)
    with pytest.raises(JobError):
        start(over, store, service(), about.name, ME)
    assert go_on(over, store, service()) == ()


def test_the_rows_of_two_revisions_are_never_mixed(store: Store, tmp_path: Path) -> None:
    corpus = made_up_corpus(40)
    with two_revisions(tmp_path / "models") as two:
        card = two.services[0].load(MODEL)
        about = store.create(corpus, indexing_of(card, [2], "exact"))
        two.alternate("encode")
        with pytest.raises(RevisionError):
            index(store, CachedService(two.remote, ByteCache(10**7)), about.name, ignore)
        failed = store.about(about.name)
        assert failed.state == "failed"
        assert "another revision" in failed.why
        two.turns = {}
        store.set_state(about.name, "waiting")
        index(store, two.remote, about.name, ignore)  # type: ignore[arg-type]
        plain = store.create(corpus, indexing_of(card, [2], "exact"))
        index(store, two.services[0], plain.name, ignore)  # type: ignore[arg-type]
    found, expected = (
        np.stack(rows_in(store, name)["layer_2"].to_pylist()) for name in (about.name, plain.name)
    )
    np.testing.assert_allclose(found, expected, atol=1e-3)


def test_a_corpus_in_memory_has_the_vectors_of_the_model_that_it_was_opened_with(
    tmp_path: Path,
) -> None:
    with two_revisions(tmp_path) as two:
        service = CachedService(two.remote, ByteCache(10**7))
        corpus = LiveCorpus(made_up_corpus(10), service, MODEL)
        two.replace()
        service.load(MODEL)
        with pytest.raises(RevisionError):
            corpus.vectors(corpus.occurrences("python"), 1)


N, N_DIMS = 60_000, 128


def made_up_rows(vectors: Any, own: Any) -> pa.RecordBatch:
    """Rows of words w0, w1, ... with these vectors at layer 0."""
    n = len(vectors)
    words = [f"w{i % 500}" for i in range(n)]
    numbers = np.arange(n, dtype=np.int32)
    arrays = [
        pa.array(numbers),
        pa.array(np.zeros(n, np.int32)),
        pa.array(numbers),
        pa.array(numbers + 1),
        *(pa.array(words) for _ in range(4)),
        pa.array(np.zeros(n, np.bool_)),
        pa.array(np.zeros(n, np.int32)),
        pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), own.n_dims),
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema(own))


def test_a_small_corpus_needs_no_index(store: Store, jobs: Jobs) -> None:
    name = indexed(store, made_up_corpus(10))
    assert layers_without(store, name) == ()
    assert index_vectors(jobs, store, name) is None


def test_two_servers_do_not_index_the_same_vectors(
    store: Store, jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_indexing, "MIN_ROWS", 1)
    name = indexed(store, made_up_corpus(10))
    with Store(store.root).only_writer(name):
        job = index_vectors(jobs, store, name)
        assert job is not None
        job.result(60)
    assert layers_without(store, name) == (0, 2)


def test_what_fails_while_vectors_are_indexed_deletes_nothing(
    store: Store, jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does a corpus that cannot be read just then, as where its storage is away."""
    monkeypatch.setattr(store_indexing, "MIN_ROWS", 1)
    name = indexed(store, made_up_corpus(10))

    class Failing:
        def run(self, *_: object, **__: object) -> None:
            monkeypatch.setattr(store, "about", away)
            raise RuntimeError

    def away(_: str) -> None:
        raise CorpusError("The storage of corpora does not answer just now.")

    monkeypatch.setattr(store_indexing, "_processes", Failing)
    job = index_vectors(jobs, store, name)
    assert job is not None
    assert isinstance(job.exception(60), RuntimeError)
    assert Store(store.root).about(name).state == "done"


@pytest.mark.slow
def test_the_index_finds_what_exact_search_finds(
    store: Store, jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_indexing, "MIN_ROWS", N)
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((300, N_DIMS)).astype(np.float32)
    clusters = rng.integers(0, 300, N)
    noise = rng.standard_normal((N, N_DIMS), dtype=np.float32)
    vectors = (centres[clusters] + 0.8 * noise).astype(np.float16)
    own = indexing((0,), n_dims=N_DIMS)
    name = store.create(Corpus("made up", ("text",)), own).name
    store.append(name, own, [made_up_rows(vectors, own)])
    store.finish(name)

    assert layers_without(store, name) == (0,)
    job = index_vectors(jobs, store, name)
    assert job is not None
    job.result(240)
    store = Store(store.root)
    assert layers_without(store, name) == ()
    corpus = store.open(name)
    wide = vectors.astype(np.float32)
    units = wide / np.linalg.norm(wide, axis=1, keepdims=True)
    n_found = 0
    for row in rng.integers(0, N, 40):
        query = wide[row] + 0.3 * rng.standard_normal(N_DIMS).astype(np.float32)
        cosines = units @ (query / np.linalg.norm(query))
        best = np.argsort(-cosines)[:10]
        found = corpus.nearest(query, 0, 10)
        np.testing.assert_allclose(found.cosines, cosines[found.rows], atol=1e-4)
        n_found += len(set(best.tolist()) & set(found.rows.tolist()))
    assert n_found / 400 >= 0.95
    # Of one word the search is exact, with an index or without.
    own_rows = np.arange(7, N, 500)
    found = corpus.nearest(wide[7], 0, 10, word="w7")
    exact = own_rows[np.argsort(-(units[own_rows] @ units[7]), kind="stable")[:10]]
    assert found.rows.tolist() == exact.tolist()
