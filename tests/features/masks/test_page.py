"""Padding & masks, headless: what it shows is the model's, and no input breaks it."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from components.core import BUNDLED_ID, EncoderService
from components.features.masks.compute import compute
from components.features.masks.downloads import arrays, token_rows
from components.features.masks.measures.laboratory import Lab
from components.ui.state.view import DEFAULT, Control, Sentence, ViewState
from components.ui.widgets import export
from tests.core.test_agreement import Oracle
from tests.features.meaning import test_page as whole
from tests.support.fields import field
from tests.support.pages import (
    TYPED,
    app_settings,
    blocks,
    bundled_app,
    chart,
    everything_said,
    press,
    reading,
    shown_view,
    type_in,
)

BATCH, LAYERS, TOKENS, LIMIT = "masks_batch", "masks_layers", "masks_tokens", "masks_limit"


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory):
        yield


def framed(view: ViewState | str = DEFAULT) -> AppTest:
    return whole.framed(view, "masks")


def alone(view: ViewState = DEFAULT) -> AppTest:
    return whole.alone(view, "masks")


def view_of(*texts: str, **controls: Control) -> ViewState:
    sentences = tuple(map(Sentence, texts)) if texts else DEFAULT.sentences
    return replace(DEFAULT, sentences=sentences, controls={"masks": controls} if controls else {})


def lab_of(service: EncoderService, view: ViewState) -> Lab:
    lab = compute(view, service, service.load(view.model)).lab
    assert lab is not None
    return lab


def assert_shows(app: AppTest, service: EncoderService, view: ViewState) -> None:
    """Pictures, tables and reading have the laboratory's numbers for this view."""
    assert not app.exception
    assert not app.error
    lab, layer = lab_of(service, view), len(chart(app, LAYERS)["layout"]["xaxis"]["tickvals"]) - 1
    cells = chart(app, BATCH)["data"][0]["z"]
    for column, row in enumerate(lab.rows):
        shown = [line[column] for line in cells if line[column] is not None]
        np.testing.assert_allclose(shown, row.damage.tokens[layer], atol=1e-5)
    summary = table(app, "mean of real tokens")
    np.testing.assert_allclose(
        summary["mean of real tokens"], [row.damage.mean[layer] for row in lab.rows], atol=1e-5
    )
    np.testing.assert_allclose(
        summary["mean with padding"], [row.damage.mean_all[layer] for row in lab.rows], atol=1e-5
    )
    assert reading(app)


def table(app: AppTest, column: str) -> pd.DataFrame:
    return next(d.value for d in app.dataframe if column in d.value.columns)


def captions(app: AppTest) -> str:
    return "\n".join(re.sub(r"\\(.)", r"\1", c.value) for c in app.main.caption)


# On first sight


@pytest.mark.parametrize("opened", [alone, framed], ids=["alone", "framed"])
def test_the_page_shows_something_true_and_interesting(
    opened: Callable[..., AppTest], service: EncoderService
) -> None:
    app = opened()
    assert [title.value for title in app.title] == ["Padding & masks"]
    assert_shows(app, service, DEFAULT)
    assert reading(app).startswith("**78%** of the 64 positions in this batch are padding.")
    assert "sentence A padded to 32 is only **0.79** like itself at layer 6" in reading(app)
    title = chart(app, BATCH)["layout"]["title"]["text"]
    assert title == "Without the mask, A is only 0.79 like itself"
    assert "These positions have vectors too" in captions(app)


