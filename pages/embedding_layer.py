"""Embedding layer: word, position and segment added up and normalised, before any context."""

import streamlit as st

from components.ui import embedding, embedding_closer, embedding_page, embedding_tables
from components.ui.frame import shell
from components.ui.models import runtime
from components.ui.state import session

view = session.current()
downloads = shell.header("embedding_layer", view)
card = runtime.load(view.model, height=520)
service = runtime.service()
with st.skeleton(height=520):
    what = embedding.compute(view, service, card)

with st.container(border=True, gap="small"):
    embedding_page.toolbar(view, what)
    embedding_page.picture(what)
embedding_page.words(what)
embedding_page.terms()
embedding_page.closer(
    view,
    {
        "Same word": lambda: embedding_closer.same_word(view, what, service),
        "Neighbours": lambda: embedding_closer.neighbours(view, what, service),
        "Positions": lambda: embedding_tables.positions(view, what, service),
        "Segments": lambda: embedding_tables.segments(view, what, service),
        "What is learned": lambda: embedding_tables.learned(what, service),
    },
)
embedding_page.explain(what)
embedding_page.downloads(what, downloads)
