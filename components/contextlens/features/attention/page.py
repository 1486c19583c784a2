"""The Attention page: toolbar, lines, navigator, reading, heatmap, tabs and downloads."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from contextlens.content.language import say
from contextlens.features.attention import compute
from contextlens.features.attention.compute import (
    AttentionView,
    habit_names,
    habit_texts,
    habits_caption,
    head_titles,
    sort_titles,
)
from contextlens.features.attention.controls import (
    DIRECTION,
    HEAD,
    PAD,
    SENTENCE,
    SHOW,
    SIDE,
    SORT,
    SPECIAL,
    TOKEN,
    UNIT,
)
from contextlens.features.attention.explain import FORMULA
from contextlens.features.attention.figures import heatmap_of
from contextlens.features.attention.measures import selected_heads
from contextlens.features.attention.reading import (
    attention_notes,
    attention_reading,
    attention_sure,
    attention_title,
)
from contextlens.features.attention.snippet import attention_picture, attention_snippet
from contextlens.features.attention.widgets import HabitBar, attention_heads, attention_lines
from contextlens.ui.state import session
from contextlens.ui.state.controls import sentence_index
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets import export, inputs, kit, sentences
from contextlens.ui.widgets.layer_bar import layer_bar

_FILE = "attention"
_CHART = "attention_heatmap"
_BEST = 5  # heads that get a dot
_WIDTH = 216  # of the head menu, in pixels
_MOST_COLUMNS = 64  # of a table that is sent in full


def toolbar(view: ViewState, attention: AttentionView) -> None:
    """The controls: the sentence, the heads, the editor and the display options."""
    with kit.controls("attention"):
        inputs.sentence(view, SENTENCE)
        inputs.choice(view, SHOW)
        _head(view, attention)
        with st.container(horizontal=True, gap="small", width="content"):
            _menus(view, attention)


def picture(view: ViewState, attention: AttentionView) -> None:
    """One head, mean or rollout as lines, beside all heads as small pictures."""
    left, right = st.columns([8, 5], gap="medium")
    with left:
        attention_lines(
            attention.grid,
            key="attention_lines",
            title=str(attention_title(attention.selection, attention.grid)),
            picked=attention.picked,
            verbs=_verbs(attention),
            on_pick=_pick_token,
        )
    with right:
        titles = dict(zip(SORT.options, sort_titles(attention), strict=True))
        inputs.select(view, SORT.among(titles))
        _navigator(attention)
    _layer(view, attention)


def words(attention: AttentionView) -> None:
    """The reading."""
    selection = attention.selection
    claims = attention_reading(selection, attention.grid, attention.picked)
    kit.reading(claims, sure=attention_sure(selection))


def notes(attention: AttentionView) -> None:
    """Notes on tokens that were hidden, padded, unknown or cut off."""
    claims = attention_notes(attention)
    if claims:
        st.caption(" ".join(map(str, claims)))


def explain(attention: AttentionView) -> None:
    """The tabs under the picture."""
    kit.tabs(
        lambda: _numbers(attention),
        lambda: _under_the_hood(attention),
        say("attention.page.limits"),
    )


def downloads(
    attention: AttentionView, place: DeltaGenerator, again: Callable[[], AttentionView]
) -> None:
    """The page's Download menu.

    Args:
        attention: the data of the page.
        place: where the menu is drawn.
        again: recomputes the data for a file, because a session must not hold a reference to it.
    """
    passport = attention.passport
    snippets = [
        (say("page.same_numbers"), _snippet(attention)),
        ("", attention_picture(attention.grid)),
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
            rows=lambda: compute.weight_rows(again()),
            arrays=lambda: compute.arrays(again()),
        )


def _head(view: ViewState, attention: AttentionView) -> None:
    """The head menu, if one head is shown."""
    if attention.selection.scope == "head":
        with st.container(width=_WIDTH, key="attention_head_menu"):
            inputs.select(view, HEAD.among(head_titles(attention)))


def _layer(view: ViewState, attention: AttentionView) -> None:
    """The layer control, which keeps the head; hidden for the mean of all heads."""
    chosen, layers = attention.selection, range(1, attention.card.n_layers + 1)
    if chosen.scope == "head":
        keep_head = partial(_pick_head, head=chosen.head)
        layer_bar(view, layers, shown=chosen.layer, on_choose=keep_head)
    elif chosen.scope != "all":
        layer_bar(view, layers, shown=chosen.layer)


def _menus(view: ViewState, attention: AttentionView) -> None:
    with st.popover("Edit", icon=":material/edit:", type="tertiary"):
        sentences.sentence_editor(view, "sentences", where="page", least=1)
        if view.sentences:
            sentences.pair_field(view, sentence_index(view, SENTENCE), key="page_pair")
    with st.popover("Options", icon=":material/tune:", type="tertiary"):
        inputs.choice(view, SPECIAL)
        inputs.choice(view, UNIT)
        if attention.sentence.pair is not None:
            inputs.choice(view, DIRECTION)
        inputs.number(view, PAD.between(0, attention.card.max_length))


def _navigator(attention: AttentionView) -> None:
    selected = selected_heads(attention.heads, attention.selection)
    attention_heads(
        attention.heads.pictures,
        habit_texts(attention),
        key="attention_heads",
        chosen=[] if len(selected) == len(attention.order) else selected,
        best=attention.order[:_BEST],
        bars=_bars(attention, selected),
        caption=habits_caption(attention),
        on_pick=_pick_head,
    )


def _bars(attention: AttentionView, selected: list[tuple[int, int]]) -> list[HabitBar]:
    """The mean habits of the selected heads, beside those of evenly spread attention."""
    heads, names = attention.heads, habit_names(attention.selection)
    means = np.mean([heads.habits[layer - 1, head] for layer, head in selected], axis=0).tolist()
    *even, widest = heads.even.tolist()
    bits, entropy = means.pop(), say("attention.habit.entropy")
    return [
        *(
            HabitBar(name, value, expected, say("attention.bars.share", value=value))
            for name, value, expected in zip(names, means, even, strict=True)
        ),
        HabitBar(entropy, bits / (widest or 1.0), 1.0, say("attention.bars.bits", value=bits)),
    ]


def _verbs(attention: AttentionView) -> tuple[str, str]:
    rollout = attention.selection.scope == "rollout"
    verb = say("attention.page.draws_on" if rollout else "attention.page.attends_to")
    return say("attention.page.this_token"), verb


def heatmap(attention: AttentionView) -> None:
    """All weights of the lines at once, as a heatmap."""
    title = str(attention_title(attention.selection, attention.grid))
    alt = say("attention.page.alt", title=title)
    kit.chart(heatmap_of(attention), key=_CHART, alt=alt)


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
        table = compute.heads_table(attention)
        kit.table(table, key="attention_heads_table", after=2, height=320)
        st.caption(say("attention.page.heads_caption"))


def _weights(attention: AttentionView) -> None:
    grid = attention.grid
    if len(grid.columns) <= _MOST_COLUMNS:
        table = compute.weights_table(attention)
        kit.table(table, key="attention_matrix", after=1, height=320)
        return
    table = compute.picked_table(attention)
    kit.table(table, key="attention_picked", after=2, height=320)
    rows, columns = grid.weights.shape
    st.caption(say("attention.page.picked_only", rows=rows, columns=columns))


def _under_the_hood(attention: AttentionView) -> None:
    kit.under_the_hood(
        formula=[FORMULA],
        snippet=_snippet(attention),
        passport=attention.passport,
        shapes=lambda: _shapes(attention),
    )


def _snippet(attention: AttentionView) -> str:
    return attention_snippet(
        attention.card,
        attention.encoding,
        attention.selection,
        attention.grid,
        attention.pad_to or 0,
    )


def _shapes(attention: AttentionView) -> None:
    card, (rows, columns) = attention.card, attention.grid.weights.shape
    shape = {"layers": card.n_layers, "heads": card.n_heads, "n": attention.encoding.n_tokens}
    st.markdown(say("attention.page.shapes", **shape, rows=rows, columns=columns))
