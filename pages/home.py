"""Start here: what this is, a live miniature of Meaning in context, and six ready examples."""

import streamlit as st

from components.content.examples import EXAMPLES
from components.content.explain import HOME_INTRO
from components.ui import inputs, meaning, meaning_page, navigation, runtime, shell, sidebar, state
from components.ui.chips import word_chips

view = state.current()
shell.header("home", view)
st.markdown(HOME_INTRO)
left, right = st.columns([3, 2], gap="large")

# First what needs no model: it is on screen while the model loads.
with right:
    st.subheader("Try an example", anchor=False)
    for example in EXAMPLES:
        with st.container(gap=None, key=f"home_{example.key}"):
            sidebar.example_link(example, view, where="home")
            st.caption(example.question)

with left, st.container(border=True):
    word_chips(meaning.chip_rows(view), key="chips", on_pick=inputs.pick_word)
    with st.skeleton(height=360):
        card = runtime.load(view.model)
        baseline = runtime.baseline(card)
        result = meaning.compute(view, runtime.service(), card, baseline)
    meaning_page.problems(result)
    what = meaning_page.shown(result, view)
    if what is not None:
        meaning_page.lines(what, key="home_lines", height=330)
        meaning_page.words(what)
        if baseline is None:
            runtime.await_baseline(card)
    navigation.link(navigation.row("similarity"), view, label="Open in Meaning in context")
