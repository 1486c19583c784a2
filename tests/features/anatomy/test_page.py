"""Anatomy, headless: what it shows is the model's, and no input breaks it."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from streamlit.testing.v1 import AppTest

from components.core import BUNDLED_ID, EncoderService
from components.features.anatomy import compute
from components.features.anatomy.compute import PAGE
from components.features.anatomy.page import _arrays
from components.ui.state.view import DEFAULT, Sentence, ViewState
from components.ui.widgets import export
from tests.support.fields import field
from tests.support.pages import (
    alone,
    app_settings,
    blocks,
    bundled_app,
    chart,
    everything_said,
    framed,
    press,
    reading,
    shown_view,
)
from tests.support.tiny_models import ALL

BASE, LARGE = "google-bert/bert-base-uncased", "google-bert/bert-large-uncased"


def view_with(view: ViewState = DEFAULT, **controls: Any) -> ViewState:
    for name, value in controls.items():
        view = view.with_control(PAGE, name, value, "no default is this")
    return view


def page(view: ViewState | str = DEFAULT, **controls: Any) -> AppTest:
    opened = framed(view if isinstance(view, str) else view_with(view, **controls), page=PAGE)
    assert not opened.exception
    return opened


def map_of(app: AppTest) -> dict[str, Any]:
    """The main picture as it goes to the browser."""
    protos = [e.proto for e in app.get("plotly_chart") if "anatomy_map" in e.proto.id]
    return json.loads(protos[0].spec)


def words(app: AppTest, key: str = "reading") -> str:
    return next(
        markdown.value
        for block in blocks(app)
        if block._block_id.endswith(f"-{key}")
        for markdown in block.markdown
    )


def table(app: AppTest, column: str) -> pd.DataFrame:
    return next(d.value for d in app.dataframe if column in d.value.columns)


def on(name: str) -> ViewState:
    return ViewState(f"folder:{name}", DEFAULT.sentences)


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory, tiny_root: Path) -> Iterator[None]:
    with bundled_app(tmp_path_factory, MODEL_FOLDERS=str(tiny_root)):
        yield


@pytest.mark.parametrize("opened", [lambda: alone(page=PAGE), page], ids=["alone", "framed"])
def test_the_page_shows_the_whole_model_at_once(opened: Callable[[], AppTest]) -> None:
    app = opened()
    assert not app.exception
    assert app.title[0].value == "Anatomy"
    assert not [*app.error, *app.warning, *app.info]
    assert "**22,713,216** parameters in **103** arrays" in reading(app)
    figure = map_of(app)
    assert figure["data"][0]["type"] == "treemap"
    assert figure["data"][0]["values"][0] == 22_713_216
    assert figure["layout"]["title"]["text"] == "The word table is 52 % of the model"
    assert table(app, "name")["parameters"].iloc[0] == 30522 * 384


def test_the_numbers_are_those_of_the_weights(
    bundled_folder: Path,
) -> None:
    import transformers

    model = transformers.AutoModel.from_pretrained(bundled_folder)
    shown = table(page(), "name")
    theirs = {name: p.numel() for name, p in model.named_parameters()}
    assert dict(zip(shown["name"], shown["parameters"], strict=True)) == theirs
    assert set(shown["trained"][shown["name"].str.startswith("pooler")]) == {"no"}
    assert set(shown["trained"][~shown["name"].str.startswith("pooler")]) == {"yes"}


def test_a_part_is_chosen_and_said_to_be_untrained() -> None:
    app = page(part="pooler")
    said = everything_said(app)
    assert "A linear layer and a tanh" in said
    assert "**not trained**" in said
    assert "Every bias of the pooler is exactly 0" in said
    assert list(table(app, "array")["shape"]) == ["384 × 384", "384"]
    app = field(app.selectbox, "anatomy_part").select("layer-3/attention").run()
    assert shown_view(app).control(PAGE, "part", "") == "layer-3/attention"
    assert map_of(app)["data"][0]["level"] == "layer-3/attention"
    assert table(app, "part")["part"].iloc[0] == "Query"
    assert [link.proto.label for link in app.main.get("page_link")] == [
        f"See it at work: {row.title}" for row in _rows("attention")
    ]


def _rows(name: str) -> list[Any]:
    from components.ui.frame.navigation import PAGES

    return [row for row in PAGES if row.name == name]


def test_a_part_links_to_the_page_where_it_acts_with_the_view() -> None:
    app = page(part="embeddings/word")
    (link,) = (link.proto for link in app.main.get("page_link"))
    assert link.label == "See it at work: Tokens & IDs"
    assert link.page == "tokens"
    assert link.query_string.startswith("s=")


def test_the_search_narrows_the_table_and_is_told() -> None:
    app = field(page().text_input, "anatomy_search").set_value("Query").run()
    assert not app.exception
    assert "**12** arrays have “Query” in the name" in words(app, "reading_search")
    assert len(table(app, "name")) == 12
    app = field(app.text_input, "anatomy_search").set_value("<b>no</b> *such*").run()
    assert not app.exception
    assert r"\<b\>" in words(app, "reading_search")
    assert len(table(app, "name")) == 0


def test_the_tree_is_another_drawing_of_the_same() -> None:
    one, other = (map_of(page(drawing=d))["data"][0] for d in ("Treemap", "Tree"))
    assert (one["type"], other["type"]) == ("treemap", "icicle")
    assert one["values"] == other["values"]


# Presets without weights


def test_a_preset_is_taken_apart_without_its_weights(facts: dict[str, Any]) -> None:
    known = facts["parameters"]
    app = page(subject=BASE, part="embeddings")
    said = reading(app)
    assert (
        f"**{known['all_total']:,}** parameters in **{known['named_parameters']}** arrays" in said
    )
    assert f"**{known['two_dimensional_total']:,}**" in said
    shown = table(app, "name")
    shapes = {n: " × ".join(map(str, s)) for n, s in known["embedding_layer"].items()}
    assert dict(zip(shown["name"], shown["shape"], strict=True)).items() >= shapes.items()
    assert set(shown["trained"]) == {"not known"}
    assert "The weights are not here" in everything_said(app)
    app = page(subject=LARGE)
    assert "**335,141,888**" in reading(app)
    assert "**340 million**" in reading(app)


def test_roberta_and_distilbert_say_what_is_absent() -> None:
    said = everything_said(page(subject="FacebookAI/roberta-base"))
    assert "No pooler\\. Its published checkpoints" in said
    said = everything_said(page(subject="distilbert/distilbert-base-uncased"))
    assert "The distilbert architecture has no pooler" in said
    assert "No segment table" in said


def test_without_weights_there_is_nothing_to_look_into() -> None:
    app = page(subject=BASE, section=compute.SECTIONS[1])
    assert "without its weights" in app.info[0].value


def test_models_stand_side_by_side(service: EncoderService) -> None:
    app = page()
    shown = table(app, "billion multiply-adds").set_index("model")
    assert len(shown) == 8
    assert shown.loc["bert-large-uncased", "parameters"] == 335_141_888
    assert shown.loc["bert-base-uncased", "MB, float16"] == pytest.approx(218.96448)
    assert list(shown.loc["bert-large-uncased", ["layers", "heads", "dims"]]) == [24, 16, 1024]
    assert "**3.06** times the parameters" in words(app, "reading_models")
    drawn = chart(app, "anatomy_models")["data"]
    assert sum(trace["x"][0] for trace in drawn) == 22_713_216


def test_the_number_of_tokens_changes_the_work() -> None:
    app = field(page().number_input, "anatomy_tokens").set_value(512).run()
    assert shown_view(app).control(PAGE, "tokens", 0) == 512
    shown = table(app, "billion multiply-adds").set_index("model")
    formula = 512 * 12 * (4 * 768**2 + 2 * 768 * 3072) + 2 * 12 * 512**2 * 768 + 768**2
    assert shown.loc["bert-base-uncased", "billion multiply-adds"] == formula / 1e9


# Weights


def test_the_weights_of_an_array_are_measured(service: EncoderService) -> None:
    service.load(BUNDLED_ID)
    app = page(part="layer-2/attention/key", section=compute.SECTIONS[1])
    shown = table(app, "Frobenius norm").iloc[0]
    array = torch.from_numpy(
        service.matrix(BUNDLED_ID, "encoder.layer.1.attention.self.key.weight").copy()
    )
    assert shown["Frobenius norm"] == pytest.approx(float(array.double().norm()))
    assert shown["largest singular value"] == pytest.approx(
        float(torch.linalg.svdvals(array.double())[0])
    )
    assert "singular values hold 90\u00a0%" in words(app, "reading_weights")
    app = (
        field(app.selectbox, "anatomy_array")
        .select("encoder.layer.1.attention.self.key.bias")
        .run()
    )
    assert not app.exception
    assert "It is a vector" in words(app, "reading_weights")


def test_of_the_word_table_rows_are_sampled_and_it_is_said(service: EncoderService) -> None:
    service.load(BUNDLED_ID)
    app = page(section=compute.SECTIONS[1])
    assert "A sample of" in words(app, "reading_weights")
    assert "Every 6th of 30,522 rows" in everything_said(app)
    rows = service.word_rows(BUNDLED_ID, np.arange(0, 30522, 6))
    shown = table(app, "Frobenius norm").iloc[0]
    assert shown["Frobenius norm"] == pytest.approx(float(np.linalg.norm(rows.astype("f8"))))


# Every family


@pytest.mark.parametrize("name", ALL)
def test_every_family_is_taken_apart(tiny_service: EncoderService, name: str) -> None:
    card = tiny_service.load(f"folder:{name}")
    for part, section in (("", compute.SECTIONS[1]), ("layer-1/attention/query", "")):
        app = page(on(name), part=part, section=section)
        assert f"**{card.n_parameters:,}** parameters" in reading(app)
        assert not [*app.error, *app.warning]
    said = everything_said(app)
    assert ("No pooler" in said) == (card.provenance.pooler.state == "absent")
    if card.provenance.pooler.state == "absent":
        assert card.provenance.pooler.reason.split()[-1].rstrip(".") in said
    assert ("No segment table" in said) == (name in ("distilbert", "mpnet"))


def test_alberts_shared_layers_and_robertas_single_row_are_told() -> None:
    assert "its 3 layers share" in reading(page(on("albert")))
    assert "a single row" in everything_said(page(on("roberta"), part="embeddings/segment"))


def test_a_text_that_is_too_long_for_a_model_has_no_operations() -> None:
    app = page(on("bert"))
    shown = table(app, "billion multiply-adds").set_index("model")
    assert pd.isna(shown.loc["bert", "billion multiply-adds"])
    assert "does not fit in both" in words(app, "reading_models")


# What cannot break it


@pytest.mark.parametrize(
    "controls",
    [
        {"part": "no/such/part", "subject": "../../etc", "section": "x", "drawing": "<b>"},
        {"part": 7, "subject": 1.5, "tokens": "many", "search": False},
        {"tokens": -(10**9)},
        {"tokens": 10**12},
        {"array": "pooler.dense.weight", "part": "layer-1", "section": compute.SECTIONS[1]},
        {"search": "*[x](y)* $a$ :smile: <script>alert(1)</script>"},
        {"part": "layer-24", "subject": BASE},
    ],
    ids=str,
)
def test_no_control_of_an_address_breaks_it(controls: dict[str, Any]) -> None:
    app = page(**controls)
    assert not app.error
    assert "parameters" in reading(app)


@pytest.mark.parametrize(
    "text", ["", "   ", "python", "🐍", "python " * 600, "<b>x</b>"], ids=lambda t: repr(t[:8])
)
def test_the_sentences_do_not_matter(text: str) -> None:
    view = ViewState(BUNDLED_ID, (Sentence(text), Sentence("a", "pair")))
    assert reading(page(view)) == reading(page())


def test_a_broken_address_shows_the_default() -> None:
    app = page("1broken")
    assert app.warning
    assert "22,713,216" in reading(app)


def test_where_only_one_model_is_allowed_it_stands_alone(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with app_settings(
        DATA_DIR=str(tmp_path_factory.mktemp("one")), ALLOW_DOWNLOADS="0", MODELS=BUNDLED_ID
    ):
        app = page(subject=BASE)
        assert "22,713,216" in reading(app)
        assert len(table(app, "billion multiply-adds")) == 1
        assert "not both allowed" in words(app, "reading_models")


def test_reset_brings_the_whole_model_back() -> None:
    app = press(page(part="layer-2", search="key"), "reset")
    assert shown_view(app) == DEFAULT
    assert map_of(app)["data"][0]["level"] == "model"


# Files


@pytest.mark.parametrize("subject", ["", BASE])
def test_the_files_hold_the_table_and_the_passport(service: EncoderService, subject: str) -> None:
    from components.features.anatomy.measures.parameters import parameter_rows

    card = service.load(BUNDLED_ID)
    what = compute.compute(view_with(subject=subject), service, card)
    csv = export.to_csv(parameter_rows(what.tree), what.passport)
    read = pd.read_csv(io.BytesIO(csv), comment="#", encoding="utf-8-sig")
    assert int(read["parameters"].sum()) == what.totals.n_values
    npz = np.load(io.BytesIO(export.to_npz(_arrays(what), what.passport)), allow_pickle=False)
    assert int(npz["n_values"].sum()) == what.totals.n_values
    passport = json.loads(str(npz["passport"]))
    assert passport["model"] == (subject or BUNDLED_ID)
    assert passport["checksum"] == ("" if subject else card.checksum)
    assert "transformers" in passport["versions"]
    assert bool(passport["settings"]) == bool(subject)
