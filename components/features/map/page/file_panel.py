"""A file of one's own: what can be read, its first rows, its columns, and the go-ahead."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components.content.wording import escape
from components.core.errors import CorpusError
from components.corpus.readers import FORMATS, Sheet
from components.features.map import corpora
from components.features.map.controls import (
    FILE,
    FILE_NAME,
    LABELS,
    SOURCE,
    TEXT,
    UNIT,
)
from components.ui.models.services import settings
from components.ui.state import session
from components.ui.state.view import ViewState
from components.ui.widgets import kit

__all__ = ["columns", "file_panel"]

_N_HEAD = 5
_PENDING = "map_pending"
"""Under which a visit keeps the digest of the file that was chosen and is not mapped yet."""


def file_panel(view: ViewState, *, is_mapped: bool) -> None:
    """Where a file is chosen.

    Args:
        view: what is chosen.
        is_mapped: whether there is one already.
    """
    sheet = corpora.sheet_of(str(session.kept(_PENDING) or ""))
    title = "Map another file" if is_mapped else "Choose a file"
    is_open = sheet is not None or not is_mapped
    with st.expander(title, expanded=is_open, icon=":material/upload_file:", key="map_own_file"):
        _uploader()
        if sheet is not None:
            _preview(sheet)
        elif FILE.of(view) and not is_mapped:
            st.info(
                f"This view maps “{escape(FILE_NAME.of(view))}”, which this server does not have, "
                "or no longer. Choose the file again, and you see the same map.",
                icon=":material/upload_file:",
            )
        st.caption(
            "The file is read in this app's memory and stays there while there is room; it is sent "
            "nowhere. Whoever has this page's address sees its map."
        )


def columns(view: ViewState) -> None:
    """The columns of the file that is mapped, to choose others."""
    sheet = corpora.sheet_of(FILE.of(view))
    if sheet is None:
        st.caption("Choose a file first.")
        return
    now = corpora.columns_of(view, sheet)
    text, labels = _pickers(sheet, *now, "map_columns")
    if (text, labels) != now:
        st.button("Use these columns", key="map_columns_use", on_click=_use,
                  args=(FILE.of(view), text, labels))  # fmt: skip


def _uploader() -> None:
    st.file_uploader(
        f"A file with one sentence a line or row ({', '.join(FORMATS)})",
        type=[ending.lstrip(".") for ending in FORMATS],
        key="map_upload",
        on_change=_upload,
        max_upload_size=min(
            settings().max_upload_bytes // 1_000_000, st.get_option("server.maxUploadSize")
        ),
    )


def _upload() -> None:
    file = session.value("map_upload")
    if file is None:
        return
    try:
        digest = corpora.keep(file.name, file.getvalue())
    except CorpusError as exc:
        session.remember(str(exc))
    else:
        session.keep(_PENDING, digest)


def _preview(sheet: Sheet) -> None:
    """A file's first rows and what it was taken for, before anything is computed."""
    encoding = f", {sheet.encoding}" if sheet.encoding else ""
    st.markdown(f"**{escape(sheet.name)}** · {sheet.format}{encoding} · {sheet.n_rows:,} rows")
    for note in sheet.notes:
        st.caption(escape(note))
    kit.table(sheet.head(_N_HEAD), key="map_head")
    text, labels = _pickers(sheet, sheet.text_column, sheet.label_columns, _PENDING)
    st.button(
        "Map this file",
        icon=":material/scatter_plot:",
        type="primary",
        key="map_use",
        on_click=_use,
        args=(str(session.kept(_PENDING)), text, labels),
    )


def _pickers(
    sheet: Sheet, text: str, labels: Sequence[str], key: str
) -> tuple[str, tuple[str, ...]]:
    """The text column and the label columns that are picked, at first the ones given."""
    titles = list(sheet.columns)
    left, right = st.columns(2, gap="small")
    chosen = left.selectbox(TEXT.label, titles, titles.index(text), key=f"{key}_text")
    others = [name for name in titles if name != chosen]
    own = right.multiselect(
        LABELS.label, others, [name for name in labels if name in others], key=f"{key}_labels"
    )
    return str(chosen), tuple(own)


def _use(digest: str, text: str, labels: tuple[str, ...]) -> None:
    sheet = corpora.sheet_of(digest)
    if sheet is None:
        session.remember("This file is no longer in memory. Choose it again.")
        return
    wanted = _with_file(session.current(), digest, sheet, text, labels)
    try:
        corpora.corpus_of(wanted)
    except CorpusError as exc:  # what is mapped now stays
        session.remember(str(exc))
        return
    session.keep(_PENDING, None)
    session.write(wanted)


def _with_file(
    view: ViewState, digest: str, sheet: Sheet, text: str, labels: tuple[str, ...]
) -> ViewState:
    """The view of a file; its rows are sentences unless something else is chosen."""
    unit = UNIT.among(UNIT.options, default="sentences").of(view)
    view = UNIT.put(SOURCE.put(view, "file"), unit)
    view = FILE_NAME.put(FILE.put(view, digest), sheet.name[:80])
    place = list(sheet.columns).index(text)
    return LABELS.put(TEXT.put(view, place), corpora.places(sheet, labels))
