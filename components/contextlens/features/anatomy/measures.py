"""A model's parameters counted by part, the cost of a forward pass, and one array's statistics.

Pure functions of an `Architecture` and of numpy arrays.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from contextlens.core.families import FAMILIES, PROJECTIONS, Family
from contextlens.core.schema import Architecture, FloatArray, Parameter

# --- The parts of a model

PartKind = Literal[
    "model", "embeddings", "word", "position", "segment", "layernorm", "projection",
    "layer", "shared", "attention", "query", "key", "value", "qkv", "output", "relative",
    "feed-forward", "widening", "narrowing", "convolution", "layer-inputs", "layer-input", "gate",
    "gate-output", "last-projection", "pooler", "other",
]  # fmt: skip


@dataclass(frozen=True)
class Step:
    """One step down the tree: its key in a path, its name on the page, and its kind."""

    key: str
    name: str
    kind: PartKind


@dataclass(frozen=True, eq=False)
class Node:
    """A part of a model with everything below it.

    Attributes:
        path: the keys of the steps down to it: "layer-1/attention/query"; "" for the whole model.
        name: its name within its parent: "Query".
        title: its full name: "Layer 1 › Attention › Query".
        kind: the name of its explanation and of its colour.
        parameters: its parameters, in the model's own order.
    """

    path: str
    name: str
    title: str
    kind: PartKind
    children: tuple[Node, ...]
    parameters: tuple[Parameter, ...]

    @cached_property
    def n_values(self) -> int:
        """The number of its values; a tied parameter counts only where it first occurs."""
        return sum(n_values(p) for p in self.parameters if p.tied_to is None)

    @cached_property
    def n_bytes(self) -> int:
        """The bytes of its values; a tied parameter counts only where it first occurs."""
        return sum(p.n_bytes for p in self.parameters if p.tied_to is None)

    def share_of(self, whole: Node) -> float:
        """The size of this part as a share of the whole; 0 if the whole has no values."""
        return self.n_values / whole.n_values if whole.n_values else 0.0

    def walk(self) -> Iterator[Node]:
        """This part and everything below it, each part before its children."""
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
        n_values: all values; those of tied parameters count once.
        n_in_matrices: the values in arrays of two dimensions.
        n_bytes: the bytes of the values as stored.
        dtypes: the data types of the stored values.
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


@lru_cache(maxsize=32)  # keyed by identity; every rerun of a page asks for the same few
def build_tree(architecture: Architecture) -> Node:
    """The whole model as a tree, whose parts are in the model's own order."""
    placed = [(_steps_to(p.name, architecture), p) for p in architecture.parameters]
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
    """The rows of the table of a part's parameters; the size of a tied parameter is 0."""
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
            "trained": trained_text([p]),
        }
        for p in node.parameters
    ]


def trained_text(parameters: Sequence[Parameter]) -> str:
    """True in words if parameters were trained, as far as their weights show it."""
    states = {
        "not known" if p.trained is None else "yes" if p.trained else "no" for p in parameters
    }
    return states.pop() if len(states) == 1 else "in part"


def _node(
    ancestors: tuple[Step, ...], step: Step, placed: Sequence[tuple[tuple[Step, ...], Parameter]]
) -> Node:
    """Build the part that `step` leads to, with everything below it.

    Args:
        above: the steps from the model to the part's parent.
        step: the step from the parent to the part.
        placed: the part's parameters, each with the steps that lead from the part down to it.
    """
    steps_to_part = (*ancestors, step) if step.key else ancestors
    groups: dict[str, list[tuple[tuple[Step, ...], Parameter]]] = {}
    for steps, parameter in placed:
        if steps:
            groups.setdefault(steps[0].key, []).append((steps, parameter))
    children = [
        _node(steps_to_part, group[0][0][0], [(steps[1:], p) for steps, p in group])
        for group in groups.values()
    ]
    return Node(
        path="/".join(s.key for s in steps_to_part),
        name=step.name,
        title=" › ".join(s.name for s in steps_to_part) or step.name,
        kind=step.kind,
        children=tuple(children),
        parameters=tuple(p for _, p in placed),
    )


