"""What is noted beside the weights: what is hidden, padded, unknown or cut off."""

from __future__ import annotations

from typing import Any

from components.core import EncoderService
from components.features.attention.compute.attention import attention_view
from components.features.attention.reading.notes import attention_notes
from components.ui.state.view import Sentence
from tests.features.attention.shown import LONG, PAIR, seen, view_on


def noted(service: EncoderService, *sentences: Sentence, **how: Any) -> str:
    view = view_on(*sentences, **how)
    return " ".join(attention_notes(view, attention_view(view, service, service.load(view.model))))


def test_where_all_is_there_nothing_is_noted(service: EncoderService) -> None:
    assert noted(service) == ""
    assert noted(service, PAIR) == ""


def test_hiding_is_said_with_what_it_does_to_the_rows(service: EncoderService) -> None:
    hidden = noted(service, special="Hide")
    assert hidden == (
        r"\[CLS\], \[SEP\] are hidden and rows are as they were: what is missing to 1 went to them."
    )
    assert "rows sum to 1 again" in noted(service, special="Hide, rows to 1")
    empty = noted(service, Sentence(""), special="Hide")
    assert "nothing would be left" in empty
    assert r"no token of its own: the model sees only \[CLS\], \[SEP\]." in empty
    assert "one token of its own" in noted(service, Sentence("a"))


def test_padding_is_noted(service: EncoderService) -> None:
    said = noted(service, show="All", pad=10)
    assert "3 positions are padding: what the text's tokens give them is exactly 0" in said
    assert noted(service, pad=5) == "There are 7 tokens already: nothing to pad to 5."
    assert noted(service, pad=7) == ""


def test_a_direction_is_noted_and_why_there_is_none(service: EncoderService) -> None:
    assert "what is missing to 1 went elsewhere" in noted(
        service, PAIR, direction="First to second"
    )
    assert "There is no second text" in noted(service, direction="First to second")
    empty = noted(service, Sentence("a python", " "), direction="Second to first")
    assert "One of the two texts has no token" in empty


def test_unknown_tokens_are_named(service: EncoderService) -> None:
    one = noted(service, Sentence("\U0001f984"))
    assert "One token is unknown: the model cannot see “\U0001f984”." in one
    two = noted(service, Sentence("a", "\U0001f984 and \U0001f984"))
    assert "2 tokens are unknown, the first for “\U0001f984”" in two


def test_what_was_cut_off_is_noted(service: EncoderService) -> None:
    lost = seen(service, Sentence(LONG)).encoding.n_truncated
    assert f"its last {lost} tokens are left out." in noted(service, Sentence(LONG))
