"""Downloads for a visitor: only what they asked for with a click, never what a view names.

Addresses, state files, Back and Forward name models, and anyone can make an address. So an address
alone gets only what is in memory or on this machine. Anything else needs a click on a button. The
click asks for one thing at one place of the page, until it is there or the visitor goes elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Literal

import streamlit as st

from contextlens.content.wording import escape
from contextlens.core import ModelSpec
from contextlens.ui.access import guard
from contextlens.ui.access.roles import FETCH
from contextlens.ui.state import session

_REQUESTS = "asked_for"  # by place, the key of the visitor's request there


def add(place: str, key: Hashable) -> None:
    """Record that the visitor wants this at a place of the page. Call in callbacks only."""
    session.keep(_REQUESTS, {**_requests(), place: key})


def is_requested(place: str, key: Hashable) -> bool:
    """Return True if the visitor asked for this at this place."""
    return _requests().get(place) == key


def forget(place: str) -> None:
    """Forget the visitor's request at a place: they have it, or want something else there."""
    if place in _requests():
        session.keep(
            _REQUESTS, {other: key for other, key in _requests().items() if other != place}
        )


def button(
    label: str,
    key: str,
    get: Callable[[], Any],
    *,
    kind: Literal["primary", "secondary"] = "secondary",
) -> None:
    """Draw the button that gets something; without permission, the reason why not."""
    why_not = guard.refusal(FETCH)
    if why_not:
        st.caption(escape(why_not))
        return
    st.button(label, icon=":material/download:", key=key, type=kind, on_click=get)


def with_size(label: str, spec: ModelSpec) -> str:
    """Return a label with the size of a model's download, if it is known."""
    size = spec.download_bytes
    return f"{label} ({size / 1e6:,.0f} MB)" if size else label


def _requests() -> dict[str, Hashable]:
    requests: dict[str, Hashable] | None = session.kept(_REQUESTS)
    return requests or {}
