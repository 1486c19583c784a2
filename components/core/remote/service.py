"""The service whose models are on other machines: the same contract, over HTTP.

What the app asks at every run of a page (which models there are, whether one is loaded, its card)
is believed for some seconds. Whatever depends on a model's files alone is remembered as long as
there is room: a service in front of a local one leaves that to the model in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

from components.core.byte_cache import ByteCache
from components.core.remote.connection import Connection
from components.core.remote.known import Known
from components.core.remote.parts import parts_of
from components.core.remote.wire import pack
from components.core.schema import (
    Architecture,
    AttentionRequest,
    Attribution,
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
from components.core.text_keys import read_once

__all__ = ["RemoteService"]


_SPEC_SECONDS = 3.0
_CARD_SECONDS = 60.0  # of a model that stays loaded


class RemoteService:
    """Models behind an address. Thread-safe.

    Args:
        url: of the service.
        token: that it wants, if any.
        max_bytes: of what is remembered of models' files.
    """

    def __init__(self, url: str, *, token: str | None = None, max_bytes: int = 64_000_000) -> None:
        self._connection = Connection(url, token)
        self._known = Known()
        self._files = ByteCache(max_bytes)

    @property
    def away(self) -> str | None:
        """What to say as long as the service does not answer, or None."""
        return self._connection.away

    def close(self) -> None:
        """Let go of all connections."""
        self._connection.close()

    def models(self) -> tuple[ModelSpec, ...]:
        """See `EncoderService.models`; of what is loaded, who was asked for a model knows best."""
        found: tuple[ModelSpec, ...] = self._known.get(
            "models", lambda: self._quick("models"), seconds=_SPEC_SECONDS
        )
        return tuple(self._as_last_seen(spec) for spec in found)

    def _as_last_seen(self, spec: ModelSpec) -> ModelSpec:
        """Another machine may hold the model than the one that listed it."""
        own: ModelSpec | None = self._known.last(("spec", spec.id))
        is_loaded = spec.loaded if own is None else own.loaded
        return spec if is_loaded == spec.loaded else replace(spec, loaded=is_loaded)

    def spec(self, model: str) -> ModelSpec:
        """See `EncoderService.spec`."""
        found: ModelSpec = self._known.get(
            ("spec", model), lambda: self._quick("spec", model=model), seconds=_SPEC_SECONDS
        )
        return found

    def load(self, model: str, *, progress: Progress | None = None) -> ModelCard:
        """See `EncoderService.load`."""

        def ask() -> ModelCard:
            card: ModelCard = self._connection.ask("load", {"model": model}, told=progress)
            self._known.keep(("spec", model), self._quick("spec", model=model))
            return card

        key = ("card", model)
        if self._known.last(key) is not None and not self.spec(model).loaded:
            self._known.forget(key)
        found: ModelCard = self._known.get(key, ask, seconds=_CARD_SECONDS)
        return found

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
        settings = {"model": model, "pad_to": pad_to, "max_length": max_length}
        return self._in_parts("tokenize", texts, pairs, settings)

    def load_tokenizer(self, model: str, *, progress: Progress | None = None) -> TokenizerCard:
        """See `EncoderService.load_tokenizer`."""
        found: TokenizerCard = self._known.get(
            ("tokenizer", model),
            lambda: self._connection.ask("load_tokenizer", {"model": model}, told=progress),
            seconds=_CARD_SECONDS,
        )
        return found

    def vocabulary(self, model: str) -> Vocabulary:
        """See `EncoderService.vocabulary`."""
        found: Vocabulary = self._of_tokenizer("vocabulary", model)
        return found

    def cut_rules(self, model: str) -> CutRules:
        """See `EncoderService.cut_rules`."""
        found: CutRules = self._of_tokenizer("cut_rules", model)
        return found

    def normalize(self, model: str, texts: Sequence[str]) -> list[str]:
        """See `EncoderService.normalize`."""
        return list(self._of_tokenizer("normalize", model, texts=texts))

    def decode(
        self, model: str, token_ids: Sequence[int] | IntArray, *, skip_special: bool = False
    ) -> str:
        """See `EncoderService.decode`."""
        found: str = self._of_tokenizer(
            "decode", model, token_ids=token_ids, skip_special=skip_special
        )
        return found

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
        settings = {
            "model": model,
            "pad_to": pad_to,
            "mask": mask,
            "layers": layers,
            "attentions": attentions,
            "precision": precision,
        }
        return self._in_parts("encode", texts, pairs, settings)

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
        """See `EncoderService.intervene`."""
        arguments = {
            "model": model,
            "texts": texts,
            "interventions": interventions,
            "pairs": pairs,
            "layers": layers,
            "baseline": baseline,
        }
        found: list[Encoding] = self._connection.ask(
            "intervene", arguments, told=_counted(progress)
        )
        return found

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
        arguments = {
            "model": model,
            "text": text,
            "weights": weights,
            "toward": toward,
            "pair": pair,
            "layer": layer,
            "steps": steps,
        }
        found: Attribution = self._connection.ask(
            "integrated_gradients", arguments, told=_counted(progress)
        )
        return found

    def embedding_parts(self, model: str, text: str, *, pair: str | None = None) -> EmbeddingParts:
        """See `EncoderService.embedding_parts`."""
        found: EmbeddingParts = self._connection.ask(
            "embedding_parts", {"model": model, "text": text, "pair": pair}
        )
        return found

    def word_rows(self, model: str, token_ids: Sequence[int] | IntArray) -> FloatArray:
        """See `EncoderService.word_rows`."""
        found: FloatArray = self._of_model("word_rows", model, token_ids=token_ids)
        return found

    def nearest_rows(self, model: str, vector: FloatArray, n: int) -> list[tuple[int, str, float]]:
        """See `EncoderService.nearest_rows`."""
        found: list[tuple[int, str, float]] = self._connection.ask(
            "nearest_rows", {"model": model, "vector": vector, "n": n}
        )
        return found

    def parameters(self, model: str) -> tuple[Parameter, ...]:
        """See `EncoderService.parameters`."""
        found: tuple[Parameter, ...] = self._connection.ask("parameters", {"model": model})
        return found

    def architecture(self, model: str) -> Architecture:
        """See `EncoderService.architecture`."""
        found: Architecture = self._connection.ask("architecture", {"model": model})
        return found

    def matrix(self, model: str, name: str) -> FloatArray:
        """See `EncoderService.matrix`."""
        found: FloatArray = self._of_model("matrix", model, name=name)
        return found

    def _quick(self, method: str, **arguments: Any) -> Any:
        return self._connection.ask(method, arguments, quick=True)

    def _of_tokenizer(self, method: str, model: str, **arguments: Any) -> Any:
        return self._remembered(self.load_tokenizer(model).checksum, method, model, arguments)

    def _of_model(self, method: str, model: str, **arguments: Any) -> Any:
        return self._remembered(self.load(model).checksum, method, model, arguments)

    def _remembered(self, checksum: str, method: str, model: str, arguments: dict[str, Any]) -> Any:
        """What depends on a model's files and the arguments alone."""
        key: Hashable = (method, model, checksum, sha256(pack(arguments)).digest())
        return self._files.get(
            key, lambda: self._connection.ask(method, {"model": model, **arguments})
        )

    def _in_parts(
        self,
        method: str,
        texts: Sequence[str],
        pairs: Sequence[str | None] | None,
        settings: dict[str, Any],
    ) -> list[Any]:
        """What is said of each text by itself, asked for some texts at a time."""
        settings = {name: read_once(value) for name, value in settings.items()}
        parts = parts_of(texts, pairs)
        if parts is None:
            return list(self._connection.ask(method, {**settings, "texts": texts, "pairs": pairs}))
        found: list[Any] = []
        for part in parts:
            some = {"texts": texts[part], "pairs": None if pairs is None else pairs[part]}
            found += self._connection.ask(method, {**settings, **some})
        return found


def _counted(progress: Counted | None) -> Callable[[Any], None] | None:
    """Progress in numbers as it comes: a pair of them."""
    return None if progress is None else lambda event: progress(*event)
