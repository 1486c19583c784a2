"""Embedding layer, headless: what it shows is the model's, and no input breaks it."""

from __future__ import annotations

import base64
import io
import itertools
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
from components.features.embedding_layer.compute import MAX_ROWS, PAGE, SECTIONS
from components.ui.state.view import DEFAULT, Sentence, ViewState
from tests.support.fields import field
from tests.support.pages import (
    LONG,
    TYPED,
    alone,
    app_settings,
    blocks,
    bundled_app,
    chart,
    everything_said,
    framed,
    shown_view,
)
from tests.support.tiny_models import FAMILIES

CHART = "embedding_sum"
TYPES = {"f4": np.float32, "f8": np.float64, "i1": np.int8, "i2": np.int16, "i4": np.int32}


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory):
        yield


def opened(view: ViewState | str = DEFAULT) -> AppTest:
    app = framed(view, page=PAGE)
    assert not app.exception
    return app


def on(*texts: str, pair: str | None = None, **controls: Any) -> ViewState:
    """A view on texts, the first with a pair, and the page's controls."""
    sentences = tuple(Sentence(text, pair if i == 0 else None) for i, text in enumerate(texts))
    view = replace(DEFAULT, sentences=sentences or DEFAULT.sentences)
    return replace(view, controls={PAGE: controls} if controls else {})


def array(data: Any) -> np.ndarray:
    """An array of a figure as it goes to the browser."""
    if not isinstance(data, dict):
        return np.array(data)
    flat = np.frombuffer(base64.b64decode(data["bdata"]), TYPES[data["dtype"]])
    shape = [int(n) for n in str(data.get("shape", len(flat))).split(",")]
    return flat.reshape(shape)


def strips(app: AppTest, key: str = CHART) -> dict[str, np.ndarray]:
    traces = chart(app, key)["data"]
    return {t["name"]: array(t["z"]) for t in traces if t["type"] == "heatmap"}


def said(app: AppTest, key: str = "reading") -> str:
    found = [
        markdown.value
        for block in blocks(app)
        if block._block_id.endswith(f"-{key}")
        for markdown in block.markdown
    ]
    assert len(found) == 1
    return found[0]


def frame(app: AppTest, column: str) -> pd.DataFrame:
    return next(d.value for d in app.dataframe if column in d.value.columns)


def assert_shows(app: AppTest, service: EncoderService, view: ViewState, index: int = 0) -> None:
    """Picture and tables have the model's numbers."""
    sentence = view.sentences[index]
    parts = service.embedding_parts(view.model, sentence.text, pair=sentence.pair)
    layer_0 = service.encode(view.model, [sentence.text], pairs=[sentence.pair], layers=[0])[0]
    drawn, n = strips(app), min(MAX_ROWS, parts.tokens.n_tokens)
    expected = {"word": parts.word, "position": parts.position, "sum": parts.total}
    expected |= {"layer 0": layer_0.hidden[0]}
    expected |= {} if parts.segment is None else {"segment": parts.segment}
    expected |= {"LayerNorm": parts.normalized} if parts.projected else {}
    assert set(drawn) == set(expected)
    for name, rows in expected.items():
        np.testing.assert_allclose(drawn[name], rows[:n], atol=1e-5)
    table = frame(app, "word row (ID)")
    assert table["word row (ID)"].tolist() == parts.tokens.token_ids.tolist()
    assert table["position row"].tolist() == parts.position_ids.tolist()
    assert "which is rounding" in said(app) or "difference is **0**" in said(app)


# On first sight


@pytest.mark.parametrize("open_page", [alone, framed])
def test_the_page_opens_on_the_example(
    open_page: Callable[..., AppTest], service: EncoderService
) -> None:
    app = open_page(page=PAGE)
    assert not app.exception
    assert not [*app.warning, *app.error, *app.info]
    assert [title.value for title in app.title] == ["Embedding layer"]
    assert_shows(app, service, DEFAULT)
    title = chart(app, CHART)["layout"]["title"]["text"]
    assert title == "The word leads in 6 of 7 tokens"
    assert "(position **62%**)" in said(app)


def test_the_shares_in_the_picture_are_those_of_the_table() -> None:
    app = opened()
    table = frame(app, "word share")
    bars = {t["name"]: t["x"] for t in chart(app, CHART)["data"] if t["type"] == "bar"}
    for name, values in bars.items():
        np.testing.assert_allclose(values, table[f"{name} share"], atol=1e-5)
    np.testing.assert_allclose(sum(np.array(v) for v in bars.values()), 1, atol=1e-4)


