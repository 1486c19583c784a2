"""The Attention page: toolbar, lines, navigator, reading, heatmap, tabs and downloads."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from contextlens.content.language import say
from contextlens.features.attention.attention import AttentionView
from contextlens.features.attention.controls import (
    DIRECTION,
    HEAD,
    MAX_TABLE_COLUMNS,
    PAD,
    SHOW,
    SIDE,
    SORT,
    SPECIAL,
    TOKEN,
    UNIT,
)
from contextlens.features.attention.grid import FORMULA as GRID_FORMULA
from contextlens.features.attention.heads import FORMULA as HABITS_FORMULA
from contextlens.features.attention.heatmap import heatmap_script
from contextlens.features.attention.rollout import FORMULA as ROLLOUT_FORMULA
from contextlens.features.attention.widgets import attention_heads, attention_lines
from contextlens.ui.state import session
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets import export, inputs, kit
from contextlens.ui.widgets.layer_bar import layer_bar

_FILE = "attention"
_CHART = "attention_heatmap"
_N_BEST = 5  # heads that get a dot
_WIDTH = 216  # of the head menu, in pixels


def toolbar(view: ViewState, attention: AttentionView) -> None:
    """Draw the choice of the heads, and the display options."""
    with kit.controls("attention"):
        inputs.choice(view, SHOW)
        _head(view, attention)
        with st.container(horizontal=True, gap="small", width="content"):
            _menus(view, attention)


def picture(view: ViewState, attention: AttentionView) -> None:
    """Draw one head, mean or rollout as lines, beside all heads as small pictures."""
    mean = attention.selection.mean
    verb = "attends_to" if mean is None else mean.verb
    left, right = st.columns([8, 5], gap="medium")
    with left:
        attention_lines(
            attention.grid,
            key="attention_lines",
            title=str(attention.title()),
            picked=attention.picked,
            verbs=(say("attention.page.this_token"), say(f"attention.page.{verb}")),
            on_pick=_pick_token,
        )
    with right:
        titles = dict(zip(SORT.options, attention.navigator.sort_titles(), strict=True))
        inputs.select(view, SORT.among(titles))
        _navigator(attention)
    _layer(view, attention)


def words(attention: AttentionView) -> None:
    """Draw the reading, and notes on tokens that were hidden, padded, unknown or cut off."""
    kit.claims(attention.claims(), sure=attention.sure())
    if notes := attention.notes():
        st.caption(" ".join(map(str, notes)))


def heatmap(attention: AttentionView) -> None:
    """Draw all weights of the lines at once, as a heatmap."""
    kit.chart(attention.figure(), key=_CHART, alt=attention.alt())


def explain(attention: AttentionView) -> None:
    """Draw the tabs under the picture."""
    kit.tabs(
        lambda: _numbers(attention),
        lambda: _under_the_hood(attention),
        say("attention.page.limits"),
    )


def downloads(
    attention: AttentionView, place: DeltaGenerator, again: Callable[[], AttentionView]
) -> None:
    """Draw the page's Download menu.

    Args:
        attention: the data of the page.
        place: where the menu is drawn.
        again: recomputes the data for a file, because a session must not hold a reference to it.
    """
    passport = attention.passport
    snippets = [
        (say("page.same_numbers"), attention.snippet()),
        ("", heatmap_script(attention.grid)),
    ]
    with kit.downloads(
        place,
        export.caption(passport),
        page="attention",
        chart=_CHART,
        name=_FILE,
        snippets=snippets,
    ):
        kit.download_files(
            _FILE,
            passport,
            rows=lambda: again().rows(),
            arrays=lambda: again().arrays(),
        )


def _head(view: ViewState, attention: AttentionView) -> None:
    """Draw the head menu, if one head is shown."""
    if attention.selection.scope == "head":
        with st.container(width=_WIDTH, key="attention_head_menu"):
            inputs.select(view, HEAD.among(attention.navigator.titles()))


def _layer(view: ViewState, attention: AttentionView) -> None:
    """Draw the layer control, which keeps the head; hidden for the mean of all heads."""
    chosen, layers = attention.selection, range(1, attention.card.n_layers + 1)
    if chosen.scope == "head":
        keep_head = partial(_pick_head, head=chosen.head)
        layer_bar(view, layers, shown=chosen.layer, on_choose=keep_head)
    elif chosen.scope != "all":
        layer_bar(view, layers, shown=chosen.layer)


def _menus(view: ViewState, attention: AttentionView) -> None:
    with st.popover("Options", icon=":material/tune:", type="tertiary"):
        inputs.choice(view, SPECIAL)
        inputs.choice(view, UNIT)
        if attention.sentence.pair is not None:
            inputs.choice(view, DIRECTION)
        inputs.number(view, PAD.between(0, attention.card.max_length))


def _navigator(attention: AttentionView) -> None:
    navigator = attention.navigator
    selected = navigator.selected
    attention_heads(
        navigator.heads.pictures,
        navigator.texts(),
        key="attention_heads",
        chosen=[] if len(selected) == len(navigator.order) else selected,
        best=navigator.order[:_N_BEST],
        bars=navigator.bars(),
        caption=navigator.caption(),
        on_pick=_pick_head,
    )


def _pick_head(layer: int, head: int) -> None:
    view = SHOW.put(session.current(), SHOW.default)
    session.write(HEAD.put(view, f"{layer}.{head}"))


def _pick_token(side: str, position: int) -> None:
    session.write(TOKEN.put(SIDE.put(session.current(), side), position))


def _numbers(attention: AttentionView) -> None:
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown(say("attention.page.weights"))
        _weights(attention)
    with right:
        st.markdown(say("attention.page.heads"))
        kit.table(attention.navigator.table(), key="attention_heads_table", after=2, height=320)
        st.caption(say("attention.page.heads_caption"))


def _weights(attention: AttentionView) -> None:
    grid = attention.grid
    if len(grid.columns) <= MAX_TABLE_COLUMNS:
        kit.table(grid.table(), key="attention_matrix", after=1, height=320)
        return
    kit.table(grid.picked_table(*attention.picked), key="attention_picked", after=2, height=320)
    rows, columns = grid.weights.shape
    st.caption(say("attention.page.picked_only", rows=rows, columns=columns))


def _under_the_hood(attention: AttentionView) -> None:
    formulas = (attention.formula, GRID_FORMULA, ROLLOUT_FORMULA, HABITS_FORMULA)
    kit.under_the_hood(
        formula=["\n\n".join(formulas)],
        snippet=attention.snippet(),
        passport=attention.passport,
        shapes=lambda: _shapes(attention),
    )


def _shapes(attention: AttentionView) -> None:
    card, (rows, columns) = attention.card, attention.grid.weights.shape
    shape = {"layers": card.n_layers, "heads": card.n_heads, "n": attention.encoding.n_tokens}
    st.markdown(say("attention.page.shapes", **shape, rows=rows, columns=columns))
