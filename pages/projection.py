"""Map: tokens, words or sentences placed so that what the model holds alike lies together."""

import streamlit as st

from components.ui import map_explain, map_page, map_picture, map_sides
from components.ui.frame import shell
from components.ui.models import runtime
from components.ui.state import session

view = session.current()
downloads = shell.header("projection", view)
card = runtime.load(view.model, height=map_picture.HEIGHT)
asked = map_sides.asked(view, card)
with st.container(border=True):
    map_page.toolbar(view, asked.colors, asked.usual)
what = map_sides.main(view, card, asked)
if what is not None:
    map_sides.show(view, what, card, asked)
    map_explain.terms()
    map_explain.explain(what, card)
    map_explain.downloads(what, downloads)
