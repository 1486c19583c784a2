"""The caller, across threads and by default."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from contextlens.core import caller as callers
from contextlens.core.byte_cache import ByteCache
from contextlens.core.caller import Caller, StoppedError, calling, current, set_default_caller
from contextlens.core.errors import BusyError
from contextlens.corpus.store.run import in_order

SECONDS = 60


def test_it_is_known_inside_and_forgotten_outside() -> None:
    with calling(Caller("ada")):
        with calling(Caller("job", bulk=True)):
            assert current().bulk
        assert current() == Caller("ada")
    assert current() == Caller()


def test_another_one_is_asked_where_nobody_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callers, "_otherwise", [])
    set_default_caller(lambda: Caller("page"))
    assert current() == Caller("page")
    with calling(Caller("job")):
        assert current() == Caller("job")
    set_default_caller(lambda: None)
    assert current() == Caller()


def test_the_threads_of_indexing_ask_as_who_began_it() -> None:
    with calling(Caller("ada", bulk=True)):
        found = list(in_order(lambda _: current(), range(5)))
    assert found == [(i, Caller("ada", bulk=True)) for i in range(5)]


@pytest.mark.parametrize("error", [BusyError("Try again."), StoppedError("gone")])
def test_who_waits_for_anothers_result_does_not_get_its_refusal(error: Exception) -> None:
    cache, begun, waits = ByteCache(1000), threading.Event(), threading.Event()

    def refused() -> object:
        begun.set()
        assert waits.wait(SECONDS)
        raise error

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(cache.get, "key", refused)
        assert begun.wait(SECONDS)
        second = pool.submit(cache.get, "key", lambda: "own")
        while cache.info().hits < 1:
            threading.Event().wait(0.001)
        waits.set()
        with pytest.raises(type(error)):
            first.result(SECONDS)
        assert second.result(SECONDS) == "own"
