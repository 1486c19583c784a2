"""Indexing that does not fit or fails: nothing is mixed, and it is told why."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from components.core.errors import CorpusError, JobError
from components.corpus.store.indexing import go_on, index, pause, start, unfinished
from components.corpus.store.store import Store
from components.jobs import Jobs
from tests.corpus.store.indexing.corpora import ME, create, service
from tests.support.corpus_store import ignore, indexed, made_up_corpus


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
