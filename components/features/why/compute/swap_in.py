"""Swap in, from a score to what is shown: one text's hidden states put into the other's run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from components.content.language import Claim, claim
from components.core import EncoderService
from components.core.schema import Counted, Patch
from components.features.why.compute.running import Run, vectors_of
from components.features.why.compute.score import Score, Side
from components.features.why.measures.alignment import Alignment, align
from components.features.why.measures.effects import fraction, is_way
from components.features.why.measures.target import Doubles

__all__ = ["MAX_TOKENS", "Into", "SwappedIn", "swap_in"]

Into = Literal["first", "second"]
MAX_TOKENS = 64
"""Aligned tokens up to which each is swapped at each layer."""


@dataclass(frozen=True, eq=False)
class SwappedIn:
    """How much of the way from the receiver's vector to the donor's each hidden state brings.

    Attributes:
        score: of the two.
        into: whose run it is: the "first" sentence's, or the "second"'s.
        alignment: which token of the receiver (first) stands for which of the donor (second).
        layers: 0 to the score's layer.
        fractions: (n_layers, n_aligned) float64 for each pair of `alignment.pairs`: 0 for nothing,
            1 for all of the way; may lie outside.
        problem: why there is nothing to show; None where there is.
    """

    score: Score
    into: Into
    alignment: Alignment
    layers: tuple[int, ...]
    fractions: Doubles
    problem: Claim | None = None

    @property
    def receiver(self) -> Side:
        """The sentence whose run it is."""
        return self.score.first if self.into == "first" else self.score.second

    @property
    def donor(self) -> Side:
        """The sentence whose hidden states are put in."""
        return self.score.second if self.into == "first" else self.score.first

    @property
    def names(self) -> tuple[str, ...]:
        """What to write on each aligned pair: the token, or "pet / coding" where they differ."""
        ours, theirs = self.receiver.labels, self.donor.labels
        both = ((ours[i], theirs[j]) for i, j in self.alignment.pairs)
        return tuple(a if a == b else f"{a} / {b}" for a, b in both)


def swap_in(
    score: Score,
    service: EncoderService,
    *,
    into: Into = "first",
    progress: Counted | None = None,
) -> SwappedIn:
    """Put each hidden state of one sentence into the other's run, one at a time.

    Args:
        score: of the two.
        service: runs the model; better without a cache.
        into: whose run it is: the first sentence's, or the second's.
        progress: told how many runs are done; what it raises ends the work.
    """
    receiver, donor = score.sides if into == "first" else score.sides[::-1]
    alignment = align(receiver.encoding, donor.encoding)
    layers = tuple(range(score.layer + 1))
    start, end = receiver.vector(score.layer), donor.vector(score.layer)
    problem = _problem(score, alignment, is_way(start, end))
    runs = [
        _run(receiver, donor, layer, i, j)
        for layer in (layers if problem is None else ())
        for i, j in alignment.pairs
    ]
    vectors = vectors_of(runs, service, score.card, layer=score.layer, progress=progress)
    shape = (len(layers), len(alignment.pairs)) if problem is None else (0, 0)
    found = np.array([fraction(vector, start, end) for vector in vectors], dtype=np.float64)
    return SwappedIn(
        score=score.lean,
        into=into,
        alignment=alignment,
        layers=layers,
        fractions=found.reshape(shape),
        problem=problem,
    )


def _run(receiver: Side, donor: Side, layer: int, i: int, j: int) -> Run:
    own, other = receiver.encoding, donor.encoding
    patch = Patch(layer, (i,), other.text, (j,), other.pair)
    return Run(own.text, own.pair, lambda _: receiver.weights, (patch,))


def _problem(score: Score, alignment: Alignment, is_some_way: bool) -> Claim | None:
    n = len(alignment.pairs)
    if score.are_equal:
        return claim("why.swap_in.equal", a=score.first.letter, b=score.second.letter)
    if not is_some_way:
        return claim("why.swap_in.stuck")
    if not n:
        return claim("why.swap_in.unpaired")
    return claim("why.swap_in.long", n=n, most=MAX_TOKENS) if n > MAX_TOKENS else None
