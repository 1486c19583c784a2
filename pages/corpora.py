"""Corpora: texts that are stored and ready to be searched word by word, and how to add more."""

import streamlit as st

from contextlens.features.corpora import page
from contextlens.features.corpora.compute import result_of
from contextlens.features.corpora.controls import PAGE
from contextlens.ui.frame import shell
from contextlens.ui.state import session
from contextlens.ui.widgets import kit

view = session.current()
downloads = shell.header(PAGE, view)
with kit.placeholder(PAGE, height=page.HEIGHT):
    result = result_of(view)

with kit.box():
    page.toolbar(view, result)
own_file = st.container()
left, right = st.columns([7, 3], gap="medium")
with left:
    is_search = page.found(view, result)
    if not is_search:
        page.picture(result)
with right:
    page.corpus_list(view, result)
if result.words.n and not is_search:
    page.explain(result)
    page.downloads(result, downloads)
with own_file:  # last: it waits for the model, and the rest needs none
    page.adding_panel(view)
page.await_model(view)
