"""Shares: the score as a sum over pairs of words, and over the words that were typed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from components.content.language import say
from components.features.why.compute.score import Score
from components.features.why.compute.shares import Integrated, IntegratedSide, SharesShown
from components.features.why.controls import UNIT, WORDS
from components.features.why.figures.axes import LEAST_SHARE, signed_end
from components.features.why.figures.bars import Bar, word_bars
from components.features.why.figures.matrix import signed_matrix
from components.features.why.looks import rows
from components.features.why.looks.frame import CHART, HEIGHT
from components.features.why.measures.target import Doubles
from components.features.why.reading import title_of
from components.features.why.widgets.lines import Said, word_lines
from components.ui.state.view import ViewState
from components.ui.widgets import kit

__all__ = ["draw_integrated", "draw_shares"]

_SAID = Said(
    quantity=say("why.shares.quantity"),
    between=say("why.shares.between"),
    low=say("why.shares.low"),
    high=say("why.shares.high"),
    hint=say("why.shares.hint"),
)
_INTEGRATED = replace(_SAID, between="", hint=say("why.inputs.hint"))


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
            said=_SAID if score.what == "mean" else replace(_SAID, hint=say("why.shares.hint_one")),
            cells=shares.cells,
            picked=chosen,
            on_pick=rows.pick,
        )
    with right:
        _matrix(unit, shown, cells, chosen)


def _matrix(unit: str, shown: SharesShown, cells: Doubles, chosen: tuple[str, int] | None) -> None:
    score, title = shown.score, str(title_of(shown))
    side, place = chosen or ("", None)
    figure = signed_matrix(
        cells,
        rows.names(score.first, unit),
        rows.names(score.second, unit),
        quantity=say("why.shares.quantity"),
        title=title,
        axes=_axes(score),
        marked=(place if side == "first" else None, place if side == "second" else None),
        height=HEIGHT,
        least=LEAST_SHARE,
    )
    kit.chart(figure, key=CHART, alt=say("why.shares.alt", title=title, unit=unit))


def _axes(score: Score) -> tuple[str, str]:
    first, second = (say("why.shares.axis", letter=side.letter) for side in score.sides)
    return first, second


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
        title = str(title_of(shown))
        figure = word_bars(
            [
                Bar(name, side.side.letter, float(value))
                for side, own in zip(shown.sides, values, strict=True)
                for name, value in zip(rows.names(side.side, unit), own, strict=True)
                if not np.isnan(value)
            ],
            quantity=say("why.inputs.quantity"),
            title=title,
            height=HEIGHT,
        )
        kit.chart(figure, key=CHART, alt=say("why.inputs.alt", title=title))


def _typed(own: IntegratedSide, unit: str) -> Doubles:
    """The shares of words or tokens; special tokens, which start as they end, have none."""
    values = own.by_word if unit == WORDS else own.shares
    return np.where(rows.are_of_text(own.side, unit), values, np.nan)
