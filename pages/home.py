"""Start here: what this is, a live miniature of Meaning in context, and six ready examples."""

import streamlit as st

from components.features.home import page
from components.ui.frame import navigation, shell
from components.ui.models import runtime
from components.ui.state import session
from components.ui.widgets import kit
from components.ui.widgets.comparison import compute, drawing

view = session.current()
shell.header("home", view)
page.introduction()
left, right = st.columns([3, 2], gap="large")

# First what needs no model: it is on screen while the model loads.
with right:
    page.gallery(view)

with left, st.container(border=True):
    drawing.chips(view)
    card = runtime.load(view.model, height=360)
    with kit.room("home", height=360):
        baseline = runtime.baseline(card)
        meaning = compute.meaning_of(view, runtime.service(), card, baseline)
    drawing.problems(meaning)
    portrait = compute.portrait_of(meaning, view)
    if portrait is None:
        drawing.missing_words()
    else:
        drawing.lines(portrait, key="home_lines", height=330)
        drawing.words(portrait)
        if baseline is None:
            runtime.await_measures(card)
    navigation.link(navigation.row("meaning"), view, label="Open in Meaning in context")
