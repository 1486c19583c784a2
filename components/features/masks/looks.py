"""Below the picture of Padding & masks: what sorting saves, and what happens at the limit."""

from __future__ import annotations

import streamlit as st

from components.content.sample import baseline_sentences
from components.content.wording import percent
from components.core import EncoderService, ModelCard
from components.features.masks.compute import (
    Masks,
    over_limit,
    own_savings,
    repetition,
    sample_saving,
)
from components.features.masks.figures.limit import limit_bar
from components.features.masks.reading.limits import (
    cut_title,
    limit_reading,
    limit_title,
    saving_reading,
    saving_title,
)
from components.ui.state.view import ViewState
from components.ui.widgets import inputs, kit

__all__ = ["closer"]


def closer(masks: Masks, view: ViewState, service: EncoderService, card: ModelCard) -> None:
    """Two closed parts whose titles already say what is in them."""
    left, right = st.columns(2, gap="medium")
    with left:
        _sorting(masks, service, card)
    with right:
        _limit(masks, view, service, card)


def _sorting(masks: Masks, service: EncoderService, card: ModelCard) -> None:
    found = sample_saving(service, card)
    with st.expander(saving_title(found), icon=":material/sort:"):
        st.markdown(saving_reading(found, len(baseline_sentences())))
        st.caption("Your own sentences, each batch padded to its longest:")
        own = [
            {
                "batches of": each.size,
                "positions": each.given,
                "sorted": each.by_length,
                "padding left": percent(each.padding_sorted),
            }
            for each in own_savings(masks)
        ]
        kit.table(own, key="masks_saving")


def _limit(masks: Masks, view: ViewState, service: EncoderService, card: ModelCard) -> None:
    _, row = masks.batch
    with st.expander(limit_title(card.max_length), icon=":material/content_cut:"):
        times = inputs.number(view, repetition(row, card.max_length))
        found = over_limit(service, card, row.alone, times)
        n_kept, n_cut = found.tokens.n_tokens, found.tokens.n_truncated
        title = cut_title(found.tokens)
        kit.chart(
            limit_bar(n_kept, n_cut, limit=found.limit, title=title),
            key="masks_limit",
            alt=f"{title}. What fits, and what is cut off.",
        )
        said = limit_reading(found.tokens, found.limit, found.position_rows, found.first_row)
        st.markdown(" ".join(said))
