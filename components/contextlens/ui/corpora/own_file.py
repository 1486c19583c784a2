"""A visitor's file on the text pages: the panel to choose it, its columns, the texts in a link.

A file is chosen once and serves all text pages of the visit. Its chosen columns, and no others, are
kept under the digest in the address (`ui.files.uploads`). Whoever has the address finds these
texts, and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from contextlens.content.language import say
from contextlens.content.wording import escape
from contextlens.core.errors import CorpusError
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.readers import Table, to_corpus
from contextlens.corpus.table import named
from contextlens.corpus.targets import label_columns
from contextlens.ui.corpora.controls import (
    COLLECTION,
    FILE,
    FILE_NAME,
    LABEL,
    LABELS,
    OWN_FILE,
    PAIRS,
    TEXT,
    VECTORS,
    WORD,
)
from contextlens.ui.corpora.texts import label_naming
from contextlens.ui.files import chooser, uploads
from contextlens.ui.files.uploads import table_of
from contextlens.ui.state import session
from contextlens.ui.state.controls import Text
from contextlens.ui.state.view import MAX_VALUE_CHARACTERS, ViewState

ADDING = "texts_adding"
"""The session key for whether the visitor is adding texts."""
PENDING = "texts_pending"
"""The session key for the secret name of a file that was chosen but not used yet."""
_TAKEN = "texts_taken"
"""The session key for the secret name of the file whose columns were taken without a question."""
_USED = "texts_used"
"""The session key for the used files with their text and label columns, by digest."""
_N_USED = 8
_PLACEHOLDER = "I love my pet python\nI love coding in python"
_MAP_UNIT = Text(page="map", name="unit", default="words")
BEGIN = "texts_begin"
"""The session key for the digest of a file that was chosen on Map, and is drawn without a click."""
MAP_COLOR = Text(page="map", name="color")
"""The column that colours Map: the label of the other pages, unless another is chosen there."""
_SELECTIONS = tuple(
    Text(page=page, name=name)
    for page, names in {
        "senses": ("only", "chosen", "rows"), "search": ("row",), "pairs": ("pair",)
    }.items()
    for name in names
)  # fmt: skip
"""What a page selects in a collection, by numbers that mean something else in another one."""


@dataclass(frozen=True)
class OwnFile:
    """A visitor's file on one page; its choices are the same on all text pages."""

    page: str

    def panel(self, view: ViewState, corpus: Corpus | None) -> None:
        """Draw the panel to choose a file or paste texts, if the visitor adds some or must.

        A file is used at once if it leaves no doubt about its texts; then a note says what was
        taken, with the panel to change it.

        Args:
            view: the current view.
            corpus: the shown texts, if any.
        """
        if offered := chooser.take_offered():
            session.keep(PENDING, offered)
        is_file = COLLECTION.of(view) == OWN_FILE
        sheet = table_of(str(session.kept(PENDING) or ""))
        is_missing = is_file and corpus is None
        if not (is_missing or sheet is not None or session.kept(ADDING)):
            self._taken_note(view)
            return
        with st.container(border=True, key=f"{self.page}_own_file"):
            chooser.upload_field(
                say("own_file.upload"),
                key=f"{self.page}_upload",
                on_file=self._arrived,
                takes_arrays=True,
            )
            if sheet is not None:
                self._preview(sheet)
            else:
                self._paste()
            if is_missing and FILE.of(view):
                st.info(
                    say("own_file.gone", name=escape(FILE_NAME.of(view))),
                    icon=":material/upload_file:",
                )
            if is_file and corpus is not None and sheet is None:
                self._column_choice(view)
            seen = say("own_file.shared")
            st.caption(f"{chooser.UPLOADED} {seen}")
            if not is_missing:
                st.button(say("own_file.keep"), key=f"{self.page}_keep_file", on_click=close)

    def _taken_note(self, view: ViewState) -> None:
        """Say what was taken from a file without a question, and what was left out."""
        secret, digest = str(session.kept(_TAKEN) or ""), FILE.of(view)
        sheet, corpus = table_of(secret), uploads.shared(digest)
        is_shown = COLLECTION.of(view) == OWN_FILE and secret_of(digest) == secret
        if sheet is None or not is_shown or not isinstance(corpus, Corpus):
            return
        text, labels = session.kept(_USED)[digest][1:]
        about = {"name": escape(FILE_NAME.of(view)), "column": escape(named(text))}
        found = say("own_file.taken.unlabelled")
        if labels:
            listed = ", ".join(f"“{escape(named(title))}”" for title in labels)
            found = say("own_file.taken.labels", labels=listed, n=len(labels))
        with st.container(border=True, gap="xsmall", key=f"{self.page}_taken"):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                said = say("own_file.taken.texts", n=len(corpus.texts), **about)
                st.markdown(f"{said} {found}", width="stretch")
                st.button(
                    say("own_file.taken.change"),
                    key=f"{self.page}_change_file",
                    type="tertiary",
                    on_click=session.keep,
                    args=(PENDING, secret),
                )
                key = f"{self.page}_keep_file"
                st.button(say("own_file.keep"), key=key, type="tertiary", on_click=close)
            for note in (*corpus.notes, *sheet.left_out):
                st.caption(escape(note))

    def _column_choice(self, view: ViewState) -> None:
        """Draw the used file's columns, so that the visit that uploaded it can choose others."""
        secret, *now = (session.kept(_USED) or {}).get(FILE.of(view), ("",))
        sheet = table_of(secret)
        if sheet is None:
            st.caption(say("own_file.only_chosen"))
            return
        key = f"{self.page}_columns"
        text, labels = self._pickers(sheet, now[0], now[1], key)
        if [text, labels] != now:
            st.button(say("own_file.use_columns"), key=f"{key}_use", on_click=self._use,
                      args=(secret, text, labels))  # fmt: skip

    def _paste(self) -> None:
        key = f"{self.page}_paste"
        st.text_area(say("own_file.paste"), height=104, key=key, placeholder=_PLACEHOLDER)
        st.button(say("own_file.paste_use"), key=f"{key}_use", on_click=self._use_pasted)

    def _use_pasted(self) -> None:
        pasted = str(session.value(f"{self.page}_paste") or "")
        if not pasted.strip():
            session.remember(say("own_file.nothing_pasted"))
            return
        is_file_left = bool(session.kept(PENDING)) or uploads.is_arriving()
        secret = chooser.kept_paste(pasted)
        sheet = table_of(secret)
        if sheet is None:
            return
        if len(sheet.columns) > 1:
            self._arrived(secret, sheet)
        else:
            self._use(secret, sheet.text_column, ())
        if is_file_left and secret_of(FILE.of(session.current())) == secret:
            session.remember(say("own_file.file_left"))

    def _arrived(self, secret: str, sheet: Table) -> None:
        """Use a file at once if it leaves no doubt about its texts; else show its columns first."""
        self._pending(secret, sheet)
        if session.kept(PENDING) == secret and sheet.is_clear:
            self._use(secret, sheet.text_column, label_columns(sheet))
            if not session.kept(PENDING):  # its columns can be used
                session.keep(_TAKEN, secret)

    def _pending(self, secret: str, sheet: Table) -> None:
        session.keep(PENDING, secret)
        view = session.current()
        if FILE.of(view) and found_again(session.session(), view, sheet):
            note_used(FILE.of(view), secret, *columns_of(view, sheet))
            close()

    def _preview(self, sheet: Table) -> None:
        """A file's first rows and detected format, before any computation."""
        secret = str(session.kept(PENDING))
        chooser.file_head(sheet, secret, key=f"{self.page}_head", on_file=self._pending)
        key = f"{self.page}_pending_{secret[-8:]}"
        text, labels = self._pickers(sheet, sheet.text_column, label_columns(sheet), key)
        st.button(
            say("own_file.use"),
            icon=":material/check:",
            type="primary",
            key=f"{self.page}_use",
            on_click=self._use,
            args=(secret, text, labels),
        )

    def _pickers(
        self, sheet: Table, text: str, labels: Sequence[str], key: str
    ) -> tuple[str, tuple[str, ...]]:
        """The menus of the text column and the label columns, with the given ones preselected.

        A file with one column has no labels to choose.
        """
        titles = list(sheet.columns)
        left, right = st.columns(2, gap="small")
        chosen = left.selectbox(TEXT.label, titles, titles.index(text), key=f"{key}_text")
        others = [name for name in titles if name != chosen]
        if not others:
            return str(chosen), ()
        chosen_labels = right.multiselect(
            LABELS.label,
            others,
            [name for name in labels if name in others],
            key=f"{key}_labels",
        )
        return str(chosen), tuple(chosen_labels)

    def _use(self, secret: str, text: str, labels: tuple[str, ...]) -> None:
        sheet = table_of(secret)
        if sheet is None:
            session.remember(say("own_file.not_in_memory"))
            return
        try:
            digest = share(session.session(), sheet, text, labels)
        except CorpusError as exc:  # what is shown stays
            session.remember(str(exc))
            return
        is_another = secret_of(FILE.of(session.current())) != secret
        note_used(digest, secret, text, labels)
        close()
        if self.page == _MAP_UNIT.page:
            session.keep(BEGIN, digest)
        view = opened(session.current(), sheet, digest, text, labels)
        session.write(PAIRS.put(view, PAIRS.default) if is_another else view)


