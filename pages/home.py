"""Start here: what this is, a live miniature of Meaning in context, and six ready examples."""

import streamlit as st

from components.features.meaning import page
from components.ui.frame import navigation, shell
from components.ui.models import runtime
from components.ui.state import session
from components.ui.widgets import examples, sentences
from components.ui.widgets.chips import word_chips
from components.ui.widgets.comparison import compute

view = session.current()
shell.header("home", view)
examples.introduction()
left, right = st.columns([3, 2], gap="large")

# First what needs no model: it is on screen while the model loads.
with right:
    examples.gallery(view)

with left, st.container(border=True):
    word_chips(compute.chip_rows(view), key="chips", on_pick=sentences.pick_word)
    card = runtime.load(view.model, height=360)
    with st.skeleton(height=360):
        baseline = runtime.baseline(card)
        result = compute.compute(view, runtime.service(), card, baseline)
    page.problems(result)
    what = page.shown(result, view)
    if what is not None:
        page.lines(what, key="home_lines", height=330)
        page.words(what)
        if baseline is None:
            runtime.await_baseline(card)
    navigation.link(navigation.row("meaning"), view, label="Open in Meaning in context")
