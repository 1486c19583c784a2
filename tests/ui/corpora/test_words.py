"""The words of a corpus: counts, senses, and what counts as a word with a meaning."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from contextlens.corpus.bundled import ambiguous_corpus, sentiment_corpus
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.store.store import Store
from contextlens.ui.corpora import words as words_module
from contextlens.ui.corpora.words import (
    all_counts,
    counted_in,
    counted_of,
    is_content,
    sense_column,
    senses_of,
)
from tests.support.corpus_store import indexed, made_up_corpus

BOUNDARY = regex.compile(r"\b", regex.WORD | regex.V1)


def oracle(texts: tuple[str, ...]) -> Counter[str]:
    found = Counter[str]()
    for text in texts:
        cuts = sorted({0, len(text), *(match.start() for match in BOUNDARY.finditer(text))})
        parts = [text[a:b] for a, b in pairwise(cuts)]
        found.update(part.casefold() for part in parts if any(map(str.isalnum, part)))
    return found


@given(st.lists(st.text(min_size=1), min_size=1, max_size=5))
def test_words_are_those_of_unicode(texts: list[str]) -> None:
    corpus = Corpus("made up", tuple(texts))
    counts = all_counts(corpus)
    assert {own.word: own.n for own in counts} == oracle(corpus.texts)
    assert counts == sorted(counts, key=lambda own: (-own.n, own.word))
    words = counted_in(corpus)
    assert words.n == sum(own.n for own in counts)
    assert words.n_different == len(counts)
    assert words.n_once == sum(own.n == 1 for own in counts)
    assert all(is_content(row.word) for row in words.rows)


def test_the_ready_made_corpora_show_their_ambiguous_words_with_their_senses() -> None:
    corpus = ambiguous_corpus()
    words, plain = counted_in(corpus), counted_in(sentiment_corpus())
    pairs = set(zip(corpus.labels["word"], corpus.labels["sense"], strict=True))
    senses = Counter(word for word, _ in pairs)
    assert (words.sense, plain.sense) == ("sense", "")
    assert {row.word: row.n_senses for row in words.rows if row.n_senses} == senses
    assert plain.rows
    assert not any(row.n_senses for row in plain.rows)


@pytest.mark.parametrize("is_marked", [False, True])
def test_a_store_counts_as_the_texts_do(tmp_path: Path, is_marked: bool) -> None:
    corpus = replace(made_up_corpus(30), texts=tuple(f"python a{i % 7} bank" for i in range(30)))
    if is_marked:
        corpus = replace(corpus, spans=((0, 6),) * 30)
    store = Store(str(tmp_path))
    name = indexed(store, corpus)
    found = counted_of(store.open(name), lambda: store.texts(name))
    assert found == counted_in(corpus)
    assert (found.row("python") or found.rows[0]).n_senses == (2 if is_marked else 0)


def test_of_very_many_texts_senses_are_not_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words_module, "_MAX_TEXTS", 3)
    corpus = replace(made_up_corpus(4), texts=("python x",) * 4, spans=((0, 6),) * 4)
    store = Store(str(tmp_path))
    name = indexed(store, corpus)
    found = counted_of(store.open(name), lambda: store.texts(name))
    assert found.rows[0].n == 4
    assert found.sense == ""


def test_senses_are_different_labels_of_a_marked_word() -> None:
    targets = [("Python a", (0, 6)), ("python b", (0, 6)), ("bank", (0, 4)), ("none", None)]
    assert senses_of(targets, ["x", "y", "", "z"]) == {"python": 2}
    assert senses_of(targets, ["x", "x", "x", "x"]) == {"python": 1, "bank": 1}
    assert senses_of([], []) == {}


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("python", True),
        ("bill", True),
        ("the", False),
        ("a", False),
        ("don't", False),
        ("it’s", False),
        ("2024", False),
        ("3rd", True),
        ("ox", False),
        ("水", True),
        ("où", True),
        ("", False),
    ],
)
def test_function_words_and_numbers_say_nothing(word: str, expected: bool) -> None:
    assert is_content(word) is expected


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ((), ""),
        (("word", "sense"), "sense"),
        (("label", " Sense "), " Sense "),
        (("Label",), "Label"),
        (("author", "year"), ""),
        (("meaning", "class"), "meaning"),
    ],
)
def test_a_column_of_senses_is_known_by_its_title(columns: tuple[str, ...], expected: str) -> None:
    assert sense_column(columns) == expected
