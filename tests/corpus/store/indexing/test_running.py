"""Indexing as a job: how far it is, two visitors at once, and real models."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import numpy as np
import pytest

from components.core import EncoderService, Settings, open_service
from components.corpus.corpus import Corpus
from components.corpus.store import run
from components.corpus.store.about import indexing_of
from components.corpus.store.indexing import index, index_key, start
from components.corpus.store.store import Store
from components.jobs import Jobs
from tests.corpus.store.indexing.corpora import ME, YOU, create, held, service, whole
from tests.support import corpus_store as made_up
from tests.support.corpus_store import ignore, indexed, made_up_corpus, rows_in

BUNDLED = "all-MiniLM-L6-v2"


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
