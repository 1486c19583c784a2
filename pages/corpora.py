"""Corpora: which texts are kept, ready to be searched word by word, and how more are added."""

import streamlit as st

from components.features.corpora.compute.shown import shown_of
from components.features.corpora.controls import PAGE
from components.features.corpora.page import adding, picture, shelf, tabs, toolbar
from components.ui.frame import shell
from components.ui.state import session
from components.ui.widgets import kit

view = session.current()
downloads = shell.header(PAGE, view)
with kit.room(PAGE, height=picture.HEIGHT):
    shown = shown_of(view)

with kit.box():
    toolbar.toolbar(view, shown)
own_file = st.container()
left, right = st.columns([7, 3], gap="medium")
with left:
    picture.picture(shown)
with right:
    shelf.shelf(view, shown)
if shown.words.n:
    tabs.explain(shown)
    tabs.downloads(shown, downloads)
with own_file:  # last: it waits for the model, and the rest needs none
    adding.adding_panel(view)
adding.await_model(view)
