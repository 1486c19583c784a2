"""The panels to choose the mapped texts: a file, pasted texts, or a stored corpus."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components.content.language import say
from components.content.wording import escape
from components.core.errors import CorpusError
from components.corpus.corpus import Corpus
from components.corpus.readers import Sheet
from components.corpus.targets import label_columns
from components.features.map import corpora
from components.features.map.controls import FILE, FILE_NAME, LABELS, SOURCE, TEXT, UNIT
from components.ui.corpora.catalogue import titles
from components.ui.files import chooser
from components.ui.files.uploads import sheet_of
from components.ui.frame import navigation
from components.ui.state import session
from components.ui.state.view import ViewState

__all__ = ["column_choice", "file_panel", "kept_panel"]

_PENDING = "map_pending"
"""The session key for the name of a file that was chosen but not mapped yet."""
_MAPPED = "map_mapped"
"""The session key for the mapped files with their text and label columns, by digest."""
_N_MAPPED = 8
_CHANGING = "map_changing"
"""The session key for whether the visitor is choosing other texts."""
_PLACEHOLDER = "I love my pet python\nI love coding in python"


def file_panel(view: ViewState, corpus: Corpus | None) -> None:
    """The panel to choose a file or paste texts; one line once they are mapped.

    Args:
        view: the current view.
        corpus: the mapped texts, if any.
    """
    if offered := chooser.take_offered():
        session.keep(_PENDING, offered)
    sheet = sheet_of(str(session.kept(_PENDING) or ""))
    if corpus is not None and sheet is None and not session.kept(_CHANGING):
        _one_line(corpus)
        return
    with st.container(border=True, key="map_own_file"):
        _uploader()
        if sheet is not None:
            _preview(sheet)
        else:
            _paste()
        if FILE.of(view) and corpus is None:
            st.info(
                say("map.file.gone", name=escape(FILE_NAME.of(view))),
                icon=":material/upload_file:",
            )
        st.caption(f"{chooser.UPLOADED} {say('map.file.shared')}")
        if corpus is not None:
            st.button(say("map.file.keep"), key="map_keep_file", on_click=_closed)


def _one_line(corpus: Corpus) -> None:
    n = len(corpus.texts)
    with st.container(horizontal=True, vertical_alignment="center", key="map_own_file"):
        st.markdown(say("map.file.texts", name=escape(corpus.name), n=n), width="content")
        st.button(say("map.file.change"), icon=":material/upload_file:", key="map_change_file",
                  on_click=session.keep, args=(_CHANGING, True))  # fmt: skip


def _closed() -> None:
    session.keep(_CHANGING, False)
    session.keep(_PENDING, None)


def _paste() -> None:
    st.text_area(say("map.file.paste"), height=104, key="map_paste", placeholder=_PLACEHOLDER)
    st.button(say("map.file.paste_use"), key="map_paste_use", on_click=_use_pasted)


def _use_pasted() -> None:
    pasted = str(session.value("map_paste") or "")
    if not pasted.strip():
        session.remember(say("map.file.nothing_pasted"))
        return
    secret = chooser.kept_paste(pasted)
    sheet = sheet_of(secret)
    if sheet is None:
        return
    if len(sheet.columns) > 1:
        _pending(secret, sheet)  # its columns are shown first
    else:
        _use(secret, sheet.text_column, ())


def column_choice(view: ViewState) -> None:
    """The columns of the mapped file, so that the visit that uploaded it can choose others."""
    secret, *now = (session.kept(_MAPPED) or {}).get(FILE.of(view), ("",))
    sheet = sheet_of(secret)
    if sheet is None:
        st.caption(say("map.file.only_chosen"))
        return
    text, labels = _pickers(sheet, now[0], now[1], "map_columns")
    if [text, labels] != now:
        st.button(say("map.file.use_columns"), key="map_columns_use", on_click=_use,
                  args=(secret, text, labels))  # fmt: skip


def _uploader() -> None:
    chooser.upload_field(say("map.file.upload"), key="map_upload", on_file=_pending)


def _pending(secret: str, sheet: Sheet) -> None:
    session.keep(_PENDING, secret)
    view = session.current()
    if SOURCE.of(view) == "file" and corpora.found_again(session.session(), view, sheet):
        _note_mapped(FILE.of(view), secret, *corpora.columns_of(view, sheet))


def _preview(sheet: Sheet) -> None:
    """A file's first rows and detected format, before any computation."""
    secret = str(session.kept(_PENDING))
    chooser.file_head(sheet, secret, key="map_head", on_file=_pending)
    key = f"{_PENDING}_{secret[-8:]}"
    text, labels = _pickers(sheet, sheet.text_column, label_columns(sheet), key)
    st.button(
        say("map.file.use"),
        icon=":material/scatter_plot:",
        type="primary",
        key="map_use",
        on_click=_use,
        args=(secret, text, labels),
    )


def _pickers(
    sheet: Sheet, text: str, labels: Sequence[str], key: str
) -> tuple[str, tuple[str, ...]]:
    """The menus of the text column and the label columns, with the given ones preselected."""
    titles = list(sheet.columns)
    left, right = st.columns(2, gap="small")
    chosen = left.selectbox(TEXT.label, titles, titles.index(text), key=f"{key}_text")
    others = [name for name in titles if name != chosen]
    chosen_labels = right.multiselect(
        LABELS.label, others, [name for name in labels if name in others], key=f"{key}_labels"
    )
    return str(chosen), tuple(chosen_labels)


def _use(secret: str, text: str, labels: tuple[str, ...]) -> None:
    sheet = sheet_of(secret)
    if sheet is None:
        session.remember(say("map.file.not_in_memory"))
        return
    try:
        digest = corpora.share(session.session(), sheet, text, labels)
    except CorpusError as exc:  # the current map stays
        session.remember(str(exc))
        return
    _note_mapped(digest, secret, text, labels)
    _closed()
    session.write(_with_file(session.current(), digest, sheet, text, labels))


def _note_mapped(digest: str, secret: str, text: str, labels: tuple[str, ...]) -> None:
    """Remember the upload behind a digest, so that this visit can choose other columns."""
    mapped = {**(session.kept(_MAPPED) or {}), digest: (secret, text, labels)}
    session.keep(_MAPPED, dict(list(mapped.items())[-_N_MAPPED:]))


def _with_file(
    view: ViewState, digest: str, sheet: Sheet, text: str, labels: tuple[str, ...]
) -> ViewState:
    """The view of a file; its rows are sentences unless the visitor chooses otherwise."""
    unit = UNIT.among(UNIT.options, default="sentences").of(view)
    view = UNIT.put(SOURCE.put(view, "file"), unit)
    view = FILE_NAME.put(FILE.put(view, digest), sheet.name[:80])
    place = list(sheet.columns).index(text)
    return LABELS.put(TEXT.put(view, place), corpora.places(sheet, labels))


def kept_panel(view: ViewState) -> None:
    """Links to choose a corpus, or to add one."""
    with st.container(border=True, key="map_choose_kept"):
        if titles(view):
            st.markdown(say("map.kept.choose"))
        else:
            st.markdown(say("map.kept.none"))
        navigation.link(navigation.row("corpora"), view, label=say("map.kept.link"))
