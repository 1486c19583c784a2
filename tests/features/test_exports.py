"""Exports of other tools on the pages: what is guessed, its example row, and how to refuse it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from contextlens.content.language import say
from contextlens.ui.corpora.controls import COLLECTION
from contextlens.ui.state.view import DEFAULT
from tests.support.fields import field as field_of
from tests.support.pages import bundled_app, framed, plainly_said, press, settled
from tests.support.workbooks import excel


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory, MAX_UPLOAD_MB="1"):
        yield


def upload(app: AppTest, page: str, name: str, content: bytes) -> AppTest:
    own = field_of(app.file_uploader, f"{page}_upload")
    app = settled(own.set_value((name, content, "application/octet-stream")).run())
    assert not app.exception
    return app


def opened(page: str) -> AppTest:
    if page == "corpora":
        return press(settled(framed(DEFAULT, page)), "corpora_add")
    return settled(framed(COLLECTION.put(DEFAULT, "file"), page))


TEXTS = [
    *("🎉🎉 Our python ate a mouse", "She wrote it in python", "A python slept"),
    "x " * 600 + "python",
]
TASKS = [
    {"id": i, "data": {"text": text}, "predictions": [], "annotations": [
        {"was_cancelled": False, "completed_by": 1, "result": [
            {"type": "labels", "from_name": "label", "value": {
                "start": len(text[: text.index("python")].encode("utf-16-le")) // 2,
                "end": len(text[: text.index("python") + 6].encode("utf-16-le")) // 2,
                "text": "python", "labels": ["animal" if i % 2 else "language"]}}]}]}
    for i, text in enumerate(TEXTS)
]  # fmt: skip


def test_texts_shows_what_label_studio_marks_and_reads_the_file_as_it_is_if_told_so() -> None:
    app = upload(opened("corpora"), "corpora", "tasks.json", json.dumps(TASKS).encode())
    said = plainly_said(app)
    assert "Guessed kind of file: Label Studio." in said
    assert "mark a word in each text, such as “python” in row 1" in said
    assert "Places count UTF-16 units" in said
    assert "1 of 4 marked words lies beyond token 512" in said
    assert not [text for frame in app.dataframe for text in frame.value.to_numpy().ravel()
                if str(text).startswith(("{", "["))]  # fmt: skip
    plain = next(b for b in app.button if (b.key or "").startswith("files_plain_"))
    app = settled(plain.click().run())
    assert "Guessed kind of file" not in plainly_said(app)
    assert "JSON, UTF-8 · 4 rows" in plainly_said(app)


def test_map_takes_subtitles_and_says_what_it_left_out() -> None:
    cue = "{0}\n00:00:0{0},000 --> 00:00:0{0},900\nThe bank shut {0} times.\n"
    cues = "\n".join(cue.format(i) for i in range(1, 7))
    app = upload(opened("map"), "map", "film.srt", cues.encode())
    assert "subtitles, UTF-8 · 6 rows" in plainly_said(app)
    assert "Not read: “times”." in plainly_said(app)
    app = settled(press(app, "map_use"))
    assert not app.exception
    assert not app.error


def test_pairs_counts_the_anchors_that_are_nearer_to_their_positive() -> None:
    rows = ["A man plays a guitar,Someone plays music,A woman cuts bread",
            "A dog runs,A puppy is running,The moon is full",
            "It rains,The streets are wet from rain,He reads a novel"]  # fmt: skip
    content = "\n".join(["anchor,positive,negative", *rows]).encode()
    app = upload(opened("pairs"), "pairs", "triplets.csv", content)
    box = next(own for own in app.checkbox if (own.key or "").startswith("pairs_triplets_"))
    assert "“A woman cuts bread” for “A man plays a guitar” in row 1" in box.label
    app = settled(press(app, "pairs_use"))
    assert not app.exception
    assert "nearer to its positive in **3 of 3**, 100%" in plainly_said(app)
    assert say("pairs.triplets.guessing") in plainly_said(app)


@pytest.mark.parametrize("name", ["survey.docx", "paper.pdf", "data.sav"])
def test_documents_are_refused_with_the_way_out(name: str) -> None:
    app = upload(opened("map"), "map", name, b"%PDF-1.7 or the like")
    assert "and give that file." in plainly_said(app)


def click(app: AppTest, key: str) -> AppTest:
    button = next(b for b in app.button if (b.key or "").startswith(key))
    app = settled(button.click().run())
    assert not app.exception
    return app


def test_several_labels_in_a_cell_are_said_and_a_click_makes_columns_of_them() -> None:
    rows = ["The soup was cold,food;time", "They sang again,music", "We left too late,time",
            "The band ate with us,music;food", "good bread,Food", "Nothing else,food",
            "Soup again,food"]  # fmt: skip
    content = "\n".join(["text,label", *rows]).encode()
    app = upload(opened("corpora"), "corpora", "days.csv", content)
    said = plainly_said(app)
    assert "cells of “label” hold several labels, such as food, time in row 1" in said
    assert "“Food” in row 5, “food” elsewhere" in said
    app = click(app, "files_join_")
    assert "1 label was written as the commonest spelling" in plainly_said(app)
    app = click(app, "files_split_")
    assert "3 labels became columns of yes and no." in plainly_said(app)
    assert "label: music" in app.dataframe[0].value.columns


def test_title_rows_are_said_and_can_be_read_as_rows_and_a_sheet_can_be_chosen() -> None:
    data = [["Guests of May", None], ["text", "label"], *([f"Day {i} was long", "ab"[i % 2]]
            for i in range(6))]  # fmt: skip
    content = excel({"Notes": [["by Ann"]], "Data": data})
    app = upload(opened("corpora"), "corpora", "may.xlsx", content)
    assert "Only the sheet “Notes” was read, one of 2." in plainly_said(app)
    choice = next(box for box in app.selectbox if (box.key or "").startswith("files_sheet_"))
    app = settled(choice.select_index(1).run())
    assert not app.exception
    said = plainly_said(app)
    assert "Excel · 6 rows" in said
    assert "1 row above the names of the columns was left out, guessed: “Guests of May”." in said
    app = click(app, "files_plain_")
    assert "7 rows" in plainly_said(app)
    assert "“Data” was read" in plainly_said(app)


def test_what_most_annotators_say_is_one_click_away_and_back() -> None:
    def annotated(*moods: str) -> list[dict[str, object]]:
        return [{"completed_by": i, "result": [
            {"type": "choices", "from_name": "mood", "value": {"choices": [mood]}}]}
            for i, mood in enumerate(moods)]  # fmt: skip

    votes = {"The soup was cold": ("sad", "sad", "ok"), "They sang again": ("sad", "ok")}
    tasks = [{"data": {"text": t}, "annotations": annotated(*own)} for t, own in votes.items()]
    app = upload(opened("corpora"), "corpora", "tasks.json", json.dumps(tasks).encode())
    assert say("files.people.apart") in plainly_said(app)
    app = click(app, "files_majority_")
    assert app.dataframe[0].value.to_dict("records") == [
        {"text": "The soup was cold", "mood": "sad"}]  # fmt: skip
    assert "as no answer has a majority: “They sang again”." in plainly_said(app)
    app = click(app, "files_apart_")
    assert len(app.dataframe[0].value) == 5
