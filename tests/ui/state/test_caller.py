"""A page's thread knows its visitor."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from contextlens.ui.state import session


def script() -> None:
    import streamlit as st

    from contextlens.ui.state import session

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


def left() -> None:
    import streamlit as st
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    from contextlens.ui.state import session

    seen = st.session_state.setdefault("seen", [])
    ctx, asks = get_script_run_ctx(), session.caller()
    assert ctx is not None
    assert ctx.script_requests is not None
    assert asks is not None
    assert asks.is_cancelled is not None
    seen.append(asks.is_cancelled())
    ctx.script_requests.request_stop()  # as Streamlit does when the tab is closed
    try:
        asks.is_cancelled()
        seen.append("went on")
    except BaseException as exc:
        seen.append(type(exc).__name__)
        raise


def test_a_page_stops_waiting_when_its_visitor_is_gone() -> None:
    app = AppTest.from_function(left).run()
    assert not app.exception
    assert app.session_state["seen"] == [False, "StopException"]


def test_a_thread_without_a_page_is_nobody() -> None:
    assert session.caller() is None
