"""The line between two senses or references: places, ends and what is clear, on any vectors."""

from __future__ import annotations

import numpy as np
import pytest

from contextlens.analysis.sense_names import SenseNames, Verdict
from contextlens.analysis.separation import scaled
from contextlens.analysis.similarity import Comparison, Item, compare
from contextlens.features.home.tug import of_references, of_senses
from contextlens.ui.widgets.comparison.senses import NamedUses

LAYERS = (0, 1, 2)
N_DIMS = 6


def names_of(random: np.random.Generator, n_senses: int) -> SenseNames:
    margins = np.array([np.inf, *random.uniform(0.01, 0.2, len(LAYERS) - 1)], np.float32)
    return SenseNames(
        senses=np.array([f"sense {i}" for i in range(n_senses)]),
        centre=random.normal(size=(len(LAYERS), N_DIMS)).astype(np.float32),
        centroids=scaled(random.normal(size=(len(LAYERS), n_senses, N_DIMS)).astype(np.float32)),
        margins=margins,
    )


def uses_of(names: SenseNames, vectors: np.ndarray, layer: int) -> NamedUses:
    n = len(vectors)
    namings = tuple(names.name(use[layer], layer) for use in vectors)
    letters = tuple("ABCDEFGH"[:n])
    told = Verdict.CANNOT_TELL
    return NamedUses("none", names, layer, tuple(range(n)), letters, vectors, namings, told)


@pytest.mark.parametrize("n_senses", [2, 3, 4])
def test_a_use_with_a_name_stands_at_the_end_of_that_name(n_senses: int) -> None:
    random = np.random.default_rng(n_senses)
    for _ in range(200):
        names, n_uses = names_of(random, n_senses), int(random.integers(1, 9))
        vectors = random.normal(size=(n_uses, len(LAYERS), N_DIMS)).astype(np.float32)
        layer = int(random.integers(len(LAYERS)))
        tug = of_senses(uses_of(names, vectors, layer))
        assert tug.left != tug.right
        at = layer or LAYERS[-1]
        assert names.name(vectors[0, at], at).nearest in (tug.left, tug.others[0])
        for use, place, clear, other in zip(
            vectors, tug.places, tug.is_clear, tug.others, strict=True
        ):
            assert not clear[0]  # whose margin is infinite
            naming = names.name(use[at], at)
            if other is not None:
                assert naming.nearest == other
            elif naming.is_clear:
                end = tug.left if place[at] < 0 else tug.right
                assert (naming.nearest, bool(clear[at])) == (end, True)
                assert abs(place[at]) >= tug.margins[at] - 1e-6  # outside the grey
            assert abs(place[at]) <= tug.reach


def comparison_of(vectors: np.ndarray, n_references: int, unknown: bool = False) -> Comparison:
    n = len(vectors) - n_references
    items = [Item("ABC"[i], "python", "sentence", i) for i in range(n)]
    items += [Item("", f"ref{i}", "reference", n + i, unknown=unknown) for i in range(n_references)]
    return compare(items, vectors, vectors[:, 0], layers=LAYERS)


def test_references_pull_from_the_common_start() -> None:
    left, right = np.eye(2)
    start = left + 0.5 * right
    uses = [[start, start + pull * 0.2, start + pull] for pull in (left, right)]
    vectors = np.array([*uses, [left] * 3, [right] * 3], np.float32)
    tug = of_references(comparison_of(vectors, 2))
    assert tug is not None
    assert (tug.left, tug.right) == ("ref0", "ref1")
    assert tug.has_one_start
    assert tug.places[:, 0] == pytest.approx(tug.middle)
    assert tug.places[0, 2] < tug.middle < tug.places[1, 2]
    assert tug.is_clear[:, 2].all()
    assert not tug.is_clear[:, 0].any()


@pytest.mark.parametrize(("n", "unknown"), [(0, False), (1, False), (2, True)])
def test_without_two_references_that_can_be_read_there_is_no_line(n: int, unknown: bool) -> None:
    vectors = np.random.default_rng(1).normal(size=(2 + n, 3, 4)).astype(np.float32)
    assert of_references(comparison_of(vectors, n, unknown)) is None
