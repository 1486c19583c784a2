"""Indexing a stored corpus on all machines of a Ray cluster.

    python -m contextlens.serving.indexing NAME

The app has already stored the corpus; its name is in the address of its page. Chunks of its texts
go to processes on the cluster, each of which has the model and reads the texts from the store. The
rows come back in the order of the texts, and this process adds them to the corpus as the app would:
see `contextlens.corpus.store.run`. The corpus is therefore the same however it is indexed. Its page
shows the progress, and the app or the cluster can resume indexing after the last stored row.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import warnings
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec

from contextlens.core import Settings
from contextlens.core.errors import ContextlensError, CorpusError, WorkerError
from contextlens.core.schema import ModelCard
from contextlens.corpus.store.about import About
from contextlens.corpus.store.indexing import index
from contextlens.corpus.store.rows import Chunk
from contextlens.corpus.store.run import Made, OnProgress, UntilOver
from contextlens.corpus.store.store import Store, open_store
from contextlens.corpus.store.tables import is_name
from contextlens.serving.chunk_worker import OpenService, Worker, open_own

__all__ = ["Workers", "index_on_ray", "main"]

MISSING = (
    "Indexing on a cluster needs Ray, which comes with the extra `cluster`. "
    "Install it with: pip install contextlens[cluster]"
)
_FAILED = "Indexing on the cluster failed; the log has the reason. Try to go on."
_log = logging.getLogger("contextlens")


@dataclass(frozen=True)
class Workers:
    """The processes that hold a model.

    Attributes:
        max_processes: the most processes at once; None for as many as the cluster has room for.
        cpus: processors of each.
        gpus: graphics cards of each; a fraction if several share one.
    """

    max_processes: int | None = None
    cpus: float = 1
    gpus: float = 0


def index_on_ray(
    store: Store,
    name: str,
    report: OnProgress,
    *,
    open_service: OpenService = open_own,
    workers: Workers | None = None,
) -> None:
    """Index a corpus, from where indexing stopped, on the cluster that Ray is connected to.

    Args:
        store: the corpus's storage: object storage, or a folder that all machines share.
        name: the corpus's name.
        report: called with the progress.
        open_service: opens the service, here and in the workers; by default each uses the settings
            of its own machine.
        workers: the number of workers, and the resources of each.

    Raises:
        ContextlensError: the work failed; the corpus records it, and its indexed part is usable.
    """
    make = partial(_made, store.root, open_service, workers or Workers())
    index(store, open_service(), name, report, make=make)


def main(arguments: Sequence[str] | None = None) -> None:
    """Index the corpus that the command line names, and print the progress."""
    given = _parser().parse_args(_name_last(sys.argv[1:] if arguments is None else arguments))
    if find_spec("ray") is None:
        sys.exit(MISSING)
    try:
        _index(given)
    except ContextlensError as exc:
        sys.exit(str(exc))
    except KeyboardInterrupt:
        sys.exit("Stopped. What was stored stays: the same command goes on.")


def _name_last(arguments: Sequence[str]) -> list[str]:
    """Move the name to the end, where one that begins with - is not read as an option."""
    names = [argument for argument in arguments[:1] if is_name(argument)]
    return [*arguments[len(names) :], *(["--", *names] if names else [])]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m contextlens.serving.indexing", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("name", help="of the corpus: 16 letters, as in its page's address")
    parser.add_argument("--address", help="of the cluster; by default RAY_ADDRESS, or this machine")
    parser.add_argument("--workers", type=int, help="processes that hold the model")
    parser.add_argument("--cpus", type=float, default=1, help="processors of each of them")
    parser.add_argument("--gpus", type=float, default=0, help="graphics cards of each of them")
    return parser


def _index(given: argparse.Namespace) -> None:
    store = open_store(Settings.from_env())
    if store.about(given.name).state in {"paused", "failed"}:
        store.set_state(given.name, "waiting")
    _connect(given.address)
    try:
        index_on_ray(
            store,
            given.name,
            lambda stage, _: print(stage, flush=True),
            workers=Workers(given.workers, given.cpus, given.gpus),
        )
    finally:
        _disconnect()
    about = store.about(given.name)
    print(f"{about.title} is {about.state}: {about.n_occurrences:,} words have vectors.")


def _connect(address: str | None) -> None:
    """Connect to a cluster.

    Raises:
        WorkerError: there is none at the address.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # no usage data are sent
    import ray

    try:
        with warnings.catch_warnings(action="ignore"):  # LanceDB's, about fork and exec
            ray.init(address, log_to_driver=False, ignore_reinit_error=True)
    except ConnectionError as exc:
        raise WorkerError(
            f"There is no Ray cluster at {address or 'RAY_ADDRESS'}. Start it with ray start, or "
            "name another with --address."
        ) from exc


def _disconnect() -> None:
    import ray

    ray.shutdown()


def _made(
    root: str,
    open_service: OpenService,
    workers: Workers,
    chunks: Iterable[Chunk],
    about: About,
    _: ModelCard,
    until_over: UntilOver,
) -> Generator[Made, None, None]:
    """The rows of chunks, made by workers, in order: see `run.Make`.

    Raises:
        CorpusError: the cluster has no room for a worker, so the work would wait for ever.
        WorkerError: the cluster or the work on it failed.
    """
    import ray
    from ray.exceptions import RayError, RayTaskError
    from ray.util import ActorPool

    places = [(chunk.start, chunk.stop) for chunk in chunks]
    options = {"num_cpus": workers.cpus, "num_gpus": workers.gpus}
    # A worker that dies is restarted; a chunk that kills it every time fails.
    remote = ray.remote(max_restarts=-1, max_task_retries=3, **options)(Worker)
    n = min(_max_workers(workers), len(places))
    actors = [remote.remote(root, about, open_service) for _ in range(n)]
    made = ActorPool(actors).map(lambda actor, place: actor.made.remote(*place), places)
    try:
        yield from until_over(made)
    except RayError as exc:
        if isinstance(exc, RayTaskError) and isinstance(exc.cause, ContextlensError):
            raise exc.cause from None
        _log.error("Indexing on the cluster failed", exc_info=exc)
        raise WorkerError(_FAILED) from exc
    finally:
        for actor in actors:
            ray.kill(actor)


def _max_workers(workers: Workers) -> int:
    """Return the number of workers that fit now, at least 1; raise if none can ever fit."""
    import ray

    total, free = ray.cluster_resources(), ray.available_resources()
    wanted = {"CPU": workers.cpus, "GPU": workers.gpus}
    if any(n > total.get(kind, 0) for kind, n in wanted.items()):
        raise CorpusError(
            f"Each worker was to have {workers.cpus:g} processors and {workers.gpus:g} graphics "
            f"cards; this cluster has {total.get('CPU', 0):g} and {total.get('GPU', 0):g}. Ask for "
            "less, or add machines."
        )
    room = min((int(free.get(kind, 0) / n) for kind, n in wanted.items() if n), default=1)
    return max(1, min(room, workers.max_processes or room))


if __name__ == "__main__":
    main()
