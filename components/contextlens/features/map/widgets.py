"""The page's own widgets: cards to select by click or keys, and panels to choose its texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import streamlit as st

from contextlens.content.language import say
from contextlens.features.map.cards import Card
from contextlens.features.map.controls import FILE, FILE_NAME, LABELS, SOURCE, TEXT, UNIT
from contextlens.ui.corpora.catalogue import titles
from contextlens.ui.corpora.own_file import OwnFile
from contextlens.ui.frame import navigation
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets.chips import visible
from contextlens.ui.widgets.component import component, css_class

_TEXTS: tuple[Literal["before", "marked", "after", "label"], ...]
_TEXTS = ("before", "marked", "after", "label")


def _as_sentences(view: ViewState) -> ViewState:
    """The view with a point for each row of a file, unless the visitor chooses otherwise."""
    return UNIT.put(view, UNIT.among(UNIT.options, default="sentences").of(view))


OWN_FILE = OwnFile(
    source=SOURCE, file=FILE, name=FILE_NAME, text=TEXT, labels=LABELS, first=_as_sentences
)


def kept_panel(view: ViewState) -> None:
    """Links to choose a corpus, or to add one."""
    with st.container(border=True, key="map_choose_kept"):
        if titles(view):
            st.markdown(say("map.kept.choose"))
        else:
            st.markdown(say("map.kept.none"))
        navigation.link(navigation.row("corpora"), view, label=say("map.kept.link"))


def point_cards(
    cards: Sequence[Card],
    *,
    chosen: int | None,
    chart: str,
    on_choose: Callable[[int], None],
    on_open: Callable[[int], None],
) -> None:
    """Draw the cards of some points.

    Args:
        cards: the cards, in order.
        chosen: the selected point.
        chart: the key of the map's chart, on which the browser shows the card that has the focus.
        on_choose: called with a point that is clicked, or that arrow keys rest on.
        on_open: called with a point on Enter or a double click.
    """
    known = {card["point"] for card in cards}

    def receive(message: object) -> None:
        if not isinstance(message, Mapping):
            return
        point, action = message.get("point"), message.get("wish")
        if type(point) is int and point in known:  # `type`, because True is an int too
            if action == "choose":
                on_choose(point)
            elif action == "open":
                on_open(point)

    data = {
        "name": say("map.cards.name"),
        "chosen": -1 if chosen is None else chosen,
        "chart": css_class(chart),
        "cards": [card | {name: visible(card[name]) for name in _TEXTS} for card in cards],
    }
    component("contextlens.features.map", "cards", data, key="map_cards", on_pick=receive)


def webgl_check(on_answer: Callable[[object], None]) -> None:
    """Ask the browser for WebGL; it answers if it has none."""
    component("contextlens.features.map", "webgl", {}, key="map_webgl", on_pick=on_answer)
