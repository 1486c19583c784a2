"""Swapping in, in words: where what differs comes in, and to where it goes on."""

from __future__ import annotations

from components.content.wording import bold, leading, quoted, several, span, two
from components.features.why.compute.swap_in import SwappedIn
from components.features.why.reading.names import token_named

__all__ = ["aligned_reading", "swap_in_reading", "swap_in_title"]

_SOME = 0.05
"""A part of the way from which on it is told."""


def swap_in_title(shown: SwappedIn) -> str:
    """The finding, short and plain."""
    if shown.problem or not shown.fractions.size:
        return "There is no way to go"
    if shown.fractions[0].max() < _SOME:
        return "No token alone makes the difference"
    found = leading(shown.fractions[0].tolist())
    if len(found) > 1:
        return f"{len(found)} tokens bring about as much of the difference"
    i, j = shown.alignment.pairs[found[0]]
    ours, theirs = shown.receiver.labels[i], shown.donor.labels[j]
    own = f"“{ours}”" if ours == theirs else f"“{theirs}” in place of “{ours}”"
    return f"{own} brings the most"


def swap_in_reading(shown: SwappedIn) -> list[str]:
    """Two to three sentences: what brings most at the bottom, and who takes over."""
    if shown.problem:
        return [shown.problem]
    said = [_first(shown), _carried(shown), aligned_reading(shown)]
    return [sentence for sentence in said if sentence]


def _name(shown: SwappedIn, column: int) -> str:
    """The donor's token, and the receiver's where it is another."""
    i, j = shown.alignment.pairs[column]
    own = token_named(i, shown.receiver)
    if shown.receiver.encoding.token_ids[i] == shown.donor.encoding.token_ids[j]:
        return own
    return f"{quoted(shown.donor.labels[j])} in place of {own}"


def _first(shown: SwappedIn) -> str:
    bottom = shown.fractions[0]
    way = f"the way from {shown.receiver.letter} to {shown.donor.letter}"
    if bottom.max() < _SOME:
        return f"At layer 0 no token alone brings {_SOME} of {way} or more."
    found = leading(bottom.tolist())
    names = several([_name(shown, i) for i in found])
    own = span([float(bottom[i]) for i in found], bold)
    verb = "brings" if len(found) == 1 else "bring"
    said = f"Swapped in at layer 0, {names} {verb} most: {own} of {way}"
    if len(shown.layers) < 2:
        return f"{said}."
    top = span([float(shown.fractions[-1, i]) for i in found], bold)
    return f"{said}; at layer {shown.layers[-1]}, {top}."


def _carried(shown: SwappedIn) -> str:
    """The token that is the same in both and comes to hold most of what differs."""
    ours, theirs = shown.receiver.encoding.token_ids, shown.donor.encoding.token_ids
    same = [k for k, (i, j) in enumerate(shown.alignment.pairs) if ours[i] == theirs[j]]
    most = shown.fractions[:, same].max(axis=0)
    found = leading(most.tolist())
    if len(found) != 1 or most[found[0]] < _SOME:
        return ""
    column = same[found[0]]
    row = int(shown.fractions[:, column].argmax())
    if row == 0:
        return ""
    here, below = float(shown.fractions[row, column]), float(shown.fractions[0, column])
    return (
        f"Of the tokens that are the same in both, {_name(shown, column)} comes to carry most: "
        f"{bold(here)} at layer {shown.layers[row]}, {two(below)} at layer 0."
    )


def aligned_reading(shown: SwappedIn) -> str:
    """How the two were aligned."""
    found, n = shown.alignment, len(shown.alignment.pairs)
    equal = f"{found.n_equal} of these pairs are the same token"
    if found.same_length:
        return f"Both have {n} tokens, and each stands for the one at its place; {equal}."
    n_ours, n_theirs = n + len(found.first_alone), n + len(found.second_alone)
    return (
        f"{n} of {shown.receiver.letter}'s {n_ours} tokens stand for one of {shown.donor.letter}'s "
        f"{n_theirs}; {equal}, and the others are not swapped."
    )
