"""The content of the Attention page, without the page."""

from __future__ import annotations

from typing import Any

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.attention.compute import AttentionView, attention_view
from contextlens.features.attention.controls import PAGE
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState

PAIR = Sentence("My teacher's python is ill", "What does a snake eat")
LONG = " ".join(f"The bank of the river was steep but python {i} swam on." for i in range(60))


def view_on(
    *sentences: Sentence, model: str = BUNDLED_ID, layer: int | None = None, **own: Any
) -> ViewState:
    """A view with these controls, by default on the opening sentences."""
    texts = sentences or DEFAULT.sentences
    return ViewState(model, texts, layer=layer, controls={PAGE: own} if own else {})


def seen(service: EncoderService, *sentences: Sentence, **how: Any) -> AttentionView:
    """The page's content for the view."""
    view = view_on(*sentences, **how)
    return attention_view(view, service, service.load(view.model))
