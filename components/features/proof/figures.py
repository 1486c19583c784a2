"""The checks as a chart: each one's difference beside what is allowed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from plotly import graph_objects as go

from components.content.language import say
from components.features.proof.reading import share
from components.figures.theme import CATEGORICAL, INK, MUTED, SMALLEST, figure, plain
from components.proof.checks import Check, Verdict

__all__ = ["checks_figure", "height_of"]

_ROW = 42  # pixels
_AROUND = 116  # pixels above and below the rows
_LOWEST, _HIGHEST = -5.0, 1.0  # powers of ten, of multiples of what is allowed
_COLORS: dict[Verdict, str] = {
    "agrees": CATEGORICAL[2],
    "differs": CATEGORICAL[3],
    "not_run": "rgba(128,128,128,0.6)",
}
_SYMBOLS: dict[Verdict, str] = {"agrees": "circle", "differs": "x", "not_run": "line-ew-open"}
_TRACK = "rgba(128,128,128,0.16)"


def height_of(n_checks: int) -> int:
    """Return the height in pixels of a chart of so many checks."""
    return _AROUND + _ROW * n_checks


def checks_figure(checks: Sequence[Check], *, title: str) -> go.Figure:
    """Return one row for each check: its name, its difference on a fixed scale, its verdict."""
    run = [(i, check) for i, check in enumerate(checks)]
    dots: dict[str, Any] = {
        "type": "scatter",
        "mode": "markers",
        "x": [_place(check) for _, check in run],
        "y": [i + 0.22 for i, _ in run],
        "marker": {
            "size": 14,
            "color": [_COLORS[check.verdict] for _, check in run],
            "symbol": [_SYMBOLS[check.verdict] for _, check in run],
            "line": {"width": 2, "color": [_COLORS[check.verdict] for _, check in run]},
        },
        "customdata": [[_hover(check)] for _, check in run],
        "hovertemplate": "%{customdata[0]}<extra></extra>",
        "cliponaxis": False,
    }
    shapes = [
        {"type": "line", "x0": _LOWEST, "x1": _HIGHEST, "y0": i + 0.22, "y1": i + 0.22,
         "line": {"color": _TRACK, "width": 6}, "layer": "below"}
        for i, _ in run
    ]  # fmt: skip
    allowed = {"type": "line", "x0": 0, "x1": 0, "y0": 0, "y1": 1, "yref": "paper",
               "line": {"color": INK, "width": 2, "dash": "dot"}}  # fmt: skip
    layout = {
        "xaxis": {
            "range": [_LOWEST - 0.1, _HIGHEST + 0.1],
            "tickvals": [_LOWEST, -2, 0, _HIGHEST],
            "ticktext": ["0", "1/100", say("proof.allowed"), "10×"],
            "title": {"text": say("proof.axis")},
            "showgrid": False,
            "zeroline": False,
            "fixedrange": True,
        },
        "yaxis": {"range": [len(checks) - 0.4, -0.6], "visible": False, "fixedrange": True},
        "margin": {"l": 16, "r": 16, "t": 44, "b": 66},
        "shapes": [*shapes, allowed],
        "annotations": [note for i, check in run for note in _notes(i, check)],
    }
    return figure([dots], layout, title=title, height=height_of(len(checks)))


def _place(check: Check) -> float:
    """The place of a check's dot: equal numbers at the left end, the far ones at the right."""
    multiple = share(check)
    if check.verdict == "not_run" or multiple <= 0:
        return _LOWEST
    return min(max(math.log10(multiple) if multiple < math.inf else _HIGHEST, _LOWEST), _HIGHEST)


def _notes(i: int, check: Check) -> list[dict[str, Any]]:
    word = say(f"proof.verdict.{check.verdict}")
    own: dict[str, Any] = {"y": i - 0.2, "showarrow": False}
    ink = MUTED if check.verdict == "not_run" else INK
    return [
        {**own, "text": plain(check.name), "x": _LOWEST, "xanchor": "left",
         "font": {"size": SMALLEST, "color": ink}},
        {**own, "text": f"<b>{word}</b>" if check.verdict == "differs" else word, "x": _HIGHEST,
         "xanchor": "right", "font": {"size": SMALLEST, "color": ink}},
    ]  # fmt: skip


def _hover(check: Check) -> str:
    if check.difference is None:
        return f"{plain(check.name)}<br>{plain(check.why, 80)}"
    if not check.difference:
        return f"{plain(check.name)}<br>{say('proof.equal')}"
    return f"{plain(check.name)}<br>{check.difference:.2e} / {check.tolerance:.0e}"
