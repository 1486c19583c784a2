"""The parts of the Corpora page, in the order of the page."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from contextlens.content.language import claim, say, table
from contextlens.content.wording import escape, quoted, shortened
from contextlens.core import ModelCard
from contextlens.core.errors import AccessError, ContextlensError, CorpusError, ModelError
from contextlens.corpus.bundled import Offered, read_offered
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.readers import Table
from contextlens.corpus.store.about import Indexing, indexing_of
from contextlens.corpus.table import named
from contextlens.corpus.targets import MarkColumns
from contextlens.features.corpora.compute import (
    CorpusResult,
    FileChoice,
    caption_of,
    corpus_from,
    guess,
    indexing_cost,
    marks_beyond,
    passport_of,
    result_of,
    usual_layers,
    word_arrays,
    word_rows,
)
from contextlens.features.corpora.controls import MAX_DRAWN_CORPORA, SEARCH
from contextlens.features.corpora.explain import FORMULA, SCHEMA
from contextlens.features.corpora.figures import corpus_bars, word_bars
from contextlens.features.corpora.reading import (
    cost_claims,
    date,
    facts,
    indexed_with,
    model_note,
    search_claim,
    search_title,
    state_of,
    words_claims,
    words_title,
)
from contextlens.features.corpora.search import Hit, searched
from contextlens.features.corpora.snippet import PICTURE, export_snippet, texts_snippet
from contextlens.jobs import Job
from contextlens.maps.plan import usual_token_seconds
from contextlens.maps.precision import reading_precision
from contextlens.ui.access import guard
from contextlens.ui.access.roles import KEEP
from contextlens.ui.corpora import catalogue, changing, exports
from contextlens.ui.corpora.catalogue import (
    Kept,
    check_may_add,
    kept_of,
    listed,
    may_change,
    may_index,
    own_names,
)
from contextlens.ui.corpora.controls import COLLECTION, EXACT, FILE, WHOLE_READY_TEXTS, WORD
from contextlens.ui.corpora.exports import file_name
from contextlens.ui.corpora.own_file import ADDING, PENDING, on_collection, secret_of
from contextlens.ui.files import chooser
from contextlens.ui.files.uploads import keep_shared, shared, table_of
from contextlens.ui.models import runtime, waiting
from contextlens.ui.models.background import store
from contextlens.ui.page import navigation
from contextlens.ui.state import session
from contextlens.ui.state.services import is_for_one, service, settings
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets import inputs, kit

# --- Export and deletion of a stored corpus

_DELETING = "corpora_deleting"
"""The session key for the name of the corpus whose deletion awaits confirmation."""
_MAX_HEADING_LENGTH = 60


def menu(stored: Kept) -> None:
    """Export and deletion, in a menu."""
    with st.popover(say("corpora.managing.menu"), icon=":material/folder_managed:"):
        about = stored.about
        if about is not None and about.n_occurrences and changing.may_export(about):
            st.caption(say("corpora.managing.rows", n=about.n_occurrences))
            st.link_button(
                say("corpora.managing.export"),
                exports.address(stored.name),
                icon=":material/download:",
                width="stretch",
            )
        if may_change(stored):
            ask_to_delete(stored, say("corpora.managing.delete"), key="corpora_delete")
        elif stored.file is not None:
            st.caption(say("corpora.managing.offered"))
        else:
            may_export = about is not None and changing.may_export(about)
            st.caption(say(f"corpora.managing.{'shown_export' if may_export else 'shown'}"))


def ask_to_delete(
    stored: Kept, label: str, *, key: str, width: Literal["content", "stretch"] = "stretch"
) -> None:
    """A button to delete; after a click, a warning with buttons to confirm and to cancel."""
    if session.kept(_DELETING) != (stored.name, key):
        st.button(label, icon=":material/delete:", key=key, width=width,
                  on_click=session.keep, args=(_DELETING, (stored.name, key)))  # fmt: skip
        return
    with st.container(gap="small"):
        _confirm(stored, key)


def _confirm(stored: Kept, key: str) -> None:
    """The warning of the loss, with the buttons to confirm and to cancel."""
    title, about = escape(shortened(stored.title, _MAX_HEADING_LENGTH)), stored.about
    n = 0 if about is None else about.n_occurrences
    st.markdown(say(f"corpora.managing.{'lost' if n else 'lost_unknown'}", title=title, n=n))
    with st.container(horizontal=True, gap="small"):
        st.button(
            say("corpora.managing.confirm"),
            type="primary",
            key=f"{key}_yes",
            on_click=delete,
            args=(stored.name,),
        )
        leave = say("corpora.managing.leave")
        st.button(leave, key=f"{key}_no", on_click=session.keep, args=(_DELETING, None))


def delete(name: str) -> None:
    """Delete a corpus and forget its name; any indexing stops."""
    session.keep(_DELETING, None)
    try:
        changing.delete(name)
    except (AccessError, CorpusError) as exc:
        session.remember(str(exc))
        return
    view = session.current()
    if COLLECTION.asked(view) == name:
        view = on_collection(view, COLLECTION.default)
    session.write(view)


# --- A corpus that is not fully indexed

_SECONDS = 2.0


def indexing_panel(stored: Kept) -> None:
    """The progress and actions of a corpus; if it is complete, only a note on a missing model."""
    about = stored.about
    if about is None or about.state == "done":
        note = "" if about is None else model_note(about, service())
        if note:
            st.caption(escape(note))
        return
    with st.container(border=True, gap="small", key="corpora_indexing"):
        if stored.job is not None:
            _progress(stored.job, stored.name, is_pausing=about.state == "paused")
        elif stored.is_elsewhere:
            _progress_elsewhere(stored.name)
        else:
            state = state_of(about, is_under_way=False, share=stored.share).capitalize()
            numbers = {"n": about.n_texts, "done": about.n_texts_done}
            done = say("corpora.progress.state", state=state, **numbers)
            st.markdown(f"{done} {escape(about.why)}")
        with st.container(horizontal=True, gap="small"):
            _buttons(stored)


def begin(name: str) -> None:
    """Start or continue to index a corpus, or say why that is impossible."""
    try:
        changing.index(name, waiting.current_visitor(_place(name)))
    except ContextlensError as exc:
        session.remember(str(exc))


def _progress(job: Job, name: str, *, is_pausing: bool) -> None:
    waiting.follow(job, _place(name), cancel="", note=_note(is_pausing=is_pausing))


def _progress_elsewhere(name: str) -> None:
    """The progress of indexing in another process, read from the store."""

    @st.fragment(run_every=_SECONDS)
    def watch() -> None:
        now = kept_of(name)
        if now.about is None or now.is_indexed or not now.is_elsewhere:
            st.rerun()
        about = now.about
        n, done = about.n_texts, about.n_texts_done
        st.progress(done / max(1, n), text=say("corpora.progress.done", n=n, done=done))
        st.caption(_note(is_pausing=about.state == "paused"))

    watch()


def _note(*, is_pausing: bool) -> str:
    return say(f"corpora.progress.{'pausing' if is_pausing else 'leave'}")


def _buttons(stored: Kept) -> None:
    about = stored.about
    if about is None:
        return
    if not may_index(stored):
        st.caption(say("corpora.progress.not_yours"))
    elif not stored.is_under_way:
        st.button(
            say("corpora.progress.go_on"),
            icon=":material/play_arrow:",
            type="primary",
            key="corpora_go_on",
            on_click=begin,
            args=(stored.name,),
        )
    elif about.state != "paused":
        st.button(
            say("corpora.progress.pause"),
            icon=":material/pause:",
            key="corpora_pause",
            on_click=_pause,
            args=(stored.name,),
        )
    if may_change(stored):
        cancel = say("corpora.progress.cancel")
        ask_to_delete(stored, cancel, key="corpora_cancel", width="content")


def _pause(name: str) -> None:
    try:
        changing.pause(name)
    except ContextlensError as exc:
        session.remember(str(exc))


def _place(name: str) -> str:
    return f"index_{name}"


# --- Above the picture: adding texts, and links


def toolbar(view: ViewState, result: CorpusResult) -> None:
    """The controls of the page; during a search, those of a single corpus are left out."""
    why_not = guard.refusal(KEEP)
    with kit.controls("corpora"):
        searching = bool(inputs.text(view, SEARCH).strip())
        st.button(
            say("corpora.add"),
            icon=":material/upload_file:",
            type="primary" if not session.kept(ADDING) else "secondary",
            key="corpora_add",
            disabled=bool(why_not),
            help=escape(why_not) if why_not else None,
            on_click=_toggle,
        )
        if searching:
            clear = say("corpora.searching.clear")
            st.button(clear, icon=":material/close:", key="corpora_clear", on_click=_clear)
            return
        if result.words.rows:
            _links(view, result.key, result.word)
        if result.stored is not None:
            menu(result.stored)


def _links(view: ViewState, key: str, word: str, *, marked: bool = False) -> None:
    """Links to the pages that show a corpus; on the map, the word is marked if so wished."""
    opened = catalogue.on_texts(view, key, word)
    label = say("corpora.senses_of", word=quoted(word))
    navigation.link(navigation.row("senses"), opened, label=label)
    opened = catalogue.on_texts(view, key, word, word if marked else "")
    navigation.link(navigation.row("map"), opened, label=say("corpora.on_map"))


def _clear() -> None:
    session.write(SEARCH.put(session.current(), ""))


def _toggle() -> None:
    session.keep(ADDING, not session.kept(ADDING))


# --- A visitor's file: its first rows

_GUESSED = "corpora_guessed"
"""The session key for the guessed columns, with the file's name."""
_NONE = "—"
_ROLES: Mapping[str, tuple[str, ...]] = {
    "none": (),
    "ends": ("start", "end", "check"),
    "span": ("span", "check"),
    "index": ("index", "check"),
    "word": ("word",),
}
"""The columns that identify the word in a text, for each way to mark it."""
_CHECK = "check"
"""The role of a column that repeats the marked word, to check its position."""


