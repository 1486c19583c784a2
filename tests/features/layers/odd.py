"""Odd numbers, and what is true of them; the states of a view."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from contextlens.analysis.baseline import Band
from contextlens.content.language import Claim
from contextlens.content.wording import quoted
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.schema import PartState
from contextlens.features.layers.controls import PAGE, MeasureKind
from contextlens.features.layers.hidden_states import HiddenStates, Measure, hidden_states
from contextlens.ui.state.view import Sentence, ViewState
from tests.support.claims import read

TRAINED = PartState("trained", "The checkpoint has weights.")
UNTRAINED = PartState("untrained", "Every bias is exactly 0.")
LABELS = ("the", "python", "[CLS]", "<s>", "🐍", "שלי", "<b>", "*", "x" * 40)
Chance = random.Random
Draw = np.random.Generator
Check: TypeAlias = Callable[[Chance, Draw], Iterator[Claim]]


def view_of(
    *texts: str, pair: str | None = None, model: str = BUNDLED_ID, **controls: Any
) -> ViewState:
    sentences = tuple(Sentence(text, pair) for text in texts)
    return ViewState(model, sentences, controls={PAGE: controls} if controls else {})


def states_of(view: ViewState, service: EncoderService) -> HiddenStates:
    return hidden_states(view, service, service.load(view.model), None)


def keys_of(check: Check, n: int) -> frozenset[str]:
    """The keys of the claims that a check made of many odd inputs, each true of its input."""
    chance, draw = random.Random(1), np.random.default_rng(1)
    return frozenset().union(*(read(check(chance, draw)) for _ in range(n)))


def odd_values(draw: Draw, *shape: int) -> np.ndarray:
    """Numbers from 0 to 1: spread, tied, almost tied, or all the same."""
    values = draw.uniform(0, 1, shape)
    how = draw.integers(6)
    if how == 0:
        values = values.round(1)
    elif how == 1:
        values = 0.5 + draw.uniform(-0.015, 0.015, shape)
    elif how == 2:
        values = draw.integers(0, 2, shape) * 0.5 + draw.uniform(0, 0.004, shape)
    elif how == 3:
        values = np.full(shape, draw.choice([0.0, 0.125, 1.0]))
    return values.astype(np.float32)


def odd_measure(chance: Chance, draw: Draw, kind: MeasureKind) -> Measure:
    n, n_layers = chance.choice((1, 2, 3, 9)), chance.choice((1, 2, 7))
    layers = tuple(range(kind == "before", n_layers))
    values = odd_values(draw, len(layers), n) * (chance.choice((1, 30)) if kind == "length" else 1)
    own = draw.random(n) < chance.choice((0, 0.6, 1))
    has_others = kind in ("start", "before") and own.sum() > 1
    low, mean, high = np.sort([odd_values(draw, len(layers)) for _ in range(3)], axis=0)
    return Measure(kind, layers, values, own, Band(low, mean, high) if has_others else None)


def tied(
    values: Sequence[float], margin: float = 0.01, sign: int = 1, *, of_change: bool = False
) -> list[int] | None:
    """The positions of the highest (or lowest) and of what lies near; None where all are alike.

    Cosines to an earlier layer (`of_change`) that differ visibly are alike only where no token has
    changed over 1.25 times as much as another.
    """
    numbers = [float(value) for value in values]

    def are_even(own: Sequence[float]) -> bool:
        low, high = min(own), max(own)
        is_visible = of_change and high - low > 0.005
        return high - low <= 2 * margin and not (is_visible and 1 - low > 1.25 * (1 - high))

    if are_even(numbers):
        return None
    top = max(numbers, key=lambda value: sign * value)
    near = [i for i, value in enumerate(numbers) if sign * (top - value) <= margin]
    return [i for i in near if are_even((numbers[i], top))]


def placed(at: int, labels: Sequence[str]) -> str:
    """A token's name, with its position where the name is there twice."""
    where = f" at position {at}" if list(labels).count(labels[at]) > 1 else ""
    return quoted(labels[at]) + where


def is_named(text: str, positions: Sequence[int], names: Sequence[str]) -> bool:
    """True if a row of names is of these positions, or the first of them and how many others."""
    expected = [names[i] for i in positions]
    if len(expected) > 2:
        return any(text == f"{name} and {len(expected) - 1} others" for name in expected)
    return text in (" and ".join(expected), " and ".join(expected[::-1]))


def drawn(figure) -> np.ndarray:
    """The matrix of a heatmap: its one or two traces laid over each other."""
    layers = [np.array(trace.z, dtype=float) for trace in figure.data]
    return layers[0] if len(layers) == 1 else np.where(np.isnan(layers[0]), layers[1], layers[0])
