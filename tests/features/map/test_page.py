"""Map, headless: what it shows is the model's, an old map is never taken for a new one."""

from __future__ import annotations

import base64
import io
import json
import re
import time
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
from sklearn.metrics import silhouette_score
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.neighbors import NearestNeighbors
from streamlit.delta_generator import DeltaGenerator
from streamlit.testing.v1 import AppTest

from components.content.wording import escape
from components.core import BUNDLED_ID, EncoderService
from components.features.map.drawing import Picture
from components.features.map.request import PAGE, PANELS
from components.maps import honesty, layer_maps
from components.maps.projection import MapSettings
from components.ui.state.view import DEFAULT, Sentence, ViewState
from tests.support.fields import field
from tests.support.pages import alone as alone_on
from tests.support.pages import (
    app_data,
    app_settings,
    bundled_app,
    everything_said,
    press,
    reading,
    shown_view,
)
from tests.support.pages import chart as figure_of
from tests.support.pages import framed as framed_on
from tests.support.tiny_models import build

SECONDS = 90  # for a map, on a busy machine
RUDE = '<img src=x onerror=alert(1)> **bold** $x$ :material/home: "q" {y} python'
QUICK = {"method": "pca"}  # shows at once


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory, MAX_UPLOAD_MB="1"):
        yield


def view_of(*texts: str, layer: int | None = None, **controls: Any) -> ViewState:
    """A view of this page; of sentences, where some are given."""
    own = {"source": "sentences", **controls} if texts else controls
    sentences = tuple(map(Sentence, texts)) or DEFAULT.sentences
    return replace(DEFAULT, sentences=sentences, layer=layer, controls={PAGE: own} if own else {})


def settled(app: AppTest) -> AppTest:
    """The page once nothing is drawn any more."""
    end = time.monotonic() + SECONDS
    while app.get("progress"):
        assert time.monotonic() < end, [bar.proto.text for bar in app.get("progress")]
        time.sleep(0.1)
        app = app.run()
    assert not app.exception
    return app


def framed(view: ViewState | str = DEFAULT) -> AppTest:
    return settled(framed_on(view, PAGE))


def picture(app: AppTest, slot: str = "map") -> Picture:
    """The map that is on screen, as the engine gave it."""
    drawn = app.session_state["_kept"][slot]
    assert isinstance(drawn, Picture)
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


def said(app: AppTest) -> str:
    """All that the page says, its Markdown escapes taken away."""
    return re.sub(r"\\(.)", r"\1", everything_said(app))


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


# On first sight


@pytest.mark.parametrize("open_", [framed_on, alone_on], ids=["framed", "alone"])
def test_the_page_opens_on_the_two_pythons(open_: Callable[..., AppTest]) -> None:
    app = settled(open_(DEFAULT, PAGE))
    assert_whole(app)
    own = picture(app)
    assert own.points.n_points == 32
    assert set(own.points.labels["sense"]) == {"python: animal", "python: language"}
    assert "The senses of python part at layer" in title(app)
    assert "The senses of “python” part at layer" in said(app)
    assert "of the **15** nearest in the full space" in said(app)
    np.testing.assert_array_equal(in_order(places(app)), in_order(own.coordinates[-1]))
    shown = table(app)
    np.testing.assert_array_equal(shown[["x", "y"]].to_numpy(np.float32), own.coordinates[-1])
    assert shown["word"].tolist() == ["python"] * 32
    measured = table(app, "measure").set_index("measure")["0 to 1"]
    last = own.honesty[-1]
    assert last is not None
    assert measured["trustworthiness"] == last.trustworthiness
    assert measured["recall of 15"] == last.recall


def test_the_first_map_is_the_one_that_the_analysis_draws(service: EncoderService) -> None:
    own = picture(framed())
    encodings = service.encode(BUNDLED_ID, own.points.texts)
    for row, (text, (start, end)) in enumerate(
        zip(own.points.sentence.tolist(), own.points.spans.tolist(), strict=True)
    ):
        offsets = enumerate(encodings[text].offsets.tolist())
        inside = [i for i, (a, b) in offsets if a < end and b > start]
        vector = encodings[text].hidden[:, inside].mean(axis=1)
        np.testing.assert_allclose(own.vectors[:, row], vector, atol=2e-5)
    for layer, (vectors, where) in enumerate(zip(own.vectors, own.coordinates, strict=True)):
        assert own.neighbors[layer].indices.shape == (32, 15)
        near = NearestNeighbors(n_neighbors=16, metric="cosine").fit(vectors).kneighbors()[0]
        np.testing.assert_allclose(own.neighbors[layer].distances, near[:, :15], atol=1e-5)
        known = own.neighbors[layer]
        assert own.honesty[layer] == honesty.measure(vectors, where, "cosine", neighbors=known)


