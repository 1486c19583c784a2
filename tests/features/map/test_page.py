"""Map, headless: what only its widgets can show, and an old map is never taken for a new one."""

from __future__ import annotations

import base64
import io
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.testing.v1 import AppTest

from components.core import BUNDLED_ID, EncoderService
from components.features.map import corpora
from components.features.map.compute import once
from components.features.map.controls import FIND_SELECT, PAGE, PANEL, PIN_A, POINT, POINT_PANEL
from components.features.map.marks import name_of
from components.features.map.page import chart
from components.maps.picture import Picture
from components.ui.files.kept import forget_all, keep, sheet_of
from components.ui.models import runtime
from components.ui.models.background import maps
from components.ui.state.address import encode
from components.ui.state.view import DEFAULT, ViewState
from tests.support.fields import field
from tests.support.maps import QUICK, TEXTS, drawn_map, map_view
from tests.support.pages import (
    alone,
    app_data,
    app_settings,
    bundled_app,
    everything_said,
    plainly_said,
    press,
    reading,
    settled,
    shown_view,
    to_layer,
)
from tests.support.pages import chart as figure_of
from tests.support.pages import framed as framed_on
from tests.support.tiny_models import build

SECONDS = 300  # for a map, on a busy machine
RUDE = '<img src=x onerror=alert(1)> **bold** $x$ :material/home: "q" {y} python'


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory, MAX_UPLOAD_MB="1"):
        yield


def framed(view: ViewState | str = DEFAULT) -> AppTest:
    return settled(framed_on(view, PAGE))


def picture(app: AppTest, slot: str = "map") -> Picture:
    """The map that is on screen, as the engine gave it."""
    drawn = maps().picture(app.session_state["_kept"][slot])
    assert drawn is not None
    return drawn


def assert_whole(app: AppTest) -> None:
    assert not app.exception
    assert not app.error
    assert not app.warning
    assert places(app).shape[0] == picture(app).points.n_points
    assert reading(app)


def values(given: Any) -> np.ndarray:
    """Numbers as plotly sends them."""
    if isinstance(given, dict):
        return np.frombuffer(base64.b64decode(given["bdata"]), dtype=given["dtype"])
    return np.asarray(given, dtype=float)


def places(app: AppTest, key: str = "map_chart") -> np.ndarray:
    """Where the chart has its points, in any order."""
    traces = [t for t in figure_of(app, key)["data"] if "hovertext" in t]
    axes = "xyz" if "z" in traces[0] else "xy"
    return np.concatenate([np.stack([values(t[a]) for a in axes], axis=1) for t in traces])


def title(app: AppTest, key: str = "map_chart") -> str:
    return str(figure_of(app, key)["layout"]["title"]["text"])


def in_order(rows: np.ndarray) -> np.ndarray:
    return rows[np.lexsort(rows.T)]


def table(app: AppTest, column: str = "sentence length in characters") -> pd.DataFrame:
    """The table with this column; by default that of all points."""
    return next(d.value for d in app.dataframe if column in d.value.columns)


def near_tables(app: AppTest) -> list[pd.DataFrame]:
    """A point's nearest in the full space, and on the map."""
    return [d.value for d in app.dataframe if "cosine" in d.value.columns]


def send(app: AppTest, key: str = "map_chart", **selection: Any) -> AppTest:
    """What the browser sends when someone clicks the chart or draws around its points."""
    proto = next(e.proto for e in app.get("plotly_chart") if e.proto.id.endswith(key))
    states = app._tree.get_widget_states()
    event = {"selection": {"points": [], "box": [], "lasso": [], **selection}}
    states.widgets.add(id=proto.id, string_value=json.dumps(event))
    return settled(app._run(states))


def spot(app: AppTest, point: int, key: str = "map_chart") -> dict[str, Any]:
    """A point as the chart tells of it."""
    own = picture(app).coordinates[picture(app).index_of(shown_view(app).layer), point]
    for curve, trace in enumerate(figure_of(app, key)["data"]):
        if "hovertext" in trace:
            there = np.stack([values(trace[axis]) for axis in "xy"], axis=1)
            found = np.flatnonzero((there == own[:2]).all(axis=1))
            if len(found):
                return {"curve_number": curve, "point_index": int(found[0])}
    raise AssertionError(f"point {point} is not in the chart")


