"""Stored corpora: how fast words get their vectors, and are found among a million."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import quantiles
from typing import Any

import numpy as np
import psutil
import pyarrow as pa

from contextlens.core import BUNDLED_ID, Settings
from contextlens.core.service import LocalService
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.store import indexing
from contextlens.corpus.store.about import Indexing, indexing_of
from contextlens.corpus.store.indexing import index
from contextlens.corpus.store.rows import schema
from contextlens.corpus.store.store import Store
from contextlens.corpus.store.stored_corpus import StoredCorpus
from contextlens.jobs import Jobs
from tests.benchmarks.results import Outcome, Ratio
from tests.benchmarks.texts import WARM_UP, mixed_sentences
from tests.benchmarks.workers import peak, seconds, wait_for_quiet, worker

__all__ = ["corpus_indexing", "corpus_search"]

N_TEXTS = 1_500
N_ROWS, N_DIMS, N_WORDS = 1_000_000, 384, 20_000
FREQUENT = 50_000  # occurrences of the most frequent word in a million
N_QUERIES = 40
PAGE = 25


def corpus_indexing(rounds: int) -> Outcome:
    """Seconds, memory and disk of indexing all layers, beside the bare encoding of the same."""
    with worker(set_up_indexing) as run:
        found = [run(seed) for seed in range(rounds)]
    raw = {name: [one[name] for one in found] for name in found[0]}
    ratios = [
        Ratio(
            "bare service.encode / indexing",
            tuple(one["encode s"] / one["index s"] for one in found),
            0.8,
            "at least",
        ),
        Ratio("memory above the model's", tuple(raw["memory MB"]), 1_500, unit="MB"),
        Ratio("disk / raw float16 vectors", tuple(raw["disk / raw"]), 1.15),
    ]
    return Outcome(ratios, raw, {"sentences": N_TEXTS, "layers": "all"})


def set_up_indexing() -> Callable[[int], dict[str, float]]:
    service = LocalService(Settings())
    card = service.load(BUNDLED_ID)
    layers = tuple(range(card.n_layers + 1))
    own = indexing_of(card, layers, "exact")
    service.encode(BUNDLED_ID, mixed_sentences(256, WARM_UP))
    process = psutil.Process()

    def run(seed: int) -> dict[str, float]:
        texts = tuple(mixed_sentences(N_TEXTS, seed))
        wait_for_quiet()
        bare = seconds(lambda: _encode_some(service, texts))
        with tempfile.TemporaryDirectory() as folder:
            store = Store(folder)
            name = store.create(Corpus("bench", texts), own).name
            before = process.memory_info().rss
            wait_for_quiet()
            with peak(process) as highest:
                took = seconds(lambda: index(store, service, name, lambda *_: None))
            about = store.about(name)
        raw = about.n_occurrences * own.row_bytes
        return {
            "encode s": bare,
            "index s": took,
            "memory MB": (highest[0] - before) / 1e6,
            "disk / raw": about.n_bytes / raw,
        }

    return run


def _encode_some(service: LocalService, texts: tuple[str, ...]) -> None:
    """Encode all texts in parts that fit in memory, and drop the hidden states."""
    for start in range(0, len(texts), 250):
        service.encode(BUNDLED_ID, texts[start : start + 250])


def corpus_search(rounds: int) -> Outcome:
    """Searches in a corpus of a million occurrences with made-up vectors of one layer."""
    with tempfile.TemporaryDirectory() as folder:
        store, name, vectors = _million(Path(folder))
        plain = store.about(name).n_bytes
        made = seconds(lambda: _indexed(store, name))
        raw_bytes = N_ROWS * 2 * N_DIMS
        corpus = store.open(name)
        raw = {"making the vector index s": [made], **_asked(corpus, vectors, rounds)}
        disk = store.about(name).n_bytes
    ratios = [
        Ratio("first page of a concordance, 95th percentile", _p95(raw, "page ms"), 150, unit="ms"),
        Ratio("nearest of a word, 95th percentile", _p95(raw, "nearest ms"), 100, unit="ms"),
        Ratio("nearest of any word, 95th percentile", _p95(raw, "any word ms"), 100, unit="ms"),
        Ratio("recall@10 of any word", tuple(raw["recall@10"]), 0.95, "at least", unit=""),
        Ratio(f"word of {FREQUENT:,}, sampled", tuple(raw["frequent ms"]), 1_000, unit="ms"),
        Ratio("disk / raw float16 vectors", (disk / raw_bytes,), 1.15),
        Ratio("the same without the vector index", (plain / raw_bytes,)),
    ]
    return Outcome(ratios, raw, {"occurrences": N_ROWS, "dimensions": N_DIMS})


def _p95(raw: dict[str, list[float]], name: str) -> tuple[float, ...]:
    return (quantiles(raw[name], n=20)[-1],)


def _asked(corpus: StoredCorpus, vectors: Any, rounds: int) -> dict[str, list[float]]:
    rng = np.random.default_rng(1)
    units = vectors.astype(np.float32)
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    raw: dict[str, list[float]] = {"page ms": [], "nearest ms": [], "any word ms": []}
    raw |= {"recall@10": [], "frequent ms": []}
    for _ in range(rounds):
        n_found = 0
        for row in rng.integers(0, N_ROWS, N_QUERIES):
            word = f"w{rng.integers(1, N_WORDS)}"
            query = units[row] + 0.02 * rng.standard_normal(N_DIMS).astype(np.float32)
            raw["page ms"].append(1e3 * seconds(lambda word=word: _page(corpus, word)))
            raw["nearest ms"].append(
                1e3 * seconds(lambda q=query, word=word: corpus.nearest(q, 0, 10, word=word))
            )
            begin = time.perf_counter()
            found = corpus.nearest(query, 0, 10)
            raw["any word ms"].append(1e3 * (time.perf_counter() - begin))
            best = np.argpartition(-(units @ query), 10)[:10]
            n_found += len(set(best.tolist()) & set(found.rows.tolist()))
        raw["recall@10"].append(n_found / (10 * N_QUERIES))
        raw["frequent ms"].append(1e3 * seconds(lambda: _sampled(corpus)))
    return raw


def _page(corpus: StoredCorpus, word: str) -> None:
    found = corpus.occurrences(word)
    corpus.text(found.texts[:PAGE])


def _sampled(corpus: StoredCorpus) -> None:
    """Read the data of the commonest word's picture."""
    found = corpus.occurrences("w0", most=2_000)
    corpus.vectors(found, 0)
    corpus.text(found.texts[:PAGE])


