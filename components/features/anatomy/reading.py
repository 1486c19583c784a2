"""Anatomy, said in words: how many parameters, where they are, and what one array looks like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from components.content.wording import escape, quoted, two
from components.core.schema import Architecture, ModelCard
from components.features.anatomy.explain import NO_POOLER
from components.features.anatomy.measures.parameters import Node, Totals, n_values
from components.features.anatomy.measures.weights import WeightStatistics

__all__ = [
    "absent_reading",
    "anatomy_reading",
    "anatomy_title",
    "held_reading",
    "models_reading",
    "models_title",
    "part_reading",
    "search_reading",
    "share_said",
    "weights_reading",
]

_HELD = 0.9  # of the sum of squares, when directions are counted
_FEWER = 0.9  # of a random matrix's number, from which on directions count as favoured


def anatomy_title(tree: Node, chosen: Node) -> str:
    """The finding: what holds most, or what the chosen part holds."""
    if chosen.path:
        share = share_said(_share(chosen, tree))
        return f"{_short_title(chosen, tree)}: {share} of the model"
    layers = _layers(tree)
    largest = max((n for n in tree.walk() if not n.children), key=lambda n: n.n_values)
    if _share(largest, tree) > 0.5:
        return f"The {largest.name.lower()} is {share_said(_share(largest, tree))} of the model"
    held = share_said(sum(n.n_values for n in layers) / (tree.n_values or 1))
    if not layers:
        return f"{tree.n_values:,} parameters"
    shared = any(node.kind == "shared" for node in layers)
    some = "The shared layers hold" if shared else "The layers hold"
    return (
        f"{some if len(layers) > 1 or shared else 'The one layer holds'} {held} of all parameters"
    )


def anatomy_reading(
    tree: Node, counted: Totals, architecture: Architecture, said_millions: float | None = None
) -> list[str]:
    """How many parameters a model has, counted all ways, and where they are.

    Args:
        tree: the model's parts.
        counted: its counts.
        architecture: what it is made of.
        said_millions: the number that is often quoted for it.
    """
    held = " and ".join(counted.dtypes)
    tied = (
        f"; **{counted.n_tied}** of them {'is' if counted.n_tied == 1 else 'are'} tied to others "
        "and not counted again"
        if counted.n_tied
        else ""
    )
    said = [
        f"{escape(architecture.title)} has **{counted.n_values:,}** parameters in "
        f"**{counted.n_named}** arrays, **{_megabytes(counted.n_bytes)}** as {held}{tied}.",
        _where(tree, architecture),
        f"Counting matrices only gives **{counted.n_in_matrices:,}**: that leaves "
        "out biases and LayerNorms."
        if counted.n_in_matrices != counted.n_values
        else "",
        _said(counted.n_values, said_millions),
    ]
    return [sentence for sentence in said if sentence]


def part_reading(part: Node, tree: Node) -> list[str]:
    """What the chosen part is made of, in numbers."""
    arrays = [
        f"{p.name.rpartition('.')[2]} {' × '.join(map(str, p.shape))}" for p in part.parameters
    ]
    made = escape(", ".join(arrays)) if len(arrays) < 4 else f"{len(arrays)} arrays"
    share = f", {share_said(_share(part, tree))} of the model" if part.path else ""
    tied = " Tied arrays are counted where they stand first." if _tied(part) else ""
    return [f"**{part.n_values:,}** parameters{share}: {made}.{tied}"]


def held_reading(part: Node, own: ModelCard | None) -> str:
    """How a part is held, and whether it looks trained; `own` is None without the weights."""
    dtypes = " and ".join(sorted({p.dtype for p in part.parameters}))
    held = f"{_megabytes(part.n_bytes)} as {dtypes}"
    trained = {p.trained for p in part.parameters}
    if own is None:
        return f"{held}. The weights are not here: sizes come from the config."
    if trained == {True}:
        return f"{held}, from the checkpoint, whose biases here are not all 0."
    if trained == {False}:
        return f"{held}. **Nothing shows that it was trained**. {escape(_why_untrained(part, own))}"
    apart = [c.name for c in part.children if all(p.trained is False for p in c.parameters)]
    return f"{held}. No sign that it was trained: {escape(', '.join(apart) or part.name)}."


def absent_reading(tree: Node, architecture: Architecture, own: ModelCard | None) -> list[str]:
    """What other models of these families have and this one has not, with the reason."""
    said = []
    if tree.find("pooler") is None:
        family = f"This {architecture.family} model has no pooler."
        known = NO_POOLER.get(architecture.family, family)
        said.append("No pooler. " + (own.provenance.pooler.reason if own else known))
    if tree.find("embeddings/segment") is None:
        said.append(
            f"No segment table. The {architecture.family} architecture adds nothing that tells the "
            "first text of a pair from the second."
        )
    return [escape(sentence) for sentence in said]


def search_reading(query: str, tree: Node, found: frozenset[str]) -> list[str]:
    """What a search found."""
    own = [p for p in tree.parameters if p.name in found]
    if not own:
        return [f"No array of this model has {quoted(query, 60)} in its name or its part's."]
    together = sum(n_values(p) for p in own if p.tied_to is None)
    share = share_said(together / (tree.n_values or 1))
    arrays = "array has" if len(own) == 1 else "arrays have"
    return [
        f"**{len(own)}** {arrays} {quoted(query, 60)} in the name or that of the part: "
        f"**{together:,}** parameters, {share} of the model."
    ]


def models_title(rows: Sequence[Mapping[str, object]]) -> str:
    """The finding of models side by side."""
    counts = [_number(row["parameters"]) for row in rows]
    least, most = (f"{count / 1e6:.3g}" for count in (min(counts), max(counts)))
    return (
        "Parameters of each model"
        if least == most
        else f"From {least} to {most} million parameters"
    )


def models_reading(
    rows: Sequence[Mapping[str, object]], n_tokens: int, *, base: str, large: str
) -> list[str]:
    """Two models of one family beside each other, and the first of all beside them."""
    named = {str(row["model"]): row for row in rows}
    if base not in named or large not in named:
        return ["A base and a large model of one family are not both allowed here to compare."]
    small, big, first = named[base], named[large], rows[0]
    ratio = _number(big["parameters"]) / _number(small["parameters"])
    said = [
        f"{escape(large)} has **{ratio:.2f}** times the parameters of {escape(base)}"
        + _work(big, small, n_tokens)
    ]
    if str(first["model"]) not in (base, large):
        share = _number(first["parameters"]) / _number(small["parameters"])
        said.append(
            f"{escape(str(first['model']))} has **{share:.2f}** times those of {escape(base)}"
            + _work(first, small, n_tokens)
        )
    return said


def weights_reading(name: str, stats: WeightStatistics, n_rows: int | None = None) -> list[str]:
    """One array in words.

    Args:
        name: the parameter's name.
        stats: its numbers.
        n_rows: rows of the whole array where only a sample was measured.
    """
    array = f"`{name}`" if n_rows is None else f"A sample of {stats.shape[0]:,} rows of `{name}`"
    if stats.low == stats.high:
        return [f"{array}: every one of its values is **{stats.low:.4g}**."]
    low, high, mean, std = _digits(stats)
    spread = (
        f"{array}: values from **{low}** to **{high}** around {mean}, with a standard deviation of "
        f"**{std}**."
    )
    if not stats.singular.size:
        return [spread, "It is a vector, which has no singular values."]
    if len(stats.singular) == 1:
        return [spread, "It has a single singular value."]
    return [spread, _directions(stats)]


def _digits(stats: WeightStatistics) -> list[str]:
    """Lowest, highest, mean and spread; to two decimals, or more where those say nothing."""
    values = [float(v) for v in (stats.low, stats.high, stats.mean, stats.std)]
    if stats.std >= 0.02:
        return [two(value) for value in values]
    digits = 6 if f"{stats.low:.6g}" != f"{stats.high:.6g}" else 9  # as many as float32 has
    return [f"{value:.{digits}g}" for value in values]


def _short_title(part: Node, tree: Node) -> str:
    """The first and the last step to a part; all of them where another part has the same two."""
    ends = _ends(part)
    alike = sum(_ends(node) == ends for node in tree.walk() if node.path)
    return part.title if alike > 1 else " › ".join(ends)


def _ends(part: Node) -> tuple[str, ...]:
    steps = part.title.split(" › ")
    return tuple(dict.fromkeys((steps[0], steps[-1])))


def _tied(part: Node) -> bool:
    return any(p.tied_to is not None for p in part.parameters)


def share_said(share: float) -> str:
    """A share of the whole, with two digits that count: "52 %", "0.65 %"."""
    if 0 < share < 0.0001:
        return "under 0.01\u00a0%"
    if 0.995 <= share < 1:
        return "over 99\u00a0%"
    digits = 0 if share >= 0.0995 or share == 0 else 1 if share >= 0.00995 else 2
    return f"{100 * share:.{digits}f}\u00a0%"


def _why_untrained(part: Node, card: ModelCard) -> str:
    """The reasons of those parts of the model that the chosen one is of."""
    states = card.provenance
    named = {"embeddings": states.embedding_layer, "pooler": states.pooler}
    first = part.path.split("/")[0]
    every = (states.embedding_layer, states.encoder, states.pooler)
    own = [named.get(first, states.encoder)] if part.path else every
    return " ".join(state.reason for state in own if state.state == "untrained")


def _where(tree: Node, architecture: Architecture) -> str:
    words, layers = tree.find("embeddings/word"), _layers(tree)
    held = sum(node.n_values for node in layers)
    share = share_said(held / (tree.n_values or 1))
    first = "" if words is None else f"The word table holds **{share_said(_share(words, tree))}**, "
    groups = {node.path.split("-")[1] for node in layers if node.kind == "shared"}
    if groups and architecture.n_layers > len(groups):
        uses = architecture.n_layers / len(groups)
        return (
            f"{first}the weights that its {architecture.n_layers} layers share **{share}**: they "
            f"are stored once and used again, or the layers would take **{round(held * uses):,}**."
        )
    count = f"the {len(layers)} layers together" if len(layers) != 1 else "the one layer"
    return f"{first or 'Of these, '}{count} **{share}**."


def _said(count: int, millions: float | None) -> str:
    if millions is None:
        return ""
    off = count / 1e6 / millions - 1
    if abs(off) < 0.01:
        return f"The often quoted **{millions:g} million** are this number to within 1\u00a0%."
    more = "fewer" if off < 0 else "more"
    by = share_said(abs(off))
    return f"Often **{millions:g} million** are quoted; counted, there are {by} {more}."


def _work(one: Mapping[str, object], other: Mapping[str, object], n_tokens: int) -> str:
    key = "billion multiply-adds"
    if one[key] is None or other[key] is None:
        return f"; a text of {n_tokens} tokens does not fit in both."
    times = _number(one[key]) / _number(other[key])
    return f", and a text of {n_tokens} tokens takes **{times:.2f}** times the multiply-adds."


def _directions(stats: WeightStatistics) -> str:
    own, random = stats.n_for(_HELD), stats.n_for(_HELD, stats.random)
    held = (
        f"**{own}** of its {len(stats.singular)} singular values hold {share_said(_HELD)} of the "
        f"sum of squares; in a random matrix of this shape it takes **{random}**"
    )
    if own < _FEWER * random:
        return f"{held}, so some directions count for more than others."
    return f"{held}, so no few directions stand out."


def _layers(tree: Node) -> list[Node]:
    return [node for node in tree.children if node.kind in ("layer", "shared")]


def _share(node: Node, tree: Node) -> float:
    return node.n_values / tree.n_values if tree.n_values else 0.0


def _megabytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:,.1f} MB" if n_bytes >= 1e5 else f"{n_bytes / 1e3:,.1f} kB"


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
