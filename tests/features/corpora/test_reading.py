"""Sentences on a corpus."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from contextlens.content.language import say
from contextlens.content.wording import shortened
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.corpus.store.about import first_about
from contextlens.features.corpora.compute import IndexingCost
from contextlens.features.corpora.figures import word_bars
from contextlens.features.corpora.reading import (
    cost_claims,
    date,
    facts,
    indexed_with,
    megabytes,
    model_note,
    state_of,
    words_claims,
    words_title,
)
from contextlens.ui.corpora.words import WordCounts, WordRow
from tests.support.corpus_store import indexing, made_up_corpus
from tests.support.odd import Said, assert_plain, assert_said, odd_names

ROWS = (WordRow("python", 40, 2), WordRow("bank", 30, 3), WordRow("river", 7))
WORDS = WordCounts(1_000, 400, 200, ROWS, "sense")
ABOUT = replace(
    first_about(made_up_corpus(200), indexing((0, 1, 2)), split="", name="a" * 16, owner=""),
    n_texts_done=50,
    n_occurrences=1_234,
    n_bytes=2_500_000,
    state="indexing",
    created="2026-11-22T10:00:00+00:00",
)


def test_what_is_said_of_words_is_so() -> None:
    said = Said()
    for seed in range(2000):
        chance = random.Random(seed)
        n_rows = chance.choice((0, 1, 2, 5))
        counts = sorted((chance.choice((1, 1, 2, 3, 40)) for _ in range(n_rows)), reverse=True)
        names = odd_names(chance, n_rows)
        rows = tuple(WordRow(*own) for own in zip(names, counts, strict=True))
        n_different = n_rows + chance.choice((0, 1, 300))
        n_once = chance.choice((0, n_different, n_different // 2))
        n_words = n_different and sum(counts) + n_different
        words = WordCounts(n_words, n_different, n_once, rows)
        n_texts, is_whole = chance.choice((1, 2, 2000)), chance.random() < 0.5
        title, case = words_title(words, is_whole=is_whole), "whole" if is_whole else "so_far"
        assert_plain([title])
        assert len(title) <= 110
        claims = said(
            words_claims(chance.choice(names or ["x"]), n_texts, words, is_whole=is_whole)
        )
        if not n_words:
            assert [own.key for own in claims] == ["corpora.words.none"]
            continue
        assert_said(claims, f"corpora.words.{case}", n=n_texts, words=n_words)
        if n_once:
            assert_said(claims, "corpora.words.once", n=n_different, share=n_once / n_different)
        else:
            assert_said(claims, "corpora.words.more", n=n_different)
        if not rows or counts[0] == 1:
            verdict = "once" if rows else "none"
        else:
            verdict = "tied" if counts[1:2] == counts[:1] else "several"
        word = shortened(names[0], 24) if names else ""
        times = counts[0] if counts else 0
        assert title == say(f"corpora.title.{case}.{verdict}", word=word, times=times)
    said.assert_all("corpora.words")


def test_the_headline_and_the_reading_are_told_as_they_are_read() -> None:
    assert words_title(WORDS) == (
        "Small words aside, “python” occurs most often: 40 times, in 2 senses"
    )
    tied = replace(WORDS, rows=(WordRow("bank", 40, 1), ROWS[0]))
    assert words_title(tied) == (
        "Small words aside, no word occurs more often than “bank”: 40 times, in one sense"
    )
    plain = replace(WORDS, rows=ROWS[2:])
    assert words_title(plain) == "Small words aside, “river” occurs most often: 7 times"
    once = replace(WORDS, rows=(WordRow("x", 1),))
    assert words_title(once) == "No word shown occurs more than once"
    said = words_claims("mine.csv", 200, WORDS)
    assert " ".join(map(str, said)) == (
        "**mine\\.csv** has **200** texts, with a word count of **1,000**. Of its 400 distinct "
        "words, **50%** occur only once, which is too rare to compare meanings."
    )
    said = words_claims("x", 1, WordCounts(1, 1, 1, (WordRow("ox", 1),)))
    assert str(said[1]) == "Its only word occurs once."


def test_what_was_typed_takes_no_effect() -> None:
    rude = "**bold** <img src=x> $x$ :material/home:"
    said = str(words_claims(rude, 2, WordCounts(2, 2, 2, (WordRow(rude, 1),)))[0])
    assert "<img" not in said.replace("\\<img", "")
    assert "**bold" not in said.replace("\\*\\*bold", "")
    figure = word_bars([WordRow(rude, 1)], chosen=rude, height=200)
    assert all("<img" not in name for name in figure.layout.yaxis.ticktext)


def test_bars_have_their_numbers_and_the_chosen_word_is_strong() -> None:
    figure = word_bars(ROWS, chosen="bank", height=300)
    (bars,) = figure.data
    assert list(bars.x) == [40, 30, 7]
    assert list(bars.text) == ["40 · 2 senses", "30 · 3 senses", "7"]
    assert list(figure.layout.yaxis.ticktext) == ["python", "<b>bank</b>", "river"]
    colors = bars.marker.color
    assert len(set(colors)) == 3, "strong, with senses, without"
    assert colors[1] == "#0072B2"
    plain = word_bars(ROWS[2:], chosen="", height=300).data[0]
    assert plain.marker.color[0] == colors[0]


@pytest.mark.parametrize(
    ("state", "is_under_way", "expected"),
    [
        ("waiting", True, "being read, 25%"),
        ("indexing", True, "being read, 25%"),
        ("paused", True, "pausing"),
        ("paused", False, "paused at 25%"),
        ("indexing", False, "interrupted at 25%"),
        ("waiting", False, "interrupted at 25%"),
        ("failed", False, "stopped at 25%"),
        ("done", False, "ready to be searched"),
    ],
)
def test_every_state_has_its_words(state: str, is_under_way: bool, expected: str) -> None:
    about = replace(ABOUT, state=state)  # type: ignore[arg-type]
    assert state_of(about, is_under_way=is_under_way, share=0.25) == expected


def test_facts_stand_in_a_line() -> None:
    assert facts(ABOUT) == "200 texts · 1,234 words · 2.5 MB"
    assert indexed_with(ABOUT) == "made-up, layers 0 to 2, full precision"
    assert date(ABOUT.created) == "22 Nov 2026"
    assert date("no date at all, and long") == "no date at all, and…"
    assert [megabytes(n) for n in (10, 4e5, 2.5e7, 1.2e9)] == [  # type: ignore[arg-type]
        *("under 0.1 MB", "0.4 MB", "25 MB", "1.2 GB")
    ]


def test_an_estimate_is_a_sentence() -> None:
    assert list(map(str, cost_claims(IndexingCost(1_000, 15_000, 450_000_000, 125.0)))) == [
        "**What happens:** the model reads 1,000 texts (about 15,000 words). This takes about "
        "**2 minutes**; you can leave the page meanwhile.",
        "**What is kept:** the columns that you chose, and what the model computes for each word: "
        "**450 MB**.",
    ]
    assert "**2 seconds**" in str(cost_claims(IndexingCost(1, 1, 1, 0.1))[0])
    assert "**2.5 hours**" in str(cost_claims(IndexingCost(1, 1, 1, 9_000))[0])


def test_a_model_that_is_not_to_be_had_is_said(service: EncoderService) -> None:
    card = service.load(BUNDLED_ID)
    own = {"model": BUNDLED_ID, "checksum": card.checksum}
    assert model_note(replace(ABOUT, indexing=indexing(**own)), service) == ""
    changed = replace(ABOUT, indexing=indexing(**{**own, "checksum": "other"}))
    assert "another version" in model_note(changed, service)
    for gone in ("google-bert/bert-large-cased", "folder:none", "no such model"):
        said = model_note(replace(ABOUT, indexing=indexing(model=gone)), service)
        assert said.startswith(f"The model of this corpus, {gone}, is no longer on this machine.")
        assert "You can search the corpus" in said
