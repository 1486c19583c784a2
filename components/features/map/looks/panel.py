"""Which of the three looks stands beside a map."""

from __future__ import annotations

from components.analysis.baseline import Band
from components.analysis.ruler import Ruler
from components.features.map.compute.shown import MapShown
from components.features.map.controls import PANEL, POINT_PANEL, TRUST
from components.features.map.looks.point import point_look
from components.features.map.looks.selection import selection_look
from components.features.map.looks.trust import trust_look
from components.ui.state.view import ViewState
from components.ui.widgets import inputs

__all__ = ["panel"]


def panel(view: ViewState, shown: MapShown, band: Band | None, ruler: Ruler | None) -> None:
    """One of the three; a click or a selection on the map opens its own.

    Args:
        view: what is chosen.
        shown: the map.
        band: cosines of random pairs of words, where they serve.
        ruler: cosines of labelled pairs of words, where two are pinned.
    """
    look = inputs.choice(view, PANEL)
    if look == TRUST:
        trust_look(shown)
    elif look == POINT_PANEL:
        point_look(shown, band, ruler)
    else:
        selection_look(view, shown)
