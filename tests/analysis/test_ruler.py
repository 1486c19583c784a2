"""The ruler against scikit-learn and numpy."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from contextlens.analysis.kept_arrays import load, save
from contextlens.analysis.ruler import (
    KINDS,
    TWO_SENSES,
    LabelledWords,
    Ruler,
    measure,
)
from contextlens.analysis.words import POOLINGS, word_vectors
from contextlens.content.bundled_texts import ambiguous_words, everyday_words, measured_words
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.words import find_word, find_words
from contextlens.ui.models import tasks

pytestmark = pytest.mark.slow


def test_it_knows_its_words() -> None:
    empty = np.zeros((len(POOLINGS), 1, 0), np.float32)
    no_pairs = np.zeros(0, int)
    ruler = Ruler(np.array(["word"]), no_pairs, no_pairs, empty, empty)
    assert ruler.knows("WORD")
    assert not ruler.knows("python")
    assert ruler.ranges(0, "mean", centred=False) == ()


# On the bundled model


@pytest.fixture(scope="module")
def labelled(service: EncoderService) -> LabelledWords:
    return tasks.labelled_words(service.load(BUNDLED_ID), service)


@pytest.fixture(scope="module")
def ruler(service: EncoderService, labelled: LabelledWords) -> Ruler:
    return measure(labelled, tasks.measure(service.load(BUNDLED_ID), service))


def test_the_labelled_words_are_half_of_the_ambiguous_ones_and_the_everyday_ones(
    service: EncoderService, labelled: LabelledWords
) -> None:
    every = measured_words()
    senses = [f"{row.word}: {row.sense}" for row in every]
    kept = [
        [row for row, own in zip(every, senses, strict=True) if own == sense][::2]
        for sense in dict.fromkeys(senses)
    ]
    rows = [*(row for sense in kept for row in sense), *everyday_words()]
    assert labelled.words == tuple(row.word for row in rows)
    assert labelled.senses == tuple(row.sense for row in rows)
    for place in (0, 100, 359, 500):
        (encoding,) = service.encode(BUNDLED_ID, [rows[place].text])
        span = find_word(rows[place].text, rows[place].word)
        for row, pooling in enumerate(POOLINGS):
            own = word_vectors(encoding, span, pooling)
            np.testing.assert_allclose(labelled.vectors[row, place], own, atol=1e-5)


def test_there_are_everyday_words_enough() -> None:
    counts = Counter(row.word for row in everyday_words())
    assert len(counts) >= 60
    assert min(counts.values()) >= 8
    assert len({row.text for row in everyday_words()}) == counts.total()
    assert not set(counts) & {row.word for row in ambiguous_words()}
    assert all(len(find_words(row.text, row.word)) == 1 for row in everyday_words())


def test_the_ranges_overlap_as_was_measured(ruler: Ruler) -> None:
    """Measured apart from this code: at layer 6 the ranges of one and of two senses overlap."""
    found = ruler.ranges(6, "mean", centred=False)
    assert [each.kind for each in found] == list(KINDS)
    expected = [(0.58, 0.82, 0.91), (0.70, 0.86, 0.93), (0.70, 0.85, 0.92)]
    for each, numbers in zip(found, expected, strict=True):
        assert (each.low, each.median, each.high) == pytest.approx(numbers, abs=0.011)


def test_the_ranges_are_those_of_all_pairs_of_one_word(
    ruler: Ruler, labelled: LabelledWords
) -> None:
    cosines = cosine_similarity(labelled.vectors[0, :, 3])
    kept = [i for i, word in enumerate(labelled.words) if word != "python"]
    pairs = [(i, j) for i, j in combinations(kept, 2) if labelled.words[i] == labelled.words[j]]
    two = [cosines[i, j] for i, j in pairs if labelled.senses[i] != labelled.senses[j]]
    found = ruler.ranges(3, "mean", centred=False, without=("python",))[0]
    numbers = (found.low, found.median, found.high)
    np.testing.assert_allclose(numbers, np.percentile(two, [5, 50, 95]), atol=1e-5)
    assert found.n_pairs == len(two)


def test_centred_cosines_have_a_ruler_of_their_own(ruler: Ruler) -> None:
    plain, centred = (ruler.ranges(3, "mean", centred=c) for c in (False, True))
    assert centred[TWO_SENSES].median < plain[TWO_SENSES].median


def test_what_is_saved_is_loaded(ruler: Ruler, tmp_path: Path) -> None:
    path = tmp_path / "new" / "ruler.npz"
    save(ruler, path)
    found = load(Ruler, path)
    assert found is not None
    assert found.fits(6)
    assert not found.fits(12)
    for field in fields(Ruler):
        np.testing.assert_array_equal(getattr(found, field.name), getattr(ruler, field.name))
    path.write_bytes(path.read_bytes()[:1000])
    assert load(Ruler, path) is None
    assert load(Ruler, tmp_path / "nothing.npz") is None
