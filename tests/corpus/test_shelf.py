"""What visitors' files hold in memory: bounded for each, and nobody is pushed out by another."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from components.corpus.shelf import Shelf

LARGE = 1_000_000


def shelf(max_bytes: int = 10 * LARGE, *, own: int = 5 * LARGE, n: int = 4) -> Shelf:
    return Shelf(max_bytes, max_own_bytes=own, max_own=n)


def test_a_thing_is_found_by_its_name_whoever_put_it_there() -> None:
    own = shelf()
    own.put("a", "name", "thing", 10)
    assert own.get("name") == "thing"
    assert own.get("other") is None


def test_a_visitor_has_so_many_things_and_bytes_and_what_was_unused_for_longest_goes() -> None:
    own = shelf()
    for i in range(5):
        own.put("a", f"small {i}", i, 10)
        own.get("small 0")
    assert [own.get(f"small {i}") for i in range(5)] == [0, None, 2, 3, 4]
    for i in range(3):
        own.put("b", f"large {i}", i, 2 * LARGE)
    assert [own.get(f"large {i}") for i in range(3)] == [None, 1, 2]
    assert own.get("small 0") == 0


def test_who_holds_most_makes_room() -> None:
    own = shelf(4 * LARGE, own=3 * LARGE)
    own.put("small", "theirs", "theirs", 10)
    for visitor, i in product("abc", range(2)):
        own.put(visitor, f"{visitor} {i}", i, LARGE)
    assert own.n_bytes <= 4 * LARGE
    assert own.get("theirs") == "theirs"


def test_what_two_visitors_put_there_stays_as_long_as_one_wants_it() -> None:
    own = shelf()
    own.put("a", "map", "first", 10)
    own.put("b", "map", "second", 10)
    assert own.get("map") == "first"
    for i in range(10):
        own.put("b", f"{i}", i, 10)
    assert own.get("map") == "first"
    for i in range(10):
        own.put("a", f"own {i}", i, 10)
    assert own.get("map") is None


def test_one_thing_larger_than_all_stays_until_the_next() -> None:
    own = shelf()
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
    own = shelf()
    for visitor, name, n_bytes in puts:
        own.put(visitor, name, name, n_bytes)
        assert own.get(name) == name
        assert own.n_bytes <= 10 * LARGE


def test_a_thing_can_be_asked_for_as_one_s_own() -> None:
    shelf = Shelf(10**6, max_own_bytes=10**6, max_own=4)
    shelf.put("one", "thing", 1, 1)
    assert shelf.get("thing", of="one") == 1
    assert shelf.get("thing", of="two") is None
    assert shelf.get("thing") == 1
