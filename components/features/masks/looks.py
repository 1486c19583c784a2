"""Below the picture of Padding & masks: the saving by sorting, and the effect of the limit."""

from __future__ import annotations

import streamlit as st

from components.content.bundled_texts import baseline_sentences
from components.content.language import say, table
from components.content.wording import percent
from components.core import EncoderService, ModelCard
from components.features.masks.compute import (
    Masks,
    over_limit,
    own_savings,
    repetition,
    sample_saving,
)
from components.features.masks.figures import limit_bar
from components.features.masks.reading import (
    cut_title,
    limit_reading,
    saving_reading,
    saving_title,
)
from components.ui.state.view import ViewState
from components.ui.widgets import inputs, kit

__all__ = ["closer"]


def closer(masks: Masks, view: ViewState, service: EncoderService, card: ModelCard) -> None:
    """Two closed sections whose titles already state the finding."""
    left, right = st.columns(2, gap="medium")
    with left:
        _sorting(masks, service, card)
    with right:
        _limit(masks, view, service, card)


def _sorting(masks: Masks, service: EncoderService, card: ModelCard) -> None:
    found = sample_saving(service, card)
    with st.expander(str(saving_title(found)), icon=":material/sort:"):
        st.markdown(str(saving_reading(found, len(baseline_sentences()))))
        st.caption(say("masks.saving.own"))
        names = table("masks.column")
        own = [
            {
                names["size"]: each.size,
                names["given"]: each.given,
                names["by_length"]: each.by_length,
                names["padding"]: percent(each.padding_sorted),
            }
            for each in own_savings(masks)
        ]
        kit.table(own, key="masks_saving")


def _limit(masks: Masks, view: ViewState, service: EncoderService, card: ModelCard) -> None:
    _, row = masks.batch
    question = say("masks.limit.question", token=card.max_length + 1)
    with st.expander(question, icon=":material/content_cut:"):
        times = inputs.number(view, repetition(row, card.max_length))
        found = over_limit(service, card, row.alone, times)
        n_kept, n_cut = found.tokens.n_tokens, found.tokens.n_truncated
        title = str(cut_title(found.tokens))
        kit.chart(
            limit_bar(n_kept, n_cut, limit=found.limit, title=title),
            key="masks_limit",
            alt=say("masks.limit.alt", title=title),
        )
        claims = limit_reading(found.tokens, found.limit, found.n_positions)
        st.markdown(" ".join(map(str, claims)))
