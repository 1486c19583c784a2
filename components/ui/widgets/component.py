"""A component of the page from an `assets` folder: its HTML, style sheet and JavaScript.

Registered once for the process. What the browser sends is anyone's: each component checks it
before it believes it. Must not import torch or transformers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Literal

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from components.ui.widgets.javascript import bundle

__all__ = ["component", "css_class"]


def component(
    package: str,
    name: str,
    data: Mapping[str, object],
    *,
    key: str,
    on_pick: Callable[[object], None] | None = None,
    width: Literal["stretch", "content"] = "stretch",
) -> None:
    """Shows `name`.html, .css and .js of a package's `assets` with data.

    Args:
        package: the Python package that has the folder, "components.ui.widgets".
        name: the files' name, "chips": no two components of the app share one.
        data: what JavaScript gets, as JSON.
        key: the component's own key.
        on_pick: gets what JavaScript sends as "picked", in a callback in Streamlit's sense.
        width: all that there is, or what its content takes.
    """

    def receive() -> None:
        # A component's trigger value can only be read here; everything else goes through state.py.
        if on_pick is not None:
            on_pick(st.session_state[key].get("picked"))

    if on_pick is None:
        _renderer(package, name)(key=key, data=data, width=width)
    else:
        _renderer(package, name)(key=key, data=data, width=width, on_picked_change=receive)


@cache
def _renderer(package: str, name: str) -> ComponentRenderer:
    assets = Path(str(files(package))) / "assets"
    html, css = (
        (assets / f"{name}.{kind}").read_text(encoding="utf-8") for kind in ("html", "css")
    )
    js = bundle(assets / f"{name}.js")
    return st.components.v2.component(f"contextlens_{name}", html=html, css=css, js=js)


def css_class(key: str) -> str:
    """The class that Streamlit's frontend gives an element with this key."""
    return "st-key-" + re.sub(r"[^a-zA-Z0-9_-]", "-", key.strip())
