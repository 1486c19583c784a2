"""Real worker processes: what they give, and how they are stopped, killed and replaced."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contextlens.core.errors import CorpusError, WorkerError
from contextlens.jobs import JobKind, Jobs, Processes, Report, Sentences, Task, Visitor
from tests.jobs.steps import WAIT, threads

ROOT = Path(__file__).parents[2]
STEPS = "tests.jobs.steps"
ABOUT = f"{STEPS}:about"


class EnoughError(Exception):
    """Raised to stop the work."""


@pytest.fixture(scope="module")
def processes() -> Iterator[Processes]:
    """One worker process, whose threads end with it."""
    before = set(threads())
    with Processes(1, env={"NUMBA_CACHE_DIR": "/somewhere"}, warm=(ABOUT, {})) as own:
        yield own
    for thread in set(threads()) - before:
        thread.join(WAIT)
        assert not thread.is_alive()


def ignore(stage: str, share: float) -> None:
    """Do nothing."""


def pid_of(processes: Processes, folder: Path) -> int:
    return int(processes.run(ABOUT, {}, ignore, folder=folder)["pid"])


def stop_at(stage: str) -> Callable[[str, float], None]:
    def report(now: str, share: float) -> None:
        if now == stage:
            raise EnoughError(now)

    return report


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_arrays_go_through_files_and_answers_come_back(
    processes: Processes, tmp_path: Path
) -> None:
    np.save(tmp_path / "array.npy", np.arange(5.0))
    told: list[tuple[str, float]] = []
    report = lambda stage, share: told.append((stage, share))  # noqa: E731
    found = processes.run(f"{STEPS}:total", {"factor": 2.5}, report, folder=tmp_path)
    assert found["total"] == 25
    np.testing.assert_array_equal(np.load(tmp_path / "doubled.npy"), 2 * np.arange(5.0))
    assert ("Adding up", 0) in told
    assert all(0 <= share <= 1 for _, share in told)


def test_it_is_a_plain_python_in_the_environment_asked_for_and_what_is_printed_does_no_harm(
    processes: Processes, tmp_path: Path
) -> None:
    found = processes.run(ABOUT, {}, ignore, folder=tmp_path)
    assert found["main"] is None  # the script of a page is not run once more
    assert not found["streamlit"]
    assert found["environment"]["NUMBA_CACHE_DIR"] == "/somewhere"
    assert found["pid"] == pid_of(processes, tmp_path)


def test_our_errors_come_through_others_are_logged_and_the_process_goes_on(
    processes: Processes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pid = pid_of(processes, tmp_path)
    with pytest.raises(CorpusError, match=r"^x is no corpus\.$"):
        processes.run(f"{STEPS}:refuse", {"name": "x"}, ignore, folder=tmp_path)
    with pytest.raises(WorkerError, match="the log says why"):
        processes.run(f"{STEPS}:fail", {}, ignore, folder=tmp_path)
    assert re.search(r"ZeroDivisionError at \S+steps\.py:\d+\n", caplog.text)
    with pytest.raises(WorkerError, match="the log says why"):
        processes.run(f"{STEPS}:nothing", {}, ignore, folder=tmp_path)
    assert "AttributeError" in caplog.text
    assert pid_of(processes, tmp_path) == pid


def test_a_task_that_reports_is_stopped_and_its_process_kept(
    processes: Processes, tmp_path: Path
) -> None:
    pid = pid_of(processes, tmp_path)
    own = tmp_path / "task"
    own.mkdir()
    with pytest.raises(EnoughError):
        processes.run(f"{STEPS}:go_on", {}, stop_at("Going on"), folder=own)
    assert pid_of(processes, tmp_path) == pid


@pytest.mark.slow
def test_a_slow_step_is_ended_with_its_process_which_is_replaced_and_warmed_up(
    processes: Processes, tmp_path: Path
) -> None:
    pid = pid_of(processes, tmp_path)
    own = tmp_path / "task"
    own.mkdir()
    with pytest.raises(EnoughError):
        processes.run(f"{STEPS}:sleep", {}, stop_at("Sleeping"), folder=own)
    assert not is_running(pid)
    end = time.monotonic() + WAIT
    while not processes._all[0].is_alive:
        assert time.monotonic() < end
        time.sleep(0.01)
    assert pid_of(processes, tmp_path) != pid


def test_one_that_dies_is_said_in_a_sentence_and_replaced(
    processes: Processes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pid = pid_of(processes, tmp_path)
    with pytest.raises(WorkerError, match=r"ended unexpectedly.*try again, with less"):
        processes.run(f"{STEPS}:die", {}, ignore, folder=tmp_path)
    assert "ended with 9" in caplog.text
    assert pid_of(processes, tmp_path) != pid


def test_one_that_is_killed_in_the_middle_is_said_too(tmp_path: Path) -> None:
    sentences = Sentences(died="The reader ended.")

    def kill(stage: str, share: float) -> None:
        process = own._all[0]._process
        if stage == "Going on" and process is not None:
            os.kill(process.pid, signal.SIGKILL)

    with (
        Processes(1, sentences=sentences) as own,
        pytest.raises(WorkerError, match=r"^The reader ended\.$"),
    ):
        own.run(f"{STEPS}:go_on", {}, kill, folder=tmp_path)


def test_one_that_died_between_two_tasks_is_replaced_unseen(
    processes: Processes, tmp_path: Path
) -> None:
    pid = pid_of(processes, tmp_path)
    os.kill(pid, signal.SIGKILL)
    assert pid_of(processes, tmp_path) != pid


def test_who_waits_for_a_process_hears_it_and_can_leave(
    processes: Processes, tmp_path: Path
) -> None:
    begun, enough = threading.Event(), threading.Event()
    own = tmp_path / "task"
    own.mkdir()

    def long(stage: str, share: float) -> None:
        begun.set()
        if enough.is_set():
            raise EnoughError

    def ask() -> None:
        with pytest.raises(EnoughError):
            processes.run(f"{STEPS}:go_on", {}, long, folder=own)

    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(ask)
        assert begun.wait(WAIT)
        with pytest.raises(EnoughError, match="Getting ready"):
            processes.run(ABOUT, {}, stop_at("Getting ready"), folder=tmp_path)
        enough.set()
        other.result(WAIT)


@pytest.mark.slow
def test_two_work_at_once(tmp_path: Path) -> None:
    enough = threading.Event()
    begun = threading.Barrier(3)

    def ask(i: int) -> None:
        own = tmp_path / str(i)
        own.mkdir()
        heard: list[str] = []

        def report(stage: str, share: float) -> None:
            if stage == "Going on" and not heard:
                heard.append(stage)
                begun.wait(WAIT)
            if enough.is_set():
                raise EnoughError

        with pytest.raises(EnoughError):
            both.run(f"{STEPS}:go_on", {}, report, folder=own)

    with Processes(2) as both, ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(ask, i) for i in range(2)]
        begun.wait(WAIT)
        enough.set()
        for each in asked:
            each.result(WAIT)


def test_closed_ones_end_whatever_they_do_and_stay_closed(tmp_path: Path) -> None:
    own = Processes(1, warm=(ABOUT, {}))
    own.warm_up()
    pid = pid_of(own, tmp_path)

    def close(stage: str, share: float) -> None:
        if stage == "Sleeping":
            own.close()

    with pytest.raises(WorkerError, match="shutting down"):
        own.run(f"{STEPS}:sleep", {}, close, folder=tmp_path)
    assert not is_running(pid)
    with pytest.raises(WorkerError, match="shutting down"):
        pid_of(own, tmp_path)


@pytest.mark.slow
def test_nothing_is_left_when_the_server_ends(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from contextlens.jobs import Processes\n"
        f"found = Processes(1).run({ABOUT!r}, {{}}, lambda *_: None, folder=Path(sys.argv[1]))\n"
        "print(found['pid'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=WAIT,
        check=True,
    )
    assert not is_running(int(done.stdout))
    assert "Traceback" not in done.stderr


def test_a_job_that_asks_a_process_is_cancelled_at_once_and_the_process_kept(
    processes: Processes, tmp_path: Path
) -> None:
    pid = pid_of(processes, tmp_path)
    begun = threading.Event()
    own = tmp_path / "task"
    own.mkdir()

    def draw(report: Report) -> Any:
        def told(stage: str, share: float) -> None:
            report(stage, share)
            begun.set()

        return processes.run(f"{STEPS}:go_on", {}, told, folder=own)

    jobs, me = Jobs(10**6), Visitor("ann")
    job = jobs.start(Task("a", JobKind("maps", n_at_once=1), draw), me)
    assert begun.wait(WAIT)
    job.cancel(me)
    assert job.look(me).state == "cancelled"
    assert job.wait(WAIT)
    assert job.was_stopped
    assert pid_of(processes, tmp_path) == pid
