"""The content of the Anatomy page, and the model as transformers alone reads it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.schema import Architecture
from contextlens.features.anatomy.compute import AnatomyView, anatomy_view
from contextlens.features.anatomy.controls import PAGE
from contextlens.ui.state.view import DEFAULT, ViewState
from tests.support.oracle import read_plain
from tests.support.tiny_models import ALL

BASE, LARGE = "google-bert/bert-base-uncased", "google-bert/bert-large-uncased"
MODELS = [BUNDLED_ID, *(f"folder:{name}" for name in ALL)]


def view_with(view: ViewState = DEFAULT, **controls: Any) -> ViewState:
    """A view with the page's controls as given, allowed or not."""
    for name, value in controls.items():
        view = view.with_control(PAGE, name, value, "no default is this")
    return view


def on(name: str) -> ViewState:
    """The opening sentences on one of the tiny models."""
    return ViewState(f"folder:{name}", DEFAULT.sentences)


def seen(service: EncoderService, view: ViewState = DEFAULT, **controls: Any) -> AnatomyView:
    """The page's content for the view."""
    return anatomy_view(view_with(view, **controls), service, service.load(view.model))


def made(service: EncoderService, model: str) -> Architecture:
    service.load(model)
    return service.architecture(model)


@cache
def direct(model: str, tiny_root: Path, bundled_folder: Path) -> Any:
    """The model as transformers alone reads it."""
    folder = bundled_folder if model == BUNDLED_ID else tiny_root / model.split(":")[1]
    _, network = read_plain(folder, attn_implementation="eager")
    if model == "folder:bert-without-pooler":
        network.pooler = None
    return network