def click(app: AppTest, point: int) -> AppTest:
    return send(app, points=[spot(app, point)])


def around(app: AppTest, *chosen: int, key: str = "map_chart") -> AppTest:
    """Draws a box around points."""
    return send(app, key, points=[spot(app, p, key) for p in chosen], box=[{"x": [0, 1]}])


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[[], bytes]]:
    """What each download button of the page gives, by the name of its file."""
    found: dict[str, Callable[[], bytes]] = {}
    button = DeltaGenerator.download_button

    def note(place: DeltaGenerator, label: str, data: Any, **more: Any) -> bool:
        found[more["file_name"]] = data
        return button(place, label, data, **more)

    monkeypatch.setattr(DeltaGenerator, "download_button", note)
    monkeypatch.setattr(st, "download_button", partial(note, st._main))
    return found


def arrays_in(content: bytes) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def marked_in(app: AppTest, key: str) -> set[tuple[float, ...]]:
    """Where the points are that do not fade."""
    return {
        (float(values(trace["x"])[i]), float(values(trace["y"])[i]))
        for trace in figure_of(app, key)["data"]
        if "hovertext" in trace
        for i in values(trace.get("selectedpoints") or []).astype(int)
    }


def at(picture: Picture, row: int, *points: int) -> set[tuple[float, ...]]:
    """Where points are at one layer."""
    return {tuple(picture.coordinates[row, i].tolist()) for i in points}


def go(app: AppTest, view: ViewState) -> AppTest:
    """The same visit on another view, as after a link."""
    app.query_params["s"] = encode(view)
    return app.run()


# On first sight


@pytest.mark.slow
def test_the_page_opens_on_the_two_pythons() -> None:
    app = framed(DEFAULT)
    assert_whole(app)
    own = picture(app)
    assert own.points.n_points == 32
    assert own.method == "umap"
    assert set(own.points.labels["sense"]) == {"python: animal", "python: language"}
    assert title(app).startswith("Layer 6: the senses of python lean apart, ")
    assert "The senses of “python” lean apart from layer" in plainly_said(app)
    assert "of the **15** nearest in the full space" in plainly_said(app)
    assert "Ambiguous words: **32** words" in plainly_said(app)
    np.testing.assert_array_equal(in_order(places(app)), in_order(own.coordinates[-1]))
    shown = table(app)
    np.testing.assert_array_equal(shown[["x", "y"]].to_numpy(np.float32), own.coordinates[-1])
    assert shown["word"].tolist() == ["python"] * 32
    measured = table(app, "measure").set_index("measure")["0 to 1"]
    last = own.honesty[-1]
    assert last is not None
    assert measured["trustworthiness"] == last.trustworthiness
    assert measured["recall of 15"] == last.recall


@pytest.mark.slow
def test_alone_the_page_shows_what_it_shows_framed(files: dict[str, Any]) -> None:
    app = settled(alone(map_view(**QUICK), PAGE))
    assert_whole(app)
    own = picture(app)
    app = to_layer(app, 1)
    assert_whole(app)
    assert picture(app) is own  # another layer of the joint map needs no new one
    assert shown_view(app).layer == 1
    np.testing.assert_array_equal(in_order(places(app)), in_order(own.coordinates[1]))
    arrays = arrays_in(files["map.npz"]())
    np.testing.assert_array_equal(arrays["vectors"], own.vectors[1])
    np.testing.assert_array_equal(arrays["coordinates"], own.coordinates[1])
    passport = json.loads(str(arrays["passport"]))
    assert passport["settings"]["map"]["method"] == "pca"
    assert passport["settings"]["corpus"] == "Ambiguous words"
    shown = table(app)
    written = pd.read_csv(io.BytesIO(files["map.csv"]()), comment="#", keep_default_na=False)
    assert written.columns.tolist() == shown.columns.tolist()
    np.testing.assert_allclose(written[["x", "y"]], own.coordinates[1], rtol=1e-6)
    assert written["sentence"].tolist() == shown["sentence"].tolist()


# Choices


