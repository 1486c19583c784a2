"""Claims about labelled senses: the same verdict and the same numbers on every page."""

from __future__ import annotations

import random

import numpy as np
import pytest

from contextlens.analysis.separation import (
    Separation,
    best_of,
    scaled,
    separation,
    trial_of,
    verdict_of,
    wilson,
)
from contextlens.content.wording import listed, percent
from contextlens.ui.widgets.sense_claims import (
    curve_title,
    senses_claim,
    senses_sure,
    senses_title_at,
    sorted_claim,
)
from tests.support.odd import ODD_NAMES

HALF = trial_of(["animal"] * 16 + ["language"] * 16)


def curve_of(n: int, *rights: int) -> list[Separation]:
    """A curve of tests, where every shuffle gets half of the uses right at every layer."""
    nothing, table = np.zeros(0), np.zeros((2, 2), int)
    return [
        Separation(
            layer,
            right,
            n,
            wilson(right, n),
            nothing,
            nothing,
            table,
            np.nan,
            0.1,
            0.2,
            np.array([right] + [n // 2] * 39),
        )
        for layer, right in enumerate(rights)
    ]


def test_the_story_as_it_is_hoped_for() -> None:
    curve = curve_of(32, 15, 20, 20, 21, 20, 32, 24)
    assert curve_title(curve, HALF) == "Layer 5 sorts them best"
    assert str(sorted_claim("python", curve[6], HALF)) == (
        "Each dot is a sentence with **python**. The model sorts **24 of 32** right (guessing: 16)."
    )
    assert senses_claim("python", curve, HALF, 6) == [
        (
            "Layer 5 separates the senses of “python” best: **100%** of its uses get the "
            "right sense (always guessing “animal”: 50%)."
        ),
        "At layer 6, **75%** of its uses get the right sense.",
    ]
    assert len(senses_claim("python", curve, HALF, 5)) == 1
    assert senses_sure(curve, HALF) == [
        (
            "We tested 32 uses. With more uses, the share that gets the right sense would probably "
            "be between 89% and 100% (95% interval)."
        ),
        "No other layer lies within that interval.",
        (
            "Each use got the sense whose average vector is most similar to it. The averages come "
            "from other uses only (5-fold cross-validation)."
        ),
    ]


def test_layers_within_the_interval_are_named() -> None:
    sure = senses_sure(curve_of(32, 15, 28, 29, 30, 28), HALF)
    assert "Layers 1, 2, 4 may do as well: their shares lie within that interval." in sure


def test_where_no_layer_is_clear_none_is_called_best() -> None:
    curve = curve_of(32, 15, 17, 20)
    curve[1].rights[1:3] = 20
    assert curve_title(curve, HALF) == "No layer sorts them better than guessing"
    assert sorted_claim("python", curve[1], HALF).key == "senses.sorted.luck"
    said = senses_claim("python", curve, HALF, 0)[0]
    assert said.startswith("No layer clearly separates the senses of “python”. At best, **62%** of")


def test_the_best_of_many_layers_must_do_better_than_that_of_one() -> None:
    curve = curve_of(32, *[22] * 13)
    assert verdict_of(curve, HALF).state == "separate"
    curve[12].rights[7] = 22  # a shuffle does as well, at one of the layers
    assert verdict_of(curve[:12], HALF).state == "separate"
    assert verdict_of(curve, HALF).state == "unclear"


def test_no_layer_separates_that_does_no_better_than_guessing() -> None:
    trial = trial_of(["a"] * 24 + ["b"] * 8)
    assert verdict_of(curve_of(32, 24), trial).state == "unclear"
    assert verdict_of(curve_of(32, 26), trial).state == "separate"


def test_shuffled_senses_are_seldom_separate_where_uses_are_near_copies() -> None:
    """By design at most 2.5% of the trials; an interval for independent uses lets 13% pass."""
    rng = np.random.default_rng(0)
    n_separate = 0
    for _ in range(100):
        texts = rng.normal(size=(12, 8))
        vectors = np.concatenate([texts, texts + 0.01 * rng.normal(size=texts.shape)])
        trial = trial_of(rng.permutation(["a", "b"] * 12).tolist())
        curve = [separation(scaled(vectors), trial, 0)]
        n_separate += verdict_of(curve, trial).state == "separate"
    assert n_separate <= 5


def test_the_senses_of_32_uses_are_separate_where_their_clouds_are() -> None:
    n_separate = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        codes = rng.permutation([0, 1] * 16)
        trial = trial_of([HALF.senses[code] for code in codes.tolist()])
        curve = []
        for layer in range(7):
            vectors = rng.normal(size=(32, 16))
            vectors[:, 0] += (layer == 5) * 5 * (codes - 0.5)
            curve.append(separation(scaled(vectors), trial, layer))
        n_separate += verdict_of(curve, trial).state == "separate"
    assert n_separate >= 18


def test_equal_layers_are_best_together() -> None:
    said = senses_claim("python", curve_of(32, 15, 30, 30, 30), HALF, 1)
    assert said[0].startswith("Layers 1 to 3 separate the senses of “python” best: **94%**")
    assert curve_title(curve_of(32, 15, 30, 30, 30), HALF) == "Layers 1 to 3 sort them best"
    said = senses_claim("python", curve_of(32, 30, 30), HALF, 0)
    assert said[0].startswith("Every layer separates the senses of “python” equally well: **94%**")


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (["", ""], "No senses of “python” are labelled here"),
        (["*a*", "*a*"], r"All labelled uses of “python” have the sense “\*a\*”"),
        (["a", "b"], "at least two senses with two labelled uses each."),
    ],
)
def test_what_cannot_be_tested_is_said(labels: list[str], said: str) -> None:
    trial = trial_of(labels)
    (sentence,) = senses_claim("python", [], trial, 0)
    assert said in sentence
    assert sorted_claim("python", None, trial).key == "senses.sorted.untested"
    assert senses_sure([], trial) == []


