"""A service in front of a service: remembers results within a bound, computes each thing once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from components.core.byte_cache import ByteCache, CacheInfo
from components.core.meters import metered
from components.core.protocol import EncoderService
from components.core.schema import (
    Architecture,
    AttentionRequest,
    Attribution,
    Average,
    Counted,
    CutRules,
    EmbeddingParts,
    Encoding,
    FloatArray,
    IntArray,
    Intervention,
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
from components.core.text_keys import exact_numbers, pick, read_once, text_keys

__all__ = ["ByteCache", "CacheInfo", "CachedService"]

_LARGEST = 8
"""One result may take this part of the room: all heads of a long text would push out the rest."""


@metered(EncoderService, besides=("models", "spec"))  # a page asks those twenty times a run
class CachedService:
    """An `EncoderService` that remembers what another one said. Callers cannot tell them apart."""

    def __init__(self, inner: EncoderService, *, max_bytes: int) -> None:
        self._inner = inner
        self._cache = ByteCache(max_bytes)
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
            some, others = pick(texts, pairs, missing)
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
        layers, attentions = read_once(layers), read_once(attentions)

        def compute(missing: list[int]) -> list[Encoding]:
            some, others = pick(texts, pairs, missing)
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

    def intervene(
        self,
        model: str,
        texts: Sequence[str],
        interventions: Sequence[Sequence[Intervention]],
        *,
        pairs: Sequence[str | None] | None = None,
        layers: Sequence[int] | None = None,
        baseline: Sequence[str] = (),
        progress: Counted | None = None,
    ) -> list[Encoding]:
        """See `EncoderService.intervene`; told only of what was not remembered."""
        layers, baseline = read_once(layers), read_once(baseline)
        given = read_once(interventions)
        changes = [read_once(row) for row in given] if isinstance(given, list) else []
        over_all = any(
            isinstance(change, Average) and change.over == "batch"
            for row in changes
            if isinstance(row, list)
            for change in row
        )

        def compute(missing: list[int]) -> list[Encoding]:
            # What is averaged over all texts is averaged over those that are remembered too.
            whole = over_all or len(missing) == len(texts)
            some, others = (texts, pairs) if whole else pick(texts, pairs, missing)
            found = self._inner.intervene(
                model,
                some,
                changes if whole else [changes[i] for i in missing],
                pairs=others,
                layers=layers,
                baseline=baseline,
                progress=progress,
            )
            return [found[i] for i in missing] if whole else found

        settings = (layers, baseline, (texts, pairs) if over_all else None)
        return self._each(
            "intervene", model, texts, pairs, settings, compute, each=changes, patient=True
        )

    def integrated_gradients(
        self,
        model: str,
        text: str,
        weights: FloatArray,
        toward: FloatArray,
        *,
        pair: str | None = None,
        layer: int | None = None,
        steps: int | None = None,
        progress: Counted | None = None,
    ) -> Attribution:
        """See `EncoderService.integrated_gradients`."""

        def compute(_: list[int]) -> list[Attribution]:
            return [
                self._inner.integrated_gradients(
                    model,
                    text,
                    weights,
                    toward,
                    pair=pair,
                    layer=layer,
                    steps=steps,
                    progress=progress,
                )
            ]

        settings = (layer, steps, exact_numbers(weights), exact_numbers(toward))
        found: Attribution = self._each(
            "gradients", model, [text], [pair], settings, compute, patient=True
        )[0]
        return found

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
        *,
        each: Sequence[Any] | None = None,
        patient: bool = False,
    ) -> list[Any]:
        """One cache entry for each text; what is no text is left to the inner service to refuse."""
        own = self._tokenizer_checksum if kind == "tokenize" else self._checksum
        keys = text_keys((kind, model, own(model)), texts, pairs, settings, each)
        if keys is None:
            return list(compute(list(range(len(texts)))))
        return self._cache.get_many(keys, compute, patient=patient, part=_LARGEST)

    def _checksum(self, model: str) -> str:
        return self._checksums.get(model) or self.load(model).checksum

    def _tokenizer_checksum(self, model: str) -> str:
        return self._tokenizer_checksums.get(model) or self.load_tokenizer(model).checksum
