"""What a map will take, and which texts it reads: estimates and samples, before any heavy work."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from threading import Lock

import numpy as np
import streamlit as st

from components.core import ModelCard
from components.core.schema import IntArray
from components.core.words import split_words
from components.corpus.corpus import Corpus
from components.features.map.request import MapRequest
from components.maps.projection import estimate
from components.ui.models.services import service

__all__ = ["SEED", "Costs", "able_texts", "bound", "costs", "n_able", "note_speed", "order"]

SEED = 0
_SAMPLE = 64  # texts that an estimate looks at
_MAX_JOINT = 50_000  # points of all layers together
_FLOPS = 1.2e11  # multiplications and additions a second, until something was measured


@dataclass(frozen=True)
class Costs:
    """What a map will roughly take."""

    n_texts: int
    n_points: int
    n_tokens: int
    seconds: float
    n_bytes: int


@dataclass
class _Speeds:
    """Seconds a token took when texts were encoded, by model: the least, as others may work too."""

    seconds: dict[str, float]
    lock: Lock


@st.cache_resource(show_spinner=False)
def _speeds() -> _Speeds:
    return _Speeds({}, Lock())


def costs(request: MapRequest, corpus: Corpus, card: ModelCard) -> Costs:
    """What a map will roughly take, from a sample of its texts."""
    per_text, tokens = _sizes(corpus, request, card)
    n_able = len(able_texts(request, corpus))
    n_texts = max(1, min(n_able, int(np.ceil(request.most / max(per_text, 1e-9)))))
    n_points = int(min(bound(request, card), max(1, round(per_text * n_texts))))
    n_tokens = round(tokens * n_texts)
    n_layers = card.n_layers + 1 if request.layer is None else 1
    placed = estimate(n_points, card.n_dims, request.settings, n_layers=n_layers)
    kept = n_points * card.n_dims * 4 * (card.n_layers + 1 if request.layer is None else 1)
    return Costs(
        n_texts=n_texts,
        n_points=n_points,
        n_tokens=n_tokens,
        seconds=n_tokens * _seconds_a_token(card) + placed.seconds,
        n_bytes=2 * kept + placed.n_bytes,
    )


def n_able(request: MapRequest, corpus: Corpus) -> int:
    """How many texts may have points."""
    return len(able_texts(request, corpus))


def able_texts(request: MapRequest, corpus: Corpus) -> IntArray:
    """The texts that may have points: those with a word that was asked for."""
    if request.unit != "words" or not request.only:
        return np.arange(len(corpus.texts))
    texts: Iterable[str] = corpus.texts
    if corpus.spans is not None and not request.every_word:
        texts = (text[slice(*span)] for text, span in zip(corpus.texts, corpus.spans, strict=True))
    has = [any(word in text.casefold() for word in request.only) for text in texts]
    return np.flatnonzero(has)


def bound(request: MapRequest, card: ModelCard) -> int:
    """How many points may be drawn: fewer where each stands once for every layer."""
    if request.layer is not None:
        return request.most
    return min(request.most, _MAX_JOINT // (card.n_layers + 1))


def _sizes(corpus: Corpus, request: MapRequest, card: ModelCard) -> tuple[float, float]:
    """Points and tokens of an average text."""
    able = able_texts(request, corpus)
    sample = [corpus.texts[i] for i in able[:: max(1, len(able) // _SAMPLE)][:_SAMPLE]]
    if not sample:
        return 0.0, 0.0
    tokens = np.mean(
        [min(t.n_tokens, card.max_length) for t in service().tokenize(card.id, sample)]
    )
    chosen = request.unit == "words" and corpus.spans is not None and not request.every_word
    if request.unit == "sentences" or chosen:
        return 1.0, float(tokens)
    if request.unit == "tokens":
        return (float(tokens) if not request.only else 1.0), float(tokens)
    words = np.mean([len(split_words(text)) for text in sample])
    return (float(words) if not request.only else 1.0), float(tokens)


def _seconds_a_token(card: ModelCard) -> float:
    with _speeds().lock:
        known = _speeds().seconds.get(card.id)
    return known if known is not None else 2 * 12 * card.n_layers * card.n_dims**2 / _FLOPS


def order(request: MapRequest, corpus: Corpus, card: ModelCard) -> tuple[IntArray, int]:
    """Which texts are read, in which order, a random sample where all are too many; how many."""
    able, most = able_texts(request, corpus), bound(request, card)
    n = len(able)
    per_text, _ = _sizes(corpus, request, card)
    if n * per_text <= most:
        return able, n
    shuffled = np.random.default_rng(SEED).permutation(able)
    if request.unit == "sentences":
        return np.sort(shuffled[:most]), most
    return shuffled, max(1, min(n, int(np.ceil(most / per_text))))


def note_speed(card: ModelCard, n_tokens: int, seconds: float) -> None:
    """Learn from texts that were encoded how long that takes here; few tokens say little."""
    if n_tokens > 2_000:
        now = seconds / n_tokens
        with _speeds().lock:
            _speeds().seconds[card.id] = min(now, _speeds().seconds.get(card.id, now))