def test_a_split_is_named() -> None:
    trial = trial_of(["a", "b"] * 8, split=("train",) * 8 + ("test",) * 8)
    assert any("training uses" in sentence for sentence in senses_sure(curve_of(8, 8), trial))


def test_any_word_and_any_numbers_are_said_in_lines_that_fit_and_are_so() -> None:
    for seed in range(300):
        chance = random.Random(seed)
        n, k = chance.choice((4, 10, 32, 200, 2_000)), chance.choice((2, 3, 7))
        word = chance.choice(ODD_NAMES)
        trial = trial_of(["abcdefg"[i % k] for i in range(max(n, 2 * k))])
        n = len(trial.tested)
        rights = [chance.randint(n // 2, n) for _ in range(chance.choice((1, 2, 7, 13, 25)))]
        curve = curve_of(n, *rights)
        layer = chance.randrange(len(curve))
        headline = sorted_claim(word, curve[layer], trial)
        guessed = max(np.bincount(trial.codes[trial.tested]))
        assert headline.numbers["right"] == rights[layer]
        assert headline.numbers["guessed"] == guessed
        if rights[layer] <= guessed:
            assert headline.key == "senses.sorted.luck"
        assert len(senses_title_at(word, curve[layer], trial)) <= 80
        said = senses_claim(word, curve, trial, layer)
        assert all(sentence.endswith(".") and "nan" not in sentence for sentence in said)
        best, near = best_of(curve)
        top = curve[best[0]]
        assert f"**{percent(top.accuracy)}**" in said[0]
        is_clear = top.right > n // 2 and round(100 * top.accuracy) > round(100 * trial.chance)
        assert ("No layer clearly" in said[0]) == (not is_clear)
        named = [own for own in senses_sure(curve, trial) if "may do as well" in own]
        assert len(named) == bool(near)
        assert all(own.startswith(listed(near).capitalize()) for own in named)
