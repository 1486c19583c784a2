"""The Search page: the query, the nearest texts by the model and by words, tabs, downloads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.elements.lib.mutable_expander_container import ExpanderContainer

from contextlens.content.language import duration, say
from contextlens.core import ModelCard
from contextlens.core.errors import JobError
from contextlens.features.search.controls import MAX_QUERY_CHARACTERS, PAGE, QUERY
from contextlens.features.search.search import (
    Hit,
    SearchResult,
    TextIndex,
    explained,
    index_task,
    pooling_of,
    search,
    stored_task,
    texts_of,
)
from contextlens.jobs import Task
from contextlens.ui.corpora import bar, texts
from contextlens.ui.corpora.bar import texts_bar
from contextlens.ui.corpora.controls import NOT_STORED
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
            st.markdown(say("search.by_model"))
        cards = [_card(result, i, "model") for i in range(len(result.by_model))]
    with right:
        if result.by_words or result.is_read:
            st.markdown(say("search.by_words"))
        cards += [_card(result, i, "words") for i in range(len(result.by_words))]
    with errors.boundary():
        _explain([card for card in cards if card is not None], result)
    if result.is_read:
        st.caption(str(result.caption()))
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
    pooling, seconds = pooling_of(card).of(view), maps().token_seconds(card)
    if name in NOT_STORED:
        corpus = _in_memory(view)
        if corpus is None:  # the panel asks for the file
            return None
        listed = texts_of(corpus)
        task = index_task(corpus, card, uncached(), pooling=pooling, token_seconds=seconds)
    else:
        stored = store().open(name)
        listed = stored.text
        task = stored_task(
            stored, store(), card, uncached(), pooling=pooling, token_seconds=seconds
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


_Card: TypeAlias = tuple[Hit, DeltaGenerator, ExpanderContainer]
"""An open card: its text, the place of the text, and that of its closest words."""


def _card(result: SearchResult, i: int, way: Literal["model", "words"]) -> _Card | None:
    """Draw a text that one way found; return its card if it is open, without the text."""
    hit = (result.by_model if way == "model" else result.by_words)[i]
    with st.container(border=True, gap="xsmall", key=f"search_{way}_{hit.index}"):
        st.caption(str(hit.line(by_words=way == "words")))
        place = st.container()
        if result.is_read:
            words = st.expander(
                say("search.closest"),
                expanded=way == "model" and not i,
                type="compact",
                key=f"search_open_{way}_{i}",
                on_change="rerun",
            )
            if words.open:
                return hit, place, words
    _text(hit, place)
    return None


def _explain(cards: Sequence[_Card], result: SearchResult) -> None:
    """Fill the open cards, whose texts the model has to read."""
    if not cards:
        return
    hits = explained([hit for hit, _, _ in cards], result, runtime.service())
    for hit, (_, place, words) in zip(hits, cards, strict=True):
        _text(hit, place)
        with words:
            st.caption(
                "  \n".join([hit.closest_words(), *([say("search.lit")] if hit.shares else [])])
            )


def _text(hit: Hit, place: DeltaGenerator) -> None:
    place.html(f'<p class="use" dir="auto">{hit.highlighted()}</p>')
