"""The Why alike? page: it draws what was computed, and its widgets write the view."""

from __future__ import annotations

import csv
import io
import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity
from streamlit.testing.v1 import AppTest

from contextlens.content.language import say
from contextlens.core import EncoderService
from contextlens.features.attention import controls as attention
from contextlens.features.why import controls, explanation
from contextlens.features.why.explanation import WORK
from contextlens.features.why.page import on_head
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState
from tests.support.fields import field
from tests.support.pages import (
    bundled_app,
    chart,
    chips,
    everything_said,
    framed,
    given,
    matrix,
    offered_files,
    plainly_said,
    press,
    reading,
    send_pick,
    settled,
    shown_view,
    to_layer,
)

CHART = "why_chart"
RUDE = '<img src=x onerror=alert(1)> **bold** $x$ :material/home: "q" {y}'


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory):
        yield


def choose(app: AppTest, control: Any, value: str) -> AppTest:
    return settled(field(app.segmented_control, control.key).set_value(value).run())


def cells(app: AppTest) -> np.ndarray:
    return matrix(chart(app, CHART)["data"][0]["z"])


def whole(app: AppTest) -> AppTest:
    """The page, with a picture and a reading, and without an error."""
    assert not app.exception
    assert not app.error
    assert chart(app, CHART)["layout"]["title"]["text"]
    assert reading(app)
    return app


SHARES = controls.LOOK.put(DEFAULT, controls.SHARES)


@pytest.mark.slow
def test_it_opens_on_the_word_that_makes_the_two_alike() -> None:
    app = whole(settled(framed(DEFAULT, controls.PAGE)))
    assert reading(app).startswith(
        "Without “python” (A), the two sentences would be less alike: **0.32**"
    )
    first = given(app, "why_words")["sides"][0]["words"]
    python = next(word for word in first if word["text"] == "python")
    assert python["value"] == max(word["value"] or 0 for word in first) > 0  # orange: it adds


@pytest.mark.slow
def test_each_look_shows_what_was_computed_and_an_edit_takes_the_second_place(
    service: EncoderService,
) -> None:
    encodings = service.encode(DEFAULT.model, [s.text for s in DEFAULT.sentences[:2]])
    cosine = cosine_similarity(*(e.hidden[-1].mean(axis=0)[None] for e in encodings))[0, 0]
    with offered_files() as files:
        app = whole(settled(framed(SHARES, controls.PAGE)))
    assert not app.warning
    assert f"<b>this pair {cosine:.2f}</b>" in [
        note["text"] for note in chart(app, "why_ruler")["layout"]["annotations"]
    ]
    assert reading(app).startswith("“love” and “python” make them alike; none does it alone.")
    assert cells(app).sum() == pytest.approx(cosine, abs=1e-5)
    words = [word for side in given(app, "why_words")["sides"] for word in side["words"]]
    assert sum(word["value"] for word in words) == pytest.approx(2 * cosine, abs=1e-5)
    saved = given(app, "why-alike_picture")["svg"]
    assert all(f">{word['text']}</text>" in saved for word in words)
    text = files["why-alike.csv"]().decode("utf-8-sig")
    rows = csv.DictReader(line for line in io.StringIO(text) if not line.startswith("#"))
    assert sum(float(row["share"]) for row in rows) == pytest.approx(cosine, abs=1e-6)
    assert files["why-alike.npz"]().startswith(b"PK")

    app = send_pick(app, "why_words", side="second", position=5)
    view = shown_view(app)
    assert (controls.SIDE.of(view), controls.PICKED.of(view)) == ("second", 5)
    assert given(app, "why_words")["picked"] == {"side": "second", "index": 5}
    assert len(chart(app, CHART)["layout"]["shapes"]) == 1
    app = whole(to_layer(app, 2))
    assert say("why.score.name_mean", layer=2) in plainly_said(app)

    app = whole(choose(to_layer(app, 6), controls.DEPTH, controls.INPUTS))
    app = whole(choose(app, controls.LOOK, controls.LEAVE_OUT))
    assert say("why.leave_out.alone") in everything_said(app)
    app = whole(choose(app, controls.LOOK, controls.SWITCH_OFF))
    assert cells(app).shape == (6, 12)
    app = whole(choose(app, controls.LOOK, controls.SWAP_IN))
    assert cells(app).shape == (7, 7)
    assert controls.LOOK.of(shown_view(app)) == controls.SWAP_IN

    app = whole(choose(app, controls.LOOK, controls.SHARES))
    app = settled(press(choose(app, controls.PANEL, controls.EDITS), "why_edit_use_0"))
    first, second = shown_view(app).sentences
    assert first == DEFAULT.sentences[0]
    assert second.text != DEFAULT.sentences[1].text
    assert app.button(key="why_edit_use_0").disabled


