"""Opens whole pages without a browser, and reads what they hand to one."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from components.core import BUNDLED_ID
from components.ui.models import runtime
from components.ui.state.address import decode, encode
from components.ui.state.view import DEFAULT, ViewState

ROOT = Path(__file__).parents[2]
SECONDS = 60


@contextmanager
def app_settings(**variables: str) -> Iterator[None]:
    """The app as a fresh server with these CONTEXTLENS_* variables, and no others, runs it."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("CONTEXTLENS_")]:
            patch.delenv(name)
        for name, value in variables.items():
            patch.setenv(f"CONTEXTLENS_{name}", value)
        st.cache_resource.clear()
        try:
            yield
            finish_background_work()
        finally:
            st.cache_resource.clear()


def finish_background_work() -> None:
    """Loads and baselines under way would otherwise go on under the next test's settings."""
    background = runtime._background()
    for future in [*background.loads, *background.baselines.values()]:
        future.exception(SECONDS)


def app_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder for all tests that do not watch it: a baseline is measured once in it."""
    return tmp_path_factory.getbasetemp() / "app-data"


@contextmanager
def bundled_app(tmp_path_factory: pytest.TempPathFactory, **variables: str) -> Iterator[None]:
    """The app offline with the bundled model, its baseline measured and on disk."""
    data = str(app_data(tmp_path_factory))
    with app_settings(DATA_DIR=data, ALLOW_DOWNLOADS="0", **variables):
        runtime.baseline(runtime.service().load(BUNDLED_ID))
        finish_background_work()
        yield


def framed(view: ViewState | str = DEFAULT, page: str = "meaning") -> AppTest:
    """A page inside `app.py`, opened on a view or on any text as the address's parameter."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=SECONDS)
    parameter = view if isinstance(view, str) else encode(view)
    if parameter:
        app.query_params["s"] = parameter
    return app.switch_page(f"pages/{page}.py").run()


def alone(view: ViewState = DEFAULT, page: str = "meaning") -> AppTest:
    """A page's script by itself."""
    app = AppTest.from_file(str(ROOT / "pages" / f"{page}.py"), default_timeout=SECONDS)
    if view != DEFAULT:
        app.query_params["s"] = encode(view)
    return app.run()


def shown_view(app: AppTest) -> ViewState:
    """The view that the address names."""
    return decode(app.query_params.get("s", ""))


def chart(app: AppTest, key: str = "meaning_lines") -> dict[str, Any]:
    """A figure as it goes to the browser."""
    protos = [element.proto for element in app.get("plotly_chart")]
    return json.loads(next(p.spec for p in protos if p.id.endswith(key)))


def blocks(app: AppTest) -> Iterator[Any]:
    """Every container on the page."""
    waiting = [app._tree]
    while waiting:
        block = waiting.pop()
        yield block
        waiting += [child for child in block.children.values() if hasattr(child, "children")]


def everything_said(app: AppTest) -> str:
    """All Markdown that the page hands to the browser."""
    kinds = (app.markdown, app.caption, app.error, app.warning, app.info)
    return "\n".join(element.value for kind in kinds for element in kind)


def said(app: AppTest, key: str = "reading") -> str:
    """What the page says in words, in the one reading with this key."""
    (found,) = [
        markdown.value
        for block in blocks(app)
        if block._block_id.endswith(f"-{key}")
        for markdown in block.markdown
    ]
    return found


def frame(app: AppTest, column: str) -> pd.DataFrame:
    """The first table that has a column."""
    return next(d.value for d in app.dataframe if column in d.value.columns)


@contextmanager
def offered_files() -> Iterator[dict[str, Callable[[], bytes]]]:
    """The downloads that pages opened meanwhile offer, by name."""
    offered: dict[str, Callable[[], bytes]] = {}
    real = st.download_button

    def note(label: str, data: Any = None, **options: Any) -> Any:
        offered[options.get("file_name", label)] = data
        return real(label, data, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(st, "download_button", note)
        yield offered
