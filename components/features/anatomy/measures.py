"""Parameters counted by part, arithmetic and memory of a forward pass, and one array's statistics.

Numpy in, numpy out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from components.core.families import PROJECTIONS
from components.core.schema import Architecture, FloatArray, Parameter

__all__ = [
    "Node",
    "Totals",
    "WeightStatistics",
    "build_tree",
    "comparison_row",
    "evenly_spaced",
    "memory",
    "n_values",
    "operations",
    "parameter_rows",
    "search",
    "totals",
    "weight_statistics",
]


# --- The parts of a model


@dataclass(frozen=True)
class Step:
    """One step down the tree: its name in addresses, its name on the page, and its kind."""

    key: str
    name: str
    kind: str


@dataclass(frozen=True, eq=False)
class Node:
    """A part of a model with everything below it.

    Attributes:
        path: its place, as "layer-1/attention/query"; empty for the whole model.
        name: its name within its parent: "Query".
        title: its full name: "Layer 1 › Attention › Query".
        kind: the name of its explanation and colour: "query".
        parameters: its parameters, in the model's own order.
    """

    path: str
    name: str
    title: str
    kind: str
    children: tuple[Node, ...]
    parameters: tuple[Parameter, ...]

    @cached_property
    def n_values(self) -> int:
        """The number of its values; tied parameters count only at their first place."""
        return sum(n_values(p) for p in self.parameters if p.tied_to is None)

    @cached_property
    def n_bytes(self) -> int:
        """The memory of its values; tied parameters count only at their first place."""
        return sum(p.n_bytes for p in self.parameters if p.tied_to is None)

    def share_of(self, whole: Node) -> float:
        """The part's share of another one's values; 0 if that one has none."""
        return self.n_values / whole.n_values if whole.n_values else 0.0

    def walk(self) -> Iterator[Node]:
        """This part and all below, from the top."""
        yield self
        for child in self.children:
            yield from child.walk()

    def find(self, path: str) -> Node | None:
        """The part at a path, or None if this model has none."""
        return next((node for node in self.walk() if node.path == path), None)


@dataclass(frozen=True)
class Totals:
    """All ways to count a model's parameters.

    Attributes:
        n_named: parameter names in the model, including tied ones.
        n_tied: names that share the memory of another one.
        n_values: all numbers, each counted once.
        n_in_matrices: the numbers in arrays of two dimensions.
        n_bytes: the memory of the numbers as stored.
        dtypes: the data types in which the numbers are stored.
    """

    n_named: int
    n_tied: int
    n_values: int
    n_in_matrices: int
    n_bytes: int
    dtypes: tuple[str, ...]


def n_values(parameter: Parameter) -> int:
    """The number of values in a parameter."""
    return math.prod(parameter.shape)


def totals(parameters: Sequence[Parameter]) -> Totals:
    """The counts of a list of parameters."""
    untied = _untied(parameters)
    return Totals(
        n_named=len(parameters),
        n_tied=len(parameters) - len(untied),
        n_values=sum(map(n_values, untied)),
        n_in_matrices=sum(n_values(p) for p in untied if len(p.shape) == 2),
        n_bytes=sum(p.n_bytes for p in untied),
        dtypes=tuple(dict.fromkeys(p.dtype for p in untied)),
    )


def _untied(parameters: Sequence[Parameter]) -> list[Parameter]:
    return [p for p in parameters if p.tied_to is None]


@lru_cache(maxsize=32)  # by identity: every rerun of a page asks for the same eight
def build_tree(architecture: Architecture) -> Node:
    """The whole model, its parts below it in the model's own order."""
    placed = [(_place(p.name, architecture), p) for p in architecture.parameters]
    return _node((), Step("", architecture.title, "model"), placed)


def search(node: Node, query: str) -> frozenset[str]:
    """Names of the parameters whose name, or whose part's title, contains the query."""
    text = query.strip().casefold()
    return frozenset(
        parameter.name
        for part in node.walk()
        for parameter in part.parameters
        if text in parameter.name.casefold() or (text in part.title.casefold() and part.path)
    )


