"""Stored corpora: made-up texts, a made-up model that needs no torch, and indexing that is held.

The model's vectors depend on a token and its place alone, so that they are the same in any batch
and on any machine.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa

from contextlens.core import EncoderService
from contextlens.core.schema import Encoding, Passport
from contextlens.core.words import split_words
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.store.about import About, Indexing
from contextlens.corpus.store.indexing import index, start
from contextlens.corpus.store.store import Store
from contextlens.jobs import Jobs, Visitor

__all__ = [
    "CHECKSUM",
    "ME",
    "YOU",
    "Gate",
    "MadeUpService",
    "assert_same_rows",
    "create",
    "held",
    "ignore",
    "indexed",
    "indexing",
    "made_up_corpus",
    "rows_in",
    "service",
    "whole",
]

CHECKSUM = "a" * 64


N_LAYERS, N_DIMS, MAX_LENGTH = 3, 16, 40


PIECE = 4  # characters of a token


def indexing(layers: Sequence[int] = (0, 2), **changes: Any) -> Indexing:
    """Settings for indexing with the made-up model."""
    own = {"model": "made-up", "checksum": CHECKSUM, "revision": "1", "n_dims": N_DIMS}
    return Indexing(**{**own, "layers": tuple(layers), **changes})


class MadeUpService(EncoderService):
    """The part of `EncoderService` that indexing asks for. Words are cut every four characters."""

    def __init__(
        self, *, checksum: str = CHECKSUM, before: Callable[[], None] = lambda: None
    ) -> None:
        self._card = SimpleNamespace(
            id="made-up",
            checksum=checksum,
            revision="1",
            n_layers=N_LAYERS,
            n_dims=N_DIMS,
            max_length=MAX_LENGTH,
            fast=SimpleNamespace(dtype="float32"),
        )
        self._before = before
        self.n_texts = 0

    def spec(self, model: str) -> Any:
        del model
        return SimpleNamespace(loaded=True, on_disk=True, source="bundled")

    def load(self, model: str, *, progress: Any = None) -> Any:
        del model, progress
        return self._card

    def encode(
        self,
        model: str,
        texts: Sequence[str],
        *,
        layers: Sequence[int],
        precision: str = "exact",
        checksum: str = "",
    ) -> list[Encoding]:
        del model, precision, checksum
        self._before()
        self.n_texts += len(texts)
        return [_encoding(text, tuple(layers)) for text in texts]


def _encoding(text: str, layers: tuple[int, ...]) -> Encoding:
    pieces = [
        (a, min(a + PIECE, end))
        for start, end in split_words(text)
        for a in range(start, end, PIECE)
    ]
    kept = pieces[: MAX_LENGTH - 2]
    n = len(kept) + 2
    offsets = np.array([(0, 0), *kept, (0, 0)], np.int64)
    tokens = ("[CLS]", *(text[a:b] for a, b in kept), "[SEP]")
    hidden = np.stack([_vector(token, place) for place, token in enumerate(tokens)], axis=1)
    zeros, ones = np.zeros(n, np.int64), np.ones(n, np.int64)
    text_ids = np.array([-1, *[0] * len(kept), -1], np.int64)
    return Encoding(
        text=text,
        pair=None,
        tokens=tokens,
        token_ids=zeros,
        attention_mask=ones,
        token_type_ids=None,
        special_tokens_mask=(text_ids < 0).astype(np.int64),
        offsets=offsets,
        word_ids=zeros,
        text_ids=text_ids,
        n_truncated=len(pieces) - len(kept),
        hidden=hidden[list(layers)].astype(np.float32),
        layers=layers,
        pooler_output=None,
        attentions=None,
        passport=Passport("made-up", "1", CHECKSUM, "exact", {}),
    )


@lru_cache(maxsize=4096)
def _vector(token: str, place: int) -> Any:
    """(N_LAYERS + 1, N_DIMS): mostly the token's own, with a little of its place."""
    seed = int.from_bytes(hashlib.blake2b(token.casefold().encode(), digest_size=8).digest())
    own = np.random.default_rng(seed).standard_normal((N_LAYERS + 1, N_DIMS))
    return own + 0.3 * np.random.default_rng(place).standard_normal((N_LAYERS + 1, N_DIMS))


