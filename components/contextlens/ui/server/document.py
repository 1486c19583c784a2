"""The HTML document that a browser opens: Streamlit's own, with our title and style from the start.

A style sheet that arrived with the first run of a page would shift what is already drawn.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path

import streamlit as st
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse
from starlette.routing import Route
from streamlit.file_util import get_static_dir
from streamlit.url_util import make_url_path

from contextlens.core.errors import SettingsError
from contextlens.ui.access import visitor_key
from contextlens.ui.access.oidc import NOTE_ADDRESS
from contextlens.ui.page.navigation import PAGES
from contextlens.ui.state.services import has_visitor_keys

_STREAMLITS_TITLE = "<title>Streamlit</title>"
_NEEDED = (
    *("PageLink", "Button", "Selectbox", "TextInput", "BidiComponent", "ButtonGroup", "Html"),
    *("Checkbox", "DownloadButton"),
)
"""Parts of Streamlit's frontend that the pages need, requested all at once.

Otherwise the browser requests them one by one, each after the page has been drawn without it.
"""
_STYLES = ("frame.css", "phone.css")
_PRESENT = "present.css"
"""The styles of present mode, which `present.js` switches on.

Off, they cost nothing: their `:has()` would have the browser style each page anew at each change.
"""
_SCRIPTS = ("present.js", "follow.js", "minus.js", "charts.js")
_BASE = (
    "window.__streamlit={BACKEND_BASE_URL:location.origin+"
    f'location.pathname.replace(/\\/({"|".join(page.name for page in PAGES)})?\\/?$/,"/")}};'
)
"""JavaScript that says where the server is: its address without the page's name.

Otherwise Streamlit's frontend asks under the page's address first, and two requests fail.
"""
_LAST = "PlotlyChart"
"""The part that takes longest to start, requested after the others."""


def routes(base: str = "") -> list[Route]:
    """Return the document at the address of every page, and plotly's script, under a base path."""
    pages = ("", *(page.name for page in PAGES))
    document_routes = [Route(make_url_path(base, page), _answer) for page in pages]
    return [*document_routes, Route(make_url_path(base, "plotly.min.js"), _plotly)]


@cache
def document() -> str:
    """Return the document's text.

    Raises:
        RuntimeError: Streamlit's document lacks the tags to replace, or repeats them.
    """
    static = Path(get_static_dir())
    text = (static / "index.html").read_text(encoding="utf-8")
    if any(text.count(part) != 1 for part in (_STREAMLITS_TITLE, "</head>", "</body>")):
        raise RuntimeError("Streamlit's index.html has changed: look at it, then at this file.")
    assets = files("contextlens.ui.frame") / "assets"
    style = "".join((assets / name).read_text(encoding="utf-8") for name in _STYLES)
    present = (
        f'<style id="present" media="not all">\n{(assets / _PRESENT).read_text("utf-8")}</style>\n'
    )
    needed, last = (
        ", ".join(
            f'import("./static/js/{path.name}")'
            for name in names
            for path in static.glob(f"static/js/{name}.*.js")
        )
        for names in (_NEEDED, (_LAST,))
    )
    early = f"await Promise.all([{needed}]); {last};"
    modules = [early, *(f"\n{(assets / name).read_text('utf-8')}" for name in _SCRIPTS)]
    scripts = "\n".join(
        (
            f"<script>{_BASE}{NOTE_ADDRESS}</script>",
            *(f'<script type="module">{module}</script>' for module in modules),
        )
    )
    parts = {
        _STREAMLITS_TITLE: "<title>Contextlens</title>",
        "</head>": f"{scripts}\n</head>",
        # At the end, so that it comes after Streamlit's own style, which is in the head.
        "</body>": f"<style>\n{style}</style>\n{present}</body>",
    }
    for original, replacement in parts.items():
        text = text.replace(original, replacement)
    return text


async def _plotly(_: Request) -> FileResponse:
    """Plotly's whole script, which charts that are saved as HTML contain."""
    script = files("plotly") / "package_data" / "plotly.min.js"
    return FileResponse(str(script), media_type="text/javascript")


async def _answer(request: Request) -> HTMLResponse:
    response = HTMLResponse(document(), headers={"Cache-Control": "private, no-cache"})
    with suppress(SettingsError):  # every page reports it
        if has_visitor_keys():
            path = make_url_path(st.get_option("server.baseUrlPath"), "").rstrip("/") or "/"
            visitor_key.send_with(response, request, path)
    return response
