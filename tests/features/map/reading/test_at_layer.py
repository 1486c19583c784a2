"""The title of one layer's map of a word: it tells of that layer alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.features.map.reading.at_layer import senses_title_at
from components.maps.agreement import Agreement


def found(share: float, *, chance: float = 0.5, n: int = 60) -> Agreement:
    return Agreement(share, chance, n, (), n)


@pytest.mark.parametrize(
    ("share", "n", "state"),
    [
        (0.95, 60, "are apart, 95% of nearest agree"),
        (0.7, 60, "lean apart, 70% of nearest agree"),
        (0.55, 60, "are not apart, 55% of nearest agree"),
        (1.0, 3, "are not clearly apart, 100% of nearest agree"),
    ],
)
def test_the_title_is_of_the_layer_that_is_shown(share: float, n: int, state: str) -> None:
    assert senses_title_at(found(share, n=n), 3, "bank") == f"Layer 3: the senses of bank {state}"


def test_one_sense_is_nothing_to_compare() -> None:
    title = senses_title_at(found(1.0, chance=1.0), 3, "bank")
    assert title == "Layer 3: the senses of bank, nothing to compare"


@given(st.floats(0, 1), st.floats(0, 1), st.integers(1, 500), st.text(max_size=60))
def test_a_title_fits_for_any_word(share: float, chance: float, n: int, word: str) -> None:
    assert len(senses_title_at(found(share, chance=chance, n=n), 100, word)) <= 80
