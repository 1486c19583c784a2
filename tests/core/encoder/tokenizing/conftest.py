"""Fixtures of the tests of tokenizing: models and their tokenizers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from contextlens.core import BUNDLED_ID, EncoderService, Tokens
from tests.support.tiny_models import TYPICAL


@pytest.fixture(params=[BUNDLED_ID, *(f"folder:{name}" for name in TYPICAL)])
def model(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def cut(tiny_service: EncoderService, model: str) -> Callable[..., Tokens]:
    """Tokenize one text (and pair) with the test's model."""

    def one(text: str, pair: str | None = None, pad_to: int | None = None) -> Tokens:
        pairs = None if pair is None else [pair]
        return tiny_service.tokenize(model, [text], pairs=pairs, pad_to=pad_to)[0]

    return one
