"""The parts of Start here: two words that move apart, the reasons, and examples to try."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.analysis.ruler import Ruler
from components.analysis.similarity import Pair
from components.content.examples import EXAMPLES
from components.content.language import say, table
from components.core import EncoderService, ModelCard
from components.features.home import reading
from components.features.home.compute import angles, example_angles
from components.features.home.figures import parting, thumbnail
from components.ui.frame import navigation
from components.ui.models import runtime
from components.ui.state.view import ViewState
from components.ui.widgets import kit, sentences
from components.ui.widgets.comparison import drawing
from components.ui.widgets.comparison.compute import Portrait
from components.ui.widgets.comparison.ruler import ruler_note, ruler_of
from components.ui.widgets.layer_bar import layer_bar

__all__ = ["basics", "fill_cards", "gallery", "introduction", "open_meaning", "story"]

_PARTING = "home_parting"
_SMALL = 48
"""The height of a card's picture in pixels."""


def introduction() -> None:
    """This app in three sentences."""
    st.caption(say("home.intro"))


def basics() -> None:
    """The meaning of token, vector, layer and similarity, one line each."""
    names = table("home.basics")
    for column, name in zip(st.columns(len(names)), names, strict=True):
        column.caption(say(f"home.basics.{name}"))


def gallery(view: ViewState) -> dict[str, DeltaGenerator]:
    """Draw each example as a clickable card; return the places for their small pictures."""
    st.subheader(say("home.examples"), anchor=False)
    places = {}
    for example in EXAMPLES:
        with st.container(
            border=True,
            horizontal=True,
            vertical_alignment="center",
            key=f"home_card_{example.key}",
        ):
            with st.container(width=100, height=_SMALL, border=False):
                places[example.key] = st.empty()
            with st.container(gap=None, key=f"home_words_{example.key}"):
                sentences.link(example, view, where="home")
                model = sentences.needs(example)
                question = example.question
                st.caption(say("home.needs", question=question, model=model) if model else question)
    return places


def fill_cards(
    places: Mapping[str, DeltaGenerator], service: EncoderService, card: ModelCard
) -> None:
    """Draw the small picture on the card of each example that this model can read."""
    for key, degrees in example_angles(service, card.id).items():
        ends = np.cos(np.radians(degrees))
        alt = say("home.card_alt", start=float(ends[0]), end=float(ends[-1]))
        places[key].html(f'<img src="{thumbnail(degrees)}" alt="{alt}" height="44">')


def story(view: ViewState, portrait: Portrait, card: ModelCard, ruler: Ruler | None) -> None:
    """The headline, the picture, and an answer to each question that a first look raises."""
    pairs = portrait.comparison.pairs("sentences")
    if not pairs:
        drawing.lines(portrait, key="home_lines", height=300)
        layer_bar(view, portrait.comparison.layers)
        drawing.words(portrait)
        open_meaning(view)
        return
    pair = pairs[0]
    on_ruler = ruler_of(portrait, ruler)
    with st.container(key="headline", gap="small"):
        st.header(str(reading.headline(portrait, pair, on_ruler)), anchor=False)
        if leaning := reading.leaning(portrait, pair):
            st.caption(str(leaning))
    _picture(view, portrait, pair)
    much = say("home.questions.how_much", cosine=portrait.cosine(pair))
    with st.container(key="answers", gap="xsmall"):
        st.markdown(f"**{say('home.questions.why')}** {reading.why(portrait, pair)}")
        st.markdown(
            f"**{much}** {reading.how_much(portrait, pair, on_ruler)}",
            help=None if on_ruler is None else ruler_note(on_ruler),
        )
    if on_ruler is not None:
        drawing.ruler(on_ruler, scale=portrait.scale, key="home_ruler", height=136, note=False)
    elif ruler is None:
        runtime.await_measures(card)
    open_meaning(view)


def _picture(view: ViewState, portrait: Portrait, pair: Pair) -> None:
    comparison = portrait.comparison
    titles = reading.parting_titles(comparison, pair)
    degrees = angles(comparison.along(pair))
    names = [comparison.items[i].name for i in (pair.first, pair.second)]
    figure = parting(
        degrees,
        comparison.layers,
        (names[0], names[1]),
        layer=portrait.layer,
        titles=titles,
    )
    alt = say("home.picture_alt", title=titles[portrait.row])
    kit.chart(figure, key=_PARTING, alt=alt)
    layer_bar(view, comparison.layers, framed=[_PARTING])


def open_meaning(view: ViewState) -> None:
    """A link to the Meaning page, which has all lines and numbers."""
    navigation.link(navigation.row("meaning"), view, label=say("home.more"))
