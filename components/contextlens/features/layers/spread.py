"""Closer look "Spread": anisotropy at every layer, and the variance in the first components."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go

from contextlens.analysis.baseline import Band
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import are_alike, leading, listed
from contextlens.core import EncoderService
from contextlens.core.byte_cache import remembered
from contextlens.core.schema import FloatArray
from contextlens.features.layers.hidden_states import MAX_TICKS, HiddenStates
from contextlens.features.layers.word_vectors import centred, sample_words
from contextlens.figures.frames import end_label, layer_mark
from contextlens.figures.similarity import band_area
from contextlens.figures.theme import CATEGORICAL, figure, values
from contextlens.ui.panel import Panel

FORMULA = r"""
**Anisotropy** at layer $\ell$ is the average cosine of random pairs of words from different
sentences of the sample that ships with the app; the grey band holds the middle 90 of 100 pairs.

**Share of the variance.** With $\lambda_1 \ge \lambda_2 \ge \dots$ the eigenvalues of the
covariance of the sample's word vectors at that layer, the first $k$ principal components hold

$$\frac{\lambda_1 + \dots + \lambda_k}{\sum_i \lambda_i}$$

A word's vector is the mean over its sub-tokens. The sample's sentences are the same for every model
and do not depend on what you typed.
""".strip()

COMPONENTS = (1, 3, 10)
"""The numbers of principal components in the picture of the variance."""
_COMMON = 0.1  # random words that are more similar on average share a direction
_HEIGHT = 320


@dataclass(frozen=True, eq=False)
class Spread(Panel):
    """Random pairs of words, and the sample's words in a model.

    Attributes:
        layers: all layers.
        layer: the chosen layer.
        band: the random-pair baseline, or None until it is measured.
        vectors: (n_layers, n_words, n_dims) of a few words of each of the sample's sentences.
        shares: (n_layers, n) of their variance in the first 1, 2, ... n components.
    """

    formula = FORMULA

    layers: Sequence[int]
    layer: int
    band: Band | None
    vectors: FloatArray
    shares: FloatArray

    def claims(self) -> list[Claim]:
        """Return the similarity of random words at the layer, and the components' share."""
        row = list(self.layers).index(self.layer)
        claims = []
        if self.band is not None:
            mean = float(self.band.mean[row])
            key = "layers.spread.common" if mean > _COMMON else "layers.spread.apart"
            claims.append(claim(key, layer=self.layer, similarity=mean))
        shares = self.shares[row].tolist()
        if np.isfinite(shares).all():
            numbers = {"first": shares[0], "all_of": shares[-1], "n_components": len(shares)}
            numbers |= {"n_words": self.vectors.shape[1], "layer": self.layer}
            claims.append(claim("layers.spread.components", **numbers))
        return claims

    def random_title(self) -> Claim:
        """Return the finding about random pairs."""
        if self.band is None:
            return claim("layers.spread.pairs.pending")
        return _highest("pairs", self.layers, self.band.mean.tolist())

    def variance_title(self) -> Claim:
        """Return the finding about the first component."""
        rows = np.flatnonzero(np.isfinite(self.shares[:, 0])).tolist()
        if not rows:
            return claim("layers.spread.variance.none")
        return _highest("variance", [self.layers[i] for i in rows], self.shares[rows, 0].tolist())

    def random_alt(self) -> str:
        """Return a description of the chart of random pairs."""
        return say("layers.spread.pairs_alt", title=str(self.random_title()))

    def variance_alt(self) -> str:
        """Return a description of the chart of the variance."""
        return say("layers.spread.variance_alt", title=str(self.variance_title()))

    def random_figure(self) -> go.Figure:
        """Return the average cosine of random pairs of words at each layer, with the middle 90%."""
        x, band = list(self.layers), self.band
        traces: list[dict[str, Any]] = []
        if band is not None:
            traces = [
                band_area(x, band),
                _line(x, band.mean, "average of random pairs", CATEGORICAL[0]),
            ]
        names = [] if band is None else [end_label("average", float(band.mean[-1]))]
        layout = self._layout("cosine", (-0.25, 1.0), names)
        return figure(traces, layout, title=str(self.random_title()), height=_HEIGHT)

    def variance_figure(self) -> go.Figure:
        """Return the share of the variance in the first components, a line for each number."""
        x, shares = list(self.layers), {n: self.shares[:, n - 1] for n in COMPONENTS}
        heights = _apart([line[-1] for line in shares.values()])
        names = [
            end_label(f"first {n}" if n > 1 else "first", y)
            for n, y in zip(shares, heights, strict=True)
        ]
        traces = [
            _line(x, line, f"first {n}" if n > 1 else "first component", CATEGORICAL[i])
            for i, (n, line) in enumerate(shares.items())
        ]
        layout = self._layout("share of the variance", (0.0, 1.0), names)
        return figure(traces, layout, title=str(self.variance_title()), height=_HEIGHT)

    def _layout(
        self, name: str, ends: tuple[float, float], names: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any]:
        ticks = list(self.layers)[:: ceil(len(self.layers) / MAX_TICKS)]
        return {
            "xaxis": {"title": {"text": "layer"}, "tickvals": ticks, "zeroline": False},
            "yaxis": {"title": {"text": name}, "range": list(ends), "zeroline": False},
            "shapes": [layer_mark(self.layer)],
            "annotations": list(names),
            "margin": {"l": 80, "r": 74},
        }

    def rows(self) -> list[dict[str, float]]:
        """Return a row for each layer: random pairs, if measured, and the shares."""
        rows: list[dict[str, float]] = [{"layer": layer} for layer in self.layers]
        for row, numbers in enumerate(rows):
            if self.band is not None:
                numbers["random pairs, average"] = float(self.band.mean[row])
                numbers["5th percentile"] = float(self.band.low[row])
                numbers["95th percentile"] = float(self.band.high[row])
            for n in COMPONENTS:
                numbers[f"first {n} of the variance"] = float(self.shares[row, n - 1])
        return rows

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the sample's word vectors, and the shares of their variance."""
        return {"sample_vectors": self.vectors, "variance_shares": self.shares}

    def snippet(self) -> str:
        """Return a script that leaves `shares`, (layers, n), from the page's NPZ download."""
        n = self.shares.shape[1]
        lines = [
            "import numpy",
            "import torch",
            "",
            "# The sample's word vectors (layers, words, dims), from this page's NPZ download.",
            'with numpy.load("layer-by-layer.npz") as page:',
            '    vectors = torch.from_numpy(page["sample_vectors"]).double()',
            "singular = torch.linalg.svdvals(vectors - vectors.mean(dim=1, keepdim=True))",
            "variance = singular.square()",
            f"shares = variance.cumsum(dim=1)[:, :{n}] / variance.sum(dim=1, keepdim=True)",
            "print(shares)",
        ]
        return "\n".join(lines) + "\n"


