from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from components.core import EncoderService, Settings, open_service
from components.core.errors import BusyError, CorpusError, JobError
from components.corpus.corpus import Corpus
from components.corpus.store import chunks, run, tables
from components.corpus.store.about import About, indexing_of
from components.corpus.store.about_table import gone_with_it, overwrite
from components.corpus.store.indexing import go_on, index, index_key, pause, start, unfinished
from components.corpus.store.store import Store
from components.corpus.store.tables import Part
from components.jobs import Jobs, Visitor
from tests.support import corpus_store as made_up
from tests.support.corpus_store import MadeUpService, ignore, indexed, made_up_corpus, rows_in

ME, YOU = Visitor("me"), Visitor("you")
BUNDLED = "all-MiniLM-L6-v2"


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "_MOST_TEXTS", 4)
    monkeypatch.setattr(run, "_COMMIT_SECONDS", 0.0)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path / "corpora"))


@pytest.fixture
def jobs() -> Iterator[Jobs]:
    own = Jobs(10**6)
    yield own
    own.stop(10)


class Gate:
    """Lets so many chunks be encoded, then waits for `open`."""

    def __init__(self, n_free: int) -> None:
        self._n_left = n_free
        self._opened, self.reached = threading.Event(), threading.Event()

    def __call__(self) -> None:
        self._n_left -= 1
        if self._n_left < 0:
            self.reached.set()
            assert self._opened.wait(20)

    def open(self) -> None:
        self._opened.set()


def service(before: Callable[[], None] = lambda: None, **changes: Any) -> Any:
    return MadeUpService(before=before, **changes)


def create(store: Store, n_texts: int = 40, **changes: Any) -> About:
    return store.create(made_up_corpus(n_texts), made_up.indexing(**changes))


def whole(store: Store, about: About, n_texts: int = 40) -> Any:
    """The rows of the same corpus, indexed without a stop."""
    other = indexed(store, made_up_corpus(n_texts), layers=about.indexing.layers)
    return rows_in(store, other)


@contextmanager
def held(store: Store, jobs: Jobs, name: str, n_free: int = 3) -> Iterator[Gate]:
    """A corpus whose indexing stands still in the middle."""
    gate = Gate(n_free)
    start(jobs, store, service(gate), name, ME)
    assert gate.reached.wait(20)
    try:
        yield gate
    finally:
        gate.open()


@pytest.mark.slow
def test_a_job_indexes_a_corpus_and_says_how_far_it_is(store: Store, jobs: Jobs) -> None:
    about = create(store)
    job = start(jobs, store, service(), about.name, ME)
    assert job.key == index_key(store, about.name)
    job.result(20)
    done = store.about(about.name)
    assert (done.state, done.n_texts_done, done.why) == ("done", 40, "")
    assert done.n_occurrences == rows_in(store, about.name).num_rows
    assert job.look(ME).share == 1.0
    start(jobs, store, service(), about.name, ME).result(20)  # once more: nothing happens
    assert store.about(about.name) == done


