"""The process that runs a target's inputs: bounded in memory, watched from outside.

`python -m tests.fuzz.child`, started by `running`. Before each input its number and bytes stand in
a mapped file, so that what ends this process, or holds it for ever, can be told afterwards. What it
finds goes to standard output, one JSON object a line.
"""

from __future__ import annotations

import gc
import json
import logging
import mmap
import os
import re
import resource
import struct
import sys
import time
import traceback
import warnings
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fuzz.inputs import inputs
from tests.fuzz.registry import named
from tests.fuzz.target import MEGABYTE, BrokenError, Target, judge

__all__ = ["HEADER", "SLOT_BYTES", "main"]

HEADER = struct.Struct("<qqqq")  # the input's number and length; how many were taken, refused
SLOT_BYTES = HEADER.size + 16 * MEGABYTE
_MORE_ADDRESSES = 1_500 * MEGABYTE
_SLOW = 2.0  # seconds of this process, so that a busy machine is no find
_FLUSH = 1.0  # seconds between two accounts
_STATUS = Path("/proc/self/status")  # of Linux, whose ru_maxrss begins with the parent's
_CLEAR = Path("/proc/self/clear_refs")
_UNIT = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss


@dataclass
class _Account:
    """What a run of inputs came to so far."""

    n: int = 0
    taken: int = 0
    refused: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    peak: int = 0
    processor: float = 0.0


def main() -> None:
    """Runs the inputs that the first argument asks for."""
    asked: dict[str, Any] = json.loads(sys.argv[1])
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    target = named(asked["target"])
    with Path(asked["slot"]).open("r+b") as file:
        slot = mmap.mmap(file.fileno(), SLOT_BYTES)
    _bound()
    if "content" in asked:
        _one(target, slot, Path(asked["content"]).read_bytes())
    else:
        _run(target, slot, asked)


def _bound() -> None:
    """As many addresses as there are now and some more: a bomb raises MemoryError, or aborts."""
    gc.collect()
    status = Path("/proc/self/statm")
    now = int(status.read_text().split()[0]) * resource.getpagesize() if status.exists() else 0
    if now:
        most = now + _MORE_ADDRESSES
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _run(target: Target, slot: mmap.mmap, asked: dict[str, Any]) -> None:
    account, begin = _Account(), time.monotonic()
    told = begin
    source = inputs(target, asked["seed"], asked["start"])
    for number in range(asked["start"], asked["end"]):
        content = next(source)
        took = _judged(target, slot, number, content, account, timed=asked["timed"])
        account.n = number + 1 - asked["start"]
        account.seconds += took
        account.slowest = max(account.slowest, took)
        account.processor = time.process_time()
        now = time.monotonic()
        if now - told > _FLUSH:
            _tell(account)
            told = now
        if now - begin > asked["seconds"]:
            break
    _tell(account, done=True)


def _one(target: Target, slot: mmap.mmap, content: bytes) -> None:
    account = _Account(n=1)
    account.seconds = _judged(target, slot, 0, content, account, timed=True)
    account.slowest = account.seconds
    _tell(account, done=True)


def _judged(
    target: Target, slot: mmap.mmap, number: int, content: bytes, account: _Account, *, timed: bool
) -> float:
    """Processor seconds that an input took; a find is told, and the account is kept."""
    high, before = _forget_peak(), time.process_time()
    slot[: HEADER.size] = HEADER.pack(number, len(content), account.taken, account.refused)
    slot[HEADER.size : HEADER.size + len(content)] = content
    try:
        taken = judge(target, content)
        account.taken += taken
        account.refused += not taken
    except BaseException as exc:  # noqa: BLE001 - a panic of Rust code is no Exception
        _tell_find(content, *_signature(exc), "".join(traceback.format_exception(exc)))
    took, more = time.process_time() - before, _peak() - high
    account.peak = max(account.peak, more)
    if timed and took > _SLOW:
        _tell_find(content, "slow", "", f"{took:.2f} s of processor time, more than {_SLOW:.0f}")
    if more > target.most_bytes:
        _tell_find(content, "memory", "", f"{more / MEGABYTE:,.0f} MB for one input")
    return took


def _forget_peak() -> int:
    """The memory that this process has now, in bytes; the most that it had is counted anew."""
    if _STATUS.exists():
        with suppress(OSError):
            _CLEAR.write_bytes(b"5")
    return _peak()


def _peak() -> int:
    """The most memory that this process has had since `_forget_peak`, in bytes."""
    if not _STATUS.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT
    found = re.search(rb"VmHWM:\s*(\d+) kB", _STATUS.read_bytes())
    return int(found[1]) * 1024 if found else 0


def _signature(exc: BaseException) -> tuple[str, str]:
    """What tells two finds apart: the error, and where in our code it was raised."""
    own = [f for f in traceback.extract_tb(exc.__traceback__) if "/tests/fuzz/" not in f.filename]
    ours = [f for f in own if "/components/" in f.filename and "site-packages" not in f.filename]
    last = (ours or own)[-1:]
    said = re.sub(r"\d+", "n", str(exc).split(":")[0][:80]) if isinstance(exc, BrokenError) else ""
    where = "".join(f"{Path(frame.filename).name}:{frame.name}" for frame in last)
    return type(exc).__name__, f"{where} {said}".strip()


def _tell_find(content: bytes, kind: str, where: str, trace: str) -> None:
    find = {"kind": kind, "where": where, "trace": trace[-6_000:], "content": content.hex()}
    _write({"find": find})


def _tell(account: _Account, *, done: bool = False) -> None:
    _write({**vars(account), "done": done})


def _write(line: dict[str, Any]) -> None:
    os.write(1, json.dumps(line).encode() + b"\n")


if __name__ == "__main__":
    main()
