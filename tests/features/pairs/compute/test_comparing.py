"""The cosines of pairs, against scikit-learn, each text encoded once, within bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from components.core import BUNDLED_ID, EncoderService, Encoding, ModelCard
from components.core.cache import CachedService
from components.core.words import Span, find_word
from components.features.pairs.compute import (
    PAIRS,
    PairsResult,
    compare,
    comparison_key,
    comparison_task,
    n_tokens_of,
)
from components.features.pairs.files import WHOLE, PairSet, bundled_pairs, pair_set
from components.features.pairs.measures import DIFFERENT, SAME, TEST, TRAIN
from components.jobs import Jobs, StoppedError
from tests.support.tiny_models import FAMILIES

TEXTS = ("I love my pet python", "I love coding in Python", "The bank is closed", "A snake ate")


def made(
    pairs: Sequence[tuple[str, str]], words: Sequence[tuple[str, str]] | None = None
) -> PairSet:
    def place(text: str, word: str) -> Span:
        found = find_word(text, word)
        assert found is not None
        return found

    spans = [
        (WHOLE, WHOLE) if words is None else (place(a, words[i][0]), place(b, words[i][1]))
        for i, (a, b) in enumerate(pairs)
    ]
    n = len(pairs)
    gold = [i % 2 for i in range(n)]
    return pair_set(
        "mine", list(pairs), spans=spans, rows=list(range(1, n + 1)), gold=gold, split=None
    )


class Watched:
    """A service that notes which texts it encoded, and passes all else on."""

    def __init__(self, inner: EncoderService) -> None:
        self._inner = inner
        self.encoded: list[str] = []

    def encode(self, model: str, texts: Sequence[str], **more: Any) -> list[Encoding]:
        self.encoded += texts
        return self._inner.encode(model, texts, **more)


@pytest.fixture(scope="module")
def card(service: EncoderService) -> ModelCard:
    return service.load(BUNDLED_ID)


def test_words_are_compared_by_the_mean_of_their_sub_tokens(
    service: EncoderService, card: ModelCard
) -> None:
    pairs = made(
        [(TEXTS[0], TEXTS[1]), (TEXTS[2], "Its unbelievability is overrated")],
        [("python", "python"), ("bank", "unbelievability")],
    )
    found = compare(pairs, card, service)
    assert found.layers == tuple(range(7))
    for i in range(2):
        vectors = []
        for side in (0, 1):
            text, span = pairs.text(i, side), pairs.span(i, side)
            assert span is not None
            encoding = service.encode(BUNDLED_ID, [text])[0]
            first, last = encoding.offsets.T
            inside = (first < span[1]) & (last > span[0])
            vectors.append(encoding.hidden[:, inside].mean(axis=1))
        own = [cosine_similarity(a[None], b[None])[0, 0] for a, b in zip(*vectors, strict=True)]
        np.testing.assert_allclose(found.values[:, i], own, atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_whole_texts_are_compared_by_the_mean_of_all_tokens(
    tiny_service: EncoderService, family: str
) -> None:
    model = f"folder:{family}"
    pairs = made([(TEXTS[0], TEXTS[1]), (TEXTS[2], TEXTS[0])])
    found = compare(pairs, tiny_service.load(model), tiny_service)
    both = [tiny_service.encode(model, [pairs.text(0, side)])[0] for side in (0, 1)]
    means = [encoding.hidden.mean(axis=1) for encoding in both]
    expected = [cosine_similarity(a[None], b[None])[0, 0] for a, b in zip(*means, strict=True)]
    np.testing.assert_allclose(found.values[:, 0], expected, atol=1e-5)


def test_a_pair_of_one_text_is_the_same_at_every_layer(
    service: EncoderService, card: ModelCard
) -> None:
    found = compare(made([(TEXTS[0], TEXTS[0])], [("python", "python")]), card, service)
    np.testing.assert_allclose(found.values, 1, atol=1e-6)
    assert found.n_encoded == 1


def test_each_text_is_encoded_once_though_it_stands_in_many_pairs(
    service: EncoderService, card: ModelCard
) -> None:
    every = [(a, b) for a in TEXTS for b in TEXTS]
    watched = Watched(service)
    found = compare(made(every), card, watched, chunk_bytes=1)  # a pair at a time
    assert sorted(watched.encoded) == sorted(TEXTS)
    assert (found.n_encoded, len(every)) == (4, 16)


def test_little_room_changes_no_number(service: EncoderService, card: ModelCard) -> None:
    every = [(a, b) for a in TEXTS for b in TEXTS]
    usual = compare(made(every), card, service)
    watched = Watched(service)
    least = compare(made(every), card, watched, chunk_bytes=1, held_bytes=1)
    np.testing.assert_allclose(least.values, usual.values, atol=1e-6)
    assert len(watched.encoded) > 4  # what made room was read again


def test_two_words_of_one_text_are_two_vectors(service: EncoderService, card: ModelCard) -> None:
    text = "The python wrote Python"
    pairs = pair_set(
        "mine",
        [(text, text)],
        spans=[((4, 10), (17, 23))],
        rows=[1],
        gold=[0],
        split=None,
    )
    found = compare(pairs, card, service)
    assert found.n_encoded == 1
    assert (found.values[1:] < 0.999).all()


def test_a_word_that_the_model_does_not_read_has_no_cosine(
    service: EncoderService, card: ModelCard
) -> None:
    long = "word " * 600 + "python"
    pairs = made([(long, TEXTS[0]), (TEXTS[0], TEXTS[1])], [("python", "python")] * 2)
    found = compare(pairs, card, service)
    assert np.isnan(found.values[:, 0]).all()
    assert not np.isnan(found.values[:, 1]).any()
    assert found.n_cut == 1


def test_the_visitors_cache_is_left_alone(service: EncoderService, card: ModelCard) -> None:
    assert isinstance(service, CachedService)
    before = service.cache_info()
    compare(made([("a text of its own", "and another")]), card, service.uncached)
    assert service.cache_info() == before


def test_progress_is_told_and_what_it_raises_ends_the_work(
    service: EncoderService, card: ModelCard
) -> None:
    told: list[float] = []

    def stop(stage: str, share: float) -> None:
        assert stage == "Reading 16 pairs"
        told.append(share)
        if len(told) == 3:
            raise StoppedError

    every = [(a, b) for a in TEXTS for b in TEXTS]
    with pytest.raises(StoppedError):
        compare(made(every), card, service, on_progress=stop, chunk_bytes=1)
    assert told == sorted(told)
    assert told[0] == 0


def test_texts_in_other_scripts_count_as_more_tokens(card: ModelCard) -> None:
    pairs = made([("a" * 300, "界" * 300), ("x" * 90_000, "a")])
    assert n_tokens_of(pairs, card).tolist() == [102, 302, card.max_length, 2]


# As a job


def test_a_comparison_is_a_job_with_a_result_of_known_size(
    service: EncoderService, card: ModelCard
) -> None:
    pairs = made([(a, b) for a in TEXTS for b in TEXTS])
    jobs = Jobs(10**9)
    task = comparison_task(pairs, card, service, seconds=1)
    job = jobs.start(task)
    found: PairsResult = job.result(timeout=120)
    assert jobs.get(comparison_key(pairs, card)) is job
    assert job.kind is PAIRS
    assert job.nbytes > found.nbytes > found.cosines.nbytes
    assert found.scores is not None
    assert found.scores.how == "folds"
    assert not any(isinstance(value, PairSet) for value in vars(found).values())


def test_other_pairs_or_another_model_are_another_job(
    service: EncoderService, tiny_service: EncoderService, card: ModelCard
) -> None:
    first, second = made([TEXTS[:2]]), made([TEXTS[1:3]])  # type: ignore[list-item]
    tiny = tiny_service.load("folder:bert")
    keys = {comparison_key(pairs, each) for pairs in (first, second) for each in (card, tiny)}
    assert len(keys) == 4


# The ready-made pairs


def test_the_ready_made_pairs_are_balanced_and_no_word_is_in_both_parts() -> None:
    pairs = bundled_pairs()
    assert pairs.split is not None
    words = [pairs.word(i, 0).casefold() for i in range(pairs.n)]
    assert words == [pairs.word(i, 1).casefold() for i in range(pairs.n)]
    parts = {part: {w for w, p in zip(words, pairs.split, strict=True) if p == part}
             for part in (TRAIN, TEST)}  # fmt: skip
    assert not parts[TRAIN] & parts[TEST]
    assert abs(len(parts[TRAIN]) - len(parts[TEST])) <= 1
    for word in set(words):
        own = [kind for kind, each in zip(pairs.gold.tolist(), words, strict=True) if each == word]
        assert own.count(SAME) == own.count(DIFFERENT) >= 10
    assert len({tuple(row) for row in pairs.sides.tolist()}) == pairs.n
    assert (pairs.sides[:, 0] != pairs.sides[:, 1]).all()


def test_the_ready_made_pairs_are_always_the_same() -> None:
    first = bundled_pairs()
    bundled_pairs.cache_clear()
    assert bundled_pairs().key == first.key
