"""A sentence of the visitor's own: its nearest contexts, and the closest sense or group."""

from __future__ import annotations

import streamlit as st

from components.analysis.baseline import Band
from components.content.language import say
from components.content.wording import escape
from components.features.senses.compute.concordance import lines_at
from components.features.senses.compute.own import Own
from components.features.senses.compute.shown import Shown
from components.features.senses.controls import OWN
from components.features.senses.page import marks
from components.features.senses.page.concordance import random_mean
from components.features.senses.page.opened import get_model, model_card
from components.features.senses.reading import own_claims, own_sure
from components.features.senses.widgets.concordance import Cosines, Row, concordance_lines
from components.ui.state.view import ViewState
from components.ui.widgets import inputs, kit

__all__ = ["own_look"]


def own_look(view: ViewState, shown: Shown, band: Band | None) -> None:
    """The field, and once something is typed what it is near to."""
    inputs.text(view, OWN)
    if not OWN.of(view).strip():
        st.caption(say("senses.own.empty"))
        return
    if model_card(shown.corpus) is None:
        if get_model(shown.corpus):
            st.rerun()  # now that it is there, the sentence counts above too
        return
    own = shown.senses.own
    if own is None:
        return
    if own.problem:
        st.info(escape(own.problem), icon=":material/info:")
        return
    claims = own_claims(own, shown.senses.found, shown.senses.layer)
    kit.reading(claims, sure=own_sure(own), key="reading_own")
    _near(shown, own, band)


def _near(shown: Shown, own: Own, band: Band | None) -> None:
    senses, rows = shown.senses, shown.rows
    lines = lines_at(senses.found, senses.grouping.groups, own.cosines, own.near)
    random = random_mean(shown, band)
    concordance_lines(
        [Row(line, shown.color(line.place), shown.mark(line.place)) for line in lines],
        key="senses_near",
        name="The contexts nearest to your sentence",
        marked_by=shown.picture.by,
        chosen=None if senses.chosen is None else shown.every_row[senses.chosen],
        cosines=Cosines("cosine", random),
        on_pick=lambda picked: marks.choose(picked, rows),
    )
    if random is not None:
        st.caption(say("senses.own.mark"))
