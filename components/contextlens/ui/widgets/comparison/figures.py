"""A comparison as a figure. No streamlit in here."""

from __future__ import annotations

from plotly import graph_objects as go

from contextlens.figures.similarity import cosine_lines
from contextlens.ui.widgets.comparison.compute import Portrait


def portrait_lines(portrait: Portrait, *, title: str = "", height: int = 400) -> go.Figure:
    """Return the cosine of each pair over the layers; a page has the finding above it."""
    return cosine_lines(
        portrait.comparison,
        portrait.pairs,
        layer=portrait.layer,
        band=portrait.meaning.shared_band,
        scale=portrait.scale,
        title=title,
        height=height,
    )
