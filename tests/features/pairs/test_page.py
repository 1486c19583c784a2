"""Pairs, headless: what is there at first sight, a file, other columns, and what goes wrong."""

from __future__ import annotations

import csv
import io
import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from components.features.pairs.compute import comparing, task
from components.features.pairs.compute.bundled import bundled_pairs
from components.features.pairs.controls import COLUMNS, FILE, FILE_NAME, PAGE, PANEL, SOURCE, WRONG
from components.features.pairs.looks import marked
from components.features.pairs.page import waiting
from components.ui.files.kept import forget_all
from components.ui.models.background import jobs
from components.ui.state.view import DEFAULT, ViewState
from tests.support.fields import field
from tests.support.pages import (
    alone,
    bundled_app,
    chart,
    framed,
    offered_files,
    plainly_said,
    press,
    reading,
    settled,
    shown_view,
    to_layer,
)

SECONDS = 120
FILE_VIEW = SOURCE.put(DEFAULT, "file")
WORDS = ("python", "bank", "snake", "river", "bird", "stone", "lamp", "tree", "cup", "door")
ROWS = [
    (f"I saw the {word} today", f"The {other} is here" , word, other, label, part)
    for word in WORDS
    for other, label in ((word, "T"), (WORDS[WORDS.index(word) - 1], "F"))
    for part in ("train", "test")
]  # fmt: skip
TITLES = ("text1", "text2", "word1", "word2", "label", "split")
RUDE = '<img src=x onerror=alert(1)> **bold** $x$ :material/home: "q" {y} python'


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory, MAX_UPLOAD_MB="1"):
        yield


@pytest.fixture(autouse=True)
def _no_files() -> None:
    forget_all()


def table(rows: list[tuple[str, ...]] = ROWS, titles: tuple[str, ...] = TITLES) -> bytes:  # type: ignore[assignment]
    out = io.StringIO()
    csv.writer(out).writerows([titles, *rows])
    return out.getvalue().encode()


def opened(view: ViewState = DEFAULT) -> AppTest:
    return settled(framed(view, PAGE))


def upload(app: AppTest, name: str, content: bytes) -> AppTest:
    own = field(app.file_uploader, "pairs_upload")
    return settled(own.set_value((name, content, "application/octet-stream")).run())


def compared(content: bytes, name: str = "mine.csv") -> AppTest:
    """A file, uploaded and compared with the columns that were guessed."""
    return settled(press(upload(opened(FILE_VIEW), name, content), "pairs_use"))


def numbers(app: AppTest, column: str = "AUC") -> pd.DataFrame:
    return next(d.value for d in app.dataframe if column in d.value.columns)


def has_picture(app: AppTest) -> bool:
    return any(e.proto.id.endswith("pairs_chart") for e in app.get("plotly_chart"))


def assert_whole(app: AppTest) -> None:
    assert not app.exception
    assert not app.error
    assert has_picture(app)
    assert reading(app)


# At first sight


@pytest.mark.slow
@pytest.mark.parametrize("run", [framed, alone], ids=["framed", "alone"])
def test_the_ready_made_pairs_are_judged_at_once(run: Callable[..., AppTest]) -> None:
    app = settled(run(DEFAULT, PAGE))
    assert_whole(app)
    assert not app.warning
    title = chart(app, "pairs_chart")["layout"]["title"]["text"]
    assert re.fullmatch(r"Layer \d judges \d+% right; by chance 50%", title)
    assert "of the **" in reading(app)
    assert len(numbers(app)) == 7
    assert "pairs of words · threshold from" in plainly_said(app)
    assert app.button(key="pairs_back").disabled != app.button(key="pairs_next").disabled


@pytest.mark.slow
def test_another_layer_shows_its_own_cosines() -> None:
    app = opened()
    before, rows = reading(app), numbers(app)
    app = settled(to_layer(app, 2))
    assert_whole(app)
    assert reading(app) != before
    assert "At layer **2**" in reading(app)
    assert f"**{round(100 * rows['accuracy'][2])}%**" in reading(app)
    assert chart(app, "pairs_cosines")["layout"]["title"]["text"] == "Cosines at layer 2"


