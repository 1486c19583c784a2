"""What is selected of all heads: one of them, a mean, or rollout; and the weights of that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from components.core.schema import FloatArray, Tokens
from components.features.attention.measures.heads import HABITS, Heads, rollout, separators

__all__ = ["Scope", "Selection", "reduced_weights", "select", "selected_heads"]

Scope = Literal["head", "layer", "all", "rollout"]


@dataclass(frozen=True, eq=False)
class Selection:
    """What is selected, and what has to be known of it to say it in words.

    Attributes:
        scope: one head, a layer's mean, the mean of all, or rollout.
        layer: of the head or mean, or the last one of the rollout.
        head: counted from 0; of no meaning but for one head.
        shares: the head's shares of attention by habit, without the entropy.
        even: the same for evenly spread attention.
        names: what the first and the separating special tokens are called: "[CLS]", "[SEP]"; the
            second is empty where there is none.
        trained: whether the encoder is.
    """

    scope: Scope
    layer: int
    head: int
    shares: Mapping[str, float]
    even: Mapping[str, float]
    names: Mapping[str, str]
    trained: bool = True


def select(
    heads: Heads, tokens: Tokens, scope: Scope, place: tuple[int, int], *, trained: bool
) -> Selection:
    """The selection of a scope at a place, a (layer, head); the mean of all ends at the last."""
    layer, head = place
    return Selection(
        scope=scope,
        layer=len(heads.habits) if scope == "all" else layer,
        head=head,
        shares=dict(zip(HABITS[:-1], map(float, heads.habits[layer - 1, head]), strict=False)),
        even=dict(zip(HABITS[:-1], map(float, heads.even), strict=False)),
        names=_names(tokens),
        trained=trained,
    )


def reduced_weights(heads: Heads, selection: Selection) -> FloatArray | None:
    """(n_tokens, n_tokens) float32 of a selection; None for a head that was not kept whole."""
    if selection.scope == "head":
        return heads.whole(selection.layer, selection.head)
    if selection.scope == "rollout":
        return rollout(heads.layer_means[: selection.layer])
    if selection.scope == "layer":
        own: FloatArray = heads.layer_means[selection.layer - 1]
        return own
    mean: FloatArray = heads.layer_means.mean(axis=0, dtype=np.float32)
    return mean


def selected_heads(heads: Heads, selection: Selection) -> list[tuple[int, int]]:
    """The (layer, head) pairs that a selection is made of."""
    if selection.scope == "head":
        return [(selection.layer, selection.head)]
    n_layers, n_heads, _ = heads.habits.shape
    layers = {"layer": [selection.layer], "rollout": range(1, selection.layer + 1)}
    selected = layers.get(selection.scope, range(1, n_layers + 1))
    return [(layer, head) for layer in selected for head in range(n_heads)]


def _names(tokens: Tokens) -> dict[str, str]:
    """What the special tokens of this model are called."""
    rest = [tokens.tokens[i] for i in separators(tokens)]
    return {"first": tokens.tokens[0], "separators": rest[0] if rest else ""}
