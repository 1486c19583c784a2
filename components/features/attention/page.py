"""The parts of the Attention page: toolbar, navigator, lines and heatmap, reading."""

from __future__ import annotations

import numpy as np
import streamlit as st

from components.features.attention.compute import (
    DIRECTIONS,
    LOOKS,
    PAGE,
    SORTS,
    SPECIALS,
    UNITS,
    AttentionView,
    index_of,
)
from components.features.attention.explain import ROLLOUT
from components.features.attention.figures import attention_heatmap
from components.features.attention.measures.heads import HABITS
from components.features.attention.reading.weights import attention_reading, attention_title
from components.features.attention.widgets.heads import Bar, attention_heads
from components.features.attention.widgets.lines import attention_lines
from components.ui.state import session
from components.ui.state.view import ViewState
from components.ui.widgets import inputs, kit, sentences

__all__ = ["CHART", "habit_names", "picture", "terms", "toolbar", "words"]

CHART = "attention_heatmap"
_BEST = 5  # heads with a dot
_WIDTH = 216  # of the choice of head or layer, in pixels


def toolbar(view: ViewState, what: AttentionView) -> None:
    """Which sentence, what of its attention, and how it is shown."""
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom", key="att_bar"):
        inputs.sentence_choice(view, PAGE)
        inputs.choice(
            view,
            PAGE,
            "show",
            list(LOOKS),
            "Show",
            help=f"Layer and All are means over heads. {ROLLOUT}",
        )
        if what.shown.show == "head":
            with st.container(width=_WIDTH):
                inputs.select(view, PAGE, "head", _head_titles(what), "Head, sorted")
        elif what.shown.show != "all" and what.card.n_layers > 1:
            with st.container(width=_WIDTH):
                inputs.layer_slider(view, range(1, what.card.n_layers + 1), key="attention_layer")
        with st.container(horizontal=True, gap="small", width="content"):
            _menus(view, what)


def _menus(view: ViewState, what: AttentionView) -> None:
    with st.popover("Edit", icon=":material/edit:", type="tertiary"):
        sentences.sentence_editor(view, "sentences", where="page", least=1)
        if view.sentences:
            sentences.pair_field(view, index_of(view), key="page_pair")
    with st.popover("Options", icon=":material/tune:", type="tertiary"):
        _options(view, what)


def picture(view: ViewState, what: AttentionView) -> None:
    """All heads small; one head, mean or rollout large, as lines and as a heatmap."""
    left, middle, right = st.columns([10, 13, 12], gap="medium")
    with left:
        names = dict(zip(SORTS, _sort_names(what), strict=True))
        inputs.select(view, PAGE, "sort", names, "Sort heads by")
        _navigator(what)
    with middle:
        attention_lines(
            what.grid,
            key="attention_lines",
            picked=what.picked,
            verbs=_verbs(what),
            on_pick=_pick_token,
        )
    with right:
        title = attention_title(what.shown, what.grid)
        st.plotly_chart(
            attention_heatmap(
                what.grid.weights,
                [item.label for item in what.grid.rows],
                [item.label for item in what.grid.columns],
                title=title,
                marked=what.picked,
                height=396,
            ),
            key=CHART,
            config={"displayModeBar": False, "displaylogo": False},
            alt=f"{title}. Attention from each token, in rows, to each token, in columns; "
            "the table has the numbers.",
        )


def words(what: AttentionView) -> None:
    """The reading."""
    kit.reading(attention_reading(what.shown, what.grid, what.picked))


def terms() -> None:
    """The terms that the page uses, each with its meaning at hand."""
    kit.terms("attention", "head", "layer", "token", "special token", "attention rollout")


def habit_names(what: AttentionView) -> list[str]:
    """The habits, with this model's own special tokens."""
    names = what.shown.names
    return ["previous token", "next token", names["first"], names["separators"], "same word"]


def _sort_names(what: AttentionView) -> list[str]:
    return [*habit_names(what), "widest spread", "narrowest spread"]


