"""The selected heads: one head with its habit, or a mean of heads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from contextlens.content.language import Claim, claim, say
from contextlens.core.schema import FloatArray, Tokens
from contextlens.features.attention.heads import HabitName, HeadMean, Heads, separators
from contextlens.features.attention.rollout import ROLLOUT

Scope = Literal["head", "layer", "all", "rollout"]
MEANS: Mapping[Scope, HeadMean] = {
    "layer": HeadMean(
        kind="mean",
        weights=lambda heads, layer: heads.layer_means[layer - 1],
        layers=lambda layer, _: range(layer, layer + 1),
        script=["attention = attentions[{layer} - 1].mean(dim=0)"],
        script_heads="attentions[{layer} - 1]",
    ),
    "all": HeadMean(
        kind="mean",
        weights=lambda heads, _: heads.layer_means.mean(axis=0, dtype=np.float32),
        layers=lambda _, n_layers: range(1, n_layers + 1),
        script=["attention = attentions.mean(dim=(0, 1))"],
        script_heads="attentions.flatten(0, 1)",
    ),
    "rollout": ROLLOUT,
}

MIN_SHARE = 0.3
"""The smallest share of a head's attention that is called its habit."""
MIN_RATIO = 1.5
"""The smallest ratio of a habit to the share of evenly spread attention."""


@dataclass(frozen=True)
class Habit:
    """The largest share of a head's attention, and the share in an even spread.

    Attributes:
        verdict: the name of the share, or "unclear" if none stands out.
    """

    verdict: HabitName | Literal["unclear"]
    share: float
    even: float


@dataclass(frozen=True, eq=False)
class HeadSelection:
    """A selection of heads, with the numbers that its sentences need.

    Attributes:
        scope: one head, or a mean by its name in `MEANS`.
        layer: the layer of the head or mean, or the last of the rollout or of all heads.
        head: counted from 0; meaningful only for one head.
        shares: the head's shares of attention by habit, without the entropy.
        even: the shares of evenly spread attention.
        names: the first and the separating special tokens: "[CLS]", "[SEP]"; the second is empty if
            there is none.
        trained: True if the encoder is trained.
    """

    scope: Scope
    layer: int
    head: int
    shares: Mapping[HabitName, float]
    even: Mapping[HabitName, float]
    names: Mapping[str, str]
    trained: bool = True

    @property
    def mean(self) -> HeadMean | None:
        """The way in which heads are combined; None for one head."""
        return MEANS.get(self.scope)

    @property
    def name(self) -> str:
        """The name of the heads that a mean or rollout covers."""
        scope = "layer" if self.scope == "head" else self.scope
        return say(f"attention.scope.{scope}", n=self.layer)

    @property
    def habit_names(self) -> list[str]:
        """The names of `HABITS` except the entropy, in order, with this model's special tokens."""
        first, others = self.names["first"], self.names["separators"]
        separator = say("attention.habit.others", name=others) if others == first else others
        return [
            say("attention.habit.previous"),
            say("attention.habit.next"),
            first,
            separator or say("attention.habit.special"),
            say("attention.habit.word"),
        ]

    def habit(self) -> Habit:
        """The habit of a head, or its largest share if no habit is clear."""
        shares, even = self.shares, self.even
        clear = [name for name in shares if shares[name] >= max(MIN_SHARE, MIN_RATIO * even[name])]
        best = max(clear or shares, key=shares.__getitem__)
        return Habit(best if clear else "unclear", shares[best], even[best])

    def habit_claim(self, kind: Literal["title", "head"], named: Callable[[str], str]) -> Claim:
        """A head's habit in words.

        Args:
            kind: a title, or a sentence on the head.
            named: escapes the name of a special token.
        """
        habit = self.habit()
        return claim(
            f"attention.{kind}.{habit.verdict}",
            layer=self.layer,
            head=self.head + 1,
            share=habit.share,
            even=habit.even,
            name=named(self.names.get(habit.verdict, "")),
        )

    def weights(self, heads: Heads) -> FloatArray | None:
        """(n_tokens, n_tokens) float32; None for a head that was not kept in full."""
        mean = self.mean
        if mean is None:
            return heads.whole(self.layer, self.head)
        return mean.weights(heads, self.layer)

    def heads(self, heads: Heads) -> list[tuple[int, int]]:
        """The (layer, head) pairs in the selection."""
        if self.mean is None:
            return [(self.layer, self.head)]
        n_layers, n_heads, _ = heads.habits.shape
        layers = self.mean.layers(self.layer, n_layers)
        return [(layer, head) for layer in layers for head in range(n_heads)]

    def script(self) -> list[str]:
        """Lines of Python that define `attention`."""
        if self.mean is None:
            head = f"attentions[{self.layer} - 1, {self.head + 1} - 1]"
            return [f"attention = {head}  # layers and heads counted from 1"]
        return [line.format(layer=self.layer) for line in self.mean.script]

    def script_heads(self) -> str:
        """Python for the selected heads."""
        if self.mean is None:
            return f"attentions[{self.layer} - 1, {self.head}:{self.head} + 1]"
        return self.mean.script_heads.format(layer=self.layer)


def select(
    heads: Heads, tokens: Tokens, scope: Scope, position: tuple[int, int], *, trained: bool
) -> HeadSelection:
    """The selection of a scope at a (layer, head)."""
    layer, head = position
    mean, shares = MEANS.get(scope), get_args(HabitName)
    others = [tokens.tokens[i] for i in separators(tokens)]
    return HeadSelection(
        scope=scope,
        layer=layer if mean is None else mean.layers(layer, len(heads.habits))[-1],
        head=head,
        shares=dict(zip(shares, map(float, heads.habits[layer - 1, head]), strict=False)),
        even=dict(zip(shares, map(float, heads.even), strict=False)),
        names={"first": tokens.tokens[0], "separators": others[0] if others else ""},
        trained=trained,
    )
