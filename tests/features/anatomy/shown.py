"""What the Anatomy page shows of a model, without the page."""

from __future__ import annotations

from typing import Any

from components.core import EncoderService
from components.features.anatomy.compute import AnatomyView, anatomy_view
from components.features.anatomy.controls import PAGE
from components.ui.state.view import DEFAULT, ViewState

BASE, LARGE = "google-bert/bert-base-uncased", "google-bert/bert-large-uncased"


def view_with(view: ViewState = DEFAULT, **own: Any) -> ViewState:
    """A view with the page's controls as given, allowed or not."""
    for name, value in own.items():
        view = view.with_control(PAGE, name, value, "no default is this")
    return view


def on(name: str) -> ViewState:
    """The opening sentences on one of the tiny models."""
    return ViewState(f"folder:{name}", DEFAULT.sentences)


def seen(service: EncoderService, view: ViewState = DEFAULT, **own: Any) -> AnatomyView:
    """What the page shows of `view_with`."""
    return anatomy_view(view_with(view, **own), service, service.load(view.model))