def test_a_joint_map_by_pca_is_the_one_that_the_analysis_draws() -> None:
    own = picture(framed(view_of(**QUICK)))
    here = layer_maps.project_layers(own.vectors, MapSettings(method="pca"))
    np.testing.assert_allclose(own.coordinates, here.coordinates, atol=1e-5)
    assert own.honesty == here.honesty


def test_the_two_pythons_part_in_the_later_layers() -> None:
    own = picture(framed())
    senses = np.array(own.points.labels["sense"])
    on_map = [silhouette_score(places, senses) for places in own.coordinates]
    in_full = [silhouette_score(v, senses, metric="cosine") for v in own.vectors]
    for scores, margin in ((on_map, 0.2), (in_full, 0.05)):
        assert abs(scores[0]) < 0.1  # one word is the same everywhere but for its position
        assert scores[-1] > scores[1] + margin


def test_another_layer_of_the_joint_map_needs_no_new_one() -> None:
    app = framed()
    own = picture(app)
    app = field(app.slider, "map_layer").set_value(1).run()
    assert_whole(app)
    assert picture(app) is own
    assert shown_view(app).layer == 1
    np.testing.assert_array_equal(in_order(places(app)), in_order(own.coordinates[1]))
    np.testing.assert_array_equal(table(app)[["x", "y"]].to_numpy(np.float32), own.coordinates[1])


# Choices


def test_choices_are_written_into_the_address() -> None:
    app = framed(view_of(panel=PANELS[2], **QUICK))
    for kind, key, value in (
        ("button_group", "unit", "sentences"),
        ("selectbox", "source", "sentences"),
        ("selectbox", "metric", "euclidean"),
        ("selectbox", "footing", "one"),
        ("selectbox", "sentences_pooling", "cls"),
        ("selectbox", "at_most", "1000"),
        ("selectbox", "color", "sentence length in characters"),
        ("button_group", "dims", "3-D"),
        ("button_group", "effort", "full"),
        ("number_input", "neighbors", 30),
        ("number_input", "seed", 5),
        ("selectbox", "min_dist", "0.5"),
        ("text_input", "find", "python"),
    ):
        app = settled(field(getattr(app, kind), f"{PAGE}_{key}").set_value(value).run())
    assert_whole(app)
    view = shown_view(app)
    assert dict(view.controls[PAGE]) == {
        "method": "pca", "panel": PANELS[2],
        "unit": "sentences", "source": "sentences", "metric": "euclidean",
        "footing": "one", "sentences_pooling": "cls", "at_most": "1000", "dims": "3-D",
        "effort": "full", "neighbors": 30, "seed": 5, "min_dist": "0.5", "find": "python",
        "color": "sentence length in characters",
    }  # fmt: skip
    again = framed(view)
    assert picture(again).request == picture(app).request
    assert reading(again) == reading(app)
    np.testing.assert_array_equal(places(again), places(app))


CHOICES: dict[str, tuple[dict[str, Any], int]] = {
    "words": ({}, 18),
    "some words": ({"only": "Python, pet"}, 4),
    "first sub-token": ({"words_pooling": "first"}, 18),
    "last sub-token": ({"words_pooling": "last"}, 18),
    "tokens": ({"unit": "tokens"}, 23),
    "all tokens": ({"unit": "tokens", "special": True}, 31),
    "some tokens": ({"unit": "tokens", "only": "##bel, python"}, 4),
    "sentences": ({"unit": "sentences"}, 4),
    "own tokens": ({"unit": "sentences", "sentences_pooling": "own"}, 4),
    "cls": ({"unit": "sentences", "sentences_pooling": "cls"}, 4),
    "max": ({"unit": "sentences", "sentences_pooling": "max"}, 4),
    "pooler": ({"unit": "sentences", "sentences_pooling": "pooler"}, 4),
    "Euclidean": ({"metric": "euclidean"}, 18),
    "one layer": ({"footing": "one", "layer": 2}, 18),
    "3-D": ({"dims": "3-D"}, 18),
    "one layer in 3-D": ({"dims": "3-D", "footing": "one"}, 18),
    "t-SNE": ({"method": "tsne", "neighbors": 5}, 18),
    "UMAP": ({"method": "umap", "neighbors": 5}, 18),
}
TEXTS = (
    "I love my pet python",
    "My python sleeps, unbelievably",
    "I love coding in python quickly",
    "The snake sleeps",
)


