"""Runs targets in bounded processes, starts another where one ends, and keeps what was found."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fuzz.child import HEADER, SLOT_BYTES
from tests.fuzz.registry import named

__all__ = ["BUILD", "Find", "Outcome", "repeat", "run"]

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "fuzz"
_ENVIRONMENT = {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "RUST_BACKTRACE": "0"}
_HANGS = 60.0  # seconds of the clock on one input, however busy the machine
_MOST_FINDS = 1_000  # of which only the first of a kind are kept


@dataclass(frozen=True)
class Find:
    """What one input showed that is not allowed."""

    target: str
    kind: str
    where: str
    trace: str
    path: Path


@dataclass
class Outcome:
    """What a target's run came to.

    Attributes:
        target: its name.
        n: inputs that were run.
        taken: those that were taken.
        refused: those refused with one of our sentences.
        ended: those that ended their process, where the app tells that in a sentence.
        seconds: processor seconds that the target itself took.
        processor: those that its processes took in all: inputs are made there too.
        wall: seconds on the clock.
        slowest: processor seconds of the slowest input.
        peak: bytes of memory that one input took at most.
        finds: the first of each kind and place; `n_finds` counts all.
    """

    target: str
    n: int = 0
    taken: int = 0
    refused: int = 0
    ended: int = 0
    seconds: float = 0.0
    processor: float = 0.0
    wall: float = 0.0
    slowest: float = 0.0
    peak: int = 0
    n_finds: int = 0
    finds: dict[tuple[str, str], Find] = field(default_factory=dict)

    def add(self, account: dict[str, Any]) -> None:
        """Counts what a process told of itself last."""
        for name in ("n", "taken", "refused", "seconds", "processor"):
            setattr(self, name, getattr(self, name) + account.get(name, 0))
        for name in ("slowest", "peak"):
            setattr(self, name, max(getattr(self, name), account.get(name, 0)))

    def find(self, kind: str, where: str, trace: str, content: bytes) -> None:
        """Keeps an input that showed something new; counts it in any case."""
        self.n_finds += 1
        if (kind, where) not in self.finds:
            path = _kept(self.target, kind, trace, content)
            self.finds[kind, where] = Find(self.target, kind, where, trace, path)


def run(target: str, *, n: int, seconds: float, seed: int, timed: bool = True) -> Outcome:
    """Runs a target's first `n` inputs of a seed, or fewer where `seconds` are over before."""
    outcome, begin, at = Outcome(target), time.monotonic(), 0
    while at < n and (left := seconds - (time.monotonic() - begin)) > 0:
        asked = {"start": at, "end": n, "seed": seed, "seconds": left, "timed": timed}
        ended_at = _process(target, asked, outcome)
        if ended_at is None or outcome.n_finds > _MOST_FINDS:
            break
        at = ended_at + 1
    outcome.wall = time.monotonic() - begin
    return outcome


def repeat(target: str, content: Path) -> Outcome:
    """Runs one input again."""
    outcome = Outcome(target)
    _process(target, {"start": 0, "content": str(content.resolve())}, outcome)
    return outcome


def _process(target: str, asked: dict[str, Any], outcome: Outcome) -> int | None:
    """Runs one process to its end; the number of the input that ended it, or None."""
    with tempfile.TemporaryDirectory() as folder:
        slot, told, errors = (Path(folder) / name for name in ("slot", "told", "errors"))
        with slot.open("wb") as file:
            file.write(HEADER.pack(-1, 0, 0, 0))
            file.truncate(SLOT_BYTES)
        request = json.dumps({**asked, "target": target, "slot": str(slot)})
        with told.open("wb") as out, errors.open("wb") as err:
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.fuzz.child", request],
                cwd=ROOT,
                env={**os.environ, **_ENVIRONMENT},
                stdout=out,
                stderr=err,
            )
            hung = _hung(process, slot)
        account = _account(told, outcome)
        if account.pop("done"):
            outcome.add(account)
            return None
        said = errors.read_text(errors="replace")[-3_000:]
        if process.returncode == 1:  # Python's own: what a target raises does not get that far
            raise RuntimeError(f"{target}: its inputs cannot be made.\n{said}")
        return _ended(slot, asked["start"], account, outcome, said, hung=hung)


def _hung(process: subprocess.Popen[bytes], slot: Path) -> bool:
    """Waits for a process; ends it, and says so, where one input holds it for too long."""
    since, seen = time.monotonic(), -2
    while True:
        try:
            process.wait(0.2)
        except subprocess.TimeoutExpired:
            number = _in_slot(slot)[0]
            if number != seen:
                since, seen = time.monotonic(), number
            elif time.monotonic() - since > _HANGS:
                process.kill()
                process.wait()
                return True
        else:
            return False


def _in_slot(slot: Path) -> tuple[int, bytes, dict[str, int]]:
    """The number and bytes of the input that is run, and what became of those before."""
    with slot.open("rb") as file:
        number, length, taken, refused = HEADER.unpack(file.read(HEADER.size))
        return number, file.read(length), {"taken": taken, "refused": refused}


def _account(told: Path, outcome: Outcome) -> dict[str, Any]:
    """What a process told of itself last; its finds are kept."""
    account: dict[str, Any] = {"done": False}
    for line in told.read_text().splitlines():
        said = json.loads(line)
        if "find" in said:
            outcome.find(**{**said["find"], "content": bytes.fromhex(said["find"]["content"])})
        else:
            account = said
    return account


def _ended(
    slot: Path, start: int, account: dict[str, Any], outcome: Outcome, said: str, *, hung: bool
) -> int:
    """The number of the input that ended a process, which is counted, or kept as a find."""
    number, content, counts = _in_slot(slot)
    outcome.add({**account, **counts, "n": number + 1 - start})
    if hung:
        outcome.find("hang", "", f"over {_HANGS:.0f} s on one input", content)
    elif named(outcome.target).dies:
        outcome.ended += 1
    else:
        outcome.find("end of the process", said[-80:], said, content)
    return number


def _kept(target: str, kind: str, trace: str, content: bytes) -> Path:
    """The file of a failing input, with a second one that tells how it failed and how to repeat."""
    BUILD.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256(content).hexdigest()[:12]
    path = BUILD / f"{target}-{kind.replace(' ', '_')}-{digest}.bin"
    path.write_bytes(content)
    shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    how = f"python -m tests.fuzz {target} --repeat {shown}"
    path.with_suffix(".txt").write_text(f"{how}\n\n{trace}\n", encoding="utf-8")
    return path
