"""Start here: uses of a word, how far apart the model keeps them, and why."""

from functools import partial

import streamlit as st

from contextlens.features.home import page
from contextlens.features.meaning.page import files, snippets
from contextlens.ui.frame import shell
from contextlens.ui.models import runtime
from contextlens.ui.page import errors
from contextlens.ui.state import session
from contextlens.ui.widgets import kit
from contextlens.ui.widgets.comparison import compute, drawing
from contextlens.ui.widgets.subject import subject_bar

view = session.current()
place = shell.header("home", view)
subject_bar(view, "home", words=True)
left, right = st.columns([3, 2], gap="medium")
story = left.container(border=True, gap="xsmall", key="story")

# First the parts that need no model: they are on screen while it loads.
with right:
    page.introduction()
    examples = st.empty()
if not runtime.is_loaded(view.model):
    with examples.container():
        page.gallery(view, None)

card = None
with story, errors.boundary():
    headline = st.container(key="place_of_headline")
    if len(view.sentences) > 1:
        headline.empty()  # so that its room is there
    card = runtime.load(view.model, height=600)
    with kit.placeholder("home", height=600):
        baseline = runtime.baseline(card)
        ruler = runtime.ruler(card, baseline)
        meaning = compute.meaning_of(view, runtime.service(), card, baseline)
    drawing.problems(view, meaning)
    portrait = compute.portrait_of(meaning, view)
    if portrait is None:
        drawing.missing_words()
        page.open_meaning(view)
    else:
        uses = drawing.uses_of(portrait, card, baseline)
        with headline:
            drawing.headline(portrait, card, uses)
        page.story(view, portrait, card, ruler, uses)
        numbers = partial(files, view, meaning.passport)
        page.downloads(portrait, place, snippets(portrait, card), numbers)

if card is not None:
    with examples.container():
        page.gallery(view, card)
kit.next_page()
page.basics()
