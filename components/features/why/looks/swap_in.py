"""Swap in: where, token by token and layer by layer, one sentence becomes the other."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from components.content.language import say
from components.features.why.compute.swap_in import SwappedIn
from components.features.why.figures.swap import swap_heatmap
from components.features.why.looks import rows
from components.features.why.looks.frame import CHART, HEIGHT
from components.features.why.reading import title_of
from components.features.why.widgets.lines import Row, Said, word_lines
from components.ui.widgets import kit

__all__ = ["draw_swapped_in"]

_SAID = Said(
    quantity="",
    between=say("why.swap_in.between"),
    low="",
    high="",
    hint=say("why.swap_in.hint"),
)
_TOKENS = "tokens"


def draw_swapped_in(shown: SwappedIn) -> None:
    """Which token stands for which, and how far each takes the result at each layer."""
    left, right = st.columns([5, 6], gap="medium")
    with left:
        _alignment(shown)
    with right:
        if shown.problem is not None:
            st.info(str(shown.problem), icon=":material/info:")
            return
        title, ends = str(title_of(shown)), (shown.receiver.letter, shown.donor.letter)
        figure = swap_heatmap(
            shown.fractions, shown.names, shown.layers, ends=ends, title=title, height=HEIGHT
        )
        alt = say("why.swap_in.alt", title=title, a=ends[0], b=ends[1])
        kit.chart(figure, key=CHART, alt=alt)


def _alignment(shown: SwappedIn) -> None:
    is_turned = shown.receiver is not shown.score.first
    own = shown.alignment.turned if is_turned else shown.alignment
    word_lines(
        _alone(rows.row(shown.score.first, _TOKENS), own.first_alone),
        _alone(rows.row(shown.score.second, _TOKENS), own.second_alone),
        key="why_words",
        end=1.0,
        said=_SAID,
        links=own.pairs,
    )


def _alone(row: Row, places: tuple[int, ...]) -> Row:
    """The row with the tokens marked that have no partner."""
    words = [
        replace(word, kind="alone") if i in places else word for i, word in enumerate(row.words)
    ]
    return replace(row, words=words)