def test_the_numbers_are_those_of_plain_transformers(bundled_folder: Path) -> None:
    oracle = Oracle(bundled_folder, 512, attn_implementation="eager")
    rows = table(framed(), "mean of real tokens")
    for text, row in zip(DEFAULT.sentences, rows.to_dict("records"), strict=True):
        a, b = oracle(text.text), oracle(text.text, pad_to=32, mask="ones")
        real = a.hidden.shape[1]
        pairs = {
            "[CLS]": (a.hidden[-1, 0], b.hidden[-1, 0]),
            "mean of real tokens": (a.hidden[-1].mean(0), b.hidden[-1, :real].mean(0)),
            "mean with padding": (a.hidden[-1].mean(0), b.hidden[-1].mean(0)),
            "pooler_output": (a.pooler_output, b.pooler_output),
        }
        for name, (u, v) in pairs.items():
            expected = float(u @ v / np.linalg.norm(u) / np.linalg.norm(v))
            assert row[name] == pytest.approx(expected, abs=1e-5), name


def test_the_untrained_pooler_is_called_so() -> None:
    app = framed()
    assert any("untrained" in t.get("name", "") for t in chart(app, LAYERS)["data"])
    shapes = next(t.value for t in app.table)
    said = shapes.loc["`output[1]`", "what it is"]
    assert "linear layer and tanh" in said
    assert "never trained" in said
    assert shapes.loc["`output[0]`", "shape"] == "`[2, 32, 384]`"


# The controls


def test_the_switch_heals_the_batch(service: EncoderService) -> None:
    app = field(framed().toggle, "masks_mask").set_value(True).run()
    view = view_of(mask=True)
    assert shown_view(app) == view
    assert_shows(app, service, view)
    assert chart(app, BATCH)["layout"]["title"]["text"] == "With the mask, padding changes nothing"
    cells = chart(app, BATCH)["data"][0]["z"]
    np.testing.assert_allclose(np.array(cells, dtype=float), 1, atol=1e-5)
    assert "But a mean that counts" in reading(app)
    app = field(app.toggle, "masks_mask").set_value(False).run()
    assert shown_view(app) == DEFAULT


@pytest.mark.parametrize("size", ["Longest", "16", "64", "512"])
def test_the_batch_is_padded_as_asked(service: EncoderService, size: str) -> None:
    app = field(framed().button_group, "masks_pad_to").set_value(size).run()
    view = view_of(pad_to=size)
    assert shown_view(app) == view
    assert_shows(app, service, view)
    n = 7 if size == "Longest" else int(size)
    assert len(table(app, "position")) == n
    assert f"the {2 * n:,} positions" in reading(app) or n == 7


def test_padding_to_the_longest_of_equal_lengths_says_that_nothing_is_padding() -> None:
    app = framed(view_of(pad_to="Longest"))
    assert reading(app).startswith("All **14** positions of this batch hold real tokens")


@pytest.mark.parametrize("layer", [0, 3])
def test_the_slider_chooses_the_layer(service: EncoderService, layer: int) -> None:
    app = field(framed().slider, "layer").set_value(layer).run()
    assert f"layer {layer}" in reading(app)
    cells = np.array(chart(app, BATCH)["data"][0]["z"], dtype=float)
    expected = [row.damage.tokens[layer] for row in lab_of(service, DEFAULT).rows]
    np.testing.assert_allclose(cells.T, expected, atol=1e-5)


def test_another_sentence_is_chosen_for_lines_and_reading(service: EncoderService) -> None:
    app = field(framed().button_group, "masks_sentence").set_value("B").run()
    assert "sentence B padded to 32" in reading(app)
    mean = next(t for t in chart(app, LAYERS)["data"] if t.get("name") == "mean of real tokens")
    expected = lab_of(service, DEFAULT).rows[1].damage.mean
    assert mean["y"] == pytest.approx(expected.tolist(), abs=1e-5)


@pytest.mark.parametrize("color", ["Mask", "Segment"])
def test_the_batch_can_be_coloured_by_mask_and_segment(color: str) -> None:
    view = replace(
        view_of(color=color), sentences=(Sentence("Which snake?", "A python."), Sentence("Rain"))
    )
    app = framed(view)
    cells = chart(app, BATCH)["data"][0]["z"]
    first = [line[0] for line in cells]
    assert first == ([1] * 9 if color == "Mask" else [0] * 5 + [1] * 4)