@pytest.mark.parametrize("which", ["wrong", "called_same", "called_different", "most", "least"])
def test_pairs_can_be_read_in_every_order(which: str) -> None:
    app = opened(WRONG.put(DEFAULT, which))
    assert_whole(app)
    shown = [c.value for c in app.caption if c.value.startswith("cosine **")]
    assert len(shown) == 8
    if which.startswith("called"):
        called, known = ("same", "different") if which == "called_same" else ("different", "same")
        assert all(f"label **{known}** · judged **{called}**" in each for each in shown)
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
        assert layout["title"]["text"] == f"Layer 6: AUC {numbers(app)['AUC'][6]:.2f}"
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


# A file


def test_a_file_is_shown_first_and_compared_after_a_click() -> None:
    app = opened(FILE_VIEW)
    assert not has_picture(app)
    app = upload(app, "mine.csv", table())
    assert "**mine.csv** · CSV" in plainly_said(app)
    assert not has_picture(app)
    app = settled(press(app, "pairs_use"))
    assert_whole(app)
    assert "**mine.csv** · 40 pairs" in plainly_said(app)
    assert "threshold from 20 training pairs, judged on 20" in plainly_said(app)
    view = shown_view(app)
    assert (FILE_NAME.of(view), COLUMNS.of(view)) == ("mine.csv", "0,1,2,3,,,,,,,,,4,5")
    assert ROWS[0][0] not in json.dumps(dict(view.controls[PAGE]))


def test_other_columns_can_be_chosen_before_and_after() -> None:
    app = upload(opened(FILE_VIEW), "mine.csv", table())
    way = next(box for box in app.selectbox if str(box.key).endswith("_way"))
    assert way.value == "word"
    app = way.set_value("").run()
    app = settled(press(app, "pairs_use"))
    assert "pairs of whole texts" in plainly_said(app)
    label = next(b for b in app.selectbox if re.match(r"pairs_columns_.*_label", str(b.key)))
    app = label.set_value(0).run()
    app = settled(press(app, "pairs_columns_use"))
    assert_whole(app)
    assert "most alike" in reading(app)
    assert "5th percentile" in numbers(app, "median").columns


def test_pairs_without_labels_have_cosines_and_no_verdict() -> None:
    rows = [row[:4] for row in ROWS]
    app = compared(table(rows, TITLES[:4]))
    assert_whole(app)
    assert "half of the **40** pairs" in reading(app)
    assert not any("label **" in c.value or "judged **" in c.value for c in app.caption)
    assert settled(app.run()).get("plotly_chart")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (table([(*row[:4], "T", row[5]) for row in ROWS]), "nothing to tell apart"),
        (table([(*row[:4], "", row[5]) for row in ROWS]), "The column label has no label."),
        (
            table([(*row[:4], "TF?"[i % 3], row[5]) for i, row in enumerate(ROWS)]),
            "Labels in label are of 3 kinds",
        ),
        (table(ROWS[:1]), "1 pair of words"),
        (
            table([(*row[:5], "train") for row in ROWS]),
            "leaves no labelled pair to test on, so accuracy is by cross-validation",
        ),
        (
            table([("", *row[1:]) if i < 3 else row for i, row in enumerate(ROWS)]),
            "3 pairs were left out: a text is empty.",
        ),
        (
            table([(row[0], row[1], "zebra", *row[3:]) if i < 2 else row
                   for i, row in enumerate(ROWS)]),
            "Row 1, text 1: “zebra” is not a word of this text.",
        ),
        (
            table([(*row, "x", row[4]) for row in ROWS], (*TITLES, "label", "label")),
            "pairs of",
        ),
    ],
    ids=["all equal", "missing", "three kinds", "one pair", "only train", "empty texts",
         "spans that miss", "duplicate columns"],
)  # fmt: skip
def test_odd_files_are_said_and_the_page_works(content: bytes, expected: str) -> None:
    app = compared(content)
    assert_whole(app)
    assert expected in plainly_said(app)
    app = settled(field(app.segmented_control, "pairs_source").set_value("bundled").run())
    assert_whole(app)
    assert "Ready-made pairs" in plainly_said(app)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("mine.csv", b"text1,text2,word\n,,\na,,b\n", "no pair that can be compared"),
        ("mine.csv", table([(*r[:2], "zebra", *r[3:]) for r in ROWS]), "could not be placed"),
    ],
    ids=["no pair", "no word there"],
)
def test_a_file_without_a_pair_changes_nothing(name: str, content: bytes, expected: str) -> None:
    app = upload(opened(FILE_VIEW), name, content)
    app = settled(press(app, "pairs_use"))
    assert expected in plainly_said(app)
    assert shown_view(app) == FILE_VIEW
    app = upload(app, "better.csv", table())
    assert_whole(settled(press(app, "pairs_use")))


