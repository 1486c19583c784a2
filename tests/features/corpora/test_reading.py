"""What is said of a corpus."""

from __future__ import annotations

from dataclasses import replace

import pytest

from components.core import BUNDLED_ID, EncoderService
from components.corpus.store.about import About
from components.features.corpora.compute.estimate import Estimate
from components.features.corpora.compute.words import WordRow, Words
from components.features.corpora.explain import privacy
from components.features.corpora.figures import word_bars
from components.features.corpora.reading import (
    date,
    estimate_reading,
    facts,
    indexed_with,
    megabytes,
    model_note,
    state_of,
    words_reading,
    words_title,
)
from tests.support.corpus_store import indexing

ROWS = (WordRow("python", 40, 2), WordRow("bank", 30, 3), WordRow("river", 7))
WORDS = Words(1_000, 400, 200, ROWS, "sense")
ABOUT = About(
    name="a" * 16,
    title="mine.csv",
    digest="d",
    columns=("sense",),
    split="",
    has_targets=True,
    n_texts=200,
    n_texts_done=50,
    n_occurrences=1_234,
    n_cut=0,
    n_bytes=2_500_000,
    state="indexing",
    why="",
    indexing=indexing((0, 1, 2)),
    created="2026-11-22T10:00:00+00:00",
)


def test_the_headline_names_the_word_that_leads() -> None:
    assert words_title(WORDS) == "“python” leads: 40 times, in 2 senses"
    assert words_title(replace(WORDS, rows=ROWS[2:])) == "“river” leads: 7 times"
    assert words_title(replace(WORDS, rows=())) == "No word here says what it is about"
    once = replace(WORDS, rows=(WordRow("x", 1),))
    assert words_title(once) == "“x” leads: once"
    tied = replace(WORDS, rows=(WordRow("a", 3), WordRow("b", 3)))
    assert words_title(tied) == "“a” and “b” lead: 3 times each"
    marked = replace(WORDS, rows=(WordRow("a", 3, 2), WordRow("b", 3)))
    assert words_title(marked) == "“a” and “b” lead: 3 times each"
    many = replace(WORDS, rows=tuple(WordRow(word, 3) for word in "abcd"))
    assert words_title(many) == "“a”, “b” and others lead: 3 times each"


def test_the_reading_says_how_much_can_be_compared_and_the_chosen_word() -> None:
    assert " ".join(words_reading("mine.csv", 200, WORDS, "bank")) == (
        "**mine\\.csv** holds **1,000 words** in **200 texts**; **400** are different, and **50%** "
        "of those occur only once, with nothing to be compared with. “bank” occurs **30 times**, "
        "in **3 senses**."
    )
    said = " ".join(words_reading("x", 1, Words(2, 1, 0, (WordRow("ox", 2),))))
    assert said == "**x** holds **2 words** in **1 text**. “ox” occurs **2 times**."
    assert "each occurs more than once" in words_reading("x", 1, Words(4, 2, 0, ()))[0]
    assert words_reading("x", 3, Words(0, 0, 0, ())) == [
        "**x** has no word with a letter or a digit."
    ]


def test_what_is_not_indexed_to_its_end_is_told_as_such() -> None:
    assert words_title(WORDS, is_whole=False) == "So far “python” leads: 40 times, in 2 senses"
    none = replace(WORDS, rows=())
    assert words_title(none, is_whole=False) == "So far no word here says what it is about"
    said = words_reading("mine.csv", 20, WORDS, is_whole=False)
    assert said[0].startswith("So far **mine\\.csv** holds **1,000 words** in **20 texts**")


def test_what_was_typed_takes_no_effect() -> None:
    rude = "**bold** <img src=x> $x$ :material/home:"
    said = " ".join(words_reading(rude, 2, Words(2, 2, 2, (WordRow(rude, 1),)), rude))
    assert "<img" not in said.replace("\\<img", "")
    assert "**bold" not in said.replace("\\*\\*bold", "")
    figure = word_bars([WordRow(rude, 1)], chosen=rude, title=rude, height=200)
    assert "<img" not in figure.layout.title.text
    assert all("<img" not in name for name in figure.layout.yaxis.ticktext)


def test_bars_have_their_numbers_and_the_chosen_word_is_bold() -> None:
    figure = word_bars(ROWS, chosen="bank", title="t", height=300)
    (bars,) = figure.data
    assert list(bars.x) == [40, 30, 7]
    assert list(bars.text) == ["40 · 2 senses", "30 · 3 senses", "7"]
    assert list(figure.layout.yaxis.ticktext) == ["python", "<b>bank</b>", "river"]
    colors = bars.marker.color
    assert colors[0] == colors[1] != colors[2]
    plain = word_bars(ROWS[2:], chosen="", title="t", height=300).data[0]
    assert plain.marker.color[0] == colors[0]


@pytest.mark.parametrize(
    ("state", "is_under_way", "expected"),
    [
        ("waiting", True, "being indexed, 25%"),
        ("indexing", True, "being indexed, 25%"),
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
    assert state_of(about, is_under_way=is_under_way) == expected


def test_facts_stand_in_a_line() -> None:
    assert facts(ABOUT) == "200 texts · 1,234 words · 2.5 MB"
    assert indexed_with(ABOUT) == "made-up, layers 0 to 2, exact"
    assert date(ABOUT.created) == "22 Nov 2026"
    assert date("no date at all, and long") == "no date at all, and…"
    assert [megabytes(n) for n in (10, 4e5, 2.5e7, 1.2e9)] == [  # type: ignore[arg-type]
        *("under 0.1 MB", "0.4 MB", "25 MB", "1.2 GB")
    ]


def test_an_estimate_is_a_sentence() -> None:
    assert estimate_reading(Estimate(1_000, 15_000, 450_000_000, 125.0)) == (
        "**1,000 texts** with about **15,000 words** take about **450 MB** on disk and "
        "**2 minutes** here."
    )
    assert "**2 seconds**" in estimate_reading(Estimate(1, 1, 1, 0.1))
    assert "**2.5 hours**" in estimate_reading(Estimate(1, 1, 1, 9_000))


def test_a_model_that_is_not_to_be_had_is_said(service: EncoderService) -> None:
    card = service.load(BUNDLED_ID)
    own = {"model": BUNDLED_ID, "checksum": card.checksum}
    assert model_note(replace(ABOUT, indexing=indexing(**own)), service) == ""
    changed = replace(ABOUT, indexing=indexing(**{**own, "checksum": "other"}))
    assert "other weights" in model_note(changed, service)
    for gone in ("google-bert/bert-large-cased", "folder:none", "no such model"):
        said = model_note(replace(ABOUT, indexing=indexing(model=gone)), service)
        assert said.startswith(f"Its model, {gone}, is not on this machine any more.")
        assert "What is stored can be searched" in said


def test_who_sees_it_is_said_for_one_and_for_many() -> None:
    assert "this machine's disk" in privacy(is_for_one=True, in_cloud=False)
    assert "object storage" in privacy(is_for_one=True, in_cloud=True)
    many = privacy(is_for_one=False, in_cloud=False)
    assert "gets the address in your browser's bar can search, export and delete" in many
    assert "names the corpus that is looked at alone" in many
