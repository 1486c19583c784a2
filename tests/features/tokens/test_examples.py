"""Ready texts: each opens with its point shown, in the place of the sentence that is looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from contextlens.core import EncoderService
from contextlens.core.schema import Tokens
from contextlens.features.tokens.controls import (
    BACK_TO_TEXT,
    PAD,
    SECTION,
    SENTENCE,
    TWO_TOKENIZERS,
)
from contextlens.features.tokens.examples import TOKEN_EXAMPLES, TokenExample, from_example
from contextlens.features.tokens.two_tokenizers import twins_claims
from contextlens.ui.state.address import decode, encode
from contextlens.ui.state.view import DEFAULT
from tests.features.tokens.shown import shown

POINTS: dict[str, Callable[[Tokens], bool]] = {
    "long": lambda tokens: "##" in "".join(tokens.tokens),
    "accents": lambda tokens: "é" in tokens.text.lower() or "ë" in tokens.text,
    "case": lambda tokens: "“US” and “us”" in str(twins_claims(tokens, 100, "")[0]),
    "unknown": lambda tokens: tokens.tokens.count("[UNK]") == 2,
    "pair": lambda tokens: tokens.pair is not None,
    "padding": lambda tokens: tokens.n_tokens == 16,
    "cut": lambda tokens: tokens.n_truncated == 3,
}


@pytest.mark.parametrize("example", TOKEN_EXAMPLES, ids=lambda example: example.key)
def test_a_ready_text_shows_its_point(service: EncoderService, example: TokenExample) -> None:
    view = decode(encode(from_example(example, DEFAULT)))
    tokens = shown(view, service).tokens
    assert tokens.text == example.text
    assert view.sentences[1] == DEFAULT.sentences[1]
    assert POINTS[example.key](tokens)


def test_two_ready_texts_open_the_look_that_shows_them() -> None:
    views = {example.key: from_example(example, DEFAULT) for example in TOKEN_EXAMPLES}
    assert SECTION.of(views["case"]) == TWO_TOKENIZERS
    assert SECTION.of(views["accents"]) == BACK_TO_TEXT


def test_a_ready_text_takes_the_place_of_the_sentence_that_is_shown() -> None:
    view = PAD.put(SENTENCE.put(DEFAULT, "B"), 30)
    others = {"masks": {"mask": True}}
    view = replace(view, controls={**view.controls, **others})
    found = from_example(TOKEN_EXAMPLES[0], view)
    assert [s.text for s in found.sentences] == [DEFAULT.sentences[0].text, TOKEN_EXAMPLES[0].text]
    assert found.controls == {**others, "tokens": {"sentence": "B"}}
