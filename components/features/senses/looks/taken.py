"""Which sense is taken for which at the layer shown."""

from __future__ import annotations

import streamlit as st

from components.content.language import claim, say
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
    title = say("senses.mixups.title", layer=own.layer, right=own.right, n=own.n)
    left, right = st.columns([3, 2], gap="medium", vertical_alignment="center")
    with left:
        figure = confusion_heatmap(own, trial.senses, title=title)
        kit.chart(figure, key="senses_taken", alt=say("senses.mixups.alt", title=title))
    with right:
        numbers = {"share": own.accuracy, "right": own.right, "n": own.n}
        claims = [claim("senses.mixups.share", layer=own.layer, **numbers)]
        kit.reading(claims, key="reading_taken")
        if len(trial.senses) > MAX_CONFUSED:
            st.caption(say("senses.mixups.most", most=MAX_CONFUSED, n=len(trial.senses)))
