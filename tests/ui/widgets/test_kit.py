"""The parts that every page is made of, where a page's own test would not see them."""

from __future__ import annotations

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest


def drawing() -> None:
    import streamlit as st

    from components.ui.widgets import kit

    page = st.selectbox("page", ["tokens", "masks"], key="page")
    fails = st.toggle("fail", key="fail")
    with kit.room(page, height=400):
        if fails:
            raise RuntimeError("nothing is drawn")
    st.caption("picture")


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