@pytest.mark.parametrize("name", CHOICES)
def test_every_choice_is_drawn(name: str) -> None:
    controls, n = CHOICES[name]
    app = framed(view_of(*TEXTS, **{**QUICK, **controls}))
    assert_whole(app)
    own = picture(app)
    assert own.points.n_points == n == len(table(app))
    assert places(app).shape[1] == own.request.settings.n_components
    np.testing.assert_array_equal(in_order(places(app)), in_order(own.coordinates[-1]))
    assert own.method == (own.request.settings.method if n >= 15 else "pca")
    assert len(own.layers) == (1 if own.request.footing == "one" else 7)
    if name == "pooler":
        assert "The pooler's output has no layers" in said(app)
    if "3-D" in name:
        assert "choose 2-D for the lasso" in said(app)


def test_a_search_rings_what_it_finds() -> None:
    app = framed(view_of(panel=PANELS[2], **QUICK))
    app = settled(field(app.text_input, f"{PAGE}_find").set_value("hot-water").run())
    assert_whole(app)
    assert "**1** found, ringed on the map." in said(app)
    ring = next(t for t in figure_of(app, "map_chart")["data"] if t.get("name") == "Found")
    own = picture(app)
    wanted = [i for i, t in enumerate(own.points.sentence) if "hot-water" in own.points.texts[t]]
    assert values(ring["x"]).tolist() == own.coordinates[-1][wanted, 0].tolist()
    app = settled(field(app.text_input, f"{PAGE}_find").set_value("no such thing").run())
    assert "**0** found: try another word." in said(app)


# Points


def test_a_clicked_point_shows_its_true_neighbours(files: dict[str, Any]) -> None:
    app = click(framed(view_of(layer=3, **QUICK)), 7)
    assert_whole(app)
    assert shown_view(app).control(PAGE, "point", -1) == 7
    arrays = arrays_in(files["map.npz"]())
    vectors = arrays["vectors"]
    np.testing.assert_array_equal(vectors, picture(app).vectors[3])
    distances, rows = (
        NearestNeighbors(n_neighbors=11, metric="cosine").fit(vectors).kneighbors(vectors[7:8])
    )
    true, drawn = near_tables(app)
    assert true["sentence"].tolist() == [str(arrays["texts"][i]) for i in rows[0, 1:]]
    np.testing.assert_allclose(true["cosine"], 1 - distances[0, 1:], atol=1e-5)
    on_map = NearestNeighbors(n_neighbors=11).fit(arrays["coordinates"])
    near = on_map.kneighbors(arrays["coordinates"][7:8])[1][0, 1:]
    assert set(drawn["sentence"]) == {str(arrays["texts"][i]) for i in near}
    cosines = cosine_similarity(vectors)[7]
    expected = {str(arrays["texts"][i]): cosines[i] for i in near}
    for text, cosine in zip(drawn["sentence"], drawn["cosine"], strict=True):
        assert cosine == pytest.approx(expected[text], abs=1e-5)
    kept = len(set(near) & set(rows[0, 1:]))
    assert (true[""] == "✓").sum() == (drawn[""] == "✓").sum() == kept
    assert f"**{kept}** of its 10 nearest in the full space" in said(app)
    app = settled(press(app, "map_let_go"))
    assert "Click a point to see" in said(app)


def test_two_pinned_points_have_their_exact_cosine() -> None:
    app = press(click(framed(view_of(layer=4, **QUICK)), 2), "map_pin_a")
    assert "Pin a second point" in said(app)
    app = settled(press(click(app, 20), "map_pin_b"))
    assert_whole(app)
    vectors = picture(app).vectors[4]
    cosine = cosine_similarity(vectors[[2]], vectors[[20]])[0, 0]
    assert f"have a cosine of **{cosine:.2f}** in the full space at layer 4" in said(app)
    assert shown_view(app).control(PAGE, "pin_a", -1) == 2
    again = framed(shown_view(app))
    assert f"have a cosine of **{cosine:.2f}** in the full space at layer 4" in said(again)
    app = press(app, "map_unpin")
    assert "have a cosine of" not in said(app)


