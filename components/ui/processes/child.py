"""One process that runs for as long as it is wanted: started again, with a pause, when it ends."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from components.core.errors import ContextlensError

__all__ = ["PAUSES", "WINDOW", "Child", "Command", "GivenUpError"]

PAUSES = (1.0, 2.0, 4.0, 8.0)
"""Seconds before it is started again, the first time, the second, ...; then it is given up."""
WINDOW = 600.0
"""Seconds after which an end is forgotten."""
_END_SECONDS = 10.0  # for what is under way, then it is killed
_DIES_WITH_PARENT = 1  # PR_SET_PDEATHSIG


class GivenUpError(ContextlensError):
    """A process ended again and again."""


@dataclass(frozen=True)
class Command:
    """What to start.

    Attributes:
        name: in sentences.
        argv: the program and its arguments.
        env: all of its environment.
        is_handed_on: whether what it prints is handed on line by line. nginx opens its log by name,
            which the socket that systemd gives as output does not allow.
    """

    name: str
    argv: Sequence[str]
    env: Mapping[str, str]
    is_handed_on: bool = False


class Child:
    """A process that is kept running by `keep`.

    Args:
        command: what to start.
        say: is told in a sentence what happens to it.
        pauses: see `PAUSES`.
    """

    def __init__(
        self, command: Command, say: Callable[[str], None], pauses: Sequence[float] = PAUSES
    ) -> None:
        self.command = command
        self._say, self._pauses = say, pauses
        self._process: asyncio.subprocess.Process | None = None
        self._is_over = self._is_renewed = False
        self._starting = asyncio.Lock()  # whoever ends one ends also what is just being started
        self._ends: deque[float] = deque(maxlen=len(pauses) + 1)

    @property
    def pid(self) -> int | None:
        """Of the one that runs now; None between two."""
        running = self._process is not None and self._process.returncode is None
        return self._process.pid if running and self._process else None

    async def keep(self) -> None:
        """Run until `end`.

        Raises:
            GivenUpError: it ended by itself as often as there are pauses, and once more.
        """
        while not self._is_over:
            code = await self._run()
            if self._is_over:
                return
            if self._is_renewed:
                self._is_renewed = False
                continue
            await self._pause(code)

    async def renew(self) -> None:
        """End it, so that `keep` starts it again at once."""
        async with self._starting:
            self._is_renewed = self.pid is not None
        await self._end()

    async def end(self) -> None:
        """End it for good, whatever it is doing."""
        self._is_over = True
        await self._end()

    def send(self, number: signal.Signals) -> None:
        """Send a signal, where it runs."""
        if self.pid is not None:
            os.kill(self.pid, number)

    async def _run(self) -> int:
        own = self.command
        async with self._starting:
            self._process = await asyncio.create_subprocess_exec(
                *own.argv,
                env=dict(own.env),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE if own.is_handed_on else None,
                start_new_session=True,  # Ctrl+C is for whoever supervises it
                preexec_fn=_die_with_parent if sys.platform == "linux" else None,
            )
        pid, printed = self._process.pid, asyncio.create_task(_hand_on(self._process.stdout))
        try:
            return await self._process.wait()
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)  # what it started and left behind
            await printed

    async def _end(self) -> None:
        async with self._starting:
            process = self._process
        if process is None or process.returncode is not None:
            return
        process.terminate()
        try:
            await asyncio.wait_for(process.wait(), _END_SECONDS)
        except TimeoutError:
            process.kill()
            await process.wait()

    async def _pause(self, code: int) -> None:
        now = time.monotonic()
        self._ends.append(now)
        n = sum(now - end < WINDOW for end in self._ends)
        how = f"signal {-code}" if code < 0 else f"status {code}"
        if n > len(self._pauses):
            raise GivenUpError(
                f"{self.command.name} ended {n} times within {WINDOW / 60:.0f} minutes, last with "
                f"{how}, and is not started again. Look above for what it said."
            )
        seconds = self._pauses[n - 1]
        self._say(f"{self.command.name} ended ({how}). It starts again in {seconds:g} s.")
        await asyncio.sleep(seconds)


async def _hand_on(printed: asyncio.StreamReader | None) -> None:
    while printed is not None and (line := await printed.readline()):
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()


def _die_with_parent() -> None:
    """Between fork and exec: should whoever supervises it be killed, it ends too."""
    ctypes.CDLL(None).prctl(_DIES_WITH_PARENT, signal.SIGTERM)
