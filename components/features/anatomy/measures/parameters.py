"""What a model is made of, as a tree: its parameters sorted into the parts that they belong to.

The seven families name one and the same part differently; the rules here bring them together.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from components.core.schema import PROJECTIONS, Architecture, Parameter

__all__ = [
    "Node",
    "Totals",
    "build_tree",
    "n_values",
    "parameter_rows",
    "search",
    "totals",
]


@dataclass(frozen=True)
class Step:
    """One step down the tree: what it is called in addresses and on the page, and its kind."""

    key: str
    name: str
    kind: str


@dataclass(frozen=True, eq=False)
class Node:
    """A part of a model with everything below it.

    Attributes:
        path: its place, as "layer-1/attention/query"; empty for the whole model.
        name: what it is called in its place: "Query".
        title: what it is called anywhere: "Layer 1 › Attention › Query".
        kind: which explanation fits: "query".
        parameters: the model's parameters in it, in the model's own order.
    """

    path: str
    name: str
    title: str
    kind: str
    children: tuple[Node, ...]
    parameters: tuple[Parameter, ...]

    @cached_property
    def n_values(self) -> int:
        """Its numbers; what is tied counts where it stands first."""
        return sum(n_values(p) for p in self.parameters if p.tied_to is None)

    @cached_property
    def n_bytes(self) -> int:
        """The memory of its numbers; what is tied counts where it stands first."""
        return sum(p.n_bytes for p in self.parameters if p.tied_to is None)

    def walk(self) -> Iterator[Node]:
        """This part and all below, from the top."""
        yield self
        for child in self.children:
            yield from child.walk()

    def find(self, path: str) -> Node | None:
        """The part at a path, or None where this model has none."""
        return next((node for node in self.walk() if node.path == path), None)


@dataclass(frozen=True)
class Totals:
    """All ways to count a model's parameters.

    Attributes:
        n_named: names in the model, tied ones too.
        n_tied: names that hold the memory of another one.
        n_values: numbers in all, each once.
        n_in_matrices: those in arrays of two dimensions.
        n_bytes: their memory as they are held.
        dtypes: how the numbers are held.
    """

    n_named: int
    n_tied: int
    n_values: int
    n_in_matrices: int
    n_bytes: int
    dtypes: tuple[str, ...]


def n_values(parameter: Parameter) -> int:
    """How many numbers a parameter holds."""
    return math.prod(parameter.shape)


def totals(parameters: Sequence[Parameter]) -> Totals:
    """The counts of a list of parameters."""
    own = [p for p in parameters if p.tied_to is None]
    return Totals(
        n_named=len(parameters),
        n_tied=len(parameters) - len(own),
        n_values=sum(map(n_values, own)),
        n_in_matrices=sum(n_values(p) for p in own if len(p.shape) == 2),
        n_bytes=sum(p.n_bytes for p in own),
        dtypes=tuple(dict.fromkeys(p.dtype for p in own)),
    )


@lru_cache(maxsize=32)  # by identity: a page asks for the same eight on every rerun
def build_tree(architecture: Architecture) -> Node:
    """The whole model, its parts below it in the model's own order."""
    placed = [(_place(p.name, architecture), p) for p in architecture.parameters]
    return _node((), Step("", architecture.title, "model"), placed)


def search(node: Node, query: str) -> frozenset[str]:
    """Names of the parameters whose name, or whose part's title, has the query in it."""
    wanted = query.strip().casefold()
    return frozenset(
        parameter.name
        for part in node.walk()
        for parameter in part.parameters
        if wanted in parameter.name.casefold() or (wanted in part.title.casefold() and part.path)
    )


def parameter_rows(node: Node) -> list[dict[str, str | int | float]]:
    """The table of a part's parameters; a tied one has no numbers of its own."""
    leaf = {
        p.name: part.title for part in node.walk() if not part.children for p in part.parameters
    }
    return [
        {
            "name": p.name,
            "part": leaf[p.name],
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
    """A part from its parameters, each with the steps that lead on to it."""
    here = (*above, step) if step.key else above
    below: dict[str, list[tuple[tuple[Step, ...], Parameter]]] = {}
    for steps, parameter in placed:
        if steps:
            below.setdefault(steps[0].key, []).append((steps, parameter))
    children = [
        _node(here, group[0][0][0], [(steps[1:], p) for steps, p in group])
        for group in below.values()
    ]
    return Node(
        path="/".join(s.key for s in here),
        name=step.name,
        title=" › ".join(s.name for s in here) or step.name,
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
_IN_LAYER = (
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
    """The steps from the model to the part that a parameter belongs to."""
    if own := _LAYER.fullmatch(name):
        number = int(own[1]) + 1
        return (Step(f"layer-{number}", f"Layer {number}", "layer"), *_within(own[2]))
    if shared := _SHARED.fullmatch(name):
        return (_shared(int(shared[1]), int(shared[2]), architecture), *_within(shared[3]))
    found = next((steps for rule, steps in _TOP if re.match(rule, name)), None)
    return found or (Step("other", "Other", "other"), Step(name, name, "other"))


def _within(rest: str) -> tuple[Step, ...]:
    """The steps from a layer to the part that a parameter belongs to."""
    found = next(((block, step) for rule, block, step in _IN_LAYER if re.match(rule, rest)), None)
    return found or (Step(rest, rest, "other"),)


def _shared(group: int, inner: int, architecture: Architecture) -> Step:
    """The step to weights that several layers use in turn, as ALBERT's do."""
    names = [m for p in architecture.parameters if (m := _SHARED.fullmatch(p.name))]
    n_groups = 1 + max(int(m[1]) for m in names)
    n_inner = 1 + max(int(m[2]) for m in names)
    per_group = architecture.n_layers / n_groups
    uses = [n + 1 for n in range(architecture.n_layers) if int(n / per_group) == group]
    name = f"Layers {uses[0]} to {uses[-1]}" if len(uses) > 1 else f"Layer {uses[0]}"
    step = f", step {inner + 1}" if n_inner > 1 else ""
    key = f"shared-{group + 1}" + (f"-{inner + 1}" if n_inner > 1 else "")
    return Step(key, f"{name}, shared{step}", "shared")
