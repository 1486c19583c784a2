"""Which models can be chosen and which are on this machine, cheap enough for every rerun of a page.

A page asks some twenty times a rerun; folders are read once in a while, and after a fetch.
"""

from __future__ import annotations

import threading
import time
from dataclasses import replace

from components.core import registry
from components.core.hub import Presence
from components.core.schema import ModelSpec
from components.core.settings import Settings

__all__ = ["ModelList"]

_SECONDS = 2.0


class ModelList:
    """A memory of two seconds over the folders that hold models. Thread-safe."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._presence = Presence()
        self._known: tuple[float, tuple[ModelSpec, ...]] = (0.0, ())
        self._lock = threading.Lock()

    def specs(self, loaded: tuple[str, ...]) -> tuple[ModelSpec, ...]:
        """The models that may be chosen, the default first, loaded ones of no list last."""
        specs = self._listed()
        listed = {spec.id for spec in specs}
        specs += tuple(self._here(registry.describe(n)) for n in loaded if n not in listed)
        return tuple(replace(spec, loaded=spec.id in loaded) for spec in specs)

    def look_again(self, model: str) -> None:
        """Forget what is known: this model was just fetched, or its files deleted."""
        self._presence.forget(model)
        with self._lock:
            self._known = (0.0, ())

    def _listed(self) -> tuple[ModelSpec, ...]:
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
        here = spec.on_disk or (spec.source == "hub" and self._presence.has(spec.id))
        return replace(spec, on_disk=here)