def test_the_values_of_the_chosen_word_are_all_there(service: EncoderService) -> None:
    table = frame(opened(), "layer 0, ours")
    parts = service.embedding_parts(BUNDLED_ID, DEFAULT.sentences[0].text)
    assert parts.tokens.tokens[5] == "python"
    np.testing.assert_allclose(table["word"], parts.word[5])
    np.testing.assert_allclose(table["layer 0, ours"], parts.output[5], atol=1e-6)
    assert len(table) == 384


# Controls


def test_another_sentence_and_one_token_and_zoom_by_address(service: EncoderService) -> None:
    view = on(sentence="B", token="3", width="8", first_dim=100)
    app = opened(view)
    parts = service.embedding_parts(BUNDLED_ID, DEFAULT.sentences[1].text)
    np.testing.assert_allclose(strips(app)["word"], parts.word[3:4, 100:108], atol=1e-5)
    np.testing.assert_allclose(strips(app)["layer 0"], parts.output[3:4, 100:108], atol=1e-5)
    assert chart(app, CHART)["layout"]["title"]["text"].startswith("coding: word")
    assert "Of “coding” they make up" in said(app)


def test_widgets_write_the_view() -> None:
    app = opened()
    app = field(app.selectbox, f"{PAGE}_token").set_value("0").run()
    app = field(app.selectbox, f"{PAGE}_near").set_value("0").run() if _has(app, "near") else app
    app = field(app.number_input, f"{PAGE}_first_token").set_value(0).run()
    assert shown_view(app).controls[PAGE] == {"token": "0"}
    assert "Of “\\[CLS\\]” they make up" in said(app)
    app = field(app.selectbox, f"{PAGE}_token").set_value("").run()
    assert shown_view(app) == DEFAULT


def _has(app: AppTest, name: str) -> bool:
    return any((w.key or "").startswith(f"{PAGE}_{name}") for w in app.selectbox)


def test_a_pair_shows_both_segments(service: EncoderService) -> None:
    view = on("I love my pet python", pair="It is a snake")
    app = opened(view)
    assert_shows(app, service, view)
    assert set(frame(app, "segment row")["segment row"]) == {0, 1}


def test_a_pair_can_be_typed_and_taken_away() -> None:
    app = opened()
    app = field(app.text_input, "page_pair").set_value("It is a snake").run()
    assert shown_view(app).sentences[0].pair == "It is a snake"
    assert len(frame(app, "segment row")) == 12
    app = field(app.text_input, "page_pair").set_value("").run()
    assert len(frame(app, "segment row")) == 7


@pytest.mark.parametrize(
    "controls",
    [
        {"token": "999", "width": "7", "first_dim": -5, "first_token": 10_000, "sentence": "Z"},
        {"token": "²", "width": "<b>", "first_dim": 10**9, "section": "No", "sentence": ""},
        {"token": 3, "width": 8, "first_dim": "x", "first_token": 1.5, "sentence": True},
        {"section": "Neighbours", "near": "77"},
        {"section": "Same word", "other": "Q"},
        {"section": "Segments", "change": "Everything"},
        {"section": "Positions", "positions": "First 9000"},
    ],
    ids=lambda controls: "-".join(controls),
)
def test_broken_controls_in_the_address_fall_back(
    controls: dict[str, Any], service: EncoderService
) -> None:
    app = opened(on(**controls))
    assert_shows(app, service, DEFAULT)


# Closer looks


def test_the_same_word_has_the_same_row_in_two_sentences() -> None:
    app = opened()
    assert "**5** tokens are in both texts" in said(app, "reading_same")
    assert "even their layer 0 is the same" in said(app, "reading_same")
    marked = np.array(chart(app, "embedding_same")["data"][0]["text"])
    assert (marked == "=").sum() == 5
    rows = frame(app, "word rows differ by")
    assert set(rows["ID"]) >= {101, 102}
    assert (rows["word rows differ by"] == 0).all()


def test_one_sentence_alone_is_compared_with_a_ready_one() -> None:
    app = opened(on("I love coding in python"))
    options = field(app.selectbox, f"{PAGE}_other").options
    assert options == ["Example  I love my pet python"]
    assert "tokens are in both" in said(app, "reading_same")


