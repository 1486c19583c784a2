"""Start here: uses of a word, what moves each of them, and examples to guess first."""

from functools import partial

import streamlit as st

from contextlens.features.home import page
from contextlens.features.meaning.page import files, snippets
from contextlens.ui.corpora import own_senses
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
if session.is_presented():
    story, cards = st.container(gap="xsmall", key="story"), None
else:
    left, right = st.columns([5, 2], gap="medium")
    story, cards = left.container(gap="xsmall", key="story"), right.container()

# First the parts that need no model: they are on screen until it has its first answer.
waiting_cards = None if cards is None else cards.empty()
if waiting_cards is not None and page.are_cards_awaited(view):
    with waiting_cards.container():
        page.cards(view, None)

card = None
with story, errors.boundary():
    headline = st.container(key="place_of_headline")
    headline.empty()  # so that its room is there
    card = runtime.load(view.model, height=480)
    with kit.placeholder("home", height=480):
        baseline = runtime.baseline(card)
        ruler = runtime.ruler(card, baseline)
        meaning = compute.meaning_of(view, runtime.service(), card, baseline)
    drawing.problems(view, meaning)
    portrait = compute.portrait_of(meaning, view)
    if portrait is None:
        drawing.missing_words()
    else:
        own, uses, answer = own_senses.looked_up(view, portrait, card, baseline)
        with headline:
            page.headline(view, portrait, answer, uses)
        picture = page.story(view, portrait, card, ruler, answer, uses, own)
        numbers = partial(files, view, meaning.passport)
        page.downloads(portrait, picture, place, snippets(portrait, card), numbers)
    page.open_meaning(view)

if card is not None and cards is not None and waiting_cards is not None:
    waiting_cards.empty()
    with cards:
        page.cards(view, card)
kit.next_page()
page.basics()
