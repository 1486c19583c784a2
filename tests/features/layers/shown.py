"""What Layer by layer shows of a view."""

from __future__ import annotations

from typing import Any

from components.core import BUNDLED_ID, EncoderService
from components.features.layers.compute.tokens import HiddenStates, hidden_states
from components.features.layers.controls import PAGE
from components.features.layers.reading.tokens import layers_reading
from components.ui.state.view import Sentence, ViewState
from tests.support.texts import TYPED

ODD_TEXTS = (
    *(text for text in TYPED.values() if len(text) < 100),
    "the cat the dog the",
    "hello",
    "no no no no",
)
"""Short texts of which something odd is true: nothing in them, one token, the same again."""


def of(*texts: str, pair: str | None = None, model: str = BUNDLED_ID, **controls: Any) -> ViewState:
    sentences = tuple(Sentence(text, pair) for text in texts)
    return ViewState(model, sentences, controls={PAGE: controls} if controls else {})


def shown(view: ViewState, service: EncoderService) -> HiddenStates:
    return hidden_states(view, service, service.load(view.model), None)


def told(states: HiddenStates) -> str:
    return " ".join(layers_reading(states.measure, states.labels, states.layer, states.chance))
