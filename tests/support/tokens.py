"""The contents of the page Tokens & IDs, read from a headless run."""

from __future__ import annotations

from typing import Any

import pandas as pd
from streamlit.testing.v1 import AppTest

from contextlens.core import BUNDLED_ID
from contextlens.ui.state.view import Sentence, ViewState
from tests.support import pages


def text_view(
    text: str, pair: str | None = None, *, model: str = BUNDLED_ID, **controls: Any
) -> ViewState:
    """One text, with some of the page's controls set."""
    own = {"tokens": controls} if controls else {}
    return ViewState(model, (Sentence(text, pair),), controls=own)


def showing(
    text: str, pair: str | None = None, *, model: str = BUNDLED_ID, **controls: Any
) -> AppTest:
    """The page on one text, with some of its controls set."""
    return pages.framed(text_view(text, pair, model=model, **controls), "tokens")


def strip(app: AppTest, key: str = "token_strip") -> dict[str, Any]:
    """The data that the strip of tokens was given."""
    return pages.given(app, key)


def pieces(app: AppTest, key: str = "token_strip") -> list[str]:
    return [token["mark"] + token["text"] for token in strip(app, key)["tokens"]]


def ids(app: AppTest, key: str = "token_strip") -> list[int]:
    return [token["id"] for token in strip(app, key)["tokens"]]


def text_of(app: AppTest, which: int = 0) -> str:
    return "".join(segment["text"] for segment in strip(app)["texts"][which]["segments"])


def frame_with(app: AppTest, column: str) -> pd.DataFrame:
    """The table that has this column."""
    return next(d.value for d in app.dataframe if column in d.value.columns)


def table(app: AppTest) -> pd.DataFrame:
    return frame_with(app, "position")


def said(app: AppTest, key: str = "reading") -> str:
    """A reading, without Markdown's signs."""
    return pages.said(app, key).replace("**", "")


def assert_fine(app: AppTest) -> None:
    assert not app.exception
    assert not app.error


def assert_whole(app: AppTest) -> None:
    """Every part of the page is there."""
    assert_fine(app)
    assert [title.value for title in app.title] == ["Tokens & IDs"]
    assert [tab.label for tab in app.tabs] == [
        "Numbers",
        "Under the hood",
        "What this does not show",
    ]
    assert strip(app)["texts"]
    assert said(app)
    assert table(app) is not None
    assert any("AutoTokenizer" in code.value for code in app.code)
    labels = [button.proto.label for button in app.get("download_button")]
    assert {"CSV", "NPZ"} <= set(labels)
