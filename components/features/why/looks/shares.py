"""Shares: the score as a sum over pairs of words, and over the words that were typed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from components.features.why.compute.shares import Integrated, IntegratedSide, SharesShown
from components.features.why.controls import UNIT, WORDS
from components.features.why.figures.axes import LEAST_SHARE, signed_end
from components.features.why.figures.bars import Bar, word_bars
from components.features.why.figures.matrix import signed_matrix
from components.features.why.looks import rows
from components.features.why.looks.frame import CHART, HEIGHT
from components.features.why.measures.target import Doubles
from components.features.why.reading.shares import integrated_title, shares_title
from components.features.why.widgets.lines import Said, word_lines
from components.ui.state.view import ViewState
from components.ui.widgets import kit

__all__ = ["draw_integrated", "draw_shares"]

_SAID = Said(
    quantity="share",
    between="with",
    low="takes away",
    high="adds to the cosine",
    hint="Point at a word to see what it shares with each word of the other sentence.",
)
_ONE_POSITION = (
    "Only what is compared has a share here. Input tokens goes on down to what was typed."
)
_INTEGRATED = Said(
    quantity="share",
    between="",
    low="takes away",
    high="adds to the cosine",
    hint="Each number is what a typed word adds, followed down through all layers.",
)


def draw_shares(view: ViewState, shown: SharesShown) -> None:
    """Both sentences with lines, and the matrix of all pairs."""
    unit, score = UNIT.of(view), shown.score
    first, second = (rows.compared(side, unit) for side in score.sides)
    shares = shown.shares(unit)
    cells = np.where(np.outer(first, second), shares.cells, np.nan)
    chosen = rows.picked(view, score, unit)
    left, right = st.columns([6, 5], gap="medium")
    with left:
        word_lines(
            rows.row(score.first, unit, np.where(first, shares.rows, np.nan)),
            rows.row(score.second, unit, np.where(second, shares.columns, np.nan)),
            key="why_words",
            end=signed_end(shares.rows, shares.columns, least=LEAST_SHARE),
            said=_SAID if score.what == "mean" else replace(_SAID, hint=_ONE_POSITION),
            cells=shares.cells,
            picked=chosen,
            on_pick=rows.pick,
        )
    with right:
        _matrix(unit, shown, cells, chosen)


def _matrix(unit: str, shown: SharesShown, cells: Doubles, chosen: tuple[str, int] | None) -> None:
    score, title = shown.score, shares_title(shown)
    side, place = chosen or ("", None)
    figure = signed_matrix(
        cells,
        rows.names(score.first, unit),
        rows.names(score.second, unit),
        quantity="share",
        title=title,
        axes=(f"sentence {score.first.letter}", f"sentence {score.second.letter}"),
        marked=(place if side == "first" else None, place if side == "second" else None),
        height=HEIGHT,
        least=LEAST_SHARE,
    )
    alt = f"{title}. The share of each pair of {unit} in the cosine; the table has the numbers."
    kit.chart(figure, key=CHART, alt=alt)


def draw_integrated(view: ViewState, shown: Integrated) -> None:
    """Both sentences coloured by what their typed words add, and the strongest as bars."""
    unit, score = UNIT.of(view), shown.score
    values = [_typed(side, unit) for side in shown.sides]
    left, right = st.columns([6, 5], gap="medium")
    with left:
        word_lines(
            rows.row(score.first, unit, values[0]),
            rows.row(score.second, unit, values[1]),
            key="why_words",
            end=signed_end(*values),
            said=_INTEGRATED,
        )
    with right:
        title = integrated_title(shown)
        figure = word_bars(
            [
                Bar(name, side.side.letter, float(value))
                for side, own in zip(shown.sides, values, strict=True)
                for name, value in zip(rows.names(side.side, unit), own, strict=True)
                if not np.isnan(value)
            ],
            quantity="share of the cosine",
            title=title,
            height=HEIGHT,
        )
        kit.chart(figure, key=CHART, alt=f"{title}. What each typed word adds to the cosine.")


def _typed(own: IntegratedSide, unit: str) -> Doubles:
    """The shares of words or tokens; special tokens, which start as they end, have none."""
    values = own.by_word if unit == WORDS else own.shares
    return np.where(rows.are_of_text(own.side, unit), values, np.nan)
