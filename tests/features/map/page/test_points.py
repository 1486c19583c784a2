"""Points that are clicked, pinned or drawn around are shown for what they are, beside too."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from contextlens.content.language import say
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.byte_cache import shared_cache
from contextlens.features.map import chart, scatter, widgets
from contextlens.features.map.controls import (
    FIND_SELECT,
    PAGE,
    PANEL,
    PIN_A,
    POINT,
    POINT_PANEL,
    TABLE_PANEL,
)
from contextlens.features.map.identity import name_of
from contextlens.features.map.page import OTHER_PLACE
from contextlens.features.map.selection import PointSelection
from contextlens.features.map.widgets import CHART, SELECTION
from contextlens.maps.result import MapResult
from contextlens.ui.models import runtime
from tests.features.map.page.headless import (
    around,
    assert_whole,
    click,
    framed,
    in_order,
    picture,
    places,
    send,
    values,
)
from tests.support.fields import field
from tests.support.maps import QUICK, TEXTS, drawn_map, map_view
from tests.support.pages import (
    app_data,
    app_settings,
    given,
    plainly_said,
    press,
    send_pick,
    settled,
    shown_view,
)
from tests.support.pages import chart as figure_of
from tests.support.pages import send as pick_name
from tests.support.tiny_models import build


def near_tables(app: AppTest) -> list[pd.DataFrame]:
    """A point's nearest in the full space, and on the map."""
    return [d.value for d in app.dataframe if "cosine" in d.value.columns]


def marked_in(app: AppTest, key: str) -> set[tuple[float, ...]]:
    """The places of the points not faded."""
    return {
        (float(values(trace["x"])[i]), float(values(trace["y"])[i]))
        for trace in figure_of(app, key)["data"]
        if "hovertext" in trace
        for i in values(trace.get("selectedpoints") or []).astype(int)
    }


def at_x(picture: MapResult, row: int) -> Any:
    """The first coordinate of each point at one layer."""
    return picture.map.coordinates[row, :, 0]


def at(picture: MapResult, row: int, *points: int) -> set[tuple[float, ...]]:
    """Points' places at one layer."""
    return {tuple(picture.map.coordinates[row, i].tolist()) for i in points}


PARTS = ("before", "marked", "after")


def cards(app: AppTest) -> list[dict[str, Any]]:
    """The cards of the list of points, in order."""
    return list(given(app, "map_cards")["cards"])


def pick(app: AppTest, **message: Any) -> AppTest:
    """Return the page after a card has sent a message."""
    of = given(app, "map_cards")["of"]
    return settled(send_pick(app, "map_cards", **{"of": of, **message}))


def ask_text(app: AppTest, place: object, of: str | None = None) -> AppTest:
    """Return the page after the browser has asked for the text at a place of a drawing."""
    drawing = given(app, "map_chart_text")["of"] if of is None else of
    return send_pick(app, "map_chart_text", of=drawing, place=place)


def rows_of(app: AppTest) -> pd.DataFrame:
    """The table whose rows select points."""
    return rows_element(app).value


def rows_element(app: AppTest) -> Any:
    return next(d for d in app.dataframe if "map_rows_" in d.proto.id)


def choose_rows(app: AppTest, *rows: int) -> AppTest:
    states = app._tree.get_widget_states()
    event = {"selection": {"rows": list(rows), "columns": [], "cells": []}}
    states.widgets.add(id=rows_element(app).proto.id, string_value=json.dumps(event))
    return settled(app._run(states))


# Points


@pytest.mark.slow
def test_a_clicked_point_shows_its_neighbours_and_can_be_pinned() -> None:
    app = click(framed(map_view(layer=3, **QUICK)), 7)
    assert_whole(app)
    assert POINT.of(shown_view(app)) == 7
    assert PANEL.of(shown_view(app)) == POINT_PANEL
    true, drawn = near_tables(app)
    kept = set(true["sentence"]) & set(drawn["sentence"])
    assert (true[""] == "✓").sum() == (drawn[""] == "✓").sum() == len(kept)
    assert f"**{len(kept)}** are also among its 10 nearest on the map" in plainly_said(app)
    app = press(app, "map_to_pin_a")
    assert PIN_A.of(shown_view(app)) == 7
    assert "Pin a second point" in plainly_said(app)
    app = press(app, "map_let_go")
    assert say("map.point_panel.empty") in plainly_said(app)
    assert PIN_A.of(shown_view(app)) == 7
    app = press(app, "map_unpin")
    assert "Pin a second point" not in plainly_said(app)


