"""What is searched for and what is selected on a map: as a sentence, a table and a file."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from components.features.map import marks
from components.features.map.compute.shown import MapShown
from components.features.map.controls import FIND
from components.ui.state.view import ViewState
from components.ui.widgets import export, inputs

__all__ = ["selection_look"]

_MOST_ROWS = 2_000


def selection_look(view: ViewState, shown: MapShown) -> None:
    """Points by their word or sentence, and those that were drawn around."""
    inputs.text(view, FIND)
    if shown.found is not None:
        n = len(shown.found)
        st.caption(f"**{n:,}** found" + (", ringed on the map." if n else ": try another word."))
    selection = shown.marked.selection
    if selection is None:
        st.caption(
            "Choose the lasso or the box above the map and draw around points: they are listed "
            "here, and marked in the other map."
        )
        return
    st.markdown(" ".join(shown.selected_in_words()))
    _table(shown, selection.points)
    _buttons(shown, selection.points)


def _table(shown: MapShown, rows: tuple[int, ...]) -> None:
    table = pd.DataFrame(shown.points.rows(rows[:_MOST_ROWS]))
    st.dataframe(
        table,
        hide_index=True,
        height=300,
        column_order=["sentence", *(name for name in table.columns if name != "sentence")],
        key="map_selection_table",
    )
    if len(rows) > _MOST_ROWS:
        st.caption(f"The first {_MOST_ROWS:,} are listed; the file has all {len(rows):,}.")


def _buttons(shown: MapShown, rows: tuple[int, ...]) -> None:
    left, right = st.columns(2, gap="small")
    left.download_button(
        "Download CSV",
        lambda: export.to_csv(shown.points.rows(rows), shown.picture.passport),
        file_name="map-selection.csv",
        mime="text/csv",
        on_click="ignore",
        icon=":material/download:",
        width="stretch",
        key="map_selection_csv",
    )
    right.button("Clear", icon=":material/close:", width="stretch", key="map_clear",
                 on_click=marks.clear_selection)  # fmt: skip
