"""The Attention page: toolbar, lines, navigator, reading, heatmap, tabs and downloads."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from contextlens.content.language import say
from contextlens.features.attention.attention import AttentionView
from contextlens.features.attention.controls import (
    DIRECTION,
    HEAD,
    LARGE,
    MAX_TABLE_COLUMNS,
    OTHER,
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
from contextlens.features.attention.lines_drawing import lines_drawing
from contextlens.features.attention.rollout import FORMULA as ROLLOUT_FORMULA
from contextlens.features.attention.widgets import attention_heads, attention_lines
from contextlens.ui.state import session
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets import export, inputs, kit
from contextlens.ui.widgets.layer_bar import layer_bar

_FILE = "attention"
_CHART = "attention_heatmap"


def toolbar(view: ViewState, attention: AttentionView) -> None:
    """Draw the choice of the heads, and the display options."""
    with kit.controls("attention"):
        inputs.choice(view, SHOW)
        with st.container(horizontal=True, gap="small", width="content"):
            _menus(view, attention)


def headline(attention: AttentionView) -> None:
    """Draw the finding and its number."""
    kit.headline(attention.headline(), *attention.claims(), key="reading", is_long=True)


def picture(view: ViewState, attention: AttentionView) -> None:
    """Draw one head, mean or rollout as lines, beside the grid in which heads are found."""
    mean = attention.selection.mean
    left, right = st.columns([8, 5], gap="medium")
    with left:
        pick = attention.pick
        attention_lines(
            attention.grid,
            key="attention_lines",
            picked=(pick.side, pick.row, pick.column),
            verbs=_verbs(attention),
            hint=say("attention.page.lines_hint"),
            on_pick=_picker(attention),
        )
    with right:
        titles = dict(zip(SORT.options, attention.navigator.sort_titles(), strict=True))
        inputs.select(view, SORT.among(titles))
        _navigator(attention)
    if mean is not None and attention.selection.scope != "all":
        layer_bar(view, range(1, attention.card.n_layers + 1), shown=attention.selection.layer)


def _verbs(attention: AttentionView) -> tuple[str, str]:
    """The headings of the two columns of tokens."""
    mean = attention.selection.mean
    verb = "takes_in" if mean is None else mean.verb
    return say("attention.page.this_token"), say(f"attention.page.{verb}")


def words(attention: AttentionView) -> None:
    """Draw what the number does not tell, and notes on tokens that were hidden or cut off."""
    kit.claims([], sure=attention.sure(), key="reading_sure")
    if notes := attention.notes():
        st.caption(" ".join(map(str, notes)))


def large_picture(view: ViewState, attention: AttentionView) -> None:
    """Draw all weights of what is shown as a heatmap, or all heads as small squares."""
    if inputs.choice(view, LARGE) == "heads":
        figure, alt = attention.all_heads_figure(), say("attention.page.all_heads_alt")
    else:
        figure, alt = attention.figure(), attention.alt()
    kit.chart(figure, key=_CHART, alt=alt)


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
    passport, selection = attention.passport, attention.selection
    snippets = [
        (say("page.same_numbers"), attention.snippet()),
        ("", heatmap_script(attention.grid)),
    ]
    kit.downloads(
        place,
        export.caption(passport),
        page="attention",
        layer=selection.layer if selection.scope in {"head", "layer"} else None,
        chart=_CHART,
        report_svg=lines_drawing(attention.grid, attention.pick, _verbs(attention)),
        name=_FILE,
        snippets=snippets,
        files=lambda: kit.download_files(
            _FILE,
            passport,
            rows=lambda: again().rows(),
            arrays=lambda: again().arrays(),
        ),
    )


def _menus(view: ViewState, attention: AttentionView) -> None:
    with kit.menu():
        inputs.choice(view, SPECIAL)
        inputs.choice(view, UNIT)
        if attention.sentence.pair is not None:
            inputs.choice(view, DIRECTION)
        inputs.number(view, PAD.between(0, attention.card.max_length))


def _navigator(attention: AttentionView) -> None:
    navigator = attention.navigator
    selected = navigator.selected
    attention_heads(
        navigator.shades(),
        navigator.texts(),
        key="attention_heads",
        chosen=[] if len(selected) == len(navigator.order) else selected,
        listed=navigator.listed(),
        caption=say("attention.page.heads_hint"),
        on_pick=_head_picker(attention),
    )


def _head_picker(attention: AttentionView) -> Callable[[int, int], None]:
    """Return what chooses a head and keeps the words. The first one, the default, follows them."""
    first, row = attention.navigator.order[0], _positions(attention)["from"]
    column = _positions(attention)["to"]

    def pick_head(layer: int, head: int) -> None:
        view = SHOW.put(session.current(), SHOW.default)
        if TOKEN.of(view) == TOKEN.default:
            view = OTHER.put(TOKEN.put(view, row), column)
        session.write(HEAD.put(view, "" if (layer, head) == first else f"{layer}.{head}"))

    return pick_head


def _positions(attention: AttentionView) -> dict[str, int]:
    """The position of the chosen token on each side."""
    grid, pick = attention.grid, attention.pick
    return {
        "from": grid.rows[pick.row].positions[0],
        "to": grid.columns[pick.column].positions[0],
    }


def _picker(attention: AttentionView) -> Callable[[str, int], None]:
    """Return what chooses a token on one side and keeps that of the other."""
    chosen = _positions(attention)
    others = {"from": chosen["to"], "to": chosen["from"]}

    def pick_token(side: str, position: int) -> None:
        view = OTHER.put(session.current(), others[side])
        session.write(TOKEN.put(SIDE.put(view, side), position))

    return pick_token


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
    kit.table(
        grid.picked_table(attention.pick.side, attention.pick.index),
        key="attention_picked",
        after=2,
        height=320,
    )
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
