"""A service in front of a service: remembers results within a bound, computes each thing once."""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

from components.core.schema import (
    Architecture,
    AttentionRequest,
    EmbeddingParts,
    Encoding,
    FloatArray,
    IntArray,
    Mask,
    ModelCard,
    ModelSpec,
    Parameter,
    Precision,
    Progress,
    TokenizerCard,
    Tokens,
    Vocabulary,
)
from components.core.service import EncoderService

__all__ = ["ByteCache", "CacheInfo", "CachedService"]

_LARGEST = 8
"""One result may take this part of the room: all heads of a long text would push out the rest."""
_OVERHEAD = 1024
"""Bytes counted for each entry beside its arrays: key, strings, objects."""


@dataclass(frozen=True)
class CacheInfo:
    """How a cache has done so far."""

    hits: int
    misses: int
    n_entries: int
    n_bytes: int
    max_bytes: int


class ByteCache:
    """A least-recently-used store bounded in bytes, in which each key is computed once.

    Threads that ask for a key while another computes it wait for that one; an error goes to all of
    them and is not kept, nor is a value of more than `max_entry_bytes`.
    """

    def __init__(self, max_bytes: int, *, max_entry_bytes: int | None = None) -> None:
        self._max_bytes = max_bytes
        self._max_entry_bytes = max_bytes if max_entry_bytes is None else max_entry_bytes
        self._entries: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._pending: dict[Hashable, Future[Any]] = {}
        self._lock = threading.Lock()
        self._bytes = self._hits = self._misses = 0

    def info(self) -> CacheInfo:
        """Hits, misses and sizes so far; waiting for another thread's computation is a hit."""
        with self._lock:
            return CacheInfo(
                self._hits, self._misses, len(self._entries), self._bytes, self._max_bytes
            )

    def get_many(
        self, keys: Sequence[Hashable], compute: Callable[[list[int]], Sequence[Any]]
    ) -> list[Any]:
        """The value of each key; `compute` gets the indices of the missing ones, once each."""
        mine, futures = self._claim(keys)
        if mine:
            self._fill([keys[i] for i in mine], lambda: compute(mine))
        return [f.result() if isinstance(f, Future) else f[0] for f in futures]

    def get(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """The value of one key."""
        return self.get_many([key], lambda _: [compute()])[0]

    def _claim(self, keys: Sequence[Hashable]) -> tuple[list[int], list[Any]]:
        """Which indices this thread must compute, and for every key its entry or its future."""
        mine: list[int] = []
        found: list[Any] = []
        with self._lock:
            for i, key in enumerate(keys):
                entry: Any = self._entries.get(key) or self._pending.get(key)
                if entry is None:
                    entry = self._pending[key] = Future()
                    mine.append(i)
                elif not isinstance(entry, Future):
                    self._entries.move_to_end(key)
                found.append(entry)
            self._misses += len(mine)
            self._hits += len(keys) - len(mine)
        return mine, found

    def _fill(self, keys: Sequence[Hashable], compute: Callable[[], Sequence[Any]]) -> None:
        try:
            values = [value for _, value in zip(keys, compute(), strict=True)]
        except BaseException as exc:
            with self._lock:
                futures = [self._pending.pop(key) for key in keys]
            for future in futures:
                future.set_exception(exc)
            raise
        with self._lock:
            futures = [self._pending.pop(key) for key in keys]
            for key, value in zip(keys, values, strict=True):
                self._store(key, value)
        for future, value in zip(futures, values, strict=True):
            future.set_result(value)

    def _store(self, key: Hashable, value: Any) -> None:
        size = _size(value) + _OVERHEAD
        if size > self._max_entry_bytes:
            return
        self._entries[key] = (value, size)
        self._bytes += size
        while self._bytes > self._max_bytes:
            _, (_, freed) = self._entries.popitem(last=False)
            self._bytes -= freed


class CachedService:
    """An `EncoderService` that remembers what another one said. Callers cannot tell them apart."""

    def __init__(self, inner: EncoderService, *, max_bytes: int) -> None:
        self._inner = inner
        self._cache = ByteCache(max_bytes, max_entry_bytes=max_bytes // _LARGEST)
        self._checksums: dict[str, str] = {}
        self._tokenizer_checksums: dict[str, str] = {}

    def cache_info(self) -> CacheInfo:
        """How the cache has done so far."""
        return self._cache.info()

    def models(self) -> tuple[ModelSpec, ...]:
        """See `EncoderService.models`."""
        return self._inner.models()

    def load(self, model: str, *, progress: Progress | None = None) -> ModelCard:
        """See `EncoderService.load`."""
        card = self._inner.load(model, progress=progress)
        self._checksums[model] = card.checksum
        return card

    def tokenize(
        self,
        model: str,
        texts: Sequence[str],
        *,
        pairs: Sequence[str | None] | None = None,
        pad_to: int | None = None,
        max_length: int | None = None,
    ) -> list[Tokens]:
        """See `EncoderService.tokenize`."""

        def compute(missing: list[int]) -> list[Tokens]:
            some, others = _pick(texts, pairs, missing)
            return self._inner.tokenize(
                model, some, pairs=others, pad_to=pad_to, max_length=max_length
            )

        settings = (pad_to, max_length)
        return self._each("tokenize", model, texts, pairs, settings, compute)

    def load_tokenizer(self, model: str, *, progress: Progress | None = None) -> TokenizerCard:
        """See `EncoderService.load_tokenizer`."""
        card = self._inner.load_tokenizer(model, progress=progress)
        self._tokenizer_checksums[model] = card.checksum
        return card

    def vocabulary(self, model: str) -> Vocabulary:
        """See `EncoderService.vocabulary`; the tokenizer remembers it itself."""
        return self._inner.vocabulary(model)

    def normalize(self, model: str, texts: Sequence[str]) -> list[str]:
        """See `EncoderService.normalize`; quicker than remembering."""
        return self._inner.normalize(model, texts)

    def decode(
        self, model: str, token_ids: Sequence[int] | IntArray, *, skip_special: bool = False
    ) -> str:
        """See `EncoderService.decode`; quicker than remembering."""
        return self._inner.decode(model, token_ids, skip_special=skip_special)

    def encode(
        self,
        model: str,
        texts: Sequence[str],
        *,
        pairs: Sequence[str | None] | None = None,
        pad_to: int | None = None,
        mask: Mask = "model",
        layers: Sequence[int] | None = None,
        attentions: AttentionRequest = False,
        precision: Precision = "exact",
    ) -> list[Encoding]:
        """See `EncoderService.encode`."""
        layers, attentions = _read_once(layers), _read_once(attentions)

        def compute(missing: list[int]) -> list[Encoding]:
            some, others = _pick(texts, pairs, missing)
            return self._inner.encode(
                model,
                some,
                pairs=others,
                pad_to=pad_to,
                mask=mask,
                layers=layers,
                attentions=attentions,
                precision=precision,
            )

        settings = (pad_to, mask, layers, attentions, precision)
        return self._each("encode", model, texts, pairs, settings, compute)

    def embedding_parts(self, model: str, text: str, *, pair: str | None = None) -> EmbeddingParts:
        """See `EncoderService.embedding_parts`."""
        if not isinstance(text, str) or not isinstance(pair, str | None):
            return self._inner.embedding_parts(model, text, pair=pair)
        key = ("embedding_parts", model, self._checksum(model), text, pair)
        parts: EmbeddingParts = self._cache.get(
            key, lambda: self._inner.embedding_parts(model, text, pair=pair)
        )
        return parts

    def word_rows(self, model: str, token_ids: Sequence[int] | IntArray) -> FloatArray:
        """See `EncoderService.word_rows`; a table look-up is not worth remembering."""
        return self._inner.word_rows(model, token_ids)

    def nearest_rows(self, model: str, vector: FloatArray, n: int) -> list[tuple[int, str, float]]:
        """See `EncoderService.nearest_rows`."""
        wanted = np.asarray(vector, dtype=np.float32)
        key = ("nearest", model, self._checksum(model), wanted.shape, wanted.tobytes(), n)
        return list(self._cache.get(key, lambda: self._inner.nearest_rows(model, wanted, n)))

    def parameters(self, model: str) -> tuple[Parameter, ...]:
        """See `EncoderService.parameters`."""
        key = ("parameters", model, self._checksum(model))
        found: tuple[Parameter, ...] = self._cache.get(key, lambda: self._inner.parameters(model))
        return found

    def architecture(self, model: str) -> Architecture:
        """See `EncoderService.architecture`; a loaded model's is another than a preset's."""
        known = any(spec.id == model and spec.loaded for spec in self.models())
        key = ("architecture", model, known)
        found: Architecture = self._cache.get(key, lambda: self._inner.architecture(model))
        return found

    def matrix(self, model: str, name: str) -> FloatArray:
        """See `EncoderService.matrix`; the model holds it in memory already."""
        return self._inner.matrix(model, name)

    def _each(
        self,
        kind: str,
        model: str,
        texts: Sequence[str],
        pairs: Sequence[str | None] | None,
        settings: tuple[Any, ...],
        compute: Callable[[list[int]], Sequence[Any]],
    ) -> list[Any]:
        """One cache entry for each text; what is no text is left to the inner service to refuse."""
        own = self._tokenizer_checksum if kind == "tokenize" else self._checksum
        checksum = own(model)
        others = pairs if pairs is not None else [None] * len(texts)
        if isinstance(texts, str) or isinstance(pairs, str) or len(others) != len(texts):
            return list(compute(list(range(len(texts)))))
        if not all(
            isinstance(t, str) and isinstance(p, str | None)
            for t, p in zip(texts, others, strict=True)
        ):
            return list(compute(list(range(len(texts)))))
        exact = repr(settings)  # not the values: 1, 1.0 and True are equal as keys
        keys = [
            (kind, model, checksum, text, pair, exact)
            for text, pair in zip(texts, others, strict=True)
        ]
        return self._cache.get_many(keys, compute)

    def _checksum(self, model: str) -> str:
        return self._checksums.get(model) or self.load(model).checksum

    def _tokenizer_checksum(self, model: str) -> str:
        return self._tokenizer_checksums.get(model) or self.load_tokenizer(model).checksum


def _read_once(value: Any) -> Any:
    """An iterator or array as a list: the key and the computation both read it."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    return list(value) if isinstance(value, Iterable) and not isinstance(value, str) else value


def _pick(
    texts: Sequence[str], pairs: Sequence[str | None] | None, missing: list[int]
) -> tuple[Sequence[str], Sequence[str | None] | None]:
    """The missing texts and pairs; the very arguments where all are missing or they do not fit."""
    if len(missing) == len(texts):
        return texts, pairs
    return [texts[i] for i in missing], None if pairs is None else [pairs[i] for i in missing]


def _size(value: Any) -> int:
    """Bytes of the arrays and strings in a result."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, str):
        return sys.getsizeof(value)
    if isinstance(value, (list, tuple)):
        return sum(map(_size, value))
    if is_dataclass(value):
        return sum(_size(getattr(value, field.name)) for field in fields(value))
    return 0
