from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from components.core.errors import CorpusError
from components.corpus.corpus import Corpus
from components.corpus.store import indexing as store_indexing
from components.corpus.store.indexing import index_vectors, layers_without
from components.corpus.store.rows import schema
from components.corpus.store.store import Store
from components.jobs import Jobs
from tests.support.corpus_store import indexed, indexing, made_up_corpus

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


def test_a_small_corpus_needs_no_index(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    name = indexed(store, made_up_corpus(10))
    assert layers_without(store, name) == ()
    assert index_vectors(Jobs(10**6), store, name) is None


@pytest.mark.slow
def test_two_servers_do_not_index_the_same_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_indexing, "LEAST_ROWS", 1)
    store, jobs = Store(str(tmp_path)), Jobs(10**6)
    name = indexed(store, made_up_corpus(10))
    with Store(store.root).only_writer(name):
        job = index_vectors(jobs, store, name)
        assert job is not None
        job.result(60)
    assert layers_without(store, name) == (0, 2)


def test_what_fails_while_vectors_are_indexed_deletes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does a corpus that cannot be read just then, as where its storage is away."""
    monkeypatch.setattr(store_indexing, "LEAST_ROWS", 1)
    store, jobs = Store(str(tmp_path)), Jobs(10**6)
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
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_indexing, "LEAST_ROWS", N)
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((300, N_DIMS)).astype(np.float32)
    clusters = rng.integers(0, 300, N)
    noise = rng.standard_normal((N, N_DIMS), dtype=np.float32)
    vectors = (centres[clusters] + 0.8 * noise).astype(np.float16)
    own = indexing((0,), n_dims=N_DIMS)
    store = Store(str(tmp_path))
    name = store.create(Corpus("made up", ("text",)), own).name
    store.append(name, own, [made_up_rows(vectors, own)])
    store.finish(name)

    jobs = Jobs(10**6)
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
