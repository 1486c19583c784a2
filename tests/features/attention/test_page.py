"""Attention, headless: what it shows is the model's, and no input breaks it."""

from __future__ import annotations

import base64
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from components.core import BUNDLED_ID, EncoderService
from components.features.attention import compute, tabs
from components.ui.models import runtime
from components.ui.state.view import DEFAULT, Sentence, ViewState
from components.ui.widgets.export import to_csv, to_npz
from tests.support.fields import field
from tests.support.pages import (
    alone,
    bundled_app,
    everything_said,
    framed,
    reading,
    send_pick,
    shown_view,
)
from tests.support.tiny_models import FAMILIES

PAGE = "attention"
PAIR = Sentence("My teacher's python is ill", "What does a snake eat")
LONG = " ".join(f"The bank of the river was steep but python {i} swam on." for i in range(60))


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory, tiny_root: Path) -> Iterator[None]:
    with bundled_app(tmp_path_factory, MODEL_FOLDERS=str(tiny_root)):
        yield


def view_on(
    *sentences: Sentence, model: str = BUNDLED_ID, layer: int | None = None, **own: Any
) -> ViewState:
    texts = sentences or DEFAULT.sentences
    return ViewState(model, texts, layer=layer, controls={PAGE: own} if own else {})


def opened(*sentences: Sentence, **how: Any) -> AppTest:
    app = framed(view_on(*sentences, **how), PAGE)
    assert not app.exception
    assert not app.error
    return app


def component(app: AppTest, name: str) -> dict[str, Any]:
    """What a component was sent."""
    protos = [element.proto for element in app.get("bidi_component")]
    return json.loads(next(p.json for p in protos if p.component_name.endswith(name)))


def lines(app: AppTest) -> np.ndarray:
    data = component(app, "contextlens_lines")
    weights = np.frombuffer(base64.b64decode(data["weights"]), "<f4")
    return weights.reshape(len(data["rows"]), len(data["columns"]))


def labels(app: AppTest, side: str = "rows") -> list[str]:
    return [item["text"] for item in component(app, "contextlens_lines")[side]]


def heatmap(app: AppTest) -> np.ndarray:
    protos = [element.proto for element in app.get("plotly_chart")]
    spec = json.loads(next(p.spec for p in protos if p.id.endswith("attention_heatmap")))
    z = spec["data"][0]["z"]
    values = np.frombuffer(base64.b64decode(z["bdata"]), z["dtype"])
    return values.reshape([int(n) for n in z["shape"].split(",")])


def tables(app: AppTest) -> dict[str, pd.DataFrame]:
    return {"heads" if "layer" in d.value else "weights": d.value for d in app.dataframe}


def whole(service: EncoderService, sentence: Sentence, model: str = BUNDLED_ID) -> np.ndarray:
    pairs = None if sentence.pair is None else [sentence.pair]
    (encoding,) = service.encode(model, [sentence.text], pairs=pairs, attentions=True)
    return encoding.attentions


def assert_shows(app: AppTest, expected: np.ndarray) -> None:
    np.testing.assert_allclose(lines(app), expected, atol=1e-5)
    np.testing.assert_allclose(heatmap(app), expected, atol=1e-5)
    table = tables(app)["weights"]
    if len(table.columns) == expected.shape[1] + 1:
        np.testing.assert_allclose(table.iloc[:, 1:].to_numpy(float), expected, atol=1e-5)


# On first sight


@pytest.mark.parametrize("open_", [alone, framed])
def test_the_page_opens_on_the_head_that_looks_at_the_token_before(
    open_: Any, service: EncoderService
) -> None:
    app = open_(DEFAULT, PAGE)
    assert not app.exception
    assert [title.value for title in app.title] == ["Attention"]
    attentions = whole(service, DEFAULT.sentences[0])
    before = [[np.diagonal(head, -1).mean() for head in layer] for layer in attentions]
    layer, head = np.unravel_index(np.argmax(before), (6, 12))
    assert_shows(app, attentions[layer, head])
    text = reading(app)
    assert f"In layer {layer + 1}, head {head}, **{np.max(before):.2f}**" in text
    assert "goes to the token before" in text
    assert "“python” looks most at “pet”" in text
    assert "it does not explain" in text
    assert not app.warning


def test_the_table_of_heads_is_sorted_and_true(service: EncoderService) -> None:
    table = tables(opened(sort="first"))["heads"]
    attentions = whole(service, DEFAULT.sentences[0])
    assert len(table) == 72
    assert table["[CLS]"].is_monotonic_decreasing
    for _, row in table.iloc[::9].iterrows():
        own = attentions[int(row["layer"]) - 1, int(row["head"])]
        assert row["[CLS]"] == pytest.approx(own[:, 0].mean(), abs=1e-5)
        assert row["next token"] == pytest.approx(np.diagonal(own, 1).mean(), abs=1e-5)


