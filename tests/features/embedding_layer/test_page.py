"""Embedding layer, headless: the page's parts, and what only its widgets do."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from contextlens.content.language import say
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.embedding_layer.controls import ALL, PAGE, SECTION, SHOW
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState
from tests.support.fields import field
from tests.support.pages import (
    alone,
    bundled_app,
    chart,
    everything_said,
    frame,
    framed,
    matrix,
    offered_files,
    said,
    shown_view,
    type_in,
    typed,
)
from tests.support.snippets import run
from tests.support.texts import LONG

CHART = "embedding_sum"
EVERY_TOKEN = SHOW.put(DEFAULT, ALL)
MARKUP = "<b>bold</b> **x** $y$ :snake: <script>"
LOOKS = {
    "Same word": ("reading_same", ["embedding_same"]),
    "Neighbours": ("reading_near", ["embedding_near"]),
    "Positions": ("reading_positions", ["embedding_positions", "embedding_curve"]),
    "Segments": ("reading_segments", ["embedding_moved", "embedding_segments"]),
    "What is learned": ("reading_learned", ["embedding_learned_own", "embedding_learned_formula"]),
}


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory):
        yield


def opened(view: ViewState = DEFAULT) -> AppTest:
    app = framed(view, page=PAGE)
    assert not app.exception
    assert not [*app.warning, *app.error, *app.info]
    return app


def strips(app: AppTest) -> dict[str, np.ndarray]:
    """The rows of each column: the muted ones with the strong one in their gap."""
    found: dict[str, np.ndarray] = {}
    for trace in chart(app, CHART)["data"]:
        if trace["type"] == "heatmap":
            rows = matrix(trace["z"])
            muted = found.get(trace["name"])
            found[trace["name"]] = rows if muted is None else np.where(np.isnan(muted), rows, muted)
    return found


def test_the_page_by_itself_opens_on_the_example_and_its_snippet_gives_its_numbers(
    service: EncoderService,
) -> None:
    app = alone(EVERY_TOKEN, page=PAGE)
    assert not app.exception
    assert not [*app.warning, *app.error, *app.info]
    assert [title.value for title in app.title] == ["Embedding layer"]
    parts = service.embedding_parts(BUNDLED_ID, DEFAULT.sentences[0].text)
    np.testing.assert_allclose(strips(app)["sum"], parts.total, atol=1e-5)
    np.testing.assert_allclose(strips(app)["layer 0"], parts.output, atol=1e-5)
    (code,) = [c.value for c in app.code if "word_embeddings" in c.value]
    found = run(code)
    data = chart(app, CHART)["data"]
    bars = {t["name"]: t for t in data if t["type"] == "bar"}
    points = {t["name"]: t for t in data if t["type"] == "scatter"}
    table = frame(app, "word row (ID)")
    for name, share in found["shares"].items():
        told = np.transpose([found[key][name] for key in ("norms", "shares", "moved", "turned")])
        np.testing.assert_allclose(share, table[f"{name} share"], atol=1e-5)
        hovers = [entry[2:] for entry in points[name]["customdata"]]
        np.testing.assert_allclose(hovers, told, atol=2e-5)
        assert bars[name]["x"] == pytest.approx([float(share[5])], abs=1e-5)
        assert f"{float(share[5]):.0%}" in said(app)
        assert f"{name} {float(share.mean()):.0%}" in said(app)
    assert chart(app, CHART)["layout"]["yaxis"]["ticktext"][5].endswith("python</b>")
    assert len(frame(app, "layer 0, ours")) == 384
    assert say("embedding_layer.constant", n_tokens=7, rows="segment") in everything_said(app)


def test_it_opens_on_one_word_in_several_sentences() -> None:
    app = opened()
    assert said(app).startswith("“python” brings the same numbers into every sentence.")
    assert len(chart(app, CHART)["data"]) == 9  # three sentences, three columns
    notes = [note["text"] for note in chart(app, CHART)["layout"]["annotations"]]
    assert "<b>C</b> (our example)  The word python stands here" in notes


def test_widgets_write_the_view() -> None:
    app = opened(EVERY_TOKEN)
    app = field(app.selectbox, f"{PAGE}_token").set_value("0").run()
    assert shown_view(app).controls[PAGE] == {"show": "all", "token": "0"}
    assert chart(app, CHART)["layout"]["yaxis"]["ticktext"][0].endswith("[CLS]</b>")
    assert said(app).startswith("The position contributes most to “[CLS]”: **")
    app = type_in(app, typed(app), pair="It is a snake")
    assert shown_view(app).sentences[0].pair == "It is a snake"
    assert len(frame(app, "segment row")) == 12


@pytest.mark.parametrize("section", SECTION.options)
def test_each_closer_look_has_its_parts_and_shows_no_markup(section: str) -> None:
    sentences = (Sentence(MARKUP), Sentence(MARKUP))
    app = opened(SECTION.put(replace(DEFAULT, sentences=sentences), section))
    reading, charts = LOOKS[section]
    assert said(app, reading)
    assert all(chart(app, key)["data"] for key in charts)
    spoken = [line for line in everything_said(app).splitlines() if "importlib" not in line]
    assert "<b>" not in "\n".join(spoken)
    names = json.dumps([json.loads(e.proto.spec)["layout"] for e in app.get("plotly_chart")])
    assert "<script" not in names


def test_no_text_is_no_error_and_a_long_one_is_told_to_be_drawn_in_part() -> None:
    view = replace(
        DEFAULT, sentences=(Sentence(LONG),), controls={PAGE: {"token": "511", "show": "all"}}
    )
    assert len(frame(opened(replace(DEFAULT, sentences=())), "word row (ID)")) == 2
    captions = " ".join(c.value for c in opened(view).main.caption)
    assert say("embedding_layer.window", first=498, last=511, n=512) in captions
    assert say("embedding_layer.cut.text", n=90) in captions


def test_the_files_hold_the_numbers_and_the_passport(service: EncoderService) -> None:
    with offered_files() as files:
        opened(replace(DEFAULT, sentences=(Sentence("I love my pet python", "=1+1"),)))
    csv = files["embedding-layer.csv"]()
    table = pd.read_csv(io.BytesIO(csv), comment="#", encoding="utf-8-sig")
    parts = service.embedding_parts(BUNDLED_ID, "I love my pet python", pair="=1+1")
    assert table["word row (ID)"].tolist() == parts.tokens.token_ids.tolist()
    assert "'=" in table["token"].tolist()
    assert files["embedding-layer.npz"]().startswith(b"PK")
