"""The work behind Why alike? as jobs, and its downloads."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from functools import partial, singledispatch
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from contextlens.core import EncoderService, ModelCard
from contextlens.core.schema import Passport
from contextlens.features.why.compute import (
    MAX_PAIRED,
    MAX_TOKENS,
    MAX_WORDS,
    N_SAMPLE,
    How,
    InputsResult,
    Into,
    LeaveOutResult,
    LookResult,
    Over,
    SharesResult,
    SwapInResult,
    SwitchOffResult,
    To,
    edits_of,
    integrated_of,
    leave_out,
    swap_in,
    switch_off,
)
from contextlens.features.why.controls import (
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
    SWAP_IN,
    SWITCH_OFF,
    TO_MEAN,
)
from contextlens.features.why.score import Score, Side, random_pairs
from contextlens.jobs import JobKind, Report, Task, page_work
from contextlens.ui.state.view import ViewState

# --- The passport of a look

_HOW = {"taken": "each word taken out of the text", "hidden": "each word hidden from attention"}


def passport_of(result: LookResult) -> Passport:
    """The passport of the results on screen."""
    passport = result.score.passport
    return replace(passport, settings={**passport.settings, **_changed(result)})


@singledispatch
def _changed(_: object) -> dict[str, Any]:
    """The changes made inside the model or text; nothing for shares at a layer."""
    return {}


@_changed.register
def _(result: InputsResult) -> dict[str, Any]:
    steps = {inputs.side.letter: inputs.n_steps for inputs in result.sides}
    return {"integrated gradients": "Gauss-Legendre", "steps": steps}


@_changed.register
def _(result: LeaveOutResult) -> dict[str, Any]:
    return {"changed": _HOW[result.how], "pairs of words": result.pairs is not None}


@_changed.register
def _(result: SwitchOffResult) -> dict[str, Any]:
    return {"changed": f"each part set to {result.to}", "sentences": list(result.letters)}


@_changed.register
def _(result: SwapInResult) -> dict[str, Any]:
    donor, receiver = result.donor.letter, result.receiver.letter
    return {"changed": f"each hidden state of {donor} put into {receiver}"}


# --- The numbers of each look as rows and arrays

Rows = list[dict[str, Any]]


@singledispatch
def rows(result: object) -> Rows:
    """A row for each number on screen, as in a CSV file."""
    raise TypeError(f"There is no table of {type(result).__name__}.")


@rows.register
def _(result: SharesResult) -> Rows:
    first, second = result.score.sides
    return [
        {
            "first": first.letter,
            "first position": a.positions[0],
            "first word": a.label,
            "second": second.letter,
            "second position": b.positions[0],
            "second word": b.label,
            "share": float(share),
        }
        for a, cells in zip(first.units, result.by_word.cells, strict=True)
        for b, share in zip(second.units, cells, strict=True)
    ]


@rows.register
def _(result: InputsResult) -> Rows:
    return [
        {
            "sentence": inputs.side.letter,
            "position": i,
            "token": label,
            "share": float(share),
            "start": inputs.start,
            "end": inputs.end,
            "remainder": inputs.remainder,
            "steps": inputs.n_steps,
        }
        for inputs in result.sides
        for i, (label, share) in enumerate(zip(inputs.side.labels, inputs.shares, strict=True))
    ]


@rows.register
def _(result: LeaveOutResult) -> Rows:
    letters = [side.letter for side in result.score.sides]
    return [
        {
            "sentence": letters[word.side],
            "position": word.unit.positions[0],
            "word left out": word.unit.label,
            "cosine": word.cosine,
            "change": word.change,
            "share": float(share),
        }
        for word, share in zip(result.words, result.shares, strict=True)
    ]


@rows.register
def _(result: SwitchOffResult) -> Rows:
    table: Rows = []
    for row, layer in enumerate(result.layers):
        changes = {
            **{f"head {head}": value for head, value in enumerate(result.heads[row])},
            "attention": result.attention[row],
            "feed-forward": result.feed_forward[row],
        }
        table += [
            {"layer": layer, "switched off": name, "change": float(value)}
            for name, value in changes.items()
        ]
    return table


@rows.register
def _(result: SwapInResult) -> Rows:
    pairs = list(zip(result.names, result.alignment.pairs, strict=True))
    return [
        {
            "layer": layer,
            "position": i,
            "from position": j,
            "token": name,
            "share of the way": float(result.fractions[row, column]),
        }
        for row, layer in enumerate(result.layers if result.fractions.size else ())
        for column, (name, (i, j)) in enumerate(pairs)
    ]


@singledispatch
def arrays(result: object) -> Mapping[str, NDArray[Any]]:
    """The results on screen by name, as in an NPZ file."""
    raise TypeError(f"There are no arrays of {type(result).__name__}.")


@arrays.register
def _(result: SharesResult) -> Mapping[str, NDArray[Any]]:
    first, second = result.score.sides
    return {
        "shares": result.by_token.cells,
        "word_shares": result.by_word.cells,
        "first_tokens": np.array(first.encoding.tokens),
        "second_tokens": np.array(second.encoding.tokens),
        "first_words": np.array([unit.label for unit in first.units]),
        "second_words": np.array([unit.label for unit in second.units]),
        "cosines": result.score.cosines,
    }


@arrays.register
def _(result: InputsResult) -> Mapping[str, NDArray[Any]]:
    named_arrays: dict[str, NDArray[Any]] = {}
    for name, inputs in zip(("first", "second"), result.sides, strict=True):
        ends = np.array([inputs.start, inputs.end, inputs.remainder])
        named_arrays |= {f"{name}_shares": inputs.shares, f"{name}_start_end_remainder": ends}
    return named_arrays


@arrays.register
def _(result: LeaveOutResult) -> Mapping[str, NDArray[Any]]:
    pairs = {} if result.pairs is None else {"pairs": result.pairs}
    return {
        "changes": result.changes,
        "shares": result.shares,
        "sides": np.array([word.side for word in result.words], dtype=np.int64),
        "words": np.array([word.unit.label for word in result.words], dtype=np.str_),
        **pairs,
    }


@arrays.register
def _(result: SwitchOffResult) -> Mapping[str, NDArray[Any]]:
    return {
        "heads": result.heads,
        "attention": result.attention,
        "feed_forward": result.feed_forward,
        "each_pair": result.by_pair,
        "layers": np.array(result.layers, dtype=np.int64),
    }


@arrays.register
def _(result: SwapInResult) -> Mapping[str, NDArray[Any]]:
    return {
        "fractions": result.fractions,
        "layers": np.array(result.layers),
        "positions": np.array(result.alignment.pairs, dtype=np.int64).reshape(-1, 2),
    }


# --- Jobs that take longer than a moment

WORK = page_work("looks into a score", "Running the model")
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
_N_EDITS = 12
"""The most edits that a sentence usually has."""
_N_TOKENS = 15
"""The average number of tokens in a sample sentence."""


def task_of(
    view: ViewState, score: Score, service: EncoderService, *, token_seconds: float
) -> Task | None:
    """The work behind a view's chosen look; None if it needs none, as for shares at a layer.

    Its result is a `LookResult`.

    Args:
        view: the current view.
        score: the score to explain.
        service: runs the model; preferably without a cache.
        token_seconds: the duration of one token in a plain run.
    """
    look, seconds = LOOK.of(view), _n_tokens(view, score) * token_seconds
    if look == LEAVE_OUT:
        how, pairs = cast(How, HOW_OUT.of(view)), OUT_OF.of(view) == PAIRS
        return _task(
            ("leave out", how, pairs, score.key),
            "Reading without each word",
            partial(leave_out, score, service, how=how, pairs=pairs),
            seconds,
        )
    if look == SWITCH_OFF:
        to, over = cast(To, OFF_TO.of(view)), cast(Over, OVER.of(view))
        texts = tuple((s.text, s.pair, s.word) for s in view.sentences) if over == OF_ALL else ()
        letters = tuple(side.letter for side in score.sides)
        return _task(
            ("switch off", to, over, texts, letters, score.key),
            "Switching each part off",
            partial(switch_off, view, score, service, to=to, over=over),
            seconds,
        )
    if look == SWAP_IN:
        into = cast(Into, INTO.of(view))
        return _task(
            ("swap in", into, score.key),
            "Swapping each hidden state in",
            partial(swap_in, score, service, into=into),
            seconds,
        )
    if DEPTH.of(view) == INPUTS:
        return _task(
            ("integrated", score.key),
            "Following the shares down to the tokens",
            partial(integrated_of, score, service),
            seconds,
        )
    return None


def edits_task(score: Score, service: EncoderService, *, token_seconds: float) -> Task:
    """A task for the edits of the first sentence, which returns an `EditsResult`."""
    seconds = _N_EDITS * score.first.encoding.n_tokens * token_seconds
    work = partial(edits_of, score, service)
    return _task(("edits", score.key), "Reading the edits", work, seconds)


def random_pairs_task(service: EncoderService, card: ModelCard) -> Task:
    """A task for the random pairs of sentences, which returns a `SentencePairs`."""
    return Task(
        ("why", "random pairs", card.id, card.checksum),
        MEASURES,
        lambda _: random_pairs(service, card),
    )


def _n_tokens(view: ViewState, score: Score) -> float:
    """The number of tokens to run, as plain runs of the whole model."""
    look, lengths = LOOK.of(view), [side.encoding.n_tokens for side in score.sides]
    if look == LEAVE_OUT:
        pairs = OUT_OF.of(view) == PAIRS
        return float(sum(_n_left_out(side, pairs=pairs) for side in score.sides))
    if look == SWITCH_OFF:
        n_sample = N_SAMPLE * _N_TOKENS if OFF_TO.of(view) == TO_MEAN else 0
        n_more = max(0, len(view.sentences) - 2) if OVER.of(view) == OF_ALL else 0
        n_parts = score.layer * (score.card.n_heads + 2)
        return n_parts * sum(lengths) * (1 + n_more / 2) * _PART_RUN + n_sample
    if look == SWAP_IN:
        n_swaps = min(*lengths, MAX_TOKENS) * (score.layer + 1)
        return n_swaps * lengths[0] * _PART_RUN
    return _BACKWARD * _N_STEPS * sum(lengths) if DEPTH.of(view) == INPUTS else 0.0


def _n_left_out(side: Side, *, pairs: bool) -> int:
    n = min(len(side.words), MAX_WORDS)
    n_runs = n * (n + 1) // 2 if pairs and n <= MAX_PAIRED else n
    return n_runs * side.encoding.n_tokens


def _task(key: Hashable, stage: str, work: Callable[..., object], seconds: float) -> Task:
    def run(report: Report) -> object:
        report(stage, 0.0)
        return work(progress=lambda done, n: report(stage, done / max(n, 1)))

    return Task(("why", key), WORK, run, size=seconds)
