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
from functools import partial
from multiprocessing import spawn
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from contextlens.core.errors import CorpusError, WorkerError
from contextlens.jobs import JobKind, Jobs, OnProgress, Processes, Report, Sentences, Task, Visitor
from contextlens.jobs import processes as module
from tests.jobs import steps
from tests.jobs.steps import WAIT, threads

ROOT = Path(__file__).parents[2]


class EnoughError(Exception):
    """Raised to stop the work."""


@pytest.fixture(scope="module")
def processes() -> Iterator[Processes]:
    """One worker process, whose threads end with it."""
    before = set(threads())
    with Processes(1, warm=warm) as own:
        yield own
    for thread in set(threads()) - before:
        thread.join(WAIT)
        assert not thread.is_alive()


def ignore(stage: str, share: float) -> None:
    """Do nothing."""


def warm(report: OnProgress) -> None:
    """Get ready."""


def pid_of(processes: Processes) -> int:
    return int(processes.run(steps.about, ignore)["pid"])


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


def test_arrays_go_there_and_come_back(processes: Processes) -> None:
    told: list[tuple[str, float]] = []
    report = lambda stage, share: told.append((stage, share))  # noqa: E731
    result, doubled = processes.run(partial(steps.total, np.arange(5.0), 2.5), report)
    assert result == 25
    np.testing.assert_array_equal(doubled, 2 * np.arange(5.0))
    assert ("Adding up", 0) in told
    assert all(0 <= share <= 1 for _, share in told)


def test_a_page_does_not_run_once_more_in_a_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Streamlit makes a page's script `__main__`, which "spawn" runs in each process."""
    page = tmp_path / "page.py"
    page.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n", encoding="utf-8")
    main = ModuleType("__main__")
    main.__file__ = str(page)
    monkeypatch.setitem(sys.modules, "__main__", main)
    with Processes(1) as own:
        facts = own.run(steps.about, ignore)
    assert facts["main"] is None
    assert not (tmp_path / "ran").exists()


def test_a_process_imports_no_large_library_and_stays(processes: Processes) -> None:
    facts = processes.run(steps.about, ignore)
    assert not facts["libraries"]
    assert facts["pid"] == pid_of(processes)


def test_our_errors_come_through_others_are_logged_and_the_process_goes_on(
    processes: Processes, caplog: pytest.LogCaptureFixture
) -> None:
    pid = pid_of(processes)
    with pytest.raises(CorpusError, match=r"^x is no corpus\.$"):
        processes.run(partial(steps.refuse, "x"), ignore)
    with pytest.raises(WorkerError, match="the log says why"):
        processes.run(steps.fail, ignore)
    assert re.search(r"ZeroDivisionError at \S+steps\.py:\d+\n", caplog.text)
    assert pid_of(processes) == pid


@pytest.mark.parametrize("what", ["result", "error"])
def test_what_cannot_be_sent_is_logged_and_the_process_goes_on(
    processes: Processes, what: str, caplog: pytest.LogCaptureFixture
) -> None:
    pid = pid_of(processes)
    with pytest.raises(WorkerError, match="the log says why"):
        processes.run(partial(steps.give, what), ignore)
    assert "of the result" in caplog.text
    assert pid_of(processes) == pid


def test_processes_of_others_get_their_main_module() -> None:
    prepared = {"sys_path": [], "init_main_from_path": "theirs.py"}
    assert spawn.get_preparation_data is module._without_main
    assert module._without_main("SpawnProcess-1", lambda _: prepared) == prepared
    assert module._without_main(module._NAME, lambda _: prepared) == {"sys_path": []}


def test_a_task_that_reports_is_stopped_and_its_process_kept(processes: Processes) -> None:
    pid = pid_of(processes)
    with pytest.raises(EnoughError):
        processes.run(steps.go_on, stop_at("Going on"))
    assert pid_of(processes) == pid


def test_a_task_is_stopped_while_its_process_starts_and_while_it_is_loaded() -> None:
    with Processes(1) as own:
        with pytest.raises(EnoughError):
            own.run(steps.about, stop_at("Starting"))
        pid = own._all[0].pid
        assert pid_of(own) == pid  # it went on starting
        start = time.monotonic()
        with pytest.raises(EnoughError):
            own.run(steps.SlowToLoad(WAIT), stop_at("Starting"))
        assert time.monotonic() - start < WAIT / 5
        assert own.run(steps.SlowToLoad(0.5), ignore)["pid"] != pid


