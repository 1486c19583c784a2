"""Anatomy: what a model is made of, with its weights or from its config alone."""

import streamlit as st

from components.ui import anatomy, anatomy_closer, anatomy_page
from components.ui.frame import shell
from components.ui.models import runtime
from components.ui.state import session

view = session.current()
downloads = shell.header("anatomy", view)
card = runtime.load(view.model, height=520)
service = runtime.service()
with st.skeleton(height=520):
    what = anatomy.compute(view, service, card)

anatomy_page.toolbar(view, service, card)
anatomy_page.picture(what, view)
anatomy_page.words(what)
anatomy_page.terms()
anatomy_closer.closer(view, what, service)
anatomy_page.explain(what)
anatomy_page.downloads(what, downloads)
