"""The real processes that draw maps: the same numbers as here, stopped, killed and replaced."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from components.core.errors import RequestError
from components.maps import layer_maps, projection, stability
from components.maps import worker as maps_worker
from components.maps.process import LARGE, MapError, MapProcess, MapProcesses
from components.maps.projection import MapSettings

ROOT = Path(__file__).parents[2]
WAIT = 60
PCA = MapSettings(method="pca")


class StopError(Exception):
    """What someone raises who does not want a map any more."""


def vectors(*shape: int, seed: int = 0) -> np.ndarray:
    """Random float32 vectors in some groups."""
    random = np.random.default_rng(seed)
    centres = 3 * random.normal(size=(5, shape[-1]))
    groups = centres[random.integers(0, 5, shape[:-1])]
    return (groups + random.normal(size=shape)).astype(np.float32)


def assert_same(here: Any, there: Any) -> None:
    """Both are the same, field by field and bit by bit."""
    assert type(here) is type(there)
    if is_dataclass(here):
        for each in fields(here):
            assert_same(getattr(here, each.name), getattr(there, each.name))
    elif isinstance(here, tuple):
        assert len(here) == len(there)
        for one, other in zip(here, there, strict=True):
            assert_same(one, other)
    elif isinstance(here, np.ndarray):
        assert here.dtype == there.dtype
        np.testing.assert_array_equal(here, there)
    else:
        assert here == there


def long_task() -> tuple[np.ndarray, MapSettings]:
    """One that takes many seconds if it is not stopped."""
    return vectors(6_000, 32), MapSettings(effort="full", n_neighbors=50)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the tasks of this module have their folders."""
    return tmp_path_factory.mktemp("tasks")


