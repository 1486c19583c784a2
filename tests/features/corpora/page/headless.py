"""Corpora, headless: tables to bring, the page opened and files put on it."""

from __future__ import annotations

import csv
import io
from typing import Any

from streamlit.testing.v1 import AppTest

from components.features.corpora.controls import CORPUS, PAGE
from components.ui.state.view import DEFAULT, ViewState
from tests.support.fields import field
from tests.support.pages import chart, framed, press, reading, settled

__all__ = [
    "SECONDS",
    "SENSES",
    "TEXTS",
    "assert_whole",
    "has_picture",
    "kept",
    "keys",
    "on",
    "opened",
    "table",
    "title",
    "upload",
]

SECONDS = 120
TEXTS = [
    *(f"My pet python number {i} sleeps" for i in range(6)),
    *(f"I write python program {i}" for i in range(6)),
]
SENSES = ["animal"] * 6 + ["language"] * 6


def table(texts: list[str] = TEXTS, **columns: list[Any]) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out)
    own = columns or {"sense": SENSES}
    writer.writerow(["text", *own])
    writer.writerows(zip(texts, *own.values(), strict=True))
    return out.getvalue().encode()


def opened(view: ViewState = DEFAULT) -> AppTest:
    return settled(framed(view, PAGE))


def on(name: str) -> ViewState:
    return CORPUS.put(DEFAULT, name)


def upload(app: AppTest, content: bytes, name: str = "mine.csv") -> AppTest:
    app = press(app, "corpora_add")
    own = field(app.file_uploader, "corpora_upload")
    return settled(own.set_value((name, content, "text/csv")).run())


def kept(content: bytes, name: str = "mine.csv") -> AppTest:
    """A file, uploaded and indexed with what was guessed."""
    return settled(press(upload(opened(), content, name), "corpora_index"))


def keys(app: AppTest) -> set[str]:
    return {button.key for button in app.button}


def title(app: AppTest) -> str:
    return chart(app, "corpora_chart")["layout"]["title"]["text"]


def has_picture(app: AppTest) -> bool:
    return any(e.proto.id.endswith("corpora_chart") for e in app.get("plotly_chart"))


def assert_whole(app: AppTest) -> None:
    """The page works: whatever else is said, the ready-made corpora can be shown."""
    assert not app.exception
    assert {"corpora_add", "corpora_show_ambiguous", "corpora_show_sentiment"} <= keys(app)
    app = press(app, "corpora_show_sentiment")
    assert not app.exception
    assert has_picture(app)
    assert "Sentiment" in reading(app)
