"""Processes that are killed while indexing, or whose disk is full."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from contextlens.core import EncoderService
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.store import run
from contextlens.corpus.store.about import About, indexing_of
from contextlens.corpus.store.indexing import index
from contextlens.corpus.store.store import Store
from tests.support.corpus_store import (
    MadeUpService,
    assert_same_rows,
    ignore,
    indexing,
    made_up_corpus,
    rows_in,
)

ROOT = Path(__file__).parents[3]
BUNDLED = "all-MiniLM-L6-v2"
N_KILLS = 20


@pytest.fixture(autouse=True)
def as_the_process_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "_MAX_TEXTS", 4)


class Process:
    """One that indexes, forked by a server of them."""

    def __init__(self, server: subprocess.Popen[str], task: dict[str, Any]) -> None:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(task) + "\n")
        server.stdin.flush()
        self._told = server.stdout
        self._pid = int(self._told.readline().removeprefix("pid "))
        self._is_over = False

    def lines(self) -> Iterator[str]:
        """Its output until it ends."""
        while not self._is_over:
            line = self._told.readline()
            assert line, "The server of these processes is gone."
            self._is_over = line.strip() == "ended"
            if not self._is_over:
                yield line.strip()

    def kill(self) -> None:
        if not self._is_over:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)


Begun = Callable[[dict[str, Any]], AbstractContextManager[Process]]
"""Begins to index, and kills the process at the end."""


@pytest.fixture(scope="module")
def server() -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.support.index_process"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as running:
        yield running
        assert running.stdin is not None
        running.stdin.close()
        assert running.wait(60) == 0


@pytest.fixture
def process(server: subprocess.Popen[str]) -> Begun:
    @contextmanager
    def begun(task: dict[str, Any]) -> Iterator[Process]:
        running = Process(server, task)
        try:
            yield running
        finally:
            running.kill()
            deque(running.lines(), 0)

    return begun


def until_killed(begun: Begun, task: dict[str, Any], n_commits: int, seconds: float) -> int:
    """Kill an indexing process some seconds after n commits; return its number of stored texts.

    On a fast machine it is killed earlier, after three more commits.
    """
    stored, n_seen = 0, 0
    with begun(task) as running:
        for line in running.lines():
            if line.startswith("stored "):
                stored, n_seen = int(line.split()[1]), n_seen + 1
            if n_seen == n_commits + 3:
                running.kill()
            if (line == "go" or line.startswith("stored ")) and n_seen == n_commits:
                threading.Timer(seconds, running.kill).start()
    return stored


def until_over(begun: Begun, task: dict[str, Any]) -> list[str]:
    with begun(task) as running:
        lines = list(running.lines())
    assert lines[-1] == "over"
    return lines


def same(one: About, other: About) -> bool:
    def own(about: About) -> tuple[Any, ...]:
        return about.state, about.n_texts_done, about.n_occurrences, about.n_cut, about.digest

    return own(one) == own(other)


@pytest.mark.slow
def test_twenty_kills_lose_nothing_that_was_stored_and_repeat_nothing(
    tmp_path: Path, process: Begun
) -> None:
    corpus = made_up_corpus(600)
    killed, whole = str(tmp_path / "killed"), str(tmp_path / "whole")
    name = Store(killed).create(corpus, indexing()).name
    Store(whole).create(corpus, indexing(), name=name)
    index(Store(whole), MadeUpService(), name, ignore)  # type: ignore[arg-type]

    moments, before, n_moved = random.Random(14), 0, 0
    for _ in range(N_KILLS):
        moment = moments.randint(0, 4), moments.uniform(0.0, 0.03)
        said = until_killed(process, {"root": killed, "name": name}, *moment)
        found = Store(killed)
        about = found.about(name)
        assert about.n_texts_done >= max(before, said)
        assert about.n_texts_done < about.n_texts  # else the rest would show nothing
        rows = rows_in(found, name)
        assert rows["row"].to_pylist() == list(range(rows.num_rows))
        n_moved += about.n_texts_done > before
        before = about.n_texts_done
    assert n_moved > N_KILLS / 2

    until_over(process, {"root": killed, "name": name})
    done, expected = Store(killed), Store(whole)
    assert same(done.about(name), expected.about(name))
    assert rows_in(done, name).equals(rows_in(expected, name))


def test_a_kill_at_the_very_end_is_gone_on_from(tmp_path: Path, process: Begun) -> None:
    root = str(tmp_path)
    name = Store(root).create(made_up_corpus(40), indexing()).name
    with process({"root": root, "name": name}) as running:
        for line in running.lines():
            if line.startswith("Making it quick"):
                break
    about = Store(root).about(name)
    assert about.n_texts_done >= 39
    until_over(process, {"root": root, "name": name})
    assert Store(root).about(name).state == "done"
    assert len(Store(root).open(name).occurrences("python"))


def test_a_kill_with_the_real_model_changes_no_row(
    tmp_path: Path, process: Begun, service: EncoderService
) -> None:
    texts = tuple(f"The {'very ' * (i % 9)}old python sleeps by bank {i}." for i in range(80))
    own = indexing_of(service.load(BUNDLED), (0, 6), "exact")
    killed, whole = str(tmp_path / "killed"), str(tmp_path / "whole")
    name = Store(killed).create(Corpus("c", texts), own).name
    Store(whole).create(Corpus("c", texts), own, name=name)
    task = {"root": killed, "name": name, "model": BUNDLED}
    with process(task) as running:
        for line in running.lines():
            if line.startswith("stored ") and int(line.split()[1]) >= 20:
                break
    assert 20 <= Store(killed).about(name).n_texts_done < 80
    until_over(process, task)
    until_over(process, {**task, "root": whole})
    assert_same_rows(rows_in(Store(killed), name), rows_in(Store(whole), name))


# A full disk


@pytest.mark.parametrize("full_bytes", [0, 5_000])
def test_a_full_disk_ends_it_with_one_sentence_and_a_store_that_works(
    tmp_path: Path, process: Begun, full_bytes: int
) -> None:
    """With no byte left, not even the state can be written; the sentence is told all the same.

    Meanwhile others can still search what is stored.
    """
    pytest.importorskip("resource")
    root = str(tmp_path / "full")
    corpus = made_up_corpus(120)
    name = Store(root).create(corpus, indexing(tuple(range(4)))).name
    task = {"root": root, "name": name, "full_after": 10, "full_bytes": full_bytes, "reads": True}
    lines = until_over(process, task)
    assert not [line for line in lines if line.startswith("unread ")]
    assert int(next(line for line in reversed(lines) if line.startswith("read ")).split()[1])
    failed = next(line for line in lines if line.startswith("failed "))
    assert "disk that corpora are stored on is full. What was stored stays" in failed
    state = next(line for line in lines if line.startswith("state "))
    assert state.startswith("state failed ")
    assert "disk that corpora are stored on is full" in state

    store = Store(root)
    about = store.about(name)
    assert 0 < about.n_texts_done < 120
    assert len(store.open(name).occurrences("python"))

    whole = Store(str(tmp_path / "whole"))
    whole.create(corpus, indexing(tuple(range(4))), name=name)
    index(whole, MadeUpService(), name, ignore)  # type: ignore[arg-type]
    store.set_state(name, "waiting")
    until_over(process, {"root": root, "name": name})
    assert same(Store(root).about(name), Store(whole.root).about(name))
    assert rows_in(Store(root), name).equals(rows_in(Store(whole.root), name))


def test_the_same_server_goes_on_once_there_is_room(tmp_path: Path, process: Begun) -> None:
    pytest.importorskip("resource")
    root = str(tmp_path)
    name = Store(root).create(made_up_corpus(120), indexing()).name
    task = {"root": root, "name": name, "full_after": 10, "full_bytes": 0, "room_again": True}
    until_over(process, task)
    assert Store(root).about(name).state == "done"
    assert Store(root).about(name).n_texts_done == 120
