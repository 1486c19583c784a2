"""Where errors end: ours as a sentence, unknown ones as a reference to the log."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from components.content.wording import escape
from components.core.errors import CheckpointError, ContextlensError, FetchError

__all__ = ["boundary", "show"]

_log = logging.getLogger("contextlens")


@contextmanager
def boundary(*, again: bool = True) -> Iterator[None]:
    """Show what goes wrong inside as one message; the rest of the page stays.

    Args:
        again: whether to offer a run of the page where another one can help.
    """
    try:
        yield
    except ContextlensError as exc:
        show(exc, again=again)
    except Exception:  # noqa: BLE001 - the last place that can tell the visitor anything
        reference = secrets.token_hex(4)
        _log.exception("Unexpected error, reference %s", reference)
        st.error(
            f"Something went wrong that should not (reference {reference}). Nothing you typed is "
            "lost: go back, or press Reset. Whoever runs this app finds the details in its log.",
            icon=":material/error:",
        )


def show(exc: ContextlensError, *, again: bool = True) -> None:
    """One of our errors as the sentence it carries; with a way to try again where that can help."""
    st.error(escape(str(exc)), icon=":material/error:")
    if again and isinstance(exc, FetchError | CheckpointError):
        st.button("Try again", key="try_again", icon=":material/refresh:")  # any run tries again
