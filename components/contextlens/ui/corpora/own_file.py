"""A visitor's file on a page: the panel to choose it, its columns, and the texts in a link.

The chosen columns of a file, and no others, are kept under the digest in the address
(`ui.files.uploads`). Whoever has the address finds these texts, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from contextlens.content.language import say
from contextlens.content.wording import escape
from contextlens.core.errors import CorpusError
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.readers import Table, to_corpus
from contextlens.corpus.targets import label_columns
from contextlens.ui.files import chooser, uploads
from contextlens.ui.files.uploads import table_of
from contextlens.ui.page import navigation
from contextlens.ui.state import session
from contextlens.ui.state.controls import Choice, Number, Text
from contextlens.ui.state.view import MAX_VALUE_CHARACTERS, ViewState

_N_USED = 8
_PLACEHOLDER = "I love my pet python\nI love coding in python"


def _unchanged(view: ViewState) -> ViewState:
    return view


@dataclass(frozen=True, kw_only=True)
class OwnFile:
    """A visitor's file on one page.

    Attributes:
        source: where the page's texts come from; "file" is an option.
        file: the digest of the chosen columns.
        name: the file's name.
        text: the position of the column with the texts; -1 for the guessed one.
        labels: the positions of the label columns, separated by commas; by default the
            guessed ones.
        first: what else changes in a view when a file is first used.
    """

    source: Choice
    file: Text
    name: Text
    text: Number
    labels: Text
    first: Callable[[ViewState], ViewState] = _unchanged

    @property
    def _page(self) -> str:
        return self.file.page

    @property
    def _pending_key(self) -> str:
        """The session key for the name of a file that was chosen but not used yet."""
        return f"{self._page}_pending"

    @property
    def _used_key(self) -> str:
        """The session key for the used files with their text and label columns, by digest."""
        return f"{self._page}_used"

    @property
    def _changing_key(self) -> str:
        """The session key for whether the visitor is choosing other texts."""
        return f"{self._page}_changing"

    # --- The columns

    def found_again(self, visitor: str, view: ViewState, sheet: Table) -> bool:
        """Return True, and share a file's columns again, if it is the file that a view names."""
        try:
            corpus = to_corpus(sheet, *self.columns_of(view, sheet))
        except CorpusError:
            return False
        is_same = corpus.key[:32] == self.file.of(view)
        if is_same:
            uploads.keep_shared(visitor, self.file.of(view), corpus, corpus.n_bytes)
        return is_same

    def columns_of(self, view: ViewState, sheet: Table) -> tuple[str, tuple[str, ...]]:
        """The text column and the label columns of a file that a view names, or the guessed ones.

        A view names columns by position, because a title can be too long for an address. Only the
        uploaded file has all columns, so the positions do not apply to the shared texts.
        """
        titles = list(sheet.columns)
        text = self.text.of(view)
        chosen = titles[text] if 0 <= text < len(titles) else sheet.text_column
        labels = self.labels.of(view)
        if labels == self.labels.default:
            labels = places(sheet, label_columns(sheet))
        numbers = [int(i) for i in labels.split(",") if i.isascii() and i.isdigit()]
        chosen_labels = [titles[i] for i in numbers if i < len(titles)]
        return chosen, tuple(name for name in dict.fromkeys(chosen_labels) if name != chosen)

    def opened(
        self, view: ViewState, sheet: Table, digest: str, text: str, labels: Sequence[str]
    ) -> ViewState:
        """The view that shows these columns of a file, which are shared under their digest."""
        view = self.source.put(self.first(view), "file")
        view = self.name.put(self.file.put(view, digest), sheet.name[:80])
        view = self.text.put(view, list(sheet.columns).index(text))
        return self.labels.put(view, places(sheet, labels))

    # --- The panels

    def panel(self, view: ViewState, corpus: Corpus | None) -> None:
        """Draw the panel to choose a file or paste texts; one line once they are used.

        Args:
            view: the current view.
            corpus: the used texts, if any.
        """
        if offered := chooser.take_offered():
            session.keep(self._pending_key, offered)
        sheet = table_of(str(session.kept(self._pending_key) or ""))
        if corpus is not None and sheet is None and not session.kept(self._changing_key):
            self._one_line(corpus)
            return
        with st.container(border=True, key=f"{self._page}_own_file"):
            chooser.upload_field(
                say("own_file.upload"), key=f"{self._page}_upload", on_file=self._pending
            )
            if sheet is not None:
                self._preview(sheet)
            else:
                self._paste()
            if self.file.of(view) and corpus is None:
                st.info(
                    say("own_file.gone", name=escape(self.name.of(view))),
                    icon=":material/upload_file:",
                )
            seen = say("own_file.shared")
            st.caption(f"{chooser.UPLOADED} {seen}")
            if corpus is not None:
                st.button(
                    say("own_file.keep"), key=f"{self._page}_keep_file", on_click=self._closed
                )

    def column_choice(self, view: ViewState) -> None:
        """Draw the used file's columns, so that the visit that uploaded it can choose others."""
        secret, *now = (session.kept(self._used_key) or {}).get(self.file.of(view), ("",))
        sheet = table_of(secret)
        if sheet is None:
            st.caption(say("own_file.only_chosen"))
            return
        key = f"{self._page}_columns"
        text, labels = self._pickers(sheet, now[0], now[1], key)
        if [text, labels] != now:
            st.button(say("own_file.use_columns"), key=f"{key}_use", on_click=self._use,
                      args=(secret, text, labels))  # fmt: skip

    def _one_line(self, corpus: Corpus) -> None:
        n = len(corpus.texts)
        with st.container(
            horizontal=True, vertical_alignment="center", key=f"{self._page}_own_file"
        ):
            st.markdown(say("own_file.texts", name=escape(corpus.name), n=n), width="content")
            st.button(say("own_file.change"), icon=":material/upload_file:",
                      key=f"{self._page}_change_file",
                      on_click=session.keep, args=(self._changing_key, True))  # fmt: skip

    def _closed(self) -> None:
        session.keep(self._changing_key, False)
        session.keep(self._pending_key, None)

    def _paste(self) -> None:
        key = f"{self._page}_paste"
        st.text_area(say("own_file.paste"), height=104, key=key, placeholder=_PLACEHOLDER)
        st.button(
            say(f"own_file.paste_use.{self._page}"), key=f"{key}_use", on_click=self._use_pasted
        )

    def _use_pasted(self) -> None:
        pasted = str(session.value(f"{self._page}_paste") or "")
        if not pasted.strip():
            session.remember(say("own_file.nothing_pasted"))
            return
        secret = chooser.kept_paste(pasted)
        sheet = table_of(secret)
        if sheet is None:
            return
        if len(sheet.columns) > 1:
            self._pending(secret, sheet)  # its columns are shown first
        else:
            self._use(secret, sheet.text_column, ())

    def _pending(self, secret: str, sheet: Table) -> None:
        session.keep(self._pending_key, secret)
        view = session.current()
        if self.source.of(view) == "file" and self.found_again(session.session(), view, sheet):
            self._note_used(self.file.of(view), secret, *self.columns_of(view, sheet))

    def _preview(self, sheet: Table) -> None:
        """A file's first rows and detected format, before any computation."""
        secret = str(session.kept(self._pending_key))
        chooser.file_head(sheet, secret, key=f"{self._page}_head", on_file=self._pending)
        key = f"{self._pending_key}_{secret[-8:]}"
        text, labels = self._pickers(sheet, sheet.text_column, label_columns(sheet), key)
        st.button(
            say(f"own_file.use.{self._page}"),
            icon=navigation.row(self._page).icon,
            type="primary",
            key=f"{self._page}_use",
            on_click=self._use,
            args=(secret, text, labels),
        )

    def _pickers(
        self, sheet: Table, text: str, labels: Sequence[str], key: str
    ) -> tuple[str, tuple[str, ...]]:
        """The menus of the text column and the label columns, with the given ones preselected."""
        titles = list(sheet.columns)
        left, right = st.columns(2, gap="small")
        chosen = left.selectbox(self.text.label, titles, titles.index(text), key=f"{key}_text")
        others = [name for name in titles if name != chosen]
        chosen_labels = right.multiselect(
            self.labels.label,
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
        self._note_used(digest, secret, text, labels)
        self._closed()
        session.write(self.opened(session.current(), sheet, digest, text, labels))

    def _note_used(self, digest: str, secret: str, text: str, labels: tuple[str, ...]) -> None:
        """Remember the upload behind a digest, so that this visit can choose other columns."""
        used = {**(session.kept(self._used_key) or {}), digest: (secret, text, labels)}
        session.keep(self._used_key, dict(list(used.items())[-_N_USED:]))


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