def close() -> None:
    """Close the panel; a file that was chosen but not used is left."""
    for key in (ADDING, PENDING, _TAKEN):
        session.keep(key, None)


def note_used(digest: str, secret: str, text: str, labels: tuple[str, ...]) -> None:
    """Remember the upload behind a digest, so that this visit can choose other columns."""
    used = {**(session.kept(_USED) or {}), digest: (secret, text, labels)}
    session.keep(_USED, dict(list(used.items())[-_N_USED:]))


def secret_of(digest: str) -> str:
    """Return the secret name of the upload behind a digest, or ""."""
    secret, *_ = (session.kept(_USED) or {}).get(digest, ("",))
    return str(secret)


def found_again(visitor: str, view: ViewState, sheet: Table) -> bool:
    """Return True, and share a file's columns again, if it is the file that a view names."""
    try:
        corpus = to_corpus(sheet, *columns_of(view, sheet))
    except CorpusError:
        return False
    is_same = corpus.key[:32] == FILE.of(view)
    if is_same:
        uploads.keep_shared(visitor, FILE.of(view), corpus, corpus.n_bytes)
    return is_same


def columns_of(view: ViewState, sheet: Table) -> tuple[str, tuple[str, ...]]:
    """The text column and the label columns of a file that a view names, or the guessed ones.

    A view names columns by position, because a title can be too long for an address. Only the
    uploaded file has all columns, so the positions do not apply to the shared texts.
    """
    titles = list(sheet.columns)
    text = TEXT.of(view)
    chosen = titles[text] if 0 <= text < len(titles) else sheet.text_column
    labels = LABELS.of(view)
    if labels == LABELS.default:
        labels = places(sheet, label_columns(sheet))
    numbers = [int(i) for i in labels.split(",") if i.isascii() and i.isdigit()]
    chosen_labels = [titles[i] for i in numbers if i < len(titles)]
    return chosen, tuple(name for name in dict.fromkeys(chosen_labels) if name != chosen)


