"""Indexes of the vectors of large corpora, made in the background once all their words are there.

They serve the search for what is nearest among all words; the search among one word's occurrences
is exact and needs none. Making one takes both cores for a minute or so: a process of its own does
it, behind the pages. RaBitQ keeps one bit for each number: with exact cosines of some hundred
candidates it found 95 of the 100 nearest among a million, where product quantization found 75 and
took four times as long to make.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from components.core.errors import BusyError
from components.corpus.store.rows import layer_column
from components.corpus.store.store import Store
from components.corpus.store.tables import Tables
from components.jobs import Job, Jobs, Kind, Processes, Report, Sentences, Task

__all__ = ["LEAST_ROWS", "VECTOR_INDEXES", "build", "index_vectors", "layers_without"]

VECTOR_INDEXES = Kind(
    "vector indexes",
    n_at_once=1,
    n_waiting=1_000,
    keeps=False,
    first_words="Starting to index vectors",
)
LEAST_ROWS = 100_000
"""Occurrences from which an index is quicker than looking at all of them."""

_ROW_BYTES = 24  # of an index, beside one bit for each number
_SAMPLE_RATE, _ITERATIONS = 64, 15  # of k-means, for each cell: a quarter of the usual
_SENTENCES = Sentences()


def layers_without(store: Store, name: str) -> tuple[int, ...]:
    """The layers of a corpus whose vectors should have an index and have none."""
    about = store.about(name)
    if (
        about.state != "done"
        or about.n_occurrences < LEAST_ROWS
        or store.root.startswith("memory://")
    ):
        return ()
    there = {
        column for index in store.occurrences_table(name).list_indices() for column in index.columns
    }
    return tuple(layer for layer in about.indexing.layers if layer_column(layer) not in there)


def index_vectors(jobs: Jobs, store: Store, name: str) -> Job | None:
    """The job that indexes a corpus's vectors, where it is large and has no such index yet."""
    if not layers_without(store, name):
        return None
    key = ("index vectors", store.root, name)
    return jobs.start(Task(key, VECTOR_INDEXES, lambda report: _work(store, name, report)))


def build(task: Mapping[str, Any], folder: Path, report: Callable[[str, float], None]) -> None:
    """Index one layer's vectors; in a process of its own.

    Args:
        task: "root", "name" and "layer".
        folder: not used.
        report: not used, as LanceDB does not say how far it is.
    """
    del folder, report
    from lancedb.index import IvfRq

    table = Tables(task["root"]).open(task["name"], "occurrences")
    config = IvfRq(distance_type="cosine", sample_rate=_SAMPLE_RATE, max_iterations=_ITERATIONS)
    table.create_index(layer_column(task["layer"]), config=config)


def _work(store: Store, name: str, report: Report) -> None:
    """Layer by layer; of a corpus that is deleted in the middle nothing stays."""
    with suppress(BusyError), store.only_writer(name):  # where another process does it: nothing
        layers, about = layers_without(store, name), store.about(name)
        n_bytes = about.n_occurrences * (about.indexing.n_dims // 8 + _ROW_BYTES)
        for done, layer in enumerate(layers):
            store.check_index_room(name, n_bytes)
            say = partial(_say, report, layer, done / len(layers))
            with TemporaryDirectory(prefix="contextlens-", ignore_cleanup_errors=True) as folder:
                task = {"root": store.root, "name": name, "layer": layer}
                with store.writing_rows(name):
                    _processes().run(f"{__name__}:build", task, say, folder=Path(folder))


def _say(report: Report, layer: int, share: float, *_: object) -> None:
    report(f"Indexing the vectors of layer {layer}", share)


@cache
def _processes() -> Processes:
    return Processes(1, sentences=_SENTENCES)