def spread_of(states: HiddenStates, service: EncoderService) -> Spread:
    """Return the spread of a model's layers."""
    vectors, n = sample_words(states.card, service).vectors, max(COMPONENTS)
    shares = remembered(
        "variance of layers",
        states.card.checksum,
        n,
        compute=lambda: variance_shares(vectors, n),
    )
    return Spread(states.encoding.layers, states.layer, states.random_band, vectors, shares)


def variance_shares(vectors: FloatArray, n: int) -> FloatArray:
    """(n_layers, n) the share of the variance in the first 1, 2, ... n components.

    nan if all vectors of a layer are equal, or there are fewer than two.

    Args:
        vectors: (n_layers, n_words, n_dims).
        n: the number of components.
    """
    shares = np.full((len(vectors), n), np.nan, np.float32)
    for row, layer in enumerate(vectors):
        eigenvalues = np.linalg.eigvalsh(_scatter(layer))[::-1].clip(min=0.0)
        total = eigenvalues.sum()
        if total > 0:
            held = np.cumsum(eigenvalues)[:n] / total
            shares[row] = np.pad(held, (0, n - len(held)), constant_values=1.0)
    return shares


def _scatter(vectors: FloatArray) -> np.ndarray:
    """Return X^T X or X X^T of the centred X, whichever is smaller: their eigenvalues are equal."""
    rows = centred(vectors)
    n_words, n_dims = rows.shape
    smaller: np.ndarray = rows.T @ rows if n_dims < n_words else rows @ rows.T
    return smaller


def _highest(
    chart: Literal["pairs", "variance"], layers: Sequence[int], numbers: Sequence[float]
) -> Claim:
    if are_alike(numbers):
        return claim(f"layers.spread.{chart}.even", value=float(np.mean(numbers)))
    best = leading(numbers)
    names = listed(sorted(layers[i] for i in best))
    return claim(f"layers.spread.{chart}.top", layers=names, value=numbers[best[0]])


def _line(x: list[int], y: FloatArray, name: str, color: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": x,
        "y": [None if np.isnan(v) else v for v in values(y)],
        "name": name,
        "line": {"color": color, "width": 2.25},
        "marker": {"size": 6},
        "hovertemplate": f"{name}<br>layer %{{x}}: %{{y:.4f}}<extra></extra>",
    }


def _apart(ends: Sequence[float]) -> list[float]:
    """Return ascending heights, some moved up so that the names at these do not touch."""
    heights: list[float] = []
    for end in np.nan_to_num(np.array(ends)).tolist():
        heights.append(max(end, heights[-1] + 0.08) if heights else end)
    return heights
