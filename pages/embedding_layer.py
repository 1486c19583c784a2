"""Embedding layer: word, position and segment added up and normalised, before any context."""

import streamlit as st

from components.features.embedding_layer import compute, page
from components.features.embedding_layer.looks import tables, words
from components.ui.frame import shell
from components.ui.models import runtime
from components.ui.state import session

view = session.current()
downloads = shell.header("embedding_layer", view)
card = runtime.load(view.model, height=520)
service = runtime.service()
with st.skeleton(height=520):
    what = compute.compute(view, service, card)

with st.container(border=True, gap="small"):
    page.toolbar(view, what)
    page.picture(what)
page.words(what)
page.terms()
page.closer(
    view,
    {
        "Same word": lambda: words.same_word(view, what, service),
        "Neighbours": lambda: words.neighbours(view, what, service),
        "Positions": lambda: tables.positions(view, what, service),
        "Segments": lambda: tables.segments(view, what, service),
        "What is learned": lambda: tables.learned(what, service),
    },
)
page.explain(what)
page.downloads(what, downloads)
