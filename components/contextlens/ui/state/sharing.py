"""The view that others may have, and its address."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlencode

import streamlit as st

from contextlens.corpus.store.tables import is_name
from contextlens.ui.state import session
from contextlens.ui.state.controls import TEXT_PAGES, TEXTS
from contextlens.ui.state.view import Value, ViewState


def shareable(view: ViewState, page: str) -> ViewState:
    """Return a view without other pages' corpora and files: their names let others see them.

    The titles of their columns go with them.
    """
    shown = {page, TEXTS} if page in TEXT_PAGES else {page}
    is_private = any(_names_texts(n, v) for n, v in view.controls.get(TEXTS, {}).items())

    def stays(other: str, name: str, value: Value) -> bool:
        has_title = is_private and TEXTS not in shown and (other == TEXTS or name == "color")
        return other in shown or not (has_title or _names_texts(name, value))

    controls = {
        other: {n: v for n, v in choices.items() if stays(other, n, v)}
        for other, choices in view.controls.items()
    }
    return replace(view, controls={other: own for other, own in controls.items() if own})


def _names_texts(control: str, value: Value) -> bool:
    """Return True if a control's value names a stored corpus or a file."""
    stored = control in {"collection", "corpus", "other_corpus"} and is_name(str(value))
    return stored or control in {"file", "file_name", "pairs"}


def address_of(view: ViewState, page: str) -> str | None:
    """Return the address of this page with its shareable view; None if it is too long."""
    view = shareable(view, page)
    return None if session.is_too_long(view) else _address(view)


def _address(view: ViewState) -> str:
    """Return the address of this page with this view."""
    base = (st.context.url or "").split("?")[0]
    query = urlencode(session.parameters(view))
    return f"{base}?{query}" if query else base