@pytest.mark.slow
def test_what_cannot_be_shown_is_said_with_a_way_on(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = ViewState(DEFAULT.model, (Sentence(RUDE),))
    app = framed(controls.VECTOR_KIND.put(alone, controls.WORD), controls.PAGE)
    assert not app.exception
    assert say("why.missing.alone") in plainly_said(app)
    app = field(app.text_input, "why_another").set_value(RUDE).run()
    assert len(shown_view(app).sentences) == 2
    assert "is chosen" in plainly_said(app)
    app = whole(settled(press(app, "why_whole")))
    assert controls.VECTOR_KIND.of(shown_view(app)) == controls.MEAN
    assert "<img" not in re.sub(r"\\(.)", "", everything_said(app))
    app = choose(app, controls.LOOK, controls.SWAP_IN)
    assert say("why.swap_in.equal", a="A", b="B") in plainly_said(app)
    assert not any(e.proto.id.endswith(CHART) for e in app.get("plotly_chart"))
    app = choose(to_layer(app, 0), controls.LOOK, controls.SWITCH_OFF)
    assert say("why.switch_off.empty") in plainly_said(app)

    monkeypatch.setattr(explanation, "WORK", replace(WORK, large_seconds=0.0))
    app = choose(app, controls.LOOK, controls.LEAVE_OUT)
    assert "takes about" in plainly_said(app)
    whole(settled(press(app, "why_progress_begin")))


@pytest.mark.slow
def test_512_tokens_fit_in_what_a_browser_should_get_and_their_heads_can_be_cancelled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = (Sentence("of no concern"), Sentence("python " * 600), Sentence("a"))
    options = {"look": "shares", "first": "B", "second": "C", "unit": "tokens"}
    view = replace(DEFAULT, sentences=texts, controls={controls.PAGE: options})
    app = whole(settled(framed(view, controls.PAGE)))
    assert "the model's own sentence vectors have another similarity" in plainly_said(app)
    assert [row["label"] for row in chips(app) if row["shown"]] == ["B", "C"]
    assert "were left out" in plainly_said(app)
    sent = sum(len(e.proto.spec) for e in app.get("plotly_chart"))
    sent += sum(len(e.proto.json) for e in app.get("bidi_component"))
    assert sent < 3_000_000
    app = whole(choose(app, controls.LOOK, controls.SWAP_IN))

    monkeypatch.setattr(explanation, "WORK", replace(WORK, large_seconds=0.0))
    app = choose(app, controls.LOOK, controls.SWITCH_OFF)
    app = press(press(app, "why_progress_begin"), "why_progress_cancel")
    assert "was stopped" in plainly_said(app)
    assert app.button(key="why_progress_begin")
    for thread in threading.enumerate():  # the portion that is being computed
        if thread.name == f"contextlens-{WORK.name.replace(' ', '-')}":
            thread.join(120)


def test_a_head_is_linked_as_attention_names_it() -> None:
    opened = on_head(attention.SHOW.put(DEFAULT, "All"), "B", 3, 7)
    assert attention.HEAD.among(["3.7"], default="").of(opened) == "3.7"
    assert attention.SHOW.of(opened) == "One head"
    assert attention.SENTENCE.of(opened) == "B"
    assert attention.SENTENCE.of(on_head(opened, "A", 1, 0)) == "A"
