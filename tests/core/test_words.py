"""Word boundaries, after Unicode Standard Annex 29."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from contextlens.core import words as words_module
from contextlens.core.words import find_word, folded, split_words, with_marks

texts = st.text(
    alphabet=st.characters()
    | st.sampled_from("ab 1.,'’-\t\n\r\u00a0\u200d\ufe0f\u0301👩👧🐍🇩🇪שמ日ア…_:")
)


def words(text: str) -> list[str]:
    return [text[a:b] for a, b in split_words(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I love my pet python", ["I", "love", "my", "pet", "python"]),
        ("Don't! Don’t.", ["Don't", "!", "Don’t", "."]),
        ("'quoted'", ["'", "quoted", "'"]),
        ("well-known", ["well", "-", "known"]),
        ("e.g. 3.14 and 1,000.5", ["e.g", ".", "3.14", "and", "1,000.5"]),
        ("snake_case x2 U2", ["snake_case", "x2", "U2"]),
        ("naïve cafe\u0301", ["naïve", "cafe\u0301"]),
        ("a\tb\nc\r\nd\u00a0e\u2028f", ["a", "b", "c", "d", "e", "f"]),
        ("👩‍👧 🏳️‍🌈 🇩🇪🇫🇷 👍🏽", ["👩‍👧", "🏳️‍🌈", "🇩🇪", "🇫🇷", "👍🏽"]),
        ("שלום מרחבא", ["שלום", "מרחבא"]),
        ("日本", ["日", "本"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("مَرْحَبًا بِكُم", ["مَرْحَبًا", "بِكُم"]),
        ("ดี", ["ดี"]),
        ("カタカナ", ["カタカナ"]),
        ("[MASK] <b>", ["[", "MASK", "]", "<", "b", ">"]),
        ("a\x00b", ["a", "\x00", "b"]),
        ("wait...", ["wait", ".", ".", "."]),
    ],
)
def test_words_are_those_of_uax_29(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize("text", ["", " ", "\n\t \u00a0\u3000\u2028", "\r\n"])
def test_white_space_is_no_word(text: str) -> None:
    assert split_words(text) == ()


@given(texts)
@settings(deadline=None)
def test_words_stand_in_order_and_hold_all_but_white_space(text: str) -> None:
    spans = split_words(text)
    last = 0
    for start, end in spans:
        assert text[last:start].strip() == ""
        assert last <= start < end <= len(text)
        assert text[start:end].strip()
        last = end
    assert text[last:].strip() == ""


@given(texts)
@settings(deadline=None, max_examples=300)
def test_an_accent_or_skin_color_stays_with_its_letter_or_emoji(text: str) -> None:
    """UAX 29's rule 4; after a line end, or first in a text, there is nothing to stay with."""
    for start, _ in split_words(text):
        if regex.match(r"\p{Word_Break=Extend}|\u200d", text[start:]):
            assert start == 0 or text[start - 1] in "\n\r\v\f\x85\u2028\u2029"


def test_spans_count_code_points() -> None:
    assert split_words("🐍 python") == ((0, 1), (2, 8))
    assert split_words("👩‍👧 a") == ((0, 3), (4, 5))


def test_a_lone_surrogate_is_split_around_and_breaks_nothing() -> None:
    assert "ab" in words("ab \ud83d cd")


@pytest.mark.parametrize(
    ("text", "end", "behind"),
    [("नमस्ते", 5, 6), ("cafe\u0301s", 4, 5), ("بِكُم", 1, 2), ("ได้", 2, 3), ("ab", 1, 1), ("", 0, 0)],
)
def test_marks_behind_an_end_belong_to_it(text: str, end: int, behind: int) -> None:
    assert with_marks(text, end) == behind


# Finding a word


@pytest.mark.parametrize(
    ("text", "word", "occurrence", "expected"),
    [
        ("The bank by the bank", "bank", 0, (4, 8)),
        ("The bank by the bank", "bank", 1, (16, 20)),
        ("The bank by the bank", "the", 1, (12, 15)),
        ("The bank", "BANK", 0, (4, 8)),
        ("Die Straße", "STRASSE", 0, (4, 10)),
        ("a cafe\u0301", "CAF\u00c9", 0, (2, 7)),
        ("The bankers", "bank", 0, None),
        ("The bank", "bank", 1, None),
        ("The bank", "bank", -1, None),
        ("The bank", "the bank", 0, None),
        ("The bank", "", 0, None),
        ("", "bank", 0, None),
        ("🐍🐍", "🐍", 1, (1, 2)),
    ],
)
def test_a_word_is_found_whole_and_by_occurrence(
    text: str, word: str, occurrence: int, expected: tuple[int, int] | None
) -> None:
    assert find_word(text, word, occurrence) == expected


@given(texts)
@settings(deadline=None)
def test_every_word_can_be_found_again(text: str) -> None:
    seen: dict[str, int] = {}
    for start, end in split_words(text):
        word = text[start:end]
        nth = seen.get(folded(word), 0)
        assert find_word(text, word, nth) == (start, end)
        seen[folded(word)] = nth + 1


def test_of_long_texts_few_are_remembered() -> None:
    for i in range(100):
        split_words(f"{i} " + "a " * 2_000)
    assert words_module._of_long.cache_info().currsize <= 32
    assert words_module._of_short.cache_info().maxsize == 256
    long, short = "x " * 3_000, "x " * 3
    assert split_words(long) is split_words(long)
    assert split_words(short) is split_words(short)