def test_progress_is_told_in_words(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 100_000, 2))
    monkeypatch.setattr(run, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    said: list[tuple[str, float]] = []
    index(store, service(), create(store).name, lambda *told: said.append(told))
    words = [stage for stage, _ in said]
    assert words[0] == "Getting made-up ready"
    assert words[1].startswith("Indexing text 1 of 40, ")
    assert any("a second, " in stage and "left, " in stage for stage in words)
    assert all(stage.endswith(" MB") for stage in words[1:-1])
    assert words[-1] == "Making it quick to search"
    shares = [share for _, share in said]
    assert shares == sorted(shares)


# Pause, go on, stop, delete


@pytest.mark.slow
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


def test_deleting_what_is_being_indexed_ends_it_and_leaves_nothing(
    store: Store, jobs: Jobs
) -> None:
    about = create(store)
    with held(store, jobs, about.name):
        store.delete(about.name)
    job = jobs.get(index_key(store, about.name))
    assert job is not None
    assert job.wait(20)
    assert isinstance(job.exception(), CorpusError)
    assert store.names() == ()
    assert not list(Path(store.root).glob(f"{about.name}.*.lance"))


def test_two_servers_do_not_index_the_same_corpus_at_once(store: Store, jobs: Jobs) -> None:
    about = create(store)
    with held(store, jobs, about.name):
        with pytest.raises(BusyError, match="Another server"):
            index(Store(store.root), service(), about.name, ignore)
        assert store.about(about.name).state == "indexing"


def test_what_another_server_deletes_while_it_is_indexed_here_leaves_nothing(
    store: Store, jobs: Jobs
) -> None:
    about = create(store)
    with held(store, jobs, about.name):
        Store(store.root).delete(about.name)
    job = jobs.get(index_key(store, about.name))
    assert job is not None
    assert job.wait(20)
    assert isinstance(job.exception(), CorpusError)
    assert not list(Path(store.root).glob(f"{about.name}.*.lance"))


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
            with suppress(CorpusError), gone_with_it(other, about.name):
                write(other)

    monkeypatch.setattr(tables, "shutil", SimpleNamespace(rmtree=rmtree))
    store.delete(about.name)
    assert n_done >= n_before
    assert not list(Path(store.root).glob(f"{about.name}.*"))


@pytest.mark.slow
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


# Two visitors


@pytest.mark.slow
def test_two_visitors_index_and_query_at_once(store: Store, jobs: Jobs) -> None:
    """While both grow, whatever is asked of either is answered, and true of what is there."""
    mine, yours = create(store, 160), store.create(made_up_corpus(160, seed=1), made_up.indexing())
    old = store.open(indexed(store, made_up_corpus(30, seed=2)))
    running = [
        start(jobs, store, service(), about.name, who) for about, who in ((mine, ME), (yours, YOU))
    ]
    errors: list[BaseException] = []
    n_asked = [0] * 4

    def ask(number: int) -> None:
        try:
            while not all(job.done() for job in running) or n_asked[number] < 3:
                for name in (mine.name, yours.name):
                    corpus = store.open(name)
                    found = corpus.occurrences("python", most=20)
                    texts = corpus.text(found.texts)
                    assert all(
                        text[a:b] == surface
                        for text, (a, b), surface in zip(
                            texts, found.spans.tolist(), found.surfaces, strict=True
                        )
                    )
                    if len(found):
                        vectors = corpus.vectors(found, 0)
                        near = corpus.nearest(vectors[0], 0, 1, word="python")
                        assert near.cosines[0] > 0.999
                    corpus.words("p")
                assert len(old.occurrences("python"))
                n_asked[number] += 1
        except BaseException as exc:  # noqa: BLE001 - told below
            errors.append(exc)

    asking = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in asking:
        thread.start()
    for job in running:
        job.result(60)
    for thread in asking:
        thread.join(60)
    assert not errors
    assert min(n_asked) >= 3
    assert rows_in(store, mine.name).equals(whole(store, mine, 160))
    alone = indexed(store, made_up_corpus(160, seed=1))
    assert rows_in(store, yours.name).equals(rows_in(store, alone))


@pytest.mark.slow
def test_one_visitors_corpora_take_turns_and_leave_room_for_anothers(
    store: Store, jobs: Jobs
) -> None:
    first, second, other = create(store), create(store, 8), create(store, 8)
    with held(store, jobs, first.name):
        waiting = start(jobs, store, service(), second.name, ME)
        start(jobs, store, service(), other.name, YOU).result(20)
        assert waiting.look().state == "waiting"
    waiting.result(20)


# What does not fit


def test_another_models_vectors_are_never_mixed_in(store: Store) -> None:
    about = create(store)
    with pytest.raises(CorpusError, match="other weights of made-up"):
        index(store, service(checksum="b" * 64), about.name, ignore)
    failed = store.about(about.name)
    assert failed.state == "failed"
    assert "never mixed" in failed.why
    assert failed.n_occurrences == 0
    assert unfinished(store) == ()


def test_another_precision_is_never_mixed_in(store: Store) -> None:
    about = create(store, precision="fast")
    with pytest.raises(CorpusError, match="precision “fast”, and “exact” runs here"):
        index(store, service(), about.name, ignore)
    assert store.about(about.name).state == "failed"


def test_a_model_that_is_gone_is_told_and_what_is_stored_can_be_asked(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = indexed(store, made_up_corpus(20))
    store.set_state(name, "paused")
    gone = service()
    monkeypatch.setattr(
        gone, "spec", lambda _: SimpleNamespace(loaded=False, on_disk=False, source="hub")
    )
    store.set_state(name, "waiting")
    with pytest.raises(CorpusError, match="not on this machine any more"):
        index(store, gone, name, ignore)
    assert "fetches it, and go on" in store.about(name).why
    corpus = store.open(name)
    found = corpus.occurrences("python")
    assert len(corpus.nearest(corpus.vectors(found, 0)[0], 0, 3)) == 3


def test_what_fails_unexpectedly_is_told_and_goes_on_later(store: Store, jobs: Jobs) -> None:
    about = create(store)

    def fail() -> None:
        raise ZeroDivisionError

    job = start(jobs, store, service(fail), about.name, ME)
    assert isinstance(job.exception(20), ZeroDivisionError)
    assert "server's log has the reason" in store.about(about.name).why
    start(jobs, store, service(), about.name, ME).result(20)
    assert store.about(about.name).state == "done"
    assert store.about(about.name).why == ""


def test_a_corpus_that_grows_too_large_stops_and_can_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(str(tmp_path), max_corpus_bytes=60_000)
    monkeypatch.setattr("components.corpus.store.store.estimated_bytes", lambda *_: 0)
    about = create(store, 200)
    with pytest.raises(CorpusError, match=r"one corpus may take 0\.1 MB"):
        index(store, service(), about.name, ignore)
    failed = store.about(about.name)
    assert failed.state == "failed"
    assert 0 < failed.n_texts_done < 200
    assert len(store.open(about.name).occurrences("python"))


def test_a_corpus_that_is_not_there_cannot_be_indexed(store: Store, jobs: Jobs) -> None:
    with pytest.raises(CorpusError, match="no such corpus"):
        start(jobs, store, service(), "a" * 16, ME)
    with pytest.raises(CorpusError, match="no such corpus"):
        pause(store, "a" * 16)


def test_nothing_begins_while_the_server_ends(store: Store) -> None:
    over = Jobs(10**6)
    over.stop()
    about = create(store, 4)
    with pytest.raises(JobError):
        start(over, store, service(), about.name, ME)
    assert go_on(over, store, service()) == ()


# With a real model


@pytest.mark.slow
def test_a_corpus_in_the_bundled_model_has_its_words_vectors(store: Store) -> None:
    real = open_service(Settings(allow_downloads=False))
    texts = ("A python sleeps.", "I write Python, in " + "very " * 600 + "long lines of python.")
    own = indexing_of(real.load(BUNDLED), (0, 6), "exact")
    about = store.create(Corpus("c", texts, {}, ((2, 8), (8, 14))), own)
    real.encode(BUNDLED, ["A visitor's own text."])
    before = real.cache_info()
    index(store, real, about.name, ignore)
    assert real.cache_info() == before  # nobody's results had to make room
    corpus = store.open(about.name)
    found = corpus.occurrences("python")
    assert found.spans.tolist() == [[2, 8], [8, 14]]
    assert found.is_target.tolist() == [True, True]
    assert store.about(about.name).n_cut > 50
    for layer in (0, 6):
        expected = np.stack(
            [
                real.encode(BUNDLED, [text])[0].layer(layer)[place].astype(np.float32)
                for text, place in zip(texts, (2, 3), strict=True)
            ]
        )
        np.testing.assert_allclose(corpus.vectors(found, layer), expected, atol=5e-3)


def test_every_service_will_do(store: Store, tiny_service: EncoderService) -> None:
    card = tiny_service.load("folder:roberta")
    about = store.create(made_up_corpus(6), indexing_of(card, (1, 3), "fast"))
    index(store, tiny_service, about.name, ignore)
    assert store.about(about.name).state == "done"
