"""The pooler computed by hand from its weights, and how alike it makes the sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from components.analysis.similarity import cosine_matrix
from components.core import EncoderService, Encoding
from components.core.errors import RequestError
from components.core.schema import FloatArray
from components.features.layers.compute.tokens import HiddenStates
from components.features.layers.measures.tokens import pool_by_hand
from components.ui.state.view import letter

__all__ = ["ByHand", "by_hand", "first_token", "linear_name", "sentence_rows", "steps"]


@dataclass(frozen=True, eq=False)
class ByHand:
    """The pooler's arithmetic for one text; both None where its weights are not to be had.

    Attributes:
        linear: (n_dims,) W x + b.
        pooled: (n_dims,) tanh of it.
        reason: why there is nothing.
    """

    linear: FloatArray | None = None
    pooled: FloatArray | None = None
    reason: str = ""

    def difference(self, own: FloatArray) -> float | None:
        """The largest one to the model's own output."""
        return None if self.pooled is None else float(np.abs(self.pooled - own).max())


def linear_name(states: HiddenStates, service: EncoderService) -> str:
    """The name of the pooler's linear layer, which differs by family."""
    names = [parameter.name for parameter in service.parameters(states.card.id)]
    weight = next(n for n in names if n.startswith("pooler.") and n.endswith(".weight"))
    return weight.removesuffix(".weight")


def by_hand(states: HiddenStates, service: EncoderService) -> ByHand:
    """W x + b and its tanh, of the first token's vector after the last layer."""
    name = linear_name(states, service)
    try:
        weight = service.matrix(states.card.id, f"{name}.weight")
    except RequestError as exc:  # too large to be sent
        return ByHand(reason=str(exc))
    bias = service.matrix(states.card.id, f"{name}.bias")
    return ByHand(*pool_by_hand(states.encoding.hidden[-1, 0], weight, bias))


def first_token(states: HiddenStates) -> str:
    """What the pooler is given."""
    return f"{states.labels[0]}, layer {states.encoding.layers[-1]}"


def steps(states: HiddenStates, hand: ByHand, own: FloatArray) -> dict[str, FloatArray]:
    """From the first token's vector to the pooler output, by name."""
    found = {first_token(states): states.encoding.hidden[-1, 0]}
    if hand.linear is not None and hand.pooled is not None:
        found |= {"W x + b": hand.linear, "tanh, by hand": hand.pooled}
    return {**found, "model's own": own}


def sentence_rows(encodings: Sequence[Encoding]) -> list[dict[str, str | float]]:
    """How alike the sentences look to the pooler, to the first token, and to the mean."""
    kinds = {
        "by pooler output": [e.pooler_output for e in encodings],
        "by first token": [e.hidden[-1, 0] for e in encodings],
        "by mean of tokens": [e.hidden[-1].mean(axis=0) for e in encodings],
    }
    cosines = {
        name: cosine_matrix(np.stack([v for v in vectors if v is not None]))
        for name, vectors in kinds.items()
    }
    return [
        {
            "sentences": f"{letter(i)} ~ {letter(j)}",
            **{name: float(matrix[i, j]) for name, matrix in cosines.items()},
        }
        for i, j in combinations(range(len(encodings)), 2)
    ]
