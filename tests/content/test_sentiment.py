"""The sentiment sentences: every rule of the file that can be checked without a model."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import FrozenInstanceError
from itertools import combinations, groupby

import pytest
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline

from components.content.bundled_texts import (
    SentimentSentence,
    ambiguous_words,
    baseline_sentences,
    sentiment_sentences,
)
from components.content.examples import EXAMPLES
from components.core.words import split_words

ENTRIES = sentiment_sentences()
TEXTS = [entry.text for entry in ENTRIES]
SENTIMENTS = ("positive", "negative")
KINDS = ("plain", "negation", "irony", "mixed", "understated", "comparison")
NEGATION = re.compile(
    r"\b(not|no|never|nobody|none|nothing|neither|without|yet to|far from|hardly)\b|n't\b",
    re.IGNORECASE,
)
by_kind = pytest.mark.parametrize("kind", KINDS)


def words(text: str) -> list[str]:
    return [w.casefold() for a, b in split_words(text) if (w := text[a:b])[0].isalnum()]


def n_grams(text: str, n: int) -> set[tuple[str, ...]]:
    found = words(text)
    return {tuple(found[i : i + n]) for i in range(len(found) - n + 1)}


def of(sentiment: str, entries: tuple[SentimentSentence, ...] = ENTRIES) -> list[str]:
    return [entry.text for entry in entries if entry.sentiment == sentiment]


def uses(*, number: bool = True) -> dict[str, tuple[int, int]]:
    """How many positive and negative sentences each word stands in.

    Without `number`, a singular and its plural count as one word.
    """
    shorten = str if number else (lambda word: word.removesuffix("s"))
    positive, negative = (
        Counter(w for text in of(s) for w in {shorten(word) for word in words(text)})
        for s in SENTIMENTS
    )
    return {word: (positive[word], negative[word]) for word in positive | negative}


# What there is


def test_there_are_280_sentences_or_more_of_six_kinds() -> None:
    assert len(ENTRIES) >= 280
    assert [kind for kind, _ in groupby(entry.kind for entry in ENTRIES)] == list(KINDS)
    n_sentences = Counter(entry.kind for entry in ENTRIES)
    assert n_sentences["plain"] <= len(ENTRIES) / 2
    assert min(n_sentences.values()) >= 24


def test_each_kind_and_split_is_half_positive_and_half_negative() -> None:
    """The two take turns, so the beginning of the file is balanced too."""
    assert [entry.sentiment for entry in ENTRIES] == list(SENTIMENTS) * (len(ENTRIES) // 2)
    positive, negative = (
        Counter((entry.kind, entry.split) for entry in ENTRIES if entry.sentiment == sentiment)
        for sentiment in SENTIMENTS
    )
    assert positive == negative


@by_kind
def test_about_70_percent_of_a_kind_are_for_training(kind: str) -> None:
    splits = Counter(entry.split for entry in ENTRIES if entry.kind == kind)
    assert set(splits) == {"train", "test"}
    assert 0.65 <= splits["train"] / splits.total() <= 0.75


def test_the_file_is_read_once_and_its_entries_stay_as_they_are() -> None:
    assert sentiment_sentences() is ENTRIES
    with pytest.raises(FrozenInstanceError):
        ENTRIES[0].sentiment = "negative"  # type: ignore[misc]


# No word gives the sentiment away


def test_a_word_of_content_stands_in_both_or_in_few() -> None:
    stop_words = ENGLISH_STOP_WORDS | {word.removesuffix("s") for word in ENGLISH_STOP_WORDS}
    for number in (True, False):
        found = {w: n for w, n in uses(number=number).items() if w not in stop_words}
        told = {w: (p, n) for w, (p, n) in found.items() if abs(p - n) > 2}
        assert not told, told


def test_frequent_words_stand_in_both_alike() -> None:
    frequent = {word: (p, n) for word, (p, n) in uses().items() if p + n >= 20}
    assert len(frequent) >= 20
    told = {word: (p, n) for word, (p, n) in frequent.items() if not 0.4 <= p / (p + n) <= 0.6}
    assert not told, told


@pytest.mark.parametrize("classifier", [LogisticRegression(max_iter=1_000), BernoulliNB()])
@pytest.mark.parametrize("longest", [1, 2])
def test_words_without_their_order_tell_no_more_than_chance(
    classifier: LogisticRegression | BernoulliNB, longest: int
) -> None:
    """What a model makes of the test sentences beyond this is not in single words or pairs."""
    counted = CountVectorizer(token_pattern=r"(?u)\b\w+\b", ngram_range=(1, longest))
    model = make_pipeline(counted, classifier)
    train, test = (
        [entry for entry in ENTRIES if entry.split == split] for split in ("train", "test")
    )
    model.fit([entry.text for entry in train], [entry.sentiment for entry in train])
    score = model.score([entry.text for entry in test], [entry.sentiment for entry in test])
    assert score <= 0.55


@pytest.mark.parametrize("mark", list("?!\";:,'"))
def test_no_punctuation_gives_it_away(mark: str) -> None:
    positive, negative = (sum(mark in text for text in of(sentiment)) for sentiment in SENTIMENTS)
    assert abs(positive - negative) <= 4


def test_nor_does_the_length_or_the_lower_case_of_a_chat() -> None:
    lengths = [sum(len(words(text)) for text in of(sentiment)) for sentiment in SENTIMENTS]
    assert max(lengths) <= 1.03 * min(lengths)
    chats = [sum(text[0].islower() for text in of(sentiment)) for sentiment in SENTIMENTS]
    assert chats[0] == chats[1] >= 10


# The kinds


def test_negations_have_a_negation_and_plain_sentences_have_none() -> None:
    for entry in ENTRIES:
        if entry.kind in ("plain", "negation"):
            assert bool(NEGATION.search(entry.text)) == (entry.kind == "negation"), entry.text


@by_kind
def test_a_kind_is_short_and_long_asked_spoken_and_chatted(kind: str) -> None:
    for sentiment in SENTIMENTS:
        own = of(sentiment, tuple(entry for entry in ENTRIES if entry.kind == kind))
        lengths = [len(words(text)) for text in own]
        assert max(lengths) >= min(lengths) + 6, sentiment
        assert len(set(lengths)) >= 7, sentiment
        assert any('"' in text for text in own), sentiment
        assert any(text[0].islower() for text in own), sentiment
    assert sum("?" in entry.text for entry in ENTRIES if entry.kind == kind) >= 1


# Variety


def test_sentences_are_plain_ascii_without_stray_white_space() -> None:
    for text in TEXTS:
        assert text.isascii(), text
        assert text.isprintable(), text
        assert text == " ".join(text.split()), text


def test_sentences_have_5_to_32_words_and_rarely_exclaim() -> None:
    for text in TEXTS:
        assert 5 <= len(words(text)) <= 32, text
    assert sum("!" in text for text in TEXTS) <= len(TEXTS) / 40


def test_sentences_open_differently() -> None:
    assert max(Counter(words(text)[0] for text in TEXTS).values()) <= len(TEXTS) / 8
    assert max(Counter(tuple(words(text)[:2]) for text in TEXTS).values()) <= 3
    assert max(Counter(tuple(words(text)[:3]) for text in TEXTS).values()) <= 2


def test_no_phrase_comes_back() -> None:
    assert max(Counter(g for text in TEXTS for g in n_grams(text, 3)).values()) <= 3
    assert max(Counter(g for text in TEXTS for g in n_grams(text, 4)).values()) <= 2
    assert max(Counter(g for text in TEXTS for g in n_grams(text, 5)).values()) == 1


def test_no_two_sentences_are_nearly_the_same() -> None:
    bags = [set(words(text)) for text in TEXTS]
    assert max(len(a & b) / len(a | b) for a, b in combinations(bags, 2)) < 0.35


def test_the_sentences_are_not_those_of_the_app_s_other_texts() -> None:
    others = {
        *baseline_sentences(),
        *(sentence.text for example in EXAMPLES for sentence in example.sentences),
        *(entry.text for entry in ambiguous_words()),
    }
    others_grams = {g for text in others for g in n_grams(text, 6)}
    for text in TEXTS:
        assert not n_grams(text, 6) & others_grams, text


def test_the_sentences_use_many_words() -> None:
    assert len({word for text in TEXTS for word in words(text)}) >= 1_300
