"""Groups as scikit-learn finds them, their claims, and their cards."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from contextlens.analysis.separation import cosines_to
from contextlens.core import EncoderService
from contextlens.core.errors import RequestError
from contextlens.features.senses.groups import (
    FORMULA,
    MAX_TRIED_GROUPS,
    N_COMPONENTS,
    N_SHUFFLES,
    Grouping,
    UseGroup,
    agreement,
    best_k,
    central,
    components_of,
    dense_groups,
    group_cards,
    k_groups,
    shuffled_agreement,
)
from contextlens.figures.theme import CATEGORICAL
from tests.support.odd import Said, assert_said
from tests.support.senses import SENSES, TEXTS, clouds, live, shown

NAN = float("nan")


@pytest.mark.parametrize("sizes", [(30, 20), (40, 25, 12), (200, 100, 60, 30)])
def test_separate_clouds_are_the_groups(sizes: tuple[int, ...]) -> None:
    units, codes = clouds(sizes)
    assert adjusted_rand_score(codes, dense_groups(units)) > 0.95
    assert k_groups(units, len(sizes)).tolist() == codes.tolist()
    assert best_k(units) == len(sizes)


def test_one_cloud_has_no_dense_groups() -> None:
    """A finding that chance gives one time in twenty or less is one."""
    found = [dense_groups(clouds((60,), seed=seed)[0]).max() >= 0 for seed in range(20)]
    assert sum(found) <= 2


def test_groups_are_the_same_each_time_and_for_any_order() -> None:
    units, _ = clouds((12, 11, 10), apart=1.0)
    order = np.random.default_rng(3).permutation(len(units))
    assert k_groups(units, 3).tolist() == k_groups(units, 3).tolist()
    assert adjusted_rand_score(k_groups(units, 3)[order], k_groups(units[order], 3)) > 0.9
    assert np.bincount(k_groups(units, 4)).tolist() == sorted(
        np.bincount(k_groups(units, 4)).tolist(), reverse=True
    )


@pytest.mark.parametrize("n", [0, 1, 2, 4])
def test_few_vectors_have_no_groups(n: int) -> None:
    units = clouds((9,))[0][:n]
    assert dense_groups(units).tolist() == [-1] * n
    assert best_k(units) == 0


def test_equal_vectors_have_no_groups() -> None:
    units = np.repeat(clouds((1,))[0], 30, axis=0)
    assert best_k(units) == 0
    assert components_of(units).tolist() == [[0]] * 30
    with pytest.raises(RequestError, match="1 different vectors cannot make 2 groups"):
        k_groups(units, 2)


def test_agreement_is_scikit_learns_over_the_labelled_with_none_as_a_group() -> None:
    random = np.random.default_rng(0)
    groups, codes = random.integers(-1, 3, 80), random.integers(-1, 4, 80)
    is_labelled = codes >= 0
    expected = adjusted_rand_score(codes[is_labelled], groups[is_labelled])
    assert agreement(groups, codes) == pytest.approx(expected)
    assert agreement(codes, codes) == 1
    assert math.isnan(agreement(groups, np.full(80, -1)))
    assert math.isnan(shuffled_agreement(groups, np.full(80, -1)))


def test_shuffled_labels_reach_a_little_above_nothing() -> None:
    random = np.random.default_rng(0)
    groups, codes = random.integers(0, 2, 60), random.integers(0, 2, 60)
    assert 0 < shuffled_agreement(groups, codes) < 0.15
    assert agreement(codes, codes) > shuffled_agreement(codes, codes)


def test_central_examples_are_those_with_the_highest_cosine_to_the_middle() -> None:
    units, codes = clouds((20, 10))
    middle = units[codes == 1].mean(axis=0)
    cosines = cosines_to(units, middle)
    expected = [i for i in np.argsort(-cosines, kind="stable") if codes[i] == 1][:3]
    assert central(units, codes, 1) == expected
    assert len(central(units, codes, 1, 99)) == 10


@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_best_number_of_many_is_that_of_a_sample(k: int) -> None:
    units, _ = clouds([400] * k, apart=8.0)
    assert best_k(units) == k


# The groups of a word


@pytest.mark.parametrize("n", [1, 3])
def test_few_occurrences_are_shown_without_groups(tiny_service: EncoderService, n: int) -> None:
    senses = shown(tiny_service, live(tiny_service, TEXTS[:n]), groups="found")
    assert senses.uses.n == n
    assert senses.grouping.descriptions == ()
    assert senses.grouping.problem
    assert senses.grouping.claims() == senses.grouping.sure() == []
    assert senses.grouping.groups.tolist() == [-1] * n
    assert senses.by_layer.planes[-1].positions.shape == (n, 2)
    more = shown(tiny_service, live(tiny_service, TEXTS[:3]), groups="5")
    assert more.grouping.problem == (
        "3 different vectors cannot make 5 groups. Choose 3 groups at most."
    )


def test_a_chosen_number_of_groups_is_made(tiny_service: EncoderService) -> None:
    senses = shown(tiny_service, live(tiny_service, sense=SENSES), groups="3")
    grouping = senses.grouping
    sizes = [group.n for group in grouping.descriptions]
    assert sizes == sorted(np.bincount(grouping.groups).tolist(), reverse=True)
    assert sum(sizes) == 8
    assert np.isfinite(grouping.rand)
    for group in grouping.descriptions:
        assert set(group.central) <= set(np.flatnonzero(grouping.groups == group.number))
        assert "python" not in group.words
    assert len(grouping.rows(senses.uses)) == 3


def test_cards_have_the_colours_of_the_map(tiny_service: EncoderService) -> None:
    senses = shown(tiny_service, live(tiny_service, sense=(*SENSES[:7], "")), groups="3")
    by_sense = group_cards(senses.uses, senses.grouping, "sense")
    for card, group in zip(by_sense, senses.grouping.descriptions, strict=True):
        members = np.flatnonzero(senses.grouping.groups == group.number).tolist()
        colors = [senses.word_map.color(index) for index in members]
        assert {part.color: part.n for part in card.parts} == {
            color: colors.count(color) for color in colors
        }
        assert [example.row for example in card.examples] == [
            senses.rows[index] for index in group.central
        ]
    by_group = group_cards(senses.uses, senses.grouping, "group")
    assert [card.parts[0].color for card in by_group] == list(CATEGORICAL[:3])
    assert [card.key for card in by_group] == ["g0", "g1", "g2"]


# Claims


def grouping_with(n: int, **values: Any) -> Grouping:
    descriptions = tuple(UseGroup(i, 5, (), (), ()) for i in range(n))
    return Grouping(**{"layer": 5, "descriptions": descriptions, **values})


def test_the_claims_on_groups_are_true() -> None:
    said = Said()
    for seed in range(700):
        chance = random.Random(seed)
        n, none = chance.randint(1, 8), chance.choice((0, 1, 9))
        method, asked = chance.choice((("dense", 0), ("k", 0), ("k", 8)))
        rand, shuffled = (round(chance.uniform(-0.1, 0.3), 3) for _ in range(2))
        rand = chance.choice((rand, NAN, shuffled, round(chance.uniform(0.7, 1), 3)))
        groups = np.array([-1] * none + [0] * 30)
        grouping = grouping_with(n, method=method, n_requested=asked, groups=groups, rand=rand,
                                 shuffled=shuffled)  # fmt: skip
        claims, sure = said(grouping.claims()), said(grouping.sure())
        is_labelled, digits = not math.isnan(rand), float(f"{rand:.2f}")
        match = (
            "not" if digits <= float(f"{shuffled:.2f}") else "well" if digits >= 0.8 else "partly"
        )
        assert len(sure) == is_labelled
        if is_labelled:
            assert_said(sure, "senses.groups.agreement", rand=rand, shuffled=shuffled)
        if is_labelled and method == "k":  # says nothing against the share of right senses above
            assert [claim.key for claim in claims] == [f"senses.groups.split.{match}"]
            assert claims[0].numbers["n"] == n
            continue
        case = "dense" if method == "dense" else "asked" if asked else "kmeans"
        assert_said(claims, f"senses.groups.{case}", n=n, layer=5)
        if none:
            assert_said(claims, "senses.groups.outside", n=none)
        if is_labelled:
            assert_said(claims, f"senses.groups.match.{match}")
        assert len(claims) == 1 + bool(none) + is_labelled
    said.assert_all("senses.groups")


def test_the_explanation_has_the_numbers_of_the_code() -> None:
    assert f"first {N_COMPONENTS}\nprincipal components" in FORMULA
    assert f"from 2 to {MAX_TRIED_GROUPS}" in FORMULA
    assert f"in 5 of {N_SHUFFLES} cases" in FORMULA
