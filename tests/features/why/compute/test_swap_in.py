"""Swapping in: from nothing to all of the way; and shares followed down to the input."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from components.content.language import claim
from components.core import EncoderService
from components.features.why.compute import MAX_TOKENS, integrated_of, shares_at, swap_in
from tests.features.why.scores import PAIR, score_on, sentence
from tests.support.tiny_models import FAMILIES

PET, CODE = sentence("I love my pet python", "python"), sentence("I love my code python", "python")


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("what", ["mean", "cls", "word"])
def test_all_tokens_of_the_last_layer_bring_all_of_the_way(
    tiny_service: EncoderService, family: str, what: str
) -> None:
    texts = sentence("A python slept", "python"), sentence("A river slept", "river")
    score = score_on(tiny_service, *texts, model=f"folder:{family}", what=what)
    shown = swap_in(score, tiny_service)
    assert shown.fractions.shape == (4, len(shown.alignment.pairs))
    if not shown.alignment.first_alone + shown.alignment.second_alone:
        assert shown.fractions[-1].sum() == pytest.approx(1, abs=1e-4)
    if what == "cls":
        assert shown.fractions[-1] == pytest.approx([1, *[0] * (len(shown.names) - 1)], abs=1e-4)


def test_what_is_the_same_at_the_bottom_brings_nothing(service: EncoderService) -> None:
    shown = swap_in(score_on(service, PET, CODE), service)
    assert shown.layers == tuple(range(7))
    assert shown.names[4] == "pet / code"
    assert shown.fractions[0, 4] == pytest.approx(1, abs=1e-5)
    others = np.delete(shown.fractions[0], 4)
    assert np.abs(others).max() < 1e-5
    assert shown.fractions[3, 5] > 0.05


def test_either_is_put_into_the_other(service: EncoderService) -> None:
    score = score_on(service, PET, CODE, layer=2)
    shown = swap_in(score, service, into="second")
    assert (shown.receiver.letter, shown.donor.letter) == ("B", "A")
    assert shown.layers == (0, 1, 2)
    assert shown.fractions[0, 4] == pytest.approx(1, abs=1e-5)
    assert shown.names[4] == "code / pet"


def test_texts_of_other_lengths_swap_what_stands_for_each_other(service: EncoderService) -> None:
    shown = swap_in(score_on(service, PAIR, sentence("The python", pair="Seventeen")), service)
    assert shown.fractions.shape == (7, len(shown.alignment.pairs))
    assert shown.alignment.first_alone
    assert np.isfinite(shown.fractions).all()


def test_where_there_is_no_way_it_is_said(service: EncoderService) -> None:
    same = swap_in(score_on(service, PET, PET), service)
    assert same.problem == claim("why.swap_in.equal", a="A", b="B")
    assert same.fractions.size == 0
    bottom = swap_in(score_on(service, PET, CODE, layer=0, what="cls"), service)
    assert bottom.problem == claim("why.swap_in.stuck")
    long = [sentence("word " * 100 + end) for end in ("cat", "dog")]
    much = swap_in(score_on(service, *long), service)
    assert much.problem == claim("why.swap_in.long", n=103, most=MAX_TOKENS)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_input_shares_add_up_on_both_sides(tiny_service: EncoderService, family: str) -> None:
    score = score_on(tiny_service, PAIR, sentence("A cat"), model=f"folder:{family}", layer=2)
    told: list[tuple[int, int]] = []
    shown = integrated_of(score, tiny_service, progress=lambda *how: told.append(how))
    for own in shown.sides:
        assert own.end == pytest.approx(score.cosine, abs=1e-5)
        assert own.shares.sum() + own.remainder == pytest.approx(own.end - own.start, abs=1e-9)
        assert own.by_word.sum() == pytest.approx(own.shares.sum(), abs=1e-9)
        assert not own.shares[own.side.encoding.special_tokens_mask == 1].any()
    assert told[-1][0] == told[-1][1] == 100


def test_shares_are_those_of_the_layer(service: EncoderService) -> None:
    score = score_on(service, PET, CODE)
    for layer in range(7):
        shown = shares_at(replace(score, layer=layer))
        assert shown.by_token.total == pytest.approx(score.cosines[layer], abs=1e-6)
        assert shown.shares("words").total == pytest.approx(score.cosines[layer], abs=1e-6)
    assert shares_at(score).shares("tokens").cells.shape == (7, 7)
