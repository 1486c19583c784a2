"""The parts of Start here: words that move apart, the reasons, and examples to try in place."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from contextlens.analysis.ruler import Ruler
from contextlens.content.examples import EXAMPLES, Example
from contextlens.content.language import say, table
from contextlens.core import ModelCard
from contextlens.core.errors import ContextlensError
from contextlens.features.home import reading
from contextlens.features.home.compute import example_cosines
from contextlens.features.home.figures import DrawnWord, parting, thumbnail
from contextlens.features.home.widgets import Card, gallery_cards
from contextlens.ui.access import guard
from contextlens.ui.access.roles import FETCH
from contextlens.ui.models import download_requests, runtime
from contextlens.ui.page import navigation
from contextlens.ui.state import session
from contextlens.ui.state.services import settings
from contextlens.ui.state.view import ViewState, from_example
from contextlens.ui.widgets import export, kit, sentences
from contextlens.ui.widgets.comparison import drawing
from contextlens.ui.widgets.comparison.answer import evidence
from contextlens.ui.widgets.comparison.compute import Portrait
from contextlens.ui.widgets.comparison.ruler import RulerShown, ruler_note, ruler_of
from contextlens.ui.widgets.comparison.senses import NamedUses, covered_word
from contextlens.ui.widgets.layer_bar import layer_bar

_PARTING = "home_parting"


# --- This app, its terms and its examples


def introduction() -> None:
    """Draw what this app is for, and the title of the examples."""
    st.caption(say("home.intro"))
    st.subheader(say("home.examples"), anchor=False)


def basics() -> None:
    """Draw the meaning of token, vector, layer and similarity, one line each."""
    names = table("home.basics")
    for column, name in zip(st.columns(len(names)), names, strict=True):
        column.caption(say(f"home.basics.{name}"))


def gallery(view: ViewState, card: ModelCard | None) -> None:
    """Draw the examples as cards; those that the model can read have a small picture.

    Args:
        view: the current view.
        card: its model, or None while that is not loaded.
    """
    cosines = {} if card is None else example_cosines(runtime.service(), card.id)
    cards = []
    for example in EXAMPLES:
        download = _download(example)
        if download is None:
            continue
        along = cosines.get(example.key)
        alt = ""
        if along is not None:
            alt = say("home.card_alt", start=float(along[1, 0]), end=float(along[1, -1]))
        cards.append(
            Card(
                key=example.key,
                title=example.title,
                question=example.question,
                picture="" if along is None else thumbnail(along),
                alt=alt,
                current=_is_shown(example, view),
                download=download,
            )
        )
    gallery_cards(cards, key="gallery" if card else "gallery_waiting", on_pick=_open)


def _is_shown(example: Example, view: ViewState) -> bool:
    opened = from_example(example, view.model)
    return (opened.model, opened.sentences, opened.references) == (
        view.model,
        view.sentences,
        view.references,
    )


def _download(example: Example) -> str | None:
    """Return the label of the button that gets an example's model.

    It is empty if the model is on this machine, and None if it cannot be had here.
    """
    if example.model is None:
        return ""
    try:
        runtime.check_model(example.model)
        spec = runtime.service().spec(example.model)
    except ContextlensError:
        return None
    if spec.loaded or spec.on_disk:
        return ""
    if not (settings().allow_downloads and guard.is_allowed(FETCH)):
        return None
    return download_requests.with_size(say("home.get", model=spec.title), spec)


def _open(key: str) -> None:
    example = next(example for example in EXAMPLES if example.key == key)
    opened = from_example(example, session.current().model)
    if example.model is not None:  # its card says how much that loads
        runtime.request(example.model)
    session.write(opened)


# --- The words of the view


def story(
    view: ViewState,
    portrait: Portrait,
    card: ModelCard,
    ruler: Ruler | None,
    uses: NamedUses | None,
) -> None:
    """Draw the picture, and an answer to each question that a first look raises."""
    has_pair = bool(portrait.comparison.pairs("sentences"))
    _picture(view, portrait)
    if has_pair:
        _answers(view, portrait, ruler_of(portrait, ruler), uses, card)
        runtime.await_measures(card, covered_word(portrait.comparison))
    else:
        drawing.words(portrait)
    open_meaning(view)


def _answers(
    view: ViewState,
    portrait: Portrait,
    on_ruler: RulerShown | None,
    uses: NamedUses | None,
    card: ModelCard,
) -> None:
    pair, *others = portrait.comparison.pairs("sentences")
    answer = drawing.answer_of(portrait, card, uses)
    if answer is not None and answer.asks:
        sentences.meaning_fields(view, answer.suggestions, where="home")
    kind = "of_two" if others else "of_one"
    names = {"a": portrait.comparison.items[pair.first].label}
    names["b"] = portrait.comparison.items[pair.second].label
    why = say(f"home.questions.why.{kind}", **names)
    much = say(f"home.questions.how_much.{kind}", cosine=portrait.cosine(pair), **names)
    with st.container(key="answers", gap="xsmall"):
        if numbers := evidence(portrait, uses):
            st.caption(" ".join(map(str, numbers)))
        if portrait.comparison.has_unknown(pair):
            return  # its similarity says nothing, so there is nothing to explain
        st.markdown(f"**{why}** {reading.why(portrait, pair)}")
        if uses is not None and answer is not None and not answer.asks:
            return  # the senses say more than the number
        st.markdown(
            f"**{much}** {reading.how_much(portrait, pair, on_ruler)}",
            help=None if on_ruler is None else ruler_note(on_ruler),
        )
    if on_ruler is not None:
        drawing.ruler(on_ruler, scale=portrait.scale, key="home_ruler", height=136)


def _picture(view: ViewState, portrait: Portrait) -> None:
    comparison = portrait.comparison
    drawn = reading.drawn_items(comparison)
    cosines = comparison.cosines[:, drawn[0]]
    titles = reading.parting_titles(comparison)
    band = portrait.meaning.band(reading.drawn_pairs(comparison)[0])
    figure = parting(
        [
            DrawnWord(item.name, item.label, item.color, cosines[:, i])
            for i, item in enumerate(comparison.items)
            if i in drawn
        ],
        comparison.layers,
        layer=portrait.layer,
        titles=titles,
        random=None if band is None else band.mean,
    )
    alt = say("home.picture_alt", title=titles[portrait.row])
    kit.chart(figure, key=_PARTING, alt=alt)
    layer_bar(view, comparison.layers, framed=[_PARTING])


def downloads(
    portrait: Portrait,
    container: DeltaGenerator,
    snippets: Sequence[tuple[str, str]],
    files: Callable[[], None],
) -> None:
    """Draw the page's Download menu.

    Args:
        portrait: what the page shows.
        container: where the menu is drawn.
        snippets: see `kit.downloads`.
        files: draws the buttons for the numbers.
    """
    meaning, layers = portrait.meaning, portrait.comparison.layers
    note = say("home.picture_note", first=layers[0], last=layers[-1])  # the layer bar's numbers
    with kit.downloads(
        container,
        f"{meaning.key}\n{note}\n{export.caption(meaning.passport)}",
        page="home",
        name="start-here",
        chart=_PARTING,
        snippets=snippets,
        unused=("lines",),
        reading_key="headline" if portrait.comparison.pairs("sentences") else "reading",
    ):
        files()


def open_meaning(view: ViewState) -> None:
    """Draw a link to the Meaning page, which has all lines and numbers."""
    navigation.link(navigation.row("meaning"), view, label=say("home.more"))
