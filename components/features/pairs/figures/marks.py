"""Lines, ranges and notes that several pictures of pairs have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from components.figures.theme import NEUTRAL, SMALLEST

__all__ = ["above", "key", "level", "note", "span", "upright"]


def upright(x: float, *, color: str, width: int, dash: str = "solid") -> dict[str, Any]:
    """A line from the bottom to the top at a place."""
    along = {"x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "paper"}
    return {"type": "line", **along, "line": {"color": color, "width": width, "dash": dash}}


def level(y: float, layers: list[int]) -> dict[str, Any]:
    """A dotted line across all layers at a height."""
    along = {"x0": layers[0] - 0.2, "x1": layers[-1] + 0.2, "y0": y, "y1": y}
    return {"type": "line", **along, "line": {"color": NEUTRAL, "width": 1.5, "dash": "dot"}}


def span(band: tuple[float, float]) -> dict[str, Any]:
    """A grey range from the bottom to the top."""
    along = {"x0": band[0], "x1": band[1], "y0": 0, "y1": 1, "yref": "paper"}
    return {
        "type": "rect",
        **along,
        "line": {"width": 0},
        "layer": "below",
        "fillcolor": "rgba(128,128,128,0.16)",
    }


def note(text: str, x: float, y: float) -> dict[str, Any]:
    """A word that ends at a place in the picture, below it."""
    return {
        "text": text,
        "x": x,
        "y": y,
        "xanchor": "right",
        "yanchor": "top",
        "showarrow": False,
        "font": {"size": SMALLEST},
    }


def key(colors: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """What the colours stand for, above the picture: names with their colours."""
    text = "   ".join(f'<span style="color:{color}">■</span> {name}' for name, color in colors)
    return {
        "text": text,
        "x": 0,
        "y": 1,
        "xref": "paper",
        "yref": "paper",
        "showarrow": False,
        "xanchor": "left",
        "yanchor": "bottom",
        "yshift": 18,  # a line is left for what stands above a place
        "font": {"size": SMALLEST},
    }


def above(text: str, x: float, scale: tuple[float, float]) -> dict[str, Any]:
    """A word above a place of the picture, turned inwards."""
    is_right = x > sum(scale) / 2
    return {
        "text": text,
        "x": x,
        "y": 1,
        "yref": "paper",
        "yanchor": "bottom",
        "xanchor": "right" if is_right else "left",
        "showarrow": False,
        "font": {"size": SMALLEST},
    }
