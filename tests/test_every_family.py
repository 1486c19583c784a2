"""Every page about sentences, on a tiny model of each family."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from contextlens.ui.models import runtime
from contextlens.ui.state.view import DEFAULT
from tests.support.pages import (
    app_data,
    app_settings,
    finish_background_work,
    framed,
    sentence,
    settled,
    shown_view,
)
from tests.support.tiny_models import FAMILIES

PAGES = (
    *("home", "tokens", "masks", "embedding_layer", "layers", "attention", "meaning", "why"),
    *("sentences", "anatomy", "pairs", "blank"),
)
SENTENCES = (
    replace(sentence("I love my pet python", "python"), pair="It sleeps under a warm lamp"),
    sentence("I love coding in python", "python"),
)


@pytest.fixture(scope="module", autouse=True)
def app(tiny_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    data = str(app_data(tmp_path_factory))
    with app_settings(DATA_DIR=data, ALLOW_DOWNLOADS="0", MODEL_FOLDERS=str(tiny_root)):
        yield


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_every_page_about_sentences_shows_a_model_of_each_family(family: str) -> None:
    view = replace(DEFAULT, model=f"folder:{family}", sentences=SENTENCES)
    runtime.baseline(runtime.service().load(view.model))
    finish_background_work()
    for page in PAGES:
        app = settled(framed(view, page))
        assert shown_view(app).model == view.model, page
        assert not app.error, page
