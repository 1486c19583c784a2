"""The passport of a look: the score's own, and what the look did to the model or the text."""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from typing import Any

from components.core.schema import Passport
from components.features.why.compute.leave_out import LeftOut
from components.features.why.compute.shares import Integrated, SharesShown
from components.features.why.compute.swap_in import SwappedIn
from components.features.why.compute.switch_off import SwitchedOff

__all__ = ["passport_of"]

_HOW = {"taken": "each word taken out of the text", "hidden": "each word hidden from attention"}


def passport_of(shown: SharesShown | Integrated | LeftOut | SwitchedOff | SwappedIn) -> Passport:
    """The passport behind what is shown."""
    plain = shown.score.passport
    return replace(plain, settings={**plain.settings, **_changed(shown)})


@singledispatch
def _changed(_: object) -> dict[str, Any]:
    """What was changed; nothing for shares at a layer."""
    return {}


@_changed.register
def _(shown: Integrated) -> dict[str, Any]:
    steps = {own.side.letter: own.n_steps for own in shown.sides}
    return {"integrated gradients": "Gauss-Legendre", "steps": steps}


@_changed.register
def _(shown: LeftOut) -> dict[str, Any]:
    return {"changed": _HOW[shown.how], "pairs of words": shown.pairs is not None}


@_changed.register
def _(shown: SwitchedOff) -> dict[str, Any]:
    return {"changed": f"each part set to {shown.to}", "sentences": list(shown.letters)}


@_changed.register
def _(shown: SwappedIn) -> dict[str, Any]:
    donor, receiver = shown.donor.letter, shown.receiver.letter
    return {"changed": f"each hidden state of {donor} put into {receiver}"}
