"""A text and its pair, encoded with their attention."""

from __future__ import annotations

from typing import Any

from components.core import EncoderService, Encoding

__all__ = ["PADDING", "PAIR", "TEXT", "encoded"]

TEXT, PAIR = "The teacher's unbelievable python", "Seventeen umbrellas"
PADDING = 48


def encoded(
    service: EncoderService,
    model: str,
    pair: str | None = None,
    pad_to: int | None = None,
    **more: Any,
) -> Encoding:
    text = more.pop("text", TEXT)
    return service.encode(
        model, [text], pairs=[pair] if pair is not None else None, pad_to=pad_to, attentions=True
    )[0]
