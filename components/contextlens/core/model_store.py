"""Models and tokenizers in memory: each loaded once, the least recently used dropped first.

Access is checked here: a model that is not in memory must pass `registry.check_model`, and nothing
behind this module checks again. Importing this does not import torch.
"""

from __future__ import annotations

import gc
import sys
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from contextlens.core import registry
from contextlens.core.errors import CheckpointError, ModelError
from contextlens.core.hub import CachedFiles, drop_damaged, megabytes
from contextlens.core.schema import ModelSpec, Progress, ProgressEvent

if TYPE_CHECKING:
    from contextlens.core.encoder import LoadedModel, LoadedTokenizer
    from contextlens.core.registry import ModelFiles
    from contextlens.core.settings import Settings

__all__ = ["ModelList", "ModelStore"]


# --- The models that can be chosen, and those on this machine

_SECONDS = 2.0
_Specs = tuple[ModelSpec, ...]


class ModelList:
    """The specs of models, kept for two seconds between looks at the disk. Thread-safe."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._cached_files = CachedFiles()
        self._known: tuple[float, _Specs] = (0.0, ())
        self._offered: tuple[_Specs, tuple[str, ...], _Specs] | None = None
        self._lock = threading.Lock()

    def specs(self, loaded: tuple[str, ...]) -> _Specs:
        """The models that everyone is offered, the default first.

        A model whose id a visitor typed is not listed, loaded or not: it is visible only to that
        visitor.
        """
        listed = self._listed()
        with self._lock:
            known = self._offered
        if known is None or known[0] is not listed or known[1] != loaded:
            specs = tuple(replace(spec, loaded=spec.id in loaded) for spec in listed)
            known = (listed, loaded, specs)
            with self._lock:
                self._offered = known
        return known[2]

    def spec(self, model: str, loaded: tuple[str, ...]) -> ModelSpec:
        """The spec of one model, whether or not it is offered."""
        listed = next((spec for spec in self._listed() if spec.id == model), None)
        spec = self._with_presence(registry.describe(model)) if listed is None else listed
        return replace(spec, loaded=model in loaded)

    def look_again(self, model: str) -> None:
        """Discard cached knowledge: this model was just fetched, or its files deleted."""
        self._cached_files.forget(model)
        with self._lock:
            self._known = (0.0, ())

    def _listed(self) -> _Specs:
        now = time.monotonic()
        with self._lock:
            until, specs = self._known
        if now < until:
            return specs
        specs = tuple(map(self._with_presence, registry.list_models(self._settings)))
        with self._lock:
            self._known = (now + _SECONDS, specs)
        return specs

    def _with_presence(self, spec: ModelSpec) -> ModelSpec:
        on_disk = spec.on_disk or (spec.source == "hub" and self._cached_files.has(spec.id))
        return replace(spec, on_disk=on_disk)


_MIN_SECONDS = 1.0  # between two checks for idle models
_N_TOKENIZERS = 8  # kept without their models; some 30 MB each
_Held = TypeVar("_Held")


class ModelStore:
    """Keeps loaded models within `settings.model_bytes` and drops idle ones. Thread-safe.

    Args:
        settings: which models may be loaded, how much is kept, and for how long.
        on_fetched: called with the id of a model whose files may just have arrived or been deleted.
        clock: returns seconds.
        offered_only: refuse models that are not offered; see `registry.check_model`.
    """

    def __init__(
        self,
        settings: Settings,
        on_fetched: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
        *,
        offered_only: bool = False,
    ) -> None:
        self._settings = settings
        self._offered_only = offered_only
        self._on_fetched = on_fetched
        self._models: OrderedDict[str, LoadedModel] = OrderedDict()
        self._tokenizers: OrderedDict[str, LoadedTokenizer] = OrderedDict()
        self._lock = threading.Lock()
        self._coming = 0  # bytes of models being loaded
        self._loading: dict[str, threading.Lock] = {}
        self._clock = clock
        self._used_at: dict[str, float] = {}
        self._timer: threading.Timer | None = None

    def check(self, model: str) -> None:
        """Check that a model may be loaded here; see `registry.check_model`."""
        registry.check_model(model, self._settings, offered_only=self._offered_only)

    def loaded(self) -> tuple[str, ...]:
        """The ids of the models in memory."""
        with self._lock:
            return tuple(self._models)

    def sizes(self) -> dict[str, int]:
        """Bytes of each model in memory, by id; does not count as using a model."""
        with self._lock:
            return {model: loaded.memory_bytes for model, loaded in self._models.items()}

    def model(self, model: str, progress: Progress | None = None) -> LoadedModel:
        """The loaded model; if several threads ask, one loads it and the others wait."""

        def load() -> LoadedModel:
            loaded = self._load(model, progress)
            with self._lock:
                self._models[model] = loaded
                self._used_at[model] = self._clock()
                self._make_room()
                self._look_later()
            return loaded

        return self._once(model, model, lambda: self._use(model), load)

    def tokenizer(self, model: str, progress: Progress | None = None) -> LoadedTokenizer:
        """The tokenizer of a loaded model, or one that is loaded on its own."""

        def find() -> LoadedTokenizer | None:
            loaded = self._use(model)
            return _used(self._tokenizers, model) if loaded is None else loaded.reader

        def load() -> LoadedTokenizer:
            reader = self._load_tokenizer(model, progress)
            with self._lock:
                self._tokenizers[model] = reader
                while len(self._tokenizers) > _N_TOKENIZERS:
                    self._tokenizers.popitem(last=False)
            return reader

        return self._once(model, f"{model} tokenizer", find, load)

    def make_room(self) -> None:
        """Enforce the limit again, after a model has grown by its copy for fast work."""
        with self._lock:
            self._make_room()

    def unload_idle(self) -> tuple[str, ...]:
        """Drop models that have been idle longer than the settings allow; returns their ids."""
        seconds = 60 * self._settings.idle_minutes
        if not seconds:
            return ()
        with self._lock:
            latest = self._clock() - seconds
            idle = [model for model in self._idlers() if self._used_at[model] <= latest]
            for model in idle:
                del self._models[model]
            self._look_later()
        if idle:
            from contextlens.core.encoder import tidy_memory

            with tidy_memory(sys.maxsize):
                gc.collect()
        return tuple(idle)

    def _idlers(self) -> list[str]:
        """The models that may be dropped when idle: all but the default one."""
        first = registry.list_models(self._settings)[:1]
        return [model for model in self._models if model not in {spec.id for spec in first}]

    def _look_later(self) -> None:
        """Schedule `unload_idle` for when the next model is due. The lock is held."""
        seconds = 60 * self._settings.idle_minutes
        idlers = self._idlers() if seconds else []
        pending = self._timer if self._timer is not threading.current_thread() else None
        if not idlers or (pending is not None and pending.is_alive()):
            return
        due = min(self._used_at[model] for model in idlers) + seconds - self._clock()
        self._timer = threading.Timer(max(_MIN_SECONDS, due), _look, [weakref.ref(self)])
        self._timer.name, self._timer.daemon = "contextlens-idle", True
        self._timer.start()
        weakref.finalize(self, self._timer.cancel)

    def _use(self, model: str) -> LoadedModel | None:
        """The model if it is in memory, marked as last used. The lock is held."""
        loaded = _used(self._models, model)
        if loaded is not None:
            self._used_at[model] = self._clock()
        return loaded

    def _once(
        self, model: str, key: str, find: Callable[[], _Held | None], load: Callable[[], _Held]
    ) -> _Held:
        with self._lock:
            held = find()
        if held is not None:
            return held
        self.check(model)
        with self._lock:
            loading = self._loading.setdefault(key, threading.Lock())
        with loading:
            with self._lock:
                held = find()
            return load() if held is None else held

    def _load_tokenizer(self, model: str, progress: Progress | None) -> LoadedTokenizer:
        files = registry.locate_tokenizer(model, self._settings, progress)
        from contextlens.core.encoder import load_tokenizer

        return load_tokenizer(files)

    def _load(self, model: str, progress: Progress | None) -> LoadedModel:
        files = registry.locate(model, self._settings, progress)
        self._on_fetched(model)
        if progress is not None:
            progress(ProgressEvent(f"Loading {files.title}"))
        from contextlens.core.encoder import device_of, fast_precision, load_model

        device = device_of(self._settings.device)
        with self._memory_for(files):
            try:
                fast = device.fast or fast_precision(self._settings.data_dir)
                return load_model(files, fast, device)
            except CheckpointError:
                if files.source == "hub":
                    drop_damaged(files.folder)
                    self._on_fetched(model)
                raise

    @contextmanager
    def _memory_for(self, files: ModelFiles) -> Iterator[None]:
        """Reserve memory for a model while it is loaded; others may load at the same time."""
        from contextlens.core.encoder import needed_memory

        needed = needed_memory(files.folder)
        with self._lock:
            self._free(needed, files.title)
            self._coming += needed
        try:
            yield
        finally:
            with self._lock:
                self._coming -= needed

    def _free(self, needed: int, title: str) -> None:
        """Drop the least recently used models until enough memory is free; raise if none can be."""
        from contextlens.core.encoder import free_memory

        while needed and needed > (free := free_memory() - self._coming):
            if not self._models or needed > free + self._held_bytes():
                raise ModelError(
                    f"{title} needs about {megabytes(needed)} of memory, and "
                    f"{megabytes(max(0, free + self._held_bytes()))} can be had on this machine. "
                    "Choose a smaller model, or try again later."
                )
            self._models.popitem(last=False)

    def _make_room(self) -> None:
        """Drop the least recently used models beyond the limit; the last one always stays."""
        while len(self._models) > 1 and self._held_bytes() > self._settings.model_bytes:
            self._models.popitem(last=False)

    def _held_bytes(self) -> int:
        return sum(loaded.memory_bytes for loaded in self._models.values())


def _look(store: weakref.ref[ModelStore]) -> None:
    """Drop idle models of a store that still exists."""
    alive = store()
    if alive is not None:
        alive.unload_idle()


def _used(held: OrderedDict[str, _Held], key: str) -> _Held | None:
    """Return the entry of a key, marked as last used."""
    if key not in held:
        return None
    held.move_to_end(key)
    return held[key]
