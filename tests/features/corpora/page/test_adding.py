"""Corpora, headless: from a file to a kept corpus, and files that cannot become one."""

from __future__ import annotations

import pytest

from components.core.errors import CorpusError
from components.features.corpora.controls import CORPUS
from components.ui.corpora.controls import MINE
from components.ui.models.background import store
from tests.features.corpora.page.headless import (
    SENSES,
    assert_whole,
    has_picture,
    kept,
    keys,
    opened,
    table,
    title,
    upload,
)
from tests.support.pages import chart, plainly_said, press, reading, settled, shown_view

# From a file to a corpus


@pytest.mark.slow
def test_a_file_is_shown_with_its_costs_and_kept_after_a_click() -> None:
    app = upload(opened(), table(split=["train", "test"] * 6, sense=SENSES))
    assert "**mine.csv** · CSV" in plainly_said(app)
    assert "takes about **2 seconds**" in plainly_said(app)
    assert "are stored on this machine's disk until you delete them" in plainly_said(app)
    assert store().names() == ()
    app = settled(press(app, "corpora_index"))
    (name,) = store().names()
    about = store().about(name)
    assert (about.state, about.n_texts, about.title) == ("done", 12, "mine.csv")
    assert set(about.columns) == {"sense", "split"}
    assert about.split == "split"
    assert about.indexing.layers == tuple(range(7))
    assert CORPUS.asked(shown_view(app)) == name
    assert MINE.of(shown_view(app)) == ""  # one visitor: the store is the list
    assert reading(app).startswith("The corpus **mine.csv** has **")
    assert "12 texts · 66 words" in plainly_said(app)
    assert "all-MiniLM-L6-v2, layers 0 to 6, full precision" in plainly_said(app)
    assert "ready to be searched" in plainly_said(app)
    snippets = [each.value for each in app.code]
    assert any('ParquetFile("mine.parquet")' in each for each in snippets)
    assert_whole(app)


@pytest.mark.slow
def test_marked_words_have_their_senses() -> None:
    app = kept(table(word=["python"] * 12, sense=SENSES))
    app = app.run()  # indexing may have ended between the picture and its bar
    (name,) = store().names()
    assert store().about(name).has_targets
    assert title(app) == "Most frequent here: “python” (12 times)"


@pytest.mark.slow
def test_layers_and_columns_can_be_chosen() -> None:
    app = upload(opened(), table(word=["python"] * 12, sense=SENSES))
    layers = next(m for m in app.multiselect if m.key.startswith("corpora_layers_"))
    app = settled(layers.set_value([0, 6]).run())
    ways = next(s for s in app.selectbox if s.key.endswith("_way"))
    assert ways.value == "word"
    app = settled(ways.set_value("none").run())
    app = settled(press(app, "corpora_index"))
    about = store().about(store().names()[0])
    assert about.indexing.layers == (0, 6)
    assert not about.has_targets


def test_without_a_layer_there_is_nothing_to_index() -> None:
    app = upload(opened(), table())
    layers = next(m for m in app.multiselect if m.key.startswith("corpora_layers_"))
    app = settled(layers.set_value([]).run())
    assert "Choose at least one layer" in plainly_said(app)
    assert "corpora_index" not in keys(app)


@pytest.mark.slow
def test_the_same_file_twice_is_opened_and_not_indexed_again() -> None:
    kept(table())
    (name,) = store().names()
    app = kept(table(), "another name.csv")
    assert store().names() == (name,)
    assert "You already stored these texts with the same settings on" in plainly_said(app)
    assert CORPUS.asked(shown_view(app)) == name
    app = upload(opened(), table())
    layers = next(m for m in app.multiselect if m.key.startswith("corpora_layers_"))
    settled(press(settled(layers.set_value([6]).run()), "corpora_index"))
    assert len(store().names()) == 2  # indexed otherwise


# What goes wrong


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("empty.csv", b"", "is empty"),
        ("blank.csv", b"text\n \n", "blanks"),
        ("damaged.parquet", b"no parquet", "damaged.parquet"),
        ("large.txt", b"word " * 300_000, "at most 1 MB"),
    ],
)
def test_a_file_that_cannot_be_read_is_said(name: str, content: bytes, expected: str) -> None:
    app = upload(opened(), content, name)
    assert expected in plainly_said(app)
    assert store().names() == ()
    assert_whole(app)


def test_a_file_whose_marks_miss_is_said_and_can_be_indexed_without_them() -> None:
    app = upload(opened(), table(span=["90-99"] * 12))
    assert "corpora_index" in keys(app)  # what marks nothing is not guessed
    ways = next(s for s in app.selectbox if s.key.endswith("_way"))
    app = settled(ways.set_value("span").run())
    span = next(s for s in app.selectbox if s.key.endswith("_span"))
    app = settled(span.set_value(1).run())
    assert "no marked word could be placed" in plainly_said(app)
    assert "corpora_index" not in keys(app)
    assert_whole(app)


@pytest.mark.slow
def test_a_corpus_in_another_script_and_one_without_words_are_shown() -> None:
    app = kept("text\nЯ вижу питона\nПитон спит\n水は流れる\n".encode())
    assert has_picture(app)
    assert "питона" in " ".join(chart(app, "corpora_chart")["layout"]["yaxis"]["ticktext"])
    app = kept(b"text\n?! ...\n:-) ;-)\n", "signs.csv")
    assert "No text here has a word with a letter or a digit" in plainly_said(app)
    assert_whole(app)


@pytest.mark.slow
def test_an_error_of_the_store_leaves_the_file_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    app = upload(opened(), table())

    def full(*_: object, **__: object) -> None:
        raise CorpusError("The disk that corpora are stored on is full.")

    monkeypatch.setattr(store(), "create", full)
    app = press(app, "corpora_index")
    assert "is full" in plainly_said(app)
    assert "corpora_index" in keys(app)
    monkeypatch.undo()
    app = settled(press(app, "corpora_index"))
    assert len(store().names()) == 1
