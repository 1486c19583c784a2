"""Below the picture of Padding & masks: what sorting saves, and what happens at the limit."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from components.content.sample import baseline_sentences
from components.core import EncoderService, ModelCard
from components.features.masks.compute import Masks, over_limit, repeats, sample_saving
from components.features.masks.figures.limit import limit_bar
from components.features.masks.measures.laboratory import saving
from components.features.masks.reading import (
    cut_title,
    limit_reading,
    limit_title,
    percent,
    saving_reading,
    saving_title,
)
from components.ui.state.view import ViewState
from components.ui.widgets import inputs

__all__ = ["more"]

PAGE = "masks"


def more(masks: Masks, view: ViewState, service: EncoderService, card: ModelCard) -> None:
    """Two closed parts whose titles already say what is in them."""
    found = sample_saving(service, card)
    left, right = st.columns(2, gap="medium")
    with left, st.expander(saving_title(found), icon=":material/sort:"):
        st.markdown(saving_reading(found, len(baseline_sentences())))
        _own_batches(masks)
    with right, st.expander(limit_title(card.max_length), icon=":material/content_cut:"):
        _limit(masks, view, service, card)


def _own_batches(masks: Masks) -> None:
    """The same for the view's own sentences."""
    lengths = masks.lab.lengths if masks.lab else []
    sizes = [n for n in (1, 2, 4, 8) if n < 2 * len(lengths)]
    rows = [saving(lengths, n) for n in sizes]
    st.caption("Your own sentences, each batch padded to its longest:")
    st.dataframe(
        pd.DataFrame(
            {
                "batches of": [r.size for r in rows],
                "positions": [r.given for r in rows],
                "sorted": [r.by_length for r in rows],
                "padding left": [percent(r.padding_sorted) for r in rows],
            }
        ),
        hide_index=True,
        key="masks_saving",
    )


def _limit(masks: Masks, view: ViewState, service: EncoderService, card: ModelCard) -> None:
    if masks.row is None:
        return
    least, most = repeats(masks.row.alone, card.max_length)
    times = inputs.number(
        view,
        PAGE,
        "repeat",
        f"Say sentence {masks.row.label} this many times over",
        between=(1, most),
        default=least,
    )
    found = over_limit(service, card, masks.row.alone, times)
    title = cut_title(found.tokens)
    st.plotly_chart(
        limit_bar(found.tokens.n_tokens, found.tokens.n_truncated, limit=found.limit, title=title),
        key="masks_limit",
        config={"displayModeBar": False, "displaylogo": False},
        alt=f"{title}. What fits, and what is cut off.",
    )
    st.markdown(" ".join(limit_reading(found.tokens, found.limit, found.position_rows)))
