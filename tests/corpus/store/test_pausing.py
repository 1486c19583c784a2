"""Indexing that is paused, goes on, is stopped, or whose corpus is deleted meanwhile."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lancedb.table import LanceTable

from contextlens.core.errors import BusyError, CorpusError
from contextlens.corpus.store import tables
from contextlens.corpus.store.about import gone_with_it, overwrite
from contextlens.corpus.store.indexing import go_on, index, index_key, pause, start, unfinished
from contextlens.corpus.store.store import Store
from contextlens.corpus.store.tables import Part
from contextlens.jobs import Jobs
from tests.support.corpus_store import (
    ME,
    YOU,
    create,
    held,
    ignore,
    indexed,
    made_up_corpus,
    rows_in,
    service,
    whole,
)

Events = tuple[threading.Event, threading.Event]
pytestmark = pytest.mark.usefixtures("small_steps")


def test_pausing_stores_what_is_there_and_going_on_repeats_nothing(
    store: Store, jobs: Jobs
) -> None:
    about = create(store)
    with held(store, jobs, about.name):
        pause(store, about.name)
        assert store.about(about.name).state == "paused"
    job = jobs.get(index_key(store, about.name))
    assert job is not None
    job.result(20)
    paused = store.about(about.name)
    assert paused.state == "paused"
    assert 0 < paused.n_texts_done < 40
    assert unfinished(store) == ()
    assert len(store.open(about.name).occurrences("python"))  # it can be used meanwhile

    later = service()
    start(jobs, store, later, about.name, YOU).result(20)
    assert store.about(about.name).state == "done"
    assert later.n_texts <= 40 - paused.n_texts_done + 3
    assert rows_in(store, about.name).equals(whole(store, about))


def test_what_waits_for_its_turn_can_be_paused(store: Store, jobs: Jobs) -> None:
    first, second = create(store), create(store, 20)
    with held(store, jobs, first.name):
        waiting = start(jobs, store, service(), second.name, ME)
        pause(store, second.name)
    waiting.result(20)
    assert store.about(second.name).state == "paused"
    assert store.about(second.name).n_texts_done == 0


def test_it_goes_on_at_once_where_the_pause_is_taken_back(store: Store, jobs: Jobs) -> None:
    about = create(store)
    with held(store, jobs, about.name):
        pause(store, about.name)
        job = start(jobs, store, service(), about.name, ME)
    job.result(20)
    assert store.about(about.name).state == "done"
    assert rows_in(store, about.name).equals(whole(store, about))


@pytest.mark.parametrize("is_here", [True, False])
def test_a_pause_while_the_model_is_made_ready_is_heard(store: Store, is_here: bool) -> None:
    """Also of another process, which wrote it a moment ago: this one has not seen it yet."""
    about = create(store, 20)
    slow = service()
    load = slow.load

    def load_and_pause(model: str) -> Any:
        assert store.state(about.name) == "waiting"
        pause(store if is_here else Store(store.root), about.name)
        return load(model)

    slow.load = load_and_pause
    index(store, slow, about.name, ignore)
    assert Store(store.root).about(about.name).state == "paused"
    assert slow.n_texts == 0


@pytest.fixture
def slow_index(monkeypatch: pytest.MonkeyPatch) -> Iterator[Events]:
    """Two events: an index of words is being made, and it may be ready."""
    begun, may_end = threading.Event(), threading.Event()
    create_index = LanceTable.create_index

    def create_slowly(table: Any, *rest: Any, **settings: Any) -> Any:
        begun.set()
        assert may_end.wait(40)
        return create_index(table, *rest, **settings)

    monkeypatch.setattr(LanceTable, "create_index", create_slowly)
    yield begun, may_end
    may_end.set()


@pytest.mark.parametrize("change", ["pause", "delete", "create", "pause another"])
def test_nobody_waits_while_an_index_is_made(
    store: Store, jobs: Jobs, slow_index: Events, change: str
) -> None:
    about, other = create(store, 20), create(store, 4)
    begun, may_end = slow_index
    job = start(jobs, store, service(), about.name, ME)
    assert begun.wait(20)
    changes = {
        "pause": lambda: pause(store, about.name),
        "delete": lambda: store.delete(about.name),
        "create": lambda: create(store, 3),
        "pause another": lambda: pause(store, other.name),
    }
    changing = threading.Thread(target=changes[change], daemon=True)
    changing.start()
    changing.join(10)
    assert not changing.is_alive()
    paused = {"pause": about.name, "pause another": other.name}.get(change)
    if paused is not None:
        assert store.about(paused).state == "paused"
    assert (about.name in store.names()) == (change != "delete")
    may_end.set()
    job.wait(20)
    if change == "delete":
        assert not list(Path(store.root).glob(f"{about.name}*"))
    else:  # all of its words have vectors
        assert store.about(about.name).state == "done"


@pytest.mark.slow
def test_the_next_server_goes_on_where_one_was_stopped(store: Store) -> None:
    about, waiting, done = create(store), create(store, 8), indexed(store, made_up_corpus(5))
    old = Jobs(10**6)
    with held(store, old, about.name) as gate:
        threading.Timer(0.1, gate.open).start()
        old.stop(20)
    found = unfinished(Store(store.root))
    assert {own.name for own in found} == {about.name, waiting.name}
    assert store.about(about.name).state == "indexing"

    new = Jobs(10**6)
    for job in go_on(new, Store(store.root), service()):
        job.result(20)
    assert {Store(store.root).about(n).state for n in (about.name, waiting.name, done)} == {"done"}
    assert rows_in(Store(store.root), about.name).equals(whole(store, about))
    assert go_on(new, Store(store.root), service()) == ()


@pytest.mark.parametrize("is_here", [True, False])
def test_deleting_what_is_being_indexed_ends_it_and_leaves_nothing(
    store: Store, jobs: Jobs, is_here: bool
) -> None:
    about = create(store)
    with held(store, jobs, about.name):
        (store if is_here else Store(store.root)).delete(about.name)
    job = jobs.get(index_key(store, about.name))
    assert job is not None
    assert job.wait(20)
    assert isinstance(job.exception(), CorpusError)
    assert Store(store.root).names() == ()
    assert not list(Path(store.root).glob(f"{about.name}.*.lance"))


def test_two_servers_do_not_index_the_same_corpus_at_once(store: Store, jobs: Jobs) -> None:
    about = create(store)
    with held(store, jobs, about.name):
        with pytest.raises(BusyError, match="Another server"):
            index(Store(store.root), service(), about.name, ignore)
        assert store.about(about.name).state == "indexing"


@pytest.mark.parametrize("n_before", range(1, 6))
@pytest.mark.parametrize("part", ["about", "occurrences"])
def test_what_is_written_between_two_steps_of_a_deletion_goes_with_it(
    store: Store, monkeypatch: pytest.MonkeyPatch, n_before: int, part: Part
) -> None:
    """Folder after folder is deleted; after so many of them, another server writes."""
    about = create(store, 4)
    rows = whole(store, about, 4).combine_chunks().to_batches()
    other = tables.Tables(store.root)
    other.open(about.name, part)  # as it was about to write
    n_done = 0

    def write(to: tables.Tables) -> None:
        if part == "about":
            overwrite(to, about)
        else:
            to.append(about.name, rows)

    def rmtree(path: Path, **settings: Any) -> None:
        nonlocal n_done
        shutil.rmtree(path, **settings)
        n_done += 1
        if n_done == n_before:
            with suppress(CorpusError), gone_with_it(other, about.name, part):
                write(other)

    monkeypatch.setattr(tables, "shutil", SimpleNamespace(rmtree=rmtree))
    store.delete(about.name)
    assert n_done >= n_before
    assert not list(Path(store.root).glob(f"{about.name}.*"))


def test_the_corpus_of_one_server_is_known_to_another_that_looked_before(store: Store) -> None:
    other = Store(store.root)
    assert other.names() == ()
    about = create(store)
    assert (other.names(), other.about(about.name).state) == ((about.name,), "waiting")
    index(store, service(), about.name, ignore)
    deadline = time.monotonic() + 60
    while other.about(about.name).state != "done" and time.monotonic() < deadline:
        time.sleep(0.05)  # it looks anew every two seconds
    assert other.open(about.name).n_occurrences == store.about(about.name).n_occurrences
    store.delete(about.name)
    assert other.names() == ()
