"""The parts of the Layer by layer page: toolbar, picture, reading, shapes, tabs and downloads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st
from numpy.typing import NDArray
from streamlit.delta_generator import DeltaGenerator

from contextlens.content.language import say
from contextlens.content.wording import quoted, shortened
from contextlens.core import EncoderService
from contextlens.features.layers.compute import (
    HiddenStates,
    arrays,
    encode_all,
    measure_table,
    menu_titles,
    pieces_of,
    rows,
    shape_rows,
)
from contextlens.features.layers.controls import (
    MEASURE,
    MEASURES,
    ONE,
    PAIRS,
    SECTION,
    SENTENCE,
    SHOW,
    TOKEN,
)
from contextlens.features.layers.explain import FORMULA
from contextlens.features.layers.figures import layers_heatmap
from contextlens.features.layers.one_token import line_titles, lines_of, reading_of_token
from contextlens.features.layers.reading import (
    layers_picture_title,
    layers_reading,
    text_notes,
)
from contextlens.features.layers.snippet import layers_picture, layers_snippet
from contextlens.ui.state import session
from contextlens.ui.state.view import ViewState, letter
from contextlens.ui.widgets import export, inputs, kit, sentences
from contextlens.ui.widgets.layer_bar import layer_bar

CHART = "layers_picture"
"""The key of the page's picture."""
_FILE = "layer-by-layer"
_MENU_WIDTH = 184  # of the menu of tokens, in pixels


def toolbar(view: ViewState, states: HiddenStates) -> None:
    """Draw the choices of sentence, picture and token, the text editors, and the measure."""
    with kit.controls("layers"):
        inputs.sentence(view, SENTENCE)
        if inputs.choice(view, SHOW) == ONE:
            _token(states)
        with st.container(horizontal=True, gap="small", width="content"):
            with st.popover("Edit", icon=":material/edit:", type="tertiary"):
                sentences.sentence_editor(view, "sentences", where="page", least=1)
                sentences.pair_field(view, states.index, key="page_pair")
            with st.popover("Options", icon=":material/tune:", type="tertiary"):
                inputs.choice(view, MEASURE)


def picture(view: ViewState, states: HiddenStates) -> None:
    """Draw the picked token's line among the others, or the heatmap of all tokens; and the bar."""
    layers = states.encoding.layers
    if SHOW.of(view) == ONE:
        _lines(states)
        # The closer look at pairs shows one layer, too: then each layer is a run of the page.
        layer_bar(view, layers, framed=[] if SECTION.of(view) == PAIRS else [CHART])
    else:
        _heatmap(view, states)
        layer_bar(view, layers)


def reading(view: ViewState, states: HiddenStates) -> None:
    """Write the reading of the picture."""
    if SHOW.of(view) != ONE:
        of = states.measure, states.labels, states.layer, states.chance
        kit.claims(layers_reading(*of, states.card.provenance.encoder))
        return
    claims, sure = reading_of_token(states)
    kit.claims(claims, sure=sure)


def _token(states: HiddenStates) -> None:
    """Draw the menu of the tokens."""
    titles = menu_titles(states)
    key = session.bind(TOKEN.key, states.picked)

    def write() -> None:
        if session.is_shown(key):
            session.write(TOKEN.put(session.current(), session.value(key)))

    with st.container(width=_MENU_WIDTH, key="layers_token_menu"):
        st.selectbox(
            TOKEN.label,
            range(len(titles)),
            index=states.picked,
            format_func=titles.__getitem__,
            key=key,
            on_change=write,
        )


def _lines(states: HiddenStates) -> None:
    figure = lines_of(states)
    title = line_titles(states)[states.encoding.layers.index(states.layer)]
    token = states.labels[states.picked]
    alt = say("layers.one.alt", title=title, measure=states.measured, token=token)
    kit.chart(figure, key=CHART, alt=alt)


def _heatmap(view: ViewState, states: HiddenStates) -> None:
    title = str(layers_picture_title(states.measure, states.labels[0]))
    figure = layers_heatmap(
        states.measure,
        states.labels,
        layer=states.layer,
        picked=states.picked if SECTION.of(view) == SECTION.default else None,
        name=states.measured,
        scale=states.scale,
        title=title,
    )
    alt = say("layers.alt", title=title, measure=states.measured)
    kit.chart(figure, key=CHART, alt=alt)


def notes(states: HiddenStates) -> None:
    """Write notes about special cases of this text or model, such as a truncated text."""
    encoding = states.encoding
    for note in text_notes(
        n_own=int(states.own_mask.sum()),
        n_unknown=states.n_unknown,
        n_lost=encoding.n_truncated,
        has_pair=encoding.pair is not None,
        has_segments=states.card.has_segments,
    ):
        st.caption(str(note))
    n_pieces, word = pieces_of(states)
    if n_pieces > 1:
        names = {"token": quoted(states.labels[states.picked]), "word": quoted(word)}
        st.caption(say("layers.one.piece", n=n_pieces, **names))


def explain(states: HiddenStates) -> None:
    """Draw the tabs under the picture."""
    kit.tabs(lambda: _numbers(states), lambda: _under_the_hood(states), say("layers.limits"))


def downloads(
    view: ViewState,
    states: HiddenStates,
    again: Callable[[], HiddenStates],
    service: EncoderService,
    place: DeltaGenerator,
    of_look: Mapping[str, NDArray[Any]],
) -> None:
    """Draw the Download menu: the numbers of all current sentences, and of the closer look.

    The session keeps the functions that make the files, and must not keep hidden states alive. So
    these functions call `again` to recompute them.
    """
    # A numpy view would keep the whole array that it views alive.
    copies = {name: array.copy() for name, array in of_look.items()}
    sentence = f"{letter(states.index)}: {shortened(states.encoding.text, 80)}"
    caption = f"{sentence}\n{export.caption(states.passport)}"
    measure = MEASURE.of(view)
    picture = layers_picture(MEASURE.options[measure], MEASURES[measure])
    snippets = [(say("page.same_numbers"), _snippet(states)), ("", picture)]
    with kit.downloads(place, caption, page="layers", chart=CHART, name=_FILE, snippets=snippets):
        kit.download_files(
            _FILE,
            states.passport,
            rows=lambda: rows(again(), encode_all(view, service)),
            arrays=lambda: {**arrays(encode_all(view, service)), **copies},
        )


def _numbers(states: HiddenStates) -> None:
    st.caption(say("layers.table", measure=states.measured, letter=letter(states.index)))
    kit.table(measure_table(states), after=2, key="layers_table")


def _under_the_hood(states: HiddenStates) -> None:
    encoding = states.encoding
    kit.under_the_hood(
        formula=[FORMULA],
        snippet=_snippet(states),
        passport=states.passport,
        shapes=kit.shapes(shape_rows(encoding), key="layers_shapes"),
    )


def _snippet(states: HiddenStates) -> str:
    return layers_snippet(states.card, states.encoding.text, states.encoding.pair)