def made_up_corpus(n_texts: int = 40, *, name: str = "made-up.csv", seed: int = 0) -> Corpus:
    """Sentences of a few words, some far longer than the model reads; labelled, without targets."""
    rng = np.random.default_rng(seed)
    words = [
        "Python",
        "python",
        "bank",
        "the",
        "a",
        "river",
        "Café",
        "don't",
        "2024",
        "unbelievable",
    ]
    texts = [
        " ".join(words[i] for i in rng.integers(0, len(words), rng.integers(1, 30))) + "!"
        for _ in range(n_texts)
    ]
    labels = {"sense": tuple("ab"[i % 2] for i in range(n_texts))}
    return Corpus(name, tuple(texts), labels)


def ignore(stage: str, share: float) -> None:
    """Ignore progress."""


def indexed(
    store: Store, corpus: Corpus, *, name: str | None = None, owner: str = "", **changes: Any
) -> str:
    """Index with the made-up model; return the name."""
    about = store.create(corpus, indexing(**changes), name=name, owner=owner)
    index(store, MadeUpService(), about.name, ignore)  # type: ignore[arg-type]
    return about.name


def rows_in(store: Store, name: str) -> Any:
    """All of a corpus's rows as they are stored."""
    corpus = store.open(name)
    return corpus.rows(np.arange(corpus.n_occurrences))


def assert_same_rows(found: Any, expected: Any) -> None:
    """Rows of the real model are equal, the vectors to the precision of float16 and the service.

    The model's last bits depend on the number of threads, hence on what else runs: the contract
    asks for 1e-5 of the largest number.
    """
    vectors = [each.name for each in expected.schema if pa.types.is_fixed_size_list(each.type)]
    assert vectors
    exact = [name for name in expected.column_names if name not in vectors]
    assert found.select(exact).equals(expected.select(exact))
    for name in vectors:
        own, other = (_flat(rows[name]) for rows in (found, expected))
        largest = max(1.0, float(np.abs(other).max()))
        assert np.all(np.abs(own - other) <= 1e-5 * largest + 2.0**-10 * np.abs(other)), name


def _flat(column: Any) -> Any:
    return column.combine_chunks().flatten().to_numpy().astype(np.float32)


ME, YOU = Visitor("me"), Visitor("you")


class Gate:
    """Lets so many chunks be encoded, then waits for `open`."""

    def __init__(self, n_free: int) -> None:
        self._n_left = n_free
        self._opened, self.reached = threading.Event(), threading.Event()

    def __call__(self) -> None:
        self._n_left -= 1
        if self._n_left < 0:
            self.reached.set()
            assert self._opened.wait(20)

    def open(self) -> None:
        self._opened.set()


def service(before: Callable[[], None] = lambda: None, **changes: Any) -> Any:
    return MadeUpService(before=before, **changes)


def create(store: Store, n_texts: int = 40, **changes: Any) -> About:
    return store.create(made_up_corpus(n_texts), indexing(**changes))


def whole(store: Store, about: About, n_texts: int = 40) -> Any:
    """The rows of the same corpus, indexed without a stop."""
    other = indexed(store, made_up_corpus(n_texts), layers=about.indexing.layers)
    return rows_in(store, other)


@contextmanager
def held(store: Store, jobs: Jobs, name: str, n_free: int = 3) -> Iterator[Gate]:
    """A corpus whose indexing is paused midway."""
    gate = Gate(n_free)
    start(jobs, store, service(gate), name, ME)
    assert gate.reached.wait(20)
    try:
        yield gate
    finally:
        gate.open()
