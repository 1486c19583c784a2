"""The concordance: every occurrence in its context, sorted, a page at a time."""

from __future__ import annotations

import streamlit as st

from components.analysis.baseline import Band
from components.features.senses.compute.concordance import PAGE_SIZE
from components.features.senses.compute.shown import Shown
from components.features.senses.controls import SORT, only_among
from components.features.senses.page import marks
from components.features.senses.page.toolbar import select
from components.features.senses.widgets.concordance import Cosines, Row, concordance_lines
from components.ui.widgets import inputs, kit

__all__ = ["concordance", "random_mean"]


def concordance(shown: Shown, band: Band | None) -> None:
    """The occurrences that are selected, or all.

    Args:
        shown: the word.
        band: cosines of random pairs of words by layer; None where they are not known.
    """
    senses = shown.senses
    own = senses.concordance
    with kit.controls("concordance"):
        _sort(shown)
        _only(shown)
        if shown.drawn and shown.is_selected:
            st.button("Show all", icon=":material/close:", key="senses_clear", type="tertiary",
                      on_click=marks.clear)  # fmt: skip
        if senses.chosen is not None:
            st.button(
                "Clear selection",
                icon=":material/close:",
                key="senses_let_go",
                type="tertiary",
                on_click=marks.let_go,
            )
        _pages(shown)
    row = None if senses.chosen is None else shown.every_row[senses.chosen]
    to = "to your sentence" if senses.cosine_to == "own" else "to the chosen"
    rows = shown.rows
    concordance_lines(
        [Row(line, shown.color(line.place), shown.mark(line.place)) for line in own.lines],
        key="senses_concordance",
        name=f"Occurrences of {senses.found.word}, page {own.page} of {own.n_pages}",
        marked_by=shown.picture.by,
        chosen=row,
        cosines=Cosines(f"cosine {to}", random_mean(shown, band)) if senses.cosine_to else None,
        on_pick=lambda picked: marks.choose(picked, rows),
    )


def random_mean(shown: Shown, band: Band | None) -> float | None:
    """The mean cosine of random pairs at the layer shown; None where it is not known."""
    layer = shown.senses.layer
    return float(band.mean[layer]) if band is not None and layer < len(band.mean) else None


def _sort(shown: Shown) -> None:
    """What they can be sorted by: only what there is."""
    senses, offered = shown.senses, dict(SORT.options)
    if senses.cosines is None:
        offered.pop("cosine")
    if not senses.found.senses:
        offered.pop("sense")
    if not senses.grouping.each:
        offered.pop("group")
    select(shown.view, SORT.among(offered), marks.first_page)


def _only(shown: Shown) -> None:
    senses = shown.senses
    grouping = senses.grouping
    some = bool(grouping.n_none and grouping.each)
    control = only_among(senses.found.senses, len(grouping.each), some_in_none=some)
    if len(control.options) > 2:
        select(shown.view, control, marks.undrawn)


def _to(first: int) -> None:
    marks.to_page(first // PAGE_SIZE + 1)


def _pages(shown: Shown) -> None:
    """Which of them are shown, and a step back and on."""
    own = shown.senses.concordance
    n, first = len(own.order), (own.page - 1) * PAGE_SIZE
    if n <= PAGE_SIZE:
        what = "occurrence" if n == 1 else "occurrences"
        st.markdown(f"{n:,} {what}", width="content")
        return
    inputs.steps("senses", first, n, at_once=PAGE_SIZE, on_step=_to)
