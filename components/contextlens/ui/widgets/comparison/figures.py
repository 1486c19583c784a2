"""A comparison as a figure. No streamlit in here."""

from __future__ import annotations

from plotly import graph_objects as go

from contextlens.figures.similarity import cosine_lines
from contextlens.ui.widgets.comparison.compute import Portrait
from contextlens.ui.widgets.comparison.reading import meaning_title


def portrait_lines(portrait: Portrait, *, height: int = 400) -> go.Figure:
    """Return the cosine of each pair over the layers, with the finding as its title."""
    return cosine_lines(
        portrait.comparison,
        portrait.pairs,
        layer=portrait.layer,
        band=portrait.meaning.shared_band,
        scale=portrait.scale,
        title=str(meaning_title(portrait.comparison)),
        height=height,
    )
