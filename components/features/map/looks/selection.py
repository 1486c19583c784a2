"""What is looked for and what is selected on a map: as sentences, tables and a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import pandas as pd
import streamlit as st

from components.content.language import say
from components.core.schema import Passport
from components.features.map import marks
from components.features.map.compute.again import Again
from components.features.map.compute.shown import MapShown
from components.features.map.controls import FIND, NEAR
from components.features.map.reading import near_claim
from components.maps.points import context
from components.ui.state.view import ViewState
from components.ui.widgets import export, inputs, kit

__all__ = ["selection_look"]

_MOST_ROWS = 2_000
_MOST_LISTED = 200
_FIRST = {"on map": 0, "sentence": 1}
_SNIPPET = 90  # characters


def selection_look(view: ViewState, shown: MapShown) -> None:
    """Points by their word or sentence, those near a typed text, and those drawn around."""
    inputs.text(view, NEAR)
    _near(shown)
    inputs.text(view, FIND)
    _found(shown)
    selection = shown.marked.selection
    if selection is None:
        st.caption(say("map.selection_panel.empty"))
        return
    kit.reading(shown.selected_in_words(), key="reading_selection")
    _table(shown, selection.points)
    _buttons(shown, selection.points)


def _near(shown: MapShown) -> None:
    """The points nearest to a typed text, or why there are none."""
    near = shown.near
    if near is None:
        return
    if near.problem:
        st.info(near.problem)
        return
    kit.reading([near_claim(near.name, near.cosines)], key="reading_near")
    cosine = {"cosine": list(near.cosines)}
    _listed(shown, near.rows, cosine, key="map_near_to")


def _found(shown: MapShown) -> None:
    if shown.found is None:
        return
    n = len(shown.found)
    st.caption(say("map.selection_panel.found" if n else "map.selection_panel.not_found", n=n))
    if n:
        _listed(shown, shown.found[:_MOST_LISTED], {}, key="map_found")


def _listed(
    shown: MapShown, rows: Sequence[int], more: Mapping[str, list[float]], *, key: str
) -> None:
    """Points with their numbers on the map, and a snippet of their text."""
    columns = {
        "on map": [shown.labels.get(row, "") for row in rows],
        **more,
        "text": ["".join(context(shown.points, row, longest=_SNIPPET)) for row in rows],
    }
    kit.table(
        pd.DataFrame(columns),
        exact=tuple(more),
        height=180,
        columns={"on map": st.column_config.TextColumn(width=56)},
        key=key,
    )


def _table(shown: MapShown, rows: tuple[int, ...]) -> None:
    table = pd.DataFrame(shown.points.rows(rows[:_MOST_ROWS]))
    if any(row in shown.labels for row in rows):
        table.insert(0, "on map", [shown.labels.get(row, "") for row in rows[:_MOST_ROWS]])
    st.dataframe(
        table,
        hide_index=True,
        height=300,
        column_order=sorted(table.columns, key=lambda name: _FIRST.get(name, 2)),
        key="map_selection_table",
    )
    if len(rows) > _MOST_ROWS:
        st.caption(say("map.selection_panel.first_rows", shown=_MOST_ROWS, n=len(rows)))


def _buttons(shown: MapShown, rows: tuple[int, ...]) -> None:
    left, right = st.columns(2, gap="small")
    left.download_button(
        say("map.selection_panel.download"),
        partial(_csv, Again.of(shown), rows, shown.picture.passport),
        file_name="map-selection.csv",
        mime="text/csv",
        on_click="ignore",
        icon=":material/download:",
        width="stretch",
        key="map_selection_csv",
    )
    right.button(
        say("map.selection_panel.clear"),
        icon=":material/close:",
        width="stretch",
        key="map_clear",
        on_click=marks.clear_selection,
    )


def _csv(again: Again, rows: tuple[int, ...], passport: Passport) -> bytes:
    return export.to_csv(again.shown().points.rows(rows), passport)
