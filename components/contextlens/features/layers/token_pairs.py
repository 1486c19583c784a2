"""Closer look "Token pairs": the cosine of every two tokens at the chosen layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from plotly import graph_objects as go

from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import MARGIN, are_alike, leading, placed
from contextlens.core.schema import FloatArray
from contextlens.features.layers.controls import MAX_TABLE_TOKENS
from contextlens.features.layers.heatmap import (
    MAX_NUMBERS,
    TOKEN_AXIS,
    heatmap_traces,
    token_names,
)
from contextlens.features.layers.hidden_states import HiddenStates, in_title, pair_cosines
from contextlens.figures.theme import figure
from contextlens.ui.panel import Panel


@dataclass(frozen=True, eq=False)
class TokenPairs(Panel):
    """The cosines of a sentence's tokens at one layer.

    Attributes:
        cosines: (n_tokens, n_tokens).
        labels: the text written on each token.
        own_mask: (n_tokens,) a mask of the text's own tokens.
        layer: the layer.
        random_cosine: the average cosine of random pairs at the layer, if known.
        scale: the ends of the colour scale.
    """

    cosines: FloatArray
    labels: Sequence[str]
    own_mask: np.ndarray
    layer: int
    random_cosine: float | None
    scale: tuple[float, float]

    def title(self) -> Claim:
        """Return the finding: the most similar tokens."""
        pairs, cosines = self._own_pairs()
        if not len(cosines):
            return claim("layers.pairs.title.none")
        if _are_even(cosines) and len(cosines) > 1:
            return claim("layers.pairs.title.even", average=float(cosines.mean()))
        best = _highest(cosines)
        one, other = (in_title(int(i), self.labels) for i in pairs[best[0]])
        numbers = {"n": len(best), "high": float(cosines[best[0]])}
        key = "layers.pairs.title.most" if len(cosines) > 1 else "layers.pairs.title.single"
        return claim(key, one=one, other=other, **numbers)

    def claims(self) -> list[Claim]:
        """Return the most and the least similar own tokens, beside the average."""
        pairs, cosines = self._own_pairs()
        if not len(cosines):
            return [claim("layers.pairs.none")]
        numbers: dict[str, Any] = {"layer": self.layer, "average": float(cosines.mean())}
        random = self.random_cosine
        yardstick = [] if random is None else [claim("layers.pairs.random", similarity=random)]
        if _are_even(cosines):
            key = "layers.pairs.even" if len(cosines) > 1 else "layers.pairs.single"
            return [claim(key, pair=self._named(pairs[:1]), **numbers), *yardstick]
        highest, lowest = _highest(cosines), _highest(-cosines)
        numbers |= {"most": self._named(pairs[highest]), "least": self._named(pairs[lowest])}
        numbers |= {"high": float(cosines[highest[0]]), "low": float(cosines[lowest[0]])}
        average = claim("layers.pairs.average", average=numbers["average"])
        return [claim("layers.pairs.ends", **numbers), average, *yardstick]

    def _own_pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Return all pairs of own tokens: (n_pairs, 2) positions, (n_pairs,) float64 cosines."""
        positions = np.flatnonzero(self.own_mask)
        pairs = positions[np.column_stack(np.triu_indices(len(positions), 1))]
        return pairs, self.cosines[pairs[:, 0], pairs[:, 1]].astype(np.float64)

    def _named(self, pairs: np.ndarray) -> str:
        """Return the first pair, and the number of others."""
        one, other = (placed(self.labels[i], i, self.labels) for i in pairs[0])
        n_named = ("1", "2", "3")[min(len(pairs), 3) - 1]
        return say(f"layers.pairs.names.{n_named}", one=one, other=other, n=len(pairs) - 1)

    def alt(self) -> str:
        """Return a description of the heatmap."""
        return say("layers.pairs.alt", title=str(self.title()), layer=self.layer)

    def figure(self) -> go.Figure:
        """Return the heatmap of tokens by tokens."""
        names = token_names(self.labels)
        trace: dict[str, Any] = {
            "x": names,
            "y": names,
            "hovertemplate": "%{y} ~ %{x}<br>cosine %{z:.4f}<extra></extra>",
        }
        layout = {
            "xaxis": TOKEN_AXIS,
            "yaxis": {**TOKEN_AXIS, "autorange": "reversed"},
            "margin": {"l": 96, "r": 74, "b": 40 if len(names) <= MAX_NUMBERS else 88},
        }
        traces = heatmap_traces(trace, self.cosines, scale=self.scale, name="cosine")
        return figure(traces, layout, title=str(self.title()), height=500)

    def table(self) -> pd.DataFrame | None:
        """Return the cosines, tokens named by position and label; None for a long text."""
        if len(self.labels) > MAX_TABLE_TOKENS:
            return None
        headers = [f"{position} {name}" for position, name in enumerate(self.labels)]
        return pd.DataFrame(np.round(self.cosines, 4), index=headers, columns=headers)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the cosines."""
        return {"token_pairs": self.cosines}


def token_pairs(states: HiddenStates) -> TokenPairs:
    """Return the cosines of a sentence's tokens at the chosen layer."""
    random = states.random_cosines
    return TokenPairs(
        cosines=pair_cosines(states.encoding.layer(states.layer)),
        labels=states.labels,
        own_mask=states.measure.own_mask,
        layer=states.layer,
        random_cosine=None if random is None else float(random[states.layer]),
        scale=states.cosine_scale,
    )


def _are_even(cosines: np.ndarray) -> bool:
    return are_alike([float(cosines.min()), float(cosines.max())])


def _highest(cosines: np.ndarray) -> list[int]:
    """Return the pairs with the highest cosines, of which 512 tokens have 130,000."""
    near = np.flatnonzero(cosines >= cosines.max() - 2 * MARGIN)
    return [int(near[i]) for i in leading(cosines[near].tolist())]
