"""The Report page: the views that the visitor collected, in the browser alone."""

from __future__ import annotations

import streamlit as st

from contextlens.content.language import say, table
from contextlens.ui.frame import present
from contextlens.ui.widgets.component import component


def draw_report() -> None:
    """Draw the report: its views to order, retitle, annotate and remove, and ways to save it.

    The browser keeps them (`ui/widgets/assets/report_store.js`); the server never has them.
    """
    if not present.is_on():
        st.caption(say("report.privacy"))  # above, as what the browser keeps comes later
    data = {"words": dict(table("report")), "presented": present.is_on()}
    component("contextlens.features.report", "report", data, key="report")
