"""Words in made-up vectors, and views of the page Senses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.analysis.separation import scaled
from components.features.senses.controls import PAGE
from components.ui.state.view import DEFAULT, Sentence, ViewState

__all__ = ["clouds", "senses_view"]


def senses_view(*texts: str, layer: int | None = None, **controls: Any) -> ViewState:
    """A view of the page; of own sentences, where some are given."""
    own = {"corpus": "sentences", **controls} if texts else controls
    sentences = tuple(map(Sentence, texts)) or DEFAULT.sentences
    return replace(DEFAULT, sentences=sentences, layer=layer, controls={PAGE: own} if own else {})


def clouds(
    sizes: Sequence[int], *, apart: float = 5.0, n_dims: int = 24, seed: int = 0
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Scaled vectors in clouds around random middles, and the number of each one's cloud."""
    random = np.random.default_rng(seed)
    middles = apart * random.normal(size=(len(sizes), n_dims))
    codes = np.repeat(np.arange(len(sizes)), sizes)
    return scaled(middles[codes] + random.normal(size=(len(codes), n_dims))), codes