def test_marks_do_not_count_for_other_points() -> None:
    app = click(framed(view_of(**QUICK)), 7)
    app = settled(field(app.selectbox, f"{PAGE}_word").set_value("bank").run())
    assert_whole(app)
    assert "Click a point to see" in said(app)
    app = settled(field(app.selectbox, f"{PAGE}_word").set_value("python").run())
    assert "of its 10 nearest in the full space" in said(app)


def test_what_is_drawn_around_is_listed(files: dict[str, Any]) -> None:
    app = around(framed(view_of(**QUICK)), 3, 17, 21)
    assert_whole(app)
    own = picture(app)
    listed = next(d.value for d in app.dataframe if len(d.value) == 3)
    texts = [own.points.texts[own.points.sentence[i]] for i in (3, 17, 21)]
    assert listed["sentence"].tolist() == texts
    content = files["map-selection.csv"]()
    rows = pd.read_csv(io.BytesIO(content), comment="#")
    assert rows["sentence"].tolist() == texts
    assert rows["sense"].tolist() == [own.points.labels["sense"][i] for i in (3, 17, 21)]
    assert "**3** of 32 words are selected" in said(app)
    app = press(app, "map_clear")
    assert "are selected" not in said(app)


# How far to trust it


def test_the_figure_is_made_anew_only_where_it_would_be_another() -> None:
    def drawn(app: AppTest) -> Any:
        return app.session_state["_kept"]["map_chart_figure"][1][0]

    app = framed(view_of(**QUICK))
    first = drawn(app)
    app = settled(field(app.button_group, f"{PAGE}_panel").set_value(PANELS[2]).run())
    assert drawn(app) is first
    app = around(app, *range(20))
    assert "**20** of 32 words" in said(app)
    assert drawn(app) is first  # 20 points are too many for trails
    app = around(app, 3, 17)
    trails = drawn(app)
    assert trails is not first
    app = settled(field(app.selectbox, f"{PAGE}_color").set_value("part of text").run())
    assert drawn(app) is not trails
    assert places(app).shape[0] == picture(app).points.n_points


def test_two_more_seeds_are_drawn_when_asked_for() -> None:
    app = settled(press(framed(), "map_check"))
    assert_whole(app)
    assert not [b for b in app.button if b.key == "map_check"]
    assert "seed" in " ".join(caption.value for caption in app.caption)
    app = settled(press(framed(view_of(**QUICK)), "map_check"))
    assert_whole(app)


# Two maps


@pytest.mark.parametrize(
    ("beside", "control", "value"),
    [("layer", "other_layer", 2), ("seed", "other_seed", 9), ("method", "other_method", "tsne")],
)
def test_two_maps_stand_side_by_side(beside: str, control: str, value: Any) -> None:
    app = framed(view_of(beside=beside, **QUICK, **{control: value}))
    assert_whole(app)
    own, other = picture(app), picture(app, "map_other")
    if beside == "layer":
        assert other is own
    if beside == "seed":
        assert other.request.settings == replace(own.request.settings, seed=9)
    if beside == "method":
        assert other.method == "tsne"
        assert len(in_order(places(app, "map_chart_other"))) == 32
    row = 2 if beside == "layer" else 6
    there = in_order(places(app, "map_chart_other"))
    np.testing.assert_array_equal(there, in_order(other.coordinates[row]))
    np.testing.assert_array_equal(in_order(places(app)), in_order(own.coordinates[6]))


def test_what_is_drawn_around_in_one_map_is_marked_in_the_other() -> None:
    app = framed(view_of(beside="layer", other_layer=1, **QUICK))
    assert not marked_in(app, "map_chart_other")
    app = around(app, 3, 17, 21)
    assert_whole(app)
    own = picture(app).coordinates[1]
    assert marked_in(app, "map_chart_other") == {tuple(own[i].tolist()) for i in (3, 17, 21)}


def test_what_is_drawn_around_in_the_other_map_is_marked_in_this_one() -> None:
    app = framed(view_of(beside="seed", other_seed=3, layer=2, **QUICK))
    app = around(app, 5, 30, key="map_chart_other")
    assert_whole(app)
    own = picture(app).coordinates[2]
    assert marked_in(app, "map_chart") == {tuple(own[i].tolist()) for i in (5, 30)}