def adding_panel(view: ViewState) -> None:
    """The panel to choose and index a file; empty unless the visitor opened it."""
    if not session.kept(ADDING) or not guard.is_allowed(KEEP):
        return
    secret = str(session.kept(PENDING) or secret_of(FILE.of(view)))
    sheet = table_of(secret)
    with st.container(border=True, key="corpora_own_file"):
        chooser.upload_field(say("corpora.adding.upload"), key="corpora_upload", on_file=_choose)
        if sheet is not None:
            _preview(view, sheet, secret)
            return
        st.markdown(say("corpora.adding.formats"))
        st.markdown(_who_sees_it())
        with st.expander(say("corpora.adding.marks_title")):
            st.markdown(say("corpora.adding.marks"))


def _who_sees_it() -> str:
    who = "here" if is_for_one() else "many"
    where = "_cloud" if settings().corpora_uri is not None else ""
    return say(f"corpora.privacy.{who}{where}")


def await_model(view: ViewState) -> None:
    """Load the model if its files are here, so that the sidebar shows it; the page needs none."""
    if not runtime.is_loaded(view.model) and runtime.can_load_without_download(view.model):
        runtime.load(view.model)


def _choose(secret: str, sheet: Table) -> None:
    session.keep(PENDING, secret)
    session.keep(_GUESSED, (secret, guess(sheet)))