def test_a_second_text_makes_a_pair(service: EncoderService) -> None:
    app = field(framed().text_input, "masks_pair_0").set_value("A python, I think.").run()
    view = shown_view(app)
    assert view.sentences[0].pair == "A python, I think."
    assert_shows(app, service, view)
    assert table(app, "position")["segment"].sum() == 7


@pytest.mark.parametrize(
    "controls",
    [
        {"pad_to": "banana"},
        {"pad_to": "-5"},
        {"pad_to": 32},
        {"pad_to": "99999999999"},
        {"pad_to": "²"},
        {"sentence": "Z", "color": "<b>", "mask": "yes", "repeat": -3},
        {"repeat": 10**9},
        {"sentence": 3, "color": True, "mask": 7.5, "repeat": "x"},
    ],
)
def test_a_broken_control_of_the_address_falls_back(
    service: EncoderService, controls: dict[str, Control]
) -> None:
    app = framed(view_of(**controls))
    assert_shows(app, service, DEFAULT)


def test_padding_below_the_longest_is_said_and_not_done(service: EncoderService) -> None:
    text = "A long sentence about a python that needs more than sixteen tokens in all to be told"
    app = framed(view_of(text, "Rain", pad_to="16"))
    n = max(lab_of(service, view_of(text, "Rain")).lengths)
    assert n > 16
    assert f"Padding to 16 is not possible here: the longest sentence has {n}" in captions(app)
    assert_shows(app, service, view_of(text, "Rain"))
    assert len(table(app, "position")) == 32


def test_reset_gives_the_opening_view_back() -> None:
    app = press(framed(view_of("x", pad_to="64", mask=True, color="Mask")), "reset")
    assert not app.exception
    assert shown_view(app) == DEFAULT
    assert field(app.toggle, "masks_mask").value is False
    assert field(app.button_group, "masks_pad_to").value == "32"


# Sorting and the limit


def test_what_sorting_saves_is_said_before_it_is_opened() -> None:
    labels = [b.label for b in framed().expander]
    assert labels[0].startswith("Sorting by length cuts padding from 4")
    assert labels[1] == "What happens to token 513?"


def test_own_sentences_are_sorted_too() -> None:
    found = table(framed(view_of("one two three", "x", "one two three", "x")), "batches of")
    assert found.to_dict("list") == {
        "batches of": [1, 2, 4],
        "positions": [16, 20, 20],
        "sorted": [16, 16, 20],
        "padding left": ["0%", "0%", "20%"],
    }


def test_at_the_limit_the_cut_is_computed_live(service: EncoderService) -> None:
    app = framed()
    assert "The model has no position 513" in everything_said(app)
    app = field(app.number_input, "masks_repeat").set_value(102).run()
    assert shown_view(app).control("masks", "repeat", 0) == 102
    assert "exactly full" in everything_said(app)
    app = field(app.number_input, "masks_repeat").set_value(103).run()
    text = " ".join(["I love my pet python"] * 103)
    lost = service.tokenize(BUNDLED_ID, [text])[0].n_truncated
    assert f"its last **{lost}** are cut off" in everything_said(app)
    assert [t["x"] for t in chart(app, LIMIT)["data"]] == [[512], [lost]]


def test_a_cut_sentence_is_said_to_be_cut(service: EncoderService) -> None:
    view = view_of(" ".join(["python"] * 600), "I love my pet python")
    app = framed(view)
    assert "A: the text is longer than the model takes; its last 90 tokens" in captions(app)
    assert_shows(app, service, view)


# Every bad input


@pytest.mark.parametrize("text", TYPED.values(), ids=TYPED.keys())
def test_any_text_works_or_is_left_out(service: EncoderService, text: str) -> None:
    app = type_in(framed(), text)
    assert field(app.text_input, "page_sentences_0").value == text
    assert ("A is empty and left out" in captions(app)) == (not text.strip())
    assert_shows(app, service, shown_view(app))


