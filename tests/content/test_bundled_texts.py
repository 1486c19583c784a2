"""The sentences that ship with the app keep every rule that can be checked without a model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, groupby

import numpy as np
import pytest
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline

from contextlens.content.bundled_texts import (
    SentimentSentence,
    ambiguous_words,
    baseline_sentences,
    sentiment_sentences,
)
from contextlens.content.examples import EXAMPLES
from contextlens.core.words import find_words, split_words

AMBIGUOUS, SENTIMENT = ambiguous_words(), sentiment_sentences()


def words(text: str) -> list[str]:
    return [w.casefold() for a, b in split_words(text) if (w := text[a:b])[0].isalnum()]


def n_grams(text: str, n: int) -> set[tuple[str, ...]]:
    parts = words(text)
    return {tuple(parts[i : i + n]) for i in range(len(parts) - n + 1)}


# Rules for all files


@dataclass(frozen=True)
class File:
    """The sentences of a file, and its bounds.

    Attributes:
        lengths: the fewest and the most words of a sentence.
        openings: the most sentences that open with the same two words.
        phrases: the most sentences that have the same phrase, by its number of words.
        overlap: the share of common words from which two sentences are nearly the same.
        n_words: the fewest different words of the file.
    """

    texts: Sequence[str]
    lengths: tuple[int, int]
    openings: int
    phrases: dict[int, int]
    overlap: float
    n_words: int


FILES = {
    "baseline": File(baseline_sentences(), (4, 40), 2, {3: 4, 5: 2}, 0.4, 1500),
    "ambiguous": File(
        [entry.text for entry in AMBIGUOUS], (5, 30), 16, {3: 16, 4: 6, 5: 2}, 0.5, 5200
    ),
    "sentiment": File(
        [entry.text for entry in SENTIMENT], (5, 30), 3, {3: 3, 4: 2, 5: 1}, 0.35, 2600
    ),
}


@pytest.mark.parametrize("file", FILES.values(), ids=FILES.keys())
def test_sentences_are_plain_and_varied(file: File) -> None:
    bags = [set(words(text)) for text in file.texts]
    for text in file.texts:
        assert text.isascii(), text
        assert text.isprintable(), text
        assert text == " ".join(text.split()), text
        assert file.lengths[0] <= len(words(text)) <= file.lengths[1], text
    for n, most in {1: len(bags) // 6, 2: file.openings, 3: 5}.items():
        openings = Counter(tuple(words(text)[:n]) for text in file.texts)
        assert max(openings.values()) <= most, openings.most_common(2)
    for n, most in file.phrases.items():
        phrases = Counter(phrase for text in file.texts for phrase in n_grams(text, n))
        assert max(phrases.values()) <= most, phrases.most_common(2)
    assert overlap(bags) < file.overlap
    assert len(set().union(*bags)) >= file.n_words


def overlap(bags: Sequence[set[str]]) -> float:
    """The largest share of common words of two bags."""
    has_word = CountVectorizer(analyzer=list).fit_transform(bags).astype(np.float32)
    common = (has_word @ has_word.T).toarray()
    sizes = common.diagonal()
    shares = common / (sizes[:, None] + sizes - common)
    np.fill_diagonal(shares, 0)
    return float(shares.max())


def test_the_overlap_is_that_of_two_sets() -> None:
    assert overlap([{"a", "b"}, {"b", "c", "d"}, {"e"}]) == pytest.approx(1 / 4)


def test_no_phrase_of_six_words_stands_in_two_files() -> None:
    examples = [sentence.text for example in EXAMPLES for sentence in example.sentences]
    texts = [*(file.texts for file in FILES.values()), examples]
    phrases = [{phrase for text in each for phrase in n_grams(text, 6)} for each in texts]
    for one, other in combinations(phrases, 2):
        assert not one & other


def test_files_are_read_once() -> None:
    for read in (ambiguous_words, baseline_sentences, sentiment_sentences):
        assert read() is read()


# The sample for the random-pair baseline


def test_the_sample_has_many_sentences_of_all_lengths() -> None:
    sample = baseline_sentences()
    assert len(sample) >= 200
    lengths = [len(words(text)) for text in sample]
    for low, high, at_least in ((4, 7, 20), (8, 12, 40), (13, 20, 30), (21, 40, 15)):
        assert sum(low <= n <= high for n in lengths) >= at_least, (low, high)
    uses = Counter(w for text in sample for w in set(words(text)) if len(w) >= 7)
    assert max(uses.values()) <= 5


# Ambiguous words


WORDS = tuple(dict.fromkeys(entry.word for entry in AMBIGUOUS))
SENSES = {
    key: [entry.text for entry in group]
    for key, group in groupby(AMBIGUOUS, lambda entry: (entry.word, entry.sense))
}
FUNCTION_WORDS = frozenset(
    w
    for line in (
        "a an and are as at by can could for from had has he her his i if in into is it its my no",
        "not of on one or out she than that the their them then there they this to was we were",
        "what when which who will with you your",
    )
    for w in line.split()
)
NAMES = {  # may be capitalised anywhere
    ("python", "language"),
    ("mercury", "planet"),
    ("jaguar", "car"),
    ("java", "island"),
    ("java", "language"),
    ("apple", "company"),
    ("ruby", "language"),
}
by_sense = pytest.mark.parametrize("key", SENSES, ids=": ".join)


def place(text: str, word: str) -> float:
    """The place of a word among the words of its text: 0 is first, 1 is last."""
    parts = words(text)
    return parts.index(word) / (len(parts) - 1)


def test_there_are_over_eighty_words_of_two_to_four_senses_and_python_comes_first() -> None:
    assert len(WORDS) == len(list(groupby(entry.word for entry in AMBIGUOUS))) == 87
    assert len(AMBIGUOUS) == sum(map(len, SENSES.values()))
    assert [sense for word, sense in SENSES if word == WORDS[0]] == ["animal", "language"]
    assert set(Counter(word for word, _ in SENSES).values()) == {2, 3, 4}
    for word, sense in SENSES:
        assert word.isalpha(), word
        assert word.islower(), word
        assert 1 <= len(sense.split()) <= 2, sense
        assert sense.replace(" ", "").isalpha(), sense
        assert sense.islower(), sense
        assert word not in sense.split(), sense


@by_sense
def test_the_word_stands_once_in_its_base_form(key: tuple[str, str]) -> None:
    word = key[0]
    for text in SENSES[key]:
        spans = find_words(text, word)
        assert len(spans) == 1, text
        start, end = spans[0]
        forms = {word, word.capitalize()} if start <= 1 or key in NAMES else {word}
        assert text[start:end] in forms, text
        assert text.casefold().count(word) == 1, f"inside another word too: {text}"


@by_sense
def test_the_word_stands_first_last_and_in_between(key: tuple[str, str]) -> None:
    places = [place(text, key[0]) for text in SENSES[key]]
    assert places.count(0) >= 1
    assert places.count(1) >= 2
    assert sum(0 < p < 1 for p in places) >= 5


@pytest.mark.parametrize("key", sorted(NAMES), ids=": ".join)
def test_a_name_is_sometimes_written_small_as_the_other_senses_are(key: tuple[str, str]) -> None:
    """Otherwise a capital letter alone would tell a cased model the senses."""
    written = [text for text in SENSES[key] if key[0] in text]
    assert len(written) >= 2


@by_sense
def test_sentences_of_a_sense_are_12_to_16_short_and_long_asked_and_chatted(
    key: tuple[str, str],
) -> None:
    texts = SENSES[key]
    lengths = [len(words(text)) for text in texts]
    assert 12 <= len(texts) <= 16
    assert min(lengths) <= 9
    assert max(lengths) >= 18
    assert len(set(lengths)) >= 6
    assert any("?" in text for text in texts)
    assert any(text.startswith('"') for text in texts)
    assert any(text[0].islower() for text in texts)
    assert len({text[-1] for text in texts}) >= 3
    assert max(Counter(words(text)[0] for text in texts).values()) <= 4


@by_sense
def test_no_word_gives_a_sense_away(key: tuple[str, str]) -> None:
    """At most three sentences of a sense share a word of content, singular and plural as one."""
    bags = [{w.removesuffix("s") for w in words(text) if w != key[0]} for text in SENSES[key]]
    function_words = FUNCTION_WORDS | {word.removesuffix("s") for word in FUNCTION_WORDS}
    uses = Counter(w for bag in bags for w in bag - function_words)
    assert max(uses.values()) <= 3, uses.most_common(3)


# Sentiment

SENTIMENTS = ("positive", "negative")
KINDS = ("plain", "negation", "irony", "mixed", "understated", "comparison")
NEGATION = re.compile(
    r"\b(not|no|never|nobody|none|nothing|neither|without|yet to|far from|hardly)\b|n't\b",
    re.IGNORECASE,
)
by_kind = pytest.mark.parametrize("kind", KINDS)


def of(sentiment: str, entries: tuple[SentimentSentence, ...] = SENTIMENT) -> list[str]:
    return [entry.text for entry in entries if entry.sentiment == sentiment]


def uses(
    entries: tuple[SentimentSentence, ...] = SENTIMENT, *, number: bool = True
) -> dict[str, tuple[int, int]]:
    """The numbers of positive and of negative sentences that each word stands in.

    Without `number`, a singular and its plural count as one word.
    """
    shorten = str if number else (lambda word: word.removesuffix("s"))
    positive, negative = (
        Counter(w for text in of(s, entries) for w in {shorten(word) for word in words(text)})
        for s in SENTIMENTS
    )
    return {word: (positive[word], negative[word]) for word in positive | negative}


def test_there_are_640_sentences_or_more_of_six_kinds() -> None:
    assert len(SENTIMENT) >= 640
    assert [kind for kind, _ in groupby(entry.kind for entry in SENTIMENT)] == list(KINDS)
    n_sentences = Counter(entry.kind for entry in SENTIMENT)
    assert n_sentences["plain"] <= len(SENTIMENT) * 3 / 4
    assert min(n_sentences.values()) >= 24


def test_each_kind_and_split_is_half_positive_and_half_negative() -> None:
    """The two take turns, so the beginning of the file is balanced too."""
    assert [entry.sentiment for entry in SENTIMENT] == list(SENTIMENTS) * (len(SENTIMENT) // 2)
    positive, negative = (
        Counter((entry.kind, entry.split) for entry in SENTIMENT if entry.sentiment == sentiment)
        for sentiment in SENTIMENTS
    )
    assert positive == negative


@by_kind
def test_about_70_percent_of_a_kind_are_for_training(kind: str) -> None:
    splits = Counter(entry.split for entry in SENTIMENT if entry.kind == kind)
    assert set(splits) == {"train", "test"}
    assert 0.65 <= splits["train"] / splits.total() <= 0.75


def test_a_word_of_content_stands_in_both_or_in_few() -> None:
    """In still fewer outside plain sentences, where people use the words they would use."""
    stop_words = ENGLISH_STOP_WORDS | {word.removesuffix("s") for word in ENGLISH_STOP_WORDS}
    hard = tuple(entry for entry in SENTIMENT if entry.kind != "plain")
    for entries, most in ((SENTIMENT, 5), (hard, 3)):
        for number in (True, False):
            found = uses(entries, number=number)
            told = {
                w: n for w, n in found.items() if w not in stop_words and abs(n[0] - n[1]) > most
            }
            assert not told, told


def test_frequent_words_stand_in_both_alike() -> None:
    frequent = {word: (p, n) for word, (p, n) in uses().items() if p + n >= 20}
    assert len(frequent) >= 20
    told = {word: (p, n) for word, (p, n) in frequent.items() if not 0.3 <= p / (p + n) <= 0.7}
    assert not told, told


@pytest.mark.parametrize("classifier", [LogisticRegression(max_iter=1_000), BernoulliNB()])
@pytest.mark.parametrize("longest", [1, 2])
def test_words_without_their_order_tell_little(
    classifier: LogisticRegression | BernoulliNB, longest: int
) -> None:
    """A model that does better on the test sentences reads more than words or pairs."""
    counted = CountVectorizer(token_pattern=r"(?u)\b\w+\b", ngram_range=(1, longest))
    model = make_pipeline(counted, classifier)
    train, test = (
        [entry for entry in SENTIMENT if entry.split == split] for split in ("train", "test")
    )
    model.fit([entry.text for entry in train], [entry.sentiment for entry in train])
    score = model.score([entry.text for entry in test], [entry.sentiment for entry in test])
    assert score <= 0.6


@pytest.mark.parametrize("mark", list("?!\";:,'"))
def test_no_punctuation_gives_it_away(mark: str) -> None:
    positive, negative = (sum(mark in text for text in of(sentiment)) for sentiment in SENTIMENTS)
    assert abs(positive - negative) <= 4


def test_nor_does_the_length_or_the_lower_case_of_a_chat() -> None:
    lengths = [sum(len(words(text)) for text in of(sentiment)) for sentiment in SENTIMENTS]
    assert max(lengths) <= 1.03 * min(lengths)
    chats = [sum(text[0].islower() for text in of(sentiment)) for sentiment in SENTIMENTS]
    assert chats[0] == chats[1] >= 10


def test_negations_have_a_negation_and_plain_sentences_have_none() -> None:
    for entry in SENTIMENT:
        if entry.kind in ("plain", "negation"):
            assert bool(NEGATION.search(entry.text)) == (entry.kind == "negation"), entry.text


@by_kind
def test_a_kind_is_short_and_long_asked_spoken_and_chatted(kind: str) -> None:
    for sentiment in SENTIMENTS:
        own = of(sentiment, tuple(entry for entry in SENTIMENT if entry.kind == kind))
        lengths = [len(words(text)) for text in own]
        assert max(lengths) >= min(lengths) + 6, sentiment
        assert len(set(lengths)) >= 7, sentiment
        assert any('"' in text for text in own), sentiment
        assert any(text[0].islower() for text in own), sentiment
    assert sum("?" in entry.text for entry in SENTIMENT if entry.kind == kind) >= 1
