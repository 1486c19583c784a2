"""How every reading is worded: users' text made safe, numbers, ranges of layers."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["bold", "escape", "listed", "percent", "quoted", "shortened", "two"]

# What Streamlit's Markdown plugins draw as an icon, an arrow or a link even where it is escaped.
_DRAWN = re.compile(
    r":(?=material|streamlit)|<(?=[-=])|-(?=[->])|>(?==)|~(?==)|(?i:https?|ftp)(?=:)"
    r"|(?i:www)(?=\.)|@"
)
_WORD_JOINER = "\u2060"  # invisible
_MARKDOWN = str.maketrans({c: "\\" + c for c in r"\`*_{}[]<>()#+-.!|~$:&"})


def escape(text: str) -> str:
    """The text with every Markdown, LaTeX and emoji-code sign shown as it was typed."""
    return _DRAWN.sub(rf"\g<0>{_WORD_JOINER}", text).translate(_MARKDOWN)


def quoted(text: str, longest: int = 24) -> str:
    """A user's text in quotation marks, cut to a length, its Markdown signs escaped."""
    return f"“{escape(shortened(text, longest))}”"


def shortened(text: str, longest: int) -> str:
    """A text on one line, cut to a length."""
    flat = " ".join(text.split())
    return flat if len(flat) <= longest else flat[: longest - 1] + "…"


def two(value: float) -> str:
    """Two decimals; what rounds to zero has no sign."""
    return f"{round(float(value), 2) + 0.0:.2f}"


def bold(value: float) -> str:
    """Two decimals in bold, as numbers stand in a reading."""
    return f"**{two(value)}**"


def listed(layers: Sequence[int]) -> str:
    """Layers in words, runs shortened: "layers 1 to 4, 6"."""
    if not layers:
        return ""
    runs: list[list[int]] = []
    for layer in layers:
        if runs and layer == runs[-1][-1] + 1:
            runs[-1].append(layer)
        else:
            runs.append([layer])
    numbers = [
        f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs
    ]
    return ("layer " if len(layers) == 1 else "layers ") + ", ".join(numbers)


def percent(share: float) -> str:
    """A share in whole per cent; what is neither none nor all never reads as 0% or 100%."""
    rounded = round(100 * share)
    if rounded == 0 and share > 0:
        return "under 1%"
    if rounded == 100 and share < 1:
        return "over 99%"
    return f"{rounded}%"
