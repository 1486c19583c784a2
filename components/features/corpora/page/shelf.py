"""What is kept, a card each: the visitor's own, what is for everybody, what is ready-made."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components.content.language import say
from components.content.wording import escape, shortened
from components.core import ModelCard
from components.core.errors import ContextlensError, CorpusError, ModelError
from components.corpus.offered import Offered, read_offered
from components.corpus.store.about import indexing_of
from components.features.corpora.compute.choosing import corpus_from, guess
from components.features.corpora.compute.estimate import usual_layers
from components.features.corpora.compute.shown import Shown, ready_made
from components.features.corpora.controls import CORPUS, READY, WORD
from components.features.corpora.page.indexing import begin
from components.features.corpora.reading import date, facts, indexed_with, state_of
from components.ui.access import guard
from components.ui.access.roles import KEEP
from components.ui.corpora import changing
from components.ui.corpora.known import Kept, kept_of, known
from components.ui.models import runtime
from components.ui.models.background import store
from components.ui.models.services import service, settings
from components.ui.state import session
from components.ui.state.view import ViewState

__all__ = ["shelf"]

_LONGEST = 26  # characters of a title
_HIGH = 4  # cards; more of them scroll
_HEIGHT = 560
_SECONDS = 3.0


def shelf(view: ViewState, shown: Shown) -> None:
    """All corpora that the visit knows, the one that is looked at marked."""
    try:
        stored: Sequence[Kept] = known(view)
    except CorpusError as exc:  # what ships with the app is there all the same
        st.error(escape(str(exc)), icon=":material/error:")
        stored = ()
    if shown.kept is not None and shown.kept.name not in {kept.name for kept in stored}:
        stored = (shown.kept, *stored)
    n = len(stored) + len(READY)
    st.markdown(say("corpora.shelf.title", n=n))
    with st.container(
        height=_HEIGHT if n > _HIGH else "content", border=False, gap="small", key="corpora_shelf"
    ):
        for kept in stored:
            _stored_card(view, kept, is_chosen=kept.name == shown.key)
        for key, title in CORPUS.options.items():
            _ready_card(key, title, is_chosen=key == shown.key)
    _watch([kept.name for kept in stored if kept.name != shown.key and kept.is_under_way])


def _watch(names: Sequence[str]) -> None:
    """Look now and then whether one of these is indexed; the one that is shown tells by itself."""
    if not names:
        return

    @st.fragment(run_every=_SECONDS)
    def look() -> None:
        if not all(kept_of(name).is_under_way for name in names):
            st.rerun()

    look()


def _ready_card(key: str, title: str, *, is_chosen: bool) -> None:
    corpus = ready_made(key)
    with _card(key):
        _name(key, title, is_chosen=is_chosen)
        texts = say("corpora.facts.texts", n=len(corpus.texts))
        st.caption(say("corpora.shelf.labels", texts=texts, labels=", ".join(corpus.labels)))
        st.caption(say("corpora.shelf.ready_made"))


def _stored_card(view: ViewState, kept: Kept, *, is_chosen: bool) -> None:
    about = kept.about
    with _card(kept.name):
        if kept.file is not None and about is None and not kept.problem:
            _offered_card(view, kept.name, kept.file)
            return
        _name(kept.name, kept.title, is_chosen=is_chosen)
        if about is None:
            st.caption(escape(kept.problem))
            return
        st.caption(facts(about))
        st.caption(escape(indexed_with(about)))
        state = state_of(about, is_under_way=kept.is_under_way)
        case = "own" if kept.file is None else "everybody"
        st.caption(say(f"corpora.shelf.{case}", state=state, date=date(about.created)))


def _offered_card(view: ViewState, name: str, file: Offered) -> None:
    """A file for everybody that nobody had indexed with this model."""
    st.markdown(f"**{escape(shortened(file.title, _LONGEST))}**")
    st.caption(say("corpora.shelf.offered", size=file.mark[0] / 1e6))
    listed = {spec.id for spec in service().models()}
    if view.model not in listed:
        st.caption(say("corpora.shelf.listed_only"))
    elif guard.refusal(KEEP):
        st.caption(escape(guard.refusal(KEEP)))
    elif not runtime.is_loaded(view.model):
        st.caption(say("corpora.shelf.needs_model"))
    else:
        st.button(
            say("corpora.shelf.index_offered"),
            key=f"corpora_offered_{name}",
            on_click=_index_offered,
            args=(name, file),
        )


def _card(key: str) -> st.delta_generator.DeltaGenerator:
    return st.container(border=True, gap=None, key=f"corpora_card_{key}")


def _name(key: str, title: str, *, is_chosen: bool) -> None:
    sign = "radio_button_checked" if is_chosen else "radio_button_unchecked"
    st.button(
        escape(shortened(title, _LONGEST)),
        icon=f":material/{sign}:",
        type="tertiary",
        key=f"corpora_show_{key}",
        help=None if is_chosen else say("corpora.shelf.show"),
        on_click=_show,
        args=(key,),
    )


def _show(key: str) -> None:
    session.write(WORD.put(CORPUS.put(session.current(), key), ""))


def _loaded_card(model: str) -> ModelCard:
    """The card of a model that the button was drawn for: it is not loaded for a click alone.

    Raises:
        ModelError: it is not loaded, by what has happened since.
    """
    if not runtime.is_loaded(model):
        raise ModelError(say("corpora.shelf.model_gone"))
    return service().load(model)


def _store_offered(name: str, file: Offered) -> None:
    """Store a file for everybody; nothing where somebody else was quicker.

    Raises:
        ContextlensError: it cannot be read or stored.
    """
    sheet = read_offered(file, max_bytes=settings().max_upload_bytes)
    chosen = guess(sheet)
    corpus = corpus_from(sheet, chosen)
    card = _loaded_card(session.current().model)
    own = indexing_of(card, usual_layers(corpus, card), "exact")
    try:
        changing.create(corpus, own, split=chosen.split, for_everybody=name)
    except CorpusError:
        if not store().has(name):
            raise


def _index_offered(name: str, file: Offered) -> None:
    """Store a file for everybody, and index it; the one who asks looks at it."""
    try:
        guard.require(KEEP)
        if not store().has(name):
            _store_offered(name, file)
    except ContextlensError as exc:
        session.remember(str(exc))
        return
    begin(name)
    _show(name)
