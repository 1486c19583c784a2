"""Random comparisons of words, drawn as Meaning in context draws them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from plotly import graph_objects as go

from components.analysis.baseline import Band
from components.analysis.similarity import Comparison, Item, compare
from components.features.meaning.figures import cosine_heatmap
from components.figures.similarity import cosine_lines, cosine_range

__all__ = [
    "HEIGHT",
    "band_of",
    "comparison_of",
    "heatmap",
    "lines",
    "pair_traces",
    "strings",
]

HEIGHT = 430


def comparison_of(
    sentences: Sequence[str],
    references: Sequence[str] = (),
    *,
    n_layers: int = 7,
    centred: bool = False,
    seed: int = 0,
) -> Comparison:
    own = [Item("ABCDEFGH"[i], word, "sentence", i) for i, word in enumerate(sentences)]
    others = [Item("", w, "reference", len(own) + i) for i, w in enumerate(references)]
    random = np.random.default_rng(seed)
    n = len(own) + len(others)
    vectors = random.normal(size=(n, n_layers, 24)).astype(np.float32) + 0.3
    static = random.normal(size=(n, 16)).astype(np.float32)
    zero = np.zeros((n_layers, 24), np.float32), np.zeros(16, np.float32)
    return compare(
        [*own, *others], vectors, static, layers=range(n_layers), centre=zero if centred else None
    )


def band_of(n_layers: int) -> Band:
    steps = np.linspace(0, 0.2, n_layers, dtype=np.float32)
    return Band(steps - 0.123456, steps, steps + 0.234567)


def lines(
    comparison: Comparison, *, layer: int = 3, band: Band | None = None, title: str = ""
) -> go.Figure:
    lows = [] if band is None else [band.low]
    return cosine_lines(
        comparison,
        comparison.pairs(),
        layer=layer,
        band=band,
        scale=cosine_range(comparison.cosines, comparison.static, *lows),
        title=title,
        height=HEIGHT,
    )


def heatmap(comparison: Comparison, *, layer: int = 3, title: str = "") -> go.Figure:
    scale = cosine_range(comparison.cosines, comparison.static)
    return cosine_heatmap(comparison, comparison.cosines[layer], scale=scale, title=title)


def pair_traces(figure: go.Figure) -> list[dict[str, Any]]:
    return [trace for trace in figure.to_plotly_json()["data"] if trace.get("name")]


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from strings(inner)
