"""What the page shows at first is the model's and the baseline's, once that is there."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from components.analysis import baseline as baselines
from components.core import BUNDLED_ID, EncoderService
from components.ui.frame.navigation import PAGES
from components.ui.models import runtime, tasks
from components.ui.state.view import DEFAULT
from tests.support.cosines import expected
from tests.support.fields import field
from tests.support.pages import (
    SECONDS,
    app_settings,
    assert_shows,
    chart,
    chips,
    finish_background_work,
    framed,
    lines,
    messages,
    reading,
    table,
)

# On first sight


def test_the_page_shows_the_opening_example(opened: Callable[..., AppTest]) -> None:
    app = opened()
    assert not app.exception
    assert not messages(app)
    assert [title.value for title in app.title] == ["Meaning in context"]
    texts = ["".join(part["text"] for part in row["segments"]) for row in chips(app)]
    assert texts == ["I love my pet python", "I love coding in python", "snake", "programming"]
    assert [row["chosen"] for row in chips(app)] == [[14, 20], [17, 23], [0, 5], [0, 11]]


def test_the_opening_numbers_are_the_model_s(
    opened: Callable[..., AppTest], service: EncoderService
) -> None:
    assert_shows(opened(), expected(service, DEFAULT))


def test_the_opening_numbers_are_those_measured_elsewhere(facts: dict[str, Any]) -> None:
    app = framed()
    measured = facts["bundled_model_cosines"]
    for letter, name in {"A": "pet", "B": "language"}.items():
        for reference in ("snake", "programming"):
            drawn = lines(app)[f"{letter} python ~ {reference}"]
            assert drawn == pytest.approx(measured[f"{name}~{reference}"], abs=6e-4)


def test_the_reading_says_the_numbers_that_are_shown() -> None:
    app = framed()
    said = reading(app)
    shown = table(app).set_index(["first", "second"])["layer 6"]
    for pair in [("A python", "B python"), ("A python", "snake"), ("B python", "snake")]:
        assert f"**{shown[pair]:.2f}**" in said
    low, high = (
        shown["random pairs of whole English words", end]
        for end in ("5th percentile", "95th percentile")
    )
    assert f"{low:.2f} to {high:.2f}".replace("-", "−") in said
    assert "“snake” is closer to “python” in A" in said


def test_the_matrices_are_those_of_the_chosen_layer_and_without_context(
    service: EncoderService,
) -> None:
    view = replace(DEFAULT, layer=2)
    numbers = expected(service, view)
    app = framed(view)
    pairs = [(i, j) for i, j in combinations(range(4), 2) if i < 2]
    for key, column in (("meaning_matrix_here", 2), ("meaning_matrix_static", -1)):
        heat = chart(app, key)["data"][0]
        values = [heat["z"][i][j] for i, j in pairs]
        np.testing.assert_allclose(values, [row[column] for row in numbers], atol=1.5e-5)
        assert [heat["z"][i][i] for i in range(4)] == [1, 1, 1, 1]
        assert f"cosine {heat['z'][0][1]:.4f}" in heat["text"][0][1]
    assert "In context, at this layer" in [tab.label for tab in app.tabs]


def test_the_band_and_the_table_s_last_rows_are_the_baseline() -> None:
    app = framed()
    card = runtime.service().load(BUNDLED_ID)
    band = runtime.baseline(card).band("mean", centred=False, kind="whole")
    shown = table(app)
    rows = (
        shown[shown["first"] == "random pairs of whole English words"]
        .set_index("second")
        .iloc[:, 1:-1]
    )
    for name, values in {
        "mean": band.mean,
        "5th percentile": band.low,
        "95th percentile": band.high,
    }.items():
        np.testing.assert_allclose(rows.loc[name].to_numpy(float), values, atol=1e-6)
    area, mean = chart(app)["data"][:2]
    np.testing.assert_allclose(area["y"], [*band.high, *band.low[::-1]], atol=1e-5)
    np.testing.assert_allclose(mean["y"], band.mean, atol=1e-5)


def test_the_frame_has_menu_model_card_and_sentences_around_the_page() -> None:
    app = framed()
    links = [link.proto.label for link in app.sidebar.get("page_link")]
    assert links[: len(PAGES)] == [page.title for page in PAGES]
    assert field(app.sidebar.selectbox, "model").value == BUNDLED_ID
    assert "6 layers · 384 dims · 12 heads" in [c.value for c in app.sidebar.caption]
    assert [field.value for field in app.sidebar.text_input] == [s.text for s in DEFAULT.sentences]


def test_the_card_says_that_the_bundled_pooler_is_untrained() -> None:
    said = [markdown.value for markdown in framed().sidebar.markdown]
    assert any(line.startswith("**Pooler: untrained.**") for line in said)


# Before the baseline is there


@pytest.mark.slow
def test_the_page_works_before_the_baseline_is_there_and_says_that_it_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    measure = tasks.measure

    def wait_and_measure(*given: Any) -> baselines.Baseline:
        assert go_on.wait(SECONDS)
        return measure(*given)

    monkeypatch.setattr(tasks, "measure", wait_and_measure)
    with app_settings(DATA_DIR=str(tmp_path), ALLOW_DOWNLOADS="0"):
        try:
            app = framed()
            assert not messages(app)
            assert len(table(app)) == 5
            assert "random pairs" not in reading(app)
            assert any("Measuring" in caption.value for caption in app.main.caption)
        finally:
            go_on.set()
        finish_background_work()
        app = app.run()
        assert len(table(app)) == 5 + 3
        assert "random pairs" in reading(app)
        assert not any("Measuring" in caption.value for caption in app.main.caption)
