"""A word's senses at one layer, as the title of that layer's map: its number is the layer's own."""

from __future__ import annotations

from components.content.wording import percent, shortened
from components.maps.agreement import Agreement

__all__ = ["senses_title_at"]

_LONGEST, _TITLE = 24, 80


def senses_title_at(found: Agreement, layer: int, word: str) -> str:
    """Whether a word's senses are apart at a layer; at most 80 characters, plain text.

    Args:
        found: how often nearest occurrences have the same sense there.
        layer: which one it is.
        word: whose senses they are.
    """
    what = f"Layer {layer}: the senses of {shortened(word, _LONGEST)}"
    if not 0 < found.chance < 1:
        return f"{what}, nothing to compare"
    said = f"{what} {_state(found)}"
    whole = f"{said}, {percent(found.share)} of nearest agree"
    return whole if len(whole) <= _TITLE else said


def _state(found: Agreement) -> str:
    if found.is_apart:
        return "are apart"
    if found.is_clear:
        return "lean apart"
    return "are not apart" if found.is_together else "are not clearly apart"
