"""One process at a time adds to a corpus: what is said in a row of a table, with no lock at all."""

from __future__ import annotations

import contextlib
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from contextlens.core.errors import BusyError
from contextlens.corpus.store import lease
from contextlens.corpus.store.indexing import index
from contextlens.corpus.store.lease import (
    Lease,
    fence,
    file_is_held,
    file_lease,
    is_held,
    lease_table,
)
from contextlens.corpus.store.store import Store
from tests.support.corpus_store import MadeUpService, ignore, indexing, made_up_corpus, rows_in
from tests.support.together import together

N = 4


@pytest.fixture
def table(tmp_path: Path) -> Callable[[], Any]:
    """Opens the table that says who has a corpus, as each process does for itself."""
    import lancedb

    return lambda: lease_table(lancedb.connect(tmp_path), "corpus.lease")


def late(table: Callable[[], Any]) -> None:
    table().update(values={"until": 0.0})


def test_one_of_many_has_it_and_the_others_are_told(table: Callable[[], Any]) -> None:
    own = [Lease(table()) for _ in range(N)]
    results = [str(result) for result in together(N, lambda i: own[i].acquire())]
    assert results.count("False") == 1
    assert results.count("Another server is indexing this corpus. Wait for it.") == N - 1
    holder = own[results.index("False")]
    holder.check()
    holder.release()


def test_who_makes_the_table_a_moment_later_leaves_it_to_its_holder(
    table: Callable[[], Any], tmp_path: Path
) -> None:
    """Lance commits the second of two creations on top of the first."""
    import lancedb

    database = lancedb.connect(tmp_path)
    first = Lease(table())
    first.acquire()

    class Late:
        def open_table(self, key: str) -> Any:
            raise ValueError(f"Table '{key}' was not found")

        def create_table(self, key: str, rows: pa.Table) -> Any:
            return database.create_table(key, rows, mode="overwrite")

    late_table = lease_table(Late(), "corpus.lease")
    assert is_held(late_table)
    with pytest.raises(BusyError):
        Lease(late_table).acquire()
    first.check()
    first.release()
    second = Lease(late_table)
    assert not second.acquire()
    second.release()


def test_what_is_given_back_can_be_had_at_once(table: Callable[[], Any]) -> None:
    first, second = Lease(table()), Lease(table())
    assert not first.acquire()
    first.release()
    assert not second.acquire()
    with pytest.raises(BusyError, match="took the indexing of this corpus over"):
        first.check()
    second.release()


def test_who_is_late_loses_it_and_gives_back_nothing(table: Callable[[], Any]) -> None:
    first, second, third = Lease(table()), Lease(table()), Lease(table())
    first.acquire()
    late(table)
    assert second.acquire()
    with pytest.raises(BusyError, match="Wait for it"):
        first.check()
    first.release()
    second.check()
    with pytest.raises(BusyError):
        third.acquire()
    second.release()


def test_who_has_it_says_so_again_and_what_was_said_is_deleted(
    table: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "_RENEW_SECONDS", 0.01)
    monkeypatch.setattr(lease, "_RENEWALS_KEPT", 5)
    monkeypatch.setattr(lease, "LEASE_SECONDS", 0.02)
    own = Lease(table())
    own.acquire()
    said = threading.Event()
    while lease._row(own._table).said < 30:
        assert not said.wait(0.02)
    own.release()
    assert len(table().list_versions()) < 30


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "_RENEW_SECONDS", 0.1)
    monkeypatch.setattr(lease, "_POLL_SECONDS", 0.05)
    monkeypatch.setattr(lease, "_SLEEP_SECONDS", 0.01)


@pytest.mark.usefixtures("quick")
def test_whoever_waits_learns_that_it_is_held(table: Callable[[], Any]) -> None:
    first, second, waited = Lease(table()), Lease(table()), list[int]()
    first.acquire()
    with pytest.raises(BusyError):
        second.acquire(lambda: waited.append(1))
    assert waited
    first.release()


@pytest.mark.usefixtures("quick")
def test_whoever_waits_has_it_once_who_ended_is_late(
    table: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "_RENEW_SECONDS", 60.0)
    ended, second = Lease(table()), Lease(table())
    ended.acquire()
    assert second.acquire(lambda: late(table))
    second.release()
    ended.release()


