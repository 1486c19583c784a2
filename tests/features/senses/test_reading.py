"""What is said of senses is so, for any numbers: read back, and on cases where the story fails."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from components.analysis.baseline import Band
from components.core import EncoderService
from components.corpus.corpus import Corpus
from components.corpus.live import LiveCorpus
from components.corpus.searchable import Occurrences
from components.features.senses.compute.groups import Group, Grouping
from components.features.senses.compute.own import Fall, Own
from components.features.senses.compute.senses import Senses, senses_in
from components.features.senses.compute.table import InTable
from components.features.senses.compute.word import Found
from components.features.senses.measures.separation import RISK, Separation, best_of, wilson
from components.features.senses.measures.trials import trial_of
from components.features.senses.reading.groups import groups_reading, stands_reading
from components.features.senses.reading.own import own_reading
from components.features.senses.reading.separation import (
    course_title,
    is_clear,
    separation_reading,
    title_at,
)
from components.features.senses.reading.sides import side_names, sides_reading, table_reading
from tests.support.leading import layers_in
from tests.support.senses import senses_view
from tests.support.true_words import LABELS, PERCENT, bare, is_percent, is_two

NAN = float("nan")


def found_of(labels: list[str], word: str = "python", split: tuple[str, ...] = ()) -> Found:
    n = len(labels)
    senses = tuple(sorted(set(labels) - {""}, key=lambda s: (-labels.count(s), s)))
    own = Occurrences(
        word=word,
        rows=np.arange(n),
        texts=np.arange(n),
        spans=np.tile([2, 2 + len(word)], (n, 1)),
        surfaces=(word,) * n,
        left=("a",) * n,
        right=("",) * n,
        is_target=np.ones(n, bool),
        n_total=n,
    )
    return Found(
        key="k",
        word=word,
        corpus="Some *texts*",
        model="m",
        occurrences=own,
        texts=(f"a {word}",) * n,
        column="sense",
        labels=tuple(labels),
        senses=senses,
        codes=np.array([senses.index(label) if label else -1 for label in labels]),
        trial=trial_of(labels, split),
    )


def point(layer: int, right: int, n: int) -> Separation:
    nothing = np.zeros(0)
    return Separation(
        layer, right, n, wilson(right, n), nothing, nothing, np.zeros((2, 2), int), NAN, 0.1, 0.2
    )


def curve_of(n: int, *rights: int) -> list[Separation]:
    return [point(layer, right, n) for layer, right in enumerate(rights)]


HALF = found_of(["animal"] * 16 + ["language"] * 16)


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
    assert "No part of the cloud is dense at layer 5" in said
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
    assert said.startswith("They agree" if agrees else "They do not clearly agree")


def test_how_often_it_stands_there() -> None:
    assert stands_reading(HALF, 362) == (
        r"“python” stands **32** times in 32 of 362 texts of Some \*texts\*."
    )
    once = found_of(["a"])
    assert "stands once in 1 of 1 text of" in stands_reading(once, 1)
    many = replace(HALF, occurrences=replace(HALF.occurrences, n_total=5_000))
    assert stands_reading(many, 9) == r"“python” stands **5,000** times in Some \*texts\*."


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
    group = own_reading(own_of(replace(FALL, kind="group")), HALF, layer=3)[1]
    assert "grouped occurrences" in group


def test_the_random_pair_mark_stands_beside_the_cosine() -> None:
    band = Band(np.zeros(4), np.array([0.1, 0.2, 0.3, 0.41]), np.ones(4), "English words")
    said = own_reading(own_of(None, n_more=1), HALF, layer=3, band=band)
    assert "random pairs of English words have 0.41 on average" in said[0]
    assert said[1] == "The word stands there 1 more time; the first counts."
    assert own_reading(own_of(None, problem="No *word*."), HALF, layer=3) == [r"No \*word\*\."]


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
