"""Maps drawn in the test's own process, as a page would have them drawn in another one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from components.core import EncoderService
from components.corpus.corpus import Corpus
from components.features.map import costs
from components.features.map.controls import PAGE
from components.features.map.corpora import corpus_of
from components.features.map.drawing import Picture
from components.features.map.request import MapRequest, request_of
from components.maps import layer_maps, projection
from components.maps.gathering import Gathered, gather
from components.ui.state.view import DEFAULT, Sentence, ViewState

__all__ = ["QUICK", "drawn_map", "map_view"]

QUICK = {"method": "pca"}
"""Needs nothing that must be compiled first."""


def map_view(*texts: str, layer: int | None = None, **controls: Any) -> ViewState:
    """A view of the Map page; of sentences, where some are given."""
    own = {"source": "sentences", **controls} if texts else controls
    sentences = tuple(map(Sentence, texts)) or DEFAULT.sentences
    return replace(DEFAULT, sentences=sentences, layer=layer, controls={PAGE: own} if own else {})


def drawn_map(service: EncoderService, view: ViewState, corpus: Corpus | None = None) -> Picture:
    """The map that a view asks for, of a corpus if one is given."""
    card = service.load(view.model)
    corpus = corpus_of(view) if corpus is None else corpus
    assert corpus is not None
    request = request_of(view, card, corpus.digest)
    gathered = _gathered(service, request, corpus)
    layers = gathered.layers if request.layer is None else (request.layer,)
    vectors = gathered.vectors[[gathered.layers.index(layer) for layer in layers]]
    kept = {
        "request": request,
        "corpus": corpus,
        "gathered": gathered,
        "layers": layers,
        "vectors": vectors,
        "seconds": 0.0,
    }
    if len(layers) == 1:
        one = projection.project(vectors[0], request.settings)
        return Picture(
            coordinates=one.coordinates[None],
            method=one.method,
            reason=one.reason,
            neighbors=(one.neighbors,),
            honesty=(one.honesty,),
            **kept,
        )
    how: Literal["aligned", "joint"] = "aligned" if request.footing == "aligned" else "joint"
    every = layer_maps.project_layers(vectors, request.settings, how=how)
    return Picture(
        coordinates=every.coordinates,
        method=every.method,
        reason=every.reason,
        neighbors=every.neighbors,
        honesty=every.honesty,
        **kept,
    )


def _gathered(service: EncoderService, request: MapRequest, corpus: Corpus) -> Gathered:
    able = costs.able_texts(request, corpus)
    chosen = request.unit == "words" and not request.every_word and corpus.spans is not None
    return gather(
        service.encode(request.model, [corpus.texts[i] for i in able]),
        unit=request.unit,
        pooling=request.pooling,
        spans=[corpus.spans[i] for i in able] if chosen and corpus.spans else None,
        only=request.only,
        special=request.special,
        labels={title: list(np.array(own)[able]) for title, own in corpus.labels.items()},
        most=request.most,
    )