def _preview(view: ViewState, sheet: Table, secret: str) -> None:
    chooser.file_head(sheet, secret, key="corpora_head", on_file=_choose)
    of, guessed = session.kept(_GUESSED) or ("", FileChoice(sheet.text_column))
    now = guessed if of == secret else guess(sheet)
    shown = replace(now, marks=MarkColumns()) if chooser.are_marks_refused(secret) else now
    chosen = shown
    if len(sheet.columns) > 1:
        taken = st.container()
        chooser.guessed_marks(sheet, secret, now.text, (now.marks,))
        with st.expander(say("corpora.adding.columns"), expanded=not sheet.has_clear_texts):
            chosen = _pickers(sheet, shown, f"corpora_{secret[-8:]}")
        taken.markdown(_taken(chosen))
    try:
        corpus = _prepared(secret, sheet, chosen)
    except CorpusError as exc:
        st.error(escape(str(exc)), icon=":material/error:")
        return
    if sheet.vectors:
        st.caption(say("corpora.adding.vectors"))
    for note in corpus.notes[len(sheet.notes) :]:  # the file's own notes are shown above
        st.caption(escape(note))
    card = runtime.load(view.model)
    n_beyond = _beyond(secret, chosen, corpus, card)
    if n_beyond:
        numbers = {"total": len(corpus.texts), "limit": card.max_length}
        st.caption(say("corpora.adding.beyond", n=n_beyond, **numbers))
    layers = _layers(view, corpus, card, secret)
    if not layers:
        st.caption(say("corpora.adding.choose_layer"))
        return
    precision = reading_precision(card, len(corpus.texts), exact=EXACT.of(view))
    _go_ahead(corpus, card, indexing_of(card, layers, precision), chosen.split)


