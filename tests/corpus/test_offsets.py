"""The unit of offsets is proved by the words that they cover, against Python's own encoders."""

from __future__ import annotations

import gc
import weakref
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlens.corpus.offsets import CODE_POINTS, unit_of, units
from contextlens.corpus.table import table_of
from contextlens.corpus.targets import MarkColumns, guess_marks, targets_of

UNITS = units()
UTF16, BYTES, ONE_BREAK, TWO_BREAKS, BYTES_16, LAST, FROM_1, FROM_1_LAST = UNITS[1:]
TEXTS = [
    *(
        "🎉🎉 Our bank shut",
        "Zoë, the bank is open",
        "He\r\nleft\r\nthe bank today",
        "A bank holiday",
    ),
    *("No\nnew bank opened", "🎉 é\r\nThe bank of the river"),
]


def counted(text: str, unit: object) -> tuple[int, int]:
    """The place of "bank" as a program that counts in this unit writes it."""
    start = text.index("bank")
    before = text[:start]
    if unit is UTF16:
        start = len(before.encode("utf-16-le")) // 2
    elif unit is BYTES_16:
        start = len(before.encode("utf-16-le"))
        return start, start + 8
    elif unit is BYTES:
        start = len(before.encode())
    elif unit is ONE_BREAK:
        start -= before.count("\r\n")
    elif unit is TWO_BREAKS:
        start += before.count("\n") - before.count("\r\n")
    first, last = {LAST: (0, -1), FROM_1: (1, 1), FROM_1_LAST: (1, 0)}.get(unit, (0, 0))
    return start + first, start + 4 + last


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.title)
@pytest.mark.parametrize("word", ["", "word"])
def test_each_unit_is_found_and_every_word_is_whole(unit: object, word: str) -> None:
    places = [counted(text, unit) for text in TEXTS]
    columns = {
        "text": TEXTS,
        "start": [str(start) for start, _ in places],
        "end": [str(end) for _, end in places],
        **({"word": ["Bank"] * len(TEXTS)} if word else {}),
    }
    (marks,) = guess_marks(table_of("mine.csv", "CSV", columns), "text")
    assert (marks.start, marks.end) == ("start", "end")
    found = targets_of(columns, TEXTS, marks)
    assert found.unit == unit
    covered = [text[slice(*span)] for text, span in zip(TEXTS, found.spans, strict=True) if span]
    assert covered == ["bank"] * len(TEXTS)
    assert (found.n_missed, found.n_cut) == (0, 0)
    assert bool(found.notes) == (unit is not CODE_POINTS)


def test_a_mark_that_cuts_a_word_is_named_by_its_row() -> None:
    texts = ["The bank shut", "A bank", "Our banks", "A grey bank", "On the bank there"]
    columns = {"a": ["4", "2", "4", "7", "6"], "b": ["8", "6", "8", "11", "10"]}
    found = targets_of(columns, texts, MarkColumns(start="a", end="b"))
    assert found.unit is CODE_POINTS  # no unit explains rows 3 and 5
    assert found.notes == ("2 marks cover no whole words: “bank” in row 3, “ban” in row 5.",)
    assert all(found.spans)


@given(st.text("aé🎉\r\n ", max_size=12), st.integers(0, 14), st.integers(0, 14))
def test_units_turn_back_what_programs_count(text: str, start: int, end: int) -> None:
    start, end = sorted((min(start, len(text)), min(end, len(text))))
    for unit, codec, size in ((UTF16, "utf-16-le", 2), (BYTES, "utf-8", 1)):
        given_start, given_end = (len(text[:i].encode(codec)) // size for i in (start, end))
        assert unit.to_code_points(text, given_start, given_end) == (start, end)
    if "\r" not in text:
        written = text.replace("\n", "\r\n")
        first, last = (len(text[:i].replace("\n", "\r\n")) for i in (start, end))
        assert TWO_BREAKS.to_code_points(text, first, last) == (start, end)
        assert ONE_BREAK.to_code_points(written, start, end) == (first, last)


@pytest.mark.parametrize(
    ("unit", "size"),
    [
        (UTF16, lambda _, c: len(c.encode("utf-16-le")) // 2),
        (BYTES, lambda _, c: len(c.encode())),
        (ONE_BREAK, lambda before, c: int((before, c) != ("\r", "\n"))),
        (TWO_BREAKS, lambda before, c: 1 + int(c == "\n" and before != "\r")),
    ],
    ids=["utf-16", "bytes", "one break", "two breaks"],
)
def test_every_place_of_a_long_text_is_turned_back(unit: Any, size: Any) -> None:
    text = ("é" * 1_023 + "\r\n🎉 a\n") * 3  # a break over the end of the first 1,024
    sizes = map(size, " " + text, text)
    at = {number: i for i, number in enumerate(accumulate(sizes, initial=0))}
    for number in range(0, len(text) * 2, 7):
        expected = at.get(number)
        if expected is not None:
            assert unit.to_code_points(text, number, number) == (expected, expected)


def test_no_text_is_held_after_its_unit_is_found() -> None:
    class Text(str):
        """A text that can be watched; short ones are held by the splitter of words."""

    text = Text("🎉🎉 Our bank shut" + " and" * 1_000)
    assert unit_of([(text, counted(text, UTF16))]) == UTF16
    watched = weakref.ref(text)
    del text
    gc.collect()
    assert watched() is None


def test_whole_words_need_no_other_unit() -> None:
    assert unit_of((text, counted(text, CODE_POINTS)) for text in TEXTS) is CODE_POINTS
    assert unit_of([]) is CODE_POINTS


COLUMNS = {
    "constants": (["0"] * 6, ["3"] * 6),
    "counters": ([str(i) for i in range(6)], [str(i + 3) for i in range(6)]),
    "times": (["0", "3", "7", "11", "14", "20"], ["3", "6", "10", "14", "18", "23"]),
}


@pytest.mark.parametrize("titles", [("version", "project"), ("start", "end")])
@pytest.mark.parametrize("kind", COLUMNS)
def test_constants_counters_and_times_mark_nothing(kind: str, titles: tuple[str, str]) -> None:
    texts = ["The sun is out and we all ran", "Our cat sat on top of the red mat", "One bus",
             "Her tea is hot, or so we hear", "His dog ran off", "Any key fits"]  # fmt: skip
    columns = {"text": texts, **dict(zip(titles, COLUMNS[kind], strict=True))}
    assert guess_marks(table_of("mine.csv", "CSV", columns), "text") == (MarkColumns(),)
