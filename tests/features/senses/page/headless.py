"""Senses, headless: the page opened, and the lines of its concordance."""

from __future__ import annotations

from typing import Any

from streamlit.testing.v1 import AppTest

from components.features.senses.controls import PAGE
from components.ui.state.view import DEFAULT, ViewState
from tests.support.pages import chart, framed, given, reading, settled

__all__ = ["assert_whole", "lines", "opened"]


def opened(view: ViewState = DEFAULT) -> AppTest:
    return settled(framed(view, PAGE))


def lines(app: AppTest, key: str = "senses_concordance") -> list[dict[str, Any]]:
    return given(app, key)["lines"]


def assert_whole(app: AppTest) -> None:
    assert not app.exception
    assert not app.error
    assert chart(app, "senses_chart")["data"]
    assert reading(app)
    assert lines(app)