def _taken(chosen: FileChoice) -> str:
    """A sentence on the columns of texts and of labels."""
    listed = ", ".join(f"“{escape(named(title))}”" for title in chosen.labels)
    found = say("own_file.taken.unlabelled")
    if chosen.labels:
        found = say("own_file.taken.labels", labels=listed, n=len(chosen.labels))
    return f"{say('corpora.adding.taken', column=escape(named(chosen.text)))} {found}"


def _pickers(sheet: Table, now: FileChoice, key: str) -> FileChoice:
    """Return the columns chosen in the menus, where those of `now` are preselected."""
    titles = list(sheet.columns)
    first, second, third = st.columns([2, 3, 2], gap="small", vertical_alignment="bottom")
    text = str(
        first.selectbox(
            say("corpora.adding.text"), titles, titles.index(now.text), key=f"{key}_text"
        )
    )
    others = [title for title in titles if title != text]
    labels: list[str] = []
    if others:
        labels = second.multiselect(
            say("corpora.adding.labels"),
            others,
            [title for title in now.labels if title in others],
            key=f"{key}_labels",
        )
    split = _column(third, say("corpora.adding.split"), others, now.split, f"{key}_split")
    ways = list(_ROLES)
    left, *rest = st.columns([2, 1, 1, 1], gap="small", vertical_alignment="bottom")
    way = left.selectbox(
        say("corpora.adding.marked_by"),
        ways,
        ways.index(_way(now.marks)),
        format_func=table("corpora.ways").__getitem__,
        key=f"{key}_{_way(now.marks)}_way",  # another menu once the guess is refused
    )
    marks = {}
    for place, role in zip(rest, _ROLES[way], strict=False):
        column, label = "word" if role == _CHECK else role, table("corpora.roles")[role]
        current = getattr(now.marks, column)
        marks[column] = _column(place, label, others, current, f"{key}_{column}")
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


def _prepared(secret: str, sheet: Table, chosen: FileChoice) -> Corpus:
    """The corpus from the chosen columns, cached among the visitor's files.

    Raises:
        CorpusError: the columns cannot be used.
    """
    name = f"{secret} {chosen}"
    cached = shared(name)
    if isinstance(cached, Corpus):
        return cached
    corpus = corpus_from(sheet, chosen)
    keep_shared(session.session(), name, corpus, corpus.n_bytes)
    return corpus


def _beyond(secret: str, chosen: FileChoice, corpus: Corpus, card: ModelCard) -> int:
    """The number of marked words that the model does not read, cached among the visitor's files."""
    name = f"{secret} {chosen} {card.checksum} beyond"
    cached = shared(name)
    if isinstance(cached, int):
        return cached
    n_beyond = marks_beyond(corpus, card, service())
    keep_shared(session.session(), name, n_beyond, 32)
    return n_beyond


def _layers(view: ViewState, corpus: Corpus, card: ModelCard, secret: str) -> tuple[int, ...]:
    every = range(card.n_layers + 1)
    with st.expander(say("corpora.adding.more")):
        chosen = st.multiselect(
            say("corpora.adding.layers"),
            every,
            usual_layers(corpus, card),
            key=f"corpora_layers_{secret[-8:]}_{card.checksum[:8]}",
            help=say("corpora.adding.layers_help"),
        )
        if reading_precision(card, len(corpus.texts)) == "fast":
            inputs.switch(view, EXACT)
    return tuple(sorted(chosen))


def _go_ahead(corpus: Corpus, card: ModelCard, indexing: Indexing, split: str) -> None:
    """Draw the costs of indexing and the button that starts it."""
    expected = indexing_cost(corpus, indexing, card, service(), usual_token_seconds(card))
    why_not = ""
    try:
        store().check_room(corpus.name, expected.n_bytes)
        check_may_add()
    except CorpusError as exc:
        why_not = str(exc)
        st.warning(escape(why_not), icon=":material/block:")
    for sentence in (*cost_claims(expected), _who_sees_it()):
        st.markdown(str(sentence))
    st.button(
        say("corpora.adding.index"),
        icon=":material/menu_book:",
        type="primary",
        key="corpora_index",
        disabled=bool(why_not),
        on_click=_index,
        args=(corpus, indexing, split),
    )


