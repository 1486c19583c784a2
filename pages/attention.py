"""Attention: which other tokens each token looks at, head by head."""

import streamlit as st

from components.ui import attention, attention_more, attention_notes, attention_page
from components.ui.frame import shell
from components.ui.models import runtime
from components.ui.state import session

view = session.current()
downloads = shell.header("attention", view)
card = runtime.load(view.model, height=560)
with st.skeleton(height=560):
    what = attention.compute(view, runtime.service(), card)

with st.container(border=True, gap="xsmall"):
    attention_page.toolbar(view, what)
    attention_page.picture(view, what)
attention_page.words(what)
attention_notes.notes(view, what)
attention_page.terms()
attention_more.explain(what)
attention_more.downloads(what, downloads)
