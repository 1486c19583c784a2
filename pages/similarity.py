"""Meaning in context: the same word in several sentences, compared at every layer."""

import streamlit as st

from components.ui import meaning, meaning_page
from components.ui.frame import shell
from components.ui.models import runtime
from components.ui.state import session
from components.ui.widgets import inputs
from components.ui.widgets.chips import word_chips

view = session.current()
downloads = shell.header("similarity", view)
with st.container(border=True, gap="xsmall"):
    word_chips(meaning.chip_rows(view), key="chips", on_pick=inputs.pick_word)
    meaning_page.toolbar(view)

card = runtime.load(view.model, height=560)
with st.skeleton(height=560):
    baseline = runtime.baseline(card)
    result = meaning.compute(view, runtime.service(), card, baseline)

meaning_page.problems(result)
what = meaning_page.shown(result, view)
if what is not None:
    meaning_page.picture(what)
    meaning_page.words(what)
    inputs.layer_slider(view, what.comparison.layers, key="layer")
    meaning_page.terms()
    meaning_page.explain(what, card)
    meaning_page.downloads(what, downloads)
    if baseline is None:
        runtime.await_baseline(card)