def _index(corpus: Corpus, indexing: Indexing, split: str) -> None:
    """Store the texts and start indexing; a corpus that exists already is opened instead."""
    try:
        guard.require(KEEP)
        existing = store().find(corpus.digest, indexing, own_names())
        if existing is None:
            name = changing.create(corpus, indexing, split=split).name
        else:
            name = existing.name
    except ContextlensError as exc:  # the file stays chosen
        session.remember(str(exc))
        return
    session.keep(PENDING, None)
    session.keep(ADDING, False)
    if existing is None:
        begin(name)
    else:
        session.remember(say("corpora.adding.known", date=date(existing.created)))
    _show(name)


# --- The most frequent words of the selected corpus

CHART = "corpora_chart"
HEIGHT = 350
_RECOUNT_SECONDS = 8.0  # interval at which the words of a corpus are recounted while it is indexed


def picture(result: CorpusResult) -> None:
    """The picture with its reading and, while the corpus is indexed, its progress."""
    if result.problem:
        st.error(escape(result.problem), icon=":material/error:")
        return
    if result.stored is not None:
        indexing_panel(result.stored)
    if result.stored is None or not result.stored.is_under_way:
        _words(result)
        return

    @st.fragment(run_every=_RECOUNT_SECONDS)
    def words() -> None:
        now = result_of(session.current())
        if now.word != result.word:  # chosen in this fragment; the links of the page lead to it
            st.rerun()
        _words(now if now.key == result.key else result)

    words()


def _words(result: CorpusResult) -> None:
    if not result.words.n:
        waiting.placeholder(_nothing(result), height=HEIGHT)
        return
    rows, title = result.first, words_title(result.words, is_whole=result.is_whole)
    claims = words_claims(result.title, result.n_texts, result.words, is_whole=result.is_whole)
    kit.headline(escape(title))
    if rows:
        kit.chart(
            word_bars(rows, chosen=result.word, height=HEIGHT),
            key=CHART,
            alt=say("corpora.alt", title=title),
            on_select=_on_select(tuple(row.word for row in rows)),
        )
    if 0 < sum(row.n_senses > 0 for row in rows) < len(rows):
        kit.notes([claim("corpora.coloured")])
    kit.claims(claims)


def _nothing(result: CorpusResult) -> str:
    about = None if result.stored is None else result.stored.about
    if about is not None and about.state == "done":
        return say("corpora.no_words")
    return say("corpora.place")


def _on_select(words: tuple[str, ...]) -> Callable[[], None]:
    """Return a callback that selects the word of a clicked bar."""

    def selected() -> None:
        event = session.value(CHART)
        points = [] if event is None else event["selection"]["points"]
        place = points[0].get("point_index", -1) if points else -1
        if 0 <= place < len(words):
            session.write(WORD.put(session.current(), words[place][:200]))

    return selected


# --- The search for a word in all corpora


def found(view: ViewState, shown: CorpusResult) -> bool:
    """Draw the result of a search in place of the picture; False if nothing is searched for."""
    if not SEARCH.of(view).strip():
        return False
    own = {} if shown.corpus is None else {shown.key: shown.corpus}
    result = searched(SEARCH.of(view), _known(view), own)
    if result.found:
        title = search_title(result)
        figure = corpus_bars(result.found[:MAX_DRAWN_CORPORA], title=title)
        kit.chart(figure, key="corpora_search_chart", alt=title)
        kit.claims([search_claim(result)])
    else:
        st.info(str(search_claim(result)), icon=":material/search_off:")
    for hit in result.found:
        _hit(view, result.word, hit)
    for title in result.unread:
        st.caption(
            say("corpora.searching.unread", corpus=escape(shortened(title, _MAX_HEADING_LENGTH)))
        )
    return True


