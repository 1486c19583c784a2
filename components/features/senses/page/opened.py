"""The corpus that a view names, and its model where that is at hand."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from components.content.language import say
from components.content.wording import escape
from components.core import ModelCard
from components.core.errors import ContextlensError, CorpusError, ModelError
from components.corpus.searchable import SearchableCorpus
from components.corpus.store.stored_corpus import StoredCorpus
from components.features.senses.compute.corpora import corpus_of
from components.features.senses.compute.stored import open_stored
from components.features.senses.controls import CORPUS, LIVE
from components.ui.models import runtime, second
from components.ui.models.services import settings
from components.ui.state.view import ViewState

__all__ = ["Opened", "await_model", "get_model", "is_stored", "model_card", "opened"]


@dataclass(frozen=True, eq=False)
class Opened:
    """A corpus, or why there is none, in a sentence of plain text."""

    corpus: SearchableCorpus | None
    problem: str = ""


def is_stored(view: ViewState) -> bool:
    """Whether a view names a corpus that is kept, whose vectors are there already."""
    return (CORPUS.asked(view) or CORPUS.default) not in LIVE


def opened(view: ViewState, *, height: int) -> Opened:
    """The corpus that a view names; of a live one the page's model is loaded first.

    Args:
        view: what is chosen.
        height: of the picture, in pixels, whose place is kept meanwhile.
    """
    if not is_stored(view):
        runtime.load(view.model, height=height)
    try:
        return Opened(corpus_of(view, runtime.service(), open_stored))
    except CorpusError as exc:
        return Opened(None, str(exc))


def await_model(view: ViewState, corpus: SearchableCorpus) -> None:
    """Wait for the page's model where it is that of a stored corpus: the rest needs it later."""
    if corpus.model == view.model and runtime.is_near(view.model):
        runtime.load(view.model)


def model_card(corpus: SearchableCorpus) -> ModelCard | None:
    """The card of the model that a corpus's vectors come from; None where it is not in memory.

    A model of that name with other weights is another one.
    """
    try:
        card = runtime.service().load(corpus.model) if runtime.is_loaded(corpus.model) else None
    except ContextlensError:  # it is not to be had any more
        return None
    return None if card is None or _has_changed(corpus, card) else card


def get_model(corpus: SearchableCorpus) -> bool:
    """Whether a corpus's model is in memory; where it is not, what is to be waited for is shown."""
    try:
        spec = runtime.service().spec(corpus.model)
        runtime.check_model(corpus.model)
        is_away = spec.source == "hub" and not (spec.on_disk or spec.loaded)
        if is_away and not settings().allow_downloads:
            raise ModelError(say("senses.no_download"))
        card = second.model_card(spec)
        if card is not None and _has_changed(corpus, card):
            raise ModelError(say("senses.other_weights"))
    except ContextlensError as exc:
        st.info(
            say("senses.needs_model", model=escape(corpus.model), why=escape(str(exc))),
            icon=":material/info:",
        )
        return False
    return card is not None


def _has_changed(corpus: SearchableCorpus, card: ModelCard) -> bool:
    """Whether a corpus was indexed with other weights than these."""
    return isinstance(corpus, StoredCorpus) and corpus.about.indexing.checksum != card.checksum
