"""The app as its users open it, headless, and what tests read from a page."""

from __future__ import annotations

import base64
import html
import json
import os
import re
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.testing.v1 import AppTest

from contextlens.core import BUNDLED_ID
from contextlens.core.byte_cache import shared_cache
from contextlens.core.words import find_word
from contextlens.maps import placing
from contextlens.ui.models import runtime
from contextlens.ui.models.background import jobs
from contextlens.ui.models.tasks import BASELINES, FETCHES, LOADS, RULERS, TOKENIZERS
from contextlens.ui.state.address import decode, encode
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState
from tests.support.drawing import KeptProcesses
from tests.support.fields import field
from tests.support.measured import measured_data

ROOT = Path(__file__).parents[2]
SECONDS = 300


@contextmanager
def app_settings(**variables: str) -> Iterator[None]:
    """The app as a fresh server with these CONTEXTLENS_* variables, and no others, runs it."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("CONTEXTLENS_")]:
            patch.delenv(name)
        for name, value in variables.items():
            patch.setenv(f"CONTEXTLENS_{name}", value)
        patch.setattr(placing, "Processes", KeptProcesses)
        st.cache_resource.clear()
        shared_cache.cache_clear()
        try:
            yield
            finish_background_work()
        finally:
            st.cache_resource.clear()


def finish_background_work() -> None:
    """Loads and baselines under way would otherwise go on under the next test's settings."""
    for kind in (LOADS, FETCHES, TOKENIZERS, BASELINES, RULERS):
        for job in jobs().under_way(kind):
            assert job.wait(SECONDS)


def arrived(app: AppTest) -> AppTest:
    """The page once it waits for no model any more: the one it shows, or a second one."""
    own = ("page_load", "get_second_model", "get_tokenizer")
    ends = tuple(f"-waiting_{place}" for place in own)
    while any(block._block_id.endswith(ends) for block in blocks(app)):
        finish_background_work()
        app = app.run()
    return app


def settled(app: AppTest) -> AppTest:
    """The page once it waits for no model and nothing is worked out in the background any more."""
    end = time.monotonic() + SECONDS
    while (app := arrived(app)).get("progress"):
        assert time.monotonic() < end, [bar.proto.text for bar in app.get("progress")]
        time.sleep(0.1)
        app = app.run()
    assert not app.exception
    return app


def choose(app: AppTest, model: str) -> AppTest:
    """Chooses a model in the picker, and waits until it is there or has failed."""
    app = field(app.selectbox, "model").set_value(model).run()
    finish_background_work()
    return app.run()


def app_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder for all tests that do not watch it, with the bundled model's baseline."""
    return measured_data(tmp_path_factory, tmp_path_factory.getbasetemp() / "app-data")


@contextmanager
def bundled_app(tmp_path_factory: pytest.TempPathFactory, **variables: str) -> Iterator[None]:
    """The app offline with the bundled model, its baseline and ruler measured and on disk."""
    data = str(app_data(tmp_path_factory))
    with app_settings(DATA_DIR=data, ALLOW_DOWNLOADS="0", **variables):
        card = runtime.service().load(BUNDLED_ID)
        runtime.baseline(card)
        finish_background_work()
        runtime.ruler(card, runtime.baseline(card))
        finish_background_work()
        yield


def framed(view: ViewState | str = DEFAULT, page: str = "meaning") -> AppTest:
    """A page inside `main.py`, opened on a view or on any text as the address's parameter."""
    app = AppTest.from_file(str(ROOT / "main.py"), default_timeout=SECONDS)
    if view != DEFAULT and view:
        app.query_params["s"] = view if isinstance(view, str) else encode(view)
    return arrived(app.switch_page(f"pages/{page}.py").run())


def alone(view: ViewState = DEFAULT, page: str = "meaning") -> AppTest:
    """A page's script by itself."""
    app = AppTest.from_file(str(ROOT / f"pages/{page}.py"), default_timeout=SECONDS)
    if view != DEFAULT:
        app.query_params["s"] = encode(view)
    return arrived(app.run())


