"""Below the picture of Padding & masks: the saving by sorting, and the effect of the limit."""

from __future__ import annotations

import streamlit as st

from contextlens.content.bundled_texts import baseline_sentences
from contextlens.content.language import say, table
from contextlens.content.wording import percent
from contextlens.core import EncoderService, ModelCard
from contextlens.features.masks.compute import (
    Masks,
    over_limit,
    own_savings,
    repetition,
    sample_saving,
)
from contextlens.features.masks.figures import limit_bar
from contextlens.features.masks.reading import (
    cut_title,
    limit_reading,
    saving_reading,
    saving_title,
)
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets import inputs, kit


def closer(masks: Masks, view: ViewState, service: EncoderService, card: ModelCard) -> None:
    """Two closed sections: the saving by sorting, and the effect of the model's limit."""
    left, right = st.columns(2, gap="medium")
    with left:
        _sorting(masks, service, card)
    with right:
        _limit(masks, view, service, card)


def _sorting(masks: Masks, service: EncoderService, card: ModelCard) -> None:
    of_sample = sample_saving(service, card)
    with st.expander(str(saving_title(of_sample)), icon=":material/sort:"):
        st.markdown(str(saving_reading(of_sample, len(baseline_sentences()))))
        st.caption(say("masks.saving.own"))
        names = table("masks.column")
        rows = [
            {
                names["size"]: saving.size,
                names["given"]: saving.given,
                names["by_length"]: saving.by_length,
                names["padding"]: percent(saving.padding_sorted),
            }
            for saving in own_savings(masks)
        ]
        kit.table(rows, key="masks_saving")


def _limit(masks: Masks, view: ViewState, service: EncoderService, card: ModelCard) -> None:
    row = masks.chosen_row
    question = say("masks.limit.question", token=card.max_length + 1)
    with st.expander(question, icon=":material/content_cut:"):
        times = inputs.number(view, repetition(row, card.max_length))
        over = over_limit(service, card, row.alone, times)
        n_kept, n_cut = over.tokens.n_tokens, over.tokens.n_truncated
        title = str(cut_title(over.tokens))
        kit.chart(
            limit_bar(n_kept, n_cut, limit=over.limit, title=title),
            key="masks_limit",
            alt=say("masks.limit.alt", title=title),
        )
        claims = limit_reading(over.tokens, over.limit, over.n_positions)
        st.markdown(" ".join(map(str, claims)))
