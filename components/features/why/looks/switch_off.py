"""Switch off: what each head, layer's attention and feed-forward holds of the score."""

from __future__ import annotations

import streamlit as st

from components.content.language import say
from components.content.wording import two
from components.features.why.compute.switch_off import Head, SwitchedOff
from components.features.why.figures.heads import switched_off
from components.features.why.links import on_head
from components.features.why.looks.frame import CHART, HEIGHT
from components.features.why.reading import title_of
from components.ui.frame import navigation
from components.ui.state.view import ViewState
from components.ui.widgets import kit

__all__ = ["draw_switched_off"]

_STRONGEST = 10


def draw_switched_off(view: ViewState, shown: SwitchedOff) -> None:
    """All heads as a grid, whole parts as bars, and the strongest heads as links to Attention."""
    if not shown.layers:
        st.info(say("why.switch_off.empty"), icon=":material/layers:")
        return
    left, right = st.columns([8, 3], gap="medium")
    with left:
        title = str(title_of(shown))
        figure = switched_off(
            shown.heads, shown.attention, shown.feed_forward, title=title, height=HEIGHT
        )
        kit.chart(figure, key=CHART, alt=say("why.switch_off.alt", title=title))
    with right, st.container(key="why_heads", gap="xsmall"):
        st.caption(say("why.switch_off.strongest"))
        for head in shown.strongest(_STRONGEST):
            opened = on_head(view, shown.score.first.letter, head.layer, head.head)
            navigation.link(
                navigation.row("attention"), opened, label=_label(shown, head),
                icon=":material/hub:",
            )  # fmt: skip


def _label(shown: SwitchedOff, head: Head) -> str:
    """A head, its change, and where it is a mean over pairs, in how many it has that sign."""
    change = two(head.change).replace("-", "\N{MINUS SIGN}")
    sign = "+" if head.change > 0 and change != "0.00" else ""
    agreed = f" · {head.n_alike} of {shown.n_pairs}" if shown.n_pairs > 1 else ""
    return f"layer {head.layer}, head {head.head}: {sign}{change}{agreed}"
