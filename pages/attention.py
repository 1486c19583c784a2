"""Attention: which other tokens each token looks at, head by head."""

import streamlit as st

from components.features.attention import compute, page, tabs
from components.features.attention.reading import notes
from components.ui.frame import shell
from components.ui.models import runtime
from components.ui.state import session

view = session.current()
downloads = shell.header("attention", view)
card = runtime.load(view.model, height=560)
with st.skeleton(height=560):
    what = compute.compute(view, runtime.service(), card)

with st.container(border=True, gap="xsmall"):
    page.toolbar(view, what)
    page.picture(view, what)
page.words(what)
notes.notes(view, what)
page.terms()
tabs.explain(what)
tabs.downloads(what, downloads)