def _options(view: ViewState, what: AttentionView) -> None:
    inputs.choice(
        view,
        PAGE,
        "special",
        list(SPECIALS),
        "Special tokens and padding",
        help="Hidden, rows keep their values and no longer sum to 1, unless they are divided by "
        "what is left.",
    )
    inputs.choice(
        view,
        PAGE,
        "unit",
        UNITS,
        "Rows and columns",
        help="A word gets the sum of its sub-tokens' weights, and gives the mean of theirs.",
    )
    if what.sentence.pair is not None:
        inputs.choice(view, PAGE, "direction", list(DIRECTIONS), "From which text to which")
    inputs.number(
        view,
        PAGE,
        "pad",
        "Pad to (0: no padding)",
        between=(0, what.card.max_length),
        default=0,
        help="Adds padding, to see that nothing looks at it.",
    )


def _head_titles(what: AttentionView) -> dict[str, str]:
    column = HABITS.index("entropy" if what.sort == "focus" else what.sort)
    unit = " bits" if HABITS[column] == "entropy" else ""
    return {
        f"{layer}.{head}": f"Layer {layer}, head {head} · "
        f"{what.heads.habits[layer - 1, head, column]:.2f}{unit}"
        for layer, head in what.order
    }


def _navigator(what: AttentionView) -> None:
    n_layers, n_heads = what.heads.habits.shape[:2]
    chosen = _chosen(what, n_layers, n_heads)
    attention_heads(
        what.heads.pictures,
        _said_of_heads(what),
        key="attention_heads",
        chosen=[] if len(chosen) == n_layers * n_heads else chosen,
        best=what.order[:_BEST],
        bars=_bars(what),
        caption=_bars_caption(what),
        on_pick=_pick_head,
    )


def _said_of_heads(what: AttentionView) -> list[list[str]]:
    column = HABITS.index("entropy" if what.sort == "focus" else what.sort)
    name = [*habit_names(what), "entropy"][column]
    unit = " bits" if column == len(HABITS) - 1 else ""
    return [[f"{name} {value:.4f}{unit}" for value in row[:, column]] for row in what.heads.habits]


def _chosen(what: AttentionView, n_layers: int, n_heads: int) -> list[tuple[int, int]]:
    shown = what.shown
    if shown.show == "head":
        return [(shown.layer, shown.head)]
    layers = {"layer": [shown.layer], "rollout": range(1, shown.layer + 1)}
    chosen = layers.get(shown.show, range(1, n_layers + 1))
    return [(layer, head) for layer in chosen for head in range(n_heads)]


def _bars(what: AttentionView) -> list[Bar]:
    n_layers, n_heads = what.heads.habits.shape[:2]
    chosen = _chosen(what, n_layers, n_heads)
    own = np.mean([what.heads.habits[layer - 1, head] for layer, head in chosen], axis=0)
    widest = float(what.heads.even[-1]) or 1.0
    shares = zip(habit_names(what), own[:-1], what.heads.even[:-1], strict=True)
    return [
        *(Bar(name, float(value), float(even), f"{value:.2f}") for name, value, even in shares),
        Bar("entropy", float(own[-1]) / widest, 1.0, f"{own[-1]:.2f} bits"),
    ]


def _bars_caption(what: AttentionView) -> str:
    shown = what.shown
    return {
        "head": f"Layer {shown.layer}, head {shown.head}: share of attention on",
        "layer": f"Layer {shown.layer}, mean of its heads: share on",
        "all": "Mean of all heads: share on",
    }.get(shown.show, f"Mean of layers 1 to {shown.layer}: share on")


def _verbs(what: AttentionView) -> tuple[str, str]:
    rollout = what.shown.show == "rollout"
    return ("this position …", "… is made of") if rollout else ("this token …", "… looks at")


def _pick_head(layer: int, head: int) -> None:
    view = session.current().with_control(PAGE, "show", "One head", "One head")
    session.write(view.with_control(PAGE, "head", f"{layer}.{head}", ""))


def _pick_token(side: str, position: int) -> None:
    view = session.current().with_control(PAGE, "side", side, "from")
    session.write(view.with_control(PAGE, "token", position, -1))