def marked_in(app: AppTest, key: str) -> set[tuple[float, ...]]:
    """Where the points are that do not fade."""
    return {
        (float(values(trace["x"])[i]), float(values(trace["y"])[i]))
        for trace in figure_of(app, key)["data"]
        if "hovertext" in trace
        for i in values(trace.get("selectedpoints") or []).astype(int)
    }


# An old map is said to be one


LONG = {"every_word": True, "at_most": "50000", "method": "tsne"}


def go(app: AppTest, view: ViewState) -> AppTest:
    """The same visit on another view, as after a link."""
    from components.ui.state.address import encode

    app.query_params["s"] = encode(view)
    return app.run()


def test_until_a_map_is_drawn_the_old_one_is_shown_as_such() -> None:
    app = click(framed(view_of(**QUICK)), 7)
    old, shown = picture(app), table(app)
    app = settled(go(app, view_of(**LONG)))
    assert not app.error
    assert picture(app) is old
    warning = re.sub(r"\\(.)", r"\1", app.warning[0].value)
    assert "This is the map drawn before" in warning
    assert "words · all layers · PCA" in warning
    assert "Since then you changed which words, how many points, the map's settings." in warning
    assert re.search(r"It would take about \*\*.+\*\* and \*\*[\d,]+ MB\*\*", said(app))
    pd.testing.assert_frame_equal(table(app), shown)
    np.testing.assert_array_equal(in_order(places(app)), in_order(old.coordinates[-1]))
    assert "The senses of “python” part at layer" in reading(app)
    # Begun, it can be stopped.
    app = app.button(key="map_draw").click().run()
    assert app.get("progress")
    assert "This is the map drawn before" in said(app)
    app = app.button(key="map_progress_cancel").click().run()
    app = settled(app)
    assert "This map was stopped. It would take about" in said(app)
    assert picture(app) is old
    pd.testing.assert_frame_equal(table(app), shown)
    # What is drawn has no such mark.
    app = settled(go(app, view_of(metric="euclidean", **QUICK)))
    assert_whole(app)
    assert picture(app) is not old
    assert "drawn before" not in said(app)


def test_a_map_that_cannot_be_drawn_leaves_the_old_one() -> None:
    app = framed(view_of(*TEXTS, **QUICK))
    old = picture(app)
    app = settled(go(app, view_of(*TEXTS, only="aardvark", **QUICK)))
    assert [re.sub(r"\\(.)", r"\1", error.value) for error in app.error] == [
        "No word here is “aardvark”. Write it as in the texts, or empty the field to map them all."
    ]
    assert picture(app) is old
    assert "This is the map drawn before" in said(app)
    assert "Since then you changed which words." in said(app)
    assert [b for b in app.button if b.key == "map_again"]
    app = settled(press(app, "map_again"))
    assert len(app.error) == 1
    app = settled(go(app, view_of(*TEXTS, only="snake", **QUICK)))
    assert_whole(app)
    assert picture(app).points.names == ("snake",)


# Files


def parquet_of(columns: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


ROWS = [(text, "pet" if "snake" in text or "pet" in text else "other") for text in TEXTS]
UPLOADS = {
    "mine.txt": "\n".join(TEXTS).encode(),
    "mine.csv": ("text,kind\n" + "\n".join(f'"{t}",{k}' for t, k in ROWS)).encode(),
    "mine.parquet": parquet_of({"text": [t for t, _ in ROWS], "kind": [k for _, k in ROWS]}),
}


def upload(app: AppTest, name: str, content: bytes) -> AppTest:
    own = field(app.file_uploader, "map_upload")
    return settled(own.set_value((name, content, "application/octet-stream")).run())


@pytest.mark.parametrize("name", UPLOADS)
def test_a_file_is_shown_first_and_then_mapped(name: str) -> None:
    app = framed(view_of(source="file", **QUICK))
    assert not app.error
    assert "map_chart" not in [e.proto.id.rpartition("-")[2] for e in app.get("plotly_chart")]
    app = upload(app, name, UPLOADS[name])
    assert not app.error
    assert f"**{escape(name)}**" in everything_said(app)
    head = next(d.value for d in app.dataframe if len(d.value) == 4)
    assert TEXTS[0] in head.to_numpy()
    app = settled(press(app, "map_use"))
    assert_whole(app)
    assert picture(app).corpus.texts == TEXTS
    assert picture(app).points.unit == "sentences"
    if name != "mine.txt":
        assert picture(app).points.labels["kind"] == tuple(kind for _, kind in ROWS)
    again = framed(shown_view(app))
    assert picture(again).request == picture(app).request


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("mine.csv", b"", "mine.csv is empty. Give a file with at least one sentence."),
        ("mine.parquet", b"PAR1 nothing", "mine.parquet"),
        ("mine.txt", b"  \n", "mine.txt holds nothing but blanks."),
        ("mine.jsonl", b"{", "mine.jsonl"),
    ],
)
def test_a_file_that_cannot_be_read_is_said_and_the_old_map_stays(
    name: str, content: bytes, sentence: str
) -> None:
    app = upload(framed(view_of(source="file", **QUICK)), "mine.csv", UPLOADS["mine.csv"])
    app = settled(press(app, "map_use"))
    old, shown = picture(app), places(app)
    app = upload(app, name, content)
    assert not app.error
    assert any(sentence in re.sub(r"\\(.)", r"\1", w.value) for w in app.warning)
    assert picture(app) is old
    np.testing.assert_array_equal(places(app), shown)
    assert "drawn before" not in said(app)