_EMBEDDINGS = Step("embeddings", "Embedding layer", "embeddings")
_RELATIVE = Step("relative", "Relative positions", "relative")
_NORM = Step("layernorm", "LayerNorm", "layernorm")
_OUTSIDE_LAYERS = (
    (
        "embeddings.position_embeddings",
        (_EMBEDDINGS, Step("position", "Position table", "position")),
    ),
    (
        "embeddings.token_type_embeddings",
        (_EMBEDDINGS, Step("segment", "Segment table", "segment")),
    ),
    ("encoder.relative_attention_bias", (_RELATIVE,)),
    ("encoder.rel_embeddings", (_RELATIVE, Step("table", "Table of distances", "relative"))),
    ("encoder.LayerNorm", (_RELATIVE, _NORM)),
    ("pooler", (Step("pooler", "Pooler", "pooler"),)),
)


def _outside_layers(family: Family) -> Iterator[tuple[str, tuple[Step, ...]]]:
    """The names of a model's parts outside its layers, and the steps to each."""
    yield family.word_name, (_EMBEDDINGS, Step("word", "Word table", "word"))
    yield f"{family.tables}.{family.norm}", (_EMBEDDINGS, _NORM)
    if family.projection is not None:
        yield family.projection, (_EMBEDDINGS, Step("projection", "Projection", "projection"))
    if (name := family.parts.final_norm) is not None:
        yield name, (Step("final-layernorm", f"Final {family.parts.norm}", "layernorm"),)
    if (name := family.parts.convolution) is not None:
        convolution = Step("convolution", "Convolution", "convolution")
        yield f"{name}.LayerNorm", (convolution, _NORM)
        yield name, (convolution, Step("neighbours", "Neighbours", "convolution"))
    if (name := family.parts.layer_inputs) is not None:
        inputs = Step("layer-inputs", "Inputs of the layers", "layer-inputs")
        yield f"{name}.per_layer_projection_norm", (inputs, replace(_NORM, name=family.parts.norm))
        yield name, (inputs, Step("projection", "Projection", "layer-inputs"))
    if family.last_projection:
        last = Step("last-projection", "Last projection", "last-projection")
        yield family.last_projection, (last,)
    yield from _OUTSIDE_LAYERS


_ATTENTION = Step("attention", "Attention", "attention")
_FORWARD = Step("feed-forward", "Feed-forward", "feed-forward")
_INPUT = Step("layer-input", "Input from layer 0", "layer-input")
_INSIDE_LAYERS = (
    (
        r"(attention\.(self\.query(_proj)?|q_lin|attn\.q|query)|self_attn\.q_proj)\.",
        _ATTENTION,
        Step("query", "Query", "query"),
    ),
    (
        r"attn\.Wqkv\.|attention\.self\.(in_proj\.|[qv]_bias$)",
        _ATTENTION,
        Step("qkv", "Query, key and value", "qkv"),
    ),
    (
        r"(attention\.(self\.key(_proj)?|k_lin|attn\.k|key)|self_attn\.k_proj)\.",
        _ATTENTION,
        Step("key", "Key", "key"),
    ),
    (r"attention\.self\.pos_", _ATTENTION, _RELATIVE),
    (
        r"(attention\.(self\.value(_proj)?|v_lin|attn\.v|value)|self_attn\.v_proj)\.",
        _ATTENTION,
        Step("value", "Value", "value"),
    ),
    (
        r"(attention\.(output\.dense|out_lin|attn\.o|dense)|attn\.Wo|self_attn\.o_proj)\.",
        _ATTENTION,
        Step("output", "Output", "output"),
    ),
    (
        r"(attention\.(output\.LayerNorm|LayerNorm|ln|self_attn_layer_norm)|sa_layer_norm|attn_norm)\.",
        _ATTENTION,
        _NORM,
    ),
    (
        r"(intermediate\.dense|ffn\.lin1|ffn|mlp\.(Wi|fc1|(gate|up)_proj))\.(weight|bias)",
        _FORWARD,
        Step("widening", "Widening", "widening"),
    ),
    (
        r"(output\.dense|ffn\.lin2|ffn_output|mlp\.(Wo|fc2|down_proj))\.",
        _FORWARD,
        Step("narrowing", "Narrowing", "narrowing"),
    ),
    (r"(input_layernorm|post_attention_layernorm|self_attn\.[qk]_norm)\.", _ATTENTION, _NORM),
    (r"ple_block\.per_layer_input_gate\.", _INPUT, Step("gate", "Gate", "gate")),
    (r"ple_block\.per_layer_projection\.", _INPUT, Step("output", "Output", "gate-output")),
    (r"ple_block\.post_per_layer_input_norm\.", _INPUT, _NORM),
    (r"(post_mlp|(pre|post)_feedforward)_layernorm\.", _FORWARD, _NORM),
    (
        r"((output\.|intermediate\.)?LayerNorm|output_layer_norm|full_layer_layer_norm|ln|mlp_norm)\.",
        _FORWARD,
        _NORM,
    ),
)
_LAYER = re.compile(r"(?:(?:encoder|transformer)\.layer|layers)\.(\d+)\.(.+)")
_SHARED = re.compile(r"encoder\.albert_layer_groups\.(\d+)\.albert_layers\.(\d+)\.(.+)")


