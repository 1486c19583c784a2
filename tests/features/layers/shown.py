"""What Layer by layer shows of a view."""

from __future__ import annotations

from typing import Any

from components.content.language import Claim
from components.core import BUNDLED_ID, EncoderService
from components.features.layers.compute import HiddenStates, hidden_states
from components.features.layers.controls import PAGE
from components.features.layers.reading import layers_reading
from components.ui.state.view import Sentence, ViewState


def of(*texts: str, pair: str | None = None, model: str = BUNDLED_ID, **controls: Any) -> ViewState:
    sentences = tuple(Sentence(text, pair) for text in texts)
    return ViewState(model, sentences, controls={PAGE: controls} if controls else {})


def shown(view: ViewState, service: EncoderService) -> HiddenStates:
    return hidden_states(view, service, service.load(view.model), None)


def told(states: HiddenStates) -> list[Claim]:
    trained = states.card.provenance.encoder
    return layers_reading(states.measure, states.labels, states.layer, states.chance, trained)
