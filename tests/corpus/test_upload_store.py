"""Visitors' uploads: bounded for each and for all, and nobody pushes out another's."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlens.core.errors import BusyError, CorpusError
from contextlens.corpus import upload_store
from contextlens.corpus.upload_store import FileKey, UploadStore

LARGE = 1_000_000


class Files(set[FileKey]):
    """Files that wait to be read, as Streamlit keeps them."""

    has = set[FileKey].__contains__
    discard = set[FileKey].discard


def store_of(max_bytes: int = 10 * LARGE, *, file: int = LARGE // 2) -> UploadStore:
    return UploadStore(max_bytes, file, Files())


def test_a_visitor_has_so_many_things_and_bytes_and_what_was_unused_for_longest_goes() -> None:
    own = store_of()
    for i in range(17):
        own.put("a", f"small {i}", i, 10)
        own.get("small 0")
    assert [own.get(f"small {i}") for i in range(17)] == [0, None, *range(2, 17)]
    for i in range(3):
        own.put("b", f"large {i}", i, 2 * LARGE)
    assert [own.get(f"large {i}") for i in range(3)] == [None, 1, 2]
    assert own.get("small 0") == 0


def test_what_two_visitors_put_there_stays_as_long_as_one_wants_it() -> None:
    own = store_of()
    own.put("a", "map", "first", 10)
    own.put("b", "map", "second", 10)
    assert own.get("map") == "first"
    for i in range(20):
        own.put("b", f"{i}", i, 10)
    assert own.get("map") == "first"
    for i in range(20):
        own.put("a", f"own {i}", i, 10)
    assert own.get("map") is None


def test_one_thing_larger_than_all_stays_until_the_next() -> None:
    own = store_of()
    own.put("a", "huge", "huge", 20 * LARGE)
    assert own.get("huge") == "huge"
    own.put("b", "next", "next", 10)
    assert own.get("huge") is None
    assert own.get("next") == "next"


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from("uvwxyz"), st.integers(0, 3 * LARGE))
    )
)
def test_no_order_of_visits_goes_beyond_the_bounds(puts: list[tuple[str, str, int]]) -> None:
    own = store_of()
    for visitor, name, n_bytes in puts:
        own.put(visitor, name, name, n_bytes)
        assert own.get(name) == name
        assert own.n_bytes <= 10 * LARGE


def test_a_thing_can_be_asked_for_as_one_s_own() -> None:
    own = store_of()
    own.put("one", "thing", 1, 1)
    assert own.get("thing", of="one") == 1
    assert own.get("thing", of="two") is None
    assert own.get("thing") == 1


# Files being sent


class Server:
    """A store and the files that Streamlit holds, as a server has them."""

    def __init__(self, max_bytes: int = 10 * LARGE) -> None:
        self.files = Files()
        self.store = UploadStore(max_bytes, LARGE, self.files)

    def send(self, visitor: str, n: int, n_bytes: int = LARGE) -> FileKey | str:
        """Send a file without reading it; return its key, or why it was refused."""
        key = FileKey(visitor, str(n))
        try:
            self.store.admit(key, visitor, n_bytes)
        except (BusyError, CorpusError) as exc:
            return str(exc)
        try:
            for _ in range(10):
                self.store.grow(key, n_bytes // 10)
            self.files.add(key)
        except (BusyError, CorpusError) as exc:
            return str(exc)
        finally:
            self.store.end(key)
        return key


def test_files_that_nobody_reads_take_half_of_all_and_a_quarter_of_one_visitor() -> None:
    server = Server()
    own = [server.send("a", i) for i in range(11)]
    assert [isinstance(key, FileKey) for key in own] == [True] * 2 + [False] * 9
    assert own[2] == (
        "The file was not taken: 2.1 MB of uploads wait to be read here, 2.1 MB of them yours; at "
        "most 5.0 MB may, 2.5 MB of one visitor. Try again in a minute."
    )
    assert isinstance(server.send("b", 0), FileKey)
    for visitor in range(20):
        for i in range(11):
            server.send(f"tab {visitor}", i)
    assert server.store.n_bytes <= 5 * LARGE


def test_what_is_read_gives_its_room_back_at_once() -> None:
    server = Server()
    for i in range(50):
        key = server.send("a", i)
        assert isinstance(key, FileKey)
        server.files.discard(key)
    assert server.store.n_bytes == 0


def test_what_nobody_reads_is_dropped_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server()
    assert [isinstance(server.send("a", i), FileKey) for i in range(3)] == [True, True, False]
    monkeypatch.setattr(upload_store, "_UNREAD_SECONDS", -1.0)
    assert isinstance(server.send("a", 3), FileKey)
    assert server.files == {FileKey("a", "3")}


def test_texts_and_files_share_one_bound_and_who_holds_most_makes_room() -> None:
    server = Server()
    server.store.put("small", "theirs", "theirs", 10)
    for visitor, i in product("abc", range(3)):
        server.store.put(visitor, f"{visitor} {i}", i, LARGE)
    assert 9 * LARGE < server.store.n_bytes <= 10 * LARGE
    for visitor, i in product("xyz", range(2)):
        server.send(visitor, i)
    assert 9 * LARGE < server.store.n_bytes <= 10 * LARGE
    assert server.store.get("theirs") == "theirs"


def test_a_file_that_grows_beyond_what_it_announced_is_cut_off() -> None:
    server = Server()
    server.store.admit(FileKey("a", "0"), "a", 0)
    for _ in range(10):
        server.store.grow(FileKey("a", "0"), LARGE // 10)
    with pytest.raises(CorpusError, match="too large"):
        server.store.grow(FileKey("a", "0"), LARGE // 10)
    server.store.end(FileKey("a", "0"))
    assert server.store.n_bytes == 0


def test_too_large_a_file_is_refused_before_it_arrives() -> None:
    server = Server()
    said = server.send("a", 0, 3 * LARGE)
    assert said == (
        "The file is 3.0 MB; at most 1.0 MB are taken here. Split it, or ask whoever runs this "
        "server for a larger limit."
    )


def test_one_file_is_sent_once() -> None:
    server = Server()
    assert isinstance(server.send("a", 0, 10), FileKey)
    assert (
        server.send("b", 0, 10)
        != server.send("a", 0, 10)
        == ("The file was sent before. Choose it again.")
    )


def test_one_file_is_read_at_a_time_and_who_waits_too_long_is_told_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(upload_store, "_READ_SECONDS", 0.01)
    own = store_of()
    with (
        own.reading("a.txt"),
        pytest.raises(CorpusError, match=r"b\.txt was not read: one file is read at a time"),
        own.reading("b.txt"),
    ):
        pass
    with own.reading("b.txt"):
        pass
