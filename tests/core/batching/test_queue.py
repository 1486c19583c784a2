"""Whose texts run next: rules one by one, and a machine that tries them in any order."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, precondition, rule

from contextlens.core.batching import Batch, Queue, Ticket
from contextlens.core.errors import BusyError
from tests.core.batching.queued import Plain

PLAIN = Plain()


def queue_of(*tickets: Ticket, most_texts: int = 1000, n_streams: int = 1) -> Queue:
    queue = Queue(most_texts=most_texts, n_streams=n_streams)
    for ticket in tickets:
        queue.add(ticket)
    return queue


def run_one(queue: Queue) -> Batch:
    batch = queue.take()
    assert batch is not None
    queue.done(batch, 0.1)
    return batch


def all_batches(queue: Queue) -> list[Batch]:
    batches = []
    while queue.n_waiting:
        batches.append(run_one(queue))
    return batches


def names(batch: Batch) -> set[object]:
    return {ticket.name for ticket, _ in batch.parts}


def test_a_lone_text_runs_at_once_with_all_processors() -> None:
    queue = queue_of(Ticket(PLAIN, [7], name="a"), n_streams=2)
    batch = queue.take()
    assert batch is not None
    assert (batch.n_texts, batch.padded_tokens, batch.wide) == (1, 7, True)
    assert queue.take() is None
    assert not queue.is_idle
    queue.done(batch, 1.0)
    assert queue.is_idle


def test_texts_of_several_run_together_and_longest_first() -> None:
    tickets = [Ticket(PLAIN, [10, 12], name=name) for name in "abc"]
    first, second = all_batches(queue_of(*tickets))
    assert [(ticket.name, places) for ticket, places in first.parts] == [
        ("a", (1, 0)),
        ("b", (1, 0)),
        ("c", (1,)),
    ]
    assert (first.padded_tokens, second.padded_tokens) == (60, 10)


def test_one_text_is_not_held_up_by_a_thousand_of_another() -> None:
    queue = queue_of(Ticket(PLAIN, [10] * 1000, name="many"), most_texts=10_000)
    running = queue.take()
    queue.add(Ticket(PLAIN, [10], name="one"))
    assert running is not None
    queue.done(running, 0.1)
    assert "one" in names(run_one(queue))


def test_unlike_lengths_wait_for_their_own_turn_rather_than_be_padded() -> None:
    queue = queue_of(Ticket(PLAIN, [50], name="long"), Ticket(PLAIN, [5] * 20, name="short"))
    long, short = all_batches(queue)[:2]
    assert (names(long), names(short)) == ({"long"}, {"short"})
    assert short.padded_tokens == PLAIN.budget


def test_a_text_beyond_the_budget_runs_alone() -> None:
    batches = all_batches(queue_of(Ticket(PLAIN, [500, 3], name="a")))
    assert [batch.padded_tokens for batch in batches] == [500, 3]


def test_kinds_and_where_asked_lengths_are_kept_apart() -> None:
    ones = Plain("ones", same_length=True)
    queue = queue_of(Ticket(ones, [4, 5, 4, 5], name="a"), Ticket(PLAIN, [4, 5], name="b"))
    batches = all_batches(queue)
    assert [batch.kind for batch in batches].count(ones) == 2
    for batch in batches:
        lengths = {ticket.lengths[i] for ticket, places in batch.parts for i in places}
        assert batch.kind == PLAIN or len(lengths) == 1


def test_two_streams_share_where_more_waits_and_a_wide_batch_shares_with_none() -> None:
    queue = queue_of(Ticket(PLAIN, [10] * 12, name="a"), n_streams=2)
    first, second = queue.take(), queue.take()
    assert first is not None
    assert second is not None
    assert not first.wide
    assert not second.wide
    assert queue.take() is None
    queue = queue_of(Ticket(PLAIN, [10], name="a"), n_streams=2)
    wide = queue.take()
    assert wide is not None
    assert wide.wide
    queue.add(Ticket(PLAIN, [10], name="b"))
    assert queue.take() is None
    queue.done(wide, 0.1)
    assert queue.take() is not None


def test_visitors_go_before_long_work_and_never_wait_for_it() -> None:
    queue = queue_of(Ticket(PLAIN, [10] * 50, name="job", bulk=True), n_streams=2)
    running = [queue.take(), queue.take()]
    assert all(batch is not None and batch.bulk for batch in running)
    queue.add(Ticket(PLAIN, [10], name="page"))
    page = queue.take()
    assert page is not None
    assert (page.bulk, page.wide) == (False, True)
    queue.done(running[0], 0.1)  # type: ignore[arg-type]
    assert queue.take() is None  # not while a visitor's runs
    queue.done(page, 0.1)
    assert queue.take().bulk  # type: ignore[union-attr]


def test_long_work_has_a_turn_now_and_then_however_much_visitors_ask() -> None:
    queue = queue_of(
        Ticket(PLAIN, [10] * 600, name="page"), Ticket(PLAIN, [10] * 60, name="job", bulk=True)
    )
    bulk = [run_one(queue).bulk for _ in range(30)]
    assert bulk.count(True) == 3
    assert not any(bulk[:8])


def test_what_is_too_much_is_refused_in_a_sentence_that_says_when_to_try_again() -> None:
    queue = queue_of(
        *(Ticket(PLAIN, [10] * 4, name=name) for name in "abc"), most_texts=10, n_streams=1
    )
    run_one(queue)
    queue.add(Ticket(PLAIN, [10] * 9, name="d"))  # counts for 5
    with pytest.raises(BusyError, match=r"as many as this server takes\. Try again in") as caught:
        queue.add(Ticket(PLAIN, [10], name="e"))
    assert caught.value.retry_seconds is not None
    assert caught.value.retry_seconds >= 1
    with pytest.raises(BusyError, match="of yours wait for a model already, and one visitor may"):
        queue.add(Ticket(PLAIN, [10], name="d"))
    queue.add(Ticket(PLAIN, [10] * 500, name="d", bulk=True))  # may wait
    all_batches(queue)
    queue.add(Ticket(PLAIN, [10], name="e"))


def test_one_visitor_does_not_fill_the_queue() -> None:
    queue = queue_of(Ticket(PLAIN, [10] * 5000, name="flood"), most_texts=100)
    queue.add(Ticket(PLAIN, [10], name="other"))


def test_a_single_call_may_be_larger_than_the_bound() -> None:
    queue = queue_of(Ticket(PLAIN, [10] * 500, name="a"), most_texts=10)
    assert sum(batch.n_texts for batch in all_batches(queue)) == 500


class Machine(RuleBasedStateMachine):
    """Calls come, run and go in any order; a plain list says what must be true."""

    tickets = Bundle("tickets")

    def __init__(self) -> None:
        super().__init__()
        self.queue = Queue(most_texts=40, n_streams=2)
        self.running: list[Batch] = []
        self.waiting: dict[Ticket, set[int]] = {}
        self.ran: Counter[tuple[Ticket, int]] = Counter()
        self.passed: Counter[object] = Counter()

    @rule(
        target=tickets,
        name=st.sampled_from("abcd"),
        bulk=st.booleans(),
        kind=st.sampled_from([PLAIN, Plain("other"), Plain("ones", same_length=True)]),
        lengths=st.lists(st.integers(1, 80), min_size=1, max_size=30),
    )
    def comes(self, name: str, bulk: bool, kind: Plain, lengths: list[int]) -> Ticket:
        ticket = Ticket(kind, lengths, name=name, bulk=bulk)
        own = sum(len(w) for t, w in self.waiting.items() if t.name == name and not t.bulk)
        try:
            self.queue.add(ticket)
        except BusyError:
            assert not bulk
            others = sum(len(w) for t, w in self.waiting.items() if not t.bulk)
            assert own >= 20 or others >= 40
            return ticket
        assert bulk or own < 20
        self.waiting[ticket] = set(range(len(lengths)))
        return ticket

    @rule()
    def one_begins(self) -> None:
        batch = self.queue.take()
        if batch is None:
            return
        self.running.append(batch)
        for ticket, places in batch.parts:
            assert ticket.kind == batch.kind
            assert ticket.bulk == batch.bulk
            for place in places:
                self.ran[ticket, place] += 1
                self.waiting[ticket].remove(place)  # raises where it did not wait
            if not self.waiting[ticket]:
                del self.waiting[ticket]
        assert batch.kind.fits(batch.n_texts, batch.padded_tokens // batch.n_texts)
        served = names(batch)
        for name in {t.name for t in self.waiting if t.bulk == batch.bulk} - served:
            self.passed[name, batch.bulk] += 1
            assert self.passed[name, batch.bulk] <= 4  # as many visitors as there are
        waiting = {(t.name, t.bulk) for t in self.waiting}
        for name in [key for key in self.passed if key not in waiting or key[0] in served]:
            del self.passed[name]

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def one_ends(self, data: st.DataObject) -> None:
        batch = self.running.pop(data.draw(st.integers(0, len(self.running) - 1)))
        self.queue.done(batch, 0.01)

    @rule(ticket=tickets)
    def one_goes(self, ticket: Ticket) -> None:
        self.queue.withdraw(ticket)
        self.waiting.pop(ticket, None)

    @invariant()
    def nothing_is_lost_or_run_twice(self) -> None:
        assert self.queue.n_waiting == sum(map(len, self.waiting.values()))
        assert all(n == 1 for n in self.ran.values())

    @invariant()
    def no_more_run_than_there_are_streams(self) -> None:
        for bulk in (False, True):
            own = [batch for batch in self.running if batch.bulk == bulk]
            assert len(own) <= 2
            assert len(own) <= 1 or not any(batch.wide for batch in own)

    def teardown(self) -> None:
        while self.running or self.waiting:
            while self.running:
                self.queue.done(self.running.pop(), 0.01)
            if self.waiting:
                self.one_begins()
                assert self.running, "texts wait, and nothing begins"
        assert self.queue.is_idle


TestMachine = pytest.mark.slow(Machine.TestCase)
TestMachine.settings = settings(max_examples=50, stateful_step_count=25, deadline=None)