def test_a_sample_of_a_large_file_is_said() -> None:
    content = "\n".join(f"sentence number {i}" for i in range(1_200)).encode()
    controls = {**QUICK, "at_most": "1000", "footing": "one", "layer": 1}
    app = upload(framed(view_of(source="file", **controls)), "mine.txt", content)
    app = settled(press(app, "map_use"))
    assert_whole(app)
    assert "mine.txt: **1,000** sentences · from 1,000 of 1,200 texts, chosen at random" in said(
        app
    )
    assert len(set(picture(app).points.texts)) == 1_000


def test_a_column_without_text_is_said_and_another_can_be_chosen() -> None:
    content = UPLOADS["mine.csv"].replace(b"\n", b",\n").replace(b"kind,", b"kind,nothing")
    app = upload(framed(view_of(source="file", **QUICK)), "mine.csv", content)
    app = settled(app.selectbox(key="map_pending_text").set_value("nothing").run())
    app = settled(press(app, "map_use"))
    assert "nothing has no text in any of its 4 rows. Choose another column" in said(app)
    app = settled(app.selectbox(key="map_pending_text").set_value("text").run())
    app = settled(press(app, "map_use"))
    assert_whole(app)
    assert picture(app).corpus.texts == TEXTS


def test_a_file_that_is_no_longer_here_is_asked_for_by_name() -> None:
    app = framed(view_of(source="file", file="0" * 32, file_name="my <b>corpus</b>.csv", **QUICK))
    assert not app.error
    assert "This view maps “my <b>corpus</b>.csv”, which this server does not have" in said(app)
    assert "<b>corpus" not in everything_said(app)


def test_going_to_a_file_keeps_the_last_map_as_an_old_one() -> None:
    app = framed(view_of(*TEXTS, **QUICK))
    old = picture(app)
    app = settled(field(app.selectbox, f"{PAGE}_source").set_value("file").run())
    assert picture(app) is old
    assert "This is the map drawn before" in said(app)
    assert "What you chose has not been mapped yet." in said(app)


# Inputs


@pytest.mark.parametrize("unit", ["words", "tokens", "sentences"])
@pytest.mark.parametrize(
    "texts",
    [("hello",), ("a python",), ("I love my pet python",) * 8, ("🐍 python",), (RUDE, RUDE)],
    ids=["one word", "two words", "identical", "emoji", "rude"],
)
def test_few_points_are_drawn_by_pca_and_the_reason_is_said(
    texts: tuple[str, ...], unit: str
) -> None:
    app = framed(view_of(*texts, unit=unit, neighbors=5))
    assert_whole(app)
    own = picture(app)
    if own.points.n_points < 15:
        assert own.method == "pca"
        assert "PCA was drawn: UMAP needs at least 15 points" in said(app)
    assert np.isfinite(own.coordinates).all()
    assert "<img" not in everything_said(app).replace(r"\<img", "")
    assert "<img" not in json.dumps(figure_of(app, "map_chart"))