def parameter_rows(node: Node) -> list[dict[str, str | int | float]]:
    """The table of a part's parameters; a tied parameter has no numbers of its own."""
    titles = {
        p.name: part.title for part in node.walk() if not part.children for p in part.parameters
    }
    return [
        {
            "name": p.name,
            "part": titles[p.name],
            "shape": " × ".join(map(str, p.shape)),
            "parameters": n_values(p) if p.tied_to is None else 0,
            "dtype": p.dtype,
            "MB": p.n_bytes / 1e6 if p.tied_to is None else 0.0,
            "tied to": p.tied_to or "",
            "trained": "not known" if p.trained is None else "yes" if p.trained else "no",
        }
        for p in node.parameters
    ]


def _node(
    above: tuple[Step, ...], step: Step, placed: Sequence[tuple[tuple[Step, ...], Parameter]]
) -> Node:
    """Build a part from its parameters, each with the remaining steps down to it."""
    steps_down = (*above, step) if step.key else above
    groups: dict[str, list[tuple[tuple[Step, ...], Parameter]]] = {}
    for steps, parameter in placed:
        if steps:
            groups.setdefault(steps[0].key, []).append((steps, parameter))
    children = [
        _node(steps_down, group[0][0][0], [(steps[1:], p) for steps, p in group])
        for group in groups.values()
    ]
    return Node(
        path="/".join(s.key for s in steps_down),
        name=step.name,
        title=" › ".join(s.name for s in steps_down) or step.name,
        kind=step.kind,
        children=tuple(children),
        parameters=tuple(p for _, p in placed),
    )


_EMBEDDINGS = Step("embeddings", "Embedding layer", "embeddings")
_POOLER = Step("pooler", "Pooler", "pooler")
_TOP = (
    (r"embeddings\.word_embeddings\.", (_EMBEDDINGS, Step("word", "Word table", "word"))),
    (
        r"embeddings\.position_embeddings\.",
        (_EMBEDDINGS, Step("position", "Position table", "position")),
    ),
    (
        r"embeddings\.token_type_embeddings\.",
        (_EMBEDDINGS, Step("segment", "Segment table", "segment")),
    ),
    (r"embeddings\.LayerNorm\.", (_EMBEDDINGS, Step("layernorm", "LayerNorm", "layernorm"))),
    (
        rf"({'|'.join(map(re.escape, PROJECTIONS.values()))})\.",
        (_EMBEDDINGS, Step("projection", "Projection", "projection")),
    ),
    (
        r"encoder\.relative_attention_bias\.",
        (Step("relative", "Relative positions", "relative"),),
    ),
    (r"pooler\.", (_POOLER,)),
)
_ATTENTION = Step("attention", "Attention", "attention")
_FORWARD = Step("feed-forward", "Feed-forward", "feed-forward")
_NORM = Step("layernorm", "LayerNorm", "layernorm")
_PARAMETERS_IN_LAYER = (
    (
        r"attention\.(self\.query|q_lin|attn\.q|query)\.",
        _ATTENTION,
        Step("query", "Query", "query"),
    ),
    (r"attention\.(self\.key|k_lin|attn\.k|key)\.", _ATTENTION, Step("key", "Key", "key")),
    (
        r"attention\.(self\.value|v_lin|attn\.v|value)\.",
        _ATTENTION,
        Step("value", "Value", "value"),
    ),
    (
        r"attention\.(output\.dense|out_lin|attn\.o|dense)\.",
        _ATTENTION,
        Step("output", "Output", "output"),
    ),
    (r"(attention\.output\.LayerNorm|attention\.LayerNorm|sa_layer_norm)\.", _ATTENTION, _NORM),
    (
        r"(intermediate\.dense|ffn\.lin1|ffn)\.(weight|bias)",
        _FORWARD,
        Step("widening", "Widening", "widening"),
    ),
    (
        r"(output\.dense|ffn\.lin2|ffn_output)\.",
        _FORWARD,
        Step("narrowing", "Narrowing", "narrowing"),
    ),
    (
        r"(output\.LayerNorm|output_layer_norm|full_layer_layer_norm)\.",
        _FORWARD,
        _NORM,
    ),
)
_LAYER = re.compile(r"(?:encoder|transformer)\.layer\.(\d+)\.(.+)")
_SHARED = re.compile(r"encoder\.albert_layer_groups\.(\d+)\.albert_layers\.(\d+)\.(.+)")


