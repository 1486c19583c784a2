"""The picture of the chosen look, and what it says: at once, or when its runs are done."""

from __future__ import annotations

import streamlit as st

from components.content.language import say
from components.content.wording import escape
from components.core import ModelCard
from components.features.why.compute.edits import EditsShown
from components.features.why.compute.leave_out import LeftOut
from components.features.why.compute.score import Score
from components.features.why.compute.shares import Integrated, SharesShown, shares_at
from components.features.why.compute.swap_in import SwappedIn
from components.features.why.compute.switch_off import SwitchedOff
from components.features.why.compute.work import edits_task, seconds_of, task_of
from components.features.why.controls import (
    DEPTH,
    LAYER,
    LOOK,
    SHARES,
)
from components.features.why.looks.edits import draw_edits
from components.features.why.looks.frame import HEIGHT
from components.features.why.looks.leave_out import draw_left_out
from components.features.why.looks.shares import draw_integrated, draw_shares
from components.features.why.looks.swap_in import draw_swapped_in
from components.features.why.looks.switch_off import draw_switched_off
from components.features.why.page import waiting
from components.features.why.page.score import band_of
from components.features.why.reading import reading_of
from components.jobs import Task
from components.ui.models.background import maps
from components.ui.models.services import uncached
from components.ui.state.view import ViewState
from components.ui.widgets import kit

__all__ = ["Shown", "edits", "in_words", "is_quick", "picture", "shown_of", "task"]

Shown = SharesShown | Integrated | LeftOut | SwitchedOff | SwappedIn
_PLACE = "why_progress"
_EDITS = "why_edits"


def shown_of(view: ViewState, score: Score) -> Shown | None:
    """What the chosen look shows; None, with what is to be waited for, before."""
    work = task(view, score)
    if work is None:
        return shares_at(score)
    found: Shown | None = waiting.found(
        work, place=_PLACE, height=HEIGHT, what=say(f"why.work.{LOOK.of(view)}")
    )
    return found


def task(view: ViewState, score: Score) -> Task | None:
    """The work behind the chosen look; None where it takes no time."""
    seconds = seconds_of(view, score, maps().token_seconds(score.card))
    return task_of(view, score, uncached(), seconds=seconds)


def picture(view: ViewState, shown: Shown) -> None:
    """The picture of a look."""
    if isinstance(shown, SharesShown):
        draw_shares(view, shown)
    elif isinstance(shown, Integrated):
        draw_integrated(view, shown)
    elif isinstance(shown, LeftOut):
        draw_left_out(shown)
    elif isinstance(shown, SwitchedOff):
        draw_switched_off(view, shown)
    else:
        draw_swapped_in(shown)


def edits(score: Score, card: ModelCard) -> None:
    """The edits of the first sentence, when they are read."""
    seconds = 12 * score.first.encoding.n_tokens * maps().token_seconds(card)
    work = edits_task(score, uncached(), seconds=seconds)
    found: EditsShown | None = waiting.found(
        work, place=_EDITS, height=160, what=say("why.work.edits")
    )
    if found is not None:
        draw_edits(found, band_of(card, found.what))


def is_quick(view: ViewState) -> bool:
    """Whether the chosen look takes no time, so that layers can be played."""
    return LOOK.of(view) == SHARES and DEPTH.of(view) == LAYER


def in_words(shown: Shown) -> None:
    """The reading, and in small type what was left out."""
    if is_there(shown):  # else the picture's place says why not
        said = reading_of(shown)
        kit.reading(said.sentences, sure=said.sure)
    for note in getattr(shown, "notes", ()):
        st.caption(escape(note))


def is_there(shown: Shown) -> bool:
    """Whether there is a picture, and not only a sentence on why there is none."""
    if isinstance(shown, SwappedIn):
        return shown.problem is None
    return not isinstance(shown, SwitchedOff) or bool(shown.layers)
