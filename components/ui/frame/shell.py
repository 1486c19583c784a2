"""What every page has: title and question, link and downloads, reading, tabs below."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode

import streamlit as st
from numpy.typing import NDArray
from streamlit.delta_generator import DeltaGenerator

from components.content.glossary import GLOSSARY
from components.content.wording import escape
from components.core.errors import StateError
from components.core.schema import Passport
from components.ui.frame import navigation
from components.ui.state import session
from components.ui.state.view import ViewState, from_json, to_json
from components.ui.widgets import export
from components.ui.widgets.picture_buttons import picture_buttons

__all__ = [
    "configure",
    "downloads",
    "header",
    "numbers",
    "passport_json",
    "reading",
    "tabs",
    "terms",
]

_CSS = """<style>
.stMainBlockContainer { padding-top: 3.4rem; padding-bottom: 3rem; max-width: 1320px; }
.stAppHeader { background: transparent; }
.stSidebar [data-testid="stSidebarHeader"] { height: 2.5rem; }
.stSidebar hr { margin: 0.25rem 0; }
.stMainBlockContainer h1 { padding: 0 0 1rem; font-size: 1.9rem; }
[class*="st-key-reading"] p { font-size: 1.15rem; line-height: 1.5; }
.stMain [data-testid="stCaptionContainer"] p { line-height: 1.4; }
[class*="_remove"] button [data-testid="stMarkdownContainer"] p {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
}
[class*="st-key-model"][data-stale="false"] ~ [class*="st-key-model"][data-stale="true"] {
  display: none;  /* a replaced picker stays, as stale, until the run is over */
}
[data-testid="stSelectboxVirtualDropdown"] { min-width: min(27rem, 92vw); }
.st-key-model_wish [data-testid="stAlertContainer"] { padding: 0.625rem 0.75rem; }
.st-key-model_wish [data-testid="stAlertContainer"] p { font-size: 0.875rem; line-height: 1.4; }
[class*="_example_"] button { padding-left: 0.5rem; }
.st-key-examples a { background: transparent; font-weight: 400; }
.terms { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; font-size: 0.875rem; opacity: 0.75; }
.term { position: relative; border-bottom: 1px dotted currentColor; cursor: help; }
.term:hover::after, .term:focus::after {
  content: attr(data-meaning); position: absolute; left: 0; top: 1.6em; z-index: 9;
  width: max-content; max-width: min(20rem, 70vw); padding: 0.5rem 0.75rem; border-radius: 0.5rem;
  background: #1f2933; color: #ffffff; line-height: 1.4;
}
.terms:has(.term:hover), .terms:has(.term:focus) { opacity: 1; }
.back span { font-size: 0.875rem; opacity: 0.7; }
.back p { margin: 0 0 0.75rem; font-size: 1.05rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.back mark { background: none; color: inherit; border-bottom: 2px solid #E69F00; }
.back del { opacity: 0.6; }
@media (max-width: 640px) {
  .st-key-map_bar { gap: 0.5rem 0.75rem; align-items: center; }
  .st-key-map_bar > * { flex: 1 1 100%; order: 3; width: auto !important; min-width: 0; }
  .st-key-map_bar > [class*="_source"] { flex: 1 1 9rem; order: 1; }
  .st-key-map_bar > :has(> .stPopover) { flex: 0 0 auto; order: 2; }
  .st-key-map_bar > [class*="_word"] { flex: 1 1 5rem; order: 4; }
  .st-key-map_bar > [class*="_color"] { flex: 2 1 10rem; order: 5; }
  .st-key-map_bar > [class*="_color"] .stSelectbox {
    display: flex; align-items: center; gap: 0.5rem; white-space: nowrap;
  }
  .st-key-map_bar > [class*="_color"] .stSelectbox > div { flex: 1 1 0; min-width: 0; }
  .st-key-map_bar > [class*="_color"] label { margin: 0; }
  .st-key-map_bar > :not([class*="_color"]) [data-testid="stWidgetLabel"] {
    position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
    white-space: nowrap;
  }
  [data-testid="stLayoutWrapper"]:has(> .st-key-map_panel), .st-key-map_panel { height: auto; }
  .stMainBlockContainer { padding-left: 1rem; padding-right: 1rem; }
  .stMainBlockContainer h1 { font-size: 1.5rem; }
  [data-testid="stLayoutWrapper"]:has(> .st-key-page_title) { flex-basis: 100%; }
  [class*="st-key-reading"] p { font-size: 1.05rem; }
}
</style>"""


def configure() -> None:
    """Page title, icon and width; and the few rules that the theme has no setting for.

    The icon is ours: Streamlit's own would be fetched from the network.
    """
    icon = str(files("components.ui.frame") / "assets" / "icon.svg")
    st.set_page_config(page_title="Contextlens", page_icon=icon, layout="wide")
    st.html(_CSS)


def header(name: str, view: ViewState) -> DeltaGenerator:
    """The page's title and question; gives the place for its downloads."""
    navigation.ensure_frame()
    page = navigation.row(name)
    top = st.container(horizontal=True, vertical_alignment="center", gap="small")
    with top:
        with st.container(gap=None, width="stretch", key="page_title"):
            st.title(page.title, anchor=False)
            st.caption(page.question)
        _link_popover(view)
        downloads = st.container(width="content", key="downloads")
    notice = session.take_notice()
    if notice:
        st.warning(escape(notice), icon=":material/info:")
    return downloads


def reading(sentences: Sequence[str], *, key: str = "reading") -> None:
    """What is on screen, in words; further readings of a page have keys that begin the same."""
    with st.container(key=key):
        st.markdown(" ".join(sentences))


def terms(*names: str) -> None:
    """Terms of the glossary in one muted line; each shows its meaning on hover, focus or touch."""
    marked = " ".join(
        f'<span class="term" tabindex="0" role="note" aria-label="{html.escape(name)}: '
        f'{html.escape(GLOSSARY[name])}" data-meaning="{html.escape(GLOSSARY[name])}">'
        f"{html.escape(name)}</span>"
        for name in names
    )
    st.html(f'<div class="terms">{marked}</div>')


@contextmanager
def downloads(
    place: DeltaGenerator, caption: str, *, name: str, chart: str = "", svg: str = ""
) -> Iterator[None]:
    """The page's Download menu: the formats of a chart or a drawing, then what is put inside."""
    with place, st.popover("Download", icon=":material/download:"):
        st.caption("Picture, with its passport as caption")
        picture_buttons(
            chart_key=chart, svg=svg, file_name=name, key=f"{name}_picture", caption=caption
        )
        st.caption("Numbers, with the passport inside")
        yield


def numbers(
    name: str,
    passport: Passport,
    *,
    rows: Callable[[], Sequence[Mapping[str, Any]]],
    arrays: Callable[[], Mapping[str, NDArray[Any]]],
) -> None:
    """A page's table as CSV and its arrays as NPZ; each is made when it is asked for."""
    _download(f"{name}.csv", "text/csv", lambda: export.to_csv(rows(), passport))
    _download(f"{name}.npz", "application/octet-stream", lambda: export.to_npz(arrays(), passport))


def _download(file_name: str, mime: str, make: Callable[[], bytes]) -> None:
    st.download_button(
        file_name.rsplit(".", maxsplit=1)[-1].upper(),
        make,
        file_name=file_name,
        mime=mime,
        on_click="ignore",
        width="stretch",
        key=file_name,
    )


def tabs(numbers: Callable[[], None], hood: Callable[[], None], limits: str) -> None:
    """The three tabs under a picture."""
    first, second, third = st.tabs(["Numbers", "Under the hood", "What this does not show"])
    with first:
        numbers()
    with second:
        hood()
    with third:
        st.markdown(limits)


def passport_json(passport: Passport) -> None:
    """The passport, to read and copy."""
    st.code(json.dumps(passport.as_dict(), indent=2, ensure_ascii=False), language="json")


def _link_popover(view: ViewState) -> None:
    with st.popover("Copy link", icon=":material/link:", key="copy_link"):
        if session.is_too_long(view):
            st.markdown("These texts are too long for an address. Send a state file instead.")
        else:
            st.markdown("Who opens this address sees this view.")
            st.code(_address(view), language=None, wrap_lines=True)
            st.caption("Your sentences are part of the address: share it as you would share them.")
        st.download_button(
            "Save the view as a file",
            lambda: to_json(view).encode("utf-8", "replace"),
            file_name="contextlens-view.json",
            mime="application/json",
            on_click="ignore",
            key="save_view",
        )
        st.file_uploader(
            "Open a view", type="json", key="open_view", on_change=_open_view, max_upload_size=2
        )


def _address(view: ViewState) -> str:
    """The address of this page on this view."""
    base = (st.context.url or "").split("?")[0]
    query = urlencode(session.parameters(view))
    return f"{base}?{query}" if query else base


def _open_view() -> None:
    file = session.value("open_view")
    if file is None:
        return
    try:
        session.write(from_json(file.getvalue().decode()))
    except UnicodeDecodeError:
        session.remember("This file is not text, so it is not a view. Choose another file.")
    except StateError as exc:
        session.remember(str(exc))