def _place(name: str, architecture: Architecture) -> tuple[Step, ...]:
    """The steps from the model to the part that contains a parameter."""
    if layer := _LAYER.fullmatch(name):
        number = int(layer[1]) + 1
        return (Step(f"layer-{number}", f"Layer {number}", "layer"), *_within(layer[2]))
    if shared := _SHARED.fullmatch(name):
        return (_shared(int(shared[1]), int(shared[2]), architecture), *_within(shared[3]))
    other = (Step("other", "Other", "other"), Step(name, name, "other"))
    return next((steps for rule, steps in _TOP if re.match(rule, name)), other)


def _within(rest: str) -> tuple[Step, ...]:
    """The steps from a layer to the part that contains a parameter."""
    for rule, block, step in _PARAMETERS_IN_LAYER:
        if re.match(rule, rest):
            return block, step
    return (Step(rest, rest, "other"),)


def _shared(group: int, inner: int, architecture: Architecture) -> Step:
    """The step to weights that several layers use in turn, as in ALBERT."""
    names = [m for p in architecture.parameters if (m := _SHARED.fullmatch(p.name))]
    n_groups = 1 + max(int(m[1]) for m in names)
    n_inner = 1 + max(int(m[2]) for m in names)
    per_group = architecture.n_layers / n_groups
    uses = [n + 1 for n in range(architecture.n_layers) if int(n / per_group) == group]
    name = f"Layers {uses[0]} to {uses[-1]}" if len(uses) > 1 else f"Layer {uses[0]}"
    step = f", step {inner + 1}" if n_inner > 1 else ""
    key = f"shared-{group + 1}" + (f"-{inner + 1}" if n_inner > 1 else "")
    return Step(key, f"{name}, shared{step}", "shared")


# --- The cost of running a model

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
        linear: in the layers' linear layers, and in a projection before them.
        attention: of queries with keys, and of weights with values.
        pooler: in the pooler, which reads one token.
    """

    linear: int
    attention: int
    pooler: int

    @property
    def total(self) -> int:
        """The sum of all three."""
        return self.linear + self.attention + self.pooler


def operations(architecture: Architecture, n_tokens: int) -> Operations:
    """Multiply-adds for a text of this many tokens, special ones included.

    A matrix of `a` x `b` costs `a * b` for each token that passes through it. Attention costs
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
    """Bytes of all parameters at a precision of `BYTES`; tied ones count once."""
    return BYTES[precision] * sum(n_values(p) for p in _untied(architecture.parameters))


def comparison_row(
    architecture: Architecture, n_tokens: int
) -> dict[str, str | int | float | None]:
    """One model's row in the comparison; without operations if the text does not fit."""
    fits = n_tokens <= architecture.max_length
    billions = operations(architecture, n_tokens).total / 1e9 if fits else None
    return {
        "model": architecture.title,
        "parameters": sum(n_values(p) for p in _untied(architecture.parameters)),
        "billion multiply-adds": billions,
        **{f"MB, {name}": memory(architecture, name) / 1e6 for name in BYTES},
        "layers": architecture.n_layers,
        "heads": architecture.n_heads,
        "dims": architecture.n_dims,
        "inner dims": architecture.n_inner,
        "vocabulary": architecture.vocabulary_size,
        "longest text": architecture.max_length,
    }


def _uses(architecture: Architecture) -> float:
    """The number of layers that use each stored layer: 1, or more if layers are shared (ALBERT)."""
    groups = {m[1] for p in architecture.parameters if (m := _GROUP.search(p.name))}
    return architecture.n_layers / len(groups) if groups else 1