def test_a_process_that_dies_while_it_loads_a_task_is_said(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def kill(stage: str, share: float) -> None:
        if own._all[0].pid is not None:
            os.kill(own._all[0].pid, signal.SIGKILL)

    with Processes(1) as own, pytest.raises(WorkerError, match="ended unexpectedly"):
        own.run(steps.SlowToLoad(WAIT), kill)
    assert "A worker process ended with" in caplog.text


def test_a_slow_step_is_ended_with_its_process_which_is_replaced_and_warmed_up(
    processes: Processes,
) -> None:
    pid = pid_of(processes)
    with pytest.raises(EnoughError):
        processes.run(steps.sleep, stop_at("Sleeping"))
    assert not is_running(pid)
    end = time.monotonic() + WAIT
    while not processes._all[0].is_alive:
        assert time.monotonic() < end
        time.sleep(0.01)
    assert pid_of(processes) != pid


def test_one_that_dies_is_said_in_a_sentence_and_replaced(
    processes: Processes, caplog: pytest.LogCaptureFixture
) -> None:
    pid = pid_of(processes)
    with pytest.raises(WorkerError, match=r"ended unexpectedly.*try again, with less"):
        processes.run(steps.die, ignore)
    assert "ended with -9" in caplog.text
    assert pid_of(processes) != pid


def test_one_that_is_killed_in_the_middle_is_said_too() -> None:
    sentences = Sentences(died="The reader ended.")

    def kill(stage: str, share: float) -> None:
        if stage == "Going on" and own._all[0].pid is not None:
            os.kill(own._all[0].pid, signal.SIGKILL)

    with (
        Processes(1, sentences=sentences) as own,
        pytest.raises(WorkerError, match=r"^The reader ended\.$"),
    ):
        own.run(steps.go_on, kill)


def test_one_that_died_between_two_tasks_is_replaced_unseen(processes: Processes) -> None:
    pid = pid_of(processes)
    os.kill(pid, signal.SIGKILL)
    assert pid_of(processes) != pid


def test_who_waits_for_a_process_hears_it_and_can_leave(processes: Processes) -> None:
    begun, enough = threading.Event(), threading.Event()

    def long(stage: str, share: float) -> None:
        begun.set()
        if enough.is_set():
            raise EnoughError

    def ask() -> None:
        with pytest.raises(EnoughError):
            processes.run(steps.go_on, long)

    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(ask)
        assert begun.wait(WAIT)
        with pytest.raises(EnoughError, match="Getting ready"):
            processes.run(steps.about, stop_at("Getting ready"))
        enough.set()
        other.result(WAIT)


def test_two_work_at_once() -> None:
    enough = threading.Event()
    begun = threading.Barrier(3)

    def ask() -> None:
        heard: list[str] = []

        def report(stage: str, share: float) -> None:
            if stage == "Going on" and not heard:
                heard.append(stage)
                begun.wait(WAIT)
            if enough.is_set():
                raise EnoughError

        with pytest.raises(EnoughError):
            both.run(steps.go_on, report)

    with Processes(2) as both, ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(ask) for _ in range(2)]
        begun.wait(WAIT)
        enough.set()
        for each in asked:
            each.result(WAIT)


def test_closed_ones_end_whatever_they_do_and_stay_closed() -> None:
    own = Processes(1, warm=warm)
    own.warm_up()
    pid = pid_of(own)

    def close(stage: str, share: float) -> None:
        if stage == "Sleeping":
            own.close()

    with pytest.raises(WorkerError, match="shutting down"):
        own.run(steps.sleep, close)
    assert not is_running(pid)
    with pytest.raises(WorkerError, match="shutting down"):
        pid_of(own)


@pytest.mark.parametrize(
    "end", ["", "os.kill(os.getpid(), signal.SIGKILL)"], ids=["ends", "is killed"]
)
@pytest.mark.parametrize("task", ["about", "sleep"], ids=["idle", "busy"])
def test_nothing_is_left_when_the_server(task: str, end: str) -> None:
    code = (
        "import os, signal, threading; from contextlens.jobs import Processes\n"
        "from tests.jobs import steps\n"
        "processes, begun = Processes(1), threading.Event()\n"
        "def told(stage, share): stage == 'Sleeping' and begun.set()\n"
        "processes.run(steps.about, told)\n"
        f"work = threading.Thread(target=processes.run, args=(steps.{task}, told), daemon=True)\n"
        f"work.start(); {task == 'sleep'} and begun.wait()\n{end}\n"
    )
    done = subprocess.run(  # returns when no process has its output
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=WAIT,
        check=False,
    )
    assert done.returncode == (-signal.SIGKILL if end else 0)
    assert "Traceback" not in done.stderr


def test_a_job_that_asks_a_process_is_cancelled_at_once_and_the_process_kept(
    processes: Processes,
) -> None:
    pid = pid_of(processes)
    begun = threading.Event()

    def draw(report: Report) -> Any:
        def told(stage: str, share: float) -> None:
            report(stage, share)
            begun.set()

        return processes.run(steps.go_on, told)

    jobs, me = Jobs(10**6), Visitor("ann")
    job = jobs.start(Task("a", JobKind("maps", n_at_once=1), draw), me)
    assert begun.wait(WAIT)
    job.cancel(me)
    assert job.poll(me).state == "cancelled"
    assert job.wait(WAIT)
    assert job.was_stopped
    assert pid_of(processes) == pid
