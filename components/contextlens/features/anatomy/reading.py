"""The findings of the Anatomy page: verdicts with their numbers, from a model's parts and arrays.

The sentences are in `english.toml`, under `anatomy`. Streamlit is not imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from contextlens.content.language import Claim, claim
from contextlens.content.wording import escape, quoted
from contextlens.core.schema import Architecture, ModelCard
from contextlens.features.anatomy.compute import PaddingRow
from contextlens.features.anatomy.measures import Node, Totals, WeightStatistics, n_values

_COUNTED_SHARE = 0.9  # of the sum of squares: directions are counted until they hold this share
_STRONGER_BELOW = 0.9  # of a random matrix's number: if fewer suffice, some directions are stronger
_SAME_WITHIN = 0.01  # relative difference below which two numbers count as the same


def anatomy_title(tree: Node, chosen: Node) -> Claim:
    """The headline: the size of the chosen part, or where most parameters are, and why."""
    if chosen.path:
        title, share = _short_title(chosen, tree), share_text(chosen.share_of(tree))
        return claim("anatomy.title.part", part=title, share=share)
    words, layers = tree.find("embeddings/word"), _layers(tree)
    in_layers = sum(layer.share_of(tree) for layer in layers)
    if words is None or not words.parameters or not layers:
        verdict = "layers" if layers else "count"
        return claim(f"anatomy.title.{verdict}", share=in_layers, n_values=tree.n_values)
    rows, dims = words.parameters[0].shape
    in_words = words.share_of(tree)
    if in_words > in_layers:
        return claim("anatomy.title.words", share=in_words, rows=rows, dims=dims, layers=in_layers)
    return claim("anatomy.title.both", share=in_layers, words=in_words)


def anatomy_reading(
    tree: Node,
    counted: Totals,
    architecture: Architecture,
    quoted_millions: float | None = None,
    card: ModelCard | None = None,
) -> tuple[list[Claim], list[Claim]]:
    """The number of parameters and where they are; then other ways to count them.

    Args:
        tree: the model's parts.
        counted: the counts of its parameters.
        architecture: the same model, for its title and number of layers.
        quoted_millions: the number of parameters that is often quoted for it, in millions.
        card: its card; None without weights.
    """
    word_table, layers = tree.find("embeddings/word"), _layers(tree)
    in_layers = sum(node.n_values for node in layers)
    numbers = {"n": counted.n_named, "n_values": counted.n_values}
    shares: dict[str, float] = {"layers": in_layers / (tree.n_values or 1)}
    if word_table is not None:
        shares["words"] = word_table.share_of(tree)
    claims = [
        claim("anatomy.count", model=escape(architecture.title), **numbers),
        claim(f"anatomy.where.{'words' if word_table else 'layers'}", **shares),
    ]
    if quoted_millions is not None:
        deviation = counted.n_values / 1e6 / quoted_millions - 1
        verdict = (
            "close" if abs(deviation) < _SAME_WITHIN else "lower" if deviation < 0 else "higher"
        )
        claims.append(
            claim(f"anatomy.quoted.{verdict}", millions=quoted_millions, by=abs(deviation))
        )
    details = [
        claim("anatomy.memory", size=_megabytes(counted.n_bytes), dtypes=", ".join(counted.dtypes)),
        *_stored_claims(card),
        claim("anatomy.matrices", n_values=counted.n_in_matrices),
    ]
    shares = {"share": architecture.dropout, "attention": architecture.attention_dropout}
    has_dropout = any(shares.values())
    details.append(claim(f"anatomy.dropout.{'set' if has_dropout else 'none'}", **shares))
    if counted.n_tied:
        details.append(claim("anatomy.tied", n=counted.n_tied))
    groups = {node.path.split("-")[1] for node in layers if node.kind == "shared"}
    if groups and architecture.n_layers > len(groups):
        n_unshared = round(in_layers * architecture.n_layers / len(groups))
        details.append(claim("anatomy.shared", n_layers=architecture.n_layers, n_values=n_unshared))
    return claims, details


def _stored_claims(card: ModelCard | None) -> list[Claim]:
    """The weights' files, as far as they differ from what is in memory."""
    if card is None:
        return []
    claims = [claim("anatomy.joined", n=card.n_joined)] if card.n_joined else []
    if card.was_converted:
        claims.append(claim("anatomy.stored", dtypes=", ".join(card.stored_as)))
    return claims


