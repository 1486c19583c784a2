"""A file is mapped by the columns that were chosen, and nothing else of it gets out."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from streamlit.testing.v1 import AppTest

from contextlens.core import EncoderService
from contextlens.corpus.upload_store import FileKey
from contextlens.features.map.controls import PAGE, POINT_PANEL
from contextlens.features.map.identity import name_of
from contextlens.ui.files import uploads
from contextlens.ui.files.uploads import forget_all
from contextlens.ui.state.controls import TEXTS as SHARED
from tests.features.map.page.headless import around, assert_whole, framed, picture, places, shared
from tests.support.fields import field
from tests.support.maps import QUICK, TEXTS, drawn_map, map_view
from tests.support.pages import chart as figure_of
from tests.support.pages import everything_said, plainly_said, press, settled, shown_view

RUDE = '<img src=x onerror=alert(1)> **bold** $x$ :material/home: "q" {y} python'


# Files


def parquet_of(columns: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


TWO_TEXTS = ("text,summary,kind,nothing\n" + "\n".join(
    f'"{text}","{text} so far",pet,' for text in TEXTS
)).encode()  # fmt: skip
TABLE = ("text,kind,nothing\n" + "\n".join(f'"{text}",pet,' for text in TEXTS)).encode()


def upload(app: AppTest, name: str, content: bytes) -> AppTest:
    own = field(app.file_uploader, "map_upload")
    return settled(own.set_value((name, content, "application/octet-stream")).run())


def test_a_file_without_a_doubt_is_used_at_once_and_its_columns_can_be_changed() -> None:
    app = framed(map_view(source="file", **QUICK))
    app = upload(app, "mine.csv", TABLE + b'\n" ",pet,\n')
    assert_whole(app)
    assert is_on_file(app, "mine.csv")
    assert picture(app).corpus.texts == TEXTS
    assert picture(app).corpus.labels == {"kind": ("pet",) * 4}
    said = plainly_said(app)
    assert "**mine.csv**: **4** texts from the column “text”. Label: “kind”." in said
    assert "1 row was left out: no text." in said
    app = settled(press(app, "map_change_file"))
    assert "**mine.csv** · CSV, UTF-8 · 5 rows" in plainly_said(app)
    pending(app.multiselect, "labels").set_value([]).run()
    app = settled(press(app, "map_use"))
    assert_whole(app)
    assert picture(app).corpus.labels == {}
    assert "from the column" not in plainly_said(app)


@pytest.mark.slow
def test_a_file_in_doubt_is_shown_first_and_one_that_is_broken_changes_nothing() -> None:
    app = framed(map_view(source="file", **QUICK))
    assert not app.error
    assert "map_chart" not in [e.proto.id.rpartition("-")[2] for e in app.get("plotly_chart")]
    app = upload(app, "mine.csv", TWO_TEXTS)
    assert not app.error
    assert "map_chart" not in [e.proto.id.rpartition("-")[2] for e in app.get("plotly_chart")]
    assert "**mine.csv**" in plainly_said(app)
    head = next(d.value for d in app.dataframe if len(d.value) == 4)
    assert TEXTS[0] in head.to_numpy()
    pending(app.selectbox, "text").set_value("nothing").run()
    app = settled(press(app, "map_use"))
    assert "nothing has no text in any of its 4 rows. Choose another column" in plainly_said(app)
    pending(app.selectbox, "text").set_value("text").run()
    app = settled(press(app, "map_use"))
    assert_whole(app)
    old, shown = picture(app), places(app)
    assert old.corpus.texts == TEXTS
    assert old.points.unit == "sentences"
    assert old.points.labels["kind"] == ("pet",) * 4
    assert is_on_file(app, "mine.csv")
    assert not [own for own in app.file_uploader if own.key == "map_upload"]
    app = press(app, "map_add_texts")
    app = upload(app, "broken.parquet", b"PAR1 nothing")
    assert not app.error
    assert any("broken.parquet" in re.sub(r"\\(.)", r"\1", w.value) for w in app.warning)
    assert picture(app) is old
    np.testing.assert_array_equal(places(app), shown)
    assert "old map" not in plainly_said(app)
    app = press(app, "map_keep_file")
    assert is_on_file(app, "mine.csv")
    assert picture(app) is old


def test_texts_are_pasted_and_what_is_no_text_is_said() -> None:
    app = framed(map_view(source="file", **QUICK))
    app = settled(press(app, "map_paste_use"))
    assert "There is no text yet. Paste one text per line." in plainly_said(app)
    app.text_area(key="map_paste").set_value("x" * 1_000_001).run()
    app = settled(press(app, "map_paste_use"))
    assert "at most 1 MB are read here" in plainly_said(app)
    app.text_area(key="map_paste").set_value("\n".join(("", *TEXTS, "  "))).run()
    app = settled(press(app, "map_paste_use"))
    assert_whole(app)
    assert picture(app).corpus.texts == TEXTS
    assert picture(app).points.unit == "sentences"
    assert is_on_file(app, "Pasted texts.txt")


@pytest.mark.parametrize("sent_from", ["unknown", "another page", "this page"])
def test_pasted_texts_take_the_place_of_a_file_on_its_way_and_it_is_said(sent_from: str) -> None:
    app = framed(map_view(source="file", **QUICK))
    this_page = app._finished_page_script_hash
    page = {"unknown": "", "this page": this_page}.get(sent_from, sent_from)
    sent = FileKey("test session id", "a file")
    store = uploads._store()
    store.admit(sent, "a visitor", 1_000, page=page)
    try:
        app.text_area(key="map_paste").set_value("\n".join(TEXTS)).run()
        app = settled(press(app, "map_paste_use"))
    finally:
        store.end(sent)
    assert picture(app).corpus.texts == TEXTS
    was_said = "The file that you chose before was not used" in plainly_said(app)
    assert was_said == (sent_from != "another page")
    assert not store.is_arriving(sent.visit, page)


def test_lines_pasted_from_a_spreadsheet_are_a_table() -> None:
    app = framed(map_view(source="file", **QUICK))
    table = "\n".join(f"{text}\tpet" for text in TEXTS)
    app.text_area(key="map_paste").set_value(f"text\tkind\n{table}\n").run()
    sent, store = FileKey("test session id", "a file"), uploads._store()
    store.admit(sent, "a visitor", 1_000)
    try:
        app = settled(press(app, "map_paste_use"))
    finally:
        store.end(sent)
    assert "was not used" not in plainly_said(app)  # nor are the pasted texts yet
    assert "**Pasted texts.txt** · TSV, UTF-8 · 4 rows" in plainly_said(app)
    assert pending(app.multiselect, "labels").value == ["kind"]
    app = settled(press(app, "map_use"))
    assert_whole(app)
    assert picture(app).corpus.texts == TEXTS
    assert picture(app).corpus.labels == {"kind": ("pet",) * 4}


def is_on_file(app: AppTest, name: str) -> bool:
    """True if the bar names this file."""
    menu = field(app.selectbox, "map_collection")
    return menu.value == "file" and name in menu.options


def pending(widgets: Iterable[Any], name: str) -> Any:
    """The menu of a file that is not mapped yet."""
    return next(w for w in widgets if re.fullmatch(rf"map_pending_.*_{name}", w.key or ""))


def add_second(app: AppTest, name: str, content: bytes) -> AppTest:
    own = next(w for w in app.file_uploader if w.key.startswith("files_second_"))
    return settled(own.set_value((name, content, "text/plain")).run())


def test_labels_and_their_names_come_from_two_more_files() -> None:
    app = framed(map_view(source="file", **QUICK))
    app = upload(app, "texts.txt", "\n".join((*TEXTS[:2], "", *TEXTS[2:])).encode())
    app = add_second(app, "labels.txt", b"0\n1\n")
    assert "labels.txt has 2 rows, and texts.txt has 5." in plainly_said(app)
    app = add_second(app, "labels.txt", b"0\n1\n0\n1\n1\n")
    assert "Labels come from labels.txt, joined line by line." in plainly_said(app)
    app = add_second(app, "names.txt", b"0\tpet\n1\tlanguage\n")
    assert "names.txt names the labels." in plainly_said(app)
    app = settled(press(app, "map_use"))
    assert_whole(app)
    assert picture(app).corpus.texts == TEXTS
    assert picture(app).corpus.labels == {"label": ("pet", "language", "language", "language")}


def test_other_columns_of_a_file_can_be_used() -> None:
    app = upload(framed(map_view(source="file", **QUICK)), "mine.csv", TABLE)
    assert_whole(app)
    assert picture(app).corpus.labels == {"kind": ("pet",) * 4}
    app = settled(press(app, "map_add_texts"))
    assert not [b for b in app.button if b.key == "map_columns_use"]
    app = app.multiselect(key="map_columns_labels").set_value([]).run()
    app = settled(press(app, "map_columns_use"))
    assert_whole(app)
    assert picture(app).corpus.labels == {}


SALARIES = b"text,kind,salary\n" + b"".join(
    f'"{text}",pet,{4_000 + i} secret\n'.encode() for i, text in enumerate(TEXTS)
)


def test_whoever_has_the_address_gets_the_chosen_columns_and_nothing_else_of_the_file() -> None:
    own = framed(map_view(source="file", **QUICK))
    assert "Anyone with this page's address can see and download the columns" in plainly_said(own)
    own = press(upload(own, "mine.csv", SALARIES), "map_change_file")
    pending(own.multiselect, "labels").set_value(["kind"]).run()
    own = settled(press(own, "map_use"))
    view = shown_view(own)
    own = press(own, "map_add_texts")
    assert "salary" in own.selectbox(key="map_columns_text").options
    digest = view.controls[SHARED]["file"]
    assert isinstance(digest, str)
    for more in ({}, {"text": 2, "labels": "0,1,2"}):
        columns = {SHARED: {**view.controls[SHARED], **more}}
        marks = {PAGE: {**view.controls[PAGE], "color": "salary"}}
        other = press(framed(replace(view, controls={**columns, **marks})), "map_add_texts")
        assert_whole(other)
        assert picture(other).corpus.texts == TEXTS
        assert set(picture(other).corpus.labels) == {"kind"}
        assert "Only the chosen columns are kept" in plainly_said(other)
        assert not [w for w in (*other.selectbox, *other.multiselect)
                    if str(w.key).startswith("map_columns")]  # fmt: skip
        everything = everything_said(other) + json.dumps(figure_of(other, "map_chart"))
        everything += "".join(frame.value.to_csv() for frame in other.dataframe)
        assert "secret" not in everything
        assert "salary" not in everything.replace('"color": "salary"', "")


def test_a_file_that_is_uploaded_again_after_the_server_forgot_it_is_mapped_as_before() -> None:
    own = upload(framed(map_view(source="file", **QUICK)), "mine.csv", SALARIES)
    own = press(own, "map_change_file")
    pending(own.multiselect, "labels").set_value(["salary"]).run()
    own = settled(press(own, "map_use"))
    view = shown_view(own)
    forget_all()
    other = framed(view)
    assert "This server does not have the file “mine.csv”" in plainly_said(other)
    other = upload(other, "mine.csv", SALARIES)
    assert_whole(other)
    assert set(picture(other).corpus.labels) == {"salary"}


def test_a_file_that_is_no_longer_here_is_asked_for_by_name() -> None:
    app = framed(map_view(source="file", file="0" * 32, file_name="my <b>corpus</b>.csv", **QUICK))
    assert not app.error
    assert "This server does not have the file “my <b>corpus</b>.csv”" in plainly_said(app)
    assert "<b>corpus" not in everything_said(app)


@pytest.mark.slow
def test_text_of_a_file_is_never_taken_for_html(service: EncoderService) -> None:
    columns = {
        RUDE: [f"{RUDE} {i}" for i in range(20)],
        "<b>kind</b>": [f"<script>{i % 2}</script>" for i in range(20)],
    }
    digest = shared("<img src=y>.parquet", parquet_of(columns))
    view = map_view(source="file", file=digest, unit="sentences", find="<img", **QUICK)
    marks = {"marks_of": name_of(drawn_map(service, view)), "point": 3, "pin_a": 3, "pin_b": 4}
    marked = {PAGE: {**view.controls[PAGE], **marks}}
    app = framed(replace(view, controls={**view.controls, **marked}))
    assert_whole(app)
    figure = figure_of(app, "map_chart")
    for look in (figure["layout"], *(each["layout"] for each in figure["frames"])):
        for note in (*look["annotations"], *look["shapes"]):
            note.pop("name", None)  # what a click reports, never drawn
    everything = [everything_said(app, raw=True), json.dumps(figure)]
    assert "**20** found" in plainly_said(app)
    app = settled(field(app.button_group, f"{PAGE}_panel").set_value(POINT_PANEL).run())
    assert "imilarity (cosine)" in plainly_said(app)
    everything.append(everything_said(app, raw=True))
    app = around(app, 3, 5)
    assert_whole(app)
    assert "are selected" in plainly_said(app)
    everything.append(everything_said(app, raw=True))
    for tag in ("<img", "<script", "<b>kind"):
        assert tag not in " ".join(everything).replace(f"\\{tag}", "")
