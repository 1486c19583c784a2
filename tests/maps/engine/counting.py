"""A real service that counts and waits, and requests, for tests of how maps are made."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from contextlens.core import BUNDLED_ID, Encoding, Settings
from contextlens.core.service import LocalService
from contextlens.corpus.corpus import Corpus
from contextlens.maps.request import MapRequest, MapSettings

__all__ = ["PCA", "WAIT", "Clock", "CountingService", "request_for"]

WAIT = 300
PCA = MapSettings(method="pca")


class CountingService(LocalService):
    """A real service that notes which texts were encoded, and encodes while its gate is open."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.encoded: list[str] = []
        self.gate = threading.Event()
        self.gate.set()

    def encode(self, model: str, texts: Sequence[str], **arguments: Any) -> list[Encoding]:
        self.encoded += texts
        if any("behind the gate" in text for text in texts):
            assert self.gate.wait(WAIT)
        return super().encode(model, texts, **arguments)


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def request_for(corpus: Corpus, **changes: Any) -> MapRequest:
    usual = MapRequest(BUNDLED_ID, corpus.digest, most=5_000, settings=PCA)
    return replace(usual, **changes)