# --- The numbers inside one parameter

SEED = 0
"""The seed of the random matrix that a trained one is compared with."""
_BINS = 61


@dataclass(frozen=True, eq=False)
class WeightStatistics:
    """One parameter's statistics.

    Attributes:
        shape: the shape of the measured array.
        norm: Frobenius norm, the root of the sum of all squares.
        edges, counts: (n_bins + 1,) and (n_bins,) a histogram symmetric around zero.
        n_outside: values beyond the histogram's ends, counted in its outermost bins.
        singular: (rank,) float64 singular values, falling; empty for a vector.
        random: (rank,) the same for a random matrix with this one's shape, mean 0 and norm.
    """

    shape: tuple[int, ...]
    mean: float
    std: float
    low: float
    high: float
    norm: float
    edges: NDArray[np.float64]
    counts: NDArray[np.int64]
    n_outside: int
    singular: NDArray[np.float64]
    random: NDArray[np.float64]

    def n_for(self, share: float, values: NDArray[np.float64] | None = None) -> int:
        """The number of largest singular values that hold this share of the sum of all squares."""
        squares = np.cumsum((self.singular if values is None else values) ** 2)
        if not squares.size or squares[-1] == 0:
            return 0
        return int(np.searchsorted(squares, share * squares[-1] * (1 - 1e-12)) + 1)


def weight_statistics(array: FloatArray) -> WeightStatistics:
    """The statistics of one parameter, or of rows sampled from it."""
    flat = array.astype(np.float64).ravel()
    edges, counts, n_outside = _histogram(flat)
    singular = _singular_values(array) if array.ndim == 2 else np.zeros(0)
    return WeightStatistics(
        shape=array.shape,
        mean=float(flat.mean()),
        std=float(flat.std()),
        low=float(flat.min()),
        high=float(flat.max()),
        norm=float(np.linalg.norm(flat)),
        edges=edges,
        counts=counts,
        n_outside=n_outside,
        singular=singular,
        random=_random(array.shape, float(np.linalg.norm(flat))) if singular.size else singular,
    )


def evenly_spaced(n_rows: int, n_columns: int, most: int) -> NDArray[np.int64]:
    """Row numbers at equal steps, so that the rows hold at most `most` values."""
    step = -(-n_rows // max(1, most // n_columns))
    return np.arange(0, n_rows, step, dtype=np.int64)


def _histogram(flat: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64], int]:
    """Bins over the range that holds 99.8% of the values; the end bins include those beyond."""
    centre = float(np.median(flat)) if flat.size and _is_off_zero(flat) else 0.0
    bound = float(np.quantile(np.abs(flat - centre), 0.998, method="higher")) or 1.0
    edges = centre + np.linspace(-bound, bound, _BINS + 1)
    counts, _ = np.histogram(np.clip(flat, edges[0], edges[-1]), bins=edges)
    return edges, counts.astype(np.int64), int((np.abs(flat - centre) > bound).sum())


def _is_off_zero(flat: NDArray[np.float64]) -> bool:
    """True if the values lie around something other than zero, as a LayerNorm's weights do."""
    return abs(float(np.median(flat))) > 2 * float(np.abs(flat - np.median(flat)).mean())


def _singular_values(array: FloatArray) -> NDArray[np.float64]:
    """Singular values from the smaller Gram matrix: a tenth of the time of a full decomposition."""
    wide = array.astype(np.float64)
    gram = wide @ wide.T if wide.shape[0] <= wide.shape[1] else wide.T @ wide
    values: NDArray[np.float64] = np.sqrt(np.clip(np.linalg.eigvalsh(gram)[::-1], 0.0, None))
    return values


def _random(shape: tuple[int, ...], norm: float) -> NDArray[np.float64]:
    """Singular values of a seeded random matrix, scaled to a norm."""
    values = np.random.default_rng(SEED).standard_normal(shape, dtype=np.float32)
    singular = _singular_values(values)
    return singular * (norm / float(np.linalg.norm(singular)))
