"""Anatomy as a page: it draws what was computed, and its widgets write the view."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from contextlens.content.language import say
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.registry import PRESETS
from contextlens.features.anatomy.controls import ARRAY, PAGE, PART, SEARCH, TOKENS, WEIGHTS
from contextlens.ui.page.navigation import PAGES
from contextlens.ui.state.view import DEFAULT, ViewState
from tests.features.anatomy.shown import on, view_with
from tests.support.fields import field
from tests.support.pages import (
    alone,
    bundled_app,
    chart,
    everything_said,
    framed,
    offered_files,
    press,
    reading,
    shown_view,
)
from tests.support.pages import said as words

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory, tiny_root: Path) -> Iterator[None]:
    with bundled_app(tmp_path_factory, MODEL_FOLDERS=str(tiny_root)):
        yield


def page(view: ViewState | str = DEFAULT, **controls: Any) -> AppTest:
    app = framed(view if isinstance(view, str) else view_with(view, **controls), page=PAGE)
    assert not app.exception
    return app


def table(app: AppTest, column: str) -> pd.DataFrame:
    return next(d.value for d in app.dataframe if column in d.value.columns)


@pytest.mark.parametrize("opened", [lambda: alone(page=PAGE), page], ids=["alone", "framed"])
def test_the_page_shows_the_whole_model_at_once(opened: Callable[[], AppTest]) -> None:
    app = opened()
    assert not app.exception
    assert app.title[0].value == "Anatomy"
    assert not [*app.error, *app.warning, *app.info]
    assert "is its word table: 384 numbers for each of 30,522 word pieces" in reading(app)
    figure = chart(app, "anatomy_map_treemap")
    assert figure["data"][0]["type"] == "treemap"
    assert figure["data"][0]["values"][0] == 22_713_216
    small = [caption.value for caption in app.caption if "Too small" in caption.value]
    assert "Pooler (0.65%)" in small[0]
    assert len(table(app, "billion multiply-adds")) == 1 + len(PRESETS)
    assert sum(trace["x"][0] for trace in chart(app, "anatomy_models")["data"]) == 22_713_216


def test_a_part_is_chosen_said_to_be_untrained_and_seen_at_work_elsewhere() -> None:
    app = page(part="pooler")
    said = everything_said(app)
    assert say("anatomy.part.pooler") in said
    assert "**No sign that this was trained.** Every bias of the pooler is exactly 0" in said
    assert list(table(app, "array")["shape"]) == ["384 × 384", "384"]
    app = field(app.selectbox, PART.key).select("embeddings/word").run()
    assert shown_view(app).controls == {PAGE: {PART.name: "embeddings/word"}}
    assert chart(app, "anatomy_map_treemap")["data"][0]["level"] == "embeddings"
    link, _next = (link.proto for link in app.main.get("page_link"))
    titles = {row.name: row.title for row in PAGES}
    assert link.label == say("anatomy.see", page=titles["tokens"])
    assert link.page == "tokens"
    assert link.query_string.startswith("s=")


def test_the_search_narrows_the_table_and_is_told() -> None:
    app = field(page(drawing="Tree").text_input, SEARCH.key).set_value("Query").run()
    assert not app.exception
    assert "**12** arrays match “Query”" in words(app, "reading_search")
    assert len(table(app, "name")) == 12
    assert say("anatomy.found", n=12, n_arrays=103) in everything_said(app)
    assert chart(app, "anatomy_map_icicle")["data"][0]["type"] == "icicle"
    app = field(app.text_input, SEARCH.key).set_value("<b>no</b> *such*").run()
    assert "No array matches “<b>no</b>" in words(app, "reading_search")


def test_a_preset_without_its_weights_has_nothing_to_look_into() -> None:
    app = page(subject="FacebookAI/roberta-base", section=WEIGHTS)
    assert "not its weights" in app.info[0].value
    said = everything_said(app)
    assert "because its weights are not loaded" in said
    assert say("anatomy.no_pooler.roberta") in said
    assert any("AutoConfig.for_model" in block.value for block in app.code)


def test_the_weights_of_an_array_are_measured(service: EncoderService) -> None:
    app = page(section=WEIGHTS)
    assert "In a sample of" in words(app, "reading_weights")
    assert "one of every 6 of 30,522 rows" in everything_said(app)
    word_table = "embeddings.word_embeddings.weight"
    assert field(app.selectbox, ARRAY.key).value == word_table
    name = "encoder.layer.1.attention.self.key.weight"
    app = field(app.selectbox, ARRAY.key).select(name).run()
    assert not app.exception
    norm = np.linalg.norm(service.matrix(BUNDLED_ID, name))
    assert table(app, "Frobenius norm").iloc[0]["Frobenius norm"] == pytest.approx(norm)
    drawn = chart(app, "anatomy_singular")["data"][1]["y"]
    assert np.linalg.norm(drawn) == pytest.approx(norm, rel=1e-4)


def test_a_model_of_a_folder_is_taken_apart() -> None:
    app = page(on("roberta"), section=WEIGHTS, part="embeddings/segment", array="x")
    assert say("anatomy.part.one-segment") in everything_said(app)
    assert field(app.selectbox, ARRAY.key).value == "embeddings.token_type_embeddings.weight"


def test_no_control_of_an_address_breaks_it_and_the_number_of_tokens_changes_the_work() -> None:
    broken = {"part": "no/such", "subject": "../etc", "section": "x", "drawing": "<b>", "array": 3}
    app = page(**broken, tokens=0, search="*[x](y)* $a$ <script>alert(1)</script>")
    assert not app.error
    assert "of this model is its word table" in reading(app)
    app = field(app.number_input, TOKENS.key).set_value(512).run()
    work = table(app, "billion multiply-adds").set_index("model")["billion multiply-adds"]
    formula = 512 * 12 * (4 * 768**2 + 2 * 768 * 3072) + 2 * 12 * 512**2 * 768 + 768**2
    assert work["bert-base-uncased"] == formula / 1e9


def test_reset_brings_the_whole_model_back_and_files_are_offered() -> None:
    app = page(part="layer-2", search="key")
    with offered_files() as files:
        app = press(app, "reset")
    assert shown_view(app) == DEFAULT
    assert chart(app, "anatomy_map_treemap")["data"][0]["level"] == "model"
    assert files["anatomy.csv"]().startswith(b"\xef\xbb\xbf# model")
    assert files["anatomy.npz"]().startswith(b"PK")
