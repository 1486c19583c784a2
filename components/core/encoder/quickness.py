"""Whether bfloat16 is quicker than float32 here: measured once a machine, then remembered.

A processor without arithmetic of its own for bfloat16 computes in it all the same, at half the
speed of float32 or less; and what a processor says that it can do does not say how well.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import torch
from torch.nn import functional

from components.core.schema import FastPrecision

__all__ = ["FILE", "fast_precision", "machine"]

FILE = "bfloat16.json"
_WORTH = 1.15  # times as quick, for the conversions and the memory of a second copy
_ROUNDS = 5
_N_TOKENS, _N_DIMS, _N_INNER = 256, 384, 1536


@cache
def fast_precision(folder: Path) -> FastPrecision:
    """What `precision="fast"` computes in on this machine, with the reason.

    Args:
        folder: where the measurement is kept, and read from where it is of this very machine.
    """
    ratio = _read(folder / FILE)
    if ratio is None:
        ratio = _measured()
        _keep(folder / FILE, ratio)
    if ratio >= _WORTH:
        reason = f"Measured on this machine: bfloat16 takes {1 / ratio:.0%} of float32's time."
        return FastPrecision("bfloat16", reason)
    return FastPrecision(
        "float32",
        f"Measured on this machine: bfloat16 takes {1 / ratio:.0%} of float32's time, so fast work "
        "is done exactly.",
    )


@cache
def machine() -> str:
    """What decides the measurement: the processor and the library that computes."""
    capability = torch.backends.cpu.get_cpu_capability()
    return f"{_processor()}, {os.cpu_count()} cores, {capability}, torch {torch.__version__}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    kept = {line.partition(":")[2] for line in lines if line.startswith(("model name", "flags"))}
    return " ".join(sorted(kept)) or platform.processor()


def _read(path: Path) -> float | None:
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        ratio = kept["ratio"] if kept["machine"] == machine() else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    usable = isinstance(ratio, float) and 0.001 < ratio < 1000
    return ratio if usable else None


def _keep(path: Path, ratio: float) -> None:
    """Write it down; where that cannot be, the next process measures again."""
    own = path.with_suffix(f".{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        own.write_text(json.dumps({"machine": machine(), "ratio": ratio}), encoding="utf-8")
        own.replace(path)
    except OSError:
        return


@cache
def _measured() -> float:
    """How many times as quick bfloat16 is: the best of some rounds of each, in turn."""
    exact, fast = _layer(torch.float32), _layer(torch.bfloat16)
    exact(), fast()
    rounds = [(_seconds(exact), _seconds(fast)) for _ in range(_ROUNDS)]
    return min(a for a, _ in rounds) / min(b for _, b in rounds)


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _layer(dtype: torch.dtype) -> Callable[[], object]:
    """The heavy steps of one encoder layer of the bundled model's size."""
    vectors = torch.ones(_N_TOKENS, _N_DIMS, dtype=dtype)
    square = torch.full((_N_DIMS, _N_DIMS), 1 / _N_DIMS, dtype=dtype)
    up = torch.full((_N_INNER, _N_DIMS), 1 / _N_DIMS, dtype=dtype)
    down = torch.full((_N_DIMS, _N_INNER), 1 / _N_INNER, dtype=dtype)

    @torch.inference_mode()
    def work() -> object:
        out = vectors
        for _ in range(4):
            out = functional.linear(out, square)
        inner = functional.gelu(functional.linear(out, up))
        return functional.layer_norm(functional.linear(inner, down), (_N_DIMS,)).float()

    return work
