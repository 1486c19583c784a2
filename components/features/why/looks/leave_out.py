"""Leave out: how far the score moves without each word, beside what the shares would say."""

from __future__ import annotations

import numpy as np
import streamlit as st

from components.content.language import say
from components.features.why.compute.leave_out import LeftOut, LeftWord
from components.features.why.compute.score import Side
from components.features.why.controls import WORDS
from components.features.why.figures.axes import signed_end
from components.features.why.figures.bars import Bar, word_bars
from components.features.why.figures.matrix import signed_matrix
from components.features.why.looks import rows
from components.features.why.looks.frame import CHART, HEIGHT
from components.features.why.measures.target import Doubles
from components.features.why.reading import title_of
from components.features.why.widgets.lines import Said, word_lines
from components.ui.widgets import kit

__all__ = ["draw_left_out"]

_SAID = Said(
    quantity=say("why.leave_out.quantity"),
    between="",
    low=say("why.leave_out.low"),
    high=say("why.leave_out.high"),
    hint=say("why.leave_out.hint"),
)


def draw_left_out(shown: LeftOut) -> None:
    """Both sentences coloured by what leaving a word out does, and bars or the matrix of pairs."""
    left, right = st.columns([6, 5], gap="medium")
    with left:
        changes = [_changes(shown, i) for i in (0, 1)]
        word_lines(
            rows.row(shown.score.first, WORDS, changes[0]),
            rows.row(shown.score.second, WORDS, changes[1]),
            key="why_words",
            end=signed_end(*changes),
            said=_SAID,
        )
    with right:
        _bars(shown) if shown.pairs is None else _pairs(shown, shown.pairs)


def _changes(shown: LeftOut, which: int) -> Doubles:
    """(n_units,) of one side; not a number for what was not left out."""
    side = shown.score.sides[which]
    known = {own.unit.positions: own.change for own in shown.words if own.side == which}
    return np.array([known.get(unit.positions, np.nan) for unit in side.units], dtype=np.float64)


def _bars(shown: LeftOut) -> None:
    title = str(title_of(shown))
    is_known = shown.order is not None
    figure = word_bars(
        [
            _bar(shown, own, -float(share) if is_known else None)
            for own, share in zip(shown.words, shown.shares, strict=True)
        ],
        quantity=say("why.leave_out.quantity"),
        beside=say("why.leave_out.predicted") if is_known else "",
        title=title,
        height=HEIGHT,
    )
    alt = say("why.leave_out.alt", title=title)
    kit.chart(figure, key=CHART, alt=alt)


def _bar(shown: LeftOut, own: LeftWord, beside: float | None) -> Bar:
    return Bar(own.unit.label, _side(shown, own.side).letter, own.change, beside)


def _pairs(shown: LeftOut, pairs: Doubles) -> None:
    title = str(title_of(shown))
    names = [f"{own.unit.label} · {_side(shown, own.side).letter}" for own in shown.words]
    figure = signed_matrix(pairs, names, names, quantity="change", title=title, height=HEIGHT)
    alt = say("why.leave_out.alt_pairs", title=title)
    kit.chart(figure, key=CHART, alt=alt)


def _side(shown: LeftOut, which: int) -> Side:
    return shown.score.sides[which]
