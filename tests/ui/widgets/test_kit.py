"""The parts that every page is made of, where a page's own test would not see them."""

from __future__ import annotations

from collections import UserList

import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from contextlens.ui.widgets import kit


def drawing() -> None:
    import streamlit as st

    from contextlens.ui.widgets import kit

    page = st.selectbox("page", ["tokens", "masks"], key="page")
    fails = st.toggle("fail", key="fail")
    with kit.placeholder(page, height=400):
        if fails:
            raise RuntimeError("nothing is drawn")
    st.caption("picture")


def choosing() -> None:
    import streamlit as st

    from contextlens.ui.widgets import kit

    kit.one_of({name: lambda name=name: st.caption(name) for name in "ab"}, key="tabs")


def place_of_picture(app: AppTest) -> list[int]:
    return [i for i, each in app.main.children.items() if each.type == "caption"]


def test_a_skeleton_keeps_room_only_until_there_is_a_picture(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Above a picture that stands it would push it down, on a machine that takes its time."""
    shown: list[int] = []
    skeleton = st.skeleton
    monkeypatch.setattr(
        st, "skeleton", lambda **own: (shown.append(own["height"]), skeleton(**own))[1]
    )
    app = AppTest.from_function(drawing)
    app.session_state["fail"] = True
    assert app.run().exception
    assert app.run().exception
    assert shown == [400, 400]  # nothing was drawn yet
    app = app.toggle(key="fail").set_value(False).run()
    assert shown == [400] * 3
    first = place_of_picture(app)
    app = app.run().run()
    assert shown == [400] * 3
    assert place_of_picture(app) == first  # what follows is not drawn anew
    app = app.selectbox(key="page").set_value("masks").run()
    app = app.selectbox(key="page").set_value("tokens").run()
    assert shown == [400] * 5


def test_of_several_tabs_the_open_one_alone_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kit, "is_open", lambda tab: bool(tab.open))  # as it is in the app
    app = AppTest.from_function(choosing).run()
    assert [tab.label for tab in app.tabs] == ["a", "b"]
    assert [said.value for said in app.caption] == ["a"]
    app.session_state["tabs"] = "b"
    assert [said.value for said in app.run().caption] == ["b"]


def two_tables() -> None:
    import streamlit as st

    from contextlens.ui.widgets import kit

    number = st.number_input("number", value=-0.5, key="number")
    for place in st.columns(2):
        with place:
            st.caption("above")
            kit.table([{"n": number}], key=f"table_{number}", exact=["n"])
            number += 1


def test_a_table_drawn_again_stands_in_its_place_and_a_new_one_has_its_own_numbers() -> None:
    app = AppTest.from_function(two_tables).run().run()
    for numbers in ([-0.5, 0.5], [0.5, 1.5], [-0.5, 0.5]):
        app = app.number_input(key="number").set_value(numbers[0]).run()
        shown = [column.dataframe[0] for column in app.columns]
        assert [table.value["n"].tolist() for table in shown] == [[n] for n in numbers]


class Built(UserList[dict[str, int]]):
    __repr__ = object.__repr__


def test_rows_that_are_built_on_demand_are_told_apart_by_what_they_hold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn: list[str] = []
    monkeypatch.setattr(kit, "_draw_kept_table", lambda identity, _: drawn.append(identity))
    for start in (0, 1, 0):
        rows = Built({"n": start + i} for i in range(2))
        kit.table(rows, key="table")
        kit.table(pd.DataFrame(list(rows)), key="table")
    first, second, again = drawn[::2]
    assert first == again != second
    assert drawn[1] == drawn[5] != drawn[3]


def test_a_large_table_is_drawn_and_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[str] = []
    drawn: list[object] = []
    monkeypatch.setattr(kit, "_draw_kept_table", lambda identity, _: kept.append(identity))
    monkeypatch.setattr(kit, "_draw_table", lambda rows, *_: drawn.append(rows))
    kit.table([{"text": "a" * 200_000}], key="table")
    kit.table([{"text": "a"}], key="table")
    assert (len(drawn), len(kept)) == (1, 1)
