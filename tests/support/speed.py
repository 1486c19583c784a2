"""Machines on which bfloat16 was measured to be faster than float32, or was not."""

from __future__ import annotations

import json
from pathlib import Path

from contextlens.core.encoder.devices import FILE, machine

__all__ = ["measured"]


def measured(folder: Path, ratio: object, on: str | None = None) -> Path:
    """A data folder with a measurement: float32's time over bfloat16's, here or on a machine."""
    folder.mkdir(exist_ok=True)
    kept = {"machine": machine() if on is None else on, "ratio": ratio}
    (folder / FILE).write_text(json.dumps(kept), encoding="utf-8")
    return folder
