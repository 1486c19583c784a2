"""The one door to a model: the `EncoderService` protocol, and the local service behind it.

Importing this module does not import torch: `LocalService` imports the encoder package, which takes
seconds, inside the methods that run a model.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from components.core import registry
from components.core.errors import CheckpointError
from components.core.hub import Presence, drop_damaged
from components.core.presets import preset_config
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
    ProgressEvent,
    TokenizerCard,
    Tokens,
    Vocabulary,
)
from components.core.settings import Settings

if TYPE_CHECKING:
    from components.core.cache import CachedService
    from components.core.encoder import LoadedModel, LoadedTokenizer

__all__ = ["EncoderService", "LocalService", "open_service"]

_N_TOKENIZERS = 8  # kept without their models; some 30 MB each


class EncoderService(Protocol):
    """What any source of encodings offers: local, cached or remote, callers cannot tell."""

    def models(self) -> tuple[ModelSpec, ...]:
        """The models that can be loaded, the default first."""
        ...

    def load(self, model: str, *, progress: Progress | None = None) -> ModelCard:
        """The card of a model, after its files are fetched, checked and loaded."""
        ...

    def tokenize(
        self,
        model: str,
        texts: Sequence[str],
        *,
        pairs: Sequence[str | None] | None = None,
        pad_to: int | None = None,
        max_length: int | None = None,
    ) -> list[Tokens]:
        """Each text's tokens, in the order given; nothing is computed by the network.

        Longer ones are cut to `max_length` tokens, by default the most that the model takes.
        """
        ...

    def load_tokenizer(self, model: str, *, progress: Progress | None = None) -> TokenizerCard:
        """The card of a model's tokenizer, whose files alone are fetched where it is not here."""
        ...

    def vocabulary(self, model: str) -> Vocabulary:
        """Every token that a model's tokenizer knows."""
        ...

    def normalize(self, model: str, texts: Sequence[str]) -> list[str]:
        """Each text as the tokenizer sees it before cutting (small letters, no accents, ...)."""
        ...

    def decode(
        self, model: str, token_ids: Sequence[int] | IntArray, *, skip_special: bool = False
    ) -> str:
        """The text that token IDs stand for."""
        ...

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
        """Each text's encoding, in the order given."""
        ...

    def embedding_parts(self, model: str, text: str, *, pair: str | None = None) -> EmbeddingParts:
        """The embedding layer's arithmetic for one text."""
        ...

    def word_rows(self, model: str, token_ids: Sequence[int] | IntArray) -> FloatArray:
        """(len(token_ids), n_embedding_dims) float32 rows of the word-embedding table."""
        ...

    def nearest_rows(self, model: str, vector: FloatArray, n: int) -> list[tuple[int, str, float]]:
        """The n rows of the word table nearest to a vector: (token ID, token, cosine)."""
        ...

    def parameters(self, model: str) -> tuple[Parameter, ...]:
        """Every parameter of the model, in its own order."""
        ...

    def architecture(self, model: str) -> Architecture:
        """What a model is made of; a preset's is known without its weights."""
        ...

    def matrix(self, model: str, name: str) -> FloatArray:
        """One parameter as float32; too large a one is refused."""
        ...


