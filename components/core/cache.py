"""A service in front of a service: remembers results within a bound, computes each thing once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from components.core.byte_cache import ByteCache, CacheInfo
from components.core.protocol import EncoderService
from components.core.schema import (
    Architecture,
    AttentionRequest,
    CutRules,
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

__all__ = ["ByteCache", "CacheInfo", "CachedService"]

_LARGEST = 8
"""One result may take this part of the room: all heads of a long text would push out the rest."""


class CachedService:
    """An `EncoderService` that remembers what another one said. Callers cannot tell them apart."""

    def __init__(self, inner: EncoderService, *, max_bytes: int) -> None:
        self._inner = inner
        self._cache = ByteCache(max_bytes, max_entry_bytes=max_bytes // _LARGEST)
        self._checksums: dict[str, str] = {}
        self._tokenizer_checksums: dict[str, str] = {}

    @property
    def uncached(self) -> EncoderService:
        """The service behind: for work that reads each text once, and would push out the rest."""
        return self._inner

    def cache_info(self) -> CacheInfo:
        """How the cache has done so far."""
        return self._cache.info()

    def models(self) -> tuple[ModelSpec, ...]:
        """See `EncoderService.models`."""
        return self._inner.models()

    def spec(self, model: str) -> ModelSpec:
        """See `EncoderService.spec`."""
        return self._inner.spec(model)

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

    def cut_rules(self, model: str) -> CutRules:
        """See `EncoderService.cut_rules`; the tokenizer remembers them itself."""
        return self._inner.cut_rules(model)

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
        key = ("architecture", model, self.spec(model).loaded)
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
