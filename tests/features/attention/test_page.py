"""Attention as a page: it draws what was computed, and its widgets write the view."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from contextlens.content.language import say
from contextlens.core import EncoderService
from contextlens.features.attention.controls import HEAD, OTHER, PAD, PAGE, SHOW, SIDE, SORT, TOKEN
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState
from tests.features.attention.examples import LONG, attention_on, view_on
from tests.support.fields import field
from tests.support.pages import (
    alone,
    bundled_app,
    chart,
    everything_said,
    framed,
    given,
    layer_of,
    matrix,
    offered_files,
    send_pick,
    shown_view,
    to_layer,
)


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory, tiny_root: Path) -> Iterator[None]:
    with bundled_app(tmp_path_factory, MODEL_FOLDERS=str(tiny_root)):
        yield


def opened(*sentences: Sentence, **how: Any) -> AppTest:
    app = framed(view_on(*sentences, **how), PAGE)
    assert not app.exception
    assert not app.error
    return app


def component(app: AppTest, name: str) -> dict[str, Any]:
    """The data of a component."""
    protos = [element.proto for element in app.get("bidi_component")]
    return json.loads(next(p.json for p in protos if p.component_name.endswith(name)))


def lines(app: AppTest) -> np.ndarray:
    data = component(app, "contextlens_lines")
    weights = np.frombuffer(base64.b64decode(data["weights"]), "<f4")
    return weights.reshape(len(data["rows"]), len(data["columns"]))


def heatmap(app: AppTest) -> np.ndarray:
    return matrix(chart(app, "attention_heatmap")["data"][0]["z"])


def tables(app: AppTest) -> dict[str, pd.DataFrame]:
    return {"heads" if "layer" in d.value else "weights": d.value for d in app.dataframe}


def assert_shows(app: AppTest, expected: np.ndarray) -> None:
    """Lines, heatmap and table have these weights."""
    assert not app.exception
    table = tables(app)["weights"].iloc[:, 1:]
    for drawn in (lines(app), heatmap(app), table.to_numpy(float)):
        np.testing.assert_allclose(drawn, expected, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("open_", [alone, framed])
def test_the_page_opens_on_the_head_that_joins_two_words(
    open_: Any, service: EncoderService
) -> None:
    app = open_(DEFAULT, PAGE)
    assert [title.value for title in app.title] == ["Attention"]
    assert_shows(app, attention_on(service).grid.weights)
    assert "For “my”, one part of the model looks closely at “python”." in everything_said(app)
    assert component(app, "contextlens_lines")["picked"] == {"side": "from", "from": 3, "to": 5}
    assert component(app, "contextlens_heads")["chosen"] == [[4, 1]]
    assert component(app, "contextlens_heads")["listed"][0] == {
        "layer": 4,
        "head": 1,
        "text": "78%",
    }
    assert len(tables(app)["heads"]) == 72
    assert field(app.selectbox, SORT.key).options[3] == "[CLS]"
    assert not app.warning


def test_another_head_is_chosen_in_the_navigator(service: EncoderService) -> None:
    app = send_pick(opened(show="Rollout", layer=3), "attention_heads", layer=5, head=1)
    assert_shows(app, attention_on(service, head="5.1").grid.weights)
    assert SHOW.of(shown_view(app)) == "One head"
    assert HEAD.among(["5.1"], default="").of(shown_view(app)) == "5.1"
    assert component(app, "contextlens_heads")["chosen"] == [[5, 1]]
    first = component(app, "contextlens_heads")["listed"][0]
    app = send_pick(app, "attention_heads", layer=first["layer"], head=first["head"])
    assert HEAD.of(shown_view(app)) == ""  # the first head follows the words again


def test_a_click_on_one_side_leaves_the_choice_on_the_other() -> None:
    nurse = Sentence("The nurse told the doctor that she was tired")
    app = send_pick(opened(nurse), "attention_lines", side="from", position=7)
    app = send_pick(app, "attention_lines", side="to", position=2)
    view = shown_view(app)
    assert (SIDE.of(view), TOKEN.of(view), OTHER.of(view)) == ("to", 2, 7)
    assert "For “she”, one part of the model looks closely at “nurse”." in everything_said(app)
    assert component(app, "contextlens_heads")["chosen"] == [[6, 11]]
    assert component(app, "contextlens_lines")["picked"] == {"side": "to", "from": 7, "to": 2}


def test_all_heads_have_a_large_picture() -> None:
    app = opened(Sentence("A python"), large="heads")
    assert chart(app, "attention_heatmap")["layout"]["title"]["text"].startswith("All heads")


def test_options_change_what_is_shown_and_the_notes_tell() -> None:
    app = field(opened(show="All", special="Hide").number_input, PAD.key).set_value(10).run()
    assert PAD.of(shown_view(app)) == 10
    assert lines(app).shape == (5, 5)
    assert say("attention.note.padding", n=3) in everything_said(app)


def test_a_pair_and_markup_are_shown_as_text() -> None:
    text = "<img src=x onerror=alert(1)> **bold** $x$ [a](b)"
    app = opened(Sentence(text, "python"), unit="Words", direction="First to second")
    rows = [item["text"] for item in component(app, "contextlens_lines")["rows"]]
    assert "img" in rows
    assert lines(app).shape[1] == 1
    assert "<img" not in re.sub(r"\\(.)", "", everything_said(app))
    field(app.segmented_control, "attention_direction")


def test_a_model_of_a_folder_is_shown(tiny_service: EncoderService) -> None:
    how = {"model": "folder:albert", "show": "Layer", "layer": 2}
    app = opened(Sentence("A python", "and another"), **how)
    expected = attention_on(tiny_service, Sentence("A python", "and another"), **how)
    assert_shows(app, expected.grid.weights)
    assert given(app, "layer")["layers"] == [1, 2, 3]
    assert lines(framed(ViewState(DEFAULT.model, ()), PAGE)).shape == (2, 2)


def test_512_tokens_fit_in_what_a_browser_should_get() -> None:
    app = opened(Sentence(LONG))
    assert lines(app).shape == heatmap(app).shape == (512, 512)
    assert "left out" in everything_said(app)
    charts = sum(len(e.proto.spec) for e in app.get("plotly_chart"))
    components = sum(len(e.proto.json) for e in app.get("bidi_component"))
    frames = sum(len(e.proto.data) for e in app.get("arrow_data_frame"))
    assert charts + components + frames + len(everything_said(app)) < 5_000_000
    assert len(tables(app)["weights"]) == 512


def test_the_files_are_offered() -> None:
    with offered_files() as files:
        opened(show="All")
    assert files["attention.csv"]().startswith(b"\xef\xbb\xbf# model")
    assert files["attention.npz"]().startswith(b"PK")


def test_the_layer_bar_is_beside_means_of_one_layer(service: EncoderService) -> None:
    for how in ({}, {"show": "All"}):
        with pytest.raises(StopIteration):
            layer_of(opened(Sentence("A python"), **how))
    app = to_layer(opened(Sentence("A python"), show="Rollout"), 2)
    assert shown_view(app).layer == 2
    assert_shows(
        app, attention_on(service, Sentence("A python"), show="Rollout", layer=2).grid.weights
    )
