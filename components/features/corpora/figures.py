"""The most frequent words of a corpus as bars, each with its count at its end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plotly import graph_objects as go

from components.features.corpora.compute import WordRow
from components.figures.room import beside
from components.figures.theme import CATEGORICAL, NEUTRAL, SMALLEST, figure, plain

__all__ = ["word_bars"]

_LONGEST = 18  # characters of a word


def word_bars(rows: Sequence[WordRow], *, chosen: str, title: str, height: int) -> go.Figure:
    """Bars from the most frequent word down; if some words have senses, the others are grey.

    Args:
        rows: the words, at least one.
        chosen: the selected word, whose name is bold.
        title: the finding.
        height: in pixels.
    """
    names = [plain(row.word, _LONGEST) for row in rows]
    some = any(row.n_senses for row in rows)
    colors = [CATEGORICAL[0] if row.n_senses or not some else NEUTRAL for row in rows]
    places = list(range(len(rows)))
    trace: dict[str, Any] = {
        "type": "bar",
        "orientation": "h",
        "x": [row.n for row in rows],
        "y": places,
        "marker": {"color": colors},
        # A click selects a word; the other bars must not fade.
        "selected": {"marker": {"opacity": 1}},
        "unselected": {"marker": {"opacity": 1}},
        "text": [_said(row) for row in rows],
        "textposition": "outside",
        "textfont": {"size": SMALLEST},
        "constraintext": "none",
        "cliponaxis": False,
        "hovertext": [f"{name}: {row.n:,}" for name, row in zip(names, rows, strict=True)],
        "hoverinfo": "text",
    }
    most = max((row.n for row in rows), default=1)
    layout = {
        "xaxis": {
            "title": {"text": "occurrences"},
            "range": [0, 1.35 * most],
            "zeroline": False,
        },
        "yaxis": {
            "tickvals": places,
            "ticktext": [
                f"<b>{name}</b>" if row.word == chosen else name
                for name, row in zip(names, rows, strict=True)
            ],
            "autorange": "reversed",
            "automargin": True,
            "showgrid": False,
            "zeroline": False,
            "ticks": "",
        },
        "bargap": 0.3,
        "margin": {"l": beside(names)},
    }
    return figure([trace], layout, title=title, height=height)


def _said(row: WordRow) -> str:
    if not row.n_senses:
        return f"{row.n:,}"
    return f"{row.n:,} · {row.n_senses} {'sense' if row.n_senses == 1 else 'senses'}"
