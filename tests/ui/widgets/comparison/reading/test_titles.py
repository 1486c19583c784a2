"""The title says where the words part, and only what is true of any comparison."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings

from components.analysis.similarity import Comparison
from components.ui.widgets.comparison.reading import NOISE, meaning_title
from tests.ui.widgets.comparison.reading.comparisons import LETTERS, comparisons, made


def test_the_title_names_the_layer_where_the_words_part(story: Comparison) -> None:
    assert meaning_title(story) == "A and B part most at layer 3"
    early = made({"AB": [1.0, 0.7, 0.6, 0.65]})
    assert meaning_title(early) == "A and B part most at layer 1"


def test_the_title_names_the_pair_that_parts_most() -> None:
    three = made(
        {"AB": [1.0, 0.98, 0.97], "AC": [1.0, 0.95, 0.6], "BC": [1.0, 0.8, 0.7]},
        sentences=["bank"] * 3,
    )
    assert meaning_title(three) == "A and C part most at layer 2"


def test_words_that_stay_together_are_not_said_to_part() -> None:
    assert meaning_title(made({"AB": [1.0, 1.0, 0.995]})) == "No layer pulls these words apart"
    assert "part most" not in meaning_title(made({"AB": [0.3, 0.4, 0.6]}))


def test_a_fall_within_noise_is_no_parting() -> None:
    """A drop of 0.017 is what a full stop more or less makes."""
    assert meaning_title(made({"AB": [1.0, 0.983, 0.99]})) == "No layer pulls these words apart"


def test_steps_that_are_alike_have_no_steepest() -> None:
    steady = made({"AB": [1.0, 0.636, 0.279]})  # falls of 0.364 and 0.357
    assert meaning_title(steady) == "A and B part between layers 0 and 2"


def test_pairs_that_fall_alike_have_no_first() -> None:
    alike = made({"AB": [1.0, 0.6], "AC": [1.0, 0.61], "BC": [1.0, 0.9]}, sentences=["bank"] * 3)
    assert meaning_title(alike) == "Cosines fall by up to 0.40 below layer 0"


def test_words_that_part_in_small_steps_are_said_to_part() -> None:
    slow = made({"AB": [1 - 0.018 * layer for layer in range(25)]})
    assert slow.cosines[-1, 0, 1] < 0.6
    assert not meaning_title(slow).startswith("No layer")


def test_one_layer_alone_has_no_place_of_parting() -> None:
    assert meaning_title(made({"AB": [0.5]})) == "Cosine at every layer"


@pytest.mark.slow
@given(comparisons())
@settings(max_examples=500)
def test_every_title_is_true(comparison: Comparison) -> None:
    title = meaning_title(comparison)
    along = {
        f"{LETTERS[p.first]} and {LETTERS[p.second]}": comparison.along(p).astype(float)
        for p in comparison.pairs("sentences")
    }
    falls = {names: values[0] - values.min() for names, values in along.items()}
    match = re.fullmatch(r"(\w and \w) part (?:most at layer|between layers 0 and) (\d+)", title)
    if match is not None:
        values, layer = along[match[1]], int(match[2])
        others = [fall for names, fall in falls.items() if names != match[1]]
        assert falls[match[1]] >= max([NOISE, *(fall + NOISE for fall in others)]) - 1e-6
        if "most" in title:
            steps = np.sort(-np.diff(values))
            assert -np.diff(values)[layer - 1] == steps[-1]
            assert len(steps) == 1 or steps[-1] - steps[-2] >= NOISE - 1e-6
        else:
            assert values[layer] == values.min()
    elif title.startswith("Cosines fall by up to "):
        said = float(re.findall(r"\d\.\d\d", title)[0])
        assert said == pytest.approx(max(falls.values()), abs=0.0051)
    elif title == "Cosine at every layer":
        assert not falls or len(comparison.layers) == 1
    else:
        assert max(falls.values()) < NOISE + 1e-6
        starts = [values[0] for values in along.values()]
        assert (min(starts) < 0.95) == (title == "These words differ from layer 0 on")


def test_words_that_differ_from_the_start_are_not_said_to_stay_together() -> None:
    assert meaning_title(made({"AB": [0.1, 0.1, 0.1]})) == "These words differ from layer 0 on"
    assert meaning_title(made({"AB": [1.0, 1.0, 0.99]})) == "No layer pulls these words apart"