def _steps_to(name: str, architecture: Architecture) -> tuple[Step, ...]:
    """The steps from the whole model down to the part that holds a parameter."""
    family = FAMILIES[architecture.family]
    if layer := _LAYER.fullmatch(name):
        number = int(layer[1]) + 1
        return (
            Step(f"layer-{number}", f"Layer {number}", "layer"),
            *_steps_in_layer(layer[2], family),
        )
    if shared := _SHARED.fullmatch(name):
        return (
            _shared_step(int(shared[1]), int(shared[2]), architecture),
            *_steps_in_layer(shared[3], family),
        )
    other = (Step("other", "Other", "other"), Step(name, name, "other"))
    parts = _outside_layers(family)
    return next((steps for part, steps in parts if name.startswith(f"{part}.")), other)


def _steps_in_layer(suffix: str, family: Family) -> tuple[Step, ...]:
    """The steps from a layer down to the part that holds a parameter."""
    parts = family.parts
    is_next = suffix.startswith("post_attention_layernorm") and not parts.attention
    if parts.final_norm and is_next:  # what comes next reads it
        return _FORWARD, replace(_NORM, name=parts.norm)
    for rule, block, step in _INSIDE_LAYERS:
        if re.match(rule, suffix):
            return block, replace(step, name=parts.norm) if step is _NORM else step
    return (Step(suffix, suffix, "other"),)


def _shared_step(group: int, inner: int, architecture: Architecture) -> Step:
    """The step to weights that several consecutive layers share, as in ALBERT."""
    names = [m for p in architecture.parameters if (m := _SHARED.fullmatch(p.name))]
    n_groups = 1 + max(int(m[1]) for m in names)
    n_inner = 1 + max(int(m[2]) for m in names)
    per_group = architecture.n_layers / n_groups
    layers = [n + 1 for n in range(architecture.n_layers) if int(n / per_group) == group]
    name = f"Layers {layers[0]} to {layers[-1]}" if len(layers) > 1 else f"Layer {layers[0]}"
    step = f", step {inner + 1}" if n_inner > 1 else ""
    key = f"shared-{group + 1}" + (f"-{inner + 1}" if n_inner > 1 else "")
    return Step(key, f"{name}, shared{step}", "shared")


# --- The cost of running a model

BYTES = {"float32": 4, "float16": 2, "int8": 1}
"""The bytes of one value at each precision."""

_QUERY = re.compile(
    r"(attention\.(self\.query(_proj)?|q_lin|attn\.q|query|self\.in_proj)|attn\.Wqkv|"
    r"self_attn\.q_proj)\.weight$"
)
_GROUP = re.compile(r"albert_layer_groups\.(\d+)\.")
_PER_TOKEN = re.compile(
    r"((encoder|transformer)\.(layer|albert_layer_groups)|layers)\.\d+\.(?!attention\.self\.pos_)"
)
_PROJECTED = (
    *PROJECTIONS.values(),
    *(one for f in FAMILIES.values() for one in (f.parts.layer_inputs, f.last_projection) if one),
)
_PROJECTION = re.compile(rf"({'|'.join(map(re.escape, _PROJECTED))})\.")


