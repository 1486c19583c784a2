"""Several threads make things, which come in order."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from itertools import count

import pytest
import torch

from components.core.threads import limit_threads
from components.corpus.store.run import N_STREAMS, in_order


def test_what_is_made_comes_in_order_though_the_first_takes_longest() -> None:
    others = threading.Semaphore(0)

    def make(number: int) -> int:
        if number:
            others.release()
        else:  # ends after another one did
            assert others.acquire(timeout=30)
        return number * number

    assert list(in_order(make, range(5))) == [(i, i * i) for i in range(5)]


def test_no_more_is_taken_than_the_threads_need() -> None:
    taken: list[int] = []

    def given() -> Iterator[int]:
        for number in count():
            taken.append(number)
            yield number

    with closing(in_order(lambda number: number, given())) as made:
        for place in range(4):
            assert next(made) == (place, place)
            assert len(taken) == place + 1 + N_STREAMS


def test_what_fails_is_raised_in_its_place_and_ends_it() -> None:
    def make(number: int) -> int:
        if number == 2:
            raise ValueError("two")
        return number

    found = []
    with pytest.raises(ValueError, match="two"):  # noqa: PT012 - what came before counts
        for _, made in in_order(make, count()):
            found.append(made)
    assert found == [0, 1]


def test_whoever_stops_listening_leaves_no_thread_behind() -> None:
    before = threading.active_count()
    made = in_order(lambda number: number, count())
    next(made)
    made.close()
    assert threading.active_count() == before


def test_a_thread_that_takes_a_part_of_the_processors_leaves_others_theirs() -> None:
    found: list[int] = []

    def own() -> None:
        found.append(torch.get_num_threads())

    def limited() -> None:
        limit_threads(2)
        own()

    here = torch.get_num_threads()
    for work in (own, limited, own):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    before, between, after = found
    assert between == max(1, before // 2)
    assert after == before
    assert torch.get_num_threads() == here
