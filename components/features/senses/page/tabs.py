"""What stands below the picture of Senses: closer looks, terms, tabs and downloads."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.analysis.baseline import Band
from components.content.language import say
from components.core import ModelCard
from components.core.schema import Passport
from components.features.senses.compute.concordance import concordance_rows, snippet_rows
from components.features.senses.compute.course import curve_rows
from components.features.senses.compute.groups import groups_rows
from components.features.senses.compute.passport import passport_of
from components.features.senses.compute.shown import Again, Shown, arrays
from components.features.senses.controls import PANEL
from components.features.senses.explain import FORMULA, GROUPS, OWN_SENTENCE, TABLE
from components.features.senses.looks.beside import beside_look
from components.features.senses.looks.own import own_look
from components.features.senses.looks.taken import taken_look
from components.features.senses.page.picture import CHART
from components.features.senses.snippet import separation_snippet
from components.ui.models import runtime
from components.ui.state.view import ViewState
from components.ui.widgets import export, kit

__all__ = ["downloads", "explain", "look_closer"]

_FILE = "senses"


def look_closer(view: ViewState, shown: Shown, band: Band | None) -> None:
    """One of the closer looks."""
    looks = {
        "own": lambda: own_look(view, shown, band),
        "beside": lambda: beside_look(view, shown),
        "taken": lambda: taken_look(shown),
    }
    offered = dict(PANEL.options)
    if not shown.senses.course.curve:
        offered.pop("taken")
    kit.look_closer(view, PANEL.among(offered), {name: looks[name] for name in offered})


def explain(shown: Shown, card: ModelCard | None) -> None:
    """The tabs under the picture.

    Args:
        shown: the word.
        card: of the corpus's model; None where it is not in memory.
    """
    kit.tabs(lambda: _numbers(shown), lambda: _under_the_hood(shown, card), say("senses.limits"))


def downloads(shown: Shown, place: DeltaGenerator) -> None:
    """The page's Download menu."""
    passport, again = _passport(shown), Again(shown.view)
    with kit.downloads(place, export.caption(passport), chart=CHART, name=_FILE):
        kit.download_files(
            _FILE,
            passport,
            rows=lambda: _rows(again),
            arrays=lambda: arrays(*again.senses()),
        )


def _rows(again: Again) -> list[dict[str, str | int | float]]:
    senses, _ = again.senses()
    return concordance_rows(senses.found, senses.grouping.groups, senses.cosines)


def _passport(shown: Shown) -> Passport:
    return passport_of(shown.senses, shown.corpus, runtime.service())


def _numbers(shown: Shown) -> None:
    senses = shown.senses
    if senses.course.curve:
        rows = curve_rows(senses.found, senses.course.curve)
        exact = ["accuracy", "95% from", "95% to", "always guessing", "silhouette"]
        kit.table(rows, key="senses_layers", exact=exact)
    if senses.grouping.each:
        kit.table(groups_rows(senses.found, senses.grouping), key="senses_groups_table")
    if not senses.course.curve and not senses.grouping.each:
        st.caption(say("senses.no_numbers"))


def _under_the_hood(shown: Shown, card: ModelCard | None) -> None:
    senses = shown.senses
    snippet = ""
    if card is not None and senses.course.curve:
        snippet = separation_snippet(card, snippet_rows(senses.found))
    kit.under_the_hood(
        formula=[FORMULA, GROUPS, OWN_SENTENCE, TABLE],
        snippet=snippet or [],
        passport=_passport(shown),
        shapes=kit.shapes(_shapes(shown), key="senses_shapes"),
    )


def _shapes(shown: Shown) -> list[dict[str, str]]:
    senses, corpus = shown.senses, shown.corpus
    return [
        {"array": "vectors (occurrences, dims)", "shape": f"({senses.found.n}, {corpus.n_dims})"},
        {"array": "places (layers, occurrences, 2)",
         "shape": f"({len(senses.layers)}, {senses.found.n}, 2)"},
    ]  # fmt: skip
