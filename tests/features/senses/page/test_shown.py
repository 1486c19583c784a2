"""Senses, headless: what is there at first sight, what a click selects, tabs and files."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from components.features.senses import looks
from components.features.senses.compute import PAGE_SIZE
from components.features.senses.controls import CHOSEN, ONLY, PAGE, ROWS, SORT
from components.ui.state.view import DEFAULT
from tests.features.senses.page.headless import assert_whole, lines, opened
from tests.support.fields import field
from tests.support.pages import (
    alone,
    chart,
    framed,
    given,
    offered_files,
    press,
    reading,
    said,
    send,
    settled,
    shown_view,
    to_layer,
)
from tests.support.senses import senses_view

# At first sight


@pytest.mark.slow
@pytest.mark.parametrize("run", [framed, alone], ids=["framed", "alone"])
def test_a_word_whose_senses_part_is_there_at_once(run: Callable[..., AppTest]) -> None:
    app = settled(run(DEFAULT, PAGE))
    assert_whole(app)
    assert "“python” occurs **32** times" in reading(app)
    assert "separates the senses of" in reading(app)
    assert len(lines(app)) == PAGE_SIZE
    assert {trace["name"] for trace in chart(app, "senses_curve")["data"] if trace.get("name")} == {
        "right sense",
        "silhouette",
    }
    cards = given(app, "senses_group_cards")["cards"]
    assert sum(card["n"] for card in cards) == 32
    assert all(len(card["examples"]) == 3 and card["words"] for card in cards)
    colors = {(line["mark"], line["color"]) for line in lines(app)}
    assert colors == {("animal", "#0072B2"), ("language", "#E69F00")}


# A click anywhere


@pytest.mark.slow
def test_a_click_anywhere_is_a_selection_everywhere() -> None:
    app = opened()
    row = lines(app)[2]["row"]
    app = send(app, "senses_concordance", row)
    assert CHOSEN.of(shown_view(app)) == row
    assert given(app, "senses_concordance")["chosen"] == row
    assert [trace["name"] for trace in chart(app, "senses_chart")["data"]][-1] == "chosen"
    assert lines(app)[2]["cosine"] == 1.0
    app = field(app.selectbox, SORT.key).set_value("cosine").run()
    cosines = [line["cosine"] for line in lines(app)]
    assert cosines[0] == 1.0
    assert cosines == sorted(cosines, reverse=True)
    assert 0 < given(app, "senses_concordance")["random"] < 1

    last = given(app, "senses_group_cards")["cards"][-1]
    app = send(app, "senses_group_cards", {"group": last["key"]})
    assert ONLY.asked(shown_view(app)) == last["key"]
    assert given(app, "senses_group_cards")["chosen"] == last["key"]
    assert len(lines(app)) == last["n"]
    own = sum(len(t.get("selectedpoints", [])) for t in chart(app, "senses_chart")["data"])
    assert own == last["n"]
    others = {e["row"] for e in given(app, "senses_group_cards")["cards"][0]["examples"]}
    app = send(app, "senses_group_cards", {"row": min(others)})  # none of the group that is shown
    assert CHOSEN.of(shown_view(app)) == min(others)
    assert ONLY.asked(shown_view(app)) is None

    app = press(app, "senses_next")
    assert ROWS.of(shown_view(app)) == 2
    assert len(lines(app)) == 32 - PAGE_SIZE
    app = press(app, "senses_let_go")
    assert given(app, "senses_concordance")["chosen"] is None
    app = to_layer(app, 1)
    assert "At layer 1, **" in reading(app)
    assert_whole(app)


@pytest.mark.slow
def test_what_the_browser_makes_up_selects_nothing() -> None:
    app = opened()
    for sent in (10**9, True, None, "3", {"row": 1}, [1]):
        app = send(app, "senses_concordance", sent)
    for other in ({"group": "g99"}, {"row": 10**9}, {"row": True}, 7, None):
        app = send(app, "senses_group_cards", other)
    assert shown_view(app) == DEFAULT
    assert_whole(app)


def test_points_that_are_no_occurrence_are_left_out() -> None:
    order = (np.array([4, 2]), np.array([0]))
    points = [(0, 1), (1, 0), (2, 0), (1, 5), (-1, 0), (True, 0), (0, None)]
    told = [{"curve_number": trace, "point_index": point} for trace, point in points]
    assert looks.places_of(told, order) == [2, 0]


# Tabs and files


@pytest.mark.slow
def test_the_files_have_every_occurrence() -> None:
    with offered_files() as files:
        opened(senses_view(word="bank", chosen=-1))
        table = pd.read_csv(io.BytesIO(files["senses.csv"]()), comment="#")
        arrays = np.load(io.BytesIO(files["senses.npz"]()))
    assert len(table) == 30
    assert set(table["sense"]) == {"river", "money"}
    assert all(row.sentence[row.start : row.end].casefold() == "bank" for row in table.itertuples())
    assert arrays["vectors"].shape == (30, 384)
    np.testing.assert_allclose(np.linalg.norm(arrays["vectors"], axis=1), 1, atol=1e-5)
    assert arrays["places"].shape == (7, 30, 2)
    assert len(arrays["accuracy"]) == 7


@pytest.mark.slow
def test_tabs_have_numbers_formula_and_a_script() -> None:
    app = opened(replace(senses_view(panel="taken"), layer=2))
    app.session_state["tabs"] = "Numbers"
    app = app.run()
    assert any("accuracy" in d.value.columns for d in app.dataframe)
    assert any("typical words" in d.value.columns for d in app.dataframe)
    app.session_state["tabs"] = "Under the hood"
    app = app.run()
    assert any("accuracy.append" in code.value for code in app.code)
    assert "At layer 2, **88%** of the uses" in said(app, "reading_taken")
