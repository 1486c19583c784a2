"""Corpora, headless: what is there at first sight, and of a corpus that is odd, gone or damaged."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from streamlit.testing.v1 import AppTest

from components.corpus.bundled import ambiguous_corpus
from components.corpus.store.about import to_json
from components.features.corpora.controls import PAGE, WORD
from components.ui.models.background import store
from components.ui.models.services import settings
from components.ui.state.view import DEFAULT
from tests.features.corpora.page.headless import assert_whole, has_picture, keys, on, opened, title
from tests.support.corpus_store import indexed, made_up_corpus
from tests.support.pages import (
    alone,
    assert_only_own_markup,
    chart,
    frame,
    framed,
    offered_files,
    plainly_said,
    press,
    reading,
)

RUDE = "<img src=x onerror=alert(1)> **bold** $x$ :material/home:.csv"


# At first sight


def indexed_here() -> tuple[str, ...]:
    return store().names() if settings().data_dir.joinpath("corpora").exists() else ()


@pytest.mark.parametrize("run", [framed, alone], ids=["framed", "alone"])
def test_the_ready_made_words_are_there_at_first_sight(run: Callable[..., AppTest]) -> None:
    before = indexed_here()
    app = run(DEFAULT, PAGE)
    assert not app.exception
    assert not app.error
    assert not app.warning
    assert re.fullmatch(r"Most frequent here: “\w+” \(\d+ times\)", title(app))
    assert reading(app).startswith("The corpus **Ambiguous words** has **")
    rows = frame(app, "occurrences")
    assert {"word", "occurrences", "share of all words", "senses"} == set(rows.columns)
    assert set(ambiguous_corpus().labels["word"]) <= set(rows["word"])
    assert "Included, ready to use" in plainly_said(app)
    assert indexed_here() == before  # whatever other tests left
    assert_whole(app)


def test_a_word_of_the_address_is_looked_at_where_there_is_one() -> None:
    assert bold_words(opened(WORD.put(DEFAULT, "bank"))) == ["<b>bank</b>"]
    first = title(opened()).split("“")[1].split("”")[0]
    assert bold_words(opened(WORD.put(DEFAULT, "no such word"))) == [f"<b>{first}</b>"]


def bold_words(app: AppTest) -> list[str]:
    names = chart(app, "corpora_chart")["layout"]["yaxis"]["ticktext"]
    return [name for name in names if name.startswith("<b>")]


def test_downloads_have_every_word_with_its_count() -> None:
    with offered_files() as offered_here:
        app = opened()
        assert not app.exception
        text = offered_here["word-counts.csv"]().decode("utf-8-sig")
        arrays = offered_here["word-counts.npz"]()
    rows = [line for line in text.splitlines() if not line.startswith("#")]
    assert rows[0] == '"word","occurrences","share","senses"'
    assert rows[1].startswith('"the",')
    assert arrays[:2] == b"PK"


# What goes wrong


@pytest.mark.parametrize("name", ["g" * 16, "short", "../../etc", RUDE, "' OR 1=1 --xxxx"])
def test_a_corpus_that_is_not_there_is_said(name: str) -> None:
    app = opened(on(name[:200]))
    assert len(app.error) == 1
    assert "no corpus" in plainly_said(app) or "no such corpus" in plainly_said(app)
    assert_whole(app)


@pytest.mark.slow
def test_a_damaged_corpus_is_marked_and_the_others_work() -> None:
    whole, damaged = (
        indexed(store(), made_up_corpus(4, name=f"{kind}.csv", seed=i))
        for i, kind in enumerate(("whole", "damaged"))
    )
    root = Path(store().root)
    for path in (root / f"{damaged}.occurrences.lance").rglob("*"):
        if path.is_file():
            path.write_bytes(b"")
    app = opened(on(damaged))
    assert "damaged" in plainly_said(app)
    assert f"corpora_show_{damaged}" in keys(app)
    app = press(app, f"corpora_show_{whole}")
    assert reading(app).startswith("The corpus **whole.csv** has")
    app = press(press(press(app, f"corpora_show_{damaged}"), "corpora_delete"),
                "corpora_delete_yes")  # fmt: skip
    assert store().names() == (whole,)
    assert_whole(app)


def test_a_corpus_of_a_newer_version_is_said() -> None:
    name = indexed(store(), made_up_corpus(4))
    about = replace(store().about(name), version=99)
    row = pa.table({"version": pa.array([99], pa.int32()), "json": [to_json(about)]})
    store()._tables.open(name, "about").add(row, mode="overwrite")
    app = opened(on(name))
    assert "stored by a newer Contextlens" in plainly_said(app)
    assert_whole(app)


def test_a_corpus_whose_model_is_gone_can_be_looked_at() -> None:
    name = indexed(store(), made_up_corpus(20))
    app = opened(on(name))
    assert "The model of this corpus, made-up, is no longer on this machine" in plainly_said(app)
    assert has_picture(app)
    assert_whole(app)


def test_what_is_called_rudely_takes_no_effect() -> None:
    indexed(store(), made_up_corpus(4, name=RUDE))
    app = opened(on(store().names()[0]))
    shown = "".join(element.value for element in [*app.markdown, *app.caption])
    assert "<img" not in shown.replace("\\<img", "")
    assert_only_own_markup(app)
    assert "**bold**" not in shown
    assert_whole(app)
