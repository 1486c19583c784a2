"""What a process of the cluster does with a stored corpus: its own model makes rows of chunks.

Ray finds this module by its name on each machine, so it stays apart from the command that sends
the work: what is defined in a command's own module travels with all that it mentions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import pyarrow as pa

from components.core import EncoderService, Settings, errors, open_service
from components.core.cache import CachedService
from components.core.errors import ContextlensError, CorpusError
from components.core.schema import ModelCard
from components.corpus.store.about import About
from components.corpus.store.rows import Chunk
from components.corpus.store.run import Made, checked_model, rows_made
from components.corpus.store.store import Store

__all__ = ["OpenService", "Worker", "made_schema", "open_own", "rows"]

OpenService = Callable[[], EncoderService]
"""Opens the service that holds the model, in whatever process it is called."""

made_schema = pa.schema(
    [
        ("start", pa.int64()),
        ("rows", pa.large_binary()),
        ("error", pa.string()),
        ("why", pa.string()),
    ]
)
"""Of what workers give: a chunk's rows, or the name and the sentence of an error of ours."""


def open_own() -> EncoderService:
    """A service that has its models itself, by the settings of the machine that it is on."""
    service = open_service(Settings.from_env().model_copy(update={"service_url": None}))
    return service.uncached if isinstance(service, CachedService) else service


class Worker:
    """Makes the rows of chunks, in a process of the cluster that has the model.

    What goes wrong is part of what it gives: Ray would wrap it in words of its own.
    """

    def __init__(self, root: str, about: About, open_service: OpenService) -> None:
        self._store, self._about, self._open_service = Store(root), about, open_service

    def __call__(self, places: pa.Table) -> pa.Table:
        """What is made of the chunks at these places."""
        made = [self._tried(**place) for place in places.to_pylist()]
        return pa.Table.from_pylist(made, made_schema)

    def _tried(self, start: int, stop: int) -> dict[str, Any]:
        try:
            return {"start": start, "rows": self._made(start, stop)}
        except ContextlensError as exc:
            return {"start": start, "error": type(exc).__name__, "why": str(exc)}

    def _made(self, start: int, stop: int) -> bytes:
        texts, targets = zip(*self._store.texts(self._about.name, start, stop), strict=True)
        rows = rows_made(*self._model, self._about, Chunk(start, texts, targets))
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, rows.schema) as stream:
            stream.write_batch(rows)
        return bytes(sink.getvalue().to_pybytes())

    @cached_property
    def _model(self) -> tuple[EncoderService, ModelCard]:
        service = self._open_service()
        return service, checked_model(service, self._about)


def rows(made: Mapping[str, pa.Scalar]) -> Made:
    """What a worker gave.

    Raises:
        ContextlensError: what it found wrong.
    """
    kind = made["error"].as_py()
    if kind is not None:
        raise getattr(errors, kind, CorpusError)(made["why"].as_py())
    with pa.ipc.open_stream(made["rows"].as_buffer()) as stream:
        return made["start"].as_py(), stream.read_next_batch()
