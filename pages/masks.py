"""Padding & masks: a batch of sentences, and what its padding does when the mask is off."""

import streamlit as st

from components.features.masks import compute, looks, page
from components.ui.frame import shell
from components.ui.models import runtime
from components.ui.state import session
from components.ui.widgets import inputs

view = session.current()
downloads = shell.header("masks", view)
controls = page.toolbar(view)

card = runtime.load(view.model, height=560)
with st.skeleton(height=560):
    result = compute.compute(view, runtime.service(), card)

page.controls(result, view, card, controls)
page.problems(result)
if result.lab is None:
    page.nothing()
else:
    page.picture(result, view, card)
    page.words(result)
    inputs.layer_slider(view, result.lab.layers, key="layer")
    looks.more(result, view, runtime.service(), card)
    page.terms()
    page.explain(result, card)
    page.downloads(result, downloads)
