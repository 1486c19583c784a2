"""Which models can be chosen and which are on this machine, cheap enough for every rerun of a page.

A page asks some twenty times a rerun; folders are read once in a while, and after a fetch.
"""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from components.core import registry
from components.core.hub import CachedFiles
from components.core.schema import ModelSpec

if TYPE_CHECKING:
    from components.core.settings import Settings

__all__ = ["ModelList"]

_SECONDS = 2.0
_Specs = tuple[ModelSpec, ...]


class ModelList:
    """A memory of two seconds over the folders that hold models. Thread-safe."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._cached_files = CachedFiles()
        self._known: tuple[float, _Specs] = (0.0, ())
        self._offered: tuple[_Specs, tuple[str, ...], _Specs] | None = None
        self._lock = threading.Lock()

    def specs(self, loaded: tuple[str, ...]) -> _Specs:
        """The models that everyone is offered, the default first.

        An id that somebody typed is not among them, loaded or not: it is that visitor's own.
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
        """What is known of one model, whether or not it is offered."""
        listed = next((spec for spec in self._listed() if spec.id == model), None)
        spec = self._here(registry.describe(model)) if listed is None else listed
        return replace(spec, loaded=model in loaded)

    def look_again(self, model: str) -> None:
        """Forget what is known: this model was just fetched, or its files deleted."""
        self._cached_files.forget(model)
        with self._lock:
            self._known = (0.0, ())

    def _listed(self) -> _Specs:
        now = time.monotonic()
        with self._lock:
            until, specs = self._known
        if now < until:
            return specs
        specs = tuple(map(self._here, registry.list_models(self._settings)))
        with self._lock:
            self._known = (now + _SECONDS, specs)
        return specs

    def _here(self, spec: ModelSpec) -> ModelSpec:
        here = spec.on_disk or (spec.source == "hub" and self._cached_files.has(spec.id))
        return replace(spec, on_disk=here)
