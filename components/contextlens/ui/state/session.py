"""The only owner of session state and of the address.

The address is the view: `current` reads it, and `write`, called in callbacks only, changes both.
Writing it on every run would undo the browser's Back. Parameters set by a page would vanish when
Streamlit's own menu navigates, so our own menu has links that carry the view. Only
`requested_model.apply` writes outside a callback: once for each chosen model, when it is loaded.
"""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import replace
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from contextlens.core.caller import Caller
from contextlens.core.errors import ServiceAwayError, StateError
from contextlens.core.settings import DEMO_CHARACTERS
from contextlens.ui.state.address import MAX_ADDRESS, decode, encode, to_json
from contextlens.ui.state.bounds import MAX_TEXT, check_demo, n_characters
from contextlens.ui.state.controls import PRESENT
from contextlens.ui.state.services import service, settings
from contextlens.ui.state.view import DEFAULT, MAX_CHARACTERS, ViewState

_PARAMETER = "s"
_VIEW = "_view"  # (address parameter, its view)
_LONG = "_long_views"  # views too long for an address, by the token that replaces them there
_NOTICE = "_notice"
_MAX_LONG = 20
_LONG_CHARACTERS = 500_000  # of all texts in those views
_TOKEN = "file-"
_SHOWN = "_shown"  # by key, the key of the widget that `bind` returned last
_REQUEST = "_request"  # the chosen model that is not loaded yet
_SESSION = "_session"
_KEPT = "_kept"  # by name, values outside the view
PAGE = "page"
"""The name under which a visit keeps the name of the page that it is on."""
_TITLES = "_titles"  # by key, what the widget showed last for its value
_TURNS = "_turns"  # by key, how often a widget was replaced by one with another value


def default() -> ViewState:
    """Return the opening example on the first model that is allowed here."""
    try:
        first = service().models()[0].id
    except ServiceAwayError:  # before its first answer; the page says so
        first = next(iter(settings().models), DEFAULT.model)
    return DEFAULT if first == DEFAULT.model else replace(DEFAULT, model=first)


def current() -> ViewState:
    """Return the view that the address names; else the default view, with a notice."""
    parameter = st.query_params.get(_PARAMETER, "")
    cached = st.session_state.get(_VIEW)
    if cached is not None and cached[0] == parameter:
        view: ViewState = cached[1]
        return view
    try:
        view = _read(parameter)
        _check(view)
    except StateError as exc:
        st.session_state[_NOTICE] = f"{exc} You see the opening example instead."
        view = default()
    st.session_state[_VIEW] = (parameter, view)
    return view


def write(view: ViewState) -> None:
    """Make this the view, in the session and in the address.

    Call in callbacks only, or when the work that a callback started has ended
    (`requested_model.apply`). A demo refuses a view beyond its bounds, and the next run says why.
    """
    try:
        _check(view)
    except StateError as exc:
        remember(str(exc))
        return
    parameter = _parameter(view)
    st.session_state[_VIEW] = (parameter, view)
    if parameter:
        st.query_params[_PARAMETER] = parameter
    else:
        st.query_params.pop(_PARAMETER, None)


def is_phone() -> bool:
    """Return True if the browser says that it is a phone's."""
    return "Mobi" in str(st.context.headers.get("User-Agent", ""))


def is_presented() -> bool:
    """Return True if the current view is in present mode."""
    return PRESENT.of(current())


def parameters(view: ViewState) -> dict[str, str]:
    """Return the address parameters of a view, for links."""
    parameter = _parameter(view)
    return {_PARAMETER: parameter} if parameter else {}


def is_too_long(view: ViewState) -> bool:
    """Return True if a view does not fit in an address and needs a state file."""
    return _is_beyond(view, encode(view))


def max_characters() -> int:
    """Return the largest number of characters of one typed text."""
    return DEMO_CHARACTERS if settings().demo else MAX_CHARACTERS


def take_notice() -> str:
    """Return the notice for the visitor, once; empty for none."""
    return str(st.session_state.pop(_NOTICE, ""))


def remember(notice: str) -> None:
    """Tell the visitor something on the next run."""
    st.session_state[_NOTICE] = notice


