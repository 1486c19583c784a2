"""Who asks, as a page's thread knows it."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from components.ui.state import session


def script() -> None:
    import streamlit as st

    from components.ui.state import session

    @st.fragment
    def part() -> None:
        st.button("Again")
        st.text(str(session.caller()))

    part()


def test_a_page_and_its_fragments_ask_as_their_visitor_and_no_other() -> None:
    one, other = (AppTest.from_function(script).run() for _ in range(2))
    first = one.text[0].value
    assert one.button[0].click().run().text[0].value == first
    assert other.text[0].value != first
    assert "bulk=False" in first
    assert "name=None" not in first


def test_a_thread_without_a_page_is_nobody() -> None:
    assert session.caller() is None
