"""The Search page: the query, the nearest texts by the model and by words, tabs, downloads."""

from __future__ import annotations

import hashlib
import html
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, TypeGuard

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.elements.lib.mutable_expander_container import ExpanderContainer

from contextlens.content.language import duration, say
from contextlens.content.wording import escape, shortened
from contextlens.core import ModelCard
from contextlens.core.errors import CorpusError, JobError
from contextlens.corpus.corpus import Corpus
from contextlens.features.search.controls import (
    ASK,
    MAX_CARD_CHARACTERS,
    MAX_QUERY_CHARACTERS,
    NUMBERS,
    PAGE,
    QUERY,
    ROW,
)
from contextlens.features.search.given import (
    GivenHit,
    GivenQuery,
    GivenSearch,
    given_task,
    pasted_numbers,
    row_query,
    search_given,
    text_query,
)
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
from contextlens.maps.precision import reading_precision
from contextlens.ui.corpora import bar, texts
from contextlens.ui.corpora.bar import texts_bar
from contextlens.ui.corpora.controls import EXACT, NOT_STORED
from contextlens.ui.corpora.texts import collection_of
from contextlens.ui.files.uploads import keep_shared, shared
from contextlens.ui.models import runtime, waiting
from contextlens.ui.models.background import jobs, maps, store
from contextlens.ui.models.recipes import recipe_of
from contextlens.ui.page import errors
from contextlens.ui.state import session
from contextlens.ui.state.controls import Number
from contextlens.ui.state.services import uncached
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets import export, inputs, kit

HEIGHT = 500
_FILE = "search"
_EVICTED = "This search had to make room for others. Look at the page again, then download it."
ResultOf = Callable[[Task], Any]
"""Returns a task's result, or None until it is there."""


def toolbar(view: ViewState) -> DeltaGenerator:
    """Draw the texts and the query; return a container for the choice of vectors.

    If the texts cannot be read, the page ends with the reason, and others can be chosen.
    """
    corpus, problem = None, ""
    try:
        corpus = _in_memory(view)
    except CorpusError as exc:
        problem = str(exc)
    with texts_bar(view, PAGE):
        vectors = st.container(width="content")
        if _is_given(corpus):
            _ask(view, corpus)
        else:
            inputs.text(view, QUERY)
    bar.panel(view, PAGE, corpus)
    if problem:
        st.info(escape(problem), icon=":material/folder_off:")
        st.stop()
    own = None if corpus is None else corpus.own
    if own is not None and ASK.of(view) == "numbers":
        _paste(own.n_dims)
    return vectors


def _is_given(corpus: Corpus | None) -> TypeGuard[Corpus]:
    """True if the texts are searched by vectors of their file."""
    return corpus is not None and corpus.own is not None


def _row(corpus: Corpus) -> Number:
    """Return the control of a row of the file, counted from 1; at first one with a vector."""
    places = (0,) if corpus.own is None else corpus.own.places.tolist()
    return ROW.between(1, max(places) + 1, default=places[0] + 1)


def _ask(view: ViewState, corpus: Corpus) -> None:
    """Draw the choice of what is searched for by the vectors of a file."""
    kind = inputs.select(view, ASK)
    if kind == "row":
        inputs.number(view, _row(corpus))
    if kind == "text":
        inputs.text(view, QUERY)


def _paste(n_dims: int) -> None:
    """Draw the field for the numbers of a vector."""
    key = "search_paste"
    st.text_area(say("search.given.paste", n=n_dims), height=104, key=key)

    def use() -> None:
        try:
            vector = pasted_numbers(str(session.value(key) or ""), n_dims)
        except CorpusError as exc:
            session.remember(str(exc))
            return
        digest = hashlib.sha256(vector.tobytes()).hexdigest()[:32]
        keep_shared(session.session(), digest, vector, vector.nbytes)
        session.write(NUMBERS.put(session.current(), digest))

    st.button(say("search.given.use"), key=f"{key}_use", on_click=use)


def choose_vectors(view: ViewState, card: ModelCard, container: DeltaGenerator) -> None:
    """Draw the choice of how searched texts become vectors, if the model leaves one."""
    control = pooling_of(card)
    if _is_given(_in_memory(view)):
        return
    if len(control.options) > 1:
        with container:
            inputs.select(view, control)


