"""Padded batches, for tests of Padding & masks."""

from __future__ import annotations

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.masks.padded_batch import PaddedBatch, encode_both
from contextlens.ui.state.view import Sentence


def lab_of(
    service: EncoderService,
    *texts: str,
    pad_to: int = 32,
    masked: bool = False,
    model: str = BUNDLED_ID,
) -> PaddedBatch:
    """A padded batch, its texts named A, B, ..."""
    named = dict(zip("ABCDEFGH", map(Sentence, texts), strict=False))
    return encode_both(service, model, named, pad_to=pad_to, masked=masked)
