"""Pairs, headless: a file of one's own, other columns, what is odd in it, and who sees it."""

from __future__ import annotations

import json
import re

import pytest

from components.features.pairs.controls import COLUMNS, FILE, FILE_NAME, PAGE
from components.ui.files.uploads import forget_all
from tests.features.pairs.page.headless import (
    FILE_VIEW,
    ROWS,
    TITLES,
    assert_whole,
    compared,
    has_picture,
    numbers,
    opened,
    table,
    upload,
)
from tests.support.fields import field
from tests.support.pages import plainly_said, press, reading, settled, shown_view

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
    assert "The threshold was learned from 20 training pairs" in plainly_said(app)
    view = shown_view(app)
    assert (FILE_NAME.of(view), COLUMNS.of(view)) == ("mine.csv", "0,1,2,3,,,,,,,,,4,5")
    assert ROWS[0][0] not in json.dumps(dict(view.controls[PAGE]))


@pytest.mark.slow
def test_other_columns_can_be_chosen_before_and_after() -> None:
    app = upload(opened(FILE_VIEW), "mine.csv", table())
    way = next(box for box in app.selectbox if str(box.key).endswith("_way"))
    assert way.value == "word"
    app = way.set_value("none").run()
    app = settled(press(app, "pairs_use"))
    assert "pairs of whole texts" in plainly_said(app)
    label = next(b for b in app.selectbox if re.match(r"pairs_columns_.*_label", str(b.key)))
    app = label.set_value(0).run()
    app = settled(press(app, "pairs_columns_use"))
    assert_whole(app)
    assert "; the median is" in reading(app)
    assert "5th percentile" in numbers(app, "median").columns


def test_pairs_without_labels_have_cosines_and_no_verdict() -> None:
    rows = [row[:4] for row in ROWS]
    app = compared(table(rows, TITLES[:4]))
    assert_whole(app)
    assert "half of the 40 pairs" in reading(app)
    assert not any("labelled" in c.value or "judged" in c.value for c in app.caption)
    assert settled(app.run()).get("plotly_chart")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (table([(*row[:4], "T", row[5]) for row in ROWS]), "accuracy cannot be tested"),
        (table([(*row[:4], "", row[5]) for row in ROWS]), "The column label has no label."),
        (
            table([(*row[:4], "TF?"[i % 3], row[5]) for i, row in enumerate(ROWS)]),
            "Labels in label are of 3 kinds",
        ),
        (table(ROWS[:1]), "1 pair of words"),
        (
            table([(*row[:5], "train") for row in ROWS]),
            "leaves no labelled pair to test on, so accuracy is cross-validated",
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
    assert "Example pairs" in plainly_said(app)


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
    assert "No pair can be compared: the model does not read the marked words" in plainly_said(app)


# Whose files they are


SECRETS = [(*row, "secret salary") for row in ROWS]


def test_whoever_has_the_address_gets_the_chosen_columns_and_nothing_else() -> None:
    own = compared(table(SECRETS, (*TITLES, "salary")))
    assert "can see and download the columns that you choose" in plainly_said(own) or has_picture(
        own
    )
    view = shown_view(own)
    for columns in (COLUMNS.of(view), "0,6,,,,,,,,,,,4,", "guessed", "x"):
        other = opened(COLUMNS.put(view, columns))
        assert_whole(other)
        assert "Only the chosen columns are kept" in plainly_said(other)
        everything = plainly_said(other) + "".join(d.value.to_csv() for d in other.dataframe)
        assert "secret" not in everything
        assert "salary" not in everything
        assert not [b for b in other.selectbox if "pairs_columns" in str(b.key)]


def test_after_a_restart_the_file_is_asked_for_and_found_again() -> None:
    app = compared(table())
    view, before = shown_view(app), reading(app)
    forget_all()
    other = opened(view)
    assert "This server does not have the file “mine.csv”" in plainly_said(other)
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
