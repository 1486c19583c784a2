"""Above the map: what is mapped, what a point is, and its colour; the rest in menus."""

from __future__ import annotations

from typing import cast

import streamlit as st

from components.features.map import controls
from components.features.map.compute.asked import Asked
from components.features.map.page import file_panel
from components.features.map.request import by_chosen_words, most_points
from components.maps.points import Unit
from components.ui.corpora.known import titles
from components.ui.state.view import ViewState
from components.ui.widgets import inputs, kit, sentences

__all__ = ["toolbar"]


def toolbar(view: ViewState, asked: Asked) -> None:
    """The controls of the page."""
    with kit.controls("map"):
        inputs.select(view, controls.SOURCE)
        if controls.SOURCE.of(view) == "kept":
            inputs.select(view, controls.kept_among(titles(view, controls.KEPT.asked(view) or "")))
        inputs.choice(view, controls.UNIT)
        if by_chosen_words(view):
            inputs.select(view, controls.word_of())
        inputs.select(view, asked.color)
        with st.popover("Texts", type="tertiary"):
            _texts(view, asked)
        with st.popover("Settings", type="tertiary"):
            _settings(view)


def _texts(view: ViewState, asked: Asked) -> None:
    """Which texts and which of their words."""
    source, unit = controls.SOURCE.of(view), cast("Unit", controls.UNIT.of(view))
    if source == "sentences":
        sentences.sentence_editor(view, "sentences", where=controls.PAGE, least=1)
    if source == "file":
        file_panel.columns(view)
    if unit != "sentences" and not by_chosen_words(view):
        inputs.text(view, controls.only_of(unit))
    if unit == "words" and asked.corpus is not None and asked.corpus.spans is not None:
        inputs.switch(view, controls.EVERY_WORD)
    if unit == "tokens":
        inputs.switch(view, controls.SPECIAL)
    inputs.select(view, controls.AT_MOST.among(_point_numbers()))


def _point_numbers() -> dict[str, str]:
    """How many points there may be here, with their titles."""
    every = controls.AT_MOST.options
    return {n: title for n, title in every.items() if int(n) <= most_points()}


def _settings(view: ViewState) -> None:
    """How points are placed."""
    unit = cast("Unit", controls.UNIT.of(view))
    inputs.select(view, controls.FOOTING)
    if unit != "tokens":
        inputs.select(view, controls.pooling_of(unit))
    left, right = st.columns(2, gap="small")
    with left:
        inputs.select(view, controls.METHOD)
        inputs.number(view, controls.NEIGHBORS)
        inputs.number(view, controls.SEED)
    with right:
        inputs.select(view, controls.METRIC)
        inputs.select(view, controls.MIN_DIST)
        inputs.choice(view, controls.DIMS)
    inputs.select(view, controls.BESIDE)
    inputs.choice(view, controls.EFFORT)
