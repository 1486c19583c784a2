"""`python -m tests.load.soak`: very many mixed requests, and whether memory stays where it settles.

The app runs in front of its own service, each a process of this machine. Every answer is checked
(see `asking`). Prints the requests and the use of memory, and writes build/soak.json.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import numpy as np
import psutil

from tests.benchmarks.machine import write
from tests.load.asking import Ask, Tabs, asks
from tests.load.questions import questions
from tests.load.visitor import PATIENCE
from tests.support.app_server import ROOT, launch, launch_service

__all__ = ["Soak", "plateau", "soak", "table"]

MAX_REQUESTS = 200_000
MAX_SECONDS = 7_200.0
N_CLIENTS = 8
ALLOWED = 0.10
"""The share by which memory may exceed its `plateau`."""
OUT = ROOT / "build" / "soak.json"
_LOOK_SECONDS = 2.0
_TOLD = 5_000  # requests between two lines
_CACHE_MB = "64"  # full within the first minutes, so that anything else that grows can be seen


@dataclass
class Soak:
    """Counts and seconds by kind of request, wrong answers, and megabytes over time."""

    n: Counter[str] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    memory: dict[str, list[float]] = field(default_factory=dict)
    took: float = 0.0


def main() -> int:
    """Return 1 if an answer was wrong or memory rose above its plateau."""
    given = _parser().parse_args()
    found = asyncio.run(soak(given.requests, given.seconds, given.seed))
    print(f"\n{table(found)}")
    write(vars(found), OUT)
    is_flat = all(plateau(own)[1] <= ALLOWED for own in found.memory.values())
    return 0 if is_flat and not found.wrong else 1


async def soak(n_requests: float, seconds: float, seed: int = 0) -> Soak:
    """Send so many requests, for so long at most, to servers started for it."""
    found, left = Soak(), iter(range(1, int(n_requests) + 1))
    limits = httpx2.Limits(keepalive_expiry=2.0)  # servers close what is idle for 5 s
    own = httpx2.AsyncClient(trust_env=False, timeout=PATIENCE, limits=limits)
    async with _servers() as (servers, addresses), own as client:
        tabs = Tabs(addresses[0], questions())
        kinds = asks(client, tabs, *addresses)
        await tabs.warm()
        began = time.monotonic()
        watching = asyncio.create_task(_watch(found, servers))
        try:
            clients = (
                _ask_on(found, kinds, left, began + seconds, random.Random(f"{seed} {i}"))
                for i in range(N_CLIENTS)
            )
            await asyncio.gather(*clients)
        finally:
            watching.cancel()
            await tabs.close()
        found.took = time.monotonic() - began
    return found


def plateau(memory: Sequence[float]) -> tuple[float, float]:
    """The median of the second half, and how far the highest of its tenths is above it, as a share.

    Each tenth counts by its median, as an answer on its way is no growth.
    """
    tenths = [float(np.median(part)) for part in np.array_split(memory, 10) if len(part)]
    late = tenths[len(tenths) // 2 :] or [0.0]
    level = float(np.median(late))
    return level, (max(late) / level - 1 if level else 0.0)


def table(found: Soak) -> str:
    """The requests by kind, with number and time; memory; wrong answers."""
    lines = [f"{found.n.total():,} requests in {found.took:,.0f} s, each on average:"]
    for kind, n in found.n.most_common():
        lines.append(f"{n:>8,}  {1e3 * found.seconds[kind] / n:7,.1f} ms  {kind}")
    for name, own in found.memory.items():
        level, above = plateau(own)
        tenths = ", ".join(f"{own[(len(own) - 1) * i // 4]:,.0f}" for i in range(5))
        lines.append(f"{name}: {tenths} MB from start to end; {level:,.0f} MB in the second half,")
        lines.append(f"    at most {above:.1%} above that ({ALLOWED:.0%} allowed)")
    wrong = [f"{n} x {what}" for what, n in found.wrong.most_common(20)]
    return "\n".join([*lines, *(wrong or ["No answer was wrong."])])


@asynccontextmanager
async def _servers() -> AsyncIterator[tuple[Mapping[str, int], tuple[str, str]]]:
    """The processes of the app and of the service by name, and their addresses."""
    with tempfile.TemporaryDirectory(prefix="contextlens-soak-") as folder:
        env = {**os.environ, "CONTEXTLENS_DATA_DIR": folder, "CONTEXTLENS_CACHE_MB": _CACHE_MB}
        service = launch_service(Path(folder) / "service.log", env)
        try:
            service.wait()
            own = {**env, "CONTEXTLENS_SERVICE_URL": service.address}
            app = launch(ROOT / "app.py", Path(folder) / "app.log", own)
            try:
                app.wait()
                pids = {"app": app.process.pid, "service": service.process.pid}
                yield pids, (app.address, service.address)
            finally:
                app.stop()
        finally:
            service.stop()


async def _ask_on(
    found: Soak, kinds: Mapping[str, Ask], left: Iterator[int], end: float, rng: random.Random
) -> None:
    weights = [ask.weight for ask in kinds.values()]
    for number in left:
        if time.monotonic() > end:
            return
        (kind,) = rng.choices(list(kinds), weights)
        began = time.perf_counter()
        try:
            wrong = await kinds[kind].once(rng)
        except Exception as exc:  # noqa: BLE001 - counted, and told at the end
            wrong = f"{type(exc).__name__}: {exc}"
        found.n[kind] += 1
        found.seconds[kind] += time.perf_counter() - began
        if wrong:
            found.wrong[f"{kind}: {wrong}"[:300]] += 1
        if number % _TOLD == 0:
            held = ", ".join(f"{name} {own[-1]:,.0f} MB" for name, own in found.memory.items())
            print(f"{number:,} asked, {found.wrong.total()} wrong; {held}", flush=True)


async def _watch(found: Soak, servers: Mapping[str, int]) -> None:
    while True:
        for name, pid in servers.items():
            found.memory.setdefault(name, []).append(_megabytes(pid))
        await asyncio.sleep(_LOOK_SECONDS)


def _megabytes(pid: int) -> float:
    """Resident memory with children."""
    top = psutil.Process(pid)
    total = 0.0
    for process in (top, *top.children(recursive=True)):
        try:
            total += process.memory_info().rss / 1e6
        except psutil.Error:  # it ended meanwhile
            continue
    return total


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.load.soak", description=__doc__)
    add = parser.add_argument
    add("--requests", type=_up_to(MAX_REQUESTS), default=100_000)
    add("--seconds", type=_up_to(MAX_SECONDS), default=3_600.0, help="at most (3600)")
    add("--seed", type=int, default=0)
    return parser


def _up_to(most: float) -> Callable[[str], float]:
    def read(text: str) -> float:
        number = type(most)(text)
        if not 1 <= number <= most:
            raise argparse.ArgumentTypeError(f"{text} is not from 1 to {most:g}")
        return number

    return read


if __name__ == "__main__":
    sys.exit(main())
