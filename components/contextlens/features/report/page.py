"""The Report page: the views that the visitor collected, in the browser alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import streamlit as st

from contextlens.content.glossary import unmarked
from contextlens.content.language import say, table
from contextlens.ui.frame import present
from contextlens.ui.widgets.component import component


@dataclass(frozen=True)
class ExampleView:
    """A view of the example, which an empty report shows.

    Attributes:
        title: its title.
        claim: the finding; Markdown. "" if the title has it.
        svg: the picture, which draws in `currentColor`.
    """

    title: str
    claim: str
    svg: str


def draw_report(examples: Sequence[ExampleView]) -> None:
    """Draw the report: its views to order, retitle, annotate and remove, and ways to save it.

    The browser keeps them (`ui/widgets/assets/report_store.js`); the server never has them.

    Args:
        examples: the views that are shown while there are no others.
    """
    if not present.is_on():
        st.caption(say("report.privacy"))  # above, as what the browser keeps comes later
    data = {"words": dict(table("report")), "presented": present.is_on()}
    data["examples"] = [
        {**asdict(example), "claim": unmarked(example.claim)} for example in examples
    ]
    component("contextlens.features.report", "report", data, key="report")
