"""Maps drawn in the test's own process, as a page would have them drawn in another one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from contextlens.core import EncoderService
from contextlens.corpus.corpus import Corpus
from contextlens.features.map.controls import PAGE
from contextlens.features.map.display import MapDisplay, map_display
from contextlens.features.map.request import corpus_of, request_of
from contextlens.maps.plan import plan, usual_token_seconds
from contextlens.maps.projection import project
from contextlens.maps.result import MapResult
from contextlens.maps.vectors import read_points
from contextlens.ui.state.old_controls import renamed_controls
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState

__all__ = ["QUICK", "TEXTS", "drawn_map", "map_view", "shown_map"]

TEXTS = (
    "I love my pet python",
    "My python sleeps, unbelievably",
    "I love coding in python quickly",
    "The snake sleeps",
)
"""Four texts, two pythons of the pet, one of the language, and a text without one."""

QUICK = {"method": "pca"}
"""Needs nothing that must be compiled first."""


def map_view(*texts: str, layer: int | None = None, **controls: Any) -> ViewState:
    """A view of the Map page; of sentences, where some are given."""
    own = {"source": "sentences", **controls} if texts else controls
    sentences = tuple(map(Sentence, texts)) or DEFAULT.sentences
    return replace(
        DEFAULT, sentences=sentences, layer=layer, controls=renamed_controls({PAGE: own}, PAGE)
    )


def drawn_map(service: EncoderService, view: ViewState, corpus: Corpus | None = None) -> MapResult:
    """The map that a view asks for, of a corpus if one is given."""
    card = service.load(view.model)
    corpus = corpus_of(view) if corpus is None else corpus
    assert corpus is not None
    request = request_of(view, card, corpus.key, len(corpus.texts))
    planned = plan(request, corpus, card, service, usual_token_seconds(card))
    gathered = read_points(
        request,
        corpus,
        card,
        planned,
        service,
        on_progress=lambda *_: None,
        note_speed=lambda *_: None,
    )
    layers = gathered.layers if request.layer is None else (request.layer,)
    vectors = gathered.at(layers)
    drawn = project(vectors, request.settings)
    return MapResult(request, corpus, gathered, planned.n_able, layers, vectors, drawn)


def shown_map(service: EncoderService, view: ViewState, corpus: Corpus | None = None) -> MapDisplay:
    """The map that a view asks for, as the page shows it."""
    return map_display(view, drawn_map(service, view, corpus))
