"""Processes that index a corpus and can be killed: they say what is stored, line by line.

    python -m tests.support.index_process

forks one for each task that it reads, a line of JSON: {"root": ..., "name": ..., "model": ""}; so
what they import is imported once. Without a model they use the made-up one. Lines: "pid 12", "go"
once all is ready, then "stored 40" after each commit and the stage of the work before each chunk,
"over" at the end; "ended" comes from the first process, when the one that it forked is gone.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from importlib import import_module
from typing import Any

__all__ = ["main", "serve"]

_READY = ("lance_namespace", "pandas", "pyarrow.dataset", "contextlens.corpus.store.indexing",
          "contextlens.corpus.store.store", "tests.support.corpus_store")  # fmt: skip
"""Modules that take long to import and start no thread."""


def main(task: dict[str, Any]) -> None:
    """Index as the task says, four texts at a time, and store them at once."""
    say(f"pid {os.getpid()}")
    import lancedb  # noqa: F401 - has threads, so not before the fork; and not while it is killed

    from contextlens.corpus.store import indexing, run, store

    run._MAX_TEXTS = 4
    run._COMMIT_SECONDS = 0.0
    own = store.Store(task["root"])
    append = own.append

    def said(name: str, *rest: Any) -> None:
        append(name, *rest)
        say(f"stored {own.last_text(name) + 1}")

    own.append = said  # type: ignore[method-assign]
    service = _service(task)
    say("go")
    over = threading.Event()
    reader = threading.Thread(target=_read, args=(own, task["name"], over))
    if task.get("reads"):
        reader.start()
    try:
        indexing.index(own, service, task["name"], lambda stage, _: say(stage))
    except Exception as exc:  # noqa: BLE001 - it is what the test looks at
        say(f"failed {exc}")
    over.set()
    if task.get("reads"):
        reader.join()
    about = own.about(task["name"])
    say(f"state {about.state} {about.n_texts_done} {about.why}")
    if task.get("room_again"):
        _limit(-1)
        own.set_state(task["name"], "waiting")
        indexing.index(own, service, task["name"], lambda stage, _: say(stage))
    say("over")


def _read(store: Any, name: str, over: threading.Event) -> None:
    """Search what is indexed, as other visitors do meanwhile, and once more at the end."""
    is_last = False
    while not is_last:
        is_last = over.is_set()
        try:
            found = store.open(name).occurrences("python")
            store.open(name).at(found.rows)
        except Exception as exc:  # noqa: BLE001 - it is what the test looks at
            say(f"unread {exc}")
        else:
            say(f"read {len(found)}")


def _service(task: dict[str, Any]) -> Any:
    if task.get("model"):
        from contextlens.core import Settings, open_service

        service = open_service(Settings(allow_downloads=False))
        service.load(task["model"])
        return service
    from tests.support.corpus_store import MadeUpService

    left = task.get("full_after")
    n_encoded = 0

    def before() -> None:
        nonlocal n_encoded
        n_encoded += 1
        if left is not None and n_encoded == left:
            _limit(task["full_bytes"])

    return MadeUpService(before=before)


def _limit(n_bytes: int) -> None:
    """No file may grow beyond so many bytes: as on a full disk, each write fails."""
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))


def say(line: str) -> None:
    """A line that is there even if the process is killed next."""
    os.write(1, f"{line}\n".encode())


def serve() -> None:
    """Fork a process for each task, one after the other, until there is none any more."""
    for module in _READY:
        import_module(module)
    for line in sys.stdin:
        task = json.loads(line)
        if task.get("model"):
            import_module("contextlens.core.encoder")
        child = os.fork()
        if not child:
            status = 1
            try:
                main(task)
                status = 0
            finally:
                os._exit(status)
        os.waitpid(child, 0)
        say("ended")


if __name__ == "__main__":
    serve()
