"""The parts of the Layer by layer page: toolbar, picture, notes, closer looks, tabs, downloads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from contextlens.content.language import say
from contextlens.content.wording import quoted, shortened
from contextlens.core import EncoderService
from contextlens.features.layers import hidden_states, nearest_tokens
from contextlens.features.layers.all_tokens import AllTokens, all_tokens
from contextlens.features.layers.controls import (
    MEASURE,
    MEASURES,
    MIN_COMPARED_WORDS,
    ONE,
    PAIRS,
    SECTION,
    SHOW,
    TOKEN,
    WORDS,
    other_in,
)
from contextlens.features.layers.hidden_states import HiddenStates, encode_all
from contextlens.features.layers.layers_compared import ComparedLayers, compared_layers
from contextlens.features.layers.nearest_tokens import NearestTokens
from contextlens.features.layers.one_token import OneToken, one_token
from contextlens.features.layers.pooler import pooler_of
from contextlens.features.layers.spread import spread_of
from contextlens.features.layers.token_pairs import token_pairs
from contextlens.figures.theme import color_of
from contextlens.ui.models import runtime, second_model
from contextlens.ui.panel import Panel
from contextlens.ui.state import session
from contextlens.ui.state.view import ViewState, letter
from contextlens.ui.widgets import export, inputs, kit
from contextlens.ui.widgets.layer_bar import layer_bar
from contextlens.ui.widgets.token_strip import token_strip

_CHART = "layers_picture"
"""The key of the page's picture."""
_FILE = "layer-by-layer"
_MENU_WIDTH = 184  # of the menu of tokens, in pixels
_SCROLLED_TOKENS = 40  # a strip of more tokens scrolls
_FORMULAS = f"{hidden_states.FORMULA}\n\n{nearest_tokens.FORMULA}"


# --- Above the closer looks


def toolbar(view: ViewState, states: HiddenStates) -> None:
    """Draw the choices of picture, token and measure."""
    with kit.controls("layers"):
        if inputs.choice(view, SHOW) == ONE:
            _token_menu(states)
        with kit.menu():
            inputs.choice(view, MEASURE)


def _token_menu(states: HiddenStates) -> None:
    """Draw the menu of the tokens, with the positions of those that have the same text."""
    counts = Counter(states.labels)
    titles = {
        position: label if counts[label] == 1 else f"{label} ({position})"
        for position, label in enumerate(states.labels)
    }
    with st.container(width=_MENU_WIDTH, key="layers_token_menu"):
        inputs.menu(
            TOKEN.label,
            titles,
            states.picked,
            lambda position: session.write(TOKEN.put(session.current(), position)),
            key=TOKEN.key,
        )


def picture(view: ViewState, states: HiddenStates) -> None:
    """Draw the picked token's line or the heatmap of all tokens, the layer bar and the reading."""
    result: OneToken | AllTokens
    if SHOW.of(view) == ONE:
        result = one_token(states)
        # The closer look at pairs shows one layer, too: then each layer is a run of the page.
        framed = [] if SECTION.of(view) == PAIRS else [_CHART]
    else:
        has_frame = SECTION.of(view) == SECTION.default
        result, framed = all_tokens(states, picked=states.picked if has_frame else None), []
    kit.headline(result.title(), *result.claims(), key="reading")
    _draw(result, key=_CHART)
    layer_bar(view, states.encoding.layers, framed=framed)
    kit.claims([], sure=result.sure(), key="reading_sure")


def notes(states: HiddenStates) -> None:
    """Write notes about special cases of this text or model, such as a truncated text."""
    kit.notes(states.notes())


# --- The closer looks


