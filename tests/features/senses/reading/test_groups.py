"""Groups, and where an own sentence falls, are said as they are, also where the story fails."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from components.analysis.baseline import Band
from components.features.senses.compute.groups import Group, Grouping
from components.features.senses.compute.own import Fall, Own
from components.features.senses.reading.groups import groups_reading, stands_reading
from components.features.senses.reading.own import own_reading
from tests.features.senses.reading.found_words import HALF, found_of

NAN = float("nan")


# Groups


def grouping(**own: Any) -> Grouping:
    each = tuple(Group(i, n, (), (), ()) for i, n in enumerate(own.pop("sizes", (16, 14))))
    given = {
        "asked": 0,
        "method": "dense",
        "groups": np.zeros(30, int),
        "each": each,
        "n_none": 0,
        "silhouette": 0.28,
        "rand": NAN,
        "shuffled": NAN,
        **own,
    }
    return Grouping(**given)


def test_groups_are_counted_by_how_they_were_made() -> None:
    assert groups_reading(grouping(n_none=2), 5) == [
        "HDBSCAN finds **2** dense groups at layer 5 (16, 14 occurrences, 2 in none)."
    ]
    assert groups_reading(grouping(sizes=(7,)), 5)[0].startswith("HDBSCAN finds **1** dense group ")
    said = groups_reading(grouping(method="k"), 5)[0]
    assert "no dense groups at layer 5" in said
    assert "need not be meanings" in said
    said = groups_reading(grouping(method="k", asked=8, sizes=(9, 8, 7, 6, 5, 4, 3, 1)), 5)[0]
    assert "Asked for **8** groups" in said
    assert "9, 8, 7, 6, 5 occurrences and 3 smaller groups" in said
    assert groups_reading(grouping(problem="Too *few*."), 5) == [r"Too \*few\*\."]


@pytest.mark.parametrize(
    ("rand", "shuffled", "agrees"),
    [(0.76, 0.1, True), (0.1, 0.1, False), (0.104, 0.096, False), (-0.02, 0.05, False)],
)
def test_agreement_is_said_only_where_shuffled_labels_have_less(
    rand: float, shuffled: float, agrees: bool
) -> None:
    said = groups_reading(grouping(rand=rand, shuffled=shuffled), 5)[1]
    assert said.startswith("They match" if agrees else "They do not clearly match")


def test_how_often_it_stands_there() -> None:
    assert stands_reading(HALF, 362) == (
        r"“python” occurs **32** times in 32 of 362 texts of Some \*texts\*."
    )
    once = found_of(["a"])
    assert "occurs once in 1 of 1 text of" in stands_reading(once, 1)
    many = replace(HALF, occurrences=replace(HALF.occurrences, n_total=5_000))
    assert stands_reading(many, 9) == r"“python” occurs **5,000** times in Some \*texts\*."


# The own sentence


def own_of(fall: Fall | None, **changes: Any) -> Own:
    cosines = np.linspace(0.9, 0.1, 32).astype(np.float32)
    own = Own("a python", (2, 8), 0, cosines, tuple(range(10)), fall, np.zeros((7, 2)))
    return replace(own, **changes)


FALL = Fall("sense", ("animal", "language"), (0, 1), (0.8, 0.7), 0.1, 0.03, 0.5, "in")


def test_where_a_sentence_falls_is_said_by_its_verdict() -> None:
    said = own_reading(own_of(FALL), HALF, layer=3)
    assert said[0] == (
        "The context nearest to your sentence at layer 3 is “a python”, “animal” (cosine **0.90**)."
    )
    assert said[1].startswith(
        "It falls to “animal” (cosine **0.80**), ahead of “language” by **0.1"
    )
    between = own_reading(own_of(replace(FALL, verdict="between", margin=0.01)), HALF, layer=3)[1]
    assert between.startswith("It lies between two senses, “animal” (**0.80**) and “language”")
    assert "0.010 is smaller than that of 9 in 10 labelled occurrences (0.030)" in between
    unlike = own_reading(own_of(replace(FALL, verdict="unlike")), HALF, layer=3)[1]
    assert unlike.startswith("It is unlike any sense here")
    unclear = own_reading(own_of(replace(FALL, verdict="unclear")), HALF, layer=0)[1]
    assert unclear.startswith("At layer 0 the senses cannot be told apart")
    group = own_reading(own_of(replace(FALL, kind="group")), HALF, layer=3)[1]
    assert "grouped occurrences" in group


def test_the_random_pair_mark_stands_beside_the_cosine() -> None:
    band = Band(np.zeros(4), np.array([0.1, 0.2, 0.3, 0.41]), np.ones(4), "English words")
    said = own_reading(own_of(None, n_more=1), HALF, layer=3, band=band)
    assert "random pairs of English words have 0.41 on average" in said[0]
    assert said[1] == "The word occurs there 1 more time; the first counts."
    assert own_reading(own_of(None, problem="No *word*."), HALF, layer=3) == [r"No \*word\*\."]