class LocalService:
    """Models in this process. Thread-safe; keeps loaded models within `settings.model_bytes`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._loaded: OrderedDict[str, LoadedModel] = OrderedDict()
        self._tokenizers: OrderedDict[str, LoadedTokenizer] = OrderedDict()
        self._lock = threading.Lock()
        self._loading: dict[str, threading.Lock] = {}
        self._presence = Presence()

    def models(self) -> tuple[ModelSpec, ...]:
        """See `EncoderService.models`."""
        specs = registry.list_models(self._settings)
        listed = {spec.id for spec in specs}
        with self._lock:
            specs += tuple(registry.describe(name) for name in self._loaded if name not in listed)
        return tuple(map(self._as_it_is, specs))

    def _as_it_is(self, spec: ModelSpec) -> ModelSpec:
        here = spec.on_disk or (spec.source == "hub" and self._presence.has(spec.id))
        return replace(spec, loaded=spec.id in self._loaded, on_disk=here)

    def load(self, model: str, *, progress: Progress | None = None) -> ModelCard:
        """See `EncoderService.load`.

        Raises:
            ModelError: the model cannot be had or used, with the reason.
        """
        return self._get(model, progress).card

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

        reader = self._get_tokenizer(model)
        return tokenize(reader, texts, pairs=pairs, pad_to=pad_to, max_length=max_length)

    def load_tokenizer(self, model: str, *, progress: Progress | None = None) -> TokenizerCard:
        """See `EncoderService.load_tokenizer`."""
        return self._get_tokenizer(model, progress).card

    def vocabulary(self, model: str) -> Vocabulary:
        """See `EncoderService.vocabulary`."""
        return self._get_tokenizer(model).vocabulary

    def normalize(self, model: str, texts: Sequence[str]) -> list[str]:
        """See `EncoderService.normalize`."""
        from components.core.encoder import normalize

        return normalize(self._get_tokenizer(model), texts)

    def decode(
        self, model: str, token_ids: Sequence[int] | IntArray, *, skip_special: bool = False
    ) -> str:
        """See `EncoderService.decode`."""
        from components.core.encoder import decode

        return decode(self._get_tokenizer(model), token_ids, skip_special=skip_special)

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
        from components.core.encoder import Request, encode

        loaded = self._get(model)
        request = Request.checked(
            loaded.card,
            pad_to=pad_to,
            mask=mask,
            layers=layers,
            attentions=attentions,
            precision=precision,
        )
        encodings = encode(loaded, texts, request, pairs=pairs)
        if precision == "fast":  # its first use makes a copy of the weights
            with self._lock:
                self._make_room()
        return encodings

    def embedding_parts(self, model: str, text: str, *, pair: str | None = None) -> EmbeddingParts:
        """See `EncoderService.embedding_parts`."""
        from components.core.encoder import embedding_parts

        return embedding_parts(self._get(model), text, pair=pair)

    def word_rows(self, model: str, token_ids: Sequence[int] | IntArray) -> FloatArray:
        """See `EncoderService.word_rows`."""
        from components.core.encoder import word_rows

        return word_rows(self._get(model), token_ids)

    def nearest_rows(self, model: str, vector: FloatArray, n: int) -> list[tuple[int, str, float]]:
        """See `EncoderService.nearest_rows`."""
        from components.core.encoder import nearest_rows

        return nearest_rows(self._get(model), vector, n)

    def parameters(self, model: str) -> tuple[Parameter, ...]:
        """See `EncoderService.parameters`."""
        from components.core.encoder import list_parameters

        return list_parameters(self._get(model))

    def architecture(self, model: str) -> Architecture:
        """See `EncoderService.architecture`."""
        from components.core.encoder import architecture_of, build_architecture

        config = preset_config(model)
        if model in self._loaded or config is None:
            return architecture_of(self._get(model))
        registry.check_allowed(model, self._settings)
        return build_architecture(model, registry.describe(model).title, config)

    def matrix(self, model: str, name: str) -> FloatArray:
        """See `EncoderService.matrix`."""
        from components.core.encoder import read_matrix

        return read_matrix(self._get(model), name)

    def _get(self, model: str, progress: Progress | None = None) -> LoadedModel:
        """The loaded model; of several threads that ask, one loads and the others wait."""
        registry.check_allowed(model, self._settings)
        with self._lock:
            if model in self._loaded:
                self._loaded.move_to_end(model)
                return self._loaded[model]
        registry.check_model(model, self._settings)
        with self._lock:
            loading = self._loading.setdefault(model, threading.Lock())
        with loading:
            with self._lock:
                loaded = self._loaded.get(model)
            if loaded is None:
                loaded = self._load(model, progress)
                with self._lock:
                    self._loaded[model] = loaded
                    self._make_room()
            return loaded

    def _get_tokenizer(self, model: str, progress: Progress | None = None) -> LoadedTokenizer:
        """The tokenizer of a loaded model, or one that was loaded alone."""
        registry.check_allowed(model, self._settings)
        with self._lock:
            if model in self._loaded:
                self._loaded.move_to_end(model)
                return self._loaded[model].reader
            if model in self._tokenizers:
                self._tokenizers.move_to_end(model)
                return self._tokenizers[model]
        registry.check_model(model, self._settings)
        with self._lock:
            loading = self._loading.setdefault(f"{model} tokenizer", threading.Lock())
        with loading:
            with self._lock:
                reader = self._tokenizers.get(model)
            if reader is None:
                reader = self._load_tokenizer(model, progress)
                self._keep_tokenizer(model, reader)
            return reader

    def _keep_tokenizer(self, model: str, reader: LoadedTokenizer) -> None:
        with self._lock:
            self._tokenizers[model] = reader
            while len(self._tokenizers) > _N_TOKENIZERS:
                self._tokenizers.popitem(last=False)

    def _load_tokenizer(self, model: str, progress: Progress | None) -> LoadedTokenizer:
        files = registry.locate_tokenizer(model, self._settings, progress)
        from components.core.encoder import load_tokenizer

        return load_tokenizer(files)

    def _load(self, model: str, progress: Progress | None) -> LoadedModel:
        files = registry.locate(model, self._settings, progress)
        self._presence.forget(model)
        if progress is not None:
            progress(ProgressEvent(f"Loading {files.title}"))
        from components.core.encoder import fast_precision, load_model

        try:
            return load_model(files, fast_precision(self._settings.data_dir))
        except CheckpointError:
            if files.source == "hub":
                drop_damaged(files.folder)
            raise

    def _make_room(self) -> None:
        """Drop the least used models while there is more than the bound and more than one."""
        while len(self._loaded) > 1 and self._held_bytes() > self._settings.model_bytes:
            self._loaded.popitem(last=False)

    def _held_bytes(self) -> int:
        return sum(loaded.memory_bytes for loaded in self._loaded.values())


def open_service(settings: Settings | None = None) -> CachedService:
    """The service that the environment asks for: local, with a bounded cache in front.

    Raises:
        SettingsError: an environment variable has a value that is not allowed.
    """
    from components.core.cache import CachedService

    settings = settings or Settings.from_env()
    return CachedService(LocalService(settings), max_bytes=settings.cache_bytes)
