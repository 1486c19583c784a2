"""The word beside another word, corpus, layer or model."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from contextlens.analysis.separation import Separation, trial_of
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.senses.compare import Comparison, other_side
from contextlens.features.senses.concordance import Concordance
from contextlens.features.senses.controls import other_model_among
from contextlens.features.senses.groups import Grouping
from contextlens.features.senses.layers import WordLayers, units_at
from contextlens.features.senses.occurrences import MissingWord
from contextlens.features.senses.senses import Senses, senses_of
from contextlens.ui.state.view import DEFAULT
from tests.support.odd import Said, odd_names
from tests.support.senses import HALF, MODEL, live, senses_view

NOTHING = np.zeros(0, np.float32)


def test_another_word_layer_or_model_can_be_compared(tiny_service: EncoderService) -> None:
    texts = ("my python and my snake", "a snake ate", "the python slept")
    view = replace(senses_view(*texts, word="python"), model=MODEL)
    one = senses_of(view, tiny_service)
    assert isinstance(one, Senses)

    def other(**values: Any) -> Senses | MissingWord | None:
        own = {**view.controls, "senses": values}
        return other_side(one, replace(view, controls=own), tiny_service)

    word = other(beside="word", other_word="snake")
    layer = other(beside="layer", other_layer=0)
    model = other(beside="model", other_model="folder:roberta")
    assert isinstance(word, Senses)
    assert isinstance(layer, Senses)
    assert isinstance(model, Senses)
    assert (word.uses.word, layer.layer, model.uses.model) == ("snake", 0, "folder:roberta")
    assert Comparison(one, word).linked([0]) == ()
    assert Comparison(one, layer).linked([1, 0]) == (1, 0)
    assert Comparison(one, model).linked([0, 1]) == (0, 1)
    assert isinstance(other(beside="word", other_word="lizard"), MissingWord)
    assert other() is other(beside="word") is other(beside="model") is None


def test_similarities_of_the_other_side_are_to_the_same_occurrence_or_none(
    tiny_service: EncoderService,
) -> None:
    """The third word of this corpus and of Sentiment is "the"."""
    texts = ("a snake ate", "the python slept", "then the python ate")
    view = replace(senses_view("we left the snake", *texts, word="the", chosen=2), model=MODEL)
    one = senses_of(view, tiny_service)
    assert isinstance(one, Senses)
    assert one.chosen == 0
    for beside in ({"beside": "word", "other_word": "snake"}, {"beside": "corpus"}):
        own = {"senses": {**view.controls["senses"], **beside}}
        other_view = replace(view, controls={**view.controls, **own})
        other = other_side(one, other_view, tiny_service)
        assert isinstance(other, Senses)
        assert (other.chosen, other.cosines, other.cosine_to) == (None, None, "")
    for beside in ({"beside": "layer", "other_layer": 0},
                   {"beside": "model", "other_model": "folder:roberta"}):  # fmt: skip
        own = {"senses": {**view.controls["senses"], **beside}}
        other_view = replace(view, controls={**view.controls, **own})
        other = other_side(one, other_view, tiny_service)
        assert isinstance(other, Senses)
        assert (other.chosen, other.cosine_to) == (0, "chosen")
        units = units_at(other.uses, other.corpus, other.layer)
        assert other.cosines == pytest.approx(units @ units[0], abs=1e-5)


def test_the_pages_own_model_is_not_offered(service: EncoderService) -> None:
    assert BUNDLED_ID not in other_model_among(service.models(), BUNDLED_ID).options


def side(
    service: EncoderService, word: str, layer: int, right: int, n: int, *, low: float, high: float
) -> Senses:
    """One side's word, tested with this result; untested where n is 0."""
    uses = replace(HALF, word=word, trial=trial_of(["a"] * 3 + ["b"] * (1 + n)))
    test = Separation(
        layer,
        right,
        n,
        (low, high),
        NOTHING,
        NOTHING,
        np.zeros((2, 2), int),
        0.0,
        0.1,
        0.2,
        NOTHING,
    )
    return Senses(
        view=DEFAULT,
        corpus=live(service),
        uses=uses,
        layer=layer,
        by_layer=WordLayers((layer,), (), (test,) if n else ()),
        grouping=Grouping(layer, 0, "none", np.full(32, -1)),
        chosen=None,
        sentence=None,
        cosines=None,
        cosine_to="",
        concordance=Concordance((), NOTHING, 1, 1),
    )


def test_the_claims_on_two_sides_are_true(tiny_service: EncoderService) -> None:
    said = Said()
    for seed in range(600):
        chance = random.Random(seed)
        words = [name.strip() or "x" for name in odd_names(chance, 2, few=2)]
        sides = []
        for word in words:
            n = chance.choice((0, 4, 40))
            right, (low, high) = chance.randint(0, n), sorted(chance.random() for _ in range(2))
            layer = chance.randint(0, 1)
            sides.append(side(tiny_service, word, layer, right, n, low=low, high=high))
        one, other = sides
        comparison = Comparison(one, other)
        claims, sure = said(comparison.claims()), said(comparison.sure())
        first, second = one.separation, other.separation
        if first is None or second is None:
            assert (claims[0].key, sure) == ("senses.sides.untested", [])
            assert comparison.figure() is None
            continue
        assert [own.numbers["low"] for own in sure] == [first.interval[0], second.interval[0]]
        is_apart = max(first.interval[0], second.interval[0]) > min(
            first.interval[1], second.interval[1]
        )
        case = "better" if is_apart else "unclear"
        shares = {claims[0].numbers[f"{letter}_share"] for letter in "ab"}
        assert claims[0].key == f"senses.sides.{case}"
        assert shares == {first.accuracy, second.accuracy}
        if is_apart:
            assert claims[0].numbers["a_share"] >= claims[0].numbers["b_share"]
        baselines = {claims[0].numbers[f"{letter}_baseline"] for letter in "ab"}
        assert baselines == {one.uses.trial.chance, other.uses.trial.chance}
        assert "senses.sides.interval" in {own.key for own in sure}
    others = ("empty", "no_second_model", "curves", "curves_alt")
    said.assert_all("senses.sides", without=tuple(f"senses.sides.{name}" for name in others))
    same = [side(tiny_service, "x", layer, 3, 4, low=0.2, high=0.9) for layer in (0, 6)]
    assert Comparison(*same).names == ("layer 0", "layer 6")