def test_two_pinned_words_stand_on_the_ruler() -> None:
    texts = ("The long river ran dry", "A long river ran fast")
    app = framed(map_view(*texts, layer=3, unit="words", **QUICK))
    rivers = [i for i, name in enumerate(picture(app).points.names) if name == "river"]
    app = press(click(app, rivers[0]), "map_to_pin_a")
    assert not [c for c in app.get("plotly_chart") if c.proto.id.endswith("map_ruler")]
    app = press(click(app, rivers[1]), "map_to_pin_b")
    assert_whole(app)
    shown = picture(app)
    a, b = (shown.points.names[i] for i in rivers)
    card = runtime.service().load(BUNDLED_ID)
    ruler = runtime.ruler(card, runtime.baseline(card))
    assert ruler is not None
    known = [word for word in (a, b) if ruler.knows(word)]
    drawn = figure_of(app, "map_ruler")
    ranges = ruler.ranges(3, "mean", centred=False, without=known)
    lows = values(drawn["data"][0]["base"])[-len(ranges) :]  # below random pairs of words
    np.testing.assert_allclose(lows, [each.low for each in ranges])
    one, other = (shown.vectors[list(shown.layers).index(3)][i] for i in rivers)
    cosine = float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))
    assert f"{cosine:.2f}" in drawn["layout"]["annotations"][0]["text"]
    assert f"**{cosine:.2f}**" in plainly_said(app)


def numbers_on(app: AppTest) -> set[str]:
    """The texts beside points on the map."""
    texts = [trace.get("text") or [] for trace in figure_of(app, "map_chart")["data"]]
    return {text for own in texts for text in own if text}


def test_points_have_the_numbers_of_the_table_beside_the_map() -> None:
    app = click(framed(map_view(layer=3, **QUICK)), 7)
    true, _ = near_tables(app)
    assert true["on map"].tolist() == [str(i) for i in range(1, 11)]
    assert numbers_on(app) == set(true["on map"])
    app = settled(field(app.button_group, f"{PAGE}_panel").set_value(FIND_SELECT).run())
    assert numbers_on(app) == set()
    app = around(app, 3, 17)
    assert [(card["point"], card["note"]) for card in cards(app)] == [(3, "1"), (17, "2")]
    assert numbers_on(app) == {"1", "2"}


def test_what_is_nearest_to_a_typed_text_is_marked_and_listed() -> None:
    app = framed(map_view(panel=FIND_SELECT, **QUICK))
    app = settled(field(app.text_input, f"{PAGE}_near").set_value("My python shed its skin").run())
    assert_whole(app)
    assert "The 10 points most similar to “python” in the full space have" in plainly_said(app)
    numbers, cosines = zip(*(card["note"].split(" · ") for card in cards(app)), strict=True)
    assert list(numbers) == [str(i) for i in range(1, 11)]
    assert sorted(map(float, cosines), reverse=True) == list(map(float, cosines))
    assert numbers_on(app) == set(numbers)
    app = settled(field(app.text_input, f"{PAGE}_near").set_value("cats and dogs").run())
    assert "Points here are single words, but your text has 3" in plainly_said(app)
    assert numbers_on(app) == set()


@pytest.mark.slow
def test_marks_come_with_the_address_and_count_for_their_points_alone(
    service: EncoderService,
) -> None:
    own = name_of(drawn_map(service, map_view(**QUICK)))
    marks = {"marks_of": own, "point": 7, "pin_a": 2, "pin_b": 20, "panel": POINT_PANEL, **QUICK}
    app = framed(map_view(**marks))
    assert_whole(app)
    assert "Of the 10 points truly nearest to" in plainly_said(app)
    assert "A: the animal. B: the language. Such an answer is right in" in plainly_said(app)
    app = settled(field(app.selectbox, "texts_word").set_value("bank").run())
    assert_whole(app)
    assert say("map.point_panel.empty") in plainly_said(app)
    assert "Similarity (cosine)" not in plainly_said(app)
    app = press(click(app, 1), "map_to_pin_b")  # the marks of the other points are gone
    controls = shown_view(app).controls[PAGE]
    assert (controls["point"], controls["pin_b"]) == (1, 1)
    assert PIN_A.of(shown_view(app)) == -1


