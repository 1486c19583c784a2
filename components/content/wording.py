"""How every reading is worded: users' text made safe, numbers, ranges of layers, what leads."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

__all__ = [
    "MARGIN",
    "are_alike",
    "bold",
    "escape",
    "leading",
    "listed",
    "listed_names",
    "occurrence",
    "percent",
    "placed",
    "quoted",
    "several",
    "shortened",
    "span",
    "two",
]

MARGIN = 0.01
"""How far apart numbers of two decimals must be for one to be called more than the other."""

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


def placed(label: str, position: int, labels: Sequence[str], longest: int = 24) -> str:
    """A label in quotation marks, with its position where another one of `labels` reads alike."""
    return f"{quoted(label, longest)}{_where(label, position, labels, longest)}"


def occurrence(label: str, position: int, labels: Sequence[str], longest: int = 24) -> str:
    """The same for a title: bare, cut to a length."""
    return f"{shortened(label, longest)}{_where(label, position, labels, longest)}"


def _where(label: str, position: int, labels: Sequence[str], longest: int) -> str:
    name = shortened(label, longest)
    alike = sum(shortened(other, longest) == name for other in labels)
    return f" at position {position}" if alike > 1 else ""


def several(names: Sequence[str]) -> str:
    """Names in a row: one, two of them, or the first and how many others."""
    if len(names) > 2:
        return f"{names[0]} and {len(names) - 1} others"
    return " and ".join(names)


def listed_names(names: Sequence[str]) -> str:
    """All of a few names in a row: "a, b and c"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def leading(values: Sequence[float], margin: float = MARGIN) -> list[int]:
    """Which values lie within a margin of the highest, the highest first; all others lie below."""
    highest = max(values, default=0.0)
    near = [i for i, value in enumerate(values) if highest - value <= margin]
    return sorted(near, key=lambda i: -values[i])


def are_alike(values: Sequence[float], margin: float = MARGIN) -> bool:
    """Whether none can be called more than another: all lie within two margins.

    Else what leads, to within a margin, and what comes last have none in common.
    """
    return max(values) - min(values) <= 2 * margin


def shortened(text: str, longest: int) -> str:
    """A text on one line, cut to a length."""
    flat = " ".join(text.split())
    return flat if len(flat) <= longest else flat[: longest - 1] + "…"


def two(value: float) -> str:
    """Two decimals, with a real minus sign; what rounds to zero has no sign."""
    return f"{round(float(value), 2) + 0.0:.2f}".replace("-", "\N{MINUS SIGN}")


def bold(value: float) -> str:
    """Two decimals in bold, as numbers stand in a reading."""
    return f"**{two(value)}**"


def span(values: Sequence[float], said: Callable[[float], str] = two) -> str:
    """From the lowest to the highest as they are said; one number where both read alike."""
    low, high = said(min(values)), said(max(values))
    return low if low == high else f"{low} to {high}"


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
    if rounded == 0 and share:
        return "under 1%" if share > 0 else "just below 0%"
    if rounded == 100 and share < 1:
        return "over 99%"
    return f"{rounded}%"
