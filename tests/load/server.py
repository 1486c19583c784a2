"""The app under load: started from any checkout, brought to rest, its processes measured."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import psutil

from tests.load.questions import questions
from tests.load.visitor import visit
from tests.support.app_server import ROOT, AppServer, launch, launch_several

__all__ = ["App", "Footprint", "served"]

_PAGE = "meaning"
_WARM_SECONDS = 240.0
_AT_REST = 0.1  # of one processor


@dataclass(frozen=True)
class Footprint:
    """The resources that an app holds."""

    mb: float
    threads: int
    files: int


@dataclass(frozen=True)
class App:
    """A running app that is warm."""

    name: str
    address: str
    page: str
    server: AppServer

    def footprint(self) -> Footprint:
        """Resident memory, threads and open files (sockets too), children included."""
        mb, threads, files = 0.0, 0, 0
        for process in _tree(self.server):
            with process.oneshot():
                mb += process.memory_info().rss / 1e6
                threads += process.num_threads()
                files += process.num_fds() if psutil.POSIX else process.num_handles()
        return Footprint(mb, threads, files)

    def processor_seconds(self) -> float:
        """The app's processor time."""
        spent = [process.cpu_times() for process in _tree(self.server)]
        return sum(times.user + times.system for times in spent)

    async def rest(self) -> None:
        """Wait until no background work is left."""
        deadline = time.monotonic() + _WARM_SECONDS
        while time.monotonic() < deadline:
            before = self.processor_seconds()
            await asyncio.sleep(1.0)
            if self.processor_seconds() - before < _AT_REST:
                return
        raise RuntimeError(f"{self.name} does not come to rest:\n{self.server.report()}")


@asynccontextmanager
async def served(checkout: Path, processes: int = 1) -> AsyncIterator[App]:
    """The app of a checkout, in a data folder of its own, warm and at rest.

    Args:
        checkout: its folder.
        processes: several stand behind nginx, as `make serve-app` starts them.

    Raises:
        RuntimeError: it does not start, or does not come to rest.
    """
    if not (checkout / f"pages/{_PAGE}.py").is_file():
        raise RuntimeError(f"{checkout} is no checkout of Contextlens: it has no page Meaning.")
    with tempfile.TemporaryDirectory(prefix="contextlens-load-") as folder:
        env = {**os.environ, "CONTEXTLENS_DATA_DIR": folder}
        log = Path(folder) / "app.log"
        if processes > 1:
            server = launch_several(processes, log, env, root=checkout)
        else:
            server = launch(checkout / "app.py", log, env, root=checkout)
        try:
            server.wait()
            app = App("this" if checkout == ROOT else checkout.name, server.address, _PAGE, server)
            for _ in range(processes):  # new visitors go to one process after the other
                await _warm(app)
            yield app
        finally:
            server.stop()


async def _warm(app: App) -> None:
    """Load the model, measure its baseline and compile what maps need.

    Visit as people do: first the front page, then the page itself.
    """
    first = next(islice(questions(), 1))
    deadline = time.monotonic() + _WARM_SECONDS
    async with visit(app.address, "") as visitor:
        await visitor.ask("")
    await app.rest()
    async with visit(app.address, app.page) as visitor:
        while time.monotonic() < deadline:
            answer = await visitor.ask(first.query)
            if not answer.error and answer.is_settled:
                break
            await asyncio.sleep(0.5)
        else:
            raise RuntimeError(f"{app.name} does not answer: {answer.error}\n{app.server.report()}")
    await app.rest()


def _tree(server: AppServer) -> list[psutil.Process]:
    """Its processes, without those that have ended."""
    top = psutil.Process(server.process.pid)
    return [p for p in (top, *top.children(recursive=True)) if p.status() != psutil.STATUS_ZOMBIE]
