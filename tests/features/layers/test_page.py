"""Layer by layer, headless: the page's parts, and what only its widgets do."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity
from streamlit.testing.v1 import AppTest

from contextlens.content.language import say
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.layers.controls import (
    OTHER,
    PAGE,
    SECTION,
    SENTENCE,
    SHOW,
    TOKEN,
    WORDS,
)
from contextlens.features.layers.hidden_states import hidden_states
from contextlens.ui.models import runtime
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState
from tests.support.fields import field
from tests.support.pages import (
    alone,
    bundled_app,
    chart,
    choose_letter,
    everything_said,
    frame,
    framed,
    matrix,
    offered_files,
    pick,
    press,
    said,
    send,
    shown_view,
    to_layer,
)
from tests.support.texts import LONG

RUDE = '<img src=x onerror=alert(1)> **bold** $x$ :material/home: "q" {y}'


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory):
        yield


def opened(view: ViewState = DEFAULT) -> AppTest:
    app = framed(view, page=PAGE)
    assert_whole(app)
    return app


def assert_whole(app: AppTest) -> None:
    assert not app.exception
    assert not app.error
    assert chart(app, "layers_picture")["data"]


def seen(app: AppTest, key: str) -> np.ndarray:
    """The matrix of a heatmap, its two traces laid over each other."""
    parts = [matrix(trace["z"]) for trace in chart(app, key)["data"]]
    return parts[0] if len(parts) == 1 else np.where(np.isnan(parts[0]), parts[1], parts[0])


def on(*texts: str, pair: str | None = None) -> ViewState:
    return replace(DEFAULT, sentences=tuple(Sentence(text, pair) for text in texts))


def test_the_page_by_itself_opens_on_the_python_of_the_first_sentence(
    service: EncoderService,
) -> None:
    app = alone(page=PAGE)
    assert_whole(app)
    states = hidden_states(DEFAULT, service, service.load(BUNDLED_ID), None)
    picture = chart(app, "layers_picture")
    np.testing.assert_allclose(picture["data"][0]["y"], states.measure.values[:, 5], atol=1e-4)
    assert said(app).startswith(
        "By layer 6, context has changed “python” a lot: similarity to its start **0.43** "
        "(1: unchanged)."
    )
    assert len(frame(app, "position")) == 7
    nearest = said(app, "reading_nearest")
    assert (
        "The token most similar to “python” is “python” in B at layer 0 (cosine similarity "
        "**1.00**)" in nearest
    )
    assert "(7, 7, 384)" in frame(app, "shape")["shape"].tolist()


def test_all_tokens_are_a_click_away_and_stay_for_every_sentence(service: EncoderService) -> None:
    app = field(opened().button_group, "layers_show").set_value("All tokens").run()
    assert SHOW.of(shown_view(app)) == "All tokens"
    assert not app.selectbox or all("layers_token" not in box.key for box in app.selectbox)
    states = hidden_states(DEFAULT, service, service.load(BUNDLED_ID), None)
    np.testing.assert_allclose(seen(app, "layers_picture"), states.measure.values, atol=1e-4)
    assert said(app).startswith(
        say("layers.title.start", layer=6, average=states.measure.averages[-1])
    )


def test_a_token_of_the_menu_is_followed_and_its_word_is_said() -> None:
    app = opened(on("They joined the Kontinental league"))
    app = field(app.selectbox, "layers_token").set_value(5).run()
    assert_whole(app)
    assert TOKEN.of(shown_view(app)) == 5
    assert "“##ntine”" in said(app)
    assert "one of 3 pieces of the word “Kontinental”" in everything_said(app)


def test_choices_are_written_into_the_address_and_a_cut_is_said() -> None:
    app = field(opened(on(LONG)).button_group, "layers_measure").set_value("Length").run()
    app = to_layer(app, 2)
    assert_whole(app)
    assert shown_view(app).layer == 2
    assert dict(shown_view(app).controls[PAGE]) == {"measure": "Length"}
    assert "At layer 2, the vector of “python” at position 510 has the length" in said(app)
    assert say("layers.notes.lost.text", n=90) in everything_said(app)


def test_a_click_follows_a_token_through_the_layers(service: EncoderService) -> None:
    app = opened()
    app = send(app, "layers_tokens", 4)
    assert_whole(app)
    assert TOKEN.of(shown_view(app)) == 4
    hidden = service.encode(BUNDLED_ID, [DEFAULT.sentences[0].text])[0].hidden
    np.testing.assert_allclose(seen(app, "layers_vector"), hidden[:, 4], atol=1e-4)
    assert "The token most similar to “pet” is" in said(app, "reading_nearest")


def test_a_word_clicked_above_is_followed_after_a_picked_token() -> None:
    picked = TOKEN.put(DEFAULT, 2)
    assert "“love”" in said(opened(picked))
    assert "“pet”" in said(pick(opened(picked), "pet"))
    assert "“python”" in said(choose_letter(opened(picked), 1))


@pytest.mark.slow
def test_layers_are_compared_over_the_words_that_are_chosen() -> None:
    app = opened(SECTION.put(DEFAULT, "Layers compared"))
    cka = seen(app, "layers_alike")
    assert cka.shape == (7, 7)
    assert "over 10 words" in said(app, "reading_alike")
    assert "def cka(x, y)" in "".join(code.value for code in app.code)
    app = field(app.button_group, "layers_words").set_value("Sample sentences").run()
    assert WORDS.of(shown_view(app)) == "Sample sentences"
    assert abs(seen(app, "layers_alike") - cka).max() > 0.05


def test_two_words_are_no_comparison_of_layers() -> None:
    app = opened(SECTION.put(on("two words"), "Layers compared"))
    assert say("layers.alike.few", n=4) in said(app, "reading_alike")
    assert not [chart for chart in app.get("plotly_chart") if "layers_alike" in chart.proto.id]
    assert not [frame for frame in app.dataframe if "layers_alike" in frame.proto.id]


def test_the_spread_shows_the_baseline_and_the_components() -> None:
    app = opened(SECTION.put(DEFAULT, "Spread"))
    band = runtime.baseline(runtime.service().load(BUNDLED_ID)).band("mean", centred=False)
    drawn = chart(app, "layers_random_pairs")["data"][1]["y"]
    np.testing.assert_allclose(drawn, band.mean, atol=1e-5)
    assert [line["name"] for line in chart(app, "layers_variance")["data"]] == [
        "first component", "first 3", "first 10",
    ]  # fmt: skip
    assert said(app, "reading_spread")


def test_the_bundled_pooler_is_found_untrained_and_no_text_becomes_markup() -> None:
    app = opened(SECTION.put(on(RUDE, RUDE, pair=RUDE), "Pooler"))
    assert "No sign that the pooler was trained" in said(app, "reading_pooler")
    assert seen(app, "layers_pooler").shape == (4, 384)
    assert len(frame(app, "by pooler output")) == 1
    assert "<img" not in everything_said(app).replace(r"\<img", "")
    assert "<img" not in json.dumps([chart(app, "layers_picture")])
    assert say("layers.notes.pair.segments") in everything_said(app)


def test_a_model_that_is_not_here_waits_for_a_click_and_says_why_it_fails() -> None:
    view = SECTION.put(DEFAULT, "Layers compared")
    app = opened(OTHER.put(view, "FacebookAI/roberta-base"))
    app = press(app, "get_second_model")
    assert not app.exception
    assert len(app.error) == 1
    assert said(app)


def test_pairs_are_shown_and_the_files_hold_them_too(service: EncoderService) -> None:
    view = SENTENCE.put(on("", "I love my pet python"), "B")
    with offered_files() as files:
        app = opened(SECTION.put(replace(view, layer=3), "Token pairs"))
    assert chart(app, "layers_pairs")
    assert "At layer 3, most similar in your text: " in said(app, "reading_pairs")
    assert "Random pairs of words average" in said(app, "reading_pairs")
    with np.load(io.BytesIO(files["layer-by-layer.npz"]()), allow_pickle=False) as npz:
        hidden = service.encode(BUNDLED_ID, ["I love my pet python"])[0].hidden
        np.testing.assert_allclose(npz["hidden_B"], hidden, atol=1e-5)
        np.testing.assert_allclose(npz["token_pairs"], cosine_similarity(hidden[3]), atol=1e-5)
        assert json.loads(str(npz["passport"]))["model"] == BUNDLED_ID
    csv = files["layer-by-layer.csv"]().decode("utf-8-sig")
    assert '"cosine to layer 0"' in csv


def test_an_address_without_sentences_shows_an_empty_one() -> None:
    app = opened(replace(DEFAULT, sentences=()))
    assert "This text has no tokens of its own" in said(app)
    assert "no other token to compare" in said(app, "reading_nearest")
