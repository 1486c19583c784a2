"""The map that was asked for is shown, and an old map is never taken for a new one."""

from __future__ import annotations

import io
import json
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from contextlens.features.map.controls import FIND_SELECT, PAGE, TRUST
from contextlens.ui.corpora.controls import EXACT
from contextlens.ui.state.address import encode
from contextlens.ui.state.view import DEFAULT, ViewState
from tests.features.map.page.headless import (
    assert_whole,
    click,
    framed,
    in_order,
    picture,
    places,
    shared,
)
from tests.support.fields import field
from tests.support.maps import QUICK, TEXTS, map_view
from tests.support.pages import (
    alone,
    plainly_said,
    press,
    said,
    send,
    settled,
    shown_view,
    to_layer,
)
from tests.support.pages import chart as figure_of


def table(app: AppTest, column: str = "sentence length in characters") -> pd.DataFrame:
    """The table with this column; by default that of all points."""
    return next(d.value for d in app.dataframe if column in d.value.columns)


def go(app: AppTest, view: ViewState) -> AppTest:
    """The same visit on another view, as after a link."""
    app.query_params["s"] = encode(view)
    return app.run()


# On first sight


@pytest.mark.slow
def test_the_page_opens_on_the_two_pythons() -> None:
    app = framed(DEFAULT)
    app = settled(field(app.button_group, f"{PAGE}_panel").set_value(TRUST).run())
    assert_whole(app)
    own = picture(app)
    assert own.points.n_points == 32
    assert own.map.method == "umap"
    assert set(own.points.labels["sense"]) == {"python: animal", "python: language"}
    assert said(app).startswith(
        "Each dot is a sentence with **python**. The model sorts **30 of 32** right"
    )
    assert "Layer 6 separates the senses of “python” best" in plainly_said(app)
    assert "Ambiguous words: **32** uses of words" in plainly_said(app)
    np.testing.assert_array_equal(in_order(places(app)), in_order(own.map.coordinates[-1]))
    shown = table(app)
    np.testing.assert_array_equal(shown[["x", "y"]].to_numpy(np.float32), own.map.coordinates[-1])
    assert shown["word"].tolist() == ["python"] * 32
    measured = table(app, "measure").set_index("measure")["0 to 1"]
    last = own.map.quality[-1]
    assert last is not None
    assert measured["trustworthiness"] == last.trustworthiness
    assert measured["recall of 15"] == last.recall


def test_alone_the_page_shows_what_it_shows_framed(files: dict[str, Any]) -> None:
    app = settled(alone(map_view(**QUICK), PAGE))
    assert_whole(app)
    own = picture(app)
    app = to_layer(app, 1)
    assert_whole(app)
    assert picture(app) is own  # another layer of the map needs no new one
    assert shown_view(app).layer == 1
    np.testing.assert_array_equal(in_order(places(app)), in_order(own.map.coordinates[1]))
    with np.load(io.BytesIO(files["map.npz"]()), allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["coordinates"], own.map.coordinates[1])
        passport = json.loads(str(arrays["passport"]))
    assert passport["settings"]["map"]["method"] == "pca"
    assert passport["settings"]["corpus"] == "Ambiguous words"
    shown = table(app)
    written = pd.read_csv(io.BytesIO(files["map.csv"]()), comment="#", keep_default_na=False)
    assert written.columns.tolist() == shown.columns.tolist()
    np.testing.assert_allclose(written[["x", "y"]], own.map.coordinates[1], rtol=1e-6)
    assert written["sentence"].tolist() == shown["sentence"].tolist()


# Choices


