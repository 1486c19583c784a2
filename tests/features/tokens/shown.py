"""Tokens & IDs for a view, and a check that it all fits together."""

from __future__ import annotations

import re
from collections.abc import Iterable

from contextlens.analysis.tokens import token_rows
from contextlens.content.language import Claim
from contextlens.core import EncoderService
from contextlens.features.tokens.back_to_text import round_trips, there_and_back
from contextlens.features.tokens.id_to_row import id_to_row
from contextlens.features.tokens.tokenized_sentence import (
    TokenizedSentence,
    tokenized_sentence,
    tokens_claims,
    tokens_sure,
    tokens_svg,
)
from contextlens.features.tokens.vocabulary_search import look_up
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets.chips import visible

__all__ = ["assert_whole", "plain", "said", "shown"]


def shown(view: ViewState, service: EncoderService) -> TokenizedSentence:
    return tokenized_sentence(view, service, service.load_tokenizer(view.model))


def plain(claims: Iterable[Claim]) -> str:
    """Claims without Markdown."""
    return re.sub(r"\\(.)", r"\1", " ".join(map(str, claims))).replace("**", "")


def said(tokenized: TokenizedSentence) -> str:
    tokens, name = tokenized.tokens, tokenized.unknown_name
    claims = tokens_claims(tokens, tokenized.kinds, tokenized.labels, name)
    return plain([*claims, *tokens_sure(tokens, tokenized.kinds, tokenized.reasons, name)])


def assert_whole(view: ViewState, service: EncoderService) -> TokenizedSentence:
    """The view gives a page and closer looks that agree with each other."""
    tokenized = shown(view, service)
    n = tokenized.tokens.n_tokens
    assert len(tokenized.kinds) == len(tokenized.labels) == n
    assert len(token_rows(tokenized.tokens, tokenized.vocabulary)) == n
    assert len(tokens_svg(tokenized.boxes, tokenized.title)) < 100_000
    assert said(tokenized)
    assert tokenized.passport.settings["max_length"] == tokenized.max_length
    assert look_up(view, service, tokenized).tokens is not None
    rows = id_to_row(tokenized, service, service.load(view.model))
    assert rows is not None
    assert rows.token_id == tokenized.picked_id
    for trip in round_trips(view, service, tokenized):
        assert "".join(part.text for part in trip.stretches) == trip.text
        parts = [(visible(part.text), part.fate) for part in trip.stretches]
        assert there_and_back(parts, visible(trip.decoded)).startswith('<div class="back">')
    return tokenized
