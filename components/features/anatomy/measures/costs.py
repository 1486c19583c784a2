"""What running a model costs: multiply-adds for a text, and memory for its numbers.

Only the products that grow with the work are counted: the linear layers, and attention's two
products. LayerNorm, softmax, additions and table look-ups are left out, as flop counters do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from components.core.schema import PROJECTIONS, Architecture, Parameter
from components.features.anatomy.measures.parameters import n_values

__all__ = ["BYTES", "Operations", "comparison_row", "memory", "operations"]

BYTES = {"float32": 4, "float16": 2, "int8": 1}
"""Bytes of one number at each precision."""

_QUERY = re.compile(r"attention\.(self\.query|q_lin|attn\.q|query)\.weight$")
_GROUP = re.compile(r"albert_layer_groups\.(\d+)\.")
_IN_LAYER = re.compile(r"(encoder|transformer)\.(layer\.\d+|albert_layer_groups\.\d+)\.")
_BEFORE = re.compile(rf"({'|'.join(map(re.escape, PROJECTIONS.values()))})\.")


@dataclass(frozen=True)
class Operations:
    """Multiply-adds for one text.

    Attributes:
        linear: of the layers' linear layers, and of a projection before them.
        attention: of queries with keys, and of weights with values.
        pooler: of the pooler, which reads one token.
    """

    linear: int
    attention: int
    pooler: int

    @property
    def total(self) -> int:
        """All together."""
        return self.linear + self.attention + self.pooler


def operations(architecture: Architecture, n_tokens: int) -> Operations:
    """Multiply-adds for a text of so many tokens, special ones included.

    A matrix of `a` x `b` costs `a * b` for each token that goes through it. Attention costs
    `2 * n_tokens ** 2 * n_dims` in each layer: once for the scores, once for the weighted sum.
    """
    uses = _uses(architecture)
    matrices = [p for p in architecture.parameters if len(p.shape) == 2]
    layers = sum(n_values(p) for p in matrices if _IN_LAYER.match(p.name)) * uses
    before = sum(n_values(p) for p in matrices if _BEFORE.match(p.name))
    widths = sum(p.shape[0] for p in matrices if _QUERY.search(p.name)) * uses
    return Operations(
        linear=round(n_tokens * (layers + before)),
        attention=round(2 * n_tokens**2 * widths),
        pooler=sum(n_values(p) for p in matrices if p.name.startswith("pooler.")),
    )


def memory(architecture: Architecture, precision: str) -> int:
    """Bytes of all parameters at a precision of `BYTES`, tied ones once."""
    return BYTES[precision] * sum(n_values(p) for p in _own(architecture))


def comparison_row(
    architecture: Architecture, n_tokens: int
) -> dict[str, str | int | float | None]:
    """One model's line beside others; no operations where the text does not fit."""
    fits = n_tokens <= architecture.max_length
    done = operations(architecture, n_tokens).total / 1e9 if fits else None
    return {
        "model": architecture.title,
        "parameters": sum(n_values(p) for p in _own(architecture)),
        "billion multiply-adds": done,
        **{f"MB, {name}": memory(architecture, name) / 1e6 for name in BYTES},
        "layers": architecture.n_layers,
        "heads": architecture.n_heads,
        "dims": architecture.n_dims,
        "inner dims": architecture.n_inner,
        "vocabulary": architecture.vocabulary_size,
        "longest text": architecture.max_length,
    }


def _own(architecture: Architecture) -> list[Parameter]:
    return [p for p in architecture.parameters if p.tied_to is None]


def _uses(architecture: Architecture) -> float:
    """How many layers use each stored one: 1, and more where layers share (ALBERT)."""
    groups = {m[1] for p in architecture.parameters if (m := _GROUP.search(p.name))}
    return architecture.n_layers / len(groups) if groups else 1