@pytest.mark.slow
def test_what_is_drawn_around_is_listed_and_marked_in_the_other_map(
    files: dict[str, Any],
) -> None:
    app = framed(map_view(beside="layer", other_layer=1, **QUICK))
    assert_whole(app)
    own = picture(app)
    assert picture(app, OTHER_PLACE) is own
    np.testing.assert_array_equal(in_order(places(app)), in_order(own.map.coordinates[6]))
    there = in_order(places(app, "map_chart_other"))
    np.testing.assert_array_equal(there, in_order(own.map.coordinates[1]))
    assert not marked_in(app, "map_chart_other")
    app = around(app, 3, 17, 21)
    assert_whole(app)
    assert marked_in(app, "map_chart_other") == at(own, 1, 3, 17, 21)
    texts = [own.points.text(i) for i in (3, 17, 21)]
    assert ["".join(card[part] for part in PARTS) for card in cards(app)] == texts
    app = settled(field(app.button_group, f"{PAGE}_panel").set_value(TABLE_PANEL).run())
    listed = next(d.value for d in app.dataframe if len(d.value) == 3 and "sense" in d.value)
    assert listed["sentence"].tolist() == texts
    rows = pd.read_csv(io.BytesIO(files["map-selection.csv"]()), comment="#")
    assert rows["sentence"].tolist() == texts
    assert rows["sense"].tolist() == [own.points.labels["sense"][i] for i in (3, 17, 21)]
    app = settled(field(app.button_group, f"{PAGE}_panel").set_value(FIND_SELECT).run())
    assert "**3** of 32 points are selected" in plainly_said(app)
    app = click(app, 6)
    assert POINT.of(shown_view(app)) == 6
    app = settled(field(app.button_group, f"{PAGE}_panel").set_value(FIND_SELECT).run())
    assert "**3** of 32 points are selected" in plainly_said(app)  # a click keeps it
    app = press(app, "map_clear")
    assert "are selected" not in plainly_said(app)
    app = send(around(app, 3, 17))  # a click on no point
    assert "are selected" not in plainly_said(app)


@pytest.mark.slow
def test_cards_and_rows_select_points_on_the_map() -> None:
    app = framed(map_view(find="flat", **QUICK))
    own = picture(app)
    found = [i for i in range(32) if "flat" in own.points.text(i).casefold()]
    shown = cards(app)
    assert [card["point"] for card in shown] == found
    for card in shown:
        assert "".join(card[part] for part in PARTS) == own.points.text(card["point"])
        assert card["marked"].casefold() == "flat"
        assert f"python: {card['label']}" == own.points.labels["sense"][card["point"]]
    app = pick(app, point=found[1], wish="choose")
    assert POINT.of(shown_view(app)) == found[1]
    assert PANEL.of(shown_view(app)) == FIND_SELECT  # the list stays
    app = pick(app, point=31 if 31 not in found else 30, wish="choose")  # no card
    app = pick(app, point=found[0], wish="format")
    app = pick(app, point=found[0], wish="open", of="the points of another map")
    assert POINT.of(shown_view(app)) == found[1]
    app = pick(app, point=found[0], wish="open")
    assert (POINT.of(shown_view(app)), PANEL.of(shown_view(app))) == (found[0], POINT_PANEL)
    app = settled(field(app.button_group, f"{PAGE}_panel").set_value(TABLE_PANEL).run())
    app = around(app, 3, 17, 21)
    app = settled(field(app.button_group, f"{PAGE}_panel").set_value(TABLE_PANEL).run())
    app = choose_rows(app, 0, 2)
    assert marked_in(app, "map_chart") == at(own, 6, 3, 21)
    assert len(rows_of(app)) == 3  # the table stays as the lasso left it
    app = choose_rows(app)
    assert marked_in(app, "map_chart") == at(own, 6, 3, 17, 21)
    app = press(app, "map_clear")
    assert len(rows_of(app)) == 32
    app = choose_rows(app, 5)
    assert marked_in(app, "map_chart") == at(own, 6, 5)
    assert len(rows_of(app)) == 32
    for panel in (FIND_SELECT, TABLE_PANEL):
        app = settled(field(app.button_group, f"{PAGE}_panel").set_value(panel).run())
    assert json.loads(rows_element(app).proto.selection_default)["selection"]["rows"] == [5]


def test_what_is_drawn_around_in_the_other_map_is_marked_in_this_one() -> None:
    app = framed(map_view(beside="seed", other_seed=3, layer=2, **QUICK))
    own, other = picture(app), picture(app, OTHER_PLACE)
    assert other.request.settings == replace(own.request.settings, seed=3)
    app = around(app, 5, 30, key="map_chart_other")
    assert_whole(app)
    assert marked_in(app, "map_chart") == at(own, 2, 5, 30)


