"""Which sense is taken for which at the layer shown."""

from __future__ import annotations

import streamlit as st

from components.content.wording import percent
from components.features.senses.compute.shown import Shown
from components.features.senses.figures.curve import MAX_CONFUSED, confusion_heatmap
from components.ui.widgets import kit
from components.ui.widgets.sense_claims import senses_claim

__all__ = ["taken_look"]


def taken_look(shown: Shown) -> None:
    """The counts, senses down and names across; why there are none where nothing is tested."""
    senses = shown.senses
    own, trial = senses.separation, senses.found.trial
    if own is None:
        st.caption(" ".join(senses_claim(senses.found.word, (), trial, senses.layer)))
        return
    title = f"Layer {own.layer}: {own.right:,} of {own.n:,} get the right sense"
    left, right = st.columns([3, 2], gap="medium", vertical_alignment="center")
    with left:
        figure = confusion_heatmap(own, trial.senses, title=title)
        kit.chart(figure, key="senses_taken", alt=f"{title}. How often each sense is taken for "
                  "each other one.")  # fmt: skip
    with right:
        claim = "At layer {layer}, **{share}** of the uses get the right sense ({right} of {n})."
        numbers = {"layer": own.layer, "right": f"{own.right:,}", "n": f"{own.n:,}"}
        kit.reading([claim.format(share=percent(own.accuracy), **numbers)], key="reading_taken")
        if len(trial.senses) > MAX_CONFUSED:
            st.caption(f"The {MAX_CONFUSED} most frequent of {len(trial.senses):,} senses.")
