"""Models of odd parts, and how large they are, counted another way."""

from __future__ import annotations

import math
import random
import re
from dataclasses import replace

from components.core.schema import Architecture, Parameter
from tests.support.true_words import bare, odd_labels

__all__ = ["SHARE", "is_share", "layer_of", "odd_model", "of", "size_of"]

SHARE = r"(?:under 0\.01|over 99|\d+(?:\.\d+)?) %"
NAMES = (
    "embeddings.word_embeddings.weight",
    "embeddings.position_embeddings.weight",
    "embeddings.token_type_embeddings.weight",
    "embeddings.LayerNorm.weight",
    "pooler.dense.weight",
    "pooler.dense.bias",
    "odd.thing",
)
IN_LAYER = (
    "attention.self.query.weight",
    "attention.self.query.bias",
    "attention.output.LayerNorm.weight",
    "intermediate.dense.weight",
    "output.LayerNorm.bias",
)


def odd_model(chance: random.Random, base: Architecture) -> Architecture:
    """A model of some parts: one, none of a kind, tied ones, shared layers."""
    names = chance.sample(NAMES, chance.randint(1, len(NAMES)))
    layers, shared = chance.choice((0, 1, 2, 5)), chance.random() < 0.3
    stem = "encoder.albert_layer_groups.{}.albert_layers.0." if shared else "encoder.layer.{}."
    groups = min(layers, chance.choice((1, 2))) if shared else layers
    for i in range(groups):
        own = chance.sample(IN_LAYER, chance.randint(1, len(IN_LAYER)))
        names += [stem.format(i) + rest for rest in own]
    found: list[Parameter] = []
    for name in names:
        shape = tuple(chance.choice((1, 2, 8, 900)) for _ in range(1 + name.endswith("weight")))
        tied = chance.choice(found).name if found and chance.random() < 0.1 else None
        trained = chance.choice((True, True, False))
        size = math.prod(shape)
        found.append(Parameter(name, shape, "float32", 4 * size, tied, trained))
    (title,) = odd_labels(chance, 1)
    return replace(base, parameters=tuple(found), n_layers=max(layers, 1), title=title)


def is_share(said: str, share: float) -> bool:
    number = said.replace("\u00a0", " ").removesuffix(" %")
    if number.startswith("under"):
        return 0 < share < 0.0001
    if number.startswith("over"):
        return 0.995 <= share < 1
    digits = len(number.partition(".")[2])
    rounded = abs(share - float(number) / 100) <= 0.51 * 10 ** (-2 - digits)
    return rounded and (number != "100" or share >= 1) and (number != "0" or share == 0)


def size_of(parameters: list[Parameter]) -> int:
    return sum(math.prod(p.shape) for p in parameters if p.tied_to is None)


def layer_of(parameter: Parameter) -> str | None:
    """Which stored layer a parameter is of."""
    found = re.match(r"(?:encoder|transformer)\.(?:layer|albert_layer_groups)\.\d+", parameter.name)
    return found and found[0]


def of(text: str) -> str:
    return bare(text).replace("\u00a0", " ")
