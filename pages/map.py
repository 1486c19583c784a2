"""Map: tokens, words or sentences placed so that what the model holds alike lies together."""

import streamlit as st

from components.features.map import beside, page, tabs, toolbar
from components.ui.frame import shell
from components.ui.models import runtime
from components.ui.state import session

view = session.current()
downloads = shell.header("map", view)
card = runtime.load(view.model, height=page.HEIGHT)
asked = beside.asked(view, card)
with st.container(border=True):
    toolbar.toolbar(view, asked.colors, asked.usual)
what = beside.main(view, card, asked)
if what is not None:
    beside.show(view, what, card, asked)
    tabs.terms()
    tabs.explain(what, card)
    tabs.downloads(what, downloads)
