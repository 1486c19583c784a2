"""What the page says of a text and of a query, for the tests of both readings."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from components.analysis.tokens import find_pieces, kinds, labels
from components.core import BUNDLED_ID, EncoderService
from components.features.tokens.reading.tokens import tokens_reading
from components.features.tokens.reading.vocabulary import vocabulary_reading


@pytest.fixture(scope="module")
def read(tiny_service: EncoderService) -> Callable[..., str]:
    """What the page says of a text."""

    def ask(text: str, *, pair: str | None = None, model: str = BUNDLED_ID, **more: int) -> str:
        pairs = None if pair is None else [pair]
        tokens = tiny_service.tokenize(model, [text], pairs=pairs, **more)[0]
        vocabulary = tiny_service.vocabulary(model)
        found = kinds(tokens, vocabulary)
        return " ".join(tokens_reading(tokens, found, labels(tokens, vocabulary)))

    return ask


@pytest.fixture(scope="module")
def look_up(tiny_service: EncoderService) -> Callable[..., str]:
    """What the page says of a query to the vocabulary."""

    def ask(query: str, model: str = BUNDLED_ID) -> str:
        vocabulary = tiny_service.vocabulary(model)
        normalized = tiny_service.normalize(model, [query])[0]
        n_found = len(find_pieces(vocabulary, query.strip(), normalized.strip()))
        tokens = tiny_service.tokenize(model, [query])[0]
        return " ".join(vocabulary_reading(query, normalized, tokens, vocabulary, n_found=n_found))

    return ask