@pytest.fixture(scope="module")
def processes(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MapProcesses]:
    """Both processes, the one for small maps warmed up."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(folder))
        own = MapProcesses.with_cache(tmp_path_factory.mktemp("compiled"))
        own.small.warm_up()
        yield own
        own.stop()


@pytest.fixture(autouse=True)
def _leaves_nothing_behind(folder: Path, processes: MapProcesses) -> Iterator[None]:
    yield
    assert list(folder.iterdir()) == []


def id_of(process: MapProcess) -> int:
    """The process id of the child."""
    assert process._process is not None
    return process._process.pid


def stop_at(stage: str, seen: list[str]) -> Callable[[str, float], None]:
    """Notes the stages, and raises at this one."""

    def report(now: str, share: float) -> None:
        seen.append(now)
        if now == stage:
            raise StopError(now)

    return report


# The same as here


@pytest.mark.parametrize("method", ["umap", "pca", "tsne"])
@pytest.mark.parametrize("n_components", [2, 3])
def test_a_map_is_the_one_that_is_drawn_here(
    processes: MapProcesses, method: Any, n_components: int
) -> None:
    own = vectors(90, 12)
    settings = MapSettings(method=method, n_components=n_components, n_neighbors=9, seed=4)
    told: list[tuple[str, float]] = []
    there = processes.project(own, settings, lambda stage, share: told.append((stage, share)))
    assert_same(projection.project(own, settings), there)
    assert there.method == method
    assert all(0 <= share <= 1 for _, share in told)


def test_few_points_and_their_reason_come_through(processes: MapProcesses) -> None:
    for n in (1, 3, 5):
        own = vectors(n, 6)
        there = processes.project(own, MapSettings())
        assert_same(projection.project(own, MapSettings()), there)
        assert "at least 15 points" in there.reason
        assert (there.honesty is None) == (n < 4)


def test_maps_of_all_layers_are_those_drawn_here(processes: MapProcesses) -> None:
    own = vectors(3, 60, 12)
    settings = MapSettings(metric="euclidean", seed=2)
    there = processes.project_layers(own, settings, how="joint")
    assert_same(layer_maps.project_layers(own, settings, how="joint"), there)
    assert there.how == "joint"
    assert len(there.neighbors) == len(there.honesty) == 3


@pytest.mark.parametrize("method", ["umap", "pca"])
def test_stability_is_the_one_measured_here(processes: MapProcesses, method: Any) -> None:
    own, settings = vectors(80, 10), MapSettings(method=method, seed=7)
    first = projection.project(own, settings)
    there = processes.stability(own, settings, first)
    assert_same(stability.stability(own, settings, first=first), there)
    assert there.seeds == (7, 8, 9)
    assert bool(there.reason) == (method == "pca")


# What cannot be done


def refusal(work: Callable[[], Any]) -> str:
    with pytest.raises(RequestError) as caught:
        work()
    return str(caught.value)


def test_refusals_are_the_same_sentences_and_the_process_goes_on(processes: MapProcesses) -> None:
    pid = id_of(processes.small)
    broken = vectors(20, 4)
    broken[3, 1] = np.nan
    aligned = MapSettings(method="pca")
    pairs = [
        (
            lambda: processes.project(broken, PCA),
            lambda: projection.project(broken, PCA),
        ),
        (
            lambda: processes.project(vectors(0, 4), PCA),
            lambda: projection.project(vectors(0, 4), PCA),
        ),
        (
            lambda: processes.project_layers(vectors(2, 20, 4), aligned, how="aligned"),
            lambda: layer_maps.project_layers(vectors(2, 20, 4), aligned, how="aligned"),
        ),
        (
            lambda: processes.stability(
                vectors(21, 4), PCA, projection.project(vectors(20, 4), PCA)
            ),
            lambda: stability.stability(
                vectors(21, 4), PCA, first=projection.project(vectors(20, 4), PCA)
            ),
        ),
    ]
    for there, here in pairs:
        assert refusal(there) == refusal(here)
    assert id_of(processes.small) == pid


def test_what_fails_in_there_is_an_error_of_ours_and_the_process_goes_on(
    processes: MapProcesses, caplog: pytest.LogCaptureFixture
) -> None:
    pid = id_of(processes.small)
    with pytest.raises(MapError, match="could not be drawn"):
        processes.small.ask({"kind": "map", "settings": {}, "folder": "/nowhere"}, print)
    assert "FileNotFoundError" in caplog.text
    assert_same(projection.project(vectors(8, 3), PCA), processes.project(vectors(8, 3), PCA))
    assert id_of(processes.small) == pid


# Stopped


def test_a_task_that_is_stopped_ends_soon_and_the_next_one_works(processes: MapProcesses) -> None:
    own, settings = long_task()
    seen: list[str] = []
    begun = time.monotonic()
    with pytest.raises(StopError):
        processes.project(own, settings, stop_at("Arranging the points", seen))
    assert seen[-1] == "Arranging the points"
    stopped = time.monotonic()
    assert stopped - begun < 20
    small = vectors(40, 5)
    assert_same(projection.project(small, MapSettings()), processes.project(small, MapSettings()))
    assert time.monotonic() - stopped < 15


def test_a_task_stopped_before_its_first_stage_ends_too(processes: MapProcesses) -> None:
    def stop(stage: str, share: float) -> None:
        raise StopError(stage)

    begun = time.monotonic()
    for _ in range(3):
        with pytest.raises(StopError):
            processes.project(*long_task(), stop)
    assert time.monotonic() - begun < 15
    assert processes.project(vectors(9, 3), PCA).coordinates.shape == (9, 2)


# Killed


def test_a_process_that_dies_in_the_middle_is_replaced(
    processes: MapProcesses, caplog: pytest.LogCaptureFixture
) -> None:
    processes.project(vectors(9, 3), PCA)
    pid = id_of(processes.small)
    killed: list[str] = []

    def kill(stage: str, share: float) -> None:
        if not killed:
            killed.append(stage)
            os.kill(pid, signal.SIGKILL)

    with pytest.raises(MapError, match=r"ended unexpectedly.*draw again, with fewer points"):
        processes.project(*long_task(), kill)
    assert killed
    assert "ended with -9" in caplog.text
    own = vectors(30, 6)
    assert_same(projection.project(own, MapSettings()), processes.project(own, MapSettings()))
    assert id_of(processes.small) != pid


def test_a_process_that_died_between_two_tasks_is_replaced_unseen(
    processes: MapProcesses,
) -> None:
    processes.project(vectors(9, 3), PCA)
    pid = id_of(processes.small)
    os.kill(pid, signal.SIGKILL)
    while is_running(pid):
        time.sleep(0.01)
    own = vectors(30, 6)
    assert_same(projection.project(own, PCA), processes.project(own, PCA))
    assert id_of(processes.small) != pid


# Several at once


def test_two_who_ask_at_once_wait_for_each_other_and_each_gets_its_own(
    processes: MapProcesses,
) -> None:
    owns = [vectors(200 + 10 * i, 8, seed=i) for i in range(2)]
    told: list[list[str]] = [[], []]

    def ask(i: int) -> projection.Map:
        report = told[i].append
        settings = MapSettings(seed=i, effort="full")
        return processes.project(owns[i], settings, lambda stage, _: report(stage))

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(ask, range(2)))
    for i, there in enumerate(found):
        assert_same(projection.project(owns[i], MapSettings(seed=i, effort="full")), there)
    waited = [i for i in range(2) if "Waiting for another map" in told[i]]
    assert len(waited) <= 1


def test_who_waits_can_give_up(processes: MapProcesses) -> None:
    begun, end = threading.Event(), threading.Event()

    def long(stage: str, share: float) -> None:
        begun.set()
        if end.is_set():
            raise StopError(stage)

    def ask() -> None:
        with pytest.raises(StopError):
            processes.project(*long_task(), long)

    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(ask)
        assert begun.wait(WAIT)
        with pytest.raises(StopError, match="Waiting for another map"):
            processes.project(vectors(9, 3), PCA, stop_at("Waiting for another map", []))
        end.set()
        other.result(WAIT)


def test_a_large_map_goes_to_the_other_process(processes: MapProcesses) -> None:
    processes.project(vectors(9, 3), PCA)
    small = id_of(processes.small)
    assert processes.large._process is None
    own = vectors(LARGE, 3)
    there = processes.project(own, PCA)
    assert_same(projection.project(own, PCA), there)
    assert id_of(processes.large) != small
    by_layers = vectors(4, LARGE // 4, 3)
    with pytest.raises(StopError):
        processes.project_layers(by_layers, PCA, how="joint", on_progress=_stop_at_once)
    assert processes.project(vectors(9, 3), PCA).coordinates.shape == (9, 2)
    assert id_of(processes.small) == small


def _stop_at_once(stage: str, share: float) -> None:
    raise StopError(stage)


# The end


def is_running(pid: int) -> bool:
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    except ChildProcessError:
        return False


def test_stop_ends_the_children_and_they_start_again_when_needed(processes: MapProcesses) -> None:
    processes.project(vectors(9, 3), PCA)
    pids = [id_of(p) for p in (processes.small, processes.large) if p._process is not None]
    processes.stop()
    processes.stop()
    assert not any(map(is_running, pids))
    assert processes.project(vectors(9, 3), PCA).coordinates.shape == (9, 2)


def test_the_worker_ends_when_its_input_ends() -> None:
    worker = subprocess.run(
        [sys.executable, "-m", maps_worker.__name__],
        input="not JSON\n" + json.dumps({"kind": "map", "settings": {}, "folder": "/nowhere"}),
        capture_output=True,
        encoding="utf-8",
        cwd=ROOT,
        timeout=WAIT,
        check=True,
    )
    answers = [json.loads(line) for line in worker.stdout.splitlines()]
    assert [list(answer) for answer in answers] == [["failed"], ["failed"]]
    assert answers[0]["failed"].startswith("JSONDecodeError")


def test_no_room_on_the_disk_is_said(
    processes: MapProcesses, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    full = tmp_path / "full"
    full.mkdir()
    code = (
        "import resource, signal, sys, tempfile\n"
        "import numpy as np\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "from components.maps.process import MapError, MapProcesses\n"
        "from components.analysis.projection import MapSettings\n"
        "tempfile.tempdir = sys.argv[1]\n"
        "try:\n"
        "    MapProcesses.with_cache(None).project(np.ones((100, 100), 'f4'), MapSettings())\n"
        "except MapError as exc:\n"
        "    print(exc)\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", code, str(full)],
        capture_output=True,
        encoding="utf-8",
        cwd=ROOT,
        timeout=WAIT,
        check=True,
    )
    assert "no room on the disk" in said.stdout, said.stderr
    assert list(full.iterdir()) == []
