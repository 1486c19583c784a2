"""One point of a map: its true neighbours beside those on the map, and two pinned points."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from components.analysis.baseline import Band
from components.analysis.ruler import Ruler
from components.analysis.words import POOLINGS
from components.content.language import Claim, say
from components.content.wording import escape
from components.features.map import marks
from components.features.map.compute.shown import MapShown
from components.features.map.reading import neighbours_claim, pinned_claim
from components.ui.widgets import kit
from components.ui.widgets.comparison import drawing
from components.ui.widgets.comparison.ruler import RulerShown, pair_on_ruler, ruler_reading

__all__ = ["point_look"]

_LONGEST_NAME = 40


def point_look(shown: MapShown, band: Band | None, ruler: Ruler | None) -> None:
    """The chosen point, if any, and the pinned ones."""
    if shown.point is None:
        st.caption(say("map.point_panel.empty"))
    else:
        st.markdown(f"**{_name(shown, shown.point)}** · {_sentence(shown, shown.point)}")
        _buttons(shown, shown.point)
        _neighbours(shown, shown.point)
    _pins(shown, band, ruler)


def _buttons(shown: MapShown, point: int) -> None:
    of = marks.name_of(shown.picture)
    left, middle, right = st.columns(3, gap="small")
    for place, name in ((left, "A"), (middle, "B")):
        place.button(
            say(f"map.point_panel.pin_{name.lower()}"),
            key=f"map_to_pin_{name.lower()}",
            width="stretch",
            on_click=marks.pin,
            args=(of, name, point),
        )
    clear = say("map.point_panel.clear")
    right.button(clear, key="map_let_go", width="stretch", on_click=marks.choose, args=(of, None))


def _neighbours(shown: MapShown, point: int) -> None:
    """The nearest in the full space and on the map, in words and as tables."""
    true, near = shown.true_neighbors(point), shown.map_neighbors(point)
    name = shown.called(point) if shown.finding.one_name else shown.points.names[point]
    kit.reading([neighbours_claim(name, true, near)], key="reading_point")
    for key, rows in (("full", true), ("here", near)):
        st.caption(say(f"map.point_panel.{key}"))
        _table(shown, point, key, rows, set(true) & set(near))


def _table(shown: MapShown, point: int, key: str, rows: Sequence[int], both: set[int]) -> None:
    points, unit = shown.points, shown.points.unit.removesuffix("s")
    named = points.unit == "sentences" or not shown.finding.one_name
    columns = {
        "": ["✓" if row in both else "" for row in rows],
        "on map": [shown.labels.get(row, "") for row in rows],
        "cosine": shown.cosines(point, rows),
        **({unit: [points.names[row] for row in rows]} if named else {}),
        "sentence": [points.text(row) for row in rows],
    }
    kit.table(
        pd.DataFrame(columns),
        height=180,
        columns={
            "": st.column_config.TextColumn(width=28),
            "on map": st.column_config.TextColumn(width=56),
            "cosine": st.column_config.NumberColumn(format="%.4f", width=64),
        },
        key=f"map_near_{key}",
    )


def _pins(shown: MapShown, band: Band | None, ruler: Ruler | None) -> None:
    a, b = shown.marked.pin_a, shown.marked.pin_b
    if a is None and b is None:
        return
    if a is None or b is None:
        one = a if a is not None else b
        st.caption(say("map.point_panel.one_pin", name=_name(shown, one or 0)))
    else:
        on_ruler = _on_ruler(shown, a, b, ruler, band)
        if on_ruler is None or not on_ruler.ranges:
            kit.reading([_pinned(shown, a, b, band)], key="reading_pinned")
        else:
            names = {"a": _name(shown, a), "b": _name(shown, b)}
            st.caption(say("map.point_panel.pins", **names))
            kit.reading([ruler_reading(on_ruler)], key="reading_pinned")
            lowest = min(each.low for each in on_ruler.ranges)
            drawing.ruler(on_ruler, scale=(lowest, 1.0), key="map_ruler", height=160)
    of = marks.name_of(shown.picture)
    st.button(say("map.point_panel.unpin"), key="map_unpin", on_click=marks.unpin, args=(of,))


def _pinned(shown: MapShown, a: int, b: int, band: Band | None) -> Claim:
    has_layer = shown.layer >= 0
    return pinned_claim(
        shown.points.names[a],
        shown.points.names[b],
        shown.cosines(a, [b])[0],
        layer=shown.layer if has_layer else None,
        band=band if shown.points.unit == "words" and has_layer else None,
    )


def _on_ruler(
    shown: MapShown, a: int, b: int, ruler: Ruler | None, band: Band | None
) -> RulerShown | None:
    """Two pinned words among pairs of known kinds; None for other points, or several layers."""
    pooling = shown.picture.request.pooling
    if ruler is None or shown.points.unit != "words" or shown.layer < 0 or pooling not in POOLINGS:
        return None
    names = [shown.points.names[point] for point in (a, b)]
    cosine, at = shown.cosines(a, [b])[0], (shown.layer, pooling)
    return pair_on_ruler(names, cosine, ruler, at=at, band=band)


def _name(shown: MapShown, point: int) -> str:
    name = shown.points.names[point]
    return escape(name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…")


def _sentence(shown: MapShown, point: int) -> str:
    labels = [own[point] for own in shown.points.labels.values() if own[point]]
    if shown.points.unit == "sentences":
        return escape(" · ".join(labels[:3]))
    return escape(shown.points.text(point))
