"""Chunks of texts, made into rows by several threads, and kept in order."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from itertools import count

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from contextlens.core.threads import limit_threads
from contextlens.corpus.store.run import N_STREAMS, cut_into_chunks, in_order, most_tokens

TEXTS = st.lists(st.text(max_size=80), max_size=60)


def pairs(texts: list[str]) -> list[tuple[str, None]]:
    return [(text, None) for text in texts]


@given(TEXTS, st.integers(4, 200))
def test_chunks_hold_every_text_once_and_in_order(texts: list[str], most: int) -> None:
    found = list(cut_into_chunks(pairs(texts), max_length=40, most=most))
    assert [text for chunk in found for text in chunk.texts] == texts
    assert [chunk.start for chunk in found] == [0, *(chunk.stop for chunk in found[:-1])][
        : len(found)
    ]


@given(TEXTS, st.integers(4, 200))
def test_a_chunk_depends_on_nothing_behind_it(texts: list[str], most: int) -> None:
    """So whoever goes on in the middle finds the same ones."""
    every = list(cut_into_chunks(pairs(texts), max_length=40, most=most))
    for n in range(0, len(texts), 7):
        begun = list(cut_into_chunks(pairs(texts[:n]), max_length=40, most=most))
        assert begun[:-1] == every[: max(0, len(begun) - 1)]


def test_long_texts_count_as_what_the_model_reads_of_them() -> None:
    texts = pairs(["x" * 100_000] * 10)
    assert [len(chunk.texts) for chunk in cut_into_chunks(texts, max_length=50, most=100)] == [
        2
    ] * 5


def test_a_script_without_ascii_takes_fewer_texts_at_once() -> None:
    chinese = list(cut_into_chunks(pairs(["蟒蛇在树上睡觉" * 10] * 50), max_length=512, most=1000))
    english = list(cut_into_chunks(pairs(["a snake sleeps" * 5] * 50), max_length=512, most=1000))
    assert len(chinese) > len(english)


def test_what_is_encoded_at_once_is_bounded_in_bytes() -> None:
    assert most_tokens(n_layers=7, n_dims=384) == 8192
    large = most_tokens(n_layers=25, n_dims=1024)
    assert large * 25 * 1024 * 4 <= 256_000_000


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
