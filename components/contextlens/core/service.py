"""The service whose models are in this process, and a function that opens one with its cache.

Importing this module does not import torch: `LocalService` imports the encoder package, which takes
seconds, inside the methods that run a model.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from contextlens.core import registry
from contextlens.core.batching import Streams
from contextlens.core.calls import Call, check_checksum
from contextlens.core.errors import RequestError
from contextlens.core.model_store import ModelList, ModelStore
from contextlens.core.presets import preset_config
from contextlens.core.protocol import EncoderService
from contextlens.core.schema import (
    Architecture,
    Classification,
    Counted,
    Encoding,
    Precision,
    SentenceVector,
    TokenPredictions,
)

if TYPE_CHECKING:
    from contextlens.core.cache import CachedService
    from contextlens.core.encoder import LoadedModel, LoadedTokenizer, PreparedText, Request
    from contextlens.core.settings import Settings

__all__ = ["EncoderService", "LocalService", "open_service"]


_FUNCTIONS = {"parameters": "list_parameters", "matrix": "read_matrix"}
"""The functions of `contextlens.core.encoder` whose names differ from their methods'."""


class LocalService(EncoderService):
    """Models in this process. Thread-safe; keeps loaded models within `settings.model_bytes`.

    Args:
        settings: the allowed models, and the limits of memory, queue and idle time.
        batching: combine concurrent requests into batches.
        offered_only: load only models that are offered or that an admin has allowed, because
            others can reach this process.
    """

    def __init__(
        self, settings: Settings, *, batching: bool = True, offered_only: bool = False
    ) -> None:
        self._settings = settings
        self._is_batching = batching  # False only in measurements
        self._list = ModelList(settings)
        self._store = ModelStore(settings, self._list.look_again, offered_only=offered_only)
        self._own_streams: Streams | None = None
        self._lock = threading.Lock()

    def model_sizes(self) -> dict[str, int]:
        """Bytes of each model in memory, by id."""
        return self._store.sizes()

    def _answer(self, call: Call) -> Any:
        arguments = dict(call.arguments)
        model, progress = arguments.pop("model", ""), arguments.pop("progress", None)
        match call.method.name:
            case "models":
                return self._list.specs(self._store.loaded())
            case "spec":
                return self._list.spec(model, self._store.loaded())
            case "load":
                return self._store.model(model, progress).card
            case "load_tokenizer":
                return self._store.tokenizer(model, progress).card
            case "architecture":
                return self._architecture(model, arguments["checksum"])
        checksum = arguments.pop("checksum")
        if call.method.of == "tokenizer":
            reader = self._store.tokenizer(model)
            check_checksum(model, reader.card.checksum, checksum)
            return _of_tokenizer(call.method.name, reader, arguments)
        loaded = self._store.model(model)
        check_checksum(model, loaded.card.checksum, checksum)
        from contextlens.core import encoder

        method = call.method.name
        if method == "encode":
            return self._encode(loaded, **arguments)
        if method in {"sentence_vectors", "predict_tokens", "classify", "follows"}:
            return getattr(self, f"_{method}")(loaded, **arguments)
        if method == "label_replacements":
            with self._in_steps(None):
                return encoder.label_replacements(loaded, **arguments)
        if method in {"intervene", "integrated_gradients", "label_gradients"}:
            with self._in_steps(progress) as counted:
                return getattr(encoder, method)(loaded, **arguments, progress=counted)
        return getattr(encoder, _FUNCTIONS.get(method, method))(loaded, **arguments)

    def _encode(
        self,
        loaded: LoadedModel,
        texts: Sequence[str],
        pairs: Sequence[str | None] | None,
        **settings: Any,
    ) -> list[Encoding]:
        from contextlens.core.encoder import Request, prepare_texts

        request = Request.checked(loaded.card, **settings)
        prepared = prepare_texts(loaded, texts, request, pairs=pairs)
        encodings = self._run(loaded, request, prepared)
        if settings["precision"] == "fast":  # the first use makes a copy of the weights
            self._store.make_room()
        return encodings

    def _run(
        self, loaded: LoadedModel, request: Request, prepared: Sequence[PreparedText]
    ) -> list[Encoding]:
        from contextlens.core.encoder import BatchKey, run_alone, tidy_memory

        if not self._is_batching:
            return run_alone(loaded, prepared, request)
        lengths = [text.tokens.n_tokens for text in prepared]
        with tidy_memory(sum(lengths)):
            return self._streams().run(BatchKey.of(loaded, request), prepared, lengths)

    def _predict_tokens(
        self,
        loaded: LoadedModel,
        texts: Sequence[str],
        positions: Sequence[Sequence[int]],
        pairs: Sequence[str | None] | None,
        layers: Sequence[int] | None,
        **asked: Any,
    ) -> list[TokenPredictions]:
        from contextlens.core.encoder import PredictionRequest, Request, masked_texts, predict

        wanted = PredictionRequest.checked(loaded, **asked)
        card = loaded.card
        request = Request.checked(
            card,
            pad_to=None,
            mask="model",
            layers=[card.n_layers] if layers is None else layers,
            attentions=False,
            precision="exact",
        )
        written, read = masked_texts(
            loaded, texts, positions, request, pairs=pairs, masked=wanted.masked
        )
        if not written:
            return []
        encodings = self._run(loaded, request, read)
        with self._in_steps(None):
            return predict(loaded, written, encodings, positions, wanted)

    def _classify(
        self, loaded: LoadedModel, texts: Sequence[str], pairs: Sequence[str | None] | None
    ) -> list[Classification]:
        from contextlens.core.encoder import classify, labelling_head

        labelling_head(loaded)
        return classify(loaded, self._last_layer(loaded, texts, pairs))

    def _follows(
        self, loaded: LoadedModel, texts: Sequence[str], pairs: Sequence[str]
    ) -> list[float]:
        from contextlens.core.encoder import follows, trained_head

        trained_head(loaded, "next_head")
        return follows(loaded, self._last_layer(loaded, texts, pairs))

    def _last_layer(
        self, loaded: LoadedModel, texts: Sequence[str], pairs: Sequence[str | None] | None
    ) -> list[Encoding]:
        return self._encode(
            loaded,
            texts,
            pairs,
            pad_to=None,
            mask="model",
            layers=[loaded.card.n_layers],
            attentions=False,
            precision="exact",
        )

    def _sentence_vectors(
        self,
        loaded: LoadedModel,
        texts: Sequence[str],
        pairs: Sequence[str | None] | None,
        prompt: str | None,
        precision: Precision,
    ) -> list[SentenceVector]:
        from contextlens.core.encoder import sentence_vectors, tokenize
        from contextlens.core.encoder.tokenizing import checked_texts

        card = loaded.card
        recipe = card.recipe
        if recipe is None:
            raise RequestError(
                f"{card.title} has no recipe for sentence vectors. {card.recipe_note}".strip()
            )
        prompt = recipe.prompt(None) if prompt is None else prompt
        checked_texts(texts, pairs)
        checked_texts([prompt], None)
        encodings = self._encode(
            loaded,
            [recipe.prepared(prompt + text) for text in texts],
            None if pairs is None else [pair and recipe.prepared(pair) for pair in pairs],
            pad_to=None,
            max_length=recipe.max_length,
            mask="model",
            layers=[card.n_layers],
            attentions=False,
            precision=precision,
        )
        (start,) = tokenize(loaded.reader, [recipe.prepared(prompt)])
        n_prompt = start.n_tokens - int(start.special_tokens_mask[-1]) if prompt else 0
        return sentence_vectors(recipe, loaded.dense, encodings, prompt=prompt, n_prompt=n_prompt)

    def _architecture(self, model: str, checksum: str | None) -> Architecture:
        """The architecture; for a preset, known without its weights."""
        from contextlens.core.encoder import architecture_of, build_architecture

        config = preset_config(model)
        if checksum is not None or model in self._store.loaded() or config is None:
            loaded = self._store.model(model)
            check_checksum(model, loaded.card.checksum, checksum)
            return architecture_of(loaded)
        self._store.check(model)
        return build_architecture(model, registry.describe(model).title, config)

    @contextmanager
    def _in_steps(self, progress: Counted | None) -> Iterator[Counted | None]:
        """Wrap `progress` to let other calls have their turn after each step in this thread."""
        if not self._is_batching:
            yield progress
            return
        with self._streams().turn() as pause:
            yield _then(progress, pause)

    def _streams(self) -> Streams:
        """The streams that run the models; created on first use, as this needs torch."""
        from contextlens.core.encoder import processors

        with self._lock:
            if self._own_streams is None:
                self._own_streams = Streams(
                    processors(self._settings.device), most_texts=self._settings.queue_texts
                )
            return self._own_streams


