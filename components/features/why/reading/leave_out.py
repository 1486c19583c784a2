"""Leaving out in words: what holds two sentences together, what keeps them apart, what is alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from components.content.wording import bold, leading, several, span
from components.features.why.compute.leave_out import LeftOut
from components.features.why.measures.effects import NOISE, interaction
from components.features.why.measures.order import Order
from components.features.why.reading.names import named, signed

__all__ = ["leave_out_reading", "leave_out_title"]

_TOLD = 2 * NOISE
"""What two words do together beyond each alone, from which on it is told."""


def leave_out_title(shown: LeftOut) -> str:
    """The finding, short and plain."""
    changes = shown.changes
    if not len(changes) or np.abs(changes).max() < NOISE:
        return "No word alone moves them"
    strongest = leading(np.abs(changes).tolist())
    if len(strongest) > 1:
        return f"{len(strongest)} words move them about equally"
    word = shown.words[strongest[0]]
    side = shown.score.sides[word.side]
    does = "holds them together" if word.change < 0 else "keeps them apart"
    return f"{word.unit.label} in {side.letter} {does} most"


def leave_out_reading(shown: LeftOut) -> list[str]:
    """Two to four sentences: what lowers, what raises, the order of the shares, pairs of words."""
    if not shown.words:
        return ["There is no word to leave out."]
    if np.abs(shown.changes).max() < NOISE:
        return [f"No word moves them by {NOISE} or more when it is left out."]
    said = [_lowering(shown), _raising(shown)]
    if shown.order is not None:
        said.append(_order(shown, shown.order))
    if shown.pairs is not None:
        said.append(_pairs(shown))
    return [sentence for sentence in said if sentence]


def _name(shown: LeftOut, i: int) -> str:
    word = shown.words[i]
    return named(word.unit, shown.score.sides[word.side])


def _lowering(shown: LeftOut) -> str:
    found = _furthest(shown, -1)
    if not found:
        return (
            "No word holds them together: without any one of them the cosine rises, or falls by "
            f"less than {NOISE}."
        )
    return f"Leaving out {_moved(shown, found)} lowers the cosine most {_by(shown, found)}."


def _raising(shown: LeftOut) -> str:
    found = _furthest(shown, 1)
    if not found:
        return ""
    return f"Leaving out {_moved(shown, found)} raises the cosine most {_by(shown, found)}."


def _furthest(shown: LeftOut, sign: int) -> list[int]:
    """The words that move the cosine furthest one way, to within a margin; none below the noise."""
    moves = (sign * shown.changes).tolist()
    return [i for i in leading(moves) if moves[i] >= NOISE]


def _moved(shown: LeftOut, found: Sequence[int]) -> str:
    return several([_name(shown, i) for i in found])


def _by(shown: LeftOut, found: Sequence[int]) -> str:
    change = span([shown.words[i].change for i in found], signed)
    return f"({change}, to {span([shown.words[i].cosine for i in found], bold)})"


def _order(shown: LeftOut, order: Order) -> str:
    """Whether the word with the largest share is also the one that matters most."""
    near = int((shown.shares >= shown.shares.max() - NOISE).sum())
    first = f"The shares put {_name(shown, order.by_share)} {'first' if near == 1 else 'in front'}"
    if order.place_left_out == 1:
        said = f"{first}, and so does leaving words out."
    else:
        place = _place(order.place_left_out)
        said = f"{first}; leaving it out puts it {place}: shares are not causes."
    if order.tau is None:
        return said
    n = len(shown.words)
    return (
        f"{said} Over all {n} words the two orders have a Kendall's tau of {bold(order.tau)} (1 is "
        "the same order, 0 none)."
    )


def _place(place: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{'th' if place % 100 in (11, 12, 13) else ending}"


def _pairs(shown: LeftOut) -> str:
    """Which two words do most together that each alone does not."""
    if shown.pairs is None or len(shown.words) < 2:
        return ""
    beyond = interaction(shown.pairs)
    i, j = divmod(int(np.abs(beyond).argmax()), len(beyond))
    most = float(beyond[i, j])
    if abs(most) < _TOLD:
        return f"Two words left out together do what each does alone, to within {_TOLD}."
    alone = float(shown.pairs[i, i] + shown.pairs[j, j])
    return (
        f"{_name(shown, i)} and {_name(shown, j)} do most together that they do not do "
        f"alone: without both the cosine moves by {signed(float(shown.pairs[i, j]))}, and the two "
        f"moves alone add up to {signed(alone)}."
    )
