"""What stands below the picture: closer looks, terms, tabs and downloads."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.content.language import say
from components.core import ModelCard
from components.core.errors import JobError
from components.features.why.compute import tables
from components.features.why.compute.passport import passport_of
from components.features.why.compute.score import Missing, Score, score_of
from components.features.why.compute.shares import Integrated, shares_at
from components.features.why.controls import LOOK, PANEL
from components.features.why.explain import FORMULA, INTEGRATED
from components.features.why.looks.frame import CHART
from components.features.why.page import picture
from components.features.why.snippet.look import snippet_of
from components.ui.models import runtime
from components.ui.models.background import jobs
from components.ui.state.view import ViewState
from components.ui.widgets import export, kit

__all__ = ["downloads", "explain", "look_closer"]

_FILE = "why-alike"
_EXACT = ("share", "change", "cosine", "share of the way", "start", "end", "remainder")
_MOST_ROWS = 5_000


def look_closer(view: ViewState, score: Score, card: ModelCard) -> None:
    """Edits of the first sentence."""
    kit.look_closer(view, PANEL, {"edits": lambda: picture.edits(score, card)})


def explain(view: ViewState, shown: picture.Shown) -> None:
    """The tabs under the picture."""
    limits = say(f"why.limits.{LOOK.of(view)}")
    kit.tabs(lambda: _numbers(shown), lambda: _under_the_hood(view, shown), limits)


def downloads(view: ViewState, shown: picture.Shown, place: DeltaGenerator) -> None:
    """The page's Download menu."""
    passport, again = passport_of(shown), _Again(view)
    with kit.downloads(place, export.caption(passport), chart=CHART, name=_FILE):
        kit.download_files(
            _FILE,
            passport,
            rows=lambda: tables.rows(again.shown()),
            arrays=lambda: tables.arrays(again.shown()),
        )


@dataclass(frozen=True)
class _Again:
    """What it takes to find again what was shown; small, and no part of it."""

    view: ViewState

    def shown(self) -> picture.Shown:
        """What was looked at.

        Raises:
            JobError: it had to make room for others.
        """
        service = runtime.service()
        score = score_of(self.view, service, service.load(self.view.model))
        if isinstance(score, Missing):
            raise JobError(say("why.work.gone"))
        work = picture.task(self.view, score)
        if work is None:
            return shares_at(score)
        job = jobs().get(work.key)
        if job is None or job.state != "done":
            raise JobError(say("why.work.gone"))
        found: picture.Shown = job.result()
        return found


def _numbers(shown: picture.Shown) -> None:
    rows = tables.rows(shown)
    kit.table(rows[:_MOST_ROWS], key="why_table", exact=_EXACT, height=360)
    if len(rows) > _MOST_ROWS:
        st.caption(say("why.work.rows", most=_MOST_ROWS, n=len(rows)))


def _under_the_hood(view: ViewState, shown: picture.Shown) -> None:
    formula = [FORMULA[LOOK.of(view)]]
    if isinstance(shown, Integrated):
        formula.append(INTEGRATED)
    kit.under_the_hood(
        formula=formula,
        snippet=snippet_of(shown),
        passport=passport_of(shown),
        shapes=kit.shapes(_shapes(shown), key="why_shapes"),
    )


def _shapes(shown: picture.Shown) -> list[dict[str, str]]:
    return [{"array": name, "shape": str(own.shape)} for name, own in tables.arrays(shown).items()]
