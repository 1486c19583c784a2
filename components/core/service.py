"""The service whose models are in this process, and how to open one with its cache.

Importing this module does not import torch: `LocalService` imports the encoder package, which takes
seconds, inside the methods that run a model.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from components.core import registry
from components.core.batching import Streams
from components.core.model_list import ModelList
from components.core.model_store import ModelStore
from components.core.presets import preset_config
from components.core.protocol import EncoderService
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

if TYPE_CHECKING:
    from components.core.cache import CachedService
    from components.core.settings import Settings

__all__ = ["EncoderService", "LocalService", "open_service"]


class LocalService:
    """Models in this process. Thread-safe; keeps loaded models within `settings.model_bytes`."""

    def __init__(self, settings: Settings, *, batching: bool = True) -> None:
        self._settings = settings
        self._is_batching = batching  # only measurements say no
        self._list = ModelList(settings)
        self._store = ModelStore(settings, self._list.look_again)
        self._own_streams: Streams | None = None
        self._lock = threading.Lock()

    def models(self) -> tuple[ModelSpec, ...]:
        """See `EncoderService.models`."""
        return self._list.specs(self._store.loaded())

    def model_sizes(self) -> dict[str, int]:
        """Bytes of each model in memory, by its id."""
        return self._store.sizes()

    def spec(self, model: str) -> ModelSpec:
        """See `EncoderService.spec`."""
        return self._list.spec(model, self._store.loaded())

    def load(self, model: str, *, progress: Progress | None = None) -> ModelCard:
        """See `EncoderService.load`.

        Raises:
            ModelError: the model cannot be had or used, with the reason.
        """
        return self._store.model(model, progress).card

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
        from components.core.encoder import tokenize

        reader = self._store.tokenizer(model)
        return tokenize(reader, texts, pairs=pairs, pad_to=pad_to, max_length=max_length)

    def load_tokenizer(self, model: str, *, progress: Progress | None = None) -> TokenizerCard:
        """See `EncoderService.load_tokenizer`."""
        return self._store.tokenizer(model, progress).card

    def vocabulary(self, model: str) -> Vocabulary:
        """See `EncoderService.vocabulary`."""
        return self._store.tokenizer(model).vocabulary

    def cut_rules(self, model: str) -> CutRules:
        """See `EncoderService.cut_rules`."""
        return self._store.tokenizer(model).cut_rules

    def normalize(self, model: str, texts: Sequence[str]) -> list[str]:
        """See `EncoderService.normalize`."""
        from components.core.encoder import normalize

        return normalize(self._store.tokenizer(model), texts)

    def decode(
        self, model: str, token_ids: Sequence[int] | IntArray, *, skip_special: bool = False
    ) -> str:
        """See `EncoderService.decode`."""
        from components.core.encoder import decode

        return decode(self._store.tokenizer(model), token_ids, skip_special=skip_special)

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
        from components.core.encoder import Request, encode, encode_together

        loaded = self._store.model(model)
        request = Request.checked(
            loaded.card,
            pad_to=pad_to,
            mask=mask,
            layers=layers,
            attentions=attentions,
            precision=precision,
        )
        if self._is_batching:
            encodings = encode_together(self._streams(), loaded, texts, request, pairs=pairs)
        else:
            encodings = encode(loaded, texts, request, pairs=pairs)
        if precision == "fast":  # its first use makes a copy of the weights
            self._store.make_room()
        return encodings

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
        from components.core.encoder import intervene

        loaded = self._store.model(model)
        with self._in_steps(progress) as told:
            return intervene(
                loaded,
                texts,
                interventions,
                pairs=pairs,
                layers=layers,
                baseline=baseline,
                progress=told,
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
        from components.core.encoder import integrated_gradients

        loaded = self._store.model(model)
        with self._in_steps(progress) as told:
            return integrated_gradients(
                loaded,
                text,
                weights,
                toward,
                pair=pair,
                layer=layer,
                steps=steps,
                progress=told,
            )

    def embedding_parts(self, model: str, text: str, *, pair: str | None = None) -> EmbeddingParts:
        """See `EncoderService.embedding_parts`."""
        from components.core.encoder import embedding_parts

        return embedding_parts(self._store.model(model), text, pair=pair)

    def word_rows(self, model: str, token_ids: Sequence[int] | IntArray) -> FloatArray:
        """See `EncoderService.word_rows`."""
        from components.core.encoder import word_rows

        return word_rows(self._store.model(model), token_ids)

    def nearest_rows(self, model: str, vector: FloatArray, n: int) -> list[tuple[int, str, float]]:
        """See `EncoderService.nearest_rows`."""
        from components.core.encoder import nearest_rows

        return nearest_rows(self._store.model(model), vector, n)

    def parameters(self, model: str) -> tuple[Parameter, ...]:
        """See `EncoderService.parameters`."""
        from components.core.encoder import list_parameters

        return list_parameters(self._store.model(model))

    def architecture(self, model: str) -> Architecture:
        """See `EncoderService.architecture`."""
        from components.core.encoder import architecture_of, build_architecture

        config = preset_config(model)
        if model in self._store.loaded() or config is None:
            return architecture_of(self._store.model(model))
        registry.check_model(model, self._settings)
        return build_architecture(model, registry.describe(model).title, config)

    def matrix(self, model: str, name: str) -> FloatArray:
        """See `EncoderService.matrix`."""
        from components.core.encoder import read_matrix

        return read_matrix(self._store.model(model), name)

    @contextmanager
    def _in_steps(self, progress: Counted | None) -> Iterator[Counted | None]:
        """What to tell of each step of work in this thread, so that others have their turn."""
        if not self._is_batching:
            yield progress
            return
        with self._streams().turn() as pause:
            yield _then(progress, pause)

    def _streams(self) -> Streams:
        """What runs the models; made when first needed, as it asks torch for its threads."""
        from components.core.encoder import processors

        with self._lock:
            if self._own_streams is None:
                self._own_streams = Streams(
                    processors(self._settings.device), most_texts=self._settings.queue_texts
                )
            return self._own_streams


def _then(progress: Counted | None, pause: Callable[[], None]) -> Counted:
    def told(n_done: int, n: int) -> None:
        if progress is not None:
            progress(n_done, n)
        pause()

    return told


def open_service(settings: Settings | None = None) -> CachedService:
    """The service that the environment asks for: local or remote, with a bounded cache in front.

    Raises:
        SettingsError: an environment variable has a value that is not allowed.
    """
    from components.core.cache import CachedService
    from components.core.settings import Settings

    settings = settings or Settings.from_env()
    return CachedService(_behind(settings), max_bytes=settings.cache_bytes)


def _behind(settings: Settings) -> EncoderService:
    """The service that computes: in this process, or behind an address."""
    if settings.service_url is None:
        return LocalService(settings)
    from components.core.remote.service import RemoteService

    return RemoteService(
        settings.service_url,
        token=settings.service_token,
        max_bytes=settings.cache_bytes // 4,
    )