def opened(
    view: ViewState, sheet: Table, digest: str, text: str, labels: Sequence[str]
) -> ViewState:
    """The view that shows these columns of a file, which are shared under their digest."""
    view = on_collection(view, OWN_FILE)
    view = FILE_NAME.put(FILE.put(view, digest), sheet.name[:80])
    view = TEXT.put(view, list(sheet.columns).index(text))
    titles = tuple(own.title for own in sheet.vectors)
    view = VECTORS.put(view, label_naming(titles, titles[0]) if titles else VECTORS.default)
    return LABELS.put(view, places(sheet, labels))


def on_collection(view: ViewState, name: str) -> ViewState:
    """The view on a collection, without label, word and selections: those of the one before."""
    for selection in _SELECTIONS:
        view = selection.put(view, "")
    view = LABEL.put(WORD.put(view, WORD.default), LABEL.default)
    view = VECTORS.put(view, VECTORS.default)
    has_points_by_row = name in {OWN_FILE, "sentiment"}
    if not (has_points_by_row and _MAP_UNIT.asked(view)):
        view = _MAP_UNIT.put(view, "sentences" if has_points_by_row else _MAP_UNIT.default)
    return COLLECTION.put(MAP_COLOR.put(view, ""), name)


def share(visitor: str, sheet: Table, text: str, labels: Sequence[str]) -> str:
    """Keep the chosen columns of a file for whoever has their digest, and return the digest.

    Raises:
        CorpusError: the columns cannot be used.
    """
    corpus = to_corpus(sheet, text, labels)
    digest = corpus.key[:32]
    uploads.keep_shared(visitor, digest, corpus, corpus.n_bytes)
    return digest


def places(sheet: Table, titles: Sequence[str]) -> str:
    """The positions of columns, separated by commas; only as many as fit in an address."""
    every = list(sheet.columns)
    text = ",".join(str(every.index(title)) for title in titles)
    if len(text) <= MAX_VALUE_CHARACTERS:
        return text
    return text[: MAX_VALUE_CHARACTERS + 1].rpartition(",")[0]