def shown_view(app: AppTest) -> ViewState:
    """The view that the address names."""
    return decode(app.query_params.get("s", ""))


def chips(app: AppTest) -> list[dict[str, Any]]:
    """The rows of chips."""
    return given(app, "chips")["rows"]


def chart(app: AppTest, key: str = "meaning_chart") -> dict[str, Any]:
    """A figure as it goes to the browser."""
    protos = [element.proto for element in app.get("plotly_chart")]
    return json.loads(next(p.spec for p in protos if p.id.endswith(key)))


def matrix(z: Any) -> np.ndarray:
    """The cells of a heatmap of a figure that goes to the browser."""
    if not isinstance(z, dict):
        return np.array(z, dtype=float)
    flat = np.frombuffer(base64.b64decode(z["bdata"]), z["dtype"])
    return flat.reshape([int(n) for n in z["shape"].split(",")])


def lines(app: AppTest, key: str = "meaning_chart") -> dict[str, list[float]]:
    """The chart's named lines, and how high they are at each layer."""
    return {trace["name"]: trace["y"] for trace in chart(app, key)["data"] if trace.get("name")}


def table(app: AppTest) -> pd.DataFrame:
    """The Numbers tab."""
    return next(d.value for d in app.dataframe if "without context" in d.value.columns)


def reading(app: AppTest) -> str:
    """The page's main reading."""
    return said(app)


def blocks(app: AppTest) -> Iterator[Any]:
    """Every container on the page."""
    waiting = [app._tree]
    while waiting:
        block = waiting.pop()
        yield block
        waiting += [child for child in block.children.values() if hasattr(child, "children")]


def messages(app: AppTest) -> list[str]:
    """Everything that the page says about a problem, its Markdown escapes taken away."""
    alerts = [alert.value for kind in (app.error, app.warning, app.info) for alert in kind]
    notes = [row["note"] for row in chips(app) if row["note"]]
    return [re.sub(r"\\(.)", r"\1", said) for said in alerts] + notes


def assert_only_own_markup(app: AppTest) -> None:
    """No HTML of the page has a tag that the app does not write itself."""
    own = {*("p", "ul", "li", "br", "div", "span"), *("b", "strong", "em", "small", "code")}
    own |= {"mark", "del"}
    for element in app.get("html"):
        assert set(re.findall(r"</?([a-zA-Z]+)", element.proto.body)) <= own


def everything_said(app: AppTest, *, raw: bool = False) -> str:
    """All Markdown that the page hands to the browser, and its readings, in raw HTML if asked."""
    kinds = (app.markdown, app.caption, app.error, app.warning, app.info)
    plain = [element.value for kind in kinds for element in kind]
    readings = [element.proto.body for element in app.get("html")]
    return "\n".join([*plain, *(own if raw else read(own) for own in readings)])


def plainly_said(app: AppTest) -> str:
    """The same as it is read: Markdown's escapes and what keeps words together taken away."""
    return re.sub(r"\\(.)", r"\1", everything_said(app)).replace("\u2060", "")


def said(app: AppTest, key: str = "reading") -> str:
    """The text of the one reading with this key; bold as in Markdown."""
    (found,) = [
        read(element.proto.body)
        for block in blocks(app)
        if re.search(rf"-(finding_\d_(long_)?)?{re.escape(key)}$", block._block_id)
        for element in block.children.values()
        if element.type == "html"
    ]
    return found


def read(markup: str) -> str:
    """HTML of a reading as Markdown without escapes."""
    bold = re.sub("</?strong>", "**", markup).replace("</li>", " ").replace("</p><p", "</p> <p")
    return html.unescape(re.sub("<[^>]+>", "", bold))


def frame(app: AppTest, column: str) -> pd.DataFrame:
    """The first table that has a column."""
    return next(d.value for d in app.dataframe if column in d.value.columns)


