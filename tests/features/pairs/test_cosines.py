"""The cosines of pairs, against scikit-learn, each text encoded once, within bounds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from contextlens.core import BUNDLED_ID, EncoderService, Encoding, ModelCard
from contextlens.core.cache import CachedService
from contextlens.core.schema import Vocabulary
from contextlens.core.words import find_word
from contextlens.features.pairs.cosines import (
    COSINES_PICTURE,
    compare,
    cosines_snippet,
    n_tokens_of,
)
from contextlens.features.pairs.pair_set import WHOLE, PairSet, bundled_pairs, pair_set
from contextlens.jobs import StoppedError
from tests.support.snippets import drawn, run
from tests.support.tiny_models import TYPICAL

TEXTS = ("I love my pet python", "I love coding in Python", "The bank is closed", "A snake ate")


def made(pairs: Sequence[tuple[str, str]], words: Sequence[tuple[str, str]] = ()) -> PairSet:
    """Pairs of whole texts, or of a word in either."""
    spans = [
        tuple(find_word(*both) or WHOLE for both in zip(*own, strict=True))
        for own in zip(pairs, words, strict=False)
    ]
    n = len(pairs)
    return pair_set(
        "mine",
        list(pairs),
        spans=spans or [(WHOLE, WHOLE)] * n,  # type: ignore[arg-type]
        rows=list(range(1, n + 1)),
        gold=[i % 2 for i in range(n)],
        split=None,
    )


EVERY = made(list(product(TEXTS, TEXTS)))


def assert_cosines(found: np.ndarray, first: np.ndarray, second: np.ndarray) -> None:
    """(n_layers,) cosines are scikit-learn's of (n_layers, n_dims) vectors."""
    np.testing.assert_allclose(found, cosine_similarity(first, second).diagonal(), atol=1e-5)


class Watched:
    """A service that notes which texts it encoded, and passes all else on."""

    def __init__(self, inner: EncoderService) -> None:
        self._inner = inner
        self.encoded: list[str] = []

    def encode(self, model: str, texts: Sequence[str], **more: Any) -> list[Encoding]:
        self.encoded += texts
        return self._inner.encode(model, texts, **more)

    def vocabulary(self, model: str) -> Vocabulary:
        return self._inner.vocabulary(model)


@pytest.fixture(scope="module")
def card(service: EncoderService) -> ModelCard:
    return service.load(BUNDLED_ID)


def test_words_are_compared_by_the_mean_of_their_sub_tokens(
    service: EncoderService, card: ModelCard
) -> None:
    texts = [(TEXTS[0], TEXTS[1]), (TEXTS[2], "Its unbelievability is overrated")]
    pairs = made(texts, [("python", "python"), ("bank", "unbelievability")])
    found = compare(pairs, card, service)
    assert found.layers == tuple(range(7))
    for i in range(2):
        vectors = []
        for side in (0, 1):
            start, end = pairs.span(i, side) or WHOLE
            encoding = service.encode(BUNDLED_ID, [pairs.text(i, side)])[0]
            first, last = encoding.offsets.T
            vectors.append(encoding.hidden[:, (first < end) & (last > start)].mean(axis=1))
        assert_cosines(found.values[:, i], *vectors)


@pytest.mark.parametrize("family", TYPICAL)
def test_whole_texts_are_compared_by_the_mean_of_all_tokens(
    tiny_service: EncoderService, family: str
) -> None:
    model, pairs = f"folder:{family}", made([TEXTS[:2], (TEXTS[2], TEXTS[0])])  # type: ignore[list-item]
    found = compare(pairs, tiny_service.load(model), tiny_service)
    means = [own.hidden.mean(axis=1) for own in tiny_service.encode(model, TEXTS[:2])]
    assert_cosines(found.values[:, 0], *means)


def test_each_text_is_encoded_once_though_it_stands_in_many_pairs(
    service: EncoderService, card: ModelCard
) -> None:
    usual, least = Watched(service), Watched(service)
    found = compare(EVERY, card, usual, chunk_bytes=1)  # a pair at a time
    assert sorted(usual.encoded) == sorted(TEXTS)
    assert (found.n_encoded, EVERY.n) == (4, 16)
    small = compare(EVERY, card, least, chunk_bytes=1, cache_bytes=1)
    np.testing.assert_allclose(small.values, found.values, atol=1e-6)
    assert len(least.encoded) > 4  # what made room was read again
    assert isinstance(service, CachedService)
    before = service.cache_info()
    compare(made([("a text of its own", "and another")]), card, service.uncached)
    assert service.cache_info() == before


def test_a_text_beside_itself_and_two_words_of_one_text(
    service: EncoderService, card: ModelCard
) -> None:
    found = compare(made([(TEXTS[0], TEXTS[0])], [("python", "python")]), card, service)
    np.testing.assert_allclose(found.values, 1, atol=1e-6)
    assert found.n_encoded == 1
    text = "The python wrote Python"
    spans = [((4, 10), (17, 23))]
    pairs = pair_set("mine", [(text, text)], spans=spans, rows=[1], gold=[0], split=None)
    found = compare(pairs, card, service)
    assert found.n_encoded == 1
    assert (found.values[1:] < 0.999).all()


def test_a_word_that_the_model_does_not_read_has_no_cosine(
    service: EncoderService, card: ModelCard
) -> None:
    long = "word " * 600 + "python"
    found = compare(made([(long, TEXTS[0]), TEXTS[:2]], [("python", "python")] * 2), card, service)  # type: ignore[list-item]
    assert np.isnan(found.values[:, 0]).all()
    assert not np.isnan(found.values[:, 1]).any()
    assert found.n_cut == 1


def test_progress_is_told_and_what_it_raises_ends_the_work(
    service: EncoderService, card: ModelCard
) -> None:
    shares: list[float] = []

    def stop(stage: str, share: float) -> None:
        assert stage == "Reading 16 pairs"
        shares.append(share)
        if len(shares) == 3:
            raise StoppedError

    with pytest.raises(StoppedError):
        compare(EVERY, card, service, on_progress=stop, chunk_bytes=1)
    assert shares == [0, 1 / 16, 2 / 16]


def test_texts_in_other_scripts_count_as_more_tokens(card: ModelCard) -> None:
    pairs = made([("a" * 300, "界" * 300), ("x" * 90_000, "a")])
    assert n_tokens_of(pairs, card).tolist() == [102, 302, card.max_length, 2]


def test_the_script_gives_the_pages_cosines(service: EncoderService) -> None:
    card, bundled = service.load(BUNDLED_ID), bundled_pairs()
    texts = [(bundled.text(i, 0), bundled.text(i, 1)) for i in range(2)]
    spans = [(bundled.span(i, 0) or WHOLE, bundled.span(i, 1) or WHOLE) for i in range(2)]
    pairs = pair_set(
        "mine",
        [*texts, ('A "python"\n', "Whole texts")],
        spans=[*spans, (WHOLE, WHOLE)],
        rows=[1, 2, 3],
        gold=[-1] * 3,
        split=None,
    )
    expected = compare(pairs, card, service).values
    names = run(cosines_snippet(card, pairs, np.arange(3)))
    assert len(drawn(COSINES_PICTURE, names).data) == len(names["cosines"]) == 3
    for i, values in enumerate(names["cosines"]):
        np.testing.assert_allclose(values.numpy(), expected[:, i], atol=1e-5)
