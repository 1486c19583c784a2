"""Corpora to index with the made-up model: to the end, or until a test lets it go on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from components.corpus.store.about import About
from components.corpus.store.indexing import start
from components.corpus.store.store import Store
from components.jobs import Jobs, Visitor
from tests.support import corpus_store as made_up
from tests.support.corpus_store import MadeUpService, indexed, made_up_corpus, rows_in

__all__ = ["ME", "YOU", "Gate", "create", "held", "service", "whole"]

ME, YOU = Visitor("me"), Visitor("you")


class Gate:
    """Lets so many chunks be encoded, then waits for `open`."""

    def __init__(self, n_free: int) -> None:
        self._n_left = n_free
        self._opened, self.reached = threading.Event(), threading.Event()

    def __call__(self) -> None:
        self._n_left -= 1
        if self._n_left < 0:
            self.reached.set()
            assert self._opened.wait(20)

    def open(self) -> None:
        self._opened.set()


def service(before: Callable[[], None] = lambda: None, **changes: Any) -> Any:
    return MadeUpService(before=before, **changes)


def create(store: Store, n_texts: int = 40, **changes: Any) -> About:
    return store.create(made_up_corpus(n_texts), made_up.indexing(**changes))


def whole(store: Store, about: About, n_texts: int = 40) -> Any:
    """The rows of the same corpus, indexed without a stop."""
    other = indexed(store, made_up_corpus(n_texts), layers=about.indexing.layers)
    return rows_in(store, other)


@contextmanager
def held(store: Store, jobs: Jobs, name: str, n_free: int = 3) -> Iterator[Gate]:
    """A corpus whose indexing stands still in the middle."""
    gate = Gate(n_free)
    start(jobs, store, service(gate), name, ME)
    assert gate.reached.wait(20)
    try:
        yield gate
    finally:
        gate.open()
