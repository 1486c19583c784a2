"""The Search page: the query, the nearest texts by the model and by words, tabs, downloads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from contextlens.content.language import duration, say
from contextlens.core import ModelCard
from contextlens.core.errors import JobError
from contextlens.features.search.controls import MAX_QUERY_CHARACTERS, PAGE, QUERY
from contextlens.features.search.search import (
    Hit,
    SearchResult,
    TextIndex,
    index_task,
    pooling_of,
    search,
    stored_task,
    texts_of,
)
from contextlens.jobs import Task
from contextlens.maps.precision import reading_precision
from contextlens.ui.corpora import bar, texts
from contextlens.ui.corpora.bar import texts_bar
from contextlens.ui.corpora.controls import EXACT, NOT_STORED
from contextlens.ui.corpora.texts import collection_of
from contextlens.ui.models import runtime, waiting
from contextlens.ui.models.background import jobs, maps, store
from contextlens.ui.models.recipes import recipe_of
from contextlens.ui.page import errors
from contextlens.ui.state.services import uncached
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets import export, inputs, kit

HEIGHT = 500
_FILE = "search"
_EVICTED = "This search had to make room for others. Look at the page again, then download it."
ResultOf = Callable[[Task], Any]
"""Returns a task's result, or None until it is there."""


def toolbar(view: ViewState) -> DeltaGenerator:
    """Draw the texts and the query; return a container for the choice of vectors."""
    with texts_bar(view, PAGE):
        vectors = st.container(width="content")
        inputs.text(view, QUERY)
    bar.panel(view, PAGE, _in_memory(view))
    return vectors


def choose_vectors(view: ViewState, card: ModelCard, container: DeltaGenerator) -> None:
    """Draw the choice of how searched texts become vectors, if the model leaves one."""
    control = pooling_of(card)
    if len(control.options) > 1:
        with container:
            inputs.select(view, control)


def search_texts(view: ViewState, card: ModelCard, downloads: DeltaGenerator) -> None:
    """Draw the texts nearest to the query, or what there is to wait for."""
    result = None
    with errors.boundary(again=False):
        result = _search(view, card, _awaited)
    if result is None:
        return
    kit.headline(*result.claims(), key="reading")
    kit.notes(result.notes())
    if not result.by_model and not result.by_words:
        return
    left, right = st.columns(2, gap="medium")
    with left:
        if result.is_read:
            st.markdown(say("search.by_model_lit" if result.has_shares else "search.by_model"))
        for hit in result.by_model:
            _card(hit, "model")
    with right:
        if result.by_words or result.is_read:
            st.markdown(say("search.by_words"))
        for hit in result.by_words:
            _card(hit, "words")
    if result.is_read:
        st.caption(str(result.caption()))
        bar.precision_note(view, result.passport)
    kit.tabs(
        lambda: kit.table(result.rows(), key="search_hits", exact=["cosine", "TF-IDF"]),
        lambda: kit.under_the_hood(
            formula=[result.formula, recipe_of(card)],
            snippet=[(say("search.snippet"), result.snippet())],
            passport=result.passport,
        ),
        say("search.limits"),
    )
    with downloads, st.popover(say("page.download.menu"), icon=":material/download:"):
        kit.download(f"{_FILE}.csv", "text/csv", lambda: _csv(view))


def _in_memory(view: ViewState) -> Any:
    """The texts that a view names, unless they are stored; None for a file that is not there."""
    name = collection_of(view, PAGE)
    return texts.texts_of(view, name) if name in NOT_STORED else None


def _search(view: ViewState, card: ModelCard, result_of: ResultOf) -> SearchResult | None:
    query = QUERY.of(view).strip()[:MAX_QUERY_CHARACTERS]
    if not query:
        st.info(say("search.none"), icon=":material/search:")
        return None
    service, name = runtime.service(), collection_of(view, PAGE)
    pooling, exact = pooling_of(card).of(view), EXACT.of(view)
    if name in NOT_STORED:
        corpus = _in_memory(view)
        if corpus is None:  # the panel asks for the file
            return None
        listed = texts_of(corpus)
        precision = reading_precision(card, len(corpus.texts), exact=exact)
        seconds = maps().token_seconds(card, precision)
        task = index_task(
            corpus, card, uncached(), pooling=pooling, precision=precision, token_seconds=seconds
        )
    else:
        stored = store().open(name)
        listed = stored.text
        seconds = maps().token_seconds(card, "exact" if exact else stored.about.indexing.precision)
        task = stored_task(
            stored, store(), card, uncached(), pooling=pooling, exact=exact, token_seconds=seconds
        )
    index: TextIndex | None = result_of(task)
    if index is None:
        return None
    return search(index, query, listed, card, service, pooling=pooling)


def _awaited(task: Task) -> Any:
    """Return the result of a task; until then draw its progress or a button, and return None."""
    cost = say("search.cost", duration=duration(task.size))
    return waiting.result_of(task, cost, place="search_index", height=HEIGHT)


def _finished(task: Task) -> Any:
    """Return the result of a task that a page awaited.

    Raises:
        JobError: it was evicted.
    """
    job = jobs().get(task.key)
    if job is None or job.state != "done":
        raise JobError(_EVICTED)
    return job.result()


def _csv(view: ViewState) -> bytes:
    """Return the CSV of a search as it was shown.

    Raises:
        JobError: the index of its texts was evicted.
    """
    result = _search(view, runtime.service().load(view.model), _finished)
    if result is None:
        raise JobError(_EVICTED)
    return export.to_csv(result.rows(), result.passport)


def _card(hit: Hit, kind: str) -> None:
    with st.container(border=True, gap="xsmall", key=f"search_{kind}_{hit.index}"):
        st.caption(str(hit.line(by_words=kind == "words")))
        st.html(f'<p class="use" dir="auto">{hit.highlighted()}</p>')
        st.caption(hit.closest_words())