def test_choices_are_written_into_the_address() -> None:
    first = {
        "unit": ("button_group", "sentences"),
        "source": ("selectbox", "sentences"),
        "metric": ("selectbox", "euclidean"),
        "footing": ("selectbox", "one"),
        "at_most": ("selectbox", "1000"),
        "dims": ("button_group", "3-D"),
        "effort": ("button_group", "full"),
        "neighbors": ("number_input", 30),
        "seed": ("number_input", 5),
        "min_dist": ("selectbox", "0.5"),
        "find": ("text_input", "python"),
    }
    then = {
        "sentences_pooling": ("selectbox", "pooler"),
        "color": ("selectbox", "sentence length in characters"),
    }
    app = framed(map_view(panel=FIND_SELECT, **QUICK))
    for choices in (first, then):
        for name, (kind, value) in choices.items():
            field(getattr(app, kind), f"{PAGE}_{name}").set_value(value)
        app = settled(app.run())
        assert_whole(app)
    assert dict(shown_view(app).controls[PAGE]) == {
        "method": "pca",
        "panel": FIND_SELECT,
        **{name: value for name, (_, value) in {**first, **then}.items()},
    }
    assert "The pooler's output has no layers" in plainly_said(app)
    assert "choose 2-D for the lasso" in plainly_said(app)
    assert "found, ringed on the map." in plainly_said(app)
    assert "The map with a script of your own" in plainly_said(app)


def test_few_points_are_drawn_by_pca_and_the_reason_is_said() -> None:
    app = framed(map_view("a python", neighbors=5))
    assert_whole(app)
    assert picture(app).method == "pca"
    assert "PCA was drawn: UMAP needs at least 15 points" in plainly_said(app)


@pytest.mark.slow
def test_a_sample_of_many_texts_is_said() -> None:
    content = "\n".join(f"{i} and so on and on in many words as before" for i in range(150))
    digest = shared("mine.txt", content.encode())
    controls = {"source": "file", "file": digest, "unit": "tokens", "at_most": "1000"}
    app = framed(map_view(**controls, footing="one", layer=1, **QUICK))
    assert_whole(app)
    assert re.search(
        r"mine.txt: \*\*1,000\*\* tokens · from \d+ of 150 texts, chosen at", plainly_said(app)
    )
    below = figure_of(app, "map_chart")["layout"]["title"]["subtitle"]["text"]
    assert re.fullmatch(r"\d+ of 150 texts, chosen at random", below)


def test_empty_sentences_are_said() -> None:
    app = framed(map_view("", "  ", **QUICK))
    assert not app.exception
    assert "Your sentences are empty" in plainly_said(app)


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
    assert f"**{len(kept)}** of its 10 nearest in the full space" in plainly_said(app)
    app = press(app, "map_to_pin_a")
    assert PIN_A.of(shown_view(app)) == 7
    assert "Pin a second point" in plainly_said(app)
    app = press(app, "map_let_go")
    assert "Click a point to see" in plainly_said(app)
    app = press(app, "map_unpin")
    assert "Pin a second point" not in plainly_said(app)


def test_two_pinned_words_stand_on_the_ruler() -> None:
    app = press(click(framed(map_view(layer=3, **QUICK)), 7), "map_to_pin_a")
    assert not [c for c in app.get("plotly_chart") if c.proto.id.endswith("map_ruler")]
    app = press(click(app, 8), "map_to_pin_b")
    assert_whole(app)
    shown = picture(app)
    a, b = (shown.points.names[i] for i in (7, 8))
    card = runtime.service().load(BUNDLED_ID)
    ruler = runtime.ruler(card, runtime.baseline(card))
    assert ruler is not None
    known = [word for word in (a, b) if ruler.knows(word)]
    drawn = figure_of(app, "map_ruler")
    ranges = ruler.ranges(3, "mean", centred=False, without=known)
    np.testing.assert_allclose(values(drawn["data"][0]["base"]), [each.low for each in ranges])
    one, other = (shown.vectors[list(shown.layers).index(3)][i] for i in (7, 8))
    cosine = float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))
    assert f"{cosine:.2f}" in drawn["layout"]["annotations"][0]["text"]
    assert f"A cosine of **{cosine:.2f}** is " in plainly_said(app)


