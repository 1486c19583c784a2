"""The checks as a chart: each one's difference beside what is allowed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from plotly import graph_objects as go

from contextlens.content.language import say
from contextlens.features.proof.reading import share
from contextlens.figures.theme import CATEGORICAL, INK, MUTED, NEUTRAL, SMALLEST, figure, plain
from contextlens.proof.checks import Check

_ROW, _AROUND = 40, 80  # pixels of a row, and of what is above and below the rows
_LOWEST, _HIGHEST = -5.0, 1.0  # powers of ten, of multiples of what is allowed
_MARKS = {"agrees": (CATEGORICAL[2], "circle"), "differs": (CATEGORICAL[3], "x")}
_OTHER = (NEUTRAL, "circle-open")
_TRACK = {"color": "rgba(128,128,128,0.16)", "width": 6}


def height_of(n_checks: int) -> int:
    """Return the height in pixels of a chart of so many checks."""
    return _AROUND + _ROW * n_checks


def checks_figure(checks: Sequence[Check]) -> go.Figure:
    """Return one row for each check: its name, its difference on a fixed scale, its verdict."""
    colors, symbols = zip(*(_MARKS.get(c.verdict, _OTHER) for c in checks), strict=True)
    lines = [i + 0.22 for i in range(len(checks))]
    dots: dict[str, Any] = {
        "type": "scatter",
        "mode": "markers",
        "x": [_place(check) for check in checks],
        "y": lines,
        "marker": {"size": 14, "color": colors, "symbol": symbols},
        "customdata": [[_hover(check)] for check in checks],
        "hovertemplate": "%{customdata[0]}<extra></extra>",
        "cliponaxis": False,
    }
    line: dict[str, Any] = {"type": "line", "layer": "below"}
    allowed = {"color": INK, "width": 2, "dash": "dot"}
    layout = {
        "xaxis": {
            "range": [_LOWEST - 0.1, _HIGHEST + 0.1],
            "tickvals": [_LOWEST, 0],
            "ticktext": [say("proof.none"), say("proof.allowed")],
            "ticklabelposition": "outside",
            "title": {"text": say("proof.axis")},
            "showgrid": False,
            "zeroline": False,
        },
        "yaxis": {"range": [len(checks) - 0.4, -0.6], "visible": False},
        "margin": {"l": 24, "r": 16, "t": 8, "b": 66},
        "shapes": [
            *({**line, "x0": _LOWEST, "x1": _HIGHEST, "y0": y, "y1": y, "line": _TRACK}
              for y in lines),
            {**line, "x0": 0, "x1": 0, "y0": 0, "y1": 1, "yref": "paper", "line": allowed},
        ],
        "annotations": [note for i, check in enumerate(checks) for note in _notes(i, check)],
    }  # fmt: skip
    return figure([dots], layout, title="", height=height_of(len(checks)))


def _place(check: Check) -> float:
    """The place of a check's dot: equal numbers at the left end, the far ones at the right."""
    multiple = share(check)
    if check.difference is None or multiple <= 0:
        return _LOWEST
    power = math.log10(multiple) if multiple < math.inf else _HIGHEST
    return min(max(power, _LOWEST), _HIGHEST)


def _notes(i: int, check: Check) -> list[dict[str, Any]]:
    """The name of a check at the left of its row, its verdict at the right."""
    word = say(f"proof.verdict.{check.verdict}")
    word = f"<b>{word}</b>" if check.verdict == "differs" else word
    ink = MUTED if check.difference is None else INK
    font = {"size": SMALLEST, "color": ink}
    return [
        {"text": text, "x": x, "xanchor": anchor, "y": i - 0.2, "showarrow": False, "font": font}
        for text, x, anchor in (
            (plain(check.name), _LOWEST, "left"),
            (word, _HIGHEST, "right"),
        )
    ]


def _hover(check: Check) -> str:
    name = plain(check.name)
    if check.difference is None:
        return f"{name}<br>{plain(check.why, 80)}"
    if not check.difference:
        return f"{name}<br>{say('proof.equal')}"
    return f"{name}<br>{check.difference:.2e} / {check.tolerance:.0e}"