def test_another_method_stands_beside() -> None:
    app = framed(map_view(beside="method", other_method="tsne", other_layer=999, **QUICK))
    assert_whole(app)
    assert picture(app, OTHER_PLACE).map.method == "tsne"
    assert len(places(app, "map_chart_other")) == 32


def test_the_figure_is_made_anew_only_where_it_would_be_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[int] = []

    def figure(*given: Any) -> Any:
        made.append(1)
        return figure_of_chart(*given)

    figure_of_chart = chart._chart
    monkeypatch.setattr(chart, "_chart", figure)
    shared_cache.cache_clear()
    app = framed(map_view(panel=FIND_SELECT, **QUICK))
    assert len(made) == 1
    app = around(app, *range(20))
    assert "**20** of 32 points" in plainly_said(app)
    assert len(made) == 1  # 20 points are too many for trails
    app = around(app, 3, 17)
    assert len(made) == 2
    app = settled(field(app.selectbox, f"{PAGE}_color").set_value("part of text").run())
    assert len(made) == 3
    assert places(app).shape[0] == picture(app).points.n_points
    framed(map_view(panel=FIND_SELECT, **QUICK))
    assert len(made) == 3  # another visitor's is the same


# Other models


@pytest.mark.slow
def test_another_model_s_map_stands_beside_and_is_linked(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    build("distilbert", tmp_path / "distilbert")
    data = str(app_data(tmp_path_factory))
    with app_settings(DATA_DIR=data, ALLOW_DOWNLOADS="0", MODEL_FOLDERS=str(tmp_path)):
        view = map_view(beside="model", other_model="folder:distilbert", layer=1, **QUICK)
        app = around(framed(view), 3, 17)
        assert_whole(app)
        other = picture(app, OTHER_PLACE)
        assert other.request.model == "folder:distilbert"
        assert other.points.spans.tolist() == picture(app).points.spans.tolist()
        row = other.index_of(1)
        expected = {tuple(other.map.coordinates[row, i].tolist()) for i in (3, 17)}
        assert marked_in(app, "map_chart_other") == expected

        controls = {"unit": "sentences", "sentences_pooling": "pooler", **QUICK}
        app = framed(replace(map_view(*TEXTS, **controls), model="folder:distilbert"))
        assert not app.exception
        assert len(app.error) == 1
        assert "This model has no pooler, so there is no pooler output to map" in plainly_said(app)
        app = settled(field(app.selectbox, f"{PAGE}_sentences_pooling").set_value("cls").run())
        assert_whole(app)


# The names beside the map


def test_a_click_on_a_name_lists_its_texts_and_a_second_one_all() -> None:
    app = framed()
    names = {name["key"]: name for name in given(app, "map_names")["names"]}
    assert [(name["text"], name["n"]) for name in names.values()] == [
        ("animal", 16),
        ("language", 16),
    ]
    app = settled(pick_name(app, "map_names", "python: language"))
    assert_whole(app)
    assert "**language** · 16 words" in plainly_said(app)
    assert {card["label"] for card in given(app, "map_cards")["cards"]} == {"language"}
    kept = [len(t["selectedpoints"]) for t in figure_of(app, "map_chart")["data"][:2]]
    assert sorted(kept) == [0, 16]
    assert given(app, "map_names")["chosen"] == "python: language"
    app = settled(pick_name(app, "map_names", "python: language"))
    assert given(app, "map_names")["chosen"] == ""
    app = settled(pick_name(app, "map_names", "no such name"))
    assert_whole(app)


def test_the_text_of_a_point_of_a_large_map_is_sent_when_a_reader_points_at_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (scatter, widgets):
        monkeypatch.setattr(module, "MAX_HOVERED", 3)
    texts = ("A crowd <b>of</b> points", "They are many", "Each has a text", "None is sent")
    app = framed(map_view(*texts, unit="sentences", **QUICK))
    traces = [t for t in figure_of(app, "map_chart")["data"] if t["mode"] == "markers"]
    assert [t["hoverinfo"] for t in traces] == ["none"] * len(traces)
    assert "Each has" not in json.dumps(traces)
    assert given(app, "map_chart_text")["place"] == []
    row = 2
    own = picture(app).map.coordinates[-1, row]
    places = [(curve, values(trace["x"])) for curve, trace in enumerate(traces)]
    place = next([c, int(np.flatnonzero(x == own[0])[0])] for c, x in places if own[0] in x)
    app = ask_text(app, place)
    answer = given(app, "map_chart_text")
    assert answer["place"] == place
    assert answer["parts"] == ["", "", texts[row]]
    assert any("part of the texts" in label for label in answer["labels"])
    app = ask_text(app, [0, 99])
    assert given(app, "map_chart_text")["place"] == [0, 99]
    assert "parts" not in given(app, "map_chart_text")
    forged = ([0, 10**30], [-(10**30), 0])
    for odd in ("text", [1], [0, True], [0, "1"], [0, 1, 2], {"place": [0, 1]}, None, *forged):
        app = pick_name(ask_text(app, odd), "map_chart_text", odd)
        assert given(app, "map_chart_text")["place"] == [0, 99]
    assert not app.exception


def test_a_click_on_a_large_map_does_not_send_its_chart_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (scatter, widgets, chart):
        monkeypatch.setattr(module, "MAX_HOVERED", 3)
    monkeypatch.setattr(chart, "MAX_PLAYED_POINTS", 0)  # a map that plays has its marks in frames
    texts = ("A crowd of points", "They are many", "Each has a text", "None is sent")
    app = framed(map_view(*texts, unit="sentences", layer=3, **QUICK))
    drawn, empty = figure_of(app, "map_chart"), given(app, "map_chart_marks")
    assert empty["traces"] == []
    for place in ([0, 2], [0, 99], [0], "text"):
        app = settled(send_pick(app, "map_chart_marks", of="another drawing", place=place))
        assert POINT.of(shown_view(app)) == -1
    row = int(np.flatnonzero(at_x(picture(app), 3) == values(drawn["data"][0]["x"])[1])[0])
    app = settled(send_pick(app, "map_chart_marks", of=empty["of"], place=[0, 1]))
    assert (POINT.of(shown_view(app)), PANEL.of(shown_view(app))) == (row, POINT_PANEL)
    assert figure_of(app, "map_chart") == drawn
    lines, ring, near = given(app, "map_chart_marks")["traces"]
    assert {(x, y) for x, y in zip(ring["x"], ring["y"], strict=True)} == at(picture(app), 3, row)
    assert {*zip(near["x"], near["y"], strict=True)} == at(picture(app), 3, *{*range(4)} - {row})
    assert None in lines["x"]
    app = settled(send_pick(app, "map_chart_marks", of=empty["of"], place=[0, 99]))
    assert POINT.of(shown_view(app)) == row
    app = press(app, "map_let_go")
    before = given(app, "map_chart_marks")
    assert before["traces"] == []
    selection = PointSelection(name_of(picture(app)), CHART, "a name", (0, 1))
    app.session_state["_kept"][SELECTION] = selection
    app = settled(app.run())
    assert figure_of(app, "map_chart") != drawn
    after = given(app, "map_chart_marks")  # the browser hears of it, and listens to the new chart
    assert {name for name in before if after[name] != before[name]} == {"figure"}
    assert given(app, "map_chart_text")["figure"] == after["figure"] != before["figure"]
    assert not app.exception


def test_a_place_of_a_large_map_has_another_text_in_another_colouring(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (scatter, widgets):
        monkeypatch.setattr(module, "MAX_HOVERED", 3)
    app = framed(map_view("old river ran", "the river", "a river", unit="words", **QUICK))
    own, seen, drawings = picture(app), [], set()
    across = own.map.coordinates[-1, :, 0].tolist()
    for title in ("word", "nothing"):
        app = settled(field(app.selectbox, f"{PAGE}_color").set_value(title).run())
        assert given(app, "map_chart_text")["place"] == []
        drawn = values(figure_of(app, "map_chart")["data"][0]["x"]).tolist()
        app = ask_text(app, [0, 0])
        answer = given(app, "map_chart_text")
        drawings.add(answer["of"])
        seen.append(answer["parts"][1])
        assert seen[-1] == own.points.names[across.index(drawn[0])]
    assert seen == ["river", "old"]
    app = settled(field(app.selectbox, f"{PAGE}_color").set_value("layer").run())
    app = ask_text(app, [0, 2 * own.points.n_points])
    answer = given(app, "map_chart_text")
    assert answer["parts"][1] == "old"
    assert answer["labels"][-1] == f"layer: {own.layers[2]}.0000"
    for drawing in drawings:  # a request that was under way while the map was coloured anew
        app = ask_text(app, [0, 0], of=drawing)
        assert given(app, "map_chart_text")["place"] == answer["place"]
    assert len(drawings) == 2
