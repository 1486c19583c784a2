"""Views of the map page, and the maps that they ask for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from components.core import BUNDLED_ID, ModelCard
from components.features.map.controls import PAGE
from components.features.map.request import request_of
from components.maps.projection import MapSettings
from components.maps.request import MapRequest
from components.ui.state.view import DEFAULT, ViewState

__all__ = ["USUAL", "asked", "view_of"]

USUAL = MapRequest(
    model=BUNDLED_ID,
    corpus="digest",
    source="ambiguous",
    unit="words",
    pooling="mean",
    only=("python",),
    every_word=False,
    special=False,
    most=2_000,
    footing="joint",
    layer=None,
    settings=MapSettings(),
)


def view_of(layer: int | None = None, **controls: Any) -> ViewState:
    return replace(DEFAULT, layer=layer, controls={PAGE: controls})


def asked(card: ModelCard, source: str = "ambiguous", **controls: Any) -> MapRequest:
    own = controls if source == "ambiguous" else {"source": source, **controls}
    return request_of(view_of(**own), card, "digest")
