"""How well senses part is said as it is, for any numbers: read back, and where the story fails."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from components.core import EncoderService
from components.corpus.corpus import Corpus
from components.corpus.live import LiveCorpus
from components.features.senses.compute.senses import Senses, senses_in
from components.features.senses.compute.table import InTable
from components.features.senses.measures.separation import RISK, Separation, best_of, wilson
from components.features.senses.reading.separation import (
    course_title,
    is_clear,
    separation_reading,
    title_at,
)
from components.features.senses.reading.sides import side_names, sides_reading, table_reading
from tests.features.senses.reading.found_words import HALF, found_of
from tests.support.leading import layers_in
from tests.support.senses import senses_view
from tests.support.true_words import LABELS, PERCENT, bare, is_percent, is_two

NAN = float("nan")


def point(layer: int, right: int, n: int) -> Separation:
    nothing = np.zeros(0)
    return Separation(
        layer, right, n, wilson(right, n), nothing, nothing, np.zeros((2, 2), int), NAN, 0.1, 0.2
    )


def curve_of(n: int, *rights: int) -> list[Separation]:
    return [point(layer, right, n) for layer, right in enumerate(rights)]


# How well senses part


def test_the_story_as_it_is_hoped_for() -> None:
    curve = curve_of(32, 15, 20, 20, 21, 20, 32, 24)
    assert course_title(HALF, curve) == (
        "The senses of python part best at layer 5 (100%, by chance 50%)"
    )
    said = separation_reading(HALF, curve, 6)
    assert said == [
        "The senses of “python” part best at layer 5: **100%** of **32** occurrences, each left "
        "out of 5-fold training, get their own sense (95% interval 89% to 100%), **50%** by "
        "always saying “animal”. No other layer lies within that interval.",
        "At layer 6 it is **75%** (95% interval 58% to 87%).",
    ]
    assert len(separation_reading(HALF, curve, 5)) == 1


def test_layers_within_the_interval_are_named() -> None:
    said = separation_reading(HALF, curve_of(32, 15, 28, 29, 30, 28), 3)[0]
    assert "Layers 1, 2, 4 lie within that interval, and may do as well." in said
    said = separation_reading(HALF, curve_of(32, 28, 30), 1)[0]
    assert "Every other layer lies within that interval, so none stands out." in said


def test_where_nothing_parts_no_layer_is_called_best() -> None:
    curve = curve_of(32, 15, 17, 20)
    assert course_title(HALF, curve) == "No layer clearly parts the senses of python"
    said = separation_reading(HALF, curve, 0)[0]
    assert said.startswith("Even at layer 2, where **62%** of")
    assert "do not clearly part" in said


def test_the_best_of_many_layers_must_do_better_than_that_of_one() -> None:
    one = curve_of(32, 22)
    assert wilson(22, 32)[0] > 0.505
    assert is_clear(HALF, one)
    assert not is_clear(HALF, curve_of(32, *[22] * 13))


def test_equal_layers_are_best_alike() -> None:
    said = separation_reading(HALF, curve_of(32, 15, 30, 30, 30), 0)[0]
    assert "part best at layers 1 to 3 alike" in said
    said = separation_reading(HALF, curve_of(32, 30, 30), 0)[0]
    assert said.startswith("The senses of “python” part as well at every layer:")
    said = separation_reading(HALF, curve_of(32, 30), 0)[0]
    assert said.startswith("At layer 0, the senses of “python” part:")


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (["", ""], "No senses of “python” are labelled here"),
        (["*a*", "*a*"], r"All labels of “python” are “\*a\*”: there is nothing to part."),
        (["a", "b"], "at least two senses need two examples each."),
    ],
)
def test_what_cannot_be_tested_is_said(labels: list[str], said: str) -> None:
    own = found_of(labels)
    (sentence,) = separation_reading(own, [], 0)
    assert said in sentence
    assert course_title(own, []) == "The senses of python cannot be tested here"
    assert title_at(own, None, 4) == "Layer 4: 2 occurrences of python"


def test_held_out_is_said_of_a_split() -> None:
    own = found_of(["a", "b"] * 8, split=("train",) * 8 + ("test",) * 8)
    assert "held-out occurrences get" in separation_reading(own, curve_of(8, 8), 0)[0]


def test_any_word_and_any_numbers_are_said_in_lines_that_fit() -> None:
    for seed in range(200):
        chance = random.Random(seed)
        n, k = chance.choice((4, 10, 32, 200, 2_000)), chance.choice((2, 3, 7))
        own = found_of(["abcdefg"[i % k] for i in range(max(n, 2 * k))], chance.choice(LABELS))
        n = len(own.trial.tested)
        rights = [chance.randint(0, n) for _ in range(chance.choice((1, 2, 7, 13, 25)))]
        curve = curve_of(n, *rights)
        layer = chance.randrange(len(curve))
        assert len(course_title(own, curve)) <= 80
        assert len(title_at(own, curve[layer], layer)) <= 80
        for sentence in separation_reading(own, curve, layer):
            assert sentence.endswith(".")
            assert "nan" not in sentence


def test_the_numbers_of_the_reading_are_the_curves() -> None:
    for seed in range(300):
        chance = random.Random(seed)
        n = chance.choice((4, 10, 32, 200))
        own = found_of(["a", "b"] * (n // 2))
        curve = curve_of(n, *(chance.randint(n // 2, n) for _ in range(chance.choice((1, 2, 7)))))
        said = bare(separation_reading(own, curve, 0)[0])
        best, near = best_of(curve)
        top = curve[best[0]]
        numbers = re.findall(PERCENT, said.replace("95% interval ", ""))
        assert len(numbers) == 4, said
        assert is_percent(numbers[0], top.accuracy)
        assert is_percent(numbers[1], top.interval[0])
        assert is_percent(numbers[2], top.interval[1])
        assert is_percent(numbers[3], own.trial.chance)
        clear = round(100 * wilson(top.right, n, risk=RISK / len(curve))[0]) > 50
        assert ("do not clearly part" in said) == (not clear)
        if clear and 0 < len(near) < len(curve) - len(best):
            named = re.search(r"[Ll]ayers? ([\d, to]+) lies? within", said)
            assert named is not None, said
            assert layers_in(f"layers {named[1]}") == near


# Side by side


def side(service: EncoderService, **controls: Any) -> Senses:
    texts = tuple(f"{word} python {i}" for i in range(6) for word in ("my", "the"))
    own = Corpus("Pets", texts, {"sense": ("a", "b") * 6} if controls.pop("labels", 1) else {})
    layer = controls.pop("layer", None)
    view = senses_view(layer=layer, **{"word": "python", **controls})
    found = senses_in(LiveCorpus(own, service, "folder:bert"), view, service)
    assert isinstance(found, Senses)
    return found


def with_share(own: Senses, right: int, n: int) -> Senses:
    curve = tuple(point(each.layer, right, n) for each in own.course.curve)
    return replace(own, course=replace(own.course, curve=curve))


def test_one_side_is_better_only_where_intervals_do_not_meet(tiny_service: EncoderService) -> None:
    one, other = side(tiny_service, layer=0), side(tiny_service)
    assert side_names(one, other) == ("layer 0", "layer 3")
    clear = sides_reading(with_share(one, 5, 40), with_share(other, 35, 40))[0]
    assert "better for layer 3" in clear
    assert (
        "better for layer 0" in sides_reading(with_share(one, 40, 40), with_share(other, 9, 40))[0]
    )
    same = sides_reading(with_share(one, 30, 40), with_share(other, 33, 40))[0]
    assert "their intervals meet, so neither" in same
    none = sides_reading(side(tiny_service, labels=0), other)[0]
    assert none.startswith("Senses cannot be tested for")


def test_the_word_tables_point_is_told() -> None:
    own = InTable("python", ("python",), ("a", "b"), np.array([0.5, 0.51]), np.eye(2), 0.5)
    assert "about the same to every sense" in table_reading(own)[0]
    apart = replace(own, cosines=np.array([0.5, 0.6]), pieces=("py", "##thon"))
    (said,) = table_reading(apart)
    assert "is the mean of 2 rows" in said
    assert "to the middle of “b” **0.60**, of “a” **0.50**" in said
    numbers = re.findall(r"-?\d\.\d\d", bare(said))
    assert is_two(numbers[0], 0.5)
    assert table_reading(replace(own, senses=()))[0].endswith("on average.")
    assert table_reading(replace(own, problem="No."))[0] == r"No\."
