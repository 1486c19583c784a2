"""Corpora: texts that are stored and ready to be searched word by word, and how to add more."""

import streamlit as st

from components.features.corpora import page
from components.features.corpora.compute import shown_of
from components.features.corpora.controls import PAGE
from components.ui.frame import shell
from components.ui.state import session
from components.ui.widgets import kit

view = session.current()
downloads = shell.header(PAGE, view)
with kit.room(PAGE, height=page.HEIGHT):
    shown = shown_of(view)

with kit.box():
    page.toolbar(view, shown)
own_file = st.container()
left, right = st.columns([7, 3], gap="medium")
with left:
    page.picture(shown)
with right:
    page.shelf(view, shown)
if shown.words.n:
    page.explain(shown)
    page.downloads(shown, downloads)
with own_file:  # last: it waits for the model, and the rest needs none
    page.adding_panel(view)
page.await_model(view)