def _one_token(view: ViewState, states: HiddenStates, service: EncoderService) -> Panel:
    """Draw the text's tokens, and the picked one's vectors and nearest tokens."""
    result = nearest_tokens.nearest_tokens(view, states, service)
    tall = states.encoding.n_tokens > _SCROLLED_TOKENS
    with st.container(height=206 if tall else "content", border=False, key="layers_strip"):
        token_strip(
            states.encoding,
            states.vocabulary,
            key="layers_tokens",
            name=f"sentence {letter(states.index)}",
            color=color_of(states.index),
            word=states.sentence.word,
            picked=states.picked,
            on_pick=_pick,
        )
    kit.claims(result.claims(), key="reading_nearest")
    left, right = st.columns(2, gap="medium")
    with left:
        _draw(result, key="layers_vector")
    with right:
        if not result.is_empty:
            st.caption(say("layers.nearest.table", token=quoted(result.label)))
            _nearest_table(result)
    return result


def _pick(position: int) -> None:
    view = TOKEN.put(session.current(), position)
    session.write(SECTION.put(view, SECTION.default))


def _nearest_table(result: NearestTokens) -> None:
    number, table = st.column_config.NumberColumn, result.table()
    columns: dict[str, Any] = {
        name: number("cosine", format="%.4f", width=70)
        for name in table.columns
        if name.startswith("cosine")
    }
    columns["layer"] = number(width=50)
    if "random pairs" in table.columns:
        random_help = say("layers.nearest.random_help")
        columns["random pairs"] = number(format="%.4f", width=95, help=random_help)
    kit.table(table, columns=columns, key="layers_nearest")


def _token_pairs(_view: ViewState, states: HiddenStates, _service: EncoderService) -> Panel:
    """Draw the cosine of every pair of tokens at the chosen layer."""
    result = token_pairs(states)
    kit.claims(result.claims(), key="reading_pairs")
    _draw(result, key="layers_pairs")
    table = result.table()
    if table is not None:
        with st.expander(say("layers.as_table")):
            st.dataframe(table, key="layers_pairs_table")
    return result


def _layers_compared(
    view: ViewState, states: HiddenStates, service: EncoderService
) -> Panel | None:
    """Draw linear CKA between layers of this model, or of this one and another."""
    specs = {spec.id: spec for spec in (*service.models(), *runtime.own_models())}
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        inputs.choice(view, WORDS)
        chosen = inputs.select(view, other_in(specs.values(), view.model))
    other = second_model.model_card(specs[chosen]) if chosen else states.card
    if other is None:
        return None
    with st.spinner("Comparing the layers…"):
        result = compared_layers(view, states.card, other, service)
    kit.claims(result.claims(), sure=result.sure(), key="reading_alike")
    if result.is_few:
        return result
    _draw(result, key="layers_alike")
    with st.expander(say("page.details")):
        similarity = result.similarity
        left, right = st.columns(2, gap="medium")
        with left:
            st.caption(say("layers.alike.linear"))
            kit.table(result.table(similarity.cka), after=1, key="layers_alike_table")
        with right:
            if np.isfinite(similarity.debiased).any():
                st.caption(say("layers.alike.debiased"))
                kit.table(result.table(similarity.debiased), after=1, key="layers_debiased_table")
            else:
                st.caption(say("layers.alike.no_debiased", n=MIN_COMPARED_WORDS))
        st.markdown(result.formula)
        if result.no_code:
            st.caption(result.no_code)
        else:
            st.code(result.snippet(), language="python", wrap_lines=True)
    return result


def _spread(_view: ViewState, states: HiddenStates, service: EncoderService) -> Panel:
    """Draw anisotropy at every layer, and the variance in the first components."""
    with st.spinner("Encoding the sample sentences…"):
        result = spread_of(states, service)
    kit.claims(result.claims(), key="reading_spread")
    left, right = st.columns(2, gap="medium")
    with left:
        kit.chart(result.random_figure(), key="layers_random_pairs", alt=result.random_alt())
    with right:
        kit.chart(result.variance_figure(), key="layers_variance", alt=result.variance_alt())
    with st.expander(say("page.details")):
        kit.table(result.rows(), after=1, key="layers_spread_table")
        st.markdown(result.formula)
        st.code(result.snippet(), language="python", wrap_lines=True)
    return result


