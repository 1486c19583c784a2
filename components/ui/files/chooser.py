"""The upload field, the recognised form of a file, and the note on what happens to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from components.content.wording import escape
from components.core.errors import AccessError, CorpusError
from components.corpus.readers import FORMATS, Sheet
from components.ui.access import guard
from components.ui.access.roles import UPLOAD
from components.ui.files.uploads import keep, max_file_bytes, sheet_of, take_file
from components.ui.state import session
from components.ui.widgets import kit

__all__ = ["UPLOADED", "file_head", "kept_file", "upload_field"]

UPLOADED = (
    "Your texts are kept in this app's memory while there is room, and sent to no other machine; "
    "a file of over 1 MB passes through a temporary file on this server's disk, deleted once it "
    "is read."
)
"""The note on what happens to an uploaded file."""
_N_HEAD = 5


def upload_field(
    label: str,
    *,
    key: str,
    on_file: Callable[[str, Sheet], None],
    formats: Sequence[str] = FORMATS,
) -> None:
    """Draw a field for a file, or the reason why the visitor may not upload one.

    Args:
        label: what to choose; the formats are appended.
        key: the widget's key.
        on_file: receives the name under which this visit finds the file, and its content.
        formats: extensions of the files that can be chosen.
    """

    why_not = guard.refusal(UPLOAD)
    if why_not:
        st.caption(escape(why_not))
        return

    def upload() -> None:
        file = take_file(key)
        secret = kept_file(*file) if file is not None else ""
        sheet = sheet_of(secret)
        if sheet is not None:
            on_file(secret, sheet)

    st.file_uploader(
        f"{label} ({', '.join(formats)})",
        type=[ending.lstrip(".") for ending in formats],
        key=key,
        on_change=upload,
        max_upload_size=min(
            max(1, max_file_bytes() // 1_000_000), st.get_option("server.maxUploadSize")
        ),
    )


def kept_file(name: str, content: bytes) -> str:
    """Return the name under which this visit finds an uploaded file; "" if it cannot be used.

    The next run tells the visitor why it cannot be used.
    """
    try:
        return keep(session.session(), name, content)
    except (AccessError, CorpusError) as exc:
        session.remember(str(exc))
        return ""


def file_head(sheet: Sheet, *, key: str) -> None:
    """Draw a file's first rows and its recognised form."""
    encoding = f", {sheet.encoding}" if sheet.encoding else ""
    st.markdown(f"**{escape(sheet.name)}** · {sheet.format}{encoding} · {sheet.n_rows:,} rows")
    for note in (*sheet.notes, *sheet.left_out):
        st.caption(escape(note))
    kit.table(sheet.head(_N_HEAD), key=key)
