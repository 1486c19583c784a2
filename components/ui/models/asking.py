"""What is fetched for a visitor: what they asked for with a click, and nothing that a view names.

An address, a state file, Back and Forward name models, and anyone can make an address: by itself it
gets what is in memory or on this machine. For anything else there is a button, and who pressed it
has asked for one thing at one place of the page, until it is there or they go elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Literal

import streamlit as st

from components.content.wording import escape
from components.core import ModelSpec
from components.ui.access import guard
from components.ui.access.roles import FETCH
from components.ui.state import session

__all__ = ["ask", "button", "forget", "is_asked", "with_size"]

_ASKED = "asked_for"  # by place, the key of what the visitor asked for there


def ask(place: str, key: Hashable) -> None:
    """Note that the visitor wants this at a place of the page. Call in callbacks only."""
    session.keep(_ASKED, {**_asked(), place: key})


def is_asked(place: str, key: Hashable) -> bool:
    """Whether this is what the visitor asked for at this place."""
    return _asked().get(place) == key


def forget(place: str) -> None:
    """The visitor has what they asked for at a place, or wants something else there."""
    if place in _asked():
        session.keep(_ASKED, {other: key for other, key in _asked().items() if other != place})


def button(
    label: str,
    key: str,
    get: Callable[[], Any],
    *,
    kind: Literal["primary", "secondary"] = "secondary",
) -> None:
    """The button that gets something, for who may; for others, why they may not."""
    why_not = guard.refusal(FETCH)
    if why_not:
        st.caption(escape(why_not))
        return
    st.button(label, icon=":material/download:", key=key, type=kind, on_click=get)


def with_size(label: str, spec: ModelSpec) -> str:
    """A label, with what there is to fetch of a model where that is known."""
    size = spec.download_bytes
    return f"{label} ({size / 1e6:,.0f} MB)" if size else label


def _asked() -> dict[str, Hashable]:
    found: dict[str, Hashable] | None = session.kept(_ASKED)
    return found or {}