def _hit(view: ViewState, word: str, hit: Hit) -> None:
    """The sentences of one corpus with the word marked, and links to where there is more."""
    with st.container(border=True, gap="small", key=f"corpora_hit_{hit.key}"):
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            title = escape(shortened(hit.title, _MAX_TITLE_LENGTH))
            n = say("corpora.searching.of", n=hit.n, words=hit.n_words)
            st.markdown(f"**{title}** · {n}", width="stretch")
            _links(view, hit.key, word.casefold(), marked=True)
        items = "".join(
            f'<li dir="auto">{html.escape(left)}<mark>{html.escape(written)}</mark>'
            f"{html.escape(right)}</li>"
            for left, written, right in hit.sentences
        )
        st.html(f'<ul class="hits">{items}</ul>')
        if hit.n > len(hit.sentences):
            st.caption(say("corpora.searching.more", n=len(hit.sentences), total=hit.n))


def _known(view: ViewState) -> Sequence[Kept]:
    """The stored corpora that the visitor sees; none if the store cannot be read."""
    try:
        return listed(view)
    except CorpusError:
        return ()


# --- The stored corpora as cards

_MAX_TITLE_LENGTH = 26  # characters of a title
_HIGH = 4  # cards; a longer list scrolls
_HEIGHT = 560
_POLL_SECONDS = 3.0


def corpus_list(view: ViewState, result: CorpusResult) -> None:
    """The cards of all corpora that the visitor sees, with the selected one marked."""
    try:
        corpora: Sequence[Kept] = listed(view)
    except CorpusError as exc:  # corpora that ship with the app are available anyway
        st.error(escape(str(exc)), icon=":material/error:")
        corpora = ()
    if result.stored is not None and result.stored.name not in {stored.name for stored in corpora}:
        corpora = (result.stored, *corpora)
    n = len(corpora) + len(WHOLE_READY_TEXTS)
    st.markdown(say("corpora.stored.title", n=n))
    with st.container(
        height=_HEIGHT if n > _HIGH else "content", border=False, gap="small", key="corpora_shelf"
    ):
        for stored in corpora:
            _stored_card(view, stored, is_chosen=stored.name == result.key)
        for key in WHOLE_READY_TEXTS:
            _ready_card(key, COLLECTION.options[key], is_chosen=key == result.key)


def _ready_card(key: str, title: str, *, is_chosen: bool) -> None:
    corpus = WHOLE_READY_TEXTS[key]()
    with _card(key):
        _name(key, title, is_chosen=is_chosen)
        texts = say("corpora.facts.texts", n=len(corpus.texts))
        st.caption(say("corpora.stored.labels", texts=texts, labels=", ".join(corpus.labels)))
        st.caption(say("corpora.stored.ready_made"))


def _stored_card(view: ViewState, stored: Kept, *, is_chosen: bool) -> None:
    about = stored.about
    with _card(stored.name):
        if stored.file is not None and about is None and not stored.problem:
            _offered_card(view, stored.name, stored.file)
            return
        _name(stored.name, stored.title, is_chosen=is_chosen)
        if about is None:
            st.caption(escape(stored.problem))
            return
        st.caption(facts(about))
        st.caption(escape(indexed_with(about)))
        _state(stored, is_chosen=is_chosen)


def _state(stored: Kept, *, is_chosen: bool) -> None:
    """The state of a corpus on its card; while it is indexed, the share grows."""

    def caption(now: Kept) -> None:
        if now.about is not None:
            state = state_of(now.about, is_under_way=now.is_under_way, share=now.share)
            case = "own" if stored.file is None else "everybody"
            st.caption(say(f"corpora.stored.{case}", state=state, date=date(now.about.created)))

    if not stored.is_under_way:
        caption(stored)
        return

    @st.fragment(run_every=_POLL_SECONDS)
    def watch() -> None:
        now = kept_of(stored.name)
        if not (is_chosen or now.is_under_way):  # the chosen one's panel reruns the page itself
            st.rerun()
        caption(now)

    watch()


def _offered_card(view: ViewState, name: str, file: Offered) -> None:
    """The card of a shared file that nobody has indexed with this model yet."""
    st.markdown(f"**{escape(shortened(file.title, _MAX_TITLE_LENGTH))}**")
    st.caption(say("corpora.stored.offered", size=file.mark[0] / 1e6))
    listed = {spec.id for spec in service().models()}
    if view.model not in listed:
        st.caption(say("corpora.stored.listed_only"))
    elif guard.refusal(KEEP):
        st.caption(escape(guard.refusal(KEEP)))
    elif not runtime.is_loaded(view.model):
        st.caption(say("corpora.stored.needs_model"))
    else:
        st.button(
            say("corpora.stored.index_offered"),
            key=f"corpora_offered_{name}",
            on_click=_index_offered,
            args=(name, file),
        )


