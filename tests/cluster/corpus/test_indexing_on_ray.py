"""Indexing on a Ray cluster makes the same corpus as indexing in the app does."""

from __future__ import annotations

import os
import signal
import threading
import time
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from contextlens.core import EncoderService
from contextlens.core.errors import CorpusError
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.store.about import indexing_of
from contextlens.corpus.store.indexing import index
from contextlens.corpus.store.store import Store
from contextlens.jobs import StoppedError
from contextlens.serving import indexing as on_ray
from contextlens.serving.indexing import Workers, index_on_ray
from tests.cluster.corpus.ray_workers import Held
from tests.cluster.object_store import BUCKET, ObjectStore
from tests.support.corpus_store import (
    MadeUpService,
    assert_same_rows,
    ignore,
    indexed,
    indexing,
    made_up_corpus,
    rows_in,
)

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.ray,
    pytest.mark.usefixtures("ray_runtime"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of Ray, about itself
]

BUNDLED = "all-MiniLM-L6-v2"
NAME = "a" * 16
MADE_UP: Any = MadeUpService


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Chunks of four texts, each of which is stored at once."""
    monkeypatch.setattr("contextlens.corpus.store.run._MAX_TEXTS", 4)
    monkeypatch.setattr("contextlens.corpus.store.run._COMMIT_SECONDS", 0.0)
    monkeypatch.setattr("contextlens.corpus.store.tables._STALE", timedelta(0))
    return Store(str(tmp_path / "corpora"))


@pytest.fixture
def whole(tmp_path: Path, store: Store) -> Any:
    """The rows of forty texts, indexed in this process."""
    own = Store(str(tmp_path / "whole"))
    return rows_in(own, indexed(own, made_up_corpus(40)))


def create(store: Store, **changes: Any) -> None:
    store.create(made_up_corpus(40), indexing(**changes), name=NAME)


def test_it_gives_the_same_rows_in_the_same_order(store: Store, whole: Any) -> None:
    create(store)
    said: list[str] = []
    index_on_ray(
        store,
        NAME,
        lambda stage, _: said.append(stage),
        open_service=MADE_UP,
        workers=Workers(max_processes=2, cpus=0.5),
    )
    assert store.about(NAME).state == "done"
    assert rows_in(store, NAME).equals(whole)
    told = [stage for stage in said if stage.startswith("Indexing text")]
    assert told[0].startswith("Indexing text 1 of 40")
    assert len(told) == 11  # before the first chunk, and after each of ten
    index_on_ray(store, NAME, ignore, open_service=MADE_UP)  # nothing is left to do
    assert rows_in(store, NAME).equals(whole)


def test_a_worker_that_is_killed_loses_nothing(store: Store, whole: Any, tmp_path: Path) -> None:
    create(store)
    folder = tmp_path / "workers"
    folder.mkdir()
    (folder / "hold").touch()
    killed = threading.Thread(target=kill_one, args=(folder,))
    killed.start()
    index_on_ray(store, NAME, ignore, open_service=Held(str(folder)), workers=Workers(1, 0.5))
    killed.join()
    assert len(list(folder.glob("*.pid"))) == 2
    assert rows_in(store, NAME).equals(whole)


def kill_one(folder: Path) -> None:
    """Kill the first process that works, which holds a chunk, and let the next one go."""
    while not list(folder.glob("*.pid")):
        time.sleep(0.05)
    os.kill(int(next(folder.glob("*.pid")).stem), signal.SIGKILL)
    (folder / "hold").unlink()


def test_whoever_goes_on_begins_behind_the_last_row(store: Store, whole: Any) -> None:
    """Stopped on the cluster, then paused there, then ended in the app."""
    create(store)

    def stop(stage: str, share: float) -> None:
        if share > 0.2:
            raise StoppedError

    def pause(stage: str, share: float) -> None:
        if share > 0.5:
            Store(store.root).set_state(NAME, "paused")

    with pytest.raises(StoppedError):
        index_on_ray(store, NAME, stop, open_service=MADE_UP, workers=Workers(1, 0.5))
    n_stopped = store.about(NAME).n_texts_done
    assert 0 < n_stopped < 40
    index_on_ray(store, NAME, pause, open_service=MADE_UP, workers=Workers(1, 0.5))
    about = Store(store.root).about(NAME)
    assert about.state == "paused"
    assert n_stopped < about.n_texts_done < 40
    store.set_state(NAME, "waiting")
    index(store, MadeUpService(), NAME, ignore)  # type: ignore[arg-type]
    assert rows_in(store, NAME).equals(whole)


def test_what_a_worker_finds_wrong_is_told_in_its_words(store: Store) -> None:
    create(store, precision="fast")
    with pytest.raises(CorpusError, match="precision “fast”, and “exact” runs here"):
        index_on_ray(store, NAME, ignore, open_service=MADE_UP, workers=Workers(1, 0.5))
    assert store.about(NAME).state == "failed"
    assert "never mixed" in store.about(NAME).why


def test_more_than_the_cluster_has_is_refused(store: Store) -> None:
    create(store)
    with pytest.raises(CorpusError, match=r"99 processors .* Ask for less"):
        index_on_ray(store, NAME, ignore, open_service=MADE_UP, workers=Workers(cpus=99))
    assert store.about(NAME).n_texts_done == 0


def test_the_real_model_gives_the_same_vectors_on_object_storage(
    store: Store, object_store: ObjectStore, service: EncoderService
) -> None:
    """As near as the contract asks, and float16 keeps: their numbers of threads differ."""
    texts = tuple(f"The {'very ' * (i % 9)}old python sleeps by bank {i}." for i in range(24))
    own = indexing_of(service.load(BUNDLED), (0, 6), "exact")
    there = Store(f"s3://{BUCKET}/on-ray")
    for each in (store, there):
        each.create(Corpus("c", texts), own, name=NAME)
    index(store, service, NAME, ignore)
    index_on_ray(there, NAME, ignore, workers=Workers(1, 1))
    assert_same_rows(rows_in(there, NAME), rows_in(store, NAME))


@pytest.mark.parametrize("name", [NAME, "-" + NAME[1:]])
def test_the_command_says_what_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("CONTEXTLENS_DATA_DIR", str(tmp_path))
    with pytest.raises(SystemExit, match="There is no such corpus here"):
        on_ray.main([name, "--workers", "2"])
    monkeypatch.setattr(on_ray, "find_spec", lambda _: None)
    with pytest.raises(SystemExit, match=r"pip install contextlens\[cluster\]"):
        on_ray.main([name])


def test_the_command_goes_on_with_a_paused_corpus(
    store: Store, whole: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    create(store)
    store.set_state(NAME, "paused")
    monkeypatch.setattr(on_ray, "_connect", lambda _: None)  # as it is already
    monkeypatch.setattr(on_ray, "_disconnect", lambda: None)
    monkeypatch.setattr(on_ray, "index_on_ray", partial(index_on_ray, open_service=MADE_UP))
    monkeypatch.setenv("CONTEXTLENS_DATA_DIR", str(Path(store.root).parent))
    on_ray.main([NAME, "--workers", "1", "--cpus", "0.5"])
    said = capsys.readouterr().out
    assert "Indexing text 1 of 40" in said
    assert f"made-up.csv is done: {whole.num_rows:,} words have vectors." in said
    assert rows_in(Store(store.root), NAME).equals(whole)
