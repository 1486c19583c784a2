"""Padding & masks as a page: what it draws is what was computed, and its widgets write the view."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from contextlens.content.language import say
from contextlens.core import EncoderService
from contextlens.features.masks.batch_grid import batch_grid
from contextlens.features.masks.controls import (
    ALL,
    AVERAGE,
    MASK,
    PAD_TO,
    PAGE,
    REPEAT,
    SENTENCE,
)
from contextlens.features.masks.four_cases import four_cases
from contextlens.features.masks.padded_batch import masks_of, position_rows, summary_row
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState
from tests.support import pages
from tests.support.fields import field
from tests.support.pages import (
    app_settings,
    blocks,
    bundled_app,
    chart,
    choose_letter,
    everything_said,
    press,
    reading,
    shown_view,
    to_layer,
    type_in,
    typed,
)

BATCH, CASES, LIMIT = "masks_batch", "masks_cases", "masks_limit"
LAYERS, TOKENS = "masks_layers", "masks_tokens"
PADDED = PAD_TO.put(MASK.put(DEFAULT, False), "32")


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory):
        yield


def framed(view: ViewState | str = DEFAULT) -> AppTest:
    return pages.framed(view, PAGE)


def table(app: AppTest, column: str) -> pd.DataFrame:
    return next(d.value for d in app.dataframe if column in d.value.columns)


def captions(app: AppTest) -> str:
    return "\n".join(re.sub(r"\\(.)", r"\1", c.value) for c in app.main.caption)


def assert_shows(app: AppTest, service: EncoderService, view: ViewState) -> None:
    """Pictures, tables and reading are those of what was computed for this view."""
    assert not app.exception
    assert not app.error
    masks = masks_of(view, service, service.load(view.model))
    cells = chart(app, BATCH)["data"][0]["z"]
    for column, each in enumerate(masks.batch.rows):
        drawn = [line[column] for line in cells if line[column] is not None]
        np.testing.assert_allclose(drawn, 1 - each.damage.tokens[masks.layer], atol=1e-5)
    summary = pd.DataFrame([summary_row(each, masks.layer) for each in masks.batch.rows])
    pd.testing.assert_frame_equal(table(app, "mean of real tokens"), summary, atol=1e-5)
    positions = pd.DataFrame(position_rows(masks.row)).drop(columns="sentence")
    pd.testing.assert_frame_equal(table(app, "position"), positions, atol=1e-5)
    cases = four_cases(masks)
    assert cases is not None
    assert (cases.masked, cases.averaged) == (MASK.of(view), AVERAGE.of(view) == ALL)
    words = [cases.headline(), *cases.claims(), *batch_grid(masks).most()]
    assert reading(app) == " ".join(map(str, words)).replace("\\", "")
    assert chart(app, CASES)["layout"]["title"]["text"] == str(cases.title())


def test_the_page_shows_what_was_computed(service: EncoderService) -> None:
    app = framed()
    assert [title.value for title in app.title] == ["Padding & masks"]
    assert_shows(app, service, DEFAULT)
    shown = (
        "Your sentences are equally long, so only A is shown, beside a longer one that we added, C."
    )
    assert shown in captions(app)
    assert "Hatched: [PAD], which no token reads (mask 0)" in captions(app)
    assert table(app, "mask")["mask"].tolist() == [1] * 7 + [0] * 15
    off = framed(PADDED)
    assert_shows(off, service, PADDED)
    assert "Hatched: [PAD], read as text (mask 1)" in captions(off)
    assert "longer one that we added" not in captions(off)
    assert set(table(off, "mask")["mask"]) == {1}
    for key in (LAYERS, TOKENS, LIMIT):
        assert chart(app, key)["data"]
    _sure, sorting, limit = (b.label for b in app.expander)
    assert sorting.startswith("Sorting by length cuts padding from 4")
    assert limit == "What happens to token 513?"
    assert table(off, "batch size")["padding when sorted"].tolist() == ["0%", "0%"]
    assert {button.label for button in app.get("download_button")} >= {"CSV", "NPZ"}
    assert any(block._block_id.endswith("-downloads") for block in blocks(app))


def test_the_page_runs_without_its_frame(service: EncoderService) -> None:
    assert_shows(pages.alone(DEFAULT, PAGE), service, DEFAULT)


def test_every_widget_writes_the_view_and_reset_takes_it_back(service: EncoderService) -> None:
    app = framed()
    field(app.button_group, MASK.key).set_value(False)
    field(app.button_group, AVERAGE.key).set_value(ALL)
    field(app.selectbox, PAD_TO.key).set_value("64")
    field(app.number_input, REPEAT.key).set_value(103)
    app = choose_letter(to_layer(app, 3), 1)
    app = type_in(app, typed(app), pair="A python, I think.")
    view = replace(DEFAULT, layer=3)
    view = replace(
        view, sentences=(replace(view.sentences[0], pair="A python, I think."), view.sentences[1])
    )
    for control, value in (
        (MASK, False), (AVERAGE, ALL), (PAD_TO, "64"), (SENTENCE, "B"), (REPEAT, 103),
    ):  # fmt: skip
        view = control.put(view, value)
    assert shown_view(app) == view
    assert_shows(app, service, view)
    label = field(app.number_input, REPEAT.key).label
    assert label == "Times to repeat sentence B"
    app = press(app, "reset")
    assert not app.exception
    assert shown_view(app) == DEFAULT
    assert field(app.button_group, MASK.key).value is True
    assert field(app.selectbox, PAD_TO.key).value == "Longest"


def test_at_the_limit_the_cut_is_computed_live() -> None:
    app = framed(REPEAT.put(DEFAULT, 102))
    assert say("masks.limit.title_fits", n=512) in chart(app, LIMIT)["layout"]["title"]["text"]
    app = field(app.number_input, REPEAT.key).set_value(103).run()
    assert "The last **5** tokens, from" in everything_said(app)
    assert [t["x"] for t in chart(app, LIMIT)["data"]] == [[512], [5]]
    assert say("masks.limit.positions", n=512) in everything_said(app)


@pytest.mark.slow
def test_an_empty_sentence_is_asked_for_and_what_is_typed_is_cut_and_no_markup() -> None:
    broken = {"pad_to": "16", "sentence": "Z", "average": "<b>", "mask": "yes", "repeat": 10**9}
    app = framed(replace(DEFAULT, sentences=(Sentence(" \n "),), controls={PAGE: broken}))
    assert not app.exception
    assert [info.value for info in app.info] == ["Type a sentence: every one here is blank."]
    app = type_in(app, f"<img src=x onerror=alert(1)> [a](http://example.org) {'python ' * 600}")
    assert not app.info
    assert "Padding to 16 is impossible: the longest sentence has 512" in captions(app)
    assert "Sentence A is too long for the model: " in captions(app)
    assert "<img src" not in everything_said(app)
    assert "](http" not in everything_said(app)
    assert not any("<img" in element.proto.spec for element in app.get("plotly_chart"))


def test_a_model_without_segments_and_pooler_has_its_page(tiny_root: Path, tmp_path: Path) -> None:
    model = "folder:distilbert"
    with app_settings(DATA_DIR=str(tmp_path), MODEL_FOLDERS=str(tiny_root), MODELS=model):
        app = framed(replace(DEFAULT, model=model))
        assert not app.exception
        assert not app.error
        assert "**" in everything_said(app)
        shapes = next(t.value for t in app.table)
        assert shapes.loc["`output[1]`", "shape"] == ""
        assert not any("pooler" in t.get("name", "") for t in chart(app, LAYERS)["data"])