def numbers_on(app: AppTest) -> set[str]:
    """What is written beside points on the map."""
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
    listed = next(d.value for d in app.dataframe if len(d.value) == 2 and "on map" in d.value)
    assert listed["on map"].tolist() == ["1", "2"]
    assert numbers_on(app) == {"1", "2"}


def test_what_is_nearest_to_a_typed_text_is_marked_and_listed() -> None:
    app = framed(map_view(panel=FIND_SELECT, **QUICK))
    app = settled(field(app.text_input, f"{PAGE}_near").set_value("My python shed its skin").run())
    assert_whole(app)
    assert "Nearest to “python” in the full space at layer 6: 10 words" in plainly_said(app)
    listed = next(d.value for d in app.dataframe if "cosine" in d.value.columns)
    assert listed["on map"].tolist() == [str(i) for i in range(1, 11)]
    assert listed["cosine"].is_monotonic_decreasing
    assert numbers_on(app) == set(listed["on map"])
    app = settled(field(app.text_input, f"{PAGE}_near").set_value("cats and dogs").run())
    assert "Each point is one word, and this is 3" in plainly_said(app)
    assert numbers_on(app) == set()


@pytest.mark.slow
def test_marks_come_with_the_address_and_count_for_their_points_alone(
    service: EncoderService,
) -> None:
    own = name_of(drawn_map(service, map_view(**QUICK)))
    marks = {"marks_of": own, "point": 7, "pin_a": 2, "pin_b": 20, "panel": POINT_PANEL, **QUICK}
    app = framed(map_view(**marks))
    assert_whole(app)
    assert "of its 10 nearest in the full space" in plainly_said(app)
    assert re.search(
        r"have a cosine of \*\*0\.\d\d\*\* in the full space at layer 6", plainly_said(app)
    )
    app = settled(field(app.selectbox, f"{PAGE}_word").set_value("bank").run())
    assert_whole(app)
    assert "Click a point to see" in plainly_said(app)
    assert "have a cosine of" not in plainly_said(app)


def test_what_is_drawn_around_is_listed_and_marked_in_the_other_map(
    files: dict[str, Any],
) -> None:
    app = framed(map_view(beside="layer", other_layer=1, **QUICK))
    assert_whole(app)
    own = picture(app)
    assert picture(app, "map_other") is own
    np.testing.assert_array_equal(in_order(places(app)), in_order(own.coordinates[6]))
    there = in_order(places(app, "map_chart_other"))
    np.testing.assert_array_equal(there, in_order(own.coordinates[1]))
    assert not marked_in(app, "map_chart_other")
    app = around(app, 3, 17, 21)
    assert_whole(app)
    assert marked_in(app, "map_chart_other") == at(own, 1, 3, 17, 21)
    listed = next(d.value for d in app.dataframe if len(d.value) == 3 and "sense" in d.value)
    texts = [own.points.text(i) for i in (3, 17, 21)]
    assert listed["sentence"].tolist() == texts
    rows = pd.read_csv(io.BytesIO(files["map-selection.csv"]()), comment="#")
    assert rows["sentence"].tolist() == texts
    assert rows["sense"].tolist() == [own.points.labels["sense"][i] for i in (3, 17, 21)]
    assert "**3** of 32 words are selected" in plainly_said(app)
    app = press(app, "map_clear")
    assert "are selected" not in plainly_said(app)


def test_what_is_drawn_around_in_the_other_map_is_marked_in_this_one() -> None:
    app = framed(map_view(beside="seed", other_seed=3, layer=2, **QUICK))
    own, other = picture(app), picture(app, "map_other")
    assert other.request.settings == replace(own.request.settings, seed=3)
    app = around(app, 5, 30, key="map_chart_other")
    assert_whole(app)
    assert marked_in(app, "map_chart") == at(own, 2, 5, 30)


@pytest.mark.slow
def test_another_method_stands_beside() -> None:
    app = framed(map_view(beside="method", other_method="tsne", other_layer=999, **QUICK))
    assert_whole(app)
    assert picture(app, "map_other").method == "tsne"
    assert len(places(app, "map_chart_other")) == 32


