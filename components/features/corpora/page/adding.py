"""A file of one's own: its first rows, which column is what, what indexing takes, the go-ahead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from components.content.language import say
from components.content.wording import escape
from components.core import ModelCard
from components.core.errors import ContextlensError, CorpusError
from components.corpus.corpus import Corpus
from components.corpus.readers import Sheet
from components.corpus.store.about import indexing_of
from components.corpus.targets import MarkColumns
from components.features.corpora.compute.choosing import FileChoice, corpus_from, guess
from components.features.corpora.compute.estimate import estimate, usual_layers
from components.features.corpora.controls import CORPUS, WORD
from components.features.corpora.page.indexing import begin
from components.features.corpora.page.toolbar import ADDING
from components.features.corpora.reading import date, estimate_claim
from components.ui.access import guard
from components.ui.access.roles import KEEP
from components.ui.corpora import changing
from components.ui.corpora.known import check_may_add, own_names, with_own
from components.ui.files import chooser
from components.ui.files.uploads import keep_shared, shared, sheet_of
from components.ui.models import runtime
from components.ui.models.background import maps, store
from components.ui.models.services import is_for_one, service, settings
from components.ui.state import session
from components.ui.state.view import ViewState

__all__ = ["adding_panel", "await_model"]

_PENDING = "corpora_pending"
"""Under which a visit keeps the name of the file that was chosen and is not indexed yet."""
_GUESSED = "corpora_guessed"
"""Under which a visit keeps what was guessed of its columns, with the file's name."""
_NONE = "—"
_ROLES: Mapping[str, tuple[str, ...]] = {
    "none": (),
    "ends": ("start", "end", "check"),
    "span": ("span", "check"),
    "index": ("index", "check"),
    "word": ("word",),
}
"""The columns by which a file says which word of a text it is about, for each way to say it."""
_CHECK = "check"
"""The word that is marked, to be checked."""


def adding_panel(view: ViewState) -> None:
    """Where a file is chosen and indexed; nothing unless that was asked for."""
    if not session.kept(ADDING) or not guard.is_allowed(KEEP):
        return
    secret = str(session.kept(_PENDING) or "")
    sheet = sheet_of(secret)
    with st.container(border=True, key="corpora_own_file"):
        chooser.upload_field(say("corpora.adding.upload"), key="corpora_upload", on_file=_choose)
        if sheet is not None:
            _preview(view, sheet, secret)
        else:
            st.caption(say("corpora.adding.formats"))
        case = "here" if is_for_one() else "many"
        case += "_cloud" if settings().corpora_uri is not None else ""
        st.caption(say(f"corpora.privacy.{case}"))


def await_model(view: ViewState) -> None:
    """Wait for a model that is on its way, so that the sidebar shows it; the page needs none."""
    if not runtime.is_loaded(view.model) and runtime.is_near(view.model):
        runtime.load(view.model)


def _choose(secret: str, sheet: Sheet) -> None:
    session.keep(_PENDING, secret)
    session.keep(_GUESSED, (secret, guess(sheet)))


def _preview(view: ViewState, sheet: Sheet, secret: str) -> None:
    chooser.file_head(sheet, key="corpora_head")
    of, guessed = session.kept(_GUESSED) or ("", FileChoice(sheet.text_column))
    now = guessed if of == secret else guess(sheet)
    chosen = _pickers(sheet, now, f"corpora_{secret[-8:]}")
    try:
        corpus = _prepared(secret, sheet, chosen)
    except CorpusError as exc:
        st.error(escape(str(exc)), icon=":material/error:")
        return
    for note in corpus.notes[len(sheet.notes) :]:  # the file's own stand above
        st.caption(escape(note))
    card = runtime.load(view.model)
    layers = _layers(corpus, card, secret)
    if not layers:
        st.caption(say("corpora.adding.choose_layer"))
        return
    _go_ahead(corpus, card, layers, chosen.split)


