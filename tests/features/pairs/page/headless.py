"""Pairs, headless: a table of pairs to bring, the page opened and a file put on it."""

from __future__ import annotations

import csv
import io

import pandas as pd
from streamlit.testing.v1 import AppTest

from components.features.pairs.controls import PAGE, SOURCE
from components.ui.state.view import DEFAULT, ViewState
from tests.support.fields import field
from tests.support.pages import framed, press, reading, settled

__all__ = [
    "FILE_VIEW",
    "ROWS",
    "TITLES",
    "assert_whole",
    "compared",
    "has_picture",
    "numbers",
    "opened",
    "table",
    "upload",
]

FILE_VIEW = SOURCE.put(DEFAULT, "file")
WORDS = ("python", "bank", "snake", "river", "bird", "stone", "lamp", "tree", "cup", "door")
ROWS = [
    (f"I saw the {word} today", f"The {other} is here" , word, other, label, part)
    for word in WORDS
    for other, label in ((word, "T"), (WORDS[WORDS.index(word) - 1], "F"))
    for part in ("train", "test")
]  # fmt: skip
TITLES = ("text1", "text2", "word1", "word2", "label", "split")


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
