"""Switch off, from a score to what is shown: each head, attention and feed-forward in turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from components.analysis.tokens import labels
from components.content.language import say
from components.content.sample import baseline_sentences
from components.core import EncoderService
from components.core.errors import RequestError
from components.core.schema import Counted, SwitchOff
from components.features.why.compute.running import Run, vectors_of
from components.features.why.compute.score import Score, Side, problem_of, side_of
from components.features.why.measures.effects import pair_cosines
from components.features.why.measures.target import Doubles
from components.ui.state.view import ViewState, letter

__all__ = ["N_SAMPLE", "Head", "Over", "SwitchedOff", "To", "parts_of", "sample", "switch_off"]

To = Literal["zero", "mean"]
Over = Literal["two", "all"]
N_SAMPLE = 64
"""Sample sentences over whose tokens a part's output is averaged."""


@dataclass(frozen=True)
class Head:
    """One head and what its absence does: the change of the (mean) cosine, and in how many pairs.

    Attributes:
        layer: from 1.
        head: from 0.
        change: of the cosine; the mean over the pairs.
        n_alike: in how many of the pairs it has the sign of that mean.
    """

    layer: int
    head: int
    change: float
    n_alike: int


@dataclass(frozen=True, eq=False)
class SwitchedOff:
    """What each part holds of the score.

    Attributes:
        score: with all parts.
        to: what a part's output is replaced by: "zero", or its "mean" over sample sentences.
        sides: the sentences measured, without their states: the score's two, or all that can be
            compared.
        cosine: with all parts on, the mean over all pairs of these sentences.
        layers: 1 to the score's layer: what lies above it does not reach it.
        heads: (n_layers, n_heads) float64 changes of `cosine` with that head off.
        attention: (n_layers,) float64 with the layer's whole attention off.
        feed_forward: (n_layers,) float64 with the layer's feed-forward off.
        each: (n_pairs, n_layers, n_heads) float64 the heads' changes of each pair of sentences.
        notes: what was left out and why, a sentence of plain text each.
    """

    score: Score
    to: To
    sides: tuple[Side, ...]
    cosine: float
    layers: tuple[int, ...]
    heads: Doubles
    attention: Doubles
    feed_forward: Doubles
    each: Doubles
    notes: tuple[str, ...]

    @property
    def letters(self) -> tuple[str, ...]:
        """Of the sentences measured."""
        return tuple(side.letter for side in self.sides)

    @property
    def n_pairs(self) -> int:
        """How many pairs of sentences it is the mean of."""
        return len(self.each)

    def strongest(self, n: int) -> list[Head]:
        """The heads whose absence moves the cosine furthest, whichever way."""
        flat = np.argsort(-np.abs(self.heads), axis=None, kind="stable")[:n]
        places = zip(*np.unravel_index(flat, self.heads.shape), strict=True)
        return [self._head(int(row), int(head)) for row, head in places]

    def _head(self, row: int, head: int) -> Head:
        change = float(self.heads[row, head])
        n_alike = int((np.sign(self.each[:, row, head]) == np.sign(change)).sum())
        return Head(self.layers[row], head, change, n_alike)


def switch_off(
    view: ViewState,
    score: Score,
    service: EncoderService,
    *,
    to: To = "zero",
    over: Over = "two",
    progress: Counted | None = None,
) -> SwitchedOff:
    """The score without each part of the layers up to its own.

    Args:
        view: whose sentences are measured where `over` is "all".
        score: with all parts.
        service: runs the model; better without a cache.
        to: what a part's output is replaced by.
        over: the score's two sentences, or all of the view's that can be compared.
        progress: told how many runs are done; what it raises ends the work.
    """
    sides, notes = _measured(view, score, service, over)
    layers = tuple(range(1, score.layer + 1))
    parts = parts_of(layers, score.card.n_heads, to)
    runs = [_run(side, part) for part in parts for side in sides]
    vectors = vectors_of(
        runs,
        service,
        score.card,
        layer=score.layer,
        baseline=sample() if to == "mean" else (),
        progress=progress,
    )
    whole = pair_cosines([side.vector(score.layer) for side in sides])
    n, n_heads = len(sides), score.card.n_heads
    without = [pair_cosines(vectors[i : i + n]) for i in range(0, len(vectors), n)]
    changes = np.array(without).reshape(len(layers), n_heads + 2, len(whole)) - whole
    means = changes.mean(axis=2)
    return SwitchedOff(
        score=score.lean,
        to=to,
        sides=tuple(side.lean for side in sides),
        cosine=float(whole.mean()),
        layers=layers,
        heads=means[:, :n_heads],
        attention=means[:, n_heads],
        feed_forward=means[:, n_heads + 1],
        each=np.moveaxis(changes[:, :n_heads], 2, 0),
        notes=notes,
    )


def parts_of(layers: Sequence[int], n_heads: int, to: To) -> list[SwitchOff]:
    """All parts, layer by layer: its heads, its whole attention, its feed-forward."""
    return [
        part
        for layer in layers
        for part in (
            *(SwitchOff("head", layer, head, to) for head in range(n_heads)),
            SwitchOff("attention", layer, to=to),
            SwitchOff("feed_forward", layer, to=to),
        )
    ]


def sample() -> tuple[str, ...]:
    """The sentences over whose tokens a part's output is averaged."""
    return baseline_sentences()[:N_SAMPLE]


def _run(side: Side, part: SwitchOff) -> Run:
    return Run(side.encoding.text, side.encoding.pair, lambda _: side.weights, (part,))


def _measured(
    view: ViewState, score: Score, service: EncoderService, over: Over
) -> tuple[list[Side], tuple[str, ...]]:
    """The sentences that are measured, and why others are not."""
    if over == "two":
        return list(score.sides), ()
    problems = {i: problem_of(view, i, score.what) for i in range(len(view.sentences))}
    usable = [i for i, problem in problems.items() if not problem]
    chosen = [view.sentences[i] for i in usable]
    encodings = service.encode(
        score.card.id, [s.text for s in chosen], pairs=[s.pair for s in chosen]
    )
    vocabulary = service.vocabulary(score.card.id)
    sides = []
    for i, encoding in zip(usable, encodings, strict=True):
        try:
            sides.append(side_of(view, i, encoding, score.what, labels(encoding, vocabulary)))
        except RequestError:
            problems[i] = "not read"
    out = [letter(i) for i, problem in problems.items() if problem]
    if len(sides) < 2:
        return list(score.sides), ()
    if not out:
        return sides, ()
    return sides, (say("why.switch_off.note", n=len(out), letters=", ".join(out)),)
