"""Batches in the laboratory, for tests of Padding & masks."""

from __future__ import annotations

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.masks.compute import encode_both
from contextlens.features.masks.measures import PaddedBatch, PaddedText


def lab_of(
    service: EncoderService,
    *texts: str,
    pad_to: int = 32,
    masked: bool = False,
    model: str = BUNDLED_ID,
) -> PaddedBatch:
    """A batch in the laboratory, its texts named A, B, ..."""
    both = encode_both(
        service, model, texts, pairs=[None] * len(texts), pad_to=pad_to, masked=masked
    )
    rows = tuple(PaddedText("ABCDEFGH"[i], *each) for i, each in enumerate(both))
    return PaddedBatch(rows, pad_to, masked)