@dataclass(frozen=True)
class Operations:
    """The multiply-adds that one text takes.

    Attributes:
        linear: the linear layers inside the encoder layers, projections before and after them, and
            the convolution after the first.
        attention: queries times keys, and attention weights times values; where attention reads
            distances, these too.
        pooler: the pooler, which reads one token.
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
    `2 * n_tokens ** 2` for each of its heads' dimensions in each layer: once for the scores, once
    for the weighted sum.
    """
    n_uses = _n_uses(architecture)
    matrices = [p for p in architecture.parameters if len(p.shape) == 2]
    in_layers = sum(n_values(p) for p in matrices if _PER_TOKEN.match(p.name)) * n_uses
    in_projection = sum(n_values(p) for p in matrices if _PROJECTION.match(p.name))
    in_convolution = sum(n_values(p) for p in architecture.parameters if len(p.shape) == 3)
    query_width = architecture.n_heads * sum(architecture.n_head_dims) / architecture.n_layers
    query_widths = query_width * sum(bool(_QUERY.search(p.name)) for p in matrices) * n_uses
    n_distances = sum(p.shape[0] for p in matrices if p.name == "encoder.rel_embeddings.weight")
    if architecture.family == "deberta":  # it reads the distances that occur
        n_distances = min(n_distances, 2 * n_tokens)
    n_scores = architecture.n_distance_terms * n_distances * (architecture.n_dims + n_tokens)
    return Operations(
        linear=round(n_tokens * (in_layers + in_projection + in_convolution)),
        attention=round((2 * n_tokens**2 + n_scores) * query_widths),
        pooler=sum(n_values(p) for p in matrices if p.name.startswith("pooler.")),
    )


def memory(architecture: Architecture, precision: str) -> int:
    """The bytes of all parameters at a precision listed in `BYTES`; tied ones count once."""
    return BYTES[precision] * sum(n_values(p) for p in _untied(architecture.parameters))


def comparison_row(
    architecture: Architecture, n_tokens: int
) -> dict[str, str | int | float | None]:
    """One model's row in the comparison; if the text does not fit, its multiply-adds are None."""
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


def _n_uses(architecture: Architecture) -> float:
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
        singular: (rank,) float64 singular values, largest first; empty for a vector.
        random: (rank,) those of a random matrix of mean 0 with the same shape and norm.
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
        """The least number of singular values whose squares reach this share of the whole sum."""
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
        random=_random_singular_values(array.shape, float(np.linalg.norm(flat)))
        if singular.size
        else singular,
    )


def evenly_spaced(n_rows: int, n_columns: int, max_values: int) -> NDArray[np.int64]:
    """Row numbers at equal steps, so few that their rows hold at most `max_values` values."""
    step = -(-n_rows // max(1, max_values // n_columns))
    return np.arange(0, n_rows, step, dtype=np.int64)


def _histogram(flat: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64], int]:
    """Bins over the range of 99.8% of the values; the outermost bins also count all others."""
    centre = float(np.median(flat)) if flat.size and _is_off_zero(flat) else 0.0
    bound = float(np.quantile(np.abs(flat - centre), 0.998, method="higher")) or 1.0
    edges = centre + np.linspace(-bound, bound, _BINS + 1)
    counts, _ = np.histogram(np.clip(flat, edges[0], edges[-1]), bins=edges)
    return edges, counts.astype(np.int64), int((np.abs(flat - centre) > bound).sum())


def _is_off_zero(flat: NDArray[np.float64]) -> bool:
    """True if the values are centred away from zero, as a LayerNorm's weights are."""
    return abs(float(np.median(flat))) > 2 * float(np.abs(flat - np.median(flat)).mean())


def _singular_values(array: FloatArray) -> NDArray[np.float64]:
    """Singular values from the smaller Gram matrix, ten times as fast as a full decomposition."""
    matrix = array.astype(np.float64)
    gram = matrix @ matrix.T if matrix.shape[0] <= matrix.shape[1] else matrix.T @ matrix
    values: NDArray[np.float64] = np.sqrt(np.clip(np.linalg.eigvalsh(gram)[::-1], 0.0, None))
    return values


def _random_singular_values(shape: tuple[int, ...], norm: float) -> NDArray[np.float64]:
    """The singular values of a seeded random matrix that is scaled to a norm."""
    values = np.random.default_rng(SEED).standard_normal(shape, dtype=np.float32)
    singular = _singular_values(values)
    return singular * (norm / float(np.linalg.norm(singular)))
