"""Pairs at one layer, made of any cosines, labels and scores."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from plotly import graph_objects as go

from contextlens.analysis.correlation import correlated
from contextlens.core.schema import Passport
from contextlens.features.pairs.comparison import evaluate
from contextlens.features.pairs.correlation import ScoredPairs
from contextlens.features.pairs.cosines import PairCosines
from contextlens.features.pairs.pair_set import (
    DIFFERENT,
    SAME,
    TEST,
    TRAIN,
    UNKNOWN,
    WHOLE,
    pair_set,
)
from contextlens.features.pairs.pairs_at_layer import PairsAtLayer
from contextlens.features.pairs.threshold import LabelledPairs

__all__ = ["at_layer", "labelled", "scored", "separated", "trace_of"]


def at_layer(
    cosines: Any,
    gold: list[int],
    split: list[int] | None = None,
    notes: tuple[str, ...] = (),
    grades: list[float] | None = None,
    shared: Any = None,
) -> PairsAtLayer:
    """Pairs of whole texts at the last layer."""
    values, n = np.array(cosines, np.float32), len(gold)
    texts = [(f"text {i}", f"other {i}") for i in range(n)]
    pairs = pair_set("mine", texts, spans=[(WHOLE, WHOLE)] * n, rows=list(range(1, n + 1)),
                     gold=gold, split=split, grades=grades, notes=notes)  # fmt: skip
    cosines_of_pairs = PairCosines(
        values=values,
        layers=tuple(range(len(values))),
        n_cut=0,
        n_encoded=2 * n,
        passport=Passport("m", "", "0" * 64, "exact", {}),
        n_unknown=0,
    )
    result = evaluate(pairs, cosines_of_pairs)
    if grades is not None:
        correlation = correlated(values, np.array(grades), shared=shared)
        result = replace(result, correlation=correlation)
    return result.at_layer(pairs, None)


def labelled(
    cosines: Any,
    gold: list[int],
    split: list[int] | None = None,
    notes: tuple[str, ...] = (),
) -> LabelledPairs:
    """Pairs that a threshold judges."""
    pairs = at_layer(cosines, gold, split, notes)
    assert isinstance(pairs, LabelledPairs)
    return pairs


def separated(n: int = 40, *, train: bool = True) -> LabelledPairs:
    """Layer 0 is noise; layer 1 tells all but two apart."""
    gold = [SAME, DIFFERENT] * (n // 2)
    noise = np.random.default_rng(0).uniform(0, 1, n)
    clear = np.where(np.array(gold) == SAME, 0.8, 0.2) + noise / 100
    clear[-1], clear[-4] = 0.9, 0.1
    split = [TRAIN] * (n // 2) + [TEST] * (n // 2) if train else None
    return labelled(np.stack([noise, clear]), gold, split)


def scored(grades: list[float], cosines: Any, shared: Any = None) -> ScoredPairs:
    """Pairs of whole texts with graded scores."""
    pairs = at_layer(cosines, [UNKNOWN] * len(grades), grades=grades, shared=shared)
    assert isinstance(pairs, ScoredPairs)
    return pairs


def trace_of(figure: go.Figure, name: str) -> go.Scatter:
    """The trace of a figure with this name."""
    return next(trace for trace in figure.data if trace.name == name)