def type_in(app: AppTest, text: str, *, row: int = 0, **pair: str) -> AppTest:
    """Types a sentence or, after them, a reference; with `pair`, its second text too."""
    return send_pick(app, "chips", row=row, text=text, **pair)


def type_new(app: AppTest, text: str, group: str = "sentences") -> AppTest:
    """Adds a sentence or a reference."""
    return send_pick(app, "chips", add=group, text=text)


def choose_letter(app: AppTest, row: int) -> AppTest:
    """Clicks the letter of a sentence."""
    return send_pick(app, "chips", row=row, show=True)


def typed(app: AppTest, row: int = 0) -> str:
    """The text of a row of the subject bar."""
    text: str = chips(app)[row]["text"]
    return text


def press(app: AppTest, key: str) -> AppTest:
    return arrived(app.button(key=key).click().run())


def pick(app: AppTest, word: str, *, row: int = 0, occurrence: int = 0) -> AppTest:
    """Clicks a word in a row of chips."""
    text = "".join(part["text"] for part in chips(app)[row]["segments"])
    span = find_word(text, word, occurrence)
    assert span is not None
    return send_pick(app, "chips", row=row, start=span[0], end=span[1])


def sentence(text: str, word: str | None = None, occurrence: int = 0) -> Sentence:
    return Sentence(text, None, find_word(text, word, occurrence) if word else None)


def view_of(*sentences: Sentence, references: tuple[Sentence, ...] = (), **more: Any) -> ViewState:
    return ViewState(BUNDLED_ID, sentences, references, **more)


def assert_shows(app: AppTest, numbers: list[list[float]]) -> None:
    """The table and the lines have the expected numbers."""
    assert not app.exception
    shown = table(app)
    rows = shown[~shown["first"].str.startswith("random pairs")].set_index(["first", "second"])
    np.testing.assert_allclose(rows.to_numpy(float), numbers, atol=1e-5)
    every = {
        html.escape(f"{first} ~ {second}"): row[:-1]
        for (first, second), row in zip(rows.index, numbers, strict=True)
    }
    drawn = lines(app)
    assert 0 < len(drawn) <= len(every)
    for name, heights in drawn.items():
        assert heights == pytest.approx(every[name], abs=1.5e-5)


def address(json_text: str) -> str:
    packed = zlib.compress(json_text.encode(), 9)
    return "1" + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def send(app: AppTest, key: str, value: object) -> AppTest:
    """Does what the browser does on a click: sends the component's trigger and reruns."""
    proto = _component(app, key)
    states: WidgetStates = app._tree.get_widget_states()
    sent = json.dumps([{"event": "picked", "value": value}])
    states.widgets.add(id=f"$$STREAMLIT_INTERNAL_KEY_{proto.id}__events", json_trigger_value=sent)
    return app._run(states)


def send_pick(app: AppTest, key: str, **pick: object) -> AppTest:
    """A pick that says several things."""
    return send(app, key, pick)


def given(app: AppTest, key: str) -> dict[str, Any]:
    """The data that a component was given."""
    return json.loads(_component(app, key).json)


def to_layer(app: AppTest, layer: int) -> AppTest:
    """The layer bar, moved to a layer."""
    return send(app, "layer", layer)


def layer_of(app: AppTest) -> int:
    """The layer that the layer bar is at."""
    return given(app, "layer")["layer"]


def _component(app: AppTest, key: str) -> Any:
    protos = [element.proto for element in app.get("bidi_component")]
    return next(proto for proto in protos if proto.id.endswith(key))


@contextmanager
def offered_files() -> Iterator[dict[str, Callable[[], bytes]]]:
    """The content that each download button drawn inside gives, by the name of its file."""
    offered: dict[str, Callable[[], bytes]] = {}
    button = st.download_button

    def note(label: str, data: Any, **options: Any) -> bool:
        offered[options["file_name"]] = data
        return button(label, data, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(st, "download_button", note)
        yield offered
