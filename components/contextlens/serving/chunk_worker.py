"""Indexing in one process of a cluster, which makes rows of chunks with a model of its own.

Ray imports this module by its name on each machine, so it is separate from the command that sends
the work: Ray serialises whatever is defined in a command's own module with all that it refers to.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from contextlens.core import EncoderService, Settings, open_service
from contextlens.core.schema import ModelCard
from contextlens.corpus.store.about import About
from contextlens.corpus.store.rows import Chunk
from contextlens.corpus.store.run import Made, checked_model, rows_made
from contextlens.corpus.store.store import Store

__all__ = ["OpenService", "Worker", "open_own"]

OpenService = Callable[[], EncoderService]
"""Opens the service that holds the model, in the process that calls it."""


def open_own() -> EncoderService:
    """A service with models of its own, using the settings of the machine that it runs on."""
    return open_service(Settings.from_env().model_copy(update={"service_url": None})).uncached


class Worker:
    """Makes the rows of chunks, in a process of the cluster that has the model."""

    def __init__(self, root: str, about: About, open_service: OpenService) -> None:
        self._store, self._about, self._open_service = Store(root), about, open_service

    def made(self, start: int, stop: int) -> Made:
        """The rows of the chunk with these texts."""
        texts, targets = zip(*self._store.texts(self._about.name, start, stop), strict=True)
        return stop, rows_made(*self._model, self._about, Chunk(start, texts, targets))

    @cached_property
    def _model(self) -> tuple[EncoderService, ModelCard]:
        service = self._open_service()
        return service, checked_model(service, self._about)