def _card(key: str) -> st.delta_generator.DeltaGenerator:
    return st.container(border=True, gap=None, key=f"corpora_card_{key}")


def _name(key: str, title: str, *, is_chosen: bool) -> None:
    sign = "radio_button_checked" if is_chosen else "radio_button_unchecked"
    st.button(
        escape(shortened(title, _MAX_TITLE_LENGTH)),
        icon=f":material/{sign}:",
        type="tertiary",
        key=f"corpora_show_{key}",
        help=None if is_chosen else say("corpora.stored.show"),
        on_click=_show,
        args=(key,),
    )


def _show(key: str) -> None:
    view = SEARCH.put(session.current(), "")
    session.write(on_collection(view, key))


def _loaded_card(model: str) -> ModelCard:
    """The card of the model that the button was drawn for; a click alone never loads a model.

    Raises:
        ModelError: it has been unloaded since.
    """
    if not runtime.is_loaded(model):
        raise ModelError(say("corpora.stored.model_gone"))
    return service().load(model)


def _store_offered(name: str, file: Offered) -> None:
    """Store a shared file; do nothing if another visitor has stored it already.

    Raises:
        ContextlensError: it cannot be read or stored.
    """
    sheet = read_offered(file, max_bytes=settings().max_upload_bytes)
    chosen = guess(sheet)
    corpus = corpus_from(sheet, chosen)
    view = session.current()
    card = _loaded_card(view.model)
    precision = reading_precision(card, len(corpus.texts), exact=EXACT.of(view))
    indexing = indexing_of(card, usual_layers(corpus, card), precision)
    try:
        changing.create(corpus, indexing, split=chosen.split, for_everybody=name)
    except CorpusError:
        if not store().has(name):
            raise


def _index_offered(name: str, file: Offered) -> None:
    """Store and index a shared file, and select it for this visitor."""
    try:
        guard.require(KEEP)
        if not store().has(name):
            _store_offered(name, file)
    except ContextlensError as exc:
        session.remember(str(exc))
        return
    begin(name)
    _show(name)


# --- Below the picture: tabs and downloads

_FILE = "word-counts"


def explain(result: CorpusResult) -> None:
    """The tabs under the picture."""
    kit.tabs(lambda: _numbers(result), lambda: _under_the_hood(result), say("corpora.limits"))


def downloads(result: CorpusResult, place: DeltaGenerator) -> None:
    """The page's Download menu: every word with its count."""
    view = session.current()
    kit.downloads(
        place,
        caption_of(result),
        page="corpora",
        texts=result.title,
        chart=CHART,
        name=_FILE,
        snippets=[_snippet(result), ("", PICTURE)],
        files=lambda: kit.download_files(
            _FILE,
            passport_of(result),
            rows=lambda: word_rows(result_of(view)),
            arrays=lambda: word_arrays(result_of(view)),
        ),
    )


def _numbers(result: CorpusResult) -> None:
    total = max(1, result.words.n)
    rows = [
        {
            "word": row.word,
            "occurrences": row.n,
            "share of all words": row.n / total,
            **({"senses": row.n_senses or None} if result.words.sense else {}),
        }
        for row in result.words.rows
    ]
    kit.table(rows, key="corpora_table", exact=["share of all words"])
    st.caption(say("corpora.table"))


def _under_the_hood(result: CorpusResult) -> None:
    kit.under_the_hood(
        formula=[FORMULA],
        snippet=[_snippet(result)],
        passport=passport_of(result),
        shapes=kit.shapes(
            [{"table": table, "columns": columns, "type": kind} for table, columns, kind in SCHEMA],
            key="corpora_schema",
        ),
    )


def _snippet(result: CorpusResult) -> tuple[str, str]:
    about = None if result.stored is None else result.stored.about
    if about is None:
        return say("corpora.texts_snippet"), texts_snippet(f"{_FILE}.npz")
    return say("corpora.export_snippet"), export_snippet(
        file_name(about.title), word=result.word, layer=about.indexing.layers[-1]
    )