# Controls


def test_another_head_is_chosen_in_the_menu_and_in_the_navigator(service: EncoderService) -> None:
    attentions = whole(service, DEFAULT.sentences[0])
    app = field(opened().selectbox, "attention_head").set_value("3.7").run()
    assert_shows(app, attentions[2, 7])
    app = send_pick(app, "attention_heads", layer=5, head=1)
    assert_shows(app, attentions[4, 1])
    assert shown_view(app).control(PAGE, "head", "") == "5.1"
    assert component(app, "contextlens_heads")["chosen"] == [[5, 1]]


def test_a_head_picked_in_a_mean_shows_that_head(service: EncoderService) -> None:
    app = send_pick(opened(show="Rollout"), "attention_heads", layer=2, head=3)
    assert_shows(app, whole(service, DEFAULT.sentences[0])[1, 3])


@pytest.mark.parametrize("layer", [1, 4, None])
def test_means_and_rollout(service: EncoderService, layer: int | None) -> None:
    means = whole(service, DEFAULT.sentences[0]).mean(axis=1)
    last = layer or 6
    assert_shows(opened(show="Layer", layer=layer), means[last - 1])
    assert_shows(opened(show="All", layer=layer), means.mean(axis=0))
    through = np.eye(means.shape[-1])
    for mean in means[:last]:
        through = (0.5 * mean + 0.5 * np.eye(len(mean))) @ through
    assert_shows(opened(show="Rollout", layer=layer), through)


def test_picking_a_token_shows_its_numbers_and_says_them(service: EncoderService) -> None:
    app = send_pick(opened(show="All"), "attention_lines", side="to", position=4)
    view = shown_view(app)
    assert (view.control(PAGE, "side", ""), view.control(PAGE, "token", -1)) == ("to", 4)
    assert "“pet” gets most from" in reading(app)
    assert component(app, "contextlens_lines")["picked"] == {"side": "to", "index": 4}


def test_hidden_special_tokens_are_told(service: EncoderService) -> None:
    part = whole(service, DEFAULT.sentences[0]).mean(axis=(0, 1))[1:-1, 1:-1]
    app = opened(show="All", special="Hide")
    assert_shows(app, part)
    assert "went to them" in everything_said(app)
    app = opened(show="All", special="Hide, rows to 1")
    assert_shows(app, part / part.sum(axis=1, keepdims=True))
    assert "rows sum to 1 again" in everything_said(app)


def test_words_merge_their_sub_tokens() -> None:
    app = opened(Sentence("Pure unbelievability"), unit="Words")
    assert labels(app) == ["[CLS]", "pure", "unbelievability", "[SEP]"]
    np.testing.assert_allclose(lines(app).sum(axis=1), 1, atol=1e-5)


def test_padding_is_shown_and_gets_exactly_nothing() -> None:
    app = opened(show="All", pad=10)
    assert labels(app)[7:] == ["[PAD]"] * 3
    assert lines(app)[:7, 7:].max() == 0
    assert "3 positions are padding: what the text's tokens give them is exactly 0" in (
        everything_said(app)
    )
    assert "nothing to pad to 5" in everything_said(opened(pad=5))


# Pairs


def test_a_pair_can_be_seen_from_one_text_to_the_other(service: EncoderService) -> None:
    own = whole(service, PAIR).mean(axis=(0, 1))
    (encoding,) = service.encode(BUNDLED_ID, [PAIR.text], pairs=[PAIR.pair])
    first, second = (np.flatnonzero(encoding.text_ids == which) for which in (0, 1))
    app = opened(PAIR, show="All", direction="First to second")
    assert_shows(app, own[np.ix_(first, second)])
    assert "what is missing to 1 went elsewhere" in everything_said(app)
    app = opened(PAIR, show="All", direction="Second to first")
    assert_shows(app, own[np.ix_(second, first)])


def test_without_a_second_text_there_is_no_direction() -> None:
    app = opened(direction="First to second")
    assert len(labels(app)) == len(labels(app, "columns")) == 7
    assert "There is no second text" in everything_said(app)
    app = opened(Sentence("a python", " "), direction="Second to first")
    assert "One of the two texts has no token" in everything_said(app)


# Any text


TEXTS = {
    "one token": "a",
    "empty": "",
    "spaces": "   ",
    "unknown": "\U0001f984",
    "markup": "<img src=x onerror=alert(1)> **bold** $x$ [a](b) :smile:",
    "controls": "nul \x00 bell \x07",
    "right to left": "שלום عليكم",
    "typed special": "[CLS] my [MASK] [PAD]",
}