def bind(key: str, current_value: Any, title: str = "") -> str:
    """Return the key of a widget for a value of the view; use that value as the widget's default.

    The title is what the widget shows for the value, where that can change: the browser would keep
    a former one.

    If the view changed by other means (Back, another widget), the key is new, and so is the widget.
    Setting the old widget's value would not work: a closed menu never receives it, and a second
    Back, sent before the browser received the first, would count as typing.
    """
    n_replaced = st.session_state.setdefault(_TURNS, {})
    widget_key = f"{key}-{n_replaced[key]}" if key in n_replaced else key
    shown = st.session_state.setdefault(_TITLES, {})
    former_value, former_title = shown.get(key, (current_value, title))
    is_retitled = former_value == current_value and former_title != title
    shown[key] = current_value, title
    if is_retitled or st.session_state.get(widget_key, current_value) != current_value:
        n_replaced[key] = n_replaced.get(key, 0) + 1
        widget_key = f"{key}-{n_replaced[key]}"
    st.session_state.setdefault(_SHOWN, {})[key] = widget_key
    return widget_key


def is_shown(key: str) -> bool:
    """Return True if a key from `bind` is a current widget's. Ask in callbacks before writing.

    A browser that has not yet learnt that a widget was replaced still sends the old one's value (a
    second Back on a slow phone). Streamlit takes it for a change, but nobody typed it.
    """
    return key in st.session_state.get(_SHOWN, {}).values()


def value(key: str) -> Any:
    """Return a widget's value, inside its callback."""
    return st.session_state.get(key)


def trigger(key: str, name: str) -> Any:
    """Return the value that a component's JavaScript sent; only in the callback of its change."""
    is_gone = key not in st.session_state  # another page came with it
    if is_gone:
        st.session_state[key] = {}  # without a value, Streamlit does not look for what was sent
    sent = st.session_state[key].get(name)
    if is_gone:
        del st.session_state[key]
    return sent


def requested_model() -> Any:
    """Return the request for a model that `requested_model.py` keeps here, or None."""
    return st.session_state.get(_REQUEST)


def keep_requested_model(request: Any) -> None:
    """Keep the request for a model, or None. It is not part of the view."""
    st.session_state[_REQUEST] = request


def session() -> str:
    """Return a name for this visit, the same until the page is left or reloaded."""
    return str(st.session_state.setdefault(_SESSION, uuid.uuid4().hex))


def caller() -> Caller | None:
    """Return the visitor whose page, callback or fragment this thread runs; None without one."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return None
    return Caller(session(), is_cancelled=_is_gone)


def _is_gone() -> bool:
    """Return False while the visitor waits for what this thread computes.

    If the tab is closed, or the visitor asked for another view, reading the session's state makes
    Streamlit end the script with an exception of its own.
    """
    st.session_state.get(_SESSION)
    return False


def kept(name: str) -> Any:
    """Return the value that this visit keeps under a name beside its view, or None."""
    return st.session_state.get(_KEPT, {}).get(name)


def keep(name: str, value: Any) -> None:
    """Keep a value under a name for this visit beside its view, such as a selection."""
    st.session_state.setdefault(_KEPT, {})[name] = value


def _check(view: ViewState) -> None:
    """Check that a view is small enough for this server.

    Raises:
        StateError: it is not.
    """
    if settings().demo:
        check_demo(view)


def _read(parameter: str) -> ViewState:
    if not parameter:
        return default()
    if not parameter.startswith(_TOKEN):
        return decode(parameter, str(kept(PAGE) or ""))
    view: ViewState | None = st.session_state.get(_LONG, {}).get(parameter)
    if view is None:
        raise StateError(
            "This view is too long for an address. Open its state file (Share, Open a view)."
        )
    return view


def _parameter(view: ViewState) -> str:
    if view == default():
        return ""
    parameter = encode(view)
    if not _is_beyond(view, parameter):
        return parameter
    token = _TOKEN + hashlib.sha256(to_json(view).encode("utf-8", "replace")).hexdigest()[:16]
    _keep_long(token, view)
    return token


def _is_beyond(view: ViewState, parameter: str) -> bool:
    """Return True if a view's parameter is too long to send, or its texts too long in all."""
    return len(parameter) > MAX_ADDRESS or n_characters(view) > MAX_TEXT


def _keep_long(token: str, view: ViewState) -> None:
    """Keep a view that is too long for an address, and the latest other ones within the bounds."""
    views = st.session_state.setdefault(_LONG, {})
    views.pop(token, None)
    views[token] = view
    n = sum(map(n_characters, views.values()))
    while len(views) > 1 and (len(views) > _MAX_LONG or n > _LONG_CHARACTERS):
        n -= n_characters(views.pop(next(iter(views))))