def test_neighbours_are_those_of_the_whole_table(service: EncoderService) -> None:
    app = opened(on(section="Neighbours"))
    table = frame(app, "cosine")
    rows = service.word_rows(BUNDLED_ID, range(30_522)).astype(np.float64)
    units = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    cosines = units @ units[18_750]
    best = [i for i in np.argsort(-cosines) if i != 18_750][:10]
    assert table["ID"].tolist() == best
    np.testing.assert_allclose(table["cosine"], cosines[best], atol=1e-5)
    assert "Random pairs of rows average" in said(app, "reading_near")
    app = field(app.selectbox, f"{PAGE}_near").set_value("0").run()
    assert "Nearest to “\\[CLS\\]”" in said(app, "reading_near")


def test_positions_are_compared_and_drawn(service: EncoderService) -> None:
    app = opened(on(section="Positions"))
    heat = chart(app, "embedding_positions")["data"][0]
    assert (heat["x0"], heat["dx"]) == (0, 4)
    table = service.matrix(BUNDLED_ID, "embeddings.position_embeddings.weight")
    units = table / np.linalg.norm(table, axis=1, keepdims=True)
    np.testing.assert_allclose(array(heat["z"]), (units @ units.T)[::4, ::4], atol=2e-5)
    assert len(chart(app, "embedding_curve")["data"][0]["x"]) == 512
    few = opened(on(section="Positions", positions="First 64"))
    assert array(chart(few, "embedding_positions")["data"][0]["z"]).shape == (64, 64)


def test_a_second_text_moves_its_own_tokens_only(service: EncoderService) -> None:
    app = opened(on(section="Segments"))
    moved = np.array(chart(app, "embedding_moved")["data"][0]["y"])
    assert (moved[:5] == 0).all()
    assert (moved[5:] > 0.1).all()
    texts = [s.text for s in DEFAULT.sentences]
    both = service.embedding_parts(BUNDLED_ID, texts[0], pair=texts[1]).output[7:12]
    single = service.embedding_parts(BUNDLED_ID, texts[1]).output[1:6]
    expected = np.linalg.norm(both - single, axis=1) / np.linalg.norm(single, axis=1)
    np.testing.assert_allclose(moved[5:], expected, atol=1e-4)
    assert "first text's tokens do not move at all" in said(app, "reading_segments")


def test_without_a_second_text_nothing_moves_and_the_segment_alone_moves_less() -> None:
    still = opened(on(section="Segments", change="Alone"))
    assert not np.array(chart(still, "embedding_moved")["data"][0]["y"]).any()
    assert "nothing moves" in said(still, "reading_segments")
    alone_ = opened(on(section="Segments", change="Segment only"))
    moved = np.array(chart(alone_, "embedding_moved")["data"][0]["y"])
    assert moved.shape == (7,)
    assert (moved > 0).all()
    assert (moved < 0.3).all()


def test_positions_and_segments_are_said_to_be_learned() -> None:
    app = opened(on(section="What is learned"))
    told = said(app, "reading_learned")
    assert "position embeddings and segment embeddings are tables of parameters" in told
    assert "they were learned" in told
    table = frame(app, "parameter").set_index("parameter")
    assert table.loc["embeddings.position_embeddings.weight", "state"] == "learned"
    assert table.loc["embeddings.token_type_embeddings.weight", "state"] == "learned"
    assert table["numbers"].sum() == 11_918_592


# Any text


@pytest.mark.parametrize("text", TYPED.values(), ids=TYPED.keys())
def test_any_text_is_shown(text: str, service: EncoderService) -> None:
    view = on(text, "another text")
    app = opened(view)
    assert not app.error
    assert_shows(app, service, view)


@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize("text", ["", "   ", "🐍", "x", LONG, "<b>bold</b>"])
def test_every_closer_look_works_on_every_text(text: str, section: str) -> None:
    app = opened(on(text, section=section))
    assert not app.error


def test_nothing_typed_becomes_markup() -> None:
    text = "<b>bold</b> **x** $y$ :snake: <script>"
    for section in SECTIONS:
        app = opened(on(text, text, section=section))
        spoken = "\n".join(
            line for line in everything_said(app).splitlines() if "importlib" not in line
        )
        assert "<b>" not in spoken
        names = json.dumps([json.loads(e.proto.spec)["layout"] for e in app.get("plotly_chart")])
        assert "<script" not in names