def _million(folder: Path) -> tuple[Store, str, Any]:
    """A store with one corpus, its name, and its vectors: clusters, as words have senses."""
    own = Indexing("made-up", "0" * 64, "1", (0,), N_DIMS)
    store = Store(str(folder))
    n_texts = N_ROWS // 10
    corpus = Corpus("made-up", tuple(f"A made-up text, number {i}." for i in range(n_texts)))
    name = store.create(corpus, own).name
    vectors = np.empty((N_ROWS, N_DIMS), np.float16)
    for rows in _batches(own, vectors):
        store.append(name, own, [rows])
    store.finish(name)
    return store, name, vectors


def _batches(own: Indexing, vectors: Any) -> Iterator[pa.RecordBatch]:
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((2_000, N_DIMS)).astype(np.float32)
    frequent = set(rng.choice(N_ROWS, FREQUENT, replace=False).tolist())
    size = 50_000
    for start in range(0, N_ROWS, size):
        noise = rng.standard_normal((size, N_DIMS), dtype=np.float32)
        vectors[start : start + size] = centres[rng.integers(0, len(centres), size)] + noise
        places = range(start, start + size)
        words = [f"w{0 if i in frequent else 1 + i % (N_WORDS - 1)}" for i in places]
        yield _rows(own, start, words, vectors[start : start + size])


def _rows(own: Indexing, start: int, words: list[str], vectors: Any) -> pa.RecordBatch:
    n = len(words)
    places = np.arange(start, start + n, dtype=np.int32)
    spans = places % 10
    arrays = [
        pa.array(places),
        pa.array(places // 10),
        pa.array(spans),
        pa.array(spans + 1),
        *(pa.array(words) for _ in range(4)),
        pa.array(np.zeros(n, np.bool_)),
        pa.array(np.zeros(n, np.int32)),
        pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), own.n_dims),
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema(own))


def _indexed(store: Store, name: str) -> None:
    job = indexing.index_vectors(Jobs(10**6), store, name)
    if job is not None:
        job.result(600)
