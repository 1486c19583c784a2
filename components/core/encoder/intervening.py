"""Texts read with something changed inside the model, many at a time.

What lies below all changes of a text is computed once for the text: each result joins its batch at
the layer where it begins to differ. See `EncoderService.intervene`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch

from components.core.encoder.changing import Row
from components.core.encoder.forking import run_group
from components.core.encoder.inputs import check_rows
from components.core.encoder.intervention_checks import (
    Changes,
    check_changes,
    read_changes,
    sources_of,
)
from components.core.encoder.loading import LoadedModel
from components.core.encoder.memory import tidy_memory
from components.core.encoder.put_in import gather
from components.core.encoder.request import Request, checked_layers
from components.core.encoder.running import batches, freeze, passport_of, room
from components.core.encoder.tokenizing import checked_texts, tokenize
from components.core.schema import (
    Average,
    Counted,
    Encoding,
    Intervention,
    Passport,
    SwitchOff,
    Tokens,
)

__all__ = ["intervene"]

_Input = tuple[str, str | None]


@torch.inference_mode()
def intervene(
    loaded: LoadedModel,
    texts: Sequence[str],
    interventions: Sequence[Sequence[Intervention]],
    *,
    pairs: Sequence[str | None] | None = None,
    layers: Sequence[int] | None = None,
    baseline: Sequence[str] = (),
    progress: Counted | None = None,
) -> list[Encoding]:
    """Each text's encoding under its interventions; see `EncoderService.intervene`."""
    card = loaded.card
    inputs = checked_texts(texts, pairs)
    every = read_changes(interventions, len(inputs))
    asked = tuple(range(card.n_layers + 1) if layers is None else checked_layers(layers, card))
    sources = sources_of(every)
    averaged = checked_texts(baseline, None) if any(map(_needs_means, every)) else []
    tokens = _tokenized(loaded, [*inputs, *sources, *averaged])
    for changes, one in zip(every, inputs, strict=True):
        check_changes(changes, tokens[one], card, sources=tokens, has_baseline=bool(averaged))
    texts_read = [tokens[one] for one in dict.fromkeys(inputs)]
    plain = passport_of(loaded, Request(), loaded.device.for_steps)
    passport = _Passports(plain, texts_read, averaged)
    rows = [
        Row(_room(loaded, tokens[one], asked, passport.of(changes)), changes)
        for one, changes in zip(inputs, every, strict=True)
    ]
    with tidy_memory(sum(row.result.n_tokens for row in rows)):
        report = _Report(progress, len(rows))
        report.done(0)
        put_in = gather(
            loaded,
            every,
            texts=texts_read,
            sources=[tokens[one] for one in sources],
            baseline=[tokens[one] for one in averaged],
            pause=lambda: report.done(0),
        )
        of_text = _by_text(rows)
        lengths, most = [t.n_tokens for t in texts_read], loaded.device.for_steps.batch_tokens
        for places in batches(lengths, same_length=False, most=most):
            group = [texts_read[i] for i in places]
            some = [row for t in group for row in of_text[t.text, t.pair]]
            run_group(loaded, group, some, put_in, done=report.done)
    for row in rows:
        freeze(row.result)
    return [row.result for row in rows]


def _needs_means(changes: Changes) -> bool:
    return any(isinstance(change, SwitchOff) and change.to == "mean" for change in changes)


def _tokenized(loaded: LoadedModel, inputs: Sequence[_Input]) -> dict[_Input, Tokens]:
    different = list(dict.fromkeys(inputs))
    texts, pairs = [text for text, _ in different], [pair for _, pair in different]
    tokens = tokenize(loaded.reader, texts, pairs=pairs)
    check_rows(loaded, tokens)
    return dict(zip(different, tokens, strict=True))


def _room(
    loaded: LoadedModel, tokens: Tokens, layers: tuple[int, ...], passport: Passport
) -> Encoding:
    pooled = loaded.card.n_layers in layers
    return room(tokens, loaded, Request(layers=layers), passport, with_pooler=pooled)


def _by_text(rows: Sequence[Row]) -> dict[_Input, list[Row]]:
    found: dict[_Input, list[Row]] = {}
    for row in rows:
        found.setdefault((row.result.text, row.result.pair), []).append(row)
    return found


class _Passports:
    """How to get each result again: what was changed, and whatever else its numbers depend on."""

    def __init__(
        self, plain: Passport, texts: Sequence[Tokens], averaged: Sequence[_Input]
    ) -> None:
        self._plain = plain
        self._texts = [[t.text] if t.pair is None else [t.text, t.pair] for t in texts]
        self._averaged = [text for text, _ in averaged]

    def of(self, changes: Changes) -> Passport:
        if not changes:
            return self._plain
        settings = {
            **self._plain.settings,
            "interventions": [change.words for change in changes],
        }
        if _needs_means(changes):
            settings["baseline"] = self._averaged
        if any(isinstance(change, Average) and change.over == "batch" for change in changes):
            settings["all texts"] = self._texts
        return replace(self._plain, settings=settings)


class _Report:
    """Tells how many results are there."""

    def __init__(self, progress: Counted | None, n: int) -> None:
        self._progress, self._n, self._done = progress, n, 0

    def done(self, n: int) -> None:
        self._done += n
        if self._progress is not None:
            self._progress(self._done, self._n)
