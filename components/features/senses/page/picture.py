"""The first screen of Senses: the map of the occurrences, the curve over layers, the reading."""

from __future__ import annotations

import streamlit as st

from components.content.language import say
from components.content.wording import escape
from components.features.senses.compute.shown import Shown, name_of
from components.features.senses.figures.curve import separation_curve
from components.features.senses.figures.map import map_order, senses_map
from components.features.senses.page import marks
from components.features.senses.page.groups import groups
from components.features.senses.reading import uses_claim
from components.ui.widgets import kit
from components.ui.widgets.layer_bar import layer_bar
from components.ui.widgets.sense_claims import senses_claim, senses_sure, senses_title

__all__ = ["CHART", "HEIGHT", "in_words", "picture", "word_map"]

CHART = "senses_chart"
HEIGHT = 400
_PHONE_HEIGHT = 360
_CONFIG = {
    "displaylogo": False,
    "displayModeBar": True,
    "scrollZoom": False,
    "modeBarButtonsToRemove": ["autoScale2d", "toImage", "zoom2d", "zoomIn2d", "zoomOut2d"],
}


def picture(shown: Shown) -> None:
    """The map, and beside it the curve; of a word whose senses cannot be tested its groups."""
    left, right = st.columns(2, gap="medium")
    with left:
        word_map(shown, key=CHART, rows=shown.every_row, selected=shown.selected)
        layer_bar(
            shown.view, shown.senses.layers, shown=shown.senses.layer, framed=[CHART], plays=True
        )
    with right:
        if shown.senses.course.curve:
            _curve(shown)
        else:
            groups(shown, height=HEIGHT)


def in_words(shown: Shown) -> None:
    """The reading, and in small type what it rests on."""
    senses = shown.senses
    found, curve = senses.found, senses.course.curve
    claim = senses_claim(found.word, curve, found.trial, senses.layer)
    kit.reading([*claim, uses_claim(found)], sure=senses_sure(curve, found.trial))
    for note in senses.notes:
        st.caption(escape(note))


def word_map(
    shown: Shown,
    *,
    key: str,
    rows: tuple[int, ...],
    selected: tuple[int, ...] | None,
    listed: tuple[int, ...] | None = None,
) -> None:
    """A map that can be clicked and drawn around.

    Args:
        shown: the word.
        key: of the chart.
        rows: what names each occurrence on the page's own side; -1 for none.
        selected: places that stay while others fade; None for no selection.
        listed: the rows that the page's concordance shows; its own where not given.
    """
    senses, own = shown.senses, shown.picture
    figure = senses_map(
        own.places,
        senses.layer,
        own.spots,
        own.names,
        own.codes,
        titles=own.titles,
        none=own.none,
        chosen=senses.chosen,
        selected=selected,
        near=own.near,
        own=own.own,
        narrow=True,
        height=_PHONE_HEIGHT if _is_phone() else HEIGHT,
    )
    kit.chart(
        figure,
        key=key,
        config={**_CONFIG, "displayModeBar": not _is_phone()},
        on_select=marks.on_map(
            key,
            name_of(senses),
            map_order(own.names, own.codes),
            rows,
            shown.rows if listed is None else listed,
        ),
        selection_mode=("points", "box", "lasso"),
        alt=say("senses.map_alt", title=own.titles[senses.layer], n=senses.found.n, by=own.by),
    )


def _is_phone() -> bool:
    """Whether it is drawn for a phone."""
    return "Mobi" in str(st.context.headers.get("User-Agent", ""))


def _curve(shown: Shown) -> None:
    senses = shown.senses
    found, curve = senses.found, senses.course.curve
    title = senses_title(found.word, curve, found.trial)
    figure = separation_curve(
        [("right sense", curve)],
        senses.found.trial.chance,
        layer=senses.layer,
        title=title,
        narrow=True,
        height=HEIGHT,
    )
    kit.chart(
        figure,
        key="senses_curve",
        alt=say("senses.curve_alt", title=title),
    )