def _of_tokenizer(method: str, reader: LoadedTokenizer, arguments: dict[str, Any]) -> Any:
    from contextlens.core import encoder

    if method in {"vocabulary", "cut_rules"}:
        return getattr(reader, method)
    return getattr(encoder, method)(reader, **arguments)


def _then(progress: Counted | None, pause: Callable[[], None]) -> Counted:
    def count(n_done: int, n: int) -> None:
        if progress is not None:
            progress(n_done, n)
        pause()

    return count


def open_service(settings: Settings | None = None, *, offered_only: bool = False) -> CachedService:
    """Return the service that the environment specifies: local or remote, with a cache in front.

    Args:
        settings: if given, the service has a cache of its own; by default it uses the
            environment's settings and `shared_cache`.
        offered_only: load only models that are offered or that an admin has allowed, because
            others can reach this process.

    Raises:
        SettingsError: an environment variable has a value that is not allowed.
    """
    from contextlens.core.byte_cache import ByteCache, shared_cache
    from contextlens.core.cache import CachedService
    from contextlens.core.settings import Settings

    cache = ByteCache(settings.cache_bytes) if settings else shared_cache()
    settings = settings or Settings.from_env()
    return CachedService(_behind(settings, offered_only), cache)


def _behind(settings: Settings, offered_only: bool) -> EncoderService:
    """The service that computes: in this process, or at an address."""
    if settings.service_url is None:
        return LocalService(settings, offered_only=offered_only)
    from contextlens.core.remote.service import RemoteService

    return RemoteService(
        settings.service_url, token=settings.service_token, offered_only=offered_only
    )
