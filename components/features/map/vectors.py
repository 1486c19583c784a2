"""The points of a map and their vectors: texts are encoded a few at a time, and results kept."""

from __future__ import annotations

import time
from collections.abc import Iterator

import streamlit as st

from components.core import Encoding, ModelCard
from components.core.byte_cache import ByteCache
from components.corpus.corpus import Corpus
from components.features.map import costs
from components.features.map.jobs import Job
from components.features.map.request import MapRequest
from components.maps.gathering import Gathered, gather
from components.ui.models.services import service, settings

__all__ = ["gathered"]

_N_TEXTS = 96  # encoded at a time
_MAX_GATHERED = 60_000_000
"""Bytes up to which the vectors of all layers are gathered though one is asked for: a change of
the layer then needs no encoding."""


@st.cache_resource(show_spinner=False)
def _kept() -> ByteCache:
    return ByteCache(settings().cache_bytes // 4)


def gathered(
    job: Job, request: MapRequest, corpus: Corpus, card: ModelCard, *, share: float
) -> Gathered:
    """The points with the vectors of the layer asked for, or of all where that is affordable.

    Args:
        job: told how far it is.
        request: what is mapped.
        corpus: its texts.
        card: of its model, loaded.
        share: of the job that this is.

    Raises:
        ContextlensError: the texts cannot be encoded, or there is nothing to map in them.
    """
    n_layers = card.n_layers + 1
    every = request.layer is None or (
        request.layer >= 0
        and min(request.most, 10 * len(corpus.texts)) * n_layers * card.n_dims * 4 < _MAX_GATHERED
    )
    layers = None if every or request.layer in {None, -1} else (request.layer or 0,)
    key = (*request.points_key, layers, card.checksum, costs.bound(request, card))

    def compute() -> Gathered:
        return _gather(job, request, corpus, card, layers, share)

    found: Gathered = _kept().get(key, compute)
    return found


def _gather(
    job: Job,
    request: MapRequest,
    corpus: Corpus,
    card: ModelCard,
    layers: tuple[int, ...] | None,
    share: float,
) -> Gathered:
    order, n_expected = costs.order(request, corpus, card)
    chosen = request.unit == "words" and not request.every_word and corpus.spans is not None
    spans = [corpus.spans[i] for i in order] if chosen and corpus.spans is not None else None
    needed = layers if request.pooling != "pooler" else (card.n_layers,)
    start, n_tokens = time.monotonic(), 0

    def encodings() -> Iterator[Encoding]:
        nonlocal n_tokens
        for at in range(0, len(order), _N_TEXTS):
            read = min(1.0, at / n_expected)
            job.report(f"Reading {n_expected:,} texts", share * read)
            texts = [corpus.texts[i] for i in order[at : at + _N_TEXTS]]
            for encoding in service().encode(card.id, texts, layers=needed):
                n_tokens += encoding.n_tokens
                yield encoding

    found = gather(
        encodings(),
        unit=request.unit,
        pooling=request.pooling,
        spans=spans,
        only=request.only,
        special=request.special,
        labels={title: [column[i] for i in order] for title, column in corpus.labels.items()},
        most=costs.bound(request, card),
    )
    costs.note_speed(card, n_tokens, time.monotonic() - start)
    return found