def test_the_figure_is_made_anew_only_where_it_would_be_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[int] = []

    def figure(*given: Any) -> Any:
        made.append(1)
        return figure_of_chart(*given)

    figure_of_chart = chart._figure
    monkeypatch.setattr(chart, "_figure", figure)
    once._drawings.cache_clear()
    app = framed(map_view(panel=FIND_SELECT, **QUICK))
    assert len(made) == 1
    app = around(app, *range(20))
    assert "**20** of 32 words" in plainly_said(app)
    assert len(made) == 1  # 20 points are too many for trails
    app = around(app, 3, 17)
    assert len(made) == 2
    app = settled(field(app.selectbox, f"{PAGE}_color").set_value("part of text").run())
    assert len(made) == 3
    assert places(app).shape[0] == picture(app).points.n_points
    framed(map_view(panel=FIND_SELECT, **QUICK))
    assert len(made) == 3  # another visitor's is the same


# How far to trust it


def test_two_more_seeds_are_drawn_when_asked_for() -> None:
    app = settled(press(framed(map_view(**QUICK)), "map_check"))
    assert_whole(app)
    assert not [b for b in app.button if b.key == "map_check"]
    assert "seed" in " ".join(caption.value for caption in app.caption)


# An old map is said to be one


LONG = {"every_word": True, "at_most": "50000", "method": "tsne"}


@pytest.mark.slow
def test_until_a_map_is_drawn_the_old_one_is_shown_as_such() -> None:
    app = click(framed(map_view(**QUICK)), 7)
    old, shown = picture(app), table(app)
    app = settled(go(app, map_view(**LONG)))
    assert not app.error
    assert picture(app) is old
    warning = re.sub(r"\\(.)", r"\1", app.warning[0].value)
    assert "This is the map drawn before" in warning
    assert "words · all layers · PCA" in warning
    assert "Since then you changed which words, how many points, the map's settings." in warning
    assert re.search(r"It would take about \*\*.+\*\* and \*\*[\d,]+ MB\*\*", plainly_said(app))
    pd.testing.assert_frame_equal(table(app), shown)
    np.testing.assert_array_equal(in_order(places(app)), in_order(old.coordinates[-1]))
    assert "The senses of “python” lean apart from layer" in reading(app)
    # Begun, it can be stopped.
    app = app.button(key="map_draw").click().run()
    assert app.get("progress")
    assert "This is the map drawn before" in plainly_said(app)
    app = app.button(key="map_progress_cancel").click().run()
    app = settled(app)
    assert "This map was stopped. It would take about" in plainly_said(app)
    assert picture(app) is old
    pd.testing.assert_frame_equal(table(app), shown)
    # What is drawn has no such mark.
    app = settled(go(app, map_view(metric="euclidean", **QUICK)))
    assert_whole(app)
    assert picture(app) is not old
    assert "drawn before" not in plainly_said(app)


def test_a_map_that_cannot_be_drawn_leaves_the_old_one() -> None:
    app = framed(map_view(*TEXTS, **QUICK))
    old = picture(app)
    app = settled(go(app, map_view(*TEXTS, only="aardvark", **QUICK)))
    assert [re.sub(r"\\(.)", r"\1", error.value) for error in app.error] == [
        "No word here is “aardvark”. Write it as in the texts, or empty the field to map them all."
    ]
    assert picture(app) is old
    assert "This is the map drawn before" in plainly_said(app)
    assert "Since then you changed which words." in plainly_said(app)
    assert [b for b in app.button if b.key == "map_again"]
    app = settled(go(app, map_view(*TEXTS, only="snake", **QUICK)))
    assert_whole(app)
    assert picture(app).points.names == ("snake",)


# Files


