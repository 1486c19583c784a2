"""From a file to a corpus, the words of a corpus, and what indexing is said to take."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.errors import CorpusError
from contextlens.corpus.bundled import ambiguous_corpus, sentiment_corpus
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.readers import Table, read
from contextlens.corpus.store.about import indexing_of
from contextlens.corpus.store.indexing import index
from contextlens.corpus.store.store import Store
from contextlens.corpus.targets import MarkColumns
from contextlens.features.corpora import compute
from contextlens.features.corpora.compute import (
    FileChoice,
    corpus_from,
    guess,
    indexing_cost,
    usual_layers,
)
from tests.support.corpus_store import ignore

TEXTS = [f"I saw the python number {i} today" for i in range(8)]
SENSES = ["animal", "language"] * 4
SPLITS = ["train", "train", "test", "train"] * 2


def sheet(**columns: list[Any]) -> Table:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return read("mine.csv", out.getvalue().encode(), max_bytes=10_000_000)


def test_a_plain_file_is_texts_alone() -> None:
    own = read("mine.txt", "\n".join(TEXTS).encode(), max_bytes=1_000)
    chosen = guess(own)
    assert chosen == FileChoice(own.text_column)
    corpus = corpus_from(own, chosen)
    assert corpus.texts == tuple(TEXTS)
    assert corpus.spans is None


@pytest.mark.parametrize(
    ("marks", "role"),
    [
        ({"start": [10] * 8, "end": [16] * 8}, "start"),
        ({"span": ["10-16"] * 8}, "span"),
        ({"index": [3] * 8}, "index"),
        ({"word": ["python"] * 8}, "word"),
        ({"index": [3] * 8, "word": ["Python"] * 8}, "index"),
    ],
)
def test_marked_words_are_guessed_in_every_form(marks: dict[str, list[Any]], role: str) -> None:
    own = sheet(text=TEXTS, sense=SENSES, split=SPLITS, **marks)
    chosen = guess(own)
    assert getattr(chosen.marks, role) == role
    assert (chosen.text, chosen.split) == ("text", "split")
    assert {"sense", "split"} <= set(chosen.labels)
    assert not {"start", "end", "span", "index"} & set(chosen.labels)
    corpus = corpus_from(own, chosen)
    assert corpus.spans == ((10, 16),) * 8
    assert corpus.labels["sense"] == tuple(SENSES)
    assert corpus.labels["split"] == tuple(SPLITS)


def test_a_column_that_marks_nothing_is_not_taken_for_one_that_does() -> None:
    chosen = guess(sheet(text=TEXTS, word=["absent"] * 8, sense=SENSES))
    assert not chosen.marks
    assert "word" in chosen.labels


@pytest.mark.parametrize(
    ("values", "is_split"),
    [
        (SPLITS, True),
        (["Train", "TEST"] * 4, True),
        (["train"] * 8, False),
        (["a", "b"] * 4, False),
        (["dev", "validation"] * 4, False),
    ],
)
def test_a_split_has_train_and_test(values: list[str], is_split: bool) -> None:
    assert guess(sheet(text=TEXTS, split=values)).split == ("split" if is_split else "")


def test_rows_whose_word_cannot_be_placed_are_left_out_and_said() -> None:
    own = sheet(text=TEXTS, index=[3, 99, 3, 3, "x", 3, 3, 3], sense=SENSES)
    corpus = corpus_from(own, FileChoice("text", ("sense",), "", MarkColumns(index="index")))
    assert len(corpus.texts) == len(corpus.spans or ()) == 6
    assert corpus.labels["sense"] == tuple(SENSES[i] for i in (0, 2, 3, 5, 6, 7))
    assert corpus.notes[-1].startswith("2 rows were left out: their marked word could not be")
    assert "Row 2: there is no word 99 in this text" in corpus.notes[-1]


def test_a_file_whose_marks_all_miss_is_refused_with_an_example() -> None:
    own = sheet(text=TEXTS, span=["10-16"] * 8, word=["other"] * 8)
    marks = MarkColumns(span="span", word="word")
    with pytest.raises(CorpusError, match=r"no marked word could be placed.*Row 1: .*mark no word"):
        corpus_from(own, FileChoice("text", marks=marks))


def test_white_space_and_blank_rows_move_nothing() -> None:
    own = sheet(text=["", "   I saw a python ", "python  "], start=["", 11, 0], end=["", 17, 6])
    marks = MarkColumns(start="start", end="end")
    corpus = corpus_from(own, FileChoice("text", marks=marks))
    assert [text[slice(*span)] for text, span in zip(corpus.texts, corpus.spans or (), strict=True)
            ] == ["python", "python"]  # fmt: skip


def test_a_word_behind_the_end_of_a_very_long_text_is_left_out() -> None:
    long = "python " + "very " * 5_000 + "python"
    end = len(long)
    own = sheet(text=[long, long], start=[0, end - 6], end=[6, end])
    marks = MarkColumns(start="start", end="end")
    corpus = corpus_from(own, FileChoice("text", marks=marks))
    assert len(corpus.texts) == 1
    assert corpus.spans == ((0, 6),)
    assert corpus.notes[-1] == "1 row was left out: their word was cut off."
    with pytest.raises(CorpusError, match="behind the first 20,000 characters"):
        corpus_from(sheet(text=[long], start=[end - 6], end=[end]), FileChoice("text", marks=marks))


@pytest.mark.parametrize(
    "chosen",
    [
        FileChoice("absent"),
        FileChoice("absent", marks=MarkColumns(word="word")),
        FileChoice("text", ("absent",)),
        FileChoice("text", split="absent"),
        FileChoice("blank"),
    ],
)
def test_columns_that_are_not_there_are_said(chosen: FileChoice) -> None:
    own = sheet(text=TEXTS, word=["python"] * 8, blank=[""] * 8)
    with pytest.raises(CorpusError):
        corpus_from(own, chosen)


def test_the_text_itself_labels_nothing() -> None:
    corpus = corpus_from(sheet(text=TEXTS, sense=SENSES), FileChoice("text", ("text", "sense")))
    assert list(corpus.labels) == ["sense"]


@given(st.lists(st.tuples(st.text(), st.text(), st.text()), min_size=1, max_size=8))
def test_whatever_stands_in_a_file_is_a_corpus_or_a_sentence(rows: list[tuple[str, ...]]) -> None:
    texts, starts, ends = ([row[i] for row in rows] for i in range(3))
    try:
        own = sheet(text=texts, start=starts, end=ends)
        corpus = corpus_from(own, guess(own))
    except CorpusError:
        return
    for text, span in zip(corpus.texts, corpus.spans or (), strict=False):
        assert 0 <= span[0] < span[1] <= len(text)


@pytest.mark.slow
def test_words_and_bytes_are_about_what_is_stored(service: EncoderService, tmp_path: Path) -> None:
    corpus, card = sentiment_corpus(), service.load(BUNDLED_ID)
    own = indexing_of(card, (0, 6), "exact")
    expected = indexing_cost(corpus, own, card, service, 1e-3)
    store = Store(str(tmp_path))
    name = store.create(corpus, own).name
    index(store, service, name, ignore)
    about = store.about(name)
    assert expected.n_texts == about.n_texts
    assert expected.n_words == pytest.approx(about.n_occurrences, rel=0.05)
    assert expected.n_bytes == pytest.approx(about.n_bytes, rel=0.2)


def test_the_time_is_that_of_words_once_it_was_measured(
    service: EncoderService, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = service.load(BUNDLED_ID)
    own = indexing_of(card, (3, 6), "exact")
    corpus = Corpus("x", ambiguous_corpus().texts[:100])
    before = indexing_cost(corpus, own, card, service, 1e-3)
    monkeypatch.setattr(compute, "word_seconds", {own: 0.5}.get)
    after = indexing_cost(corpus, own, card, service, 1e-3)
    assert after.seconds == pytest.approx(0.5 * after.n_words, rel=0.01)
    assert (after.n_words, after.n_bytes) == (before.n_words, before.n_bytes)


def test_time_grows_with_texts_and_tokens(service: EncoderService) -> None:
    card = service.load(BUNDLED_ID)
    own = indexing_of(card, (6,), "exact")
    texts = ambiguous_corpus().texts
    one, two = (
        indexing_cost(Corpus("x", texts[:n]), own, card, service, 1e-3).seconds for n in (100, 200)
    )
    assert two == pytest.approx(2 * one, rel=0.2)
    slow = indexing_cost(Corpus("x", texts[:100]), own, card, service, 2e-3).seconds
    assert slow == pytest.approx(2 * one)
    long = indexing_cost(Corpus("x", ("word " * 5_000,)), own, card, service, 1.0)
    assert long.seconds <= 1.2 * card.max_length


def test_all_layers_are_usual_unless_they_take_much(service: EncoderService) -> None:
    card = service.load(BUNDLED_ID)
    assert usual_layers(ambiguous_corpus(), card) == tuple(range(7))
    assert usual_layers(Corpus("x", ("one two three four five " * 20,) * 2_000), card) == (0, 3, 6)


def test_marks_behind_the_last_token_are_those_that_get_no_vector(service: EncoderService) -> None:
    """Found by the tokenizer alone; the oracle runs the model."""
    fillers = [0, 400, 508, 509, 510, 511, 700]
    long = ("🎉" * 300 + " the bank", "é" * 900 + " bank")
    texts = [*("x " * n + "bank of it" for n in fillers), *long]
    spans = [(text.index("bank"), text.index("bank") + 4) for text in texts]
    corpus = Corpus("mine.csv", tuple(texts), spans=tuple(spans))
    card = service.load(BUNDLED_ID)
    encodings = service.encode(BUNDLED_ID, texts)
    lost = [
        not ((e.offsets[:, 0] < b) & (e.offsets[:, 1] > a)).any()
        for e, (a, b) in zip(encodings, spans, strict=True)
    ]
    assert 2 <= sum(lost) < len(texts) - 2
    assert compute.marks_beyond(corpus, card, service) == sum(lost)
