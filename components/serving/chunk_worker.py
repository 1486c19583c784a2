"""What a process of the cluster does with a stored corpus: its own model makes rows of chunks.

Ray finds this module by its name on each machine, so it stays apart from the command that sends
the work: what is defined in a command's own module travels with all that it mentions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from components.core import EncoderService, Settings, open_service
from components.core.cache import CachedService
from components.core.schema import ModelCard
from components.corpus.store.about import About
from components.corpus.store.rows import Chunk
from components.corpus.store.run import Made, checked_model, rows_made
from components.corpus.store.store import Store

__all__ = ["OpenService", "Worker", "open_own"]

OpenService = Callable[[], EncoderService]
"""Opens the service that holds the model, in whatever process it is called."""


def open_own() -> EncoderService:
    """A service that has its models itself, by the settings of the machine that it is on."""
    service = open_service(Settings.from_env().model_copy(update={"service_url": None}))
    return service.uncached if isinstance(service, CachedService) else service


class Worker:
    """Makes the rows of chunks, in a process of the cluster that has the model."""

    def __init__(self, root: str, about: About, open_service: OpenService) -> None:
        self._store, self._about, self._open_service = Store(root), about, open_service

    def made(self, start: int, stop: int) -> Made:
        """The rows of the chunk of these texts."""
        texts, targets = zip(*self._store.texts(self._about.name, start, stop), strict=True)
        return start, rows_made(*self._model, self._about, Chunk(start, texts, targets))

    @cached_property
    def _model(self) -> tuple[EncoderService, ModelCard]:
        service = self._open_service()
        return service, checked_model(service, self._about)
