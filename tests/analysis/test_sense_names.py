"""Names of senses on vectors whose senses are known, and on the ready corpus."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from contextlens.analysis import sense_names
from contextlens.analysis.kept_arrays import load, save
from contextlens.analysis.sense_names import MIN_USES, RIGHT, Naming, SenseNames, Verdict
from contextlens.analysis.words import word_vectors
from contextlens.content.bundled_texts import ambiguous_words
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.words import find_word

CENTRE = np.full((1, 20), 3.0, dtype=np.float32)


def drawn(gap: float, *, n: int = 40, seed: int = 0) -> tuple[list[str], np.ndarray]:
    """Uses of two senses around two centres, whose distance is `gap` times the noise."""
    random = np.random.default_rng(seed)
    labels = ["animal", "language"] * (n // 2)
    centres = random.normal(size=(2, 20))
    vectors = np.tile(centres, (n // 2, 1)) * gap + random.normal(size=(n, 20))
    return labels, (vectors[:, None] + CENTRE).astype(np.float32)


def measured(labels: list[str], vectors: np.ndarray) -> SenseNames:
    names = sense_names.measure(labels, vectors, CENTRE)
    assert names is not None
    return names


def test_new_uses_with_a_name_are_right() -> None:
    labels, vectors = drawn(1.0, n=60)
    names = measured(labels[:40], vectors[:40])
    namings = [names.name(vector[0], 0) for vector in vectors[40:]]
    clear = [n.sense == label for n, label in zip(namings, labels[40:], strict=True) if n.is_clear]
    assert len(clear) >= 10
    assert np.mean(clear) >= RIGHT


def test_uses_without_a_difference_get_no_name() -> None:
    named = [np.isfinite(measured(*drawn(0.0, n=60, seed=seed)).margins[0]) for seed in range(40)]
    assert np.mean(named) <= 0.05


def test_labels_that_may_be_no_meanings_give_names_only_beyond_luck() -> None:
    few = [drawn(0.0, n=10, seed=seed) for seed in range(40)]
    found = [sense_names.measure(*uses, CENTRE, are_meanings=False) for uses in few]
    assert sum(names is not None for names in found) <= 2
    uses = drawn(2.0)
    names = sense_names.measure(*uses, CENTRE, are_meanings=False)
    assert names is not None
    np.testing.assert_array_equal(names.margins, measured(*uses).margins)


def test_a_use_between_two_senses_has_no_name() -> None:
    names = measured(*drawn(2.0))
    middle = names.centroids[0].sum(axis=0) + CENTRE[0]
    naming = names.name(middle, 0)
    assert naming.margin == pytest.approx(0, abs=1e-6)
    assert naming.sense is None


def test_the_commoner_sense_does_not_hide_the_rarer_ones_mistakes() -> None:
    """Always naming the common sense is right in 95% of the uses, and in half of the senses."""
    codes = (np.arange(100) % 20 == 0).astype(int)
    margin = sense_names.reliable_margin(np.linspace(0.2, 0.1, 100), codes == 0, codes)
    assert margin == np.inf


def test_the_margin_is_the_lowest_from_which_enough_uses_are_right() -> None:
    right = np.array([True] * 9 + [False] + [True] * 4 + [False] * 6)
    margins = np.linspace(0.2, 0.01, 20)
    for codes in (np.zeros(20, dtype=int), np.arange(20) % 2):
        lowest = sense_names.reliable_margin(margins, right, codes)
        weights = 1 / np.bincount(codes)[codes]
        shares = [np.average(right[:k], weights=weights[:k]) for k in range(1, 21)]
        assert lowest == margins[max(k for k, share in enumerate(shares) if share >= RIGHT)]


def test_rare_senses_are_left_out_and_one_sense_has_no_names() -> None:
    labels, vectors = drawn(2.0)
    labels[: MIN_USES - 1] = ["rare"] * (MIN_USES - 1)
    assert set(measured(labels, vectors).senses.tolist()) == {"animal", "language"}
    assert sense_names.measure(["animal"] * 40, vectors, CENTRE) is None


@pytest.mark.parametrize(
    ("first", "second", "cosine", "verdict"),
    [
        (("a", True), ("a", True), 0.5, Verdict.SAME),
        (("a", True), ("b", True), 0.5, Verdict.DIFFERENT),
        (("a", True), ("b", False), 0.5, Verdict.CANNOT_TELL),
        (("a", True), ("a", False), 0.5, Verdict.CANNOT_TELL),
        (("a", True), ("b", True), sense_names.ONE_MEANING, Verdict.SAME),
    ],
)
def test_two_uses_have_one_meaning_if_their_names_say_so_or_they_are_almost_equal(
    first: tuple[str, bool], second: tuple[str, bool], cosine: float, verdict: Verdict
) -> None:
    namings = [Naming(name, 0.1, is_clear) for name, is_clear in (first, second)]
    assert sense_names.meaning_of(*namings, cosine) is verdict
    assert sense_names.meaning_of(*namings[::-1], cosine) is verdict


def test_names_come_back_from_disk(tmp_path: Path) -> None:
    names = measured(*drawn(1.0))
    save(names, tmp_path / "names.npz")
    stored = load(SenseNames, tmp_path / "names.npz")
    assert stored is not None
    assert stored.fits(0, 20)
    assert not stored.fits(1, 20)
    assert stored.senses.tolist() == names.senses.tolist()
    np.testing.assert_array_equal(stored.centroids, names.centroids)
    (tmp_path / "names.npz").write_bytes(b"broken")
    assert load(SenseNames, tmp_path / "names.npz") is None


def test_the_bundled_model_tells_the_pet_from_the_language(service: EncoderService) -> None:
    uses = [row for row in ambiguous_words() if row.word == "python"]
    texts = [*(row.text for row in uses), "I love my pet python", "I love coding in python"]
    encodings = service.encode(BUNDLED_ID, texts)
    vectors = []
    for text, encoding in zip(texts, encodings, strict=True):
        span = find_word(text, "python")
        assert span is not None
        vectors.append(word_vectors(encoding, span))
    centre = np.zeros_like(vectors[0])
    names = sense_names.measure([row.sense for row in uses], np.stack(vectors[:-2]), centre)
    assert names is not None
    assert [names.name(v[6], 6).sense for v in vectors[-2:]] == ["animal", "language"]
    assert [names.name(v[0], 0).is_clear for v in vectors[-2:]] == [False, False]