def test_waiting_can_be_ended(table: Callable[[], Any]) -> None:
    first, second = Lease(table()), Lease(table())
    first.acquire()

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        second.acquire(stop)
    first.check()
    first.release()


def test_no_commit_that_was_begun_before_follows_a_fence(tmp_path: Path) -> None:
    import lancedb

    lancedb.connect(tmp_path).create_table("rows", pa.table({"row": [0]}))
    old, new = (lancedb.connect(tmp_path).open_table("rows") for _ in range(2))
    fence(new)
    with pytest.raises(RuntimeError, match="Incompatible transaction"):
        old.add(pa.table({"row": [1]}))
    new.add(pa.table({"row": [1]}))
    assert new.to_arrow()["row"].to_pylist() == [0, 1]


def test_a_file_is_held_by_one_and_let_go_of(tmp_path: Path) -> None:
    path = tmp_path / "corpus.lock"
    with (
        file_lease(path),
        pytest.raises(BusyError, match="Another server on this machine"),
        file_lease(path),
    ):
        pass
    with file_lease(path):
        assert file_is_held(path)
    assert not file_is_held(path)


def test_who_only_looks_turns_nobody_away(tmp_path: Path) -> None:
    path = tmp_path / "corpus.lock"
    is_over = threading.Event()

    def look_or_hold(number: int) -> None:
        if number:
            while not is_over.is_set():
                file_is_held(path)
            return
        try:
            for _ in range(200):
                with file_lease(path):
                    pass
        finally:
            is_over.set()

    assert together(2, look_or_hold) == [None, None]


def test_a_table_tells_who_looks_whether_it_is_held(table: Callable[[], Any]) -> None:
    assert not is_held(table())
    own = Lease(table())
    own.acquire()
    assert is_held(table())
    late(table)
    assert not is_held(table())
    own.release()
    assert not is_held(table())


def test_what_stands_in_a_locked_file_does_not_matter(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    name = store.create(made_up_corpus(5), indexing()).name
    (tmp_path / f"{name}.lock").write_text("half of something")
    assert not store.has_writer(name)
    index(store, MadeUpService(), name, ignore)  # type: ignore[arg-type]
    assert store.about(name).state == "done"


@pytest.mark.slow
@pytest.mark.parametrize("is_held", [False, True])
@pytest.mark.parametrize("share", [0.0, 0.5])
def test_a_lease_table_that_is_cut_is_healed_and_its_holder_lost_it(
    tmp_path: Path, share: float, is_held: bool
) -> None:
    """Whichever file it is, to nothing or to half of it."""
    first = tmp_path / "first"
    first.mkdir()
    root = f"file://{first}"
    store = Store(root)
    name = store.create(made_up_corpus(5), indexing()).name
    n_files = len(lease_files(first))
    assert n_files > 3
    for number in range(n_files):
        with contextlib.ExitStack() as stack:
            if is_held:
                stack.enter_context(store._tables.only_writer(name))
            own = tmp_path / f"{number}-{share}-{is_held}"
            shutil.copytree(first, own)
        path = lease_files(own)[number]
        path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
        if is_held:  # the row may still be read, and says who has it
            with contextlib.suppress(Exception):
                late(lambda own=own: lancedb_table(own, f"{name}.lease"))
        again = Store(f"file://{own}")
        assert again.has_writer(name) is False
        index(again, MadeUpService(), name, ignore)  # type: ignore[arg-type]
        assert again.about(name).state == "done"
        again.delete(name)
        assert again.names() == ()


def lease_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.lease.lance/**/*") if path.is_file())


def lancedb_table(folder: Path, key: str) -> Any:
    import lancedb

    return lancedb.connect(folder).open_table(key)


def test_who_had_a_damaged_lease_adds_nothing_any_more(tmp_path: Path) -> None:
    root = f"file://{tmp_path}"
    store, other = Store(root), Store(root)
    name = store.create(made_up_corpus(5), indexing()).name
    with store._tables.only_writer(name):
        for path in lease_files(tmp_path):
            path.write_bytes(b"")
        index(other, MadeUpService(), name, ignore)  # type: ignore[arg-type]
        rows = rows_in(other, name).combine_chunks().to_batches()
        with pytest.raises(BusyError, match="took the indexing of this corpus over"):
            store.append(name, indexing(), rows)
    assert rows_in(Store(root), name).num_rows == rows[0].num_rows
