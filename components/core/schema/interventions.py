"""What may be changed inside a model while it reads a text: frozen, hashable, no numpy.

They are tagged structs, so that one of them is told from another where they are sent.

Layers count as in `Encoding.hidden`: 0 is the embedding layer's output, 1 to n are the encoder's.
Positions are those of a text's tokens, special ones included. Whatever is put in (a mean, another
text's states) comes from runs in which nothing is changed; where two changes of one text meet in
the same place, the later one holds.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

__all__ = ["Average", "Block", "Intervention", "Patch", "SwitchOff"]


class SwitchOff(Struct, frozen=True, tag=True):
    """A part's output replaced by one constant vector at all positions.

    Attributes:
        part: a head (what it hands to the projection that follows all heads), a layer's whole
            attention, or its feed-forward (both before they are added to what went in).
        layer: 1 to n.
        head: from 0, for "head" alone.
        to: zeros, or the part's mean over all tokens of the call's `baseline` texts.
    """

    part: Literal["head", "attention", "feed_forward"]
    layer: int
    head: int | None = None
    to: Literal["zero", "mean"] = "zero"

    @property
    def words(self) -> str:
        """What is changed, for a passport."""
        part = f"head {self.head}" if self.part == "head" else self.part.replace("_", "-")
        return f"{part} of layer {self.layer} set to {self.to}"


class Block(Struct, frozen=True, tag=True):
    """Attention to a token forbidden; its position stays, and sees what it saw.

    Attributes:
        token: the position that is not looked at.
        seen_by: the one position that may not look at it; None for all, itself too.
        layers: some of 1 to n; None for all.
    """

    token: int
    seen_by: int | None = None
    layers: tuple[int, ...] | None = None

    @property
    def words(self) -> str:
        """What is changed, for a passport."""
        by = "all positions" if self.seen_by is None else f"position {self.seen_by}"
        where = "all layers" if self.layers is None else f"layers {_listed(self.layers)}"
        return f"position {self.token} hidden from {by} in {where}"


class Patch(Struct, frozen=True, tag=True):
    """Hidden states of a layer replaced by another text's of the same layer.

    Attributes:
        layer: 0 to n.
        positions: whose states are replaced.
        source: the other text.
        source_positions: where they come from, one for each of `positions`.
        source_pair: the other text's pair.
    """

    layer: int
    positions: tuple[int, ...]
    source: str
    source_positions: tuple[int, ...]
    source_pair: str | None = None

    @property
    def words(self) -> str:
        """What is changed, for a passport."""
        pair = "" if self.source_pair is None else f" with the pair {self.source_pair!r}"
        return (
            f"layer {self.layer} at positions {_listed(self.positions)} taken from positions "
            f"{_listed(self.source_positions)} of {self.source!r}{pair}"
        )


class Average(Struct, frozen=True, tag=True):
    """Hidden states of a layer replaced by their mean.

    Attributes:
        layer: 0 to n.
        positions: whose states are replaced.
        over: the text's own tokens, or those of all different texts of the call.
    """

    layer: int
    positions: tuple[int, ...]
    over: Literal["text", "batch"] = "text"

    @property
    def words(self) -> str:
        """What is changed, for a passport."""
        over = "the text" if self.over == "text" else "all texts"
        return f"layer {self.layer} at positions {_listed(self.positions)} averaged over {over}"


def _listed(numbers: tuple[int, ...]) -> str:
    return ", ".join(map(str, numbers))


Intervention = SwitchOff | Block | Patch | Average
