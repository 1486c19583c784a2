"""What stands around the picture of Pairs: controls above it; terms, tabs and downloads below."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.content.language import say
from components.core import ModelCard
from components.features.pairs import controls
from components.features.pairs.compute.again import Again
from components.features.pairs.compute.pair_set import PairSet
from components.features.pairs.compute.shown import PairsShown
from components.features.pairs.compute.tables import PairRows, layer_rows, pair_arrays
from components.features.pairs.explain import FORMULA
from components.features.pairs.page import file_panel
from components.features.pairs.page.picture import CHART
from components.features.pairs.snippet import SnippetPair, accuracy_snippet, cosines_snippet
from components.ui.state import session
from components.ui.state.view import ViewState
from components.ui.widgets import export, inputs, kit

__all__ = ["downloads", "explain", "toolbar"]

_FILE = "pairs"
_N_SNIPPET = 3


def toolbar(view: ViewState, pairs: PairSet | None) -> None:
    """Which pairs, and of a file that is compared which columns."""
    with kit.controls():
        inputs.choice(view, controls.SOURCE)
        if controls.SOURCE.of(view) == "file" and pairs is not None:
            with st.popover(say("pairs.columns"), icon=":material/view_column:", type="tertiary"):
                file_panel.columns(view)


def explain(shown: PairsShown, card: ModelCard) -> None:
    """The tabs under the picture."""
    kit.tabs(lambda: _numbers(shown), lambda: _under_the_hood(shown, card), say("pairs.limits"))


def downloads(shown: PairsShown, place: DeltaGenerator) -> None:
    """The page's Download menu: every pair with its cosines, and what accuracy is made of."""
    passport, again = shown.compared.passport, Again(session.current())
    with kit.downloads(place, export.caption(passport), chart=CHART, name=_FILE):
        kit.download_files(
            _FILE,
            passport,
            rows=lambda: PairRows(again.shown()),
            arrays=lambda: pair_arrays(again.shown()),
        )


def _numbers(shown: PairsShown) -> None:
    kit.table(layer_rows(shown), key="pairs_layers", after=1)


def _under_the_hood(shown: PairsShown, card: ModelCard) -> None:
    snippets = [(say("pairs.cosines_snippet"), cosines_snippet(card, _first(shown)))]
    if shown.scores is not None:
        snippet = accuracy_snippet(shown.scores.how, file=f"{_FILE}.npz")
        snippets.append((say("pairs.accuracy_snippet"), snippet))
    kit.under_the_hood(
        formula=[FORMULA],
        snippet=snippets,
        passport=shown.compared.passport,
        shapes=kit.shapes(_shapes(shown), key="pairs_shapes"),
    )


def _first(shown: PairsShown) -> list[SnippetPair]:
    pairs = shown.pairs
    return [
        SnippetPair(pairs.text(i, 0), pairs.span(i, 0), pairs.text(i, 1), pairs.span(i, 1))
        for i in shown.there[:_N_SNIPPET].tolist()
    ]


def _shapes(shown: PairsShown) -> list[dict[str, str]]:
    compared = shown.compared
    return [
        {"array": "cosines (layers, pairs)", "shape": str(compared.cosines.shape)},
        {"array": "texts encoded", "shape": f"{compared.n_encoded:,}"},
    ]
