"""Controls that write the view."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from tests.support.fields import field


def page() -> None:
    import streamlit as st

    from contextlens.ui.widgets import inputs

    named = st.session_state.setdefault("named", "a file")
    inputs.menu(
        "Texts",
        {"ready": "Eight senses", "file": named},
        st.session_state.setdefault("chosen", "file"),
        lambda name: st.session_state.update(chosen=name, times=st.session_state.times + 1),
        key="collection",
    )


def test_a_former_title_that_a_browser_still_sends_is_no_choice() -> None:
    app = AppTest.from_function(page)
    app.session_state["times"] = 0
    app.run()
    first = field(app.selectbox, "collection").proto.id
    for name in ("ready", "file"):  # a choice leaves the menu, and the focus, where they are
        field(app.selectbox, "collection").set_value(name).run()
        assert app.session_state["chosen"] == name
        assert field(app.run().selectbox, "collection").proto.id == first
    app.session_state["times"] = 0
    app.session_state["named"] = "reviews.csv"
    app.run()
    assert field(app.selectbox, "collection").proto.id != first  # else the browser keeps "a file"
    menu = field(app.selectbox, "collection")
    menu.options[1] = "a file"  # what the browser has from the run before
    menu.set_value("a file").run()
    assert not app.exception
    assert app.session_state["times"] == 0
    assert field(app.selectbox, "collection").value == "file"
    field(app.selectbox, "collection").set_value("ready").run()
    assert (app.session_state["chosen"], app.session_state["times"]) == ("ready", 1)
