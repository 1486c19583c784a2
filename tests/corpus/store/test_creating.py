"""Storing a corpus: two at once, half ones, and one that is deleted meanwhile."""

from __future__ import annotations

import multiprocessing
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from contextlens.core.errors import BusyError, ContextlensError, CorpusError
from contextlens.corpus.store import store as module
from contextlens.corpus.store.indexing import index, unfinished
from contextlens.corpus.store.store import Store
from contextlens.corpus.store.tables import Part, Tables
from contextlens.jobs import Jobs
from tests.support.corpus_store import (
    MadeUpService,
    held,
    ignore,
    indexed,
    indexing,
    made_up_corpus,
)
from tests.support.together import together

NAME = "a" * 16
PARTS: tuple[Part, ...] = ("about", "texts", "occurrences")
N_ROUNDS = 4


@pytest.fixture(params=["folder", "row"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A folder, whose lease is a locked file; or the address of one, whose lease is a row."""
    folder = tmp_path / "corpora"
    if request.param == "folder":
        return str(folder)
    folder.mkdir()
    return f"file://{folder}"


def files(root: str) -> list[str]:
    return sorted(path.name for path in Path(root.removeprefix("file://")).iterdir())


def half(root: str, *missing: Part) -> Store:
    """A store with a corpus, some tables of which are not there."""
    indexed(Store(root), made_up_corpus(5), name=NAME)
    Tables(root).drop_parts(NAME, missing)
    return Store(root)


def created(root: str, begin: Any, results: Any) -> None:
    store = Store(root)
    store.names()  # so that it is connected
    begin.wait(60)
    try:
        store.create(made_up_corpus(2_000), indexing(), name=NAME)
    except ContextlensError as exc:
        results.append(str(exc))
    else:
        results.append("stored")


@pytest.mark.slow
def test_of_two_who_store_the_same_name_at_once_one_does(root: str) -> None:
    for _ in range(N_ROUNDS):
        begin, results = threading.Barrier(2), list[str]()
        together(2, lambda _, begin=begin, results=results: created(root, begin, results))
        assert sorted(results) == [f"There is a corpus {NAME} already. Delete it first.", "stored"]
        store = Store(root)
        assert store.about(NAME).n_texts == 2_000
        index(store, MadeUpService(), NAME, ignore)  # type: ignore[arg-type]
        assert store.about(NAME).state == "done"
        store.delete(NAME)
        assert files(root) == []


@pytest.mark.slow
def test_of_two_processes_that_store_the_same_name_at_once_one_does(tmp_path: Path) -> None:
    own = multiprocessing.get_context("spawn")
    with own.Manager() as manager:
        begin, results = manager.Barrier(2), manager.list()
        processes = [
            own.Process(target=created, args=(str(tmp_path), begin, results)) for _ in range(2)
        ]
        for process in processes:
            process.start()
        for process in processes:
            process.join(120)
        assert sorted(results)[1:] == ["stored"]
    assert Store(str(tmp_path)).about(NAME).n_texts == 2_000


def test_who_does_not_get_a_turn_is_told(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_TURN_SECONDS", 0.0)
    with (
        Tables(root).only_writer(NAME),
        pytest.raises(BusyError, match="Somebody else is storing this corpus just now"),
    ):
        Store(root).create(made_up_corpus(2), indexing(), name=NAME)
    assert files(root) == []


# Half a corpus


@pytest.mark.parametrize(
    "missing",
    [("about",), ("texts",), ("occurrences",), ("about", "texts"), ("texts", "occurrences")],
)
def test_a_half_corpus_is_listed_said_and_deleted(root: str, missing: tuple[Part, ...]) -> None:
    store = half(root, *missing)
    other = indexed(store, made_up_corpus(5))
    assert set(store.names()) == {NAME, other}
    assert store.has(NAME) == ("about" not in missing)
    with pytest.raises(CorpusError, match=r"Delete it here, and index its file again"):
        store.about(NAME)
    with pytest.raises(CorpusError):
        store.open(NAME)
    assert unfinished(store) == ()
    with pytest.raises(CorpusError, match="Delete it first"):
        store.create(made_up_corpus(5), indexing(), name=NAME)
    assert set(store.names()) == {NAME, other}
    assert Tables(root).missing(NAME) == tuple(part for part in PARTS if part in missing)
    store.delete(NAME)
    assert store.names() == (other,)
    assert not [name for name in files(root) if name.startswith(NAME)]
    assert store.create(made_up_corpus(5), indexing(), name=NAME).state == "waiting"


def test_what_an_interrupted_creation_left_can_be_made_anew(root: str) -> None:
    store = half(root, "about", "occurrences")
    store.delete_half(NAME)
    assert files(root) == []
    store.delete_half(NAME)  # nothing is there
    store.create(made_up_corpus(5), indexing(), name=NAME)
    store.delete_half(NAME)  # it is whole
    assert store.about(NAME).n_texts == 5


def test_what_is_just_being_stored_is_no_half_corpus(root: str) -> None:
    store = half(root, "about")
    with Tables(root).only_writer(NAME):
        with pytest.raises(CorpusError, match="is being stored or deleted just now"):
            store.about(NAME)
        with pytest.raises(BusyError):
            store.delete_half(NAME)
    assert Tables(root).missing(NAME) == ("about",)


def test_a_creation_that_fails_drops_only_what_it_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others' tables appear between its check and its first table: an app without leases."""
    store = Store(str(tmp_path))
    create = Tables.create

    def late(tables: Tables, name: str, part: Part, *rest: Any) -> None:
        if part == "occurrences" and tables is store._tables:
            other = half(str(tmp_path / "other"), "about", "texts")
            Path(other.root, f"{name}.occurrences.lance").rename(tmp_path / f"{name}.about.lance")
            raise OSError("no space left")
        create(tables, name, part, *rest)

    monkeypatch.setattr(Tables, "create", late)
    with pytest.raises(CorpusError, match="is full"):
        store.create(made_up_corpus(2), indexing(), name=NAME)
    assert (tmp_path / f"{NAME}.about.lance").is_dir()
    assert not (tmp_path / f"{NAME}.texts.lance").exists()


def test_a_corpus_that_is_deleted_while_it_is_stored_leaves_nothing(
    root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, create = Store(root), Tables.create

    def deleted(tables: Tables, name: str, part: Part, *rest: Any) -> None:
        if part == "about":
            Store(root).delete(name)
        create(tables, name, part, *rest)

    monkeypatch.setattr(Tables, "create", deleted)
    with pytest.raises(CorpusError, match="deleted while it was stored"):
        store.create(made_up_corpus(2), indexing(), name=NAME)
    assert files(root) == []


def test_what_is_stored_anew_while_the_deleted_one_is_indexed_stays_whole(tmp_path: Path) -> None:
    """Whoever indexes the deleted one cleans up behind itself, and nobody else's tables."""
    root, jobs, results = str(tmp_path), Jobs(10**6), list[str]()
    store, other = Store(root), Store(root)
    store.create(made_up_corpus(40), indexing(), name=NAME)
    with held(store, jobs, NAME, n_free=0):
        other.delete(NAME)
        again = threading.Thread(
            target=created, args=(root, threading.Barrier(1), results), daemon=True
        )
        again.start()
        time.sleep(0.3)
        assert again.is_alive()  # it waits for its turn
    again.join(20)
    jobs.stop(10)
    assert results == ["stored"]
    assert Store(root).about(NAME).n_texts == 2_000
    index(Store(root), MadeUpService(), NAME, ignore)  # type: ignore[arg-type]
    assert Store(root).about(NAME).state == "done"
