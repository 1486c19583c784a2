"""Layer by layer, headless: what it shows is the model's, and no input breaks it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics.pairwise import cosine_similarity
from streamlit.testing.v1 import AppTest

from components.core import BUNDLED_ID, EncoderService
from components.features.layers import compute, page
from components.features.layers.compute import MEASURES, SECTIONS, WORDS
from components.features.layers.measures.tokens import measure
from components.ui.models import runtime
from components.ui.state.view import DEFAULT, Sentence, ViewState
from components.ui.widgets import export
from tests.support.fields import field
from tests.support.pages import alone as alone_on
from tests.support.pages import (
    app_settings,
    blocks,
    bundled_app,
    chart,
    everything_said,
    press,
    shown_view,
)
from tests.support.pages import framed as framed_on
from tests.support.tiny_models import ALL, build

LONG = "the python sleeps near a river bank " * 90  # more than 512 tokens
RUDE = '<img src=x onerror=alert(1)> **bold** $x$ :material/home: "q" {y}'


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory):
        yield


def framed(view: ViewState | str = DEFAULT) -> AppTest:
    return framed_on(view, "layers")


def of(*texts: str, pair: str | None = None, model: str = BUNDLED_ID, **controls: Any) -> ViewState:
    sentences = tuple(Sentence(text, pair) for text in texts)
    return ViewState(model, sentences, controls={"layers": controls} if controls else {})


def assert_whole(app: AppTest) -> None:
    assert not app.exception
    assert not app.error
    assert chart(app, "layers_heatmap")["data"]


def seen(app: AppTest, key: str) -> np.ndarray:
    """The matrix of a heatmap, its two traces laid over each other."""
    parts = [np.array(trace["z"], dtype=float) for trace in chart(app, key)["data"]]
    return parts[0] if len(parts) == 1 else np.where(np.isnan(parts[0]), parts[1], parts[0])


def said(app: AppTest, key: str = "reading") -> str:
    return next(
        markdown.value
        for block in blocks(app)
        if block._block_id.endswith(f"-{key}")
        for markdown in block.markdown
    )


def frame_with(app: AppTest, column: str) -> pd.DataFrame:
    return next(d.value for d in app.dataframe if column in d.value.columns)


# On first sight


@pytest.mark.parametrize("open_", [framed_on, alone_on], ids=["framed", "alone"])
def test_the_page_opens_on_the_python_of_the_first_sentence(open_, service: EncoderService) -> None:
    app = open_(DEFAULT, "layers")
    assert_whole(app)
    own = measure(service.encode(BUNDLED_ID, [DEFAULT.sentences[0].text])[0], "start")
    np.testing.assert_allclose(seen(app, "layers_heatmap"), own.values, atol=1e-4)
    assert f"to **{own.averages[-1]:.2f}** at layer 6" in said(app)
    assert "“python” in B is nearest to “python” at every layer: **1.00**" in said(
        app, "reading_nearest"
    )
    assert "hidden states (7 layers, 7 tokens, 384 dimensions)" in everything_said(app)
    assert "pooler output (384,), untrained" in everything_said(app)


@pytest.mark.parametrize("name", MEASURES)
def test_picture_and_table_are_the_chosen_measure(service: EncoderService, name: str) -> None:
    app = framed(DEFAULT.with_control("layers", "measure", name, "To layer 0"))
    assert_whole(app)
    encoding = service.encode(BUNDLED_ID, [DEFAULT.sentences[0].text])[0]
    own = measure(encoding, MEASURES[name])
    np.testing.assert_allclose(seen(app, "layers_heatmap"), own.values, atol=1e-4)
    table = frame_with(app, "position")
    np.testing.assert_allclose(table.iloc[:, 2:].to_numpy(float).T, own.values, atol=1e-5)
    assert table["token"].tolist() == list(encoding.tokens)


def test_cosines_keep_one_scale_over_the_page() -> None:
    ends = set()
    for name in list(MEASURES)[:3]:
        for layer in (0, 3, 6):
            view = replace(
                DEFAULT.with_control("layers", "section", "Token pairs", ""), layer=layer
            )
            app = framed(view.with_control("layers", "measure", name, "To layer 0"))
            for key in ("layers_heatmap", "layers_pairs"):
                trace = chart(app, key)["data"][0]
                ends.add((trace["zmin"], trace["zmax"]))
    assert len(ends) == 1


def test_choices_are_written_into_the_address() -> None:
    app = field(framed().button_group, "layers_measure").set_value("Length").run()
    app = field(app.button_group, "layers_sentence").set_value("B").run()
    app = field(app.button_group, "layers_section").set_value("Pooler").run()
    app = field(app.slider, "layers_layer").set_value(2).run()
    assert_whole(app)
    view = shown_view(app)
    assert view.layer == 2
    assert dict(view.controls["layers"]) == {
        "measure": "Length", "sentence": "B", "section": "Pooler",
    }  # fmt: skip
    again = framed(view)
    assert said(again) == said(app)


# Closer looks


def test_a_picked_token_is_followed_through_the_layers(service: EncoderService) -> None:
    app = framed()
    proto = next(e.proto for e in app.get("bidi_component") if e.proto.id.endswith("layers_tokens"))
    states = app._tree.get_widget_states()
    states.widgets.add(
        id=f"$$STREAMLIT_INTERNAL_KEY_{proto.id}__events",
        json_trigger_value=json.dumps([{"event": "picked", "value": 4}]),
    )
    app = app._run(states)
    assert_whole(app)
    assert shown_view(app).control("layers", "token", -1) == 4
    encodings = service.encode(BUNDLED_ID, [s.text for s in DEFAULT.sentences])
    np.testing.assert_allclose(seen(app, "layers_vector"), encodings[0].hidden[:, 4], atol=1e-4)
    table = frame_with(app, "nearest")
    for layer in range(7):
        rows = np.concatenate([e.hidden[layer, 1:-1] for e in encodings])
        names = [
            f"{t} in {s}" for s, e in zip("AB", encodings, strict=True) for t in e.tokens[1:-1]
        ]
        cosines = cosine_similarity(encodings[0].hidden[layer, 4:5], rows)[0]
        cosines[names.index("pet in A")] = -2
        assert table["nearest"][layer] == names[int(cosines.argmax())]
        assert table["cosine 0"][layer] == pytest.approx(cosines.max(), abs=1e-5)


def test_pairs_play_all_layers_of_a_short_text(service: EncoderService) -> None:
    app = framed(replace(DEFAULT.with_control("layers", "section", "Token pairs", ""), layer=3))
    assert_whole(app)
    hidden = service.encode(BUNDLED_ID, [DEFAULT.sentences[0].text])[0].hidden
    np.testing.assert_allclose(seen(app, "layers_pairs"), cosine_similarity(hidden[3]), atol=1e-4)
    figure = chart(app, "layers_pairs")
    assert [frame["name"] for frame in figure["frames"]] == [str(n) for n in range(7)]
    assert "At layer 3, " in said(app, "reading_pairs")
    assert "random pairs of words average" in said(app, "reading_pairs")


def test_layers_are_compared_over_the_words_of_the_sentences() -> None:
    app = framed(DEFAULT.with_control("layers", "section", "Layers compared", ""))
    assert_whole(app)
    cka = seen(app, "layers_alike")
    assert cka.shape == (7, 7)
    np.testing.assert_allclose(np.diag(cka), 1, atol=1e-4)
    assert "Over 10 words" in said(app, "reading_alike")
    assert "def cka(x, y)" in "".join(code.value for code in app.code)
    app = field(app.button_group, "layers_words").set_value(WORDS[1]).run()
    assert_whole(app)
    assert re.search(r"Over (4|5)\d\d words", said(app, "reading_alike"))
    assert abs(seen(app, "layers_alike") - cka).max() > 0.05


def test_the_spread_shows_the_baseline_and_the_components() -> None:
    app = framed(DEFAULT.with_control("layers", "section", "Spread", ""))
    assert_whole(app)
    card = runtime.service().load(BUNDLED_ID)
    band = runtime.baseline(card).band("mean", centred=False)
    drawn = chart(app, "layers_random_pairs")["data"][1]["y"]
    np.testing.assert_allclose(drawn, band.mean, atol=1e-5)
    shares = compute.variance_shares(card, compute.sample_words(card, runtime.service()), 10)
    for line, count in zip(chart(app, "layers_variance")["data"], (1, 3, 10), strict=True):
        np.testing.assert_allclose(line["y"], shares[:, count - 1], atol=1e-5)
    assert f"**{100 * shares[6, 9]:.0f}%**" in said(app, "reading_spread")


def test_the_bundled_pooler_is_computed_by_hand_and_found_untrained(
    service: EncoderService,
) -> None:
    app = framed(DEFAULT.with_control("layers", "section", "Pooler", ""))
    assert_whole(app)
    rows = seen(app, "layers_pooler")
    own = service.encode(BUNDLED_ID, [DEFAULT.sentences[0].text])[0].pooler_output
    np.testing.assert_allclose(rows[3], own, atol=1e-4)
    np.testing.assert_allclose(rows[2], own, atol=1e-4)
    assert "nobody trained it" in said(app, "reading_pooler")
    table = frame_with(app, "by pooler output")
    assert 0.7 < table["by pooler output"][0] < 0.95


# Inputs


INPUTS = {
    "one token": of("hello"),
    "512 tokens": of(LONG),
    "a pair": of("Is a python a snake?", pair="Yes, a python is a snake."),
    "an empty second text": of("a text", pair=""),
    "only an unknown": of("🐍"),
    "empty": of(""),
    "only spaces": of("   "),
    "HTML": of(RUDE),
    "typed special tokens": of("[CLS] [MASK] my [SEP] [PAD]"),
    "eight sentences": of(*[f"sentence number {i}" for i in range(8)]),
    "repeated words": of("the the the the"),
    "blank beside text": of("", "a python", "  "),
}


@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize("name", INPUTS)
def test_no_input_breaks_a_look(name: str, section: str) -> None:
    view = INPUTS[name].with_control("layers", "section", section, SECTIONS[0])
    app = framed(view)
    assert_whole(app)
    assert said(app)
    assert "<img" not in everything_said(app).replace(r"\<img", "")
    assert "<img" not in json.dumps([chart(app, "layers_heatmap")])


def test_inputs_say_what_is_there_and_what_is_not() -> None:
    assert "only token of this text is unknown" in everything_said(
        framed(INPUTS["only an unknown"])
    )
    assert "no token of its own" in said(framed(INPUTS["only spaces"]))
    long = everything_said(framed(INPUTS["512 tokens"]))
    assert "(7 layers, 512 tokens, 384 dimensions)" in long
    assert re.search(r"its last \d+ tokens are left out", long)
    assert "Both texts run through the layers together" in everything_said(framed(INPUTS["a pair"]))
    alone = framed(INPUTS["one token"])
    assert "no other token" in said(alone, "reading_nearest")
    compared = framed(INPUTS["one token"].with_control("layers", "section", "Layers compared", ""))
    assert "at least two words that differ" in said(compared, "reading_alike")


def test_long_texts_show_one_layer_of_pairs() -> None:
    app = framed(of(LONG, section="Token pairs"))
    assert_whole(app)
    assert not chart(app, "layers_pairs").get("frames")
    assert "too many to play" in everything_said(app)


def test_an_address_without_sentences_shows_an_empty_one() -> None:
    assert_whole(framed(ViewState(BUNDLED_ID, ())))


@pytest.mark.parametrize(
    "controls",
    [
        {"measure": "nothing", "section": "nowhere", "sentence": "Z", "token": 99999},
        {"measure": 5, "section": True, "sentence": "AB", "token": -7},
        {"words": "x", "other": "no/such-model", "section": "Layers compared"},
        {"token": 1.5, "sentence": ""},
    ],
)
def test_broken_controls_from_an_address_mean_the_defaults(controls: dict[str, Any]) -> None:
    app = framed(replace(DEFAULT, controls={"layers": controls}, layer=77))
    assert_whole(app)
    assert "At layer 6" in said(app)


# Other models


def test_every_family_shows_what_it_has(tiny_root: Path, tmp_path: Path) -> None:
    for name in ALL:
        (tmp_path / name).mkdir()
        for file in (tiny_root / name).iterdir():
            os.link(file, tmp_path / name / file.name)
    with app_settings(
        DATA_DIR=str(tmp_path / "data"), ALLOW_DOWNLOADS="0", MODEL_FOLDERS=str(tmp_path)
    ):
        for name in ALL:
            view = of("a python slept", "she walked", pair="by the sea", model=f"folder:{name}")
            card = runtime.service().load(view.model)
            for section in SECTIONS:
                app = framed(view.with_control("layers", "section", section, SECTIONS[0]))
                assert_whole(app)
            absent = card.provenance.pooler.state == "absent"
            assert ("This model has no pooler" in said(app, "reading_pooler")) == absent
            assert ("pooler output none" in everything_said(app)) == absent
            assert ("no segments" in everything_said(app)) != card.has_segments


def test_two_models_are_compared_over_the_same_words(tmp_path: Path) -> None:
    build("roberta", tmp_path / "models" / "other")
    with app_settings(
        DATA_DIR=str(tmp_path), ALLOW_DOWNLOADS="0", MODEL_FOLDERS=str(tmp_path / "models")
    ):
        view = DEFAULT.with_control("layers", "section", "Layers compared", "")
        app = framed(view.with_control("layers", "other", "folder:other", ""))
        assert_whole(app)
        assert seen(app, "layers_alike").shape == (7, 4)
        assert "of other are most alike" in said(app, "reading_alike")


def test_a_model_that_is_not_here_waits_for_a_click_and_says_why_it_fails() -> None:
    view = DEFAULT.with_control("layers", "section", "Layers compared", "")
    app = framed(view.with_control("layers", "other", "FacebookAI/roberta-base", ""))
    assert_whole(app)
    app = press(app, "get_second_model")
    assert not app.exception
    assert len(app.error) == 1
    assert said(app)


# Downloads


def test_the_files_hold_every_layer_of_every_sentence(service: EncoderService) -> None:
    card = service.load(BUNDLED_ID)
    what = compute.compute(DEFAULT, service, card, None)
    encodings = compute.encode_all(DEFAULT, service)
    arrays = page._arrays(encodings)
    for letter, encoding in zip("AB", encodings, strict=True):
        np.testing.assert_array_equal(arrays[f"hidden_{letter}"], encoding.hidden)
        assert arrays[f"tokens_{letter}"].tolist() == list(encoding.tokens)
        assert arrays[f"text_{letter}"].tolist() == [encoding.text]
    assert export.to_npz(arrays, what.passport)
    rows = page._rows(what, encodings)
    assert len(rows) == 7 * sum(e.n_tokens for e in encodings)
    assert {row["sentence"] for row in rows} == {"A", "B"}
