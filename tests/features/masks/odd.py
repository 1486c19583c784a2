"""Batches that no model gave, the batch of a view, and the strings of a chart."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from contextlens.core import EncoderService
from contextlens.core.schema import Encoding
from contextlens.features.masks.controls import MASK, PAD_TO, PAGE
from contextlens.features.masks.padded_batch import (
    Damage,
    Masks,
    PaddedBatch,
    PaddedText,
    masks_of,
)
from contextlens.ui.state.view import DEFAULT, Sentence, Value, ViewState
from tests.support.corpus_store import MadeUpService
from tests.support.texts import LABELS

N_MADE = 2000
LAYERS = (0, 1, 2, 3)

PADDED = PAD_TO.put(MASK.put(DEFAULT, False), "32")
"""Both sentences of the opening view with 25 positions of padding each, and the mask off."""


def view_of(*texts: str, **controls: Value) -> ViewState:
    sentences = tuple(map(Sentence, texts)) if texts else DEFAULT.sentences
    return replace(DEFAULT, sentences=sentences, controls={PAGE: controls} if controls else {})


def batch_of(view: ViewState, service: EncoderService) -> Masks:
    return masks_of(view, service, service.load(view.model))


def odd_batches() -> Iterable[Masks]:
    return map(_odd_masks, range(N_MADE))


def _odd_masks(seed: int) -> Masks:
    """A batch with any mask, and with other means the same texts with the mask switched."""
    batch, chance, draw = _odd_batch(seed), random.Random(seed), np.random.default_rng(seed)
    rows = []
    for row in batch.rows:
        mean, mean_all = draw.uniform(-1, 1, (2, 4)).astype(np.float32)
        mean = np.ones_like(mean) if chance.random() < 0.3 else mean
        rows.append(replace(row, damage=replace(row.damage, mean=mean, mean_all=mean_all)))
    other = PaddedBatch(tuple(rows), batch.pad_to, not batch.masked)
    return Masks(
        batches={each.masked: each for each in (batch, other)},
        masked=batch.masked,
        averaged=chance.random() < 0.5,
        layer=chance.choice(LAYERS),
        chosen=chance.choice(batch.rows).label,
        limit=512,
    )


def _odd_batch(seed: int) -> PaddedBatch:
    """Cosines: spread, within noise, all the same, about 1, negative."""
    chance, draw = random.Random(seed), np.random.default_rng(seed)

    def cosines(*shape: int) -> np.ndarray:
        base, noise = chance.choice((1.0, 1.0, 0.95, 0.3, -0.2)), chance.choice((0, 0.004, 0.5))
        return np.clip(base + noise * draw.uniform(-1, 1, shape), -1, 1).astype(np.float32)

    pad_to, masked = chance.choice((4, 9, 32)), chance.random() < 0.5
    rows = []
    for i in range(chance.choice((1, 2, 3, 8))):
        n, lost = chance.choice((1, 2, 3, pad_to)), chance.choice((0, 0, 1, 90))
        labels = [chance.choice(LABELS) for _ in range(n)]
        alone = _encoding(labels, 0, mask="model", lost=lost)
        mask = "model" if masked else "ones"
        padded = _encoding(labels, pad_to - n, mask=mask, lost=lost)
        lengths = draw.uniform(0, 9, (4, pad_to)).astype(np.float32)
        damage = Damage(LAYERS, cosines(4, n), cosines(4), cosines(4), None, lengths)
        rows.append(PaddedText("ABCDEFGH"[i], alone, padded, damage))
    return PaddedBatch(tuple(rows), pad_to, masked)


def _encoding(labels: list[str], n_pad: int, *, mask: str, lost: int) -> Encoding:
    n = len(labels) + n_pad
    base = MadeUpService().encode("m", [""], layers=LAYERS)[0]
    return replace(
        base,
        tokens=(*labels, *["[PAD]"] * n_pad),
        attention_mask=np.array([1] * len(labels) + [0] * n_pad),
        text_ids=np.full(n, -1),
        offsets=np.zeros((n, 2), int),
        n_truncated=lost,
        layers=LAYERS,
        passport=replace(base.passport, settings={"mask": mask}),
    )


def described(masks: Masks) -> PaddedText:
    """The chosen text, or if it has no padding, that which changes most without the mask."""
    shown = {row.label: row for row in masks.batch.rows}
    chosen = shown[masks.chosen]
    padded = [row for row in masks.batches[False].rows if row.n_padding]
    if chosen.n_padding or not padded:
        return chosen
    return shown[min(padded, key=lambda row: row.damage.mean[masks.layer]).label]


def reads_as_one(values: Any) -> bool:
    return f"{float(np.min(values)):.2f}" == "1.00"


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from strings(inner)
