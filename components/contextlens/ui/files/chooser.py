"""The upload field, the recognised form of a file, and the note on what happens to it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple
from functools import partial
from typing import Literal

import streamlit as st

from contextlens.content.language import say
from contextlens.content.wording import escape, shortened
from contextlens.core.errors import AccessError, CorpusError
from contextlens.corpus.file_vectors import ARRAYS, PASTED, FileVectors
from contextlens.corpus.readers import FORMATS, MORE_FORMATS, REFUSED_FORMATS, Table
from contextlens.corpus.table import named, text_pair
from contextlens.corpus.targets import MarkColumns, example_of, guess_marks, titled_marks
from contextlens.ui.access import guard
from contextlens.ui.access.roles import UPLOAD
from contextlens.ui.files.uploads import (
    FileChange,
    files_of,
    keep,
    keep_changed,
    keep_joined,
    keep_sheet,
    max_file_bytes,
    release,
    table_of,
)
from contextlens.ui.page import navigation
from contextlens.ui.state import session
from contextlens.ui.state.controls import TEXTS, Text
from contextlens.ui.state.view import ViewState

UPLOADED = (
    "Your texts are kept in this app's memory while there is room, and sent to no other machine; "
    "a file of over 1 MB passes through a temporary file on this server's disk, deleted once it "
    "is read."
)
"""The note on what happens to an uploaded file."""
_N_HEAD = 5
_COLLECTION = Text(page=TEXTS, name="collection")
_FILE = Text(page=TEXTS, name="file")
_REFUSED = "files_refused_marks"
"""The session key for the name of the file whose guessed marks the visitor refused."""
_LONGEST = 40  # characters of an example
_LONGEST_LIST = 10_000  # characters of a cell with a list
_OFFERED = "files_offered"
"""The session key for the name of a pasted text that Map is to open as a file."""


def upload_field(
    label: str,
    *,
    key: str,
    on_file: Callable[[str, Table], None],
    takes_arrays: bool = False,
) -> None:
    """Draw a field for a file, or the reason why the visitor may not upload one.

    Args:
        label: what to choose; the formats are appended.
        key: the widget's key.
        on_file: receives the name under which this visit finds the file, and its content.
        takes_arrays: True to take arrays of vectors together with the file of their texts.
    """
    _field(
        f"{label} ({', '.join(FORMATS)})",
        key,
        kept_file,
        on_file,
        [ending.lstrip(".") for ending in (*FORMATS, *MORE_FORMATS, *REFUSED_FORMATS)],
        takes_arrays=takes_arrays,
    )


def _field(
    label: str,
    key: str,
    keep: Callable[[str, bytes], str],
    on_file: Callable[[str, Table], None],
    formats: list[str] | None = None,
    *,
    takes_arrays: bool = False,
) -> None:
    why_not = guard.refusal(UPLOAD)
    if why_not:
        st.caption(escape(why_not))
        return

    def upload() -> None:
        # The texts come first, then the vectors beside them.
        files = sorted(files_of(key), key=lambda file: file[0].casefold().endswith(ARRAYS))
        secret = keep(*files[0]) if files else ""
        for file in files[1:]:
            secret = secret and _kept(keep_joined, secret, *file)
        _hand_on(secret, on_file)
        release(key)

    st.file_uploader(
        label,
        type=formats,
        accept_multiple_files=takes_arrays,
        key=key,
        on_change=upload,
        max_upload_size=min(
            max(1, max_file_bytes() // 1_000_000), st.get_option("server.maxUploadSize")
        ),
    )
    if any(
        content for _, content in files_of(key)
    ):  # a click ended the callback before it was done
        upload()
        st.rerun()


def _hand_on(secret: str, on_file: Callable[[str, Table], None]) -> None:
    sheet = table_of(secret)
    if sheet is not None:
        on_file(secret, sheet)


def kept_paste(text: str) -> str:
    """Return the name under which this visit finds pasted lines; "" if they cannot be used."""
    return kept_file(PASTED, text.encode("utf-8", "replace"))


def offer_on_map(text: str) -> bool:
    """Keep a pasted text for Map to open as a file; return True if it can be used."""
    session.keep(_OFFERED, kept_paste(text))
    return bool(session.kept(_OFFERED))


def take_offered() -> str:
    """Return the name of the pasted text that Map is to open, once; "" if there is none."""
    secret = str(session.kept(_OFFERED) or "")
    session.keep(_OFFERED, None)
    return secret


def offered_link(view: ViewState) -> None:
    """Draw a link to a pasted text on Map, until it was opened."""
    if session.kept(_OFFERED):
        opened = _FILE.put(_COLLECTION.put(view, "file"), "")
        navigation.link(navigation.row("map"), opened, label=say("files.pasted.open"))


def kept_file(name: str, content: bytes) -> str:
    """Return the name under which this visit finds an uploaded file; "" if it cannot be used.

    The next run tells the visitor why it cannot be used.
    """
    return _kept(keep, name, content)


def _kept(keep: Callable[..., str], *file: str | bytes) -> str:
    try:
        return keep(session.session(), *file)
    except (AccessError, CorpusError) as exc:
        session.remember(str(exc))
        return ""


def file_head(
    sheet: Table, secret: str, *, key: str, on_file: Callable[[str, Table], None]
) -> None:
    """Draw a file's first rows, its recognised form, and what the visitor can change about it.

    Args:
        sheet: the file.
        secret: the name under which this visit finds it.
        key: the key of the table.
        on_file: receives the name and the content of the changed file.
    """
    encoding = f", {sheet.encoding}" if sheet.encoding else ""
    st.markdown(f"**{escape(sheet.name)}** · {sheet.format}{encoding} · {sheet.n_rows:,} rows")
    form: Literal["lines", "table"]
    other: Literal["lines", "table"]
    form, other = ("lines", "table") if sheet.format == "TXT" else ("table", "lines")
    if sheet.export:
        kind = say("files.form.export", tool=escape(sheet.export))
        if sheet.content:
            _offer(kind, say("files.form.as_plain"), secret, "plain", on_file)
        else:
            st.caption(kind)
    elif sheet.content and not sheet.sheets:
        _offer(say(f"files.form.{form}"), say(f"files.form.as_{other}"), secret, other, on_file)
    elif form == "lines":
        st.caption(say("files.form.lines"))
    if sheet.sheets:
        _sheet_choice(sheet, secret, on_file)
    if sheet.annotators == "apart":
        _offer(say("files.people.apart"), say("files.people.join"), secret, "majority", on_file)
    elif sheet.annotators and sheet.content:
        _offer(say("files.people.joined"), say("files.people.part"), secret, "apart", on_file)
    for note in (*sheet.notes, *sheet.left_out):
        st.caption(escape(note))
    if sheet.leftovers:
        listed = ", ".join(f"“{escape(example)}”" for example in sheet.leftovers)
        note = say("files.leftovers.found", examples=listed)
        if any(marks.numbers for marks in guess_marks(sheet, *filter(None, text_pair(sheet)))):
            st.caption(note)
            st.caption(say("files.leftovers.marked"))
        else:
            _offer(note, say("files.leftovers.clean"), secret, "clean", on_file)
    _label_offers(sheet, secret, on_file)
    _vectors_offer(sheet.vectors, secret, on_file)
    rows = [{title: _shown(cell) for title, cell in row.items()} for row in sheet.head(_N_HEAD)]
    st.dataframe(rows, hide_index=True, placeholder="", key=key)
    with st.expander(say("files.second.title"), icon=":material/attach_file:"):
        st.caption(say("files.second.about", n=sheet.n_rows))
        keep = partial(_kept, keep_joined, secret)
        _field(say("files.second.field"), f"files_second_{secret[-8:]}", keep, on_file)


def _shown(cell: str | None) -> str | None:
    """Return a cell as a person reads it: a list of values without the signs of JSON."""
    if not cell or not cell.startswith("[") or len(cell) > _LONGEST_LIST:
        return cell
    try:
        values = json.loads(cell)
    except (ValueError, RecursionError):
        return cell
    are_plain = isinstance(values, list) and not any(isinstance(v, list | dict) for v in values)
    return ", ".join(map(str, values)) if are_plain else cell


def _label_offers(sheet: Table, secret: str, on_file: Callable[[str, Table], None]) -> None:
    """Say that cells may hold several labels, or one in several spellings; offer to change it."""
    if (several := sheet.several_labels) is not None:
        note = say(
            "files.labels.several",
            column=escape(named(several.title)),
            row=several.row,
            example=_listed(several.example[:_N_HEAD]),
            n=len(several.labels),
        )
        _offer(note, say("files.labels.split"), secret, "split", on_file)
    if (apart := sheet.spelt_apart) is not None:
        own, commonest = apart.example
        note = say(
            "files.labels.apart",
            column=escape(named(apart.title)),
            row=apart.row,
            label=escape(named(own)),
            commonest=escape(named(commonest)),
        )
        _offer(note, say("files.labels.join"), secret, "join", on_file)


def _vectors_offer(
    vectors: Sequence[FileVectors], secret: str, on_file: Callable[[str, Table], None]
) -> None:
    """Say which columns and arrays are taken for vectors, with an example; offer to refuse them."""
    for own in vectors:
        row = int(own.usable[0]) if own.usable.size else 0
        numbers = ", ".join(f"{value:.3g}" for value in own.rows[row, :3].tolist())
        st.caption(
            say(
                f"files.vectors.{'unit' if own.are_unit else 'found'}",
                column=escape(own.title),
                file=escape(own.file),
                n=own.n_dims,
                type=own.dtype,
                example=f"({numbers.replace('-', '−')}, …)",
                row=row + 1,
            )
        )
        if note := own.left_out_note():
            st.caption(escape(note))
    if vectors:
        about = say("files.vectors.about")
        _offer(about, say("files.vectors.refuse"), secret, "no_vectors", on_file)


def _sheet_choice(sheet: Table, secret: str, on_file: Callable[[str, Table], None]) -> None:
    """Draw the choice among the sheets of an Excel file."""
    key = f"files_sheet_{secret[-8:]}"

    def read_other() -> None:
        number = session.value(key)
        if isinstance(number, int) and 0 < number < len(sheet.sheets):
            _hand_on(_kept(keep_sheet, secret, sheet.sheets[number]), on_file)

    st.selectbox(
        say("files.sheet"),
        range(len(sheet.sheets)),
        format_func=lambda number: named(sheet.sheets[number]),
        key=key,
        on_change=read_other,
    )


def _offer(
    sentence: str,
    label: str,
    secret: str,
    change: FileChange,
    on_file: Callable[[str, Table], None],
) -> None:
    """Draw a sentence on a file with a button that changes the file."""

    def act() -> None:
        _hand_on(_kept(keep_changed, secret, change), on_file)

    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(sentence, width="content")
        st.button(label, key=f"files_{change}_{secret[-8:]}", type="tertiary", on_click=act)


def are_marks_refused(secret: str) -> bool:
    """Return True if the visitor refused the guess that columns of this file mark words."""
    return bool(session.kept(_REFUSED) == secret)


def guessed_marks(sheet: Table, secret: str, text: str, guessed: Sequence[MarkColumns]) -> None:
    """Draw the guess that columns mark words, with a button to refuse it; or what marks none.

    Args:
        sheet: the file.
        secret: the name under which this visit finds it.
        text: a column of texts.
        guessed: the columns that mark words, those of this text first.
    """
    if are_marks_refused(secret):
        return
    titles = dict.fromkeys(title for marks in guessed for title in astuple(marks) if title)
    example = example_of(sheet, text, guessed[0]) if titles else None
    if example is not None:
        row, word = example
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            numbers = {"word": escape(shortened(word, _LONGEST)), "row": row, "n": len(titles)}
            guess = say("files.marks.guessed", columns=_listed(titles), **numbers)
            st.caption(guess, width="content")
            st.button(
                say("files.marks.refuse"),
                key="files_refuse_marks",
                type="tertiary",
                on_click=session.keep,
                args=(_REFUSED, secret),
            )
    elif named_so := titled_marks(sheet):
        st.caption(say("files.marks.none", columns=_listed(named_so), n=len(named_so)))


def _listed(titles: Iterable[str]) -> str:
    return ", ".join(escape(named(title)) for title in titles)
