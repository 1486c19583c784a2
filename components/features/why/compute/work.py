"""What takes longer than a glance, as work in the background: its kind, its time, what it gives."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import cast

from components.core import EncoderService, ModelCard
from components.core.schema import Counted
from components.features.why.compute.edits import EditsShown, edits_of
from components.features.why.compute.leave_out import (
    MAX_PAIRED,
    MAX_WORDS,
    How,
    LeftOut,
    leave_out,
)
from components.features.why.compute.random_pairs import random_pairs
from components.features.why.compute.score import Score, Side
from components.features.why.compute.shares import Integrated, integrated_of
from components.features.why.compute.swap_in import MAX_TOKENS, Into, SwappedIn, swap_in
from components.features.why.compute.switch_off import (
    N_SAMPLE,
    Over,
    SwitchedOff,
    To,
    switch_off,
)
from components.features.why.controls import (
    DEPTH,
    HOW_OUT,
    INPUTS,
    INTO,
    LEAVE_OUT,
    LOOK,
    OF_ALL,
    OFF_TO,
    OUT_OF,
    OVER,
    PAIRS,
    SHARES,
    SWITCH_OFF,
    TO_MEAN,
)
from components.jobs import Kind, Report, Task
from components.ui.state.view import ViewState

__all__ = [
    "LARGE_SECONDS",
    "MEASURES",
    "WORK",
    "Found",
    "edits_task",
    "random_pairs_task",
    "seconds_of",
    "task_of",
]

Found = LeftOut | SwitchedOff | SwappedIn | Integrated

LARGE_SECONDS = 5.0
"""From here on it is begun for who says so, not for an address."""
WORK = Kind(
    "looks into a score",
    n_at_once=2,
    n_at_once_each=1,
    n_large=1,
    large_seconds=LARGE_SECONDS,
    n_waiting=50,
    n_waiting_each=4,
    forgotten_seconds=60.0,
    first_words="Running the model",
)
MEASURES = Kind(
    "models to measure random sentences in",
    n_at_once=1,
    n_waiting=30,
    n_waiting_each=4,
    first_words="Measuring how alike random sentences are in this model",
)
"""Apart from the looks, none of which waits for it."""
_PART_RUN = 0.6
"""Of the layers, what a change inside the model makes run again on average."""
_BACKWARD = 3.0
"""A gradient's cost, in plain runs."""
_N_STEPS = 64
_N_TOKENS = 15
"""Of a sample sentence, on average."""


def task_of(
    view: ViewState, score: Score, service: EncoderService, *, seconds: float
) -> Task | None:
    """What the look that a view has chosen needs; None where it needs nothing: shares at a layer.

    Its result is one of `Found`.

    Args:
        view: what is chosen.
        score: what is taken apart.
        service: runs the model; better without a cache.
        seconds: that it should take, see `seconds_of`.
    """
    look = LOOK.of(view)
    if look == LEAVE_OUT:
        how, pairs = cast(How, HOW_OUT.of(view)), OUT_OF.of(view) == PAIRS
        return _task(
            ("leave out", how, pairs, score.key),
            "Reading without each word",
            lambda told: leave_out(score, service, how=how, pairs=pairs, progress=told),
            seconds,
        )
    if look == SWITCH_OFF:
        to, over = cast(To, OFF_TO.of(view)), cast(Over, OVER.of(view))
        texts = tuple((s.text, s.pair, s.word) for s in view.sentences) if over == OF_ALL else ()
        letters = tuple(side.letter for side in score.sides)
        return _task(
            ("switch off", to, over, texts, letters, score.key),
            "Switching each part off",
            lambda told: switch_off(view, score, service, to=to, over=over, progress=told),
            seconds,
        )
    if look == SHARES:
        if DEPTH.of(view) != INPUTS:
            return None
        return _task(
            ("integrated", score.key),
            "Following the shares down to the tokens",
            lambda told: integrated_of(score, service, progress=told),
            seconds,
        )
    into = cast(Into, INTO.of(view))
    return _task(
        ("swap in", into, score.key),
        "Swapping each hidden state in",
        lambda told: swap_in(score, service, into=into, progress=told),
        seconds,
    )


def edits_task(score: Score, service: EncoderService, *, seconds: float) -> Task:
    """The edits of the first sentence; gives an `EditsShown`."""

    def found(told: Counted) -> EditsShown:
        return edits_of(score, service, progress=told)

    return _task(("edits", score.key), "Reading the edits", found, seconds)


def random_pairs_task(service: EncoderService, card: ModelCard) -> Task:
    """The random pairs of sentences; gives a `SentencePairs`."""
    return Task(
        ("why", "random pairs", card.id, card.checksum),
        MEASURES,
        lambda _: random_pairs(service, card),
    )


def seconds_of(view: ViewState, score: Score, token_seconds: float) -> float:
    """What the chosen look should take, where a token takes so long in a plain run."""
    return _n_tokens(view, score) * token_seconds


def _n_tokens(view: ViewState, score: Score) -> float:
    """The tokens that are run, in plain runs of the whole model."""
    look, lengths = LOOK.of(view), [side.encoding.n_tokens for side in score.sides]
    n_parts = score.layer * (score.card.n_heads + 2)
    if look == LEAVE_OUT:
        return float(sum(_left_out(side, OUT_OF.of(view) == PAIRS) for side in score.sides))
    if look == SWITCH_OFF:
        n_sample = N_SAMPLE * _N_TOKENS if OFF_TO.of(view) == TO_MEAN else 0
        n_more = max(0, len(view.sentences) - 2) if OVER.of(view) == OF_ALL else 0
        each = sum(lengths) * (1 + n_more / 2)
        return n_parts * each * _PART_RUN + n_sample
    if look == SHARES:
        return _BACKWARD * _N_STEPS * sum(lengths) if DEPTH.of(view) == INPUTS else 0.0
    n_swaps = min(min(lengths), MAX_TOKENS) * (score.layer + 1)
    return n_swaps * lengths[0] * _PART_RUN


def _left_out(side: Side, pairs: bool) -> int:
    n = min(len(side.words), MAX_WORDS)
    n_runs = n * (n + 1) // 2 if pairs and n <= MAX_PAIRED else n
    return n_runs * side.encoding.n_tokens


def _task(key: Hashable, stage: str, work: Callable[[Counted], object], seconds: float) -> Task:
    def run(report: Report) -> object:
        report(stage, 0.0)
        return work(lambda done, n: report(stage, done / max(n, 1)))

    return Task(("why", key), WORK, run, size=seconds)
