"""Counts as bars, each with its number at its end: words of a corpus, corpora with a word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plotly import graph_objects as go

from contextlens.features.corpora.search import Hit
from contextlens.figures.margins import beside
from contextlens.figures.theme import CATEGORICAL, SMALLEST, figure, plain
from contextlens.ui.corpora.words import WordRow

_MAX_WORD_LENGTH = 18  # characters of a word
_MAX_TITLE_LENGTH = 26  # characters of a corpus's title
_STRONG, _PALE, _GREY = CATEGORICAL[0], "rgba(0,114,178,0.4)", "rgba(128,128,128,0.5)"
_BAR, _AROUND = 34, 64  # pixels of a corpus's bar, and of the title and the edges
_ROOM = 1.45  # times the longest bar: the numbers stand behind the bars


def word_bars(rows: Sequence[WordRow], *, chosen: str, height: int) -> go.Figure:
    """Bars from the most frequent word down; if some words have senses, the others are grey.

    Args:
        rows: the words, at least one.
        chosen: the selected word, which alone is strong.
        height: in pixels.
    """
    some = any(row.n_senses for row in rows)
    return _bars(
        [plain(row.word, _MAX_WORD_LENGTH) for row in rows],
        [row.n for row in rows],
        [_row_label(row) for row in rows],
        colors=[
            _STRONG if row.word == chosen else _PALE if row.n_senses or not some else _GREY
            for row in rows
        ],
        title="",
        height=height,
    )


def corpus_bars(hits: Sequence[Hit], *, title: str) -> go.Figure:
    """Bars of a word's occurrences in each corpus, the corpus with most of them strong."""
    return _bars(
        [plain(hit.title, _MAX_TITLE_LENGTH) for hit in hits],
        [hit.n for hit in hits],
        [f"{hit.n:,}" for hit in hits],
        colors=[_PALE if i else _STRONG for i in range(len(hits))],
        title=title,
        height=_AROUND + _BAR * len(hits),
    )


def _bars(
    names: Sequence[str],
    counts: Sequence[int],
    labels: Sequence[str],
    *,
    colors: Sequence[str],
    title: str,
    height: int,
) -> go.Figure:
    """Horizontal bars with their numbers behind them; the strong ones have bold names."""
    places = list(range(len(names)))
    trace: dict[str, Any] = {
        "type": "bar",
        "orientation": "h",
        "x": list(counts),
        "y": places,
        "marker": {"color": list(colors)},
        # A click selects a bar; the others must not fade.
        "selected": {"marker": {"opacity": 1}},
        "unselected": {"marker": {"opacity": 1}},
        "text": list(labels),
        "textposition": "outside",
        "textfont": {"size": SMALLEST},
        "constraintext": "none",
        "cliponaxis": False,
        "hovertext": [f"{name}: {n:,}" for name, n in zip(names, counts, strict=True)],
        "hoverinfo": "text",
    }
    layout = {
        "xaxis": {
            "range": [0, _ROOM * max(*counts, 1)],
            "showticklabels": False,
            "showgrid": False,
            "zeroline": False,
        },
        "yaxis": {
            "tickvals": places,
            "ticktext": [
                f"<b>{name}</b>" if color == _STRONG else name
                for name, color in zip(names, colors, strict=True)
            ],
            "autorange": "reversed",
            "automargin": True,
            "showgrid": False,
            "zeroline": False,
            "ticks": "",
        },
        "bargap": 0.3,
        "margin": {"l": beside(names), "b": 12, **({} if title else {"t": 12})},
    }
    return figure([trace], layout, title=title, height=height)


def _row_label(row: WordRow) -> str:
    if not row.n_senses:
        return f"{row.n:,}"
    return f"{row.n:,} · {row.n_senses} {'sense' if row.n_senses == 1 else 'senses'}"
