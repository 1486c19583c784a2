"""What stands around an occurrence, cut to a length."""

from __future__ import annotations

import re

from components.features.senses.compute.word import Found

__all__ = ["around"]

_BLANKS = re.compile(r"\s+")


def around(found: Found, place: int, width: int) -> tuple[str, str, str]:
    """The text before an occurrence, itself, and after it, each on one line.

    Args:
        found: the word.
        place: which of its occurrences.
        width: characters on each side; they are cut between words, with "…" where more follows.
    """
    text = found.texts[place]
    start, end = (int(edge) for edge in found.occurrences.spans[place])
    return _left(text, start, width), _flat(text[start:end]), _right(text, end, width)


def _left(text: str, start: int, width: int) -> str:
    flat = _flat(text[max(0, start - 4 * width) : start])
    if len(flat) <= width:
        return flat.lstrip() if start <= 4 * width else f"… {flat.lstrip()}"
    cut = flat[-width:]
    _, space, whole = cut.partition(" ")
    return f"… {whole}" if space and whole.strip() else f"…{cut}"


def _right(text: str, end: int, width: int) -> str:
    flat = _flat(text[end : end + 4 * width])
    if len(flat) <= width:
        return flat.rstrip() if end + 4 * width >= len(text) else f"{flat.rstrip()} …"
    cut = flat[:width]
    whole, space, _ = cut.rpartition(" ")
    return f"{whole} …" if space and whole.strip() else f"{cut}…"


def _flat(text: str) -> str:
    return _BLANKS.sub(" ", text)
