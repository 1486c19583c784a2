"""Padding & masks: a batch of sentences, and what its padding does when the mask is off."""

import streamlit as st

from components.ui import masks, masks_limits, masks_page
from components.ui.frame import shell
from components.ui.models import runtime
from components.ui.state import session
from components.ui.widgets import inputs

view = session.current()
downloads = shell.header("masks", view)
controls = masks_page.toolbar(view)

card = runtime.load(view.model, height=560)
with st.skeleton(height=560):
    result = masks.compute(view, runtime.service(), card)

masks_page.controls(result, view, card, controls)
masks_page.problems(result)
if result.lab is None:
    masks_page.nothing()
else:
    masks_page.picture(result, view, card)
    masks_page.words(result)
    inputs.layer_slider(view, result.lab.layers, key="layer")
    masks_limits.more(result, view, runtime.service(), card)
    masks_page.terms()
    masks_page.explain(result, card)
    masks_page.downloads(result, downloads)