def test_text_of_a_file_is_never_taken_for_html() -> None:
    cells = [f"{RUDE} {i}" for i in range(20)]
    content = parquet_of(
        {RUDE: cells, "<b>kind</b>": [f"<script>{i % 2}</script>" for i in range(20)]}
    )
    app = upload(framed(view_of(source="file", **QUICK)), "<img src=y>.parquet", content)
    app = settled(press(app, "map_use"))
    assert_whole(app)
    app = settled(press(click(app, 3), "map_pin_a"))
    app = settled(press(click(app, 4), "map_pin_b"))
    app = around(app, 3, 5)
    app = settled(field(app.text_input, f"{PAGE}_find").set_value("<img").run())
    assert_whole(app)
    assert "**20** found" in said(app)
    for tag in ("<img", "<script", "<b>kind"):
        assert tag not in everything_said(app).replace(f"\\{tag}", "")
        assert tag not in json.dumps(figure_of(app, "map_chart"))


def test_empty_sentences_are_said() -> None:
    app = framed(view_of("", "  ", **QUICK))
    assert not app.exception
    assert "Your sentences are empty" in said(app)


@pytest.mark.parametrize(
    "controls",
    [
        {"source": "nowhere", "unit": "letters", "footing": "all", "method": "tarot"},
        {"source": 1, "unit": True, "neighbors": -5, "seed": 2**53, "min_dist": "nan"},
        {"method": "pca", "point": 2**53, "pin_a": -7, "marks_of": "x", "color": "no such"},
        {"method": "pca", "beside": "nothing", "dims": "9-D", "at_most": "1e9", "find": " "},
        {"method": "pca", "beside": "layer", "other_layer": 999},
        {"method": "pca", "beside": "seed", "other_seed": -1},
        {"method": "pca", "beside": "method", "other_method": "pca"},
    ],
    ids=str,
)
def test_broken_controls_from_an_address_mean_the_defaults(controls: dict[str, Any]) -> None:
    app = framed(replace(DEFAULT, controls={PAGE: controls}, layer=77))
    assert_whole(app)
    assert picture(app).points.n_points == 32


# Downloads


def test_the_files_hold_the_numbers_on_the_page(files: dict[str, Any]) -> None:
    app = framed(view_of(layer=2, **QUICK))
    own, shown = picture(app), table(app)
    arrays = arrays_in(files["map.npz"]())
    np.testing.assert_array_equal(arrays["vectors"], own.vectors[2])
    np.testing.assert_array_equal(arrays["coordinates"], own.coordinates[2])
    np.testing.assert_array_equal(arrays["all_vectors"], own.vectors)
    np.testing.assert_array_equal(arrays["all_coordinates"], own.coordinates)
    np.testing.assert_array_equal(arrays["neighbor_indices"], own.neighbors[2].indices)
    assert arrays["layers"].tolist() == list(range(7))
    assert arrays["texts"].tolist() == list(own.points.texts)
    assert arrays["names"].tolist() == list(own.points.names)
    passport = json.loads(str(arrays["passport"]))
    assert passport["settings"]["map"]["method"] == "pca"
    assert passport["settings"]["corpus"] == "Ambiguous words"
    written = pd.read_csv(io.BytesIO(files["map.csv"]()), comment="#", keep_default_na=False)
    assert written.columns.tolist() == shown.columns.tolist()
    np.testing.assert_allclose(written[["x", "y"]], own.coordinates[2], rtol=1e-6)
    assert written["sentence"].tolist() == shown["sentence"].tolist()


# Other models


def test_another_model_s_map_stands_beside_and_is_linked(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    build("distilbert", tmp_path / "distilbert")
    data = str(app_data(tmp_path_factory))
    with app_settings(DATA_DIR=data, ALLOW_DOWNLOADS="0", MODEL_FOLDERS=str(tmp_path)):
        view = view_of(beside="model", other_model="folder:distilbert", layer=1, **QUICK)
        app = around(framed(view), 3, 17)
        assert_whole(app)
        other = picture(app, "map_other")
        assert other.request.model == "folder:distilbert"
        assert other.points.spans.tolist() == picture(app).points.spans.tolist()
        row = other.index_of(1)
        expected = {tuple(other.coordinates[row, i].tolist()) for i in (3, 17)}
        assert marked_in(app, "map_chart_other") == expected

        controls = {"unit": "sentences", "sentences_pooling": "pooler", **QUICK}
        app = framed(replace(view_of(*TEXTS, **controls), model="folder:distilbert"))
        assert not app.exception
        assert len(app.error) == 1
        assert "This model has no pooler, so there is no pooler output to map" in said(app)
        app = settled(field(app.selectbox, f"{PAGE}_sentences_pooling").set_value("cls").run())
        assert_whole(app)
