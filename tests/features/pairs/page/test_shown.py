"""Pairs, headless: what is there at first sight, large sets, downloads, and any address."""

from __future__ import annotations

import io
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from components.content.language import say
from components.features.pairs import compute, page
from components.features.pairs.controls import PAGE, PANEL, WRONG
from components.features.pairs.files import bundled_pairs
from components.features.pairs.looks import marked
from components.ui.models.background import jobs
from components.ui.state.view import DEFAULT
from tests.features.pairs.page.headless import (
    ROWS,
    assert_whole,
    compared,
    has_picture,
    numbers,
    opened,
    table,
)
from tests.support.pages import (
    alone,
    chart,
    framed,
    offered_files,
    plainly_said,
    press,
    reading,
    settled,
    to_layer,
)

SECONDS = 120
RUDE = '<img src=x onerror=alert(1)> **bold** $x$ :material/home: "q" {y} python'


# At first sight


@pytest.mark.slow
@pytest.mark.parametrize("run", [framed, alone], ids=["framed", "alone"])
def test_the_ready_made_pairs_are_judged_at_once(run: Callable[..., AppTest]) -> None:
    app = settled(run(DEFAULT, PAGE))
    assert_whole(app)
    assert not app.warning
    title = chart(app, "pairs_chart")["layout"]["title"]["text"]
    assert re.fullmatch(r"Layer \d, best in training: \d+% right", title)
    assert "of the pairs correctly" in reading(app)
    assert len(numbers(app)) == 7
    assert "The threshold was learned from" in plainly_said(app)
    assert app.button(key="pairs_back").disabled != app.button(key="pairs_next").disabled


@pytest.mark.slow
def test_another_layer_shows_its_own_cosines() -> None:
    app = opened()
    before, rows = reading(app), numbers(app)
    app = settled(to_layer(app, 2))
    assert_whole(app)
    assert reading(app) != before
    assert "Layer 2 judges" in reading(app)
    assert f"**{round(100 * rows['accuracy'][2])}%**" in reading(app)
    assert chart(app, "pairs_cosines")["layout"]["title"]["text"] == "Similarities at layer 2"


@pytest.mark.parametrize("which", ["wrong", "called_same", "called_different", "most", "least"])
def test_pairs_can_be_read_in_every_order(which: str) -> None:
    app = opened(WRONG.put(DEFAULT, which))
    assert_whole(app)
    shown = [c.value for c in app.caption if c.value.startswith("similarity **")]
    assert len(shown) == 8
    if which.startswith("called"):
        called, known = ("same", "different") if which == "called_same" else ("different", "same")
        assert all(f"labelled “{known}” · judged “{called}”" in each for each in shown)
    cosines = [float(re.findall(r"-?\d\.\d\d", each)[0]) for each in shown]
    if which in {"most", "least"}:
        assert cosines == sorted(cosines, reverse=which == "most")
    first = plainly_said(app)
    app = settled(press(app, "pairs_next"))
    assert "9 to 16 of" in plainly_said(app)
    assert plainly_said(settled(press(app, "pairs_back"))) == first


@pytest.mark.parametrize("panel", PANEL.options)
def test_every_closer_look_is_there(panel: str) -> None:
    app = opened(PANEL.put(DEFAULT, panel))
    assert_whole(app)
    if panel == "ROC curve":
        layout = chart(app, "pairs_roc")["layout"]
        auc = float(numbers(app)["AUC"][6])
        assert layout["title"]["text"] == say("pairs.roc.title", layer=6, auc=auc)
    if panel == "Every pair":
        assert len(numbers(app, "verdict")) == bundled_pairs().n


def test_a_word_is_marked_and_nothing_that_was_typed_takes_effect() -> None:
    start = RUDE.index("python")
    shown = marked(RUDE, (start, start + 6))
    assert shown.endswith(":blue-background[**python**]")
    assert "<img" not in shown.replace("\\<img", "")
    assert "**bold**" not in shown
    long = "word " * 100 + "python" + " word" * 100
    assert len(marked(long, (500, 506))) < 300
    assert len(marked(long, None)) < 300


# Large sets


@pytest.mark.slow
def test_a_large_set_waits_for_a_click_and_can_be_cancelled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(page, "LARGE_SECONDS", -1.0)
    rows = [(f"{i} {row[0]}", *row[1:]) for i, row in enumerate(ROWS)]
    app = compared(table(rows))
    assert not has_picture(app)
    assert "Comparing **40 pairs** takes about **2 seconds** here" in plainly_said(app)
    held = compute._chunks
    monkeypatch.setattr(compute, "_chunks", lambda *a: _slowly(held(*a)))
    app = press(app, "pairs_compare")
    assert app.get("progress")
    app = press(app, "pairs_progress_cancel")
    assert not has_picture(app)
    assert "This comparison was stopped." in plainly_said(app)
    monkeypatch.setattr(compute, "_chunks", held)
    for job in jobs().under_way(compute.PAIRS):
        assert job.wait(SECONDS)
    assert_whole(settled(press(app, "pairs_compare")))


def _slowly(chunks: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """A pair at a time, for as long as somebody wants them."""
    for start, stop in chunks:
        for i in range(start, stop):
            time.sleep(0.2)
            yield i, i + 1


@pytest.mark.slow
def test_what_had_to_make_room_is_computed_again() -> None:
    app = opened()
    before = reading(app)
    store = jobs()
    for key in [key for key in store._jobs if key[0] == "pairs"]:
        job = store.get(key)
        assert job is not None
        job.forget()
        del store._jobs[key]
    assert reading(settled(app.run())) == before


# Files


def test_the_downloads_hold_every_pair_and_no_formula() -> None:
    rows = [(f"=1+1 {row[0]}", *row[1:]) for row in ROWS]
    with offered_files() as offered:
        app = compared(table(rows))
        made = offered["pairs.csv"](), offered["pairs.npz"]()
    assert_whole(app)
    read = pd.read_csv(io.BytesIO(made[0]), comment="#")
    assert len(read) == 40
    assert read["text 1"].str.startswith("'=1+1").all()
    assert [f"layer {i}" for i in range(7)] == list(read.columns[-7:])
    assert set(read["verdict"]) <= {"same", "different"}
    with np.load(io.BytesIO(made[1])) as file:
        np.testing.assert_allclose(file["cosines"].T, read[read.columns[-7:]], atol=1e-6)
        assert file["accuracy"].tolist() == pytest.approx(numbers(app)["accuracy"].tolist())


def test_a_session_keeps_names_and_no_results() -> None:
    app = compared(table())
    kept = app.session_state["_kept"]
    sizes = {name: len(repr(value)) for name, value in kept.items() if name.startswith("pairs")}
    assert sizes
    assert max(sizes.values()) < 1_000


@pytest.mark.parametrize(
    "controls",
    [
        {"source": "nowhere"},
        {"panel": "none"},
        {"wrong": 3},
        {"from": 99_999},
        {"from": -3},
        {"file": 7, "source": "file"},
        {"columns": "9" * 200},
    ],
    ids=str,
)
def test_no_address_breaks_the_page(controls: dict[str, object]) -> None:
    app = opened(replace(DEFAULT, controls={PAGE: controls}))  # type: ignore[dict-item]
    assert not app.exception
    assert not app.error
    assert has_picture(app) == (controls.get("source") != "file")
