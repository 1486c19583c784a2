"""The panels to choose the mapped texts: a file, pasted texts, or a stored corpus."""

from __future__ import annotations

import streamlit as st

from contextlens.content.language import say
from contextlens.features.map.controls import FILE, FILE_NAME, LABELS, SOURCE, TEXT, UNIT
from contextlens.ui.corpora.catalogue import titles
from contextlens.ui.corpora.own_file import OwnFile
from contextlens.ui.frame import navigation
from contextlens.ui.state.view import ViewState


def _as_sentences(view: ViewState) -> ViewState:
    """The view with a point for each row of a file, unless the visitor chooses otherwise."""
    return UNIT.put(view, UNIT.among(UNIT.options, default="sentences").of(view))


OWN_FILE = OwnFile(
    source=SOURCE, file=FILE, name=FILE_NAME, text=TEXT, labels=LABELS, first=_as_sentences
)


def kept_panel(view: ViewState) -> None:
    """Links to choose a corpus, or to add one."""
    with st.container(border=True, key="map_choose_kept"):
        if titles(view):
            st.markdown(say("map.kept.choose"))
        else:
            st.markdown(say("map.kept.none"))
        navigation.link(navigation.row("corpora"), view, label=say("map.kept.link"))