def part_claims(part: Node, tree: Node) -> list[Claim]:
    """The size of the chosen part."""
    numbers = {"n": len(part.parameters), "n_values": part.n_values}
    claims = [claim("anatomy.chosen", share=share_text(part.share_of(tree)), **numbers)]
    if any(p.tied_to is not None for p in part.parameters):
        claims.append(claim("anatomy.chosen_tied"))
    return claims


def padding_claims(padding: PaddingRow) -> list[Claim]:
    """The row for padding, and the vector that a padding position gets all the same."""
    numbers = {"token": escape(padding.token), "token_id": padding.token_id, "norm": padding.norm}
    verdict = "filled" if padding.norm else "zero"
    return [
        claim(f"anatomy.padding.{verdict}", **numbers),
        claim("anatomy.padding.vector", norm=padding.norm_at_end),
    ]


def held_claim(part: Node, card: ModelCard | None) -> Claim:
    """The size and data type of a part, and its training; `card` is None without weights."""
    numbers = {
        "size": _megabytes(part.n_bytes),
        "dtypes": ", ".join(sorted({p.dtype for p in part.parameters})),
    }
    trained = {p.trained for p in part.parameters}
    if card is None:
        return claim("anatomy.held.config", **numbers)
    if trained == {True}:
        return claim("anatomy.held.trained", **numbers)
    if trained == {False}:
        reason = escape(_why_untrained(part, card))
        return claim("anatomy.held.untrained", reason=reason, **numbers)
    untrained = [c.name for c in part.children if all(p.trained is False for p in c.parameters)]
    return claim("anatomy.held.mixed", parts=escape(", ".join(untrained) or part.name), **numbers)


def absent_claims(tree: Node, architecture: Architecture, card: ModelCard | None) -> list[Claim]:
    """The parts that other models have and this one lacks, with the reasons."""
    claims = []
    if tree.find("pooler") is None:
        if card is not None:
            reason = escape(card.provenance.pooler.reason)
            claims.append(claim("anatomy.absent.pooler", reason=reason))
        else:
            family = architecture.family
            named = family if family in ("distilbert", "electra", "roberta") else "other"
            claims.append(claim(f"anatomy.no_pooler.{named}"))
    if tree.find("embeddings/position") is None:
        claims.append(claim("anatomy.absent.position"))
    if tree.find("embeddings/segment") is None:
        claims.append(claim("anatomy.absent.segment"))
    return claims


def search_claim(query: str, tree: Node, matches: frozenset[str]) -> Claim:
    """The result of a search."""
    parameters = [p for p in tree.parameters if p.name in matches]
    if not parameters:
        return claim("anatomy.search.none", query=quoted(query, 60))
    n_matching = sum(n_values(p) for p in parameters if p.tied_to is None)
    share = share_text(n_matching / (tree.n_values or 1))
    numbers = {"n": len(parameters), "n_values": n_matching, "share": share}
    return claim("anatomy.search.found", query=quoted(query, 60), **numbers)


def models_title(rows: Sequence[Mapping[str, Any]]) -> Claim:
    """The title of the comparison: the range of the models' sizes."""
    counts = [row["parameters"] / 1e6 for row in rows]
    smallest, largest = min(counts), max(counts)
    verdict = "same" if f"{smallest:.3g}" == f"{largest:.3g}" else "range"
    return claim(f"anatomy.models.title.{verdict}", least=smallest, most=largest)


