"""A text at the model's limit: how it is cut, what is said of it, and its bar."""

from __future__ import annotations

import random
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from contextlens.content.language import Claim
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.masks.token_limit import TokenLimit, repetition, token_limit
from contextlens.ui.state.view import DEFAULT, Sentence
from tests.features.masks.odd import batch_of, view_of
from tests.support.claims import read, unreached


def test_a_text_is_repeated_until_it_is_too_long(service: EncoderService) -> None:
    card = service.load(BUNDLED_ID)
    row = batch_of(DEFAULT, service).row
    asked = repetition(service, card, row)
    assert asked.default == 123  # five tokens of its own, for a fifth more than 512
    assert asked.label == "Times to repeat sentence A"
    for times, lost in ((asked.default, 105), (102, 0), (103, 5)):
        result = token_limit(service, card, row.alone, times)
        assert result.tokens.n_truncated == lost
        assert (result.limit, result.n_positions) == (512, 512)


def test_of_a_pair_the_first_text_alone_is_repeated_until_it_is_too_long(
    service: EncoderService,
) -> None:
    card, pair = service.load(BUNDLED_ID), Sentence("Where does a python sleep?", "It coils up.")
    row = batch_of(replace(DEFAULT, sentences=(pair,)), service).batch.row("A")
    asked = repetition(service, card, row)
    assert asked.label == "Times to repeat the first text of A"
    assert token_limit(service, card, row.alone, asked.default).tokens.n_truncated > 0


@pytest.mark.parametrize(
    ("text", "default", "most"),
    [("\x00", 615, 10_000), ("x" * 20_000, 9, 9), ("word " * 4000, 1, 9)],
)
def test_repetition_has_an_end(service: EncoderService, text: str, default: int, most: int) -> None:
    masks = batch_of(view_of(text), service)
    asked = repetition(service, service.load(BUNDLED_ID), masks.batch.row(masks.chosen))
    assert (asked.low, asked.default, asked.high) == (1, default, most)


def test_rows_for_no_position_in_a_text_are_not_counted(tiny_service: EncoderService) -> None:
    card = tiny_service.load("folder:roberta")
    (tokens,) = tiny_service.tokenize(card.id, ["a python"])
    assert token_limit(tiny_service, card, tokens, 1).n_positions == card.max_length


def made_up(n: int, lost: int, rest: str = "", n_positions: int | None = None) -> TokenLimit:
    tokens: Any = SimpleNamespace(
        text="ab" + rest, n_tokens=n, n_truncated=lost, offsets=np.array([[0, 0], [0, 2]])
    )
    return TokenLimit(tokens, 512, n_positions)


def check_limit(chance: random.Random) -> list[Claim]:
    n, lost, rest = chance.randint(2, 512), chance.choice((0, 1, 9)), chance.choice(("", "<b> x"))
    n_positions = chance.choice((None, 512, 1024))
    result = made_up(n, lost, rest, n_positions)
    title, claims = result.title(), result.claims()
    assert claims[0].numbers == {"n": n + lost, "limit": 512}
    assert title.key.endswith("fits") == (lost == 0)
    keys = [claim.key.rpartition(".")[2] for claim in claims[1:]]
    cut = ["lost_from" if rest else "lost"] + ["positions"] * (n_positions is not None)
    assert keys == (cut if lost else [])
    if lost:
        assert claims[1].numbers["n"] == title.numbers["n"] == lost
    return [title, *claims]


def test_every_claim_is_what_the_numbers_show_and_none_is_dead() -> None:
    chance = random.Random(1)
    keys = set().union(*(read(check_limit(chance)) for _ in range(500)))
    assert not unreached("masks.limit", keys)


def test_a_text_over_the_limit_is_quoted(service: EncoderService) -> None:
    tokens = service.tokenize(BUNDLED_ID, ["python " * 510 + "<b>*x*</b>"])[0]
    text = " ".join(map(str, TokenLimit(tokens, 512, 512).claims()))
    assert text.endswith(
        r"from “\<b\>\*x\*\</b\>” on, never reach the model. The model has "
        "vectors for **512** "
        "positions in a text."
    )


def test_the_limit_is_a_bar_of_what_fits_and_what_does_not() -> None:
    figure = made_up(512, 90).figure().to_plotly_json()
    fits, cut = figure["data"]
    assert (fits["x"], cut["x"], cut["base"]) == ([512], [90], [512])
    assert figure["layout"]["shapes"][0]["x0"] == 512
    assert len(made_up(5, 0).figure().data) == 1
