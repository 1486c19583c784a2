"""The work behind Why alike? as jobs, and its downloads."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from functools import singledispatch
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from components.core import EncoderService, ModelCard
from components.core.schema import Counted, Passport
from components.features.why.compute import (
    MAX_PAIRED,
    MAX_TOKENS,
    MAX_WORDS,
    N_SAMPLE,
    EditsShown,
    How,
    Integrated,
    Into,
    LeftOut,
    Over,
    SharesShown,
    SwappedIn,
    SwitchedOff,
    To,
    edits_of,
    integrated_of,
    leave_out,
    swap_in,
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
from components.features.why.score import Score, Side, random_pairs
from components.jobs import JobKind, Report, Task
from components.ui.state.view import ViewState

__all__ = [
    "LARGE_SECONDS",
    "WORK",
    "arrays",
    "edits_task",
    "passport_of",
    "random_pairs_task",
    "rows",
    "seconds_of",
    "task_of",
]


# --- The passport of a look

_HOW = {"taken": "each word taken out of the text", "hidden": "each word hidden from attention"}


def passport_of(shown: SharesShown | Integrated | LeftOut | SwitchedOff | SwappedIn) -> Passport:
    """The passport of the results on screen."""
    plain = shown.score.passport
    return replace(plain, settings={**plain.settings, **_changed(shown)})


@singledispatch
def _changed(_: object) -> dict[str, Any]:
    """The changes made inside the model or text; nothing for shares at a layer."""
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


# --- The numbers of each look as rows and arrays

Rows = list[dict[str, Any]]


@singledispatch
def rows(shown: object) -> Rows:
    """A row for each number on screen, as in a CSV file."""
    raise TypeError(f"There is no table of {type(shown).__name__}.")


@rows.register
def _(shown: SharesShown) -> Rows:
    one, other = shown.score.sides
    return [
        {
            "first": one.letter,
            "first position": a.positions[0],
            "first word": a.label,
            "second": other.letter,
            "second position": b.positions[0],
            "second word": b.label,
            "share": float(share),
        }
        for a, cells in zip(one.units, shown.by_word.cells, strict=True)
        for b, share in zip(other.units, cells, strict=True)
    ]


@rows.register
def _(shown: Integrated) -> Rows:
    return [
        {
            "sentence": own.side.letter,
            "position": i,
            "token": label,
            "share": float(share),
            "start": own.start,
            "end": own.end,
            "remainder": own.remainder,
            "steps": own.n_steps,
        }
        for own in shown.sides
        for i, (label, share) in enumerate(zip(own.side.labels, own.shares, strict=True))
    ]


@rows.register
def _(shown: LeftOut) -> Rows:
    letters = [side.letter for side in shown.score.sides]
    return [
        {
            "sentence": letters[word.side],
            "position": word.unit.positions[0],
            "word left out": word.unit.label,
            "cosine": word.cosine,
            "change": word.change,
            "share": float(share),
        }
        for word, share in zip(shown.words, shown.shares, strict=True)
    ]


@rows.register
def _(shown: SwitchedOff) -> Rows:
    found: Rows = []
    for row, layer in enumerate(shown.layers):
        own = {
            **{f"head {head}": value for head, value in enumerate(shown.heads[row])},
            "attention": shown.attention[row],
            "feed-forward": shown.feed_forward[row],
        }
        found += [
            {"layer": layer, "switched off": name, "change": float(value)}
            for name, value in own.items()
        ]
    return found


@rows.register
def _(shown: SwappedIn) -> Rows:
    pairs = list(zip(shown.names, shown.alignment.pairs, strict=True))
    return [
        {
            "layer": layer,
            "position": i,
            "from position": j,
            "token": name,
            "share of the way": float(shown.fractions[row, column]),
        }
        for row, layer in enumerate(shown.layers if shown.fractions.size else ())
        for column, (name, (i, j)) in enumerate(pairs)
    ]


@singledispatch
def arrays(shown: object) -> Mapping[str, NDArray[Any]]:
    """The results on screen by name, as in an NPZ file."""
    raise TypeError(f"There are no arrays of {type(shown).__name__}.")


@arrays.register
def _(shown: SharesShown) -> Mapping[str, NDArray[Any]]:
    one, other = shown.score.sides
    return {
        "shares": shown.by_token.cells,
        "word_shares": shown.by_word.cells,
        "first_tokens": np.array(one.encoding.tokens),
        "second_tokens": np.array(other.encoding.tokens),
        "first_words": np.array([unit.label for unit in one.units]),
        "second_words": np.array([unit.label for unit in other.units]),
        "cosines": shown.score.cosines,
    }


@arrays.register
def _(shown: Integrated) -> Mapping[str, NDArray[Any]]:
    found: dict[str, NDArray[Any]] = {}
    for name, own in zip(("first", "second"), shown.sides, strict=True):
        ends = np.array([own.start, own.end, own.remainder])
        found |= {f"{name}_shares": own.shares, f"{name}_start_end_remainder": ends}
    return found


@arrays.register
def _(shown: LeftOut) -> Mapping[str, NDArray[Any]]:
    pairs = {} if shown.pairs is None else {"pairs": shown.pairs}
    return {
        "changes": shown.changes,
        "shares": shown.shares,
        "sides": np.array([word.side for word in shown.words], dtype=np.int64),
        "words": np.array([word.unit.label for word in shown.words], dtype=np.str_),
        **pairs,
    }


@arrays.register
def _(shown: SwitchedOff) -> Mapping[str, NDArray[Any]]:
    return {
        "heads": shown.heads,
        "attention": shown.attention,
        "feed_forward": shown.feed_forward,
        "each_pair": shown.each,
        "layers": np.array(shown.layers, dtype=np.int64),
    }


@arrays.register
def _(shown: SwappedIn) -> Mapping[str, NDArray[Any]]:
    return {
        "fractions": shown.fractions,
        "layers": np.array(shown.layers),
        "positions": np.array(shown.alignment.pairs, dtype=np.int64).reshape(-1, 2),
    }


# --- Jobs that take longer than a moment

Found = LeftOut | SwitchedOff | SwappedIn | Integrated

LARGE_SECONDS = 5.0
"""From here on work starts only with a click, not from an address."""
WORK = JobKind(
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
MEASURES = JobKind(
    "models to measure random sentences in",
    n_at_once=1,
    n_waiting=30,
    n_waiting_each=4,
    first_words="Measuring how alike random sentences are in this model",
)
"""Separate from the looks, none of which waits for it."""
_PART_RUN = 0.6
"""The average share of layers that a change inside the model reruns."""
_BACKWARD = 3.0
"""The cost of a gradient, in plain runs."""
_N_STEPS = 64
_N_TOKENS = 15
"""The average number of tokens in a sample sentence."""


def task_of(
    view: ViewState, score: Score, service: EncoderService, *, seconds: float
) -> Task | None:
    """The work behind a view's chosen look; None if it needs none, as for shares at a layer.

    Its result is one of `Found`.

    Args:
        view: the current view.
        score: the score to explain.
        service: runs the model; preferably without a cache.
        seconds: the expected duration, see `seconds_of`.
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
    """A task for the edits of the first sentence, which returns an `EditsShown`."""

    def found(told: Counted) -> EditsShown:
        return edits_of(score, service, progress=told)

    return _task(("edits", score.key), "Reading the edits", found, seconds)


def random_pairs_task(service: EncoderService, card: ModelCard) -> Task:
    """A task for the random pairs of sentences, which returns a `SentencePairs`."""
    return Task(
        ("why", "random pairs", card.id, card.checksum),
        MEASURES,
        lambda _: random_pairs(service, card),
    )


def seconds_of(view: ViewState, score: Score, token_seconds: float) -> float:
    """The expected duration of the chosen look, from that of one token in a plain run."""
    return _n_tokens(view, score) * token_seconds


def _n_tokens(view: ViewState, score: Score) -> float:
    """The number of tokens to run, as plain runs of the whole model."""
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
