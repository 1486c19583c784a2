"""A process that is kept running, and ended with all that it started."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from components.ui.processes.child import Child, Command, GivenUpError
from tests.support.loop import alone

SECONDS = 60.0
SLEEPS = "echo $$ >> $PIDS; exec sleep 600"


def child(tmp_path: Path, script: str, said: list[str], pauses: tuple[float, ...]) -> Child:
    env = {"PATH": os.environ["PATH"], "PIDS": str(tmp_path / "pids")}
    return Child(Command("Process 1", ("sh", "-c", script), env), said.append, pauses)


async def pids(tmp_path: Path, n: int) -> list[int]:
    """Those of the first so many that were started, once they were."""
    path = tmp_path / "pids"
    while not path.exists() or len(path.read_text().split()) < n:
        await asyncio.sleep(0.01)
    return [int(pid) for pid in path.read_text().split()]


def test_what_ends_by_itself_starts_again_after_longer_pauses_and_is_given_up(
    tmp_path: Path,
) -> None:
    said: list[str] = []
    kept = child(tmp_path, "echo x >> $PIDS; exit 3", said, (0.001, 0.002))
    with pytest.raises(GivenUpError, match="ended 3 times within 10 minutes, last with status 3"):
        alone(kept.keep())
    assert (tmp_path / "pids").read_text().split() == ["x"] * 3
    assert said == [
        "Process 1 ended (status 3). It starts again in 0.001 s.",
        "Process 1 ended (status 3). It starts again in 0.002 s.",
    ]


def test_one_that_was_killed_starts_again(tmp_path: Path) -> None:
    said: list[str] = []
    kept = child(tmp_path, SLEEPS, said, (0.001,))

    async def kill_it() -> list[int]:
        task = asyncio.create_task(kept.keep())
        (first,) = await pids(tmp_path, 1)
        os.kill(first, signal.SIGKILL)
        both = await pids(tmp_path, 2)
        await kept.end()
        await task
        return both

    both = alone(kill_it())
    assert said == ["Process 1 ended (signal 9). It starts again in 0.001 s."]
    assert not any(map(psutil.pid_exists, both))


@pytest.mark.parametrize("ended", ["end", "renew"])
def test_one_that_is_just_being_started_ends_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ended: str
) -> None:
    kept = child(tmp_path, SLEEPS, [], ())
    start = asyncio.create_subprocess_exec

    async def slow(*given: Any, **settings: Any) -> asyncio.subprocess.Process:
        process = await start(*given, **settings)
        await asyncio.sleep(0.3)  # it runs, and nobody has heard of it
        return process

    monkeypatch.setattr("components.ui.processes.child.asyncio.create_subprocess_exec", slow)

    async def end() -> list[int]:
        task = asyncio.create_task(kept.keep())
        found = await pids(tmp_path, 1)
        await getattr(kept, ended)()
        if ended == "renew":
            found = await pids(tmp_path, 2)
            await kept.end()
        await asyncio.wait_for(task, SECONDS)
        return found

    assert not any(map(psutil.pid_exists, alone(end())))


@pytest.mark.slow
def test_one_that_is_renewed_starts_again_at_once_and_nobody_counts_it(tmp_path: Path) -> None:
    said: list[str] = []
    kept = child(tmp_path, SLEEPS, said, ())

    async def renew() -> int:
        task = asyncio.create_task(kept.keep())
        for n in range(1, 4):
            await pids(tmp_path, n)
            await kept.renew()
        found = await pids(tmp_path, 4)
        await kept.end()
        await task
        return len(set(found))

    assert alone(renew()) == 4
    assert said == []


@pytest.mark.slow
def test_its_end_takes_along_what_it_started(tmp_path: Path) -> None:
    kept = child(tmp_path, "sleep 600 & echo $! >> $PIDS; exec sleep 600", [], ())

    async def end() -> int:
        task = asyncio.create_task(kept.keep())
        (grandchild,) = await pids(tmp_path, 1)
        await kept.end()
        await task
        return grandchild

    grandchild = alone(end())
    _, alive = psutil.wait_procs(_process(grandchild), SECONDS)
    assert alive == []


def test_what_a_proxy_prints_is_handed_on(tmp_path: Path) -> None:
    code = (
        "import asyncio, os; from components.ui.processes.child import Child, Command; "
        "own = Command('x', ('sh', '-c', 'echo one; echo two'), os.environ, is_handed_on=True)\n"
        "async def main():\n"
        "    kept = Child(own, print, ())\n"
        "    await kept._run()\n"
        "asyncio.run(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[3],
    )
    assert done.stdout.split() == ["one", "two"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has such a signal")
def test_it_ends_with_whoever_supervises_it_even_if_that_one_is_killed(tmp_path: Path) -> None:
    code = (
        "import asyncio, os; from components.ui.processes.child import Child, Command; "
        "own = Command('x', ('sh', '-c', 'echo $$; exec sleep 600'), os.environ); "
        "asyncio.run(Child(own, print, ()).keep())"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=Path(__file__).parents[3]
    ) as supervisor:
        assert supervisor.stdout is not None
        kept = _process(int(supervisor.stdout.readline()))
        supervisor.kill()
        _, alive = psutil.wait_procs(kept, SECONDS)
        assert alive == []


def _process(pid: int) -> list[psutil.Process]:
    try:
        return [psutil.Process(pid)]
    except psutil.NoSuchProcess:
        return []
