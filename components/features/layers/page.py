"""The parts of the Layer by layer page: toolbar, picture, reading, shapes, tabs and downloads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st
from numpy.typing import NDArray
from streamlit.delta_generator import DeltaGenerator

from components.content.language import say
from components.content.wording import shortened
from components.core import EncoderService
from components.features.layers.compute import (
    HiddenStates,
    arrays,
    encode_all,
    measure_table,
    rows,
    shape_rows,
)
from components.features.layers.controls import MEASURE, SECTION, SENTENCE
from components.features.layers.explain import FORMULA
from components.features.layers.figures import layers_heatmap
from components.features.layers.reading import layers_picture_title, layers_reading, text_notes
from components.features.layers.snippet import layers_snippet
from components.ui.state.view import ViewState, letter
from components.ui.widgets import export, inputs, kit, sentences

__all__ = ["downloads", "explain", "notes", "picture", "reading", "toolbar"]

_CHART = "layers_heatmap"
_FILE = "layer-by-layer"


def toolbar(view: ViewState, states: HiddenStates) -> None:
    """Draw the choices of sentence and measure, and the text editors that phones need."""
    with kit.controls():
        inputs.sentence(view, SENTENCE)
        with st.popover("Edit", icon=":material/edit:", type="tertiary"):
            sentences.sentence_editor(view, "sentences", where="page", least=1)
            sentences.pair_field(view, states.index, key="page_pair")
        inputs.choice(view, MEASURE)


def picture(view: ViewState, states: HiddenStates) -> None:
    """Draw the heatmap: every token at every layer, with a frame around the picked one."""
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
    kit.chart(figure, key=_CHART, alt=alt)


def reading(states: HiddenStates) -> None:
    """Write the reading of the heatmap."""
    trained = states.card.provenance.encoder
    kit.reading(layers_reading(states.measure, states.labels, states.layer, states.chance, trained))


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
    with kit.downloads(place, caption, chart=_CHART, name=_FILE):
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
        snippet=layers_snippet(states.card, encoding.text, encoding.pair),
        passport=states.passport,
        shapes=kit.shapes(shape_rows(encoding), key="layers_shapes"),
    )
