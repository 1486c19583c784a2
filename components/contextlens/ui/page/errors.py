"""Error boundary: our errors become a sentence, others a reference to the log."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st
from streamlit.errors import FragmentHandledException

from contextlens.content.wording import escape
from contextlens.core import meters
from contextlens.core.errors import (
    BusyError,
    CheckpointError,
    ContextlensError,
    FetchError,
    ServiceAwayError,
)
from contextlens.ui.page import runs

_log = logging.getLogger("contextlens")
_PASSING = (BusyError, CheckpointError, FetchError, ServiceAwayError)
"""Errors that may not recur in another run."""


@contextmanager
def boundary(*, again: bool = True) -> Iterator[None]:
    """Show an error from inside as one message; the rest of the page stays.

    Args:
        again: True to offer a rerun of the page if that can help.
    """
    try:
        yield
    except ContextlensError as exc:
        show(exc, again=again)
    except FragmentHandledException:  # Streamlit reports it to `uncaught`
        runs.note("failed")
    except Exception as exc:  # noqa: BLE001 - the last place that can tell the visitor anything
        _refer(exc)


def uncaught(exc: Exception) -> bool:
    """Show an error that a callback or fragment raised outside all boundaries; return True."""
    if isinstance(exc, ContextlensError):
        show(exc)
    else:
        _refer(exc)
    return True


def show(exc: ContextlensError, *, again: bool = True) -> None:
    """Show one of our errors in a sentence, with a button to try again if that can help."""
    meters.count_error(exc)
    runs.note("refused")
    if str(exc) != exc.for_visitors:
        _log.error("%s", exc)
    draw(exc.for_visitors)
    if again and isinstance(exc, _PASSING):
        st.button("Try again", key="try_again", icon=":material/refresh:")  # any run tries again


def draw(message: str) -> None:
    """Draw the message of an error; lines after its first are code to copy."""
    sentence, _, code = message.partition("\n")
    st.error(escape(sentence), icon=":material/error:")
    if code:
        st.code(code, language="python", wrap_lines=True)


def _refer(exc: Exception) -> None:
    """Tell the visitor of an unexpected error, and write its details to the log."""
    meters.count_error(exc)
    runs.note("failed")
    reference = secrets.token_hex(4)
    about = {"reference": reference}
    _log.error("Unexpected error, reference %s", reference, exc_info=exc, extra=about)
    st.error(
        f"Something went wrong that should not (reference {reference}). Reload the page, or go "
        "back: its address has your view. Whoever runs this app finds the details in its log.",
        icon=":material/error:",
    )
