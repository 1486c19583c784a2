"""Meaning in context: the same word in several sentences, compared at every layer."""

import streamlit as st

from components.features.meaning import page
from components.ui.frame import shell
from components.ui.models import runtime
from components.ui.state import session
from components.ui.widgets import inputs, sentences
from components.ui.widgets.chips import word_chips
from components.ui.widgets.comparison import compute

view = session.current()
downloads = shell.header("meaning", view)
with st.container(border=True, gap="xsmall"):
    word_chips(compute.chip_rows(view), key="chips", on_pick=sentences.pick_word)
    page.toolbar(view)

card = runtime.load(view.model, height=560)
with st.skeleton(height=560):
    baseline = runtime.baseline(card)
    result = compute.compute(view, runtime.service(), card, baseline)

page.problems(result)
what = page.shown(result, view)
if what is not None:
    page.picture(what)
    page.words(what)
    inputs.layer_slider(view, what.comparison.layers, key="layer")
    page.terms()
    page.explain(what, card)
    page.downloads(what, downloads)
    if baseline is None:
        runtime.await_baseline(card)