@pytest.mark.parametrize("show", ["One head", "Rollout"])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_any_text_works(text: str, show: str) -> None:
    for own in ({}, {"special": "Hide, rows to 1", "unit": "Words"}):
        app = opened(Sentence(text), show=show, **own)
        assert lines(app).size
        assert reading(app)
        assert "<img" not in re.sub(r"\\(.)", "", everything_said(app)).replace("`<img", "")


def test_an_empty_text_says_what_the_model_sees() -> None:
    said = everything_said(opened(Sentence("")))
    assert "no token of its own" in said
    hidden = everything_said(opened(Sentence(""), special="Hide"))
    assert "nothing would be left" in hidden


def test_an_unknown_token_is_named() -> None:
    assert "One token is unknown" in everything_said(opened(Sentence("\U0001f984")))
    assert "2 tokens are unknown" in everything_said(opened(Sentence("\U0001f984 and \U0001f984")))


def test_512_tokens_fit_in_what_a_browser_should_get(service: EncoderService) -> None:
    app = opened(Sentence(LONG))
    assert lines(app).shape == heatmap(app).shape == (512, 512)
    assert "left out" in everything_said(app)
    charts = sum(len(e.proto.spec) for e in app.get("plotly_chart"))
    components = sum(len(e.proto.json) for e in app.get("bidi_component"))
    frames = sum(len(e.proto.data) for e in app.get("arrow_data_frame"))
    assert charts + components + frames + len(everything_said(app)) < 5_000_000
    pictures = base64.b64decode(component(app, "contextlens_heads")["pictures"])
    assert len(pictures) <= 6 * 12 * 32 * 32
    assert len(tables(app)["weights"]) == 512


def test_eight_sentences_can_be_chosen_from() -> None:
    sentences = [Sentence(f"python number {word}") for word in "abcdefgh"]
    assert "h" in labels(opened(*sentences, sentence="H"))
    assert "a" in labels(opened(*sentences, sentence="Z"))


def test_no_sentence_at_all_is_an_empty_one() -> None:
    app = framed(ViewState(BUNDLED_ID, ()), PAGE)
    assert not app.exception
    assert labels(app) == ["[CLS]", "[SEP]"]


BROKEN = [
    {"show": "Nonsense", "head": "99.99", "sort": "nothing"},
    {"show": 3, "head": 1.5, "sort": True, "token": "x", "side": 1},
    {"head": "1.2.3", "token": -7, "side": "over"},
    {"token": 10**9, "pad": 10**9},
    {"pad": -5, "special": "?", "unit": "?", "direction": "?", "sentence": "AB"},
    {"sentence": "ÿ", "head": ""},
]


@pytest.mark.parametrize("own", BROKEN, ids=range(len(BROKEN)))
def test_broken_controls_fall_back_to_what_there_is(own: dict[str, Any]) -> None:
    app = opened(**own)
    assert lines(app).size
    assert reading(app)


@pytest.mark.parametrize("layer", [0, 99])
def test_a_layer_without_attention_gives_the_last(service: EncoderService, layer: int) -> None:
    means = whole(service, DEFAULT.sentences[0]).mean(axis=1)
    assert_shows(opened(show="Layer", layer=layer), means[-1])


# Other models


@pytest.mark.parametrize("family", [*FAMILIES, "bert-without-pooler"])
def test_every_family_works(tiny_service: EncoderService, family: str) -> None:
    model = f"folder:{family}"
    app = opened(PAIR, model=model, show="All", sort="word")
    assert_shows(app, whole(tiny_service, PAIR, model).mean(axis=(0, 1)))
    no_segments = "no segments" in everything_said(app)
    assert no_segments == (not runtime.service().load(model).has_segments)
    assert len(tables(app)["heads"]) == 12
    assert opened(Sentence("\U0001f984"), model=model, unit="Words", special="Hide")


def test_roberta_s_tokens_are_shown_as_text() -> None:
    app = opened(Sentence("A python, sleeping"), model="folder:roberta")
    assert {"A", "python"} & set(labels(app))
    assert not any(label.startswith("Ġ") and len(label) > 1 for label in labels(app))


def test_files_carry_the_numbers_and_the_passport() -> None:
    view = view_on(PAIR, show="Rollout", unit="Words")
    service = runtime.service()
    what = compute.compute(view, service, service.load(BUNDLED_ID))
    rows = tabs._weight_rows(what)
    assert len(rows) == what.grid.weights.size
    data = to_csv(rows, what.passport).decode("utf-8-sig")
    assert '"show": "rollout"' in data
    assert '"unit": "words"' in data
    arrays = np.load(io.BytesIO(to_npz(tabs._arrays(what), what.passport)))
    np.testing.assert_array_equal(arrays["weights"], what.grid.weights)
    assert arrays["habits"].shape == (6, 12, 6)