@pytest.mark.parametrize("texts", [("",), ("   ",), ("", " \n ")])
def test_nothing_but_empty_sentences_asks_for_one(texts: tuple[str, ...]) -> None:
    app = framed(view_of(*texts))
    assert not app.exception
    assert [info.value for info in app.info] == ["Type a sentence: every one here is empty."]
    app = type_in(app, "I love my pet python")
    assert not app.info
    assert "sentence A padded to 32" in reading(app)


@pytest.mark.parametrize("n", [1, 8])
def test_identical_sentences_one_and_eight(service: EncoderService, n: int) -> None:
    view = view_of(*["I love my pet python"] * n)
    app = framed(view)
    assert_shows(app, service, view)
    assert "Hit hardest" not in reading(app)


def test_a_chosen_sentence_that_is_empty_gives_way(service: EncoderService) -> None:
    view = view_of("", "Rain", "I love my pet python", sentence="A")
    app = framed(view)
    assert_shows(app, service, view)
    assert "sentence B padded to 32" in reading(app)


def test_eight_texts_over_the_limit_still_work(service: EncoderService) -> None:
    view = view_of(*[f"{'python ' * 600}{i}" for i in range(8)])
    app = framed(view)
    assert_shows(app, service, view)
    assert reading(app).startswith("All **4,096** positions")


@pytest.mark.parametrize("text", ["<img src=x onerror=alert(1)>", "[a](http://example.org) **b**"])
def test_nothing_typed_becomes_markup(text: str) -> None:
    app = framed(view_of(text, "x"))
    assert text not in everything_said(app)
    for element in app.get("plotly_chart"):
        assert "<img" not in element.proto.spec


def test_a_model_without_segments_or_pooler_has_its_page(tiny_root: Path, tmp_path: Path) -> None:
    names = ("distilbert", "roberta", "mpnet", "bert-without-pooler")
    models = ",".join(f"folder:{name}" for name in names)
    with app_settings(DATA_DIR=str(tmp_path), MODEL_FOLDERS=str(tiny_root), MODELS=models):
        for name in names:
            app = framed(replace(view_of("A python slept", "Rain"), model=f"folder:{name}"))
            assert not app.exception
            assert not app.error
            assert "**" in reading(app)
            shapes = next(t.value for t in app.table)
            absent = name in ("distilbert", "bert-without-pooler")
            assert (shapes.loc["`output[1]`", "shape"] == "") == absent
            assert any("pooler" in t.get("name", "") for t in chart(app, LAYERS)["data"]) != absent


# Downloads


def test_the_downloads_hold_the_numbers_and_the_passport(service: EncoderService) -> None:
    result = compute(DEFAULT, service, service.load(BUNDLED_ID))
    lab = lab_of(service, DEFAULT)
    rows = [r for row in lab.rows for r in token_rows(row)]
    found = pd.read_csv(io.BytesIO(export.to_csv(rows, result.passport)), comment="#")
    assert len(found) == 64
    assert found["mask"].sum() == 14
    assert found.loc[found["mask"] == 0, "layer 6"].isna().all()
    assert found["layer 6"][6] == pytest.approx(lab.rows[0].damage.tokens[6, 6])
    with np.load(io.BytesIO(export.to_npz(arrays(lab), result.passport))) as data:
        passport: dict[str, Any] = json.loads(str(data["passport"]))
        assert data["token_cosines"].shape == (2, 7, 32)
        assert np.isnan(data["token_cosines"]).sum() == 2 * 7 * 25
        np.testing.assert_array_equal(data["attention_mask"].sum(axis=1), [7, 7])
    assert passport["settings"]["mask"] == "ones"
    assert passport["settings"]["pad_to"] == 32
    assert passport["model"] == BUNDLED_ID


def test_the_page_offers_all_four_downloads() -> None:
    app = framed()
    assert {button.label for button in app.get("download_button")} >= {"CSV", "NPZ"}
    assert any(block._block_id.endswith("-downloads") for block in blocks(app))