def test_a_broken_file_leaves_what_is_compared() -> None:
    app = compared(table())
    before = reading(app)
    app = settled(press(app, "pairs_change_file"))
    app = upload(app, "broken.parquet", b"PAR1 nothing")
    assert "broken.parquet" in plainly_said(app)
    assert reading(app) == before
    app = settled(press(app, "pairs_keep_file"))
    assert "**mine.csv** · 40 pairs" in plainly_said(app)


def test_words_that_the_model_does_not_read_leave_a_page_that_says_so() -> None:
    far = "word " * 700 + "python"
    app = compared(table([(far, far, "python", "python", "T", "train")] * 3))
    assert not has_picture(app)
    assert "No pair has a cosine: this model does not read the marked words" in plainly_said(app)


# Whose files they are


SECRETS = [(*row, "secret salary") for row in ROWS]


def test_whoever_has_the_address_gets_the_chosen_columns_and_nothing_else() -> None:
    own = compared(table(SECRETS, (*TITLES, "salary")))
    assert "sees and can download the columns that you choose" in plainly_said(own) or has_picture(
        own
    )
    view = shown_view(own)
    for columns in (COLUMNS.of(view), "0,6,,,,,,,,,,,4,", "guessed", "x"):
        other = opened(COLUMNS.put(view, columns))
        assert_whole(other)
        assert "Only the columns that were chosen are kept" in plainly_said(other)
        everything = plainly_said(other) + "".join(d.value.to_csv() for d in other.dataframe)
        assert "secret" not in everything
        assert "salary" not in everything
        assert not [b for b in other.selectbox if "pairs_columns" in str(b.key)]


def test_after_a_restart_the_file_is_asked_for_and_found_again() -> None:
    app = compared(table())
    view, before = shown_view(app), reading(app)
    forget_all()
    other = opened(view)
    assert (
        "This view compares the pairs of “mine.csv”, which this server does not have"
        in plainly_said(other)
    )
    assert not has_picture(other)
    other = upload(other, "mine.csv", table())
    assert_whole(other)
    assert reading(other) == before
    assert shown_view(other) == view


@pytest.mark.parametrize("digest", ["0" * 32, "file ", "../../etc/passwd"])
def test_an_address_that_names_no_file_here_asks_for_it(digest: str) -> None:
    app = opened(FILE_NAME.put(FILE.put(FILE_VIEW, digest), "my <b>pairs</b>.csv"))
    assert "“my <b>pairs</b>.csv”" in plainly_said(app)
    assert not has_picture(app)
    assert not app.error


# Large sets


@pytest.mark.slow
def test_a_large_set_waits_for_a_click_and_can_be_cancelled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(waiting, "LARGE_SECONDS", -1.0)
    rows = [(f"{i} {row[0]}", *row[1:]) for i, row in enumerate(ROWS)]
    app = compared(table(rows))
    assert not has_picture(app)
    assert "Comparing **40 pairs** takes about **2 seconds** here" in plainly_said(app)
    held = comparing._chunks
    monkeypatch.setattr(comparing, "_chunks", lambda *a: _slowly(held(*a)))
    app = press(app, "pairs_compare")
    assert app.get("progress")
    app = press(app, "pairs_progress_cancel")
    assert not has_picture(app)
    assert "This comparison was stopped." in plainly_said(app)
    monkeypatch.setattr(comparing, "_chunks", held)
    for job in jobs().under_way(task.PAIRS):
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
