"""Sharing a view: copy its address, show it as a QR code for a room, or save it as a file."""

from __future__ import annotations

from urllib.parse import urlsplit

import segno
import streamlit as st

from contextlens.content.language import say
from contextlens.core.errors import AccessError, StateError
from contextlens.ui.access import guard
from contextlens.ui.access.roles import UPLOAD
from contextlens.ui.files.uploads import take_file
from contextlens.ui.state import session
from contextlens.ui.state.address import from_json, to_json
from contextlens.ui.state.bounds import MAX_BYTES, MAX_TEXT, check_size, n_characters
from contextlens.ui.state.sharing import address_of, shareable
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets import kit
from contextlens.ui.widgets.component import component

# --- A view's address as a QR code

MOST = 858
"""Bytes in a code of version 20, 97 modules a side; finer ones are hard to scan off a wall."""
_EDGE = 4  # modules of white around it, as the standard requires


def fits(address: str) -> bool:
    """Return True if an address is short enough for a readable code."""
    return len(address.encode()) <= MOST


def qr_code(address: str) -> str:
    """Return the code as an SVG in a data URI, black on white in any theme. Takes up to 30 ms."""
    code = segno.make_qr(address, error="l")
    return code.svg_data_uri(border=_EDGE, dark="#000", light="#fff", omitsize=True)


_ASSETS = "contextlens.ui.frame"
_LOCAL_HOSTS = {"localhost", "127.0.0.1", "::1"}


def buttons(view: ViewState, page: str) -> None:
    """Draw Copy link, which copies at once, and the menu Share, both for this page's data alone.

    The menu's content is drawn when it is open.
    """
    address = address_of(view, page)
    view = shareable(view, page)
    data = {
        "address": address,
        "too_long": say("frame.share.too_long_to_copy"),
        "local": _local(view) if address is not None and _is_local(address) else None,
    }
    component(_ASSETS, "copy_link", data, key="copy_link", width="content")
    name = say("frame.share.menu")
    menu = st.popover(name, icon=":material/share:", key="share", on_change="rerun")
    if not kit.is_open(menu):
        return
    with menu:
        if address is not None:
            _draw_address(address)
        else:
            st.markdown(say("frame.share.too_long"))
        _draw_file(view)


def _is_local(address: str) -> bool:
    return urlsplit(address).hostname in _LOCAL_HOSTS


def _local(view: ViewState) -> dict[str, str]:
    """Return what Copy link says about an address of this computer, and the view as a file."""
    return {
        "copied": say("frame.share.copied_locally"),
        "save": say("frame.share.save"),
        "file": to_json(view).encode("utf-8", "replace").decode(),
    }


def _draw_address(address: str) -> None:
    """Draw the address in a field, and its QR code."""
    has_code = fits(address)
    code = qr_code(address) if has_code else ""
    data = {"address": address, "drawn": has_code, "qr": code}
    component(_ASSETS, "address", data, key="share_address")
    if not has_code:
        st.caption(say("frame.share.no_qr", n=len(address)))
    if _is_local(address):
        st.caption(say("frame.share.local"))
    st.caption(say("frame.share.privacy"))


def _draw_file(view: ViewState) -> None:
    n = n_characters(view)
    if n <= MAX_TEXT:
        st.download_button(
            say("frame.share.save"),
            lambda: to_json(view).encode("utf-8", "replace"),
            file_name="contextlens-view.json",
            mime="application/json",
            on_click="ignore",
            key="save_view",
        )
    else:
        st.caption(say("frame.share.too_much", n=n, most=MAX_TEXT))
    if not guard.is_allowed(UPLOAD):
        return
    st.file_uploader(
        say("frame.share.open"),
        type="json",
        key="open_view",
        on_change=_open_view,
        max_upload_size=MAX_BYTES // 1_000_000,
    )


def _open_view() -> None:
    file = take_file("open_view")
    if file is None:
        return
    try:
        guard.require(UPLOAD)
        check_size(len(file[1]))  # the field's limit holds in a browser only
        session.write(from_json(file[1].decode(), str(session.kept(session.PAGE) or "")))
    except UnicodeDecodeError:
        session.remember(say("frame.share.not_a_view"))
    except (AccessError, StateError) as exc:
        session.remember(str(exc))