def test_choices_are_written_into_the_address() -> None:
    first = {
        "unit": ("button_group", "sentences"),
        "metric": ("selectbox", "euclidean"),
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
    app = settled(field(app.selectbox, "map_collection").set_value("sentences").run())
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
    assert "These vectors come from the last layer only" in plainly_said(app)
    assert "The lasso works in 2-D only" in plainly_said(app)
    field(app.selectbox, f"{PAGE}_at_most").set_value("2000")  # here the default, but not for all
    assert shown_view(settled(app.run())).controls[PAGE]["at_most"] == "2000"


def test_without_webgl_a_map_in_space_is_flat_and_says_so() -> None:
    app = framed(map_view(dims="3-D", **QUICK))
    assert picture(app).map.coordinates.shape[2] == 3
    app = settled(send(app, "map_webgl", "none"))
    assert_whole(app)
    assert picture(app).map.coordinates.shape[2] == 2
    assert "no WebGL, which 3-D needs" in plainly_said(app)
    assert shown_view(app).controls[PAGE]["dims"] == "3-D"  # a copied link keeps the choice


def test_a_group_keeps_the_name_that_a_visitor_gave_it() -> None:
    texts = [f"{w} {i} {i % 7}" for w in ("My python ate", "A script ran") for i in range(40)]
    digest = shared("mine.txt", "\n".join(texts).encode())
    app = framed(map_view(source="file", file=digest, unit="sentences", **QUICK))
    assert_whole(app)
    field_of = next(f for f in app.text_input if (f.key or "").startswith("map_group_1"))
    app = settled(field_of.set_value("Pets; <b>all</b> of them and more").run())
    assert_whole(app)
    notes = figure_of(app, "map_chart")["layout"]["annotations"]
    assert any("Pets, &lt;b&gt;all&lt;/b&gt; of them" in note["text"] for note in notes)
    packed = shown_view(app).controls[PAGE]["group_names"]
    assert len(packed) <= 200
    again = framed(shown_view(app))  # as a reload does
    assert figure_of(again, "map_chart")["layout"]["annotations"] == notes
    field_of = next(f for f in app.text_input if (f.key or "").startswith("map_group_1"))
    app = settled(field_of.set_value("").run())
    assert "group_names" not in shown_view(app).controls[PAGE]


def test_few_points_are_drawn_by_pca_and_the_reason_is_said() -> None:
    app = framed(map_view("a python", neighbors=5))
    assert_whole(app)
    assert picture(app).map.method == "pca"
    assert "PCA was drawn: UMAP needs at least 15 points" in plainly_said(app)


def test_a_sample_of_many_texts_is_said() -> None:
    content = "\n".join(f"{i} and so on and on in many words as before" for i in range(150))
    digest = shared("mine.txt", content.encode())
    controls = {"source": "file", "file": digest, "unit": "tokens", "at_most": "1000"}
    app = framed(map_view(**controls, footing="one", layer=1, **QUICK))
    assert_whole(app)
    assert "mine.txt: **1,000** tokens · from " in plainly_said(app)
    assert re.search(r"from \d+ of 150 texts at random, to stay within", plainly_said(app))


# How far to trust it


def test_two_more_seeds_are_drawn_when_asked_for() -> None:
    app = settled(press(framed(map_view(panel=TRUST, **QUICK)), "map_check"))
    assert_whole(app)
    assert not [b for b in app.button if b.key == "map_check"]
    assert "Between maps drawn from 3 random starts, points keep" in plainly_said(app)


# An old map is said to be one


LONG = {"every_word": True, "at_most": "50000", "method": "tsne"}


def test_until_a_map_is_drawn_the_old_one_is_shown_as_such() -> None:
    app = click(framed(map_view(**QUICK)), 7)
    old, shown = picture(app), table(app)
    app = settled(go(app, map_view(**LONG)))
    assert not app.error
    assert picture(app) is old
    assert "This is the old map" in plainly_said(app)
    assert "Drawing this map takes about **" in plainly_said(app)
    pd.testing.assert_frame_equal(table(app), shown)
    np.testing.assert_array_equal(in_order(places(app)), in_order(old.map.coordinates[-1]))
    assert "Layer 6 separates the senses of “python” best" in plainly_said(app)
    # Begun, it can be stopped.
    app = app.button(key="map_progress_begin").click().run()
    assert app.get("progress")
    assert "Drawing your new map. The old one stays until it is ready." in plainly_said(app)
    app = app.button(key="map_progress_cancel").click().run()
    app = settled(app)
    assert "This map was stopped. Drawing this map takes about" in plainly_said(app)
    assert picture(app) is old
    pd.testing.assert_frame_equal(table(app), shown)
    # What is drawn has no such mark.
    app = settled(go(app, map_view(metric="euclidean", **QUICK)))
    assert_whole(app)
    assert picture(app) is not old
    assert "old map" not in plainly_said(app)


def test_a_map_that_cannot_be_drawn_leaves_the_old_one() -> None:
    app = framed(map_view(*TEXTS, **QUICK))
    old = picture(app)
    app = settled(go(app, map_view(*TEXTS, only="aardvark", **QUICK)))
    assert [re.sub(r"\\(.)", r"\1", error.value) for error in app.error] == [
        "No word here is “aardvark”. Write it as in the texts, or empty the field to map them all."
    ]
    assert picture(app) is old
    assert "This is the old map" in plainly_said(app)
    assert [b for b in app.button if b.key == "map_progress_again"]
    app = settled(go(app, map_view(*TEXTS, only="snake", **QUICK)))
    assert_whole(app)
    assert picture(app).points.names == ("snake",)


def test_full_precision_where_texts_are_read_exactly_keeps_the_map() -> None:
    app = framed(map_view(*TEXTS, unit="sentences", **QUICK))
    again = framed(EXACT.put(shown_view(app), True))
    assert picture(again) is picture(app)
    assert EXACT.of(shown_view(again))
