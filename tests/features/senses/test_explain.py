"""The explanations have the true numbers."""

from __future__ import annotations

from contextlens.analysis.separation import LOW_COSINE, LOW_MARGIN, MOST_FOLDS, RISK
from contextlens.features.senses.explain import FORMULA, GROUPING, OWN_SENTENCE
from contextlens.features.senses.measures import MOST_TRIED, N_COMPONENTS, N_SHUFFLES


def test_the_numbers_it_names_are_those_that_count() -> None:
    assert f"at most {MOST_FOLDS}" in " ".join(FORMULA.split())
    assert f"risk {RISK:.0%} divided" in FORMULA
    assert f"first {N_COMPONENTS}\nprincipal components" in GROUPING
    assert f"from 2 to {MOST_TRIED}" in GROUPING
    assert f"in 5 of {N_SHUFFLES} cases" in GROUPING
    assert LOW_MARGIN == 0.1
    assert "lowest tenth" in OWN_SENTENCE
    assert LOW_COSINE == 0.05
    assert "lowest twentieth" in OWN_SENTENCE