def parquet_of(columns: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


TABLE = ("text,kind,nothing\n" + "\n".join(f'"{text}",pet,' for text in TEXTS)).encode()


def shared(name: str, content: bytes) -> str:
    """The digest of a file that another visitor mapped, by the columns that were guessed."""
    sheet = sheet_of(keep("another visit", name, content))
    assert sheet is not None
    return corpora.share("another visit", sheet, sheet.text_column, sheet.label_columns)


def upload(app: AppTest, name: str, content: bytes) -> AppTest:
    own = field(app.file_uploader, "map_upload")
    return settled(own.set_value((name, content, "application/octet-stream")).run())


def test_a_file_is_shown_first_and_then_mapped_and_one_that_is_broken_changes_nothing() -> None:
    app = framed(map_view(source="file", **QUICK))
    assert not app.error
    assert "map_chart" not in [e.proto.id.rpartition("-")[2] for e in app.get("plotly_chart")]
    app = upload(app, "mine.csv", TABLE)
    assert not app.error
    assert "**mine.csv**" in plainly_said(app)
    head = next(d.value for d in app.dataframe if len(d.value) == 4)
    assert TEXTS[0] in head.to_numpy()
    app.selectbox(key="map_pending_text").set_value("nothing").run()
    app = settled(press(app, "map_use"))
    assert "nothing has no text in any of its 4 rows. Choose another column" in plainly_said(app)
    app.selectbox(key="map_pending_text").set_value("text").run()
    app = settled(press(app, "map_use"))
    assert_whole(app)
    old, shown = picture(app), places(app)
    assert old.corpus.texts == TEXTS
    assert old.points.unit == "sentences"
    assert old.points.labels["kind"] == ("pet",) * 4
    assert "**mine.csv** · 4 texts" in plainly_said(app)
    assert not [own for own in app.file_uploader if own.key == "map_upload"]
    app = press(app, "map_change_file")
    app = upload(app, "broken.parquet", b"PAR1 nothing")
    assert not app.error
    assert any("broken.parquet" in re.sub(r"\\(.)", r"\1", w.value) for w in app.warning)
    assert picture(app) is old
    np.testing.assert_array_equal(places(app), shown)
    assert "drawn before" not in plainly_said(app)
    app = press(app, "map_keep_file")
    assert "**mine.csv** · 4 texts" in plainly_said(app)
    assert picture(app) is old


def test_texts_are_pasted_and_what_is_no_text_is_said() -> None:
    app = framed(map_view(source="file", **QUICK))
    app = settled(press(app, "map_paste_use"))
    assert "There is no text yet. Paste one text a line, then map them." in plainly_said(app)
    app.text_area(key="map_paste").set_value("x" * 1_000_001).run()
    app = settled(press(app, "map_paste_use"))
    assert "at most 1 MB are read here" in plainly_said(app)
    app.text_area(key="map_paste").set_value("\n".join(("", *TEXTS, "  "))).run()
    app = settled(press(app, "map_paste_use"))
    assert_whole(app)
    assert picture(app).corpus.texts == TEXTS
    assert picture(app).points.unit == "sentences"
    assert "4 texts" in plainly_said(app)


def test_other_columns_of_a_file_can_be_used() -> None:
    app = settled(
        press(upload(framed(map_view(source="file", **QUICK)), "mine.csv", TABLE), "map_use")
    )
    assert_whole(app)
    assert picture(app).corpus.labels == {"kind": ("pet",) * 4}
    assert not [b for b in app.button if b.key == "map_columns_use"]
    app = app.multiselect(key="map_columns_labels").set_value([]).run()
    app = settled(press(app, "map_columns_use"))
    assert_whole(app)
    assert picture(app).corpus.labels == {}


SALARIES = b"text,kind,salary\n" + b"".join(
    f'"{text}",pet,{4_000 + i} secret\n'.encode() for i, text in enumerate(TEXTS)
)


@pytest.mark.slow
def test_whoever_has_the_address_gets_the_chosen_columns_and_nothing_else_of_the_file() -> None:
    own = upload(framed(map_view(source="file", **QUICK)), "mine.csv", SALARIES)
    assert "Whoever has this page's address sees and can download the text column" in plainly_said(
        own
    )
    own.multiselect(key="map_pending_labels").set_value(["kind"]).run()
    own = settled(press(own, "map_use"))
    assert "salary" in own.selectbox(key="map_columns_text").options
    view = shown_view(own)
    digest = view.controls[PAGE]["file"]
    assert isinstance(digest, str)
    for more in ({}, {"text": 2}, {"labels": "2"}, {"labels": "0,1,2"}, {"color": "salary"}):
        changed = replace(view, controls={PAGE: {**view.controls[PAGE], **more}})
        other = framed(changed)
        assert_whole(other)
        assert picture(other).corpus.texts == TEXTS
        assert set(picture(other).corpus.labels) == {"kind"}
        assert "Only the columns that were chosen are kept with this map" in plainly_said(other)
        assert not [w for w in (*other.selectbox, *other.multiselect)
                    if str(w.key).startswith("map_columns")]  # fmt: skip
        everything = everything_said(other) + json.dumps(figure_of(other, "map_chart"))
        everything += "".join(frame.value.to_csv() for frame in other.dataframe)
        assert "secret" not in everything
        assert "salary" not in everything.replace('"color": "salary"', "")


def test_a_file_that_is_uploaded_again_after_the_server_forgot_it_is_mapped_as_before() -> None:
    own = upload(framed(map_view(source="file", **QUICK)), "mine.csv", SALARIES)
    own.multiselect(key="map_pending_labels").set_value(["salary"]).run()
    own = settled(press(own, "map_use"))
    view = shown_view(own)
    forget_all()
    other = framed(view)
    assert "This view maps “mine.csv”, which this server does not have" in plainly_said(other)
    other = upload(other, "mine.csv", SALARIES)
    assert_whole(other)
    assert set(picture(other).corpus.labels) == {"salary"}


def test_a_file_that_is_no_longer_here_is_asked_for_by_name() -> None:
    app = framed(map_view(source="file", file="0" * 32, file_name="my <b>corpus</b>.csv", **QUICK))
    assert not app.error
    assert "This view maps “my <b>corpus</b>.csv”, which this server does not have" in plainly_said(
        app
    )
    assert "<b>corpus" not in everything_said(app)


def test_going_to_a_file_keeps_the_last_map_as_an_old_one() -> None:
    app = framed(map_view(*TEXTS, **QUICK))
    old = picture(app)
    app = settled(field(app.selectbox, f"{PAGE}_source").set_value("file").run())
    assert picture(app) is old
    assert "This is the map drawn before" in plainly_said(app)
    assert "What you chose has not been mapped yet." in plainly_said(app)


@pytest.mark.slow
def test_text_of_a_file_is_never_taken_for_html(service: EncoderService) -> None:
    columns = {
        RUDE: [f"{RUDE} {i}" for i in range(20)],
        "<b>kind</b>": [f"<script>{i % 2}</script>" for i in range(20)],
    }
    digest = shared("<img src=y>.parquet", parquet_of(columns))
    view = map_view(source="file", file=digest, unit="sentences", find="<img", **QUICK)
    marks = {"marks_of": name_of(drawn_map(service, view)), "point": 3, "pin_a": 3, "pin_b": 4}
    app = framed(replace(view, controls={PAGE: {**view.controls[PAGE], **marks}}))
    assert_whole(app)
    everything = [everything_said(app), json.dumps(figure_of(app, "map_chart"))]
    assert "**20** found" in plainly_said(app)
    app = settled(field(app.button_group, f"{PAGE}_panel").set_value(POINT_PANEL).run())
    assert "have a cosine of" in plainly_said(app) or "have the same direction" in plainly_said(app)
    everything.append(everything_said(app))
    app = around(app, 3, 5)
    assert_whole(app)
    assert "are selected" in plainly_said(app)
    everything.append(everything_said(app))
    for tag in ("<img", "<script", "<b>kind"):
        assert tag not in " ".join(everything).replace(f"\\{tag}", "")


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
        other = picture(app, "map_other")
        assert other.request.model == "folder:distilbert"
        assert other.points.spans.tolist() == picture(app).points.spans.tolist()
        row = other.index_of(1)
        expected = {tuple(other.coordinates[row, i].tolist()) for i in (3, 17)}
        assert marked_in(app, "map_chart_other") == expected

        controls = {"unit": "sentences", "sentences_pooling": "pooler", **QUICK}
        app = framed(replace(map_view(*TEXTS, **controls), model="folder:distilbert"))
        assert not app.exception
        assert len(app.error) == 1
        assert "This model has no pooler, so there is no pooler output to map" in plainly_said(app)
        app = settled(field(app.selectbox, f"{PAGE}_sentences_pooling").set_value("cls").run())
        assert_whole(app)