def models_claim(
    rows: Sequence[Mapping[str, Any]], n_tokens: int, *, references: Sequence[str]
) -> Claim:
    """Compare the first model with a well-known one.

    Args:
        rows: one for each model; the first is compared.
        n_tokens: the length of the text for which operations are counted.
        references: titles of well-known models; the first one that is in another row is used.
    """
    first, others = rows[0], {row["model"]: row for row in rows[1:]}
    reference = next((others[title] for title in references if title in others), None)
    if reference is None:
        return claim("anatomy.models.alone")
    work_column = "billion multiply-adds"
    numbers = {
        "model": escape(first["model"]),
        "reference": escape(reference["model"]),
        "parameters": first["parameters"] / reference["parameters"],
        "n_tokens": n_tokens,
    }
    if first[work_column] is None or reference[work_column] is None:
        return claim("anatomy.models.too_long", **numbers)
    return claim("anatomy.models.work", work=first[work_column] / reference[work_column], **numbers)


def weights_reading(name: str, stats: WeightStatistics, n_rows: int | None = None) -> list[Claim]:
    """The distribution of one array's values, and whether some directions are stronger.

    Args:
        name: the parameter's name.
        stats: its statistics.
        n_rows: rows of the whole array, if only a sample was measured.
    """
    low, high = float(stats.low), float(stats.high)
    if f"{low:.3g}" == f"{high:.3g}":
        return [claim(f"anatomy.weights.{'equal' if low == high else 'near'}", name=name, low=low)]
    verdict = "whole" if n_rows is None else "sample"
    numbers: dict[str, Any] = {"low": low, "high": high, "std": float(stats.std)}
    claims = [claim(f"anatomy.weights.{verdict}", name=name, n_rows=stats.shape[0], **numbers)]
    if len(stats.singular) > 1:
        n_strong, n_random = stats.n_for(_COUNTED_SHARE), stats.n_for(_COUNTED_SHARE, stats.random)
        directions = "stronger" if n_strong < _STRONGER_BELOW * n_random else "even"
        counts = {"own": n_strong, "random": n_random, "n_all": len(stats.singular)}
        claims.append(claim(f"anatomy.weights.{directions}", **counts))
    return claims


def share_text(share: float) -> str:
    """A share of the whole with two significant digits: "52%", "0.65%"."""
    if 0 < share < 0.0001:
        return "under 0.01%"
    if 0.995 <= share < 1:
        return "over 99%"
    digits = 0 if share >= 0.0995 or share == 0 else 1 if share >= 0.00995 else 2
    return f"{100 * share:.{digits}f}%"


def _short_title(part: Node, tree: Node) -> str:
    """The first and last steps of a part's title; all steps if those two are ambiguous."""
    ends = _ends(part)
    n_same_ends = sum(_ends(node) == ends for node in tree.walk() if node.path)
    return part.title if n_same_ends > 1 else " › ".join(ends)


def _ends(part: Node) -> tuple[str, ...]:
    steps = part.title.split(" › ")
    return tuple(dict.fromkeys((steps[0], steps[-1])))


def _why_untrained(part: Node, card: ModelCard) -> str:
    """The reasons why the embedding layer, encoder or pooler around a part looks untrained."""
    provenance = card.provenance
    by_part = {"embeddings": provenance.embedding_layer, "pooler": provenance.pooler}
    states = [provenance.embedding_layer, provenance.encoder, provenance.pooler]
    if part.path:
        states = [by_part.get(part.path.split("/")[0], provenance.encoder)]
    return " ".join(state.reason for state in states if state.state == "untrained")


def _layers(tree: Node) -> list[Node]:
    return [node for node in tree.children if node.kind in ("layer", "shared")]


def _megabytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:,.1f} MB" if n_bytes >= 1e5 else f"{n_bytes / 1e3:,.1f} kB"
