"""The ambiguous words: every rule of the file that can be checked without a model."""

from __future__ import annotations

from collections import Counter
from dataclasses import FrozenInstanceError
from itertools import combinations, groupby

import pytest

from components.content.bundled_texts import ambiguous_words, baseline_sentences
from components.content.examples import EXAMPLES
from components.core.words import find_words, split_words

ENTRIES = ambiguous_words()
WORDS = list(dict.fromkeys(entry.word for entry in ENTRIES))
SENSES = {
    key: [entry.text for entry in group]
    for key, group in groupby(ENTRIES, lambda entry: (entry.word, entry.sense))
}
FUNCTION_WORDS = frozenset(
    w
    for line in (
        "a an and as at by can for from had has he her his i if in is it its my no not of on one",
        "or she than that the their them then there they this to was we were what when which who",
        "will with you your",
    )
    for w in line.split()
)
NAMES = {  # may be capitalised anywhere
    ("python", "language"),
    ("mercury", "planet"),
    ("jaguar", "car"),
    ("java", "island"),
    ("java", "language"),
}
by_sense = pytest.mark.parametrize("key", SENSES, ids=": ".join)


def words(text: str) -> list[str]:
    return [w.casefold() for a, b in split_words(text) if (w := text[a:b])[0].isalnum()]


def n_grams(text: str, n: int) -> set[tuple[str, ...]]:
    found = words(text)
    return {tuple(found[i : i + n]) for i in range(len(found) - n + 1)}


def place(text: str, word: str) -> float:
    """Where a word stands among the words of its text: 0 is first, 1 is last."""
    found = words(text)
    return found.index(word) / (len(found) - 1)


# What there is


def test_there_are_eighteen_words_and_python_comes_first() -> None:
    assert len(WORDS) == 18
    assert len(ENTRIES) == 677
    assert WORDS[0] == "python"
    assert [sense for word, sense in SENSES if word == "python"] == ["animal", "language"]


def test_words_have_two_to_four_senses_and_some_have_more_than_two() -> None:
    n_senses = Counter(word for word, _ in SENSES)
    assert set(n_senses.values()) == {2, 3, 4}


def test_the_file_goes_word_by_word_and_sense_by_sense() -> None:
    """`groupby` made one run of each, so none was written over."""
    assert sum(map(len, SENSES.values())) == len(ENTRIES)
    assert len(list(groupby(entry.word for entry in ENTRIES))) == len(WORDS)


def test_the_file_is_read_once_and_its_entries_stay_as_they_are() -> None:
    assert ambiguous_words() is ENTRIES
    with pytest.raises(FrozenInstanceError):
        ENTRIES[0].sense = "other"  # type: ignore[misc]


def test_labels_are_short_plain_words() -> None:
    for word, sense in SENSES:
        assert word.isalpha(), word
        assert word.islower(), word
        assert 1 <= len(sense.split()) <= 2, sense
        assert sense.replace(" ", "").isalpha(), sense
        assert sense.islower(), sense
        assert word not in sense.split(), sense


@by_sense
def test_a_sense_has_13_to_16_sentences(key: tuple[str, str]) -> None:
    assert 13 <= len(SENSES[key]) <= 16


# The word in its sentence


@by_sense
def test_the_word_stands_once_in_its_base_form(key: tuple[str, str]) -> None:
    word = key[0]
    for text in SENSES[key]:
        spans = find_words(text, word)
        assert len(spans) == 1, text
        start, end = spans[0]
        forms = {word, word.capitalize()} if start == 0 or key in NAMES else {word}
        assert text[start:end] in forms, text
        assert text.casefold().count(word) == 1, f"inside another word too: {text}"


def test_no_sentence_has_another_ambiguous_word() -> None:
    for entry in ENTRIES:
        others = {*WORDS} - {entry.word}
        forms = others | {f"{word}{end}" for word in others for end in ("s", "es")}
        assert not forms & set(words(entry.text)), entry.text


