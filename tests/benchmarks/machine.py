"""The machine that a measurement ran on, and the share that other programs took of it."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil

__all__ = ["Others", "busy_seconds", "described", "write"]


def described() -> dict[str, Any]:
    """Processor, cores, memory, system and Python."""
    return {
        "processor": _processor(),
        "cpus": os.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 1e9, 1),
        "platform": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


class Others:
    """Share of the machine that was neither ours nor our ended children's, from now on."""

    def __init__(self) -> None:
        self._began, self._then = time.monotonic(), _others()

    @property
    def seconds(self) -> float:
        """Seconds so far."""
        return time.monotonic() - self._began

    @property
    def share(self) -> float:
        """0 to 1."""
        return max(0.0, _others() - self._then) / self.seconds / (os.cpu_count() or 1)


def busy_seconds() -> float:
    """Processor seconds of the whole machine so far, without idle ones."""
    times = psutil.cpu_times()
    kinds = ("user", "nice", "system", "irq", "softirq", "steal")
    return sum(getattr(times, kind, 0.0) for kind in kinds)


def write(report: Mapping[str, Any], path: Path) -> None:
    """Write a report as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


def _others() -> float:
    """Processor seconds so far that were not ours or our ended children's."""
    own = os.times()
    return busy_seconds() - own.user - own.system - own.children_user - own.children_system


def _processor() -> str:
    """The processor's name as the system gives it, in single spaces."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return " ".join((named or [platform.processor() or platform.machine()])[0].split())
