"""The content of the Attention page, without the page."""

from __future__ import annotations

from typing import Any

from contextlens.core import BUNDLED_ID, EncoderService, Encoding
from contextlens.features.attention.attention import AttentionView, attention_view
from contextlens.features.attention.controls import PAGE
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState

PAIR = Sentence("My teacher's python is ill", "What does a snake eat")
TEXT, SECOND_TEXT = "The teacher's unbelievable python", "Seventeen umbrellas"
PADDING = 48
LONG = " ".join(f"The bank of the river was steep but python {i} swam on." for i in range(60))


def view_on(
    *sentences: Sentence, model: str = BUNDLED_ID, layer: int | None = None, **controls: Any
) -> ViewState:
    """A view with these controls, by default on the opening sentences."""
    texts = sentences or DEFAULT.sentences
    return ViewState(model, texts, layer=layer, controls={PAGE: controls} if controls else {})


def attention_on(service: EncoderService, *sentences: Sentence, **controls: Any) -> AttentionView:
    """The attention that a view shows."""
    view = view_on(*sentences, **controls)
    return attention_view(view, service, service.load(view.model))


def encoded(
    service: EncoderService,
    model: str,
    pair: str | None = None,
    pad_to: int | None = None,
    text: str = TEXT,
) -> Encoding:
    pairs = None if pair is None else [pair]
    return service.encode(model, [text], pairs=pairs, pad_to=pad_to, attentions=True)[0]
