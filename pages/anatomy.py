"""Anatomy: what a model is made of, with its weights or from its config alone."""

import streamlit as st

from components.features.anatomy import compute, looks, page
from components.ui.frame import shell
from components.ui.models import runtime
from components.ui.state import session

view = session.current()
downloads = shell.header("anatomy", view)
card = runtime.load(view.model, height=520)
service = runtime.service()
with st.skeleton(height=520):
    what = compute.compute(view, service, card)

page.toolbar(view, service, card)
page.picture(what, view)
page.words(what)
page.terms()
looks.closer(view, what, service)
page.explain(what)
page.downloads(what, downloads)
