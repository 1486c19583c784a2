"""Switching off in words: which head holds most of a cosine, and which part of a layer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from components.content.wording import bold, leading, several, span
from components.features.why.compute.switch_off import SwitchedOff
from components.features.why.measures.effects import NOISE
from components.features.why.measures.target import Doubles
from components.features.why.reading.names import signed

__all__ = ["switch_off_reading", "switch_off_title"]

_MARGIN = NOISE
"""How far apart two changes must be for one to be called the larger."""
_NOTHING = (
    "At layer 0 no layer has run yet, so there is nothing to switch off. Choose a higher one."
)


def switch_off_title(shown: SwitchedOff) -> str:
    """The finding, short and plain."""
    if not shown.layers:
        return "Nothing has run at layer 0"
    found = _strongest(shown.heads)
    if not found:
        return "No head alone moves them"
    if len(found) > 1:
        return f"{len(found)} heads move them about equally"
    row, head = found[0]
    does = "holds them together" if shown.heads[row, head] < 0 else "keeps them apart"
    return f"Head {head} of layer {shown.layers[row]} {does} most"


def switch_off_reading(shown: SwitchedOff) -> list[str]:
    """Two to three sentences: the strongest heads, how many do anything, the strongest parts."""
    if not shown.layers:
        return [_NOTHING]
    said = [_heads(shown), _many(shown), _parts(shown)]
    return [sentence for sentence in said if sentence]


def _strongest(changes: Doubles) -> list[tuple[int, int]]:
    """Rows and columns of what moves the cosine most, to within a margin; none below the noise."""
    sizes = np.abs(changes)
    if sizes.max(initial=0.0) < NOISE:
        return []
    places = leading(sizes.ravel().tolist(), _MARGIN)
    return [(int(i) // changes.shape[1], int(i) % changes.shape[1]) for i in places]


def _heads(shown: SwitchedOff) -> str:
    found = _strongest(shown.heads)
    if not found:
        return f"No head alone moves {_what(shown)} by {NOISE} or more."
    names = [f"head {head} of layer {shown.layers[row]}" for row, head in found]
    changes = [float(shown.heads[place]) for place in found]
    if len(found) > 1:
        return f"{_capital(several(names))} move {_what(shown)} most ({span(changes, signed)})."
    change, (row, head) = changes[0], found[0]
    what, name = _what(shown), _capital(names[0])
    without = f"without it {what} is {bold(shown.cosine + change)}"
    if change < 0:
        said = f"{name} alone holds {bold(-change)} of {what}, {bold(shown.cosine)}"
    else:
        said = f"{name} keeps them apart by {bold(change)}"
    return f"{said}: {without}{_agreement(shown, row, head)}."


def _agreement(shown: SwitchedOff, row: int, head: int) -> str:
    """In how many of several pairs it goes the same way."""
    if shown.n_pairs < 2:
        return ""
    same = int((np.sign(shown.each[:, row, head]) == np.sign(shown.heads[row, head])).sum())
    if same == shown.n_pairs:
        return f", and it goes the same way in all {same} pairs"
    return f", and it goes the same way in {same} of the {shown.n_pairs} pairs"


def _what(shown: SwitchedOff) -> str:
    return "the cosine" if shown.n_pairs == 1 else "the mean cosine"


def _many(shown: SwitchedOff) -> str:
    n, of = int((np.abs(shown.heads) >= NOISE).sum()), shown.heads.size
    if n == 0:
        return ""
    verb = "moves" if n == 1 else "move"
    return f"{n} of {of} heads {verb} it by {NOISE} or more, each alone."


def _parts(shown: SwitchedOff) -> str:
    """Whole attentions and feed-forwards, which do more than heads."""
    changes = np.stack([shown.attention, shown.feed_forward], axis=1)
    found = _strongest(changes)
    if not found:
        return f"No layer's attention or feed-forward moves it by {NOISE} or more."
    names = [f"{_PARTS[kind]} of layer {shown.layers[row]}" for row, kind in found]
    values = [float(changes[place]) for place in found]
    verb = "moves" if len(found) == 1 else "move"
    return f"Of whole parts, {several(names)} {verb} it most ({span(values, signed)})."


_PARTS: Sequence[str] = ("the attention", "the feed-forward")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
