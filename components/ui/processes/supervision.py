"""Runs a plan: the processes of the app, the proxy before them, and all of their ends.

What ends by itself is started again; a signal restarts the app's processes one after the other
while the rest serve; at the end nothing is left behind.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil

from components.core.errors import SettingsError
from components.ui.processes.child import PAUSES, Child, Command
from components.ui.processes.plan import Plan
from components.ui.processes.proxy import configuration

__all__ = ["RESTART", "run"]

RESTART = "SIGUSR1"
"""The signal that restarts the app's processes one by one (where there are signals)."""
_ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_OFTEN = 0.2  # seconds
_RELOAD_SECONDS = 10.0
_READY_SECONDS = 180.0  # then a restart goes on: what a process lacks, the others may lack too


def run(plan: Plan, say: Callable[[str], None]) -> None:
    """Serve until a signal ends it.

    Raises:
        SettingsError: the proxy does not take its configuration.
        GivenUpError: something ended again and again.
    """
    with TemporaryDirectory(prefix="contextlens-serve-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o711)  # a proxy that root starts works as somebody else
        asyncio.run(_Server(plan, Path(folder), say).serve())


class _Server:
    """All processes of a plan."""

    def __init__(
        self,
        plan: Plan,
        folder: Path,
        say: Callable[[str], None],
        pauses: Sequence[float] = PAUSES,
    ) -> None:
        self._plan, self._folder, self._say = plan, folder, say
        self._apps = [Child(plan.app(i), say, pauses) for i in range(len(plan.ports))]
        self._proxy = Child(self._nginx(), say, pauses)
        self._over, self._wanted = asyncio.Event(), asyncio.Event()

    async def serve(self) -> None:
        """See `run`."""
        self._write(frozenset())
        self._check()
        self._listen()
        children = [self._proxy, *self._apps]
        work: list[Coroutine[Any, Any, Any]] = [child.keep() for child in children]
        tasks = [asyncio.create_task(each) for each in (*work, self._restarts(), self._announce())]
        over = asyncio.create_task(self._over.wait())
        try:
            await _first_to_end_or_fail(over, tasks)
        finally:
            await self._proxy.end()
            await asyncio.gather(*(app.end() for app in self._apps))
            for task in (over, *tasks):
                task.cancel()
            await asyncio.gather(over, *tasks, return_exceptions=True)

    def _nginx(self, *more: str) -> Command:
        argv = (self._plan.nginx, "-e", "stderr", "-c", str(self._folder / "nginx.conf"), *more)
        return Command("The proxy", argv, os.environ, is_handed_on=True)

    def _write(self, leaving: frozenset[int]) -> None:
        """The proxy's configuration, whole or not at all."""
        own = configuration(self._plan.proxy(self._folder, leaving))
        new = self._folder / "nginx.conf.new"
        new.write_text(own, encoding="utf-8")
        new.replace(self._folder / "nginx.conf")

    def _check(self) -> None:
        """Pass where nginx takes its configuration, and can listen.

        Raises:
            SettingsError: what it says otherwise.
        """
        done = subprocess.run(
            [*self._nginx("-t").argv], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SettingsError(f"nginx does not take its configuration: {done.stderr.strip()}")

    def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        for number in _ENDS:
            loop.add_signal_handler(number, self._over.set)
        loop.add_signal_handler(signal.Signals[RESTART], self._wanted.set)

    async def _announce(self) -> None:
        await asyncio.gather(*(self._until(i, "/healthz") for i in range(len(self._apps))))
        n = len(self._apps)
        processes = "1 process" if n == 1 else f"{n} processes"
        self._say(f"Contextlens runs on {self._plan.address} in {processes} (Ctrl+C stops it).")

    async def _restarts(self) -> None:
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            for i, app in enumerate(self._apps):
                self._say(f"{app.command.name} restarts: its visitors may finish.")
                await self._reconfigure(frozenset({i}))
                await self._until_left(i)
                await app.renew()
                with suppress(TimeoutError):
                    async with asyncio.timeout(_READY_SECONDS):
                        await self._until(i, "/readyz")
            await self._reconfigure(frozenset())
            self._say("All processes were restarted.")

    async def _reconfigure(self, leaving: frozenset[int]) -> None:
        """Have the proxy work by another configuration, and wait until all of it does."""
        workers = _children(self._proxy.pid)
        self._write(leaving)
        self._proxy.send(signal.SIGHUP)
        with suppress(TimeoutError):
            async with asyncio.timeout(_RELOAD_SECONDS):
                while any(map(_takes_visitors, workers)):
                    await asyncio.sleep(_OFTEN)

    async def _until_left(self, i: int) -> None:
        """Until no browser is connected to a process, or it has taken too long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._plan.drain_seconds):
                while self._n_connections(i):
                    await asyncio.sleep(_OFTEN)

    def _n_connections(self, i: int) -> int:
        pid = self._apps[i].pid
        if pid is None:
            return 0
        with suppress(psutil.Error):
            found = psutil.Process(pid).net_connections("tcp")
            own = [each for each in found if each.laddr and each.laddr.port == self._plan.ports[i]]
            return sum(each.status == psutil.CONN_ESTABLISHED for each in own)
        return 0

    async def _until(self, i: int, path: str) -> None:
        """Until a process says yes; for ever where it does not: `keep` gives it up, not this."""
        while not await asyncio.to_thread(_says_yes, self._plan.ports[i], path):
            await asyncio.sleep(_OFTEN)


def _children(pid: int | None) -> list[psutil.Process]:
    with suppress(psutil.Error):
        return [] if pid is None else list(psutil.Process(pid).children())
    return []


def _takes_visitors(worker: psutil.Process) -> bool:
    """Not one of nginx's that only waits for its last visitors to go: its title says so."""
    try:
        is_there = worker.is_running() and worker.status() != psutil.STATUS_ZOMBIE
        return is_there and "shutting down" not in " ".join(worker.cmdline())
    except psutil.Error:
        return False


def _says_yes(port: int, path: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


async def _first_to_end_or_fail(
    over: asyncio.Task[Any], tasks: Sequence[asyncio.Task[Any]]
) -> None:
    """Wait until it is over, or until one of the tasks failed, and raise what it failed with."""
    waiting = {over, *tasks}
    while not over.done():
        done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
