"""Waiting for maps: whose comes first, who is refused, and what stops."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from contextlens.core import ModelCard
from contextlens.core.errors import BusyError
from contextlens.corpus.corpus import Corpus
from contextlens.jobs import Job, Jobs, StoppedError, Task, Visitor
from contextlens.maps.engine import MAPS, Maps
from contextlens.maps.request import MapRequest
from tests.maps.engine.counting import PCA, WAIT, CountingService, request_for

ME, YOU = Visitor("me"), Visitor("you")


@pytest.fixture
def gate(counting: CountingService) -> Iterator[threading.Event]:
    """A shut gate for texts that name it."""
    counting.gate.clear()
    yield counting.gate
    counting.gate.set()


def gated(name: str, n: int) -> Corpus:
    """Texts that are read when the gate is open; 20,000 of them make a large map."""
    return Corpus(name, tuple(f"{name} {i} behind the gate" for i in range(n)))


def test_a_small_map_does_not_wait_behind_another_visitor_s_large_ones(
    maps: Maps, card: ModelCard, counting: CountingService, gate: threading.Event
) -> None:
    larges = [gated(f"large {i}", 20_000) for i in range(5)]
    jobs = [maps.draw(of_sentences(corpus), corpus, card, ME) for corpus in larges]
    small = Corpus("small", ("another visitor's python", "and a snake"))
    n = len(counting.encoded)
    assert maps.draw(of_sentences(small), small, card, YOU).result(WAIT)
    assert not any(job.done() for job in jobs)
    begun = {text.split(" behind")[0].rsplit(" ", 1)[0] for text in counting.encoded[n:]}
    assert not begun & {corpus.name for corpus in larges[1:]}, "the small one came first"
    for job in jobs:
        job.cancel(ME)
        assert job.poll(ME).is_over, "at once"
    gate.set()
    assert [type(job.exception(WAIT)) for job in jobs] == [StoppedError] * 5


def of_sentences(corpus: Corpus, **changes: Any) -> MapRequest:
    return request_for(corpus, unit="sentences", most=20_000, layer=0, **changes)


@pytest.mark.parametrize("leaves", ["cancel", "drop"])
def test_who_leaves_one_of_two_maps_with_the_same_points_leaves_the_other_alone(
    maps: Maps, card: ModelCard, counting: CountingService, gate: threading.Event, leaves: str
) -> None:
    corpus = gated(f"shared {leaves}", 5)
    n = len(counting.encoded)
    one = maps.draw(of_sentences(corpus), corpus, card, ME)
    other = maps.draw(of_sentences(corpus, settings=replace(PCA, seed=1)), corpus, card, YOU)
    getattr(one, leaves)(ME)
    assert one.poll(ME).is_over, "at once"
    gate.set()
    assert other.result(WAIT).points.n_points == 5
    assert isinstance(one.exception(WAIT), StoppedError)
    assert counting.encoded[n:] == list(corpus.texts)


def test_cancel_of_a_map_that_another_waits_for_too_answers_at_once_and_stops_nothing(
    maps: Maps, card: ModelCard, counting: CountingService, gate: threading.Event
) -> None:
    corpus = gated("the very same", 5)
    n = len(counting.encoded)
    job = maps.draw(of_sentences(corpus), corpus, card, ME)
    assert maps.draw(of_sentences(corpus), corpus, card, YOU) is job
    job.cancel(ME)
    assert job.poll(ME).state == "cancelled"
    assert not job.poll(YOU).is_over
    gate.set()
    assert job.result(WAIT).points.n_points == 5
    assert job.poll(ME).state == "cancelled"
    assert counting.encoded[n:] == list(corpus.texts)


def test_too_many_maps_of_one_visitor_or_of_all_are_refused_in_a_sentence(
    maps: Maps, card: ModelCard, gate: threading.Event
) -> None:
    def draw(name: str, visitor: Visitor) -> Job:
        corpus = gated(name, 3)
        return maps.draw(of_sentences(corpus), corpus, card, visitor)

    jobs = [(draw(f"mine {i}", ME), ME) for i in range(MAPS.n_waiting_each)]
    with pytest.raises(BusyError) as refused:
        draw("mine too", ME)
    assert str(refused.value) == (
        "You have 12 maps waiting already, as many as one visitor may have here. Wait for one of "
        "them, or cancel one, and try again."
    )
    tabs = [Visitor(f"tab {i}") for i in range(len(jobs), MAPS.n_waiting)]
    jobs += [(draw(f"of {tab.name}", tab), tab) for tab in tabs]
    with pytest.raises(BusyError) as refused:
        draw("yours", YOU)
    assert str(refused.value) == (
        "This server has 50 maps waiting already, as many as it may have. Try again in a minute."
    )
    for job, visitor in jobs:
        job.cancel(visitor)
    gate.set()
    for job, _ in jobs:
        assert isinstance(job.exception(WAIT), StoppedError)


def test_a_check_that_waits_is_given_the_map_by_the_store_which_counts_its_bytes(
    maps: Maps, jobs: Jobs, card: ModelCard
) -> None:
    go_on = threading.Event()
    places = [
        jobs.start(Task(("place", i), MAPS, lambda _: go_on.wait(WAIT)), ME)
        for i in range(MAPS.n_at_once - 1)
    ]
    corpus = Corpus("checked", ("a python", "a snake", "my python", "a boa"))
    picture = maps.draw(of_sentences(corpus), corpus, card).result(WAIT)
    places.append(jobs.start(Task(("place", "last"), MAPS, lambda _: go_on.wait(WAIT)), ME))
    check = maps.check(picture, 0, YOU)
    assert check.state == "waiting"
    assert check.given == (picture,)
    assert check.n_given > picture.nbytes
    go_on.set()
    assert check.result(WAIT).shared_neighbors == 1
    assert all(job.wait(WAIT) for job in places)


def test_a_map_that_had_to_make_room_can_be_checked_and_drawn_again(
    counting: CountingService, card: ModelCard
) -> None:
    corpus = Corpus("twice", ("a python", "a snake", "my python", "a boa"))
    other = Corpus("large", tuple(f"a python {i}" for i in range(40)))
    with Maps(counting, Jobs(50_000)) as small:
        first = small.draw(of_sentences(corpus), corpus, card).result(WAIT)
        assert small.result(first.request) is first
        small.draw(of_sentences(other), other, card).result(WAIT)
        assert small.find(first.request) is None
        assert small.result(first.request) is None
        assert small.check(first, 0).result(WAIT).shared_neighbors == 1
        again = small.draw(of_sentences(corpus), corpus, card).result(WAIT)
        np.testing.assert_array_equal(again.map.coordinates, first.map.coordinates)