def search_texts(view: ViewState, card: ModelCard, downloads: DeltaGenerator) -> None:
    """Draw the texts nearest to the query, or what there is to wait for."""
    corpus = _in_memory(view)
    if _is_given(corpus):
        with errors.boundary(again=False):
            _search_by_file(view, corpus, card, downloads)
        return
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
    return texts.texts_of(view, name, takes_vectors=True) if name in NOT_STORED else None


def _given(
    view: ViewState, corpus: Corpus, card: ModelCard, result_of: ResultOf
) -> GivenSearch | None:
    """Return what the vectors of a file find; None until it is there, or something is asked."""
    kind, query = ASK.of(view), QUERY.of(view).strip()[:MAX_QUERY_CHARACTERS]
    if kind == "numbers":
        vector = shared(NUMBERS.of(view))
        own = corpus.own
        if own is None or not isinstance(vector, np.ndarray) or len(vector) != own.n_dims:
            st.info(say("search.given.no_numbers"), icon=":material/search:")
            return None
        asked = GivenQuery("numbers", vector)
    elif kind == "text":
        if not query:
            st.info(say("search.none"), icon=":material/search:")
            return None
        asked = text_query(query, corpus, card, runtime.service())
    else:
        asked = row_query(corpus, _row(corpus).of(view))
    index: TextIndex | None = result_of(given_task(corpus))
    return None if index is None else search_given(index, corpus, asked)


def _search_by_file(
    view: ViewState, corpus: Corpus, card: ModelCard, downloads: DeltaGenerator
) -> None:
    """Draw the texts nearest by the vectors of a file, or what there is to wait for."""
    result = _given(view, corpus, card, _awaited)
    if result is None:
        return
    kit.headline(*result.claims(), key="reading")
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown(say("search.given.by_vectors"))
        for hit in result.by_vectors:
            _given_card(hit, "vectors")
    with right:
        if result.query.text:
            st.markdown(say("search.by_words"))
        if result.query.text and not result.by_words:
            st.caption(say("search.no_word"))
        for hit in result.by_words:
            _given_card(hit, "words")
    st.caption(str(result.caption()))
    st.caption(" · ".join(map(escape, corpus.notes)))
    kit.tabs(
        lambda: kit.table(result.rows(), key="search_hits", exact=["cosine"]),
        lambda: kit.under_the_hood(
            formula=[result.formula],
            snippet=[(say("search.given.snippet"), result.snippet())],
            passport=result.passport,
        ),
        say("search.limits"),
    )
    with downloads, st.popover(say("page.download.menu"), icon=":material/download:"):
        kit.download(f"{_FILE}.csv", "text/csv", lambda: _csv(view))


def _given_card(hit: GivenHit, kind: str) -> None:
    with st.container(border=True, gap="xsmall", key=f"search_{kind}_{hit.row}"):
        st.caption(str(hit.line()))
        text = html.escape(shortened(hit.text, MAX_CARD_CHARACTERS))
        st.html(f'<p class="use" dir="auto">{text}</p>')
        st.button(
            say("search.given.like_this"),
            key=f"search_like_{kind}_{hit.row}",
            type="tertiary",
            on_click=lambda: session.write(
                ROW.put(ASK.put(session.current(), ASK.default), hit.row)
            ),
        )


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
    corpus, card = _in_memory(view), runtime.service().load(view.model)
    result: GivenSearch | SearchResult | None
    if _is_given(corpus):
        result = _given(view, corpus, card, _finished)
    else:
        result = _search(view, card, _finished)
    if result is None:
        raise JobError(_EVICTED)
    return export.to_csv(result.rows(), result.passport)


_Card: TypeAlias = tuple[Hit, DeltaGenerator, ExpanderContainer]
"""An open card: its text, the place of the text, and that of its closest words."""


def _card(result: SearchResult, i: int, way: Literal["model", "words"]) -> _Card | None:
    """Draw a text that one way found; return its card if it is open, to be explained."""
    hit = (result.by_model if way == "model" else result.by_words)[i]
    with st.container(border=True, gap="xsmall", key=f"search_{way}_{hit.index}"):
        st.caption(str(hit.line(by_words=way == "words")))
        place = st.empty()
        _text(hit, place)
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
    return None


def _explain(cards: Sequence[_Card], result: SearchResult) -> None:
    """Mark the texts of open cards, which the model has to read, and name their closest words."""
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