def _pooler(view: ViewState, states: HiddenStates, service: EncoderService) -> Panel:
    """Draw the pooler's output, and the similarity of sentences computed in three ways."""
    result = pooler_of(view, states, service)
    kit.notes(result.notes())
    kit.claims(result.claims(), sure=result.sure(), key="reading_pooler")
    if result.output is None:
        return result
    _draw(result, key="layers_pooler")
    left, right = st.columns(2, gap="medium")
    with left:
        if result.rows():
            st.caption(say("layers.pooler.sentences"))
            kit.table(result.rows(), after=1, key="layers_sentences")
        else:
            st.caption(say("layers.pooler.one_sentence"))
    with right, st.expander(say("layers.code")):
        st.markdown(result.formula)
        st.code(result.snippet(), language="python", wrap_lines=True)
    return result


Look = Callable[[ViewState, HiddenStates, EncoderService], Panel | None]

LOOKS: Mapping[str, Look] = {
    "One token": _one_token,
    PAIRS: _token_pairs,
    "Layers compared": _layers_compared,
    "Spread": _spread,
    "Pooler": _pooler,
}
"""What computes and draws each closer look, by its name among the options of `SECTION`."""


# --- Below the closer looks


def explain(states: HiddenStates) -> None:
    """Draw the tabs under the picture."""
    kit.tabs(lambda: _numbers(states), lambda: _under_the_hood(states), say("layers.limits"))


def _numbers(states: HiddenStates) -> None:
    st.caption(say("layers.table", measure=states.measure_name, letter=letter(states.index)))
    kit.table(states.table(), after=2, key="layers_table")


def _under_the_hood(states: HiddenStates) -> None:
    kit.under_the_hood(
        formula=[_FORMULAS],
        snippet=states.snippet(),
        passport=states.passport,
        shapes=kit.shapes(hidden_states.shape_rows(states.encoding), key="layers_shapes"),
    )


def downloads(
    view: ViewState,
    states: HiddenStates,
    service: EncoderService,
    container: DeltaGenerator,
    look: Panel | None,
) -> None:
    """Draw the Download menu: the numbers of all current sentences, and of the closer look.

    The session keeps the functions that make the files, and must not keep results alive: the files'
    numbers are computed again. Only the similarities of layers are kept: they are few, and the
    second model may be known to this visitor alone.
    """
    has_look, kept_arrays = look is not None, {}
    if isinstance(look, ComparedLayers):
        has_look, kept_arrays = False, dict(look.arrays())
    passport, kind = states.passport, MEASURE.of(view)
    caption = (
        f"{letter(states.index)}: {shortened(states.encoding.text, 80)}\n{export.caption(passport)}"
    )
    script = hidden_states.picture_snippet(MEASURE.options[kind], MEASURES[kind])
    snippets = [(say("page.same_numbers"), states.snippet()), ("", script)]
    kit.downloads(
        container,
        caption,
        page="layers",
        chart=_CHART,
        name=_FILE,
        snippets=snippets,
        files=lambda: kit.download_files(
            _FILE,
            passport,
            rows=lambda: hidden_states.measure_rows(
                encode_all(view, service), service.vocabulary(view.model)
            ),
            arrays=lambda: {
                **hidden_states.sentence_arrays(encode_all(view, service)),
                **(_restored(view, service).arrays() if has_look else kept_arrays),
            },
        ),
    )


def _restored(view: ViewState, service: EncoderService) -> Panel:
    """Return the closer look of a view as it was shown, except for compared layers."""
    states = hidden_states.hidden_states(view, service, service.load(view.model), None)
    look = SECTION.of(view)
    if look == PAIRS:
        return token_pairs(states)
    if look == "Spread":
        return spread_of(states, service)
    if look == "Pooler":
        return pooler_of(view, states, service)
    return nearest_tokens.nearest_tokens(view, states, service)


def _draw(result: Panel, *, key: str) -> None:
    figure = result.figure()
    if figure is not None:
        kit.chart(figure, key=key, alt=result.alt())
