"""Scores to take apart, without the page."""

from __future__ import annotations

from typing import Any

from sklearn.metrics.pairwise import cosine_similarity

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.words import find_word
from contextlens.features.why.controls import PAGE
from contextlens.features.why.score import Score, score_of
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState

PAIR = Sentence("The teacher's unbelievable python", "Seventeen umbrellas", (14, 26))


def sentence(text: str, word: str | None = None, pair: str | None = None) -> Sentence:
    """A sentence with a chosen word."""
    return Sentence(text, pair, None if word is None else find_word(text, word))


def view_on(
    *sentences: Sentence, model: str = BUNDLED_ID, layer: int | None = None, **own: Any
) -> ViewState:
    """A view with the page's controls as given; on the opening sentences where none are."""
    texts = sentences or DEFAULT.sentences
    return ViewState(model, texts, layer=layer, controls={PAGE: own} if own else {})


def score_on(service: EncoderService, *sentences: Sentence, **how: Any) -> Score:
    """The score of `view_on`."""
    view = view_on(*sentences, **how)
    found = score_of(view, service, service.load(view.model))
    if not isinstance(found, Score):
        raise TypeError(found.problem)
    return found


def similarity(service: EncoderService, *texts: str, pair: str | None = None) -> float:
    """scikit-learn's cosine of the mean vectors of two texts, the first of them with a pair."""
    encodings = service.encode(BUNDLED_ID, texts, pairs=[pair, None])
    first, second = (e.hidden[-1].mean(axis=0, dtype=float)[None] for e in encodings)
    return float(cosine_similarity(first, second)[0, 0])
