"""A made-up model for workers on a cluster, that says in a folder where it is and can be held."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.corpus_store import MadeUpService

__all__ = ["Held"]

_SECONDS = 60.0


@dataclass(frozen=True)
class Held:
    """Opens services that note their process in a folder, and wait while "hold" is in it."""

    folder: str

    def __call__(self) -> Any:
        return _HeldService(Path(self.folder))


class _HeldService(MadeUpService):
    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    def encode(self, model: str, texts: Sequence[str], **how: Any) -> Any:
        (self._folder / f"{os.getpid()}.pid").touch()
        end = time.monotonic() + _SECONDS
        while (self._folder / "hold").exists() and time.monotonic() < end:
            time.sleep(0.05)
        return super().encode(model, texts, **how)