def _pickers(sheet: Sheet, now: FileChoice, key: str) -> FileChoice:
    """The columns that are picked, at first the ones given."""
    titles = list(sheet.columns)
    first, second, third = st.columns([2, 3, 2], gap="small")
    text = str(
        first.selectbox(
            say("corpora.adding.text"), titles, titles.index(now.text), key=f"{key}_text"
        )
    )
    others = [title for title in titles if title != text]
    labels = second.multiselect(
        say("corpora.adding.labels"),
        others,
        [title for title in now.labels if title in others],
        key=f"{key}_labels",
    )
    split = _column(third, say("corpora.adding.split"), others, now.split, f"{key}_split")
    ways = list(_ROLES)
    left, *rest = st.columns([2, 1, 1, 1], gap="small")
    way = left.selectbox(
        say("corpora.adding.marked_by"),
        ways,
        ways.index(_way(now.marks)),
        format_func=lambda way: say(f"corpora.ways.{way}"),
        key=f"{key}_way",
    )
    marks = {}
    for place, role in zip(rest, _ROLES[way], strict=False):
        column, label = "word" if role == _CHECK else role, say(f"corpora.roles.{role}")
        own = getattr(now.marks, column)
        marks[column] = _column(place, label, others, own, f"{key}_{column}")
    return FileChoice(text, tuple(labels), split, MarkColumns(**marks))


def _way(marks: MarkColumns) -> str:
    ways = {"ends": marks.start, "span": marks.span, "index": marks.index, "word": marks.word}
    return next((way for way, title in ways.items() if title), "none")


def _column(place: Any, label: str, titles: Sequence[str], now: str, key: str) -> str:
    options = [_NONE, *titles]
    at = options.index(now, 1) if now in titles else 0
    chosen = place.selectbox(
        label, range(len(options)), at, format_func=options.__getitem__, key=key
    )
    return options[chosen] if chosen else ""


def _prepared(secret: str, sheet: Sheet, chosen: FileChoice) -> Corpus:
    """The corpus that was chosen, kept with the file while its visitor looks at it.

    Raises:
        CorpusError: it cannot be used.
    """
    name = f"{secret} {chosen}"
    found = shared(name)
    if isinstance(found, Corpus):
        return found
    corpus = corpus_from(sheet, chosen)
    keep_shared(session.session(), name, corpus, corpus.n_bytes)
    return corpus


def _layers(corpus: Corpus, card: ModelCard, secret: str) -> tuple[int, ...]:
    every = range(card.n_layers + 1)
    chosen = st.multiselect(
        say("corpora.adding.layers"),
        every,
        usual_layers(corpus, card),
        key=f"corpora_layers_{secret[-8:]}_{card.checksum[:8]}",
        help=say("corpora.adding.layers_help"),
    )
    return tuple(sorted(chosen))


def _go_ahead(corpus: Corpus, card: ModelCard, layers: tuple[int, ...], split: str) -> None:
    """What it takes, before the click that begins it."""
    own = indexing_of(card, layers, "exact")
    expected = estimate(corpus, own, card, service(), maps().token_seconds(card))
    why_not = ""
    try:
        store().check_room(corpus.name, expected.n_bytes)
        check_may_add(session.current())
    except CorpusError as exc:
        why_not = str(exc)
        st.warning(escape(why_not), icon=":material/block:")
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.button(
            say("corpora.adding.index"),
            icon=":material/manage_search:",
            type="primary",
            key="corpora_index",
            disabled=bool(why_not),
            on_click=_index,
            args=(corpus, card, layers, split),
        )
        st.markdown(str(estimate_claim(expected)), width="stretch")


def _index(corpus: Corpus, card: ModelCard, layers: tuple[int, ...], split: str) -> None:
    """Store the texts and begin to index them; what is there already is opened instead."""
    own, view = indexing_of(card, layers, "exact"), session.current()
    try:
        guard.require(KEEP)
        found = store().find(corpus.digest, own, own_names(view))
        if found is None:
            check_may_add(view)
            name = changing.create(corpus, own, split=split).name
        else:
            name = found.name
    except ContextlensError as exc:  # the file stays chosen
        session.remember(str(exc))
        return
    session.keep(_PENDING, None)
    session.keep(ADDING, False)
    if found is None:
        begin(name)
    else:
        session.remember(say("corpora.adding.known", date=date(found.created)))
    view = with_own(view, name)
    session.write(WORD.put(CORPUS.put(view, name), ""))