@by_sense
def test_the_word_stands_first_last_and_in_between(key: tuple[str, str]) -> None:
    places = [place(text, key[0]) for text in SENSES[key]]
    assert places.count(0) >= 1
    assert places.count(1) >= 2
    assert sum(0 < p <= 0.5 for p in places) >= 3
    assert sum(0.5 < p < 1 for p in places) >= 2


@pytest.mark.parametrize("key", sorted(NAMES), ids=": ".join)
def test_a_name_is_sometimes_written_small_as_the_other_senses_are(key: tuple[str, str]) -> None:
    """Otherwise a capital letter alone would tell a cased model the senses."""
    written = [text for text in SENSES[key] if key[0] in text]
    assert len(written) >= 3


# Variety


def test_sentences_are_plain_ascii_without_stray_white_space() -> None:
    for entry in ENTRIES:
        assert entry.text.isascii(), entry.text
        assert entry.text.isprintable(), entry.text
        assert entry.text == " ".join(entry.text.split()), entry.text


@by_sense
def test_sentences_are_short_and_long(key: tuple[str, str]) -> None:
    lengths = [len(words(text)) for text in SENSES[key]]
    assert min(lengths) >= 5
    assert max(lengths) <= 28
    assert min(lengths) <= 9
    assert max(lengths) >= 18
    assert len(set(lengths)) >= 8


@by_sense
def test_a_sense_has_a_question_and_speech_or_chat(key: tuple[str, str]) -> None:
    texts = SENSES[key]
    assert any("?" in text for text in texts)
    assert any(text.startswith('"') for text in texts)
    assert any(text[0].islower() for text in texts)
    assert len({text[-1] for text in texts}) >= 3


@by_sense
def test_no_word_gives_a_sense_away(key: tuple[str, str]) -> None:
    """At most three sentences of a sense share a word of content, singular and plural as one."""
    bags = [{w.removesuffix("s") for w in words(text) if w != key[0]} for text in SENSES[key]]
    function_words = FUNCTION_WORDS | {word.removesuffix("s") for word in FUNCTION_WORDS}
    uses = Counter(w for bag in bags for w in bag - function_words)
    assert max(uses.values()) <= 3, uses.most_common(3)


def test_sentences_open_differently() -> None:
    texts = [entry.text for entry in ENTRIES]
    assert max(Counter(tuple(words(text)[:2]) for text in texts).values()) <= 3
    assert max(Counter(tuple(words(text)[:3]) for text in texts).values()) <= 2
    first_words = Counter(words(text)[0] for text in texts)
    assert max(first_words.values()) <= len(texts) / 8
    for key, own in SENSES.items():
        assert max(Counter(words(text)[0] for text in own).values()) <= 3, key


def test_no_phrase_comes_back() -> None:
    texts = [entry.text for entry in ENTRIES]
    assert max(Counter(g for text in texts for g in n_grams(text, 3)).values()) <= 4
    assert max(Counter(g for text in texts for g in n_grams(text, 4)).values()) <= 2
    assert max(Counter(g for text in texts for g in n_grams(text, 5)).values()) == 1


def test_no_two_sentences_are_nearly_the_same() -> None:
    bags = [set(words(entry.text)) for entry in ENTRIES]
    assert max(len(a & b) / len(a | b) for a, b in combinations(bags, 2)) < 0.35


def test_the_sentences_are_not_those_of_the_app_s_other_texts() -> None:
    others = {*baseline_sentences(), *(s.text for e in EXAMPLES for s in e.sentences)}
    others_grams = {g for text in others for g in n_grams(text, 6)}
    for entry in ENTRIES:
        assert not n_grams(entry.text, 6) & others_grams, entry.text


def test_the_sentences_use_many_words() -> None:
    assert len({w for entry in ENTRIES for w in words(entry.text)}) >= 2500
