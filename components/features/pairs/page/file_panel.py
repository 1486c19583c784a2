"""A file of pairs of one's own: its first rows, which column is what, and the go-ahead."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from components.content.language import say
from components.content.wording import escape
from components.core.errors import CorpusError
from components.corpus.readers import FORMATS, Sheet
from components.features.pairs.compute import asked
from components.features.pairs.compute.files import PairColumns, guess_columns, places
from components.features.pairs.compute.pair_set import PairSet
from components.features.pairs.controls import COLUMNS, FILE, FILE_NAME, SOURCE
from components.ui.files import chooser
from components.ui.files.uploads import sheet_of
from components.ui.state import session
from components.ui.state.view import ViewState

__all__ = ["columns", "file_panel"]

_PENDING = "pairs_pending"
"""Under which a visit keeps the name of the file that was chosen and is not compared yet."""
_COMPARED = "pairs_compared"
"""Under which a visit keeps, by digest, what it compared: the file and its columns."""
_N_COMPARED = 8
_CHANGING = "pairs_changing"
"""Under which a visit keeps whether another file is being chosen."""
_NONE = "—"
_ENDINGS = tuple(ending for ending in FORMATS if ending != ".txt")
_CHECK = {"check1": "word1", "check2": "word2"}
"""Marked words that are given as well, to be checked, with their columns' roles."""
_ROLES: Mapping[str, tuple[str, ...]] = {
    "none": (),
    "word": ("word1", "word2"),
    "ends": ("start1", "end1", "start2", "end2", *_CHECK),
    "span": ("span1", "span2", *_CHECK),
    "index": ("index1", "index2", *_CHECK),
}
"""The columns by which a file says which words are compared, for each way to say it."""


def file_panel(view: ViewState, pairs: PairSet | None) -> None:
    """Where a file is chosen; one line once its pairs are compared.

    Args:
        view: what is chosen.
        pairs: those that are compared, if there are any.
    """
    secret = str(session.kept(_PENDING) or "")
    sheet = sheet_of(secret)
    if pairs is not None and sheet is None and not session.kept(_CHANGING):
        _one_line(pairs)
        return
    with st.container(border=True, key="pairs_own_file"):
        chooser.upload_field(
            say("pairs.file.upload"), key="pairs_upload", on_file=_choose, formats=_ENDINGS
        )
        if sheet is not None:
            _preview(sheet, secret)
        elif FILE.of(view) and pairs is None:
            st.info(
                say("pairs.file.gone", name=escape(FILE_NAME.of(view))),
                icon=":material/upload_file:",
            )
        st.caption(say("pairs.file.formats"))
        st.caption(f"{chooser.UPLOADED} {say('pairs.file.shared')}")
        if pairs is not None:
            st.button(say("pairs.file.keep"), key="pairs_keep_file", on_click=_closed)


def columns(view: ViewState) -> None:
    """The columns of the file that is compared, for the visit that gave it to choose others."""
    secret, now = (session.kept(_COMPARED) or {}).get(FILE.of(view), ("", PairColumns()))
    sheet = sheet_of(secret)
    if sheet is None:
        st.caption(say("pairs.file.only_chosen"))
        return
    chosen = _pickers(sheet, now, f"pairs_columns_{FILE.of(view)[:8]}")
    if chosen != now:
        st.button(say("pairs.file.use_columns"), key="pairs_columns_use", on_click=_use,
                  args=(secret, chosen))  # fmt: skip


def _one_line(pairs: PairSet) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="pairs_own_file"):
        name = escape(pairs.name)
        st.markdown(say("pairs.file.pairs", name=name, n=pairs.n), width="content")
        st.button(
            say("pairs.file.change"),
            icon=":material/upload_file:",
            key="pairs_change_file",
            on_click=session.keep,
            args=(_CHANGING, True),
        )


def _closed() -> None:
    session.keep(_CHANGING, False)
    session.keep(_PENDING, None)


def _choose(secret: str, sheet: Sheet) -> None:
    session.keep(_PENDING, secret)
    view = session.current()
    if SOURCE.of(view) != "file" or not FILE.of(view):
        return
    again = asked.found_again(session.session(), view, sheet)
    if again is not None:
        _note(FILE.of(view), secret, again)
        _closed()


def _preview(sheet: Sheet, secret: str) -> None:
    chooser.file_head(sheet, key="pairs_head")
    chosen = _pickers(sheet, guess_columns(sheet), f"pairs_{secret[-8:]}")
    st.button(
        say("pairs.file.use"),
        icon=":material/join_inner:",
        type="primary",
        key="pairs_use",
        on_click=_use,
        args=(secret, chosen),
    )


def _pickers(sheet: Sheet, now: PairColumns, key: str) -> PairColumns:
    """The columns that are picked, at first the ones given."""
    picked = _picked(sheet, now, ("text1", "text2", "label", "split"), key)
    ways = list(_ROLES)
    way = st.selectbox(
        say("pairs.file.marked_by"),
        ways,
        ways.index(_way(now)),
        format_func=lambda way: say(f"pairs.ways.{way}"),
        key=f"{key}_way",
    )
    return PairColumns(**picked, **_picked(sheet, now, _ROLES[way], key))


def _way(columns: PairColumns) -> str:
    """How columns mark words: the first way that is used."""
    ways = {"ends": columns.start1, "span": columns.span1, "index": columns.index1}
    usual = "word" if columns.word1 else "none"
    return next((way for way, title in ways.items() if title), usual)


def _picked(sheet: Sheet, now: PairColumns, roles: tuple[str, ...], key: str) -> dict[str, str]:
    titles = [_NONE, *sheet.columns]
    places = st.columns(min(4, max(2, len(roles)))) if roles else []
    found = {}
    for i, name in enumerate(roles):
        role, label = _CHECK.get(name, name), say(f"pairs.roles.{name}")
        before = getattr(now, role)
        at = titles.index(before, 1) if before else 0
        chosen = places[i % len(places)].selectbox(
            label, range(len(titles)), at, format_func=titles.__getitem__, key=f"{key}_{role}"
        )
        found[role] = titles[chosen] if chosen else ""
    return found


def _use(secret: str, chosen: PairColumns) -> None:
    sheet = sheet_of(secret)
    if sheet is None:
        session.remember(say("pairs.file.not_in_memory"))
        return
    try:
        digest = asked.share(session.session(), sheet, chosen)
    except CorpusError as exc:  # what is compared now stays
        session.remember(str(exc))
        return
    _note(digest, secret, chosen)
    _closed()
    view = SOURCE.put(session.current(), "file")
    view = FILE_NAME.put(FILE.put(view, digest), sheet.name[:80])
    session.write(COLUMNS.put(view, places(sheet, chosen)))


def _note(digest: str, secret: str, chosen: PairColumns) -> None:
    """Note whose columns they are that have a digest: this visit may choose others."""
    own = {**(session.kept(_COMPARED) or {}), digest: (secret, chosen)}
    session.keep(_COMPARED, dict(list(own.items())[-_N_COMPARED:]))
