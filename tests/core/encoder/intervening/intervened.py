"""Changes inside a model, made by the service and, as its oracle, by hand-written hooks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from contextlens.core import EncoderService, Encoding
from contextlens.core.schema import Average, Block, Intervention, Patch, SwitchOff
from tests.core.encoder import hooked
from tests.support.oracle import Oracle

__all__ = [
    "BASELINE",
    "INPUTS",
    "OTHER",
    "TEXT",
    "Changes",
    "Input",
    "Subject",
    "assert_as_hooked",
    "assert_close",
]

TEXT = "A python slept under the warm lamp"
OTHER = "We walked, talked, and were walking and talking again"
INPUTS = ((TEXT, None), (OTHER, None), (TEXT, "Yesterday's rain was unbelievable"))
BASELINE = [OTHER, "The bank in town lends money", "One word"]

Changes = tuple[Intervention, ...]
Input = tuple[str, str | None]


@dataclass(frozen=True)
class Subject:
    """A model under test, its oracle, and what the oracle says where nothing is changed."""

    model: str
    service: EncoderService
    oracle: Oracle
    plain: dict[Input, hooked.Run]
    baseline: Sequence[hooked.Run]

    @property
    def n_layers(self) -> int:
        return len(self.baseline[0].heads)

    def encodings(
        self, inputs: Sequence[Input], changes: Sequence[Changes], **more: Any
    ) -> list[Encoding]:
        texts, pairs = zip(*inputs, strict=True)
        return self.service.intervene(
            self.model, texts, changes, pairs=pairs, baseline=BASELINE, **more
        )


def mean(runs: Sequence[np.ndarray]) -> np.ndarray:
    """Over all tokens of all texts."""
    rows: np.ndarray = np.concatenate(runs).mean(axis=0)
    return rows


def edits_for(subject: Subject, one: Input, changes: Changes) -> hooked.Edits:
    """The same changes as the hooks take them."""
    heads, parts, states = {}, {"attention": {}, "feed_forward": {}}, {}
    for change in changes:
        if isinstance(change, SwitchOff):
            name = "heads" if change.part == "head" else change.part
            value: Any = 0.0
            if change.to == "mean":
                value = mean([getattr(run, name)[change.layer - 1] for run in subject.baseline])
            if change.part != "head":
                parts[change.part][change.layer] = value
                continue
            if change.to == "mean":
                size = len(value) // subject.oracle.model.config.num_attention_heads
                value = value[change.head * size : (change.head + 1) * size]
            heads[change.layer, change.head] = value
        elif isinstance(change, Patch):
            source = subject.plain[change.source, change.source_pair].hidden[change.layer]
            for to, where in zip(change.positions, change.source_positions, strict=True):
                states[change.layer, to] = source[where]
        elif isinstance(change, Average):
            over = [one] if change.over == "text" else list(INPUTS)
            value = mean([subject.plain[each].hidden[change.layer] for each in over])
            states.update({(change.layer, position): value for position in change.positions})
    return hooked.Edits(
        heads,
        parts["attention"],
        parts["feed_forward"],
        states,
        [
            (layer, change.seen_by, change.token)
            for change in changes
            if isinstance(change, Block)
            for layer in (change.layers or (None,))
        ],
    )


def assert_as_hooked(
    subject: Subject, inputs: Sequence[Input], changes: Sequence[Changes], found: Sequence[Encoding]
) -> None:
    for one, made, encoding in zip(inputs, changes, found, strict=True):
        assert (encoding.text, encoding.pair) == one
        expected = hooked.run(subject.oracle, *one, edits_for(subject, one, made)).hidden
        assert_close(encoding.hidden, expected[list(encoding.layers)], str(made))


def assert_close(ours: np.ndarray, expected: np.ndarray, what: str, within: float = 1e-5) -> None:
    bound = within * np.maximum(1.0, np.abs(expected).max(axis=(1, 2), keepdims=True))
    assert (np.abs(ours - expected) <= bound).all(), what