def test_a_long_text_is_drawn_in_part_and_told_to_be(service: EncoderService) -> None:
    view = on(LONG, first_token=500)
    app = opened(view)
    captions = " ".join(c.value for c in app.main.caption)
    assert "Tokens 488 to 511 of 512 are drawn" in captions
    assert "its last 90 tokens are left out" in captions
    parts = service.embedding_parts(BUNDLED_ID, LONG)
    np.testing.assert_allclose(strips(app)["position"], parts.position[-MAX_ROWS:], atol=1e-5)
    assert len(frame(app, "word row (ID)")) == 512


def test_eight_sentences_can_be_chosen_among(service: EncoderService) -> None:
    view = on(*[f"Sentence number {i}" for i in range(8)], sentence="H")
    assert_shows(opened(view), service, view, index=7)


def test_a_view_without_sentences_is_no_error() -> None:
    app = opened(replace(DEFAULT, sentences=()))
    assert len(frame(app, "word row (ID)")) == 2


# Other families


@pytest.mark.parametrize(
    ("family", "section"),
    [*itertools.product(FAMILIES, SECTIONS), ("bert-without-pooler", SECTIONS[0])],
)
def test_every_family_says_what_it_has_and_has_not(
    family: str, section: str, tiny_root: Path, tiny_service: EncoderService, tmp_path: Path
) -> None:
    with app_settings(DATA_DIR=str(tmp_path), MODEL_FOLDERS=str(tiny_root), ALLOW_DOWNLOADS="0"):
        view = replace(on(section=section, width="64"), model=f"folder:{family}")
        view = replace(
            view, sentences=(Sentence("the <pad> river", "a bank"), Sentence("the bank"))
        )
        app = opened(view)
        assert not app.error
        assert_shows(app, tiny_service, view)
        has_segments = family not in {"distilbert", "mpnet"}
        assert ("segment" in strips(app)) == has_segments
        assert ("LayerNorm" in strips(app)) == (family in {"albert", "electra"})
        told = everything_said(app)
        if family == "mpnet":
            assert "relative positions act in attention" in told
        if section == "Segments" and not has_segments:
            assert "no segment embeddings" in said(app, "reading_segments")
        if section == "Positions" and family in {"roberta", "xlm-roberta", "mpnet"}:
            assert "begins at row **2**" in said(app, "reading_positions")


# Downloads and code


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[[], bytes]]:
    """The downloads that the page offers, by name."""
    import streamlit as st

    offered: dict[str, Callable[[], bytes]] = {}
    real = st.download_button

    def note(label: str, data: Any = None, *args: Any, **kwargs: Any) -> Any:
        offered[kwargs.get("file_name", label)] = data
        return real(label, data, *args, **kwargs)

    monkeypatch.setattr(st, "download_button", note)
    opened(on("I love my pet python", pair="=1+1"))
    return offered


def test_the_files_hold_the_numbers_and_the_passport(
    files: dict[str, Callable[[], bytes]], service: EncoderService
) -> None:
    csv = files["embedding-layer.csv"]()
    table = pd.read_csv(io.BytesIO(csv), comment="#", encoding="utf-8-sig")
    parts = service.embedding_parts(BUNDLED_ID, "I love my pet python", pair="=1+1")
    assert table["word row (ID)"].tolist() == parts.tokens.token_ids.tolist()
    assert "'=" in table["token"].tolist()
    with np.load(io.BytesIO(files["embedding-layer.npz"]()), allow_pickle=False) as npz:
        added = npz["word"] + npz["position"] + npz["segment"]
        np.testing.assert_allclose(added, npz["sum"], atol=1e-6)
        np.testing.assert_array_equal(npz["layer_0"], parts.output)
        passport = json.loads(str(npz["passport"]))
    assert passport["model"] == BUNDLED_ID
    assert passport["settings"]["layer_norm_epsilon"] == 1e-12


def test_the_snippet_on_the_page_gives_the_page_s_numbers(service: EncoderService) -> None:
    app = opened()
    (code,) = [c.value for c in app.code if "word_embeddings" in c.value]
    namespace: dict[str, Any] = {}
    exec(compile(code, "snippet.py", "exec"), namespace)
    np.testing.assert_allclose(namespace["word"], strips(app)["word"], atol=1e-5)
    assert re.search(r"\*\*\d", said(app))
