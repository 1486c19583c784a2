"""What the pictures of this page share: axes of words and layers, and a signed scale."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from math import ceil
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go

from components.content.wording import shortened
from components.figures.theme import figure, plain

__all__ = [
    "BARE",
    "HIGH",
    "LEAST",
    "LEAST_SHARE",
    "LOW",
    "Numbers",
    "colorbar",
    "layer_axis",
    "names",
    "signed",
    "signed_end",
    "titled",
    "word_axis",
]

LOW, HIGH = "#3F8FD6", "#D98A2B"
"""The two colours of signed numbers where they stand alone: both read in light and dark."""

Numbers = NDArray[np.floating[Any]]

BARE: Mapping[str, Any] = MappingProxyType({"showgrid": False, "zeroline": False, "ticks": ""})
_MOST_NAMES = 24
_MOST_LAYERS = 13
_LONG_TITLE = 46  # characters that one line of a narrow chart holds
_LINE = 42  # where such a title is broken
LEAST = 1e-3
"""Of changes: below it the colours would show what is nothing but rounding."""
LEAST_SHARE = 1e-12
"""Of shares, which are a sum taken apart: those of long texts are small and yet exact."""


def names(labels: Sequence[str]) -> list[str]:
    """Labels as plotly takes them, escaped and cut; what is blank is shown as a sign."""
    return [plain(label, 16) or "␣" for label in labels]


def word_axis(labels: Sequence[str], *, most: int = _MOST_NAMES) -> dict[str, Any]:
    """An axis of words at 0, 1, ...; of many, every n-th is named."""
    step = max(1, ceil(len(labels) / most))
    return {
        **BARE,
        "tickvals": list(range(len(labels)))[::step],
        "ticktext": names(labels)[::step],
        "automargin": True,
        "range": [-0.5, len(labels) - 0.5],
    }


def layer_axis(layers: Sequence[int]) -> dict[str, Any]:
    """An axis of layers at 0, 1, ..., the first at the top; of many, every n-th is named."""
    step = max(1, ceil(len(layers) / _MOST_LAYERS))
    return {
        **BARE,
        "tickvals": list(range(len(layers)))[::step],
        "ticktext": [f"layer {n}" for n in layers][::step],
        "automargin": True,
        "range": [len(layers) - 0.5, -0.5],
    }


def signed_end(*arrays: Numbers, least: float = LEAST) -> float:
    """The end of a scale that is symmetric around zero: the largest of all, either way.

    Args:
        arrays: of any shape; what is not a number does not count.
        least: the smallest end.
    """
    sizes = [float(np.abs(own[np.isfinite(own)]).max(initial=0.0)) for own in arrays]
    return max(*sizes, least) if sizes else least


def titled(
    traces: list[dict[str, Any]], layout: dict[str, Any], *, title: str, height: int
) -> go.Figure:
    """A figure whose title stands in two lines where it is long, with room for both and no more."""
    is_long = len(title) > _LONG_TITLE
    longest = len(title)
    while is_long and len(textwrap.wrap(shortened(title, longest), _LINE)) > 2:
        longest -= 1
    title = shortened(title, longest)
    margin = {**layout["margin"], "t": 58 if is_long else 40}
    return figure(traces, {**layout, "margin": margin}, title=title, height=height, narrow=is_long)


def colorbar(title: str, end: float, *, is_whole: bool = True) -> dict[str, Any]:
    """The bar beside a signed picture, with its ends stated, and whether values lie beyond."""
    low, high = ("", "") if is_whole else ("≤", "≥")
    return {
        "title": {"text": title},
        "thickness": 8,
        "len": 0.9,
        "tickvals": [-end, 0, end],
        "ticktext": [f"{low}\N{MINUS SIGN}{end:.2g}", "0", f"{high}+{end:.2g}"],
    }


def signed(value: float, digits: int = 2) -> str:
    """A number with its sign; what rounds to zero has none."""
    rounded = round(float(value), digits) + 0.0
    sign = "+" if rounded > 0 else "\N{MINUS SIGN}" if rounded < 0 else ""
    return f"{sign}{abs(rounded):.{digits}f}"
