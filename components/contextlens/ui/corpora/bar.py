"""The bar of the text pages: the collection, what a page adds to it, and "Add texts"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Literal

import streamlit as st

from contextlens.content.language import say
from contextlens.content.wording import escape, shortened
from contextlens.core.schema import Passport
from contextlens.corpus.corpus import Corpus
from contextlens.ui.corpora.catalogue import titles
from contextlens.ui.corpora.controls import (
    COLLECTION,
    EXACT,
    FILE,
    FILE_NAME,
    LABEL,
    OWN_FILE,
    READY_TEXTS,
    SENTENCES,
    VECTORS,
)
from contextlens.ui.corpora.own_file import ADDING, MAP_COLOR, OwnFile, on_collection
from contextlens.ui.corpora.texts import (
    collection_of,
    column_named,
    label_naming,
    texts_of,
    vector_titles,
)
from contextlens.ui.state import session
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets import inputs, kit

VECTOR_PAGES = ("map", "search", "probe")
"""The pages that take the vectors of a file in place of the model's."""


@contextmanager
def texts_bar(
    view: ViewState,
    page: str,
    *,
    shown: str | None = None,
    example: str = "",
    then: inputs.ViewChange = lambda view: view,
) -> Iterator[None]:
    """Draw the bar; what is drawn inside stands between the collection and "Add texts".

    Args:
        view: the current view.
        page: the page.
        shown: the name of the shown collection, if it is not the one that the view names; "" for
            the example.
        example: the title of a ready example that only this page has; it comes first.
        then: what else changes in the view with the collection.
    """
    with kit.box(border=True), kit.controls("texts"):
        name = collection_of(view, page) if shown is None else shown
        _collection(view, page, name, example, then)
        if page in VECTOR_PAGES and name == OWN_FILE:
            _vectors(view, page)
        yield
        st.space("stretch")
        st.button(
            say("texts.add"),
            icon=":material/add:",
            type="tertiary",
            key=f"{page}_add_texts",
            on_click=_toggle,
        )
    # Pairs has sentences of its own: it takes two columns of vectors.
    if page not in (*VECTOR_PAGES, "pairs") and name == OWN_FILE and VECTORS.of(view):
        st.caption(say("texts.given.not_here"))


def problem_note(
    view: ViewState, problem: Literal["labels", "pairs", "pair_columns", ""], corpus: Corpus | None
) -> None:
    """Say why a page cannot use the collection that the view names, and what it shows instead.

    Args:
        view: the current view.
        problem: the key of the sentence under `texts.problem`; "" for none.
        corpus: the collection that cannot be used.
    """
    if problem:
        title = FILE_NAME.of(view) if corpus is None else corpus.name
        st.info(say(f"texts.problem.{problem}", title=escape(title)), icon=":material/info:")


def panel(view: ViewState, page: str, corpus: Corpus | None) -> None:
    """Draw the panel that adds texts, if the visitor opened it or the view's file is missing."""
    OwnFile(page).panel(view, corpus)


def precision_note(view: ViewState, passport: Passport) -> None:
    """Say that texts were read fast, and what that costs; draw the switch to exact reading.

    Args:
        view: the current view.
        passport: that of the reading. Nothing is drawn if it is exact without being asked for.
    """
    errors = passport.cosine_errors
    if errors is None and not EXACT.of(view):
        return
    with st.container(horizontal=True, vertical_alignment="center", key="precision"):
        if errors is not None:
            n, median, greatest = (errors[name] for name in ("texts", "median", "greatest"))
            st.caption(say("texts.fast", n=n, median=median, greatest=greatest))
        inputs.switch(view, EXACT)


def collections(view: ViewState, asked: str) -> Mapping[str, str]:
    """Return the titles of the collections that a visitor can choose, by name."""
    ready = {name: COLLECTION.options[name] for name in (*READY_TEXTS, SENTENCES)}
    file = {OWN_FILE: FILE_NAME.of(view)} if FILE.of(view) or asked == OWN_FILE else {}
    stored = titles(view, *([asked] if asked not in {"", *ready, OWN_FILE} else []))
    known = {**ready, **file, **stored}
    return known if not asked or asked in known else {**known, asked: say("texts.not_here")}


def with_label(view: ViewState, columns: Sequence[str], title: str) -> ViewState:
    """Return the view with a column as the label, by which Map colours its points, too.

    Args:
        view: the current view.
        columns: the titles of the collection's columns.
        title: that of the column.
    """
    label = label_naming(columns, title)
    return LABEL.put(MAP_COLOR.put(view, title if label == title else ""), label)


def _collection(
    view: ViewState, page: str, shown: str, example: str, then: inputs.ViewChange
) -> None:
    options = {**({"": example} if example else {}), **collections(view, shown)}
    inputs.menu(
        COLLECTION.label,
        options,
        shown,
        lambda name: session.write(then(on_collection(session.current(), name))),
        key=f"{page}_collection",
    )


def _vectors(view: ViewState, page: str) -> None:
    """Draw the choice between the model's vectors and those of the file, if it has some."""
    titles = vector_titles(texts_of(view, OWN_FILE))
    if titles:
        of_file = {label_naming(titles, title): shortened(title, 40) for title in titles}
        inputs.menu(
            VECTORS.label,
            {VECTORS.default: say("texts.of_model"), **of_file},
            label_naming(titles, chosen)
            if (chosen := column_named(titles, VECTORS.of(view)))
            else "",
            lambda title: session.write(VECTORS.put(session.current(), title)),
            key=f"{page}_vectors",
            help=VECTORS.help,
        )


def _toggle() -> None:
    session.keep(ADDING, not session.kept(ADDING))
