"""The groups of a word's occurrences, in words.

That they agree with labelled senses is said where their adjusted Rand index is higher than what
shuffled labels reach in 5 of 100 cases; both are compared as they are shown.
"""

from __future__ import annotations

import math

from components.content.wording import bold, escape, quoted, two
from components.features.senses.compute.groups import Grouping
from components.features.senses.compute.word import Found

__all__ = ["groups_reading", "stands_reading"]

_NAMED = 5


def stands_reading(found: Found, n_texts: int) -> str:
    """How often the word stands in the corpus: a sentence of Markdown."""
    own = found.occurrences
    times = "once" if own.n_total == 1 else f"**{own.n_total:,}** times"
    corpus = escape(found.corpus)
    if own.is_sample:
        return f"{quoted(found.word)} occurs {times} in {corpus}."
    texts = len(set(own.texts.tolist()))
    of = f" of {n_texts:,}" if n_texts else ""
    unit = "text" if n_texts == 1 else "texts"
    return f"{quoted(found.word)} occurs {times} in {texts:,}{of} {unit} of {corpus}."


def groups_reading(own: Grouping, layer: int) -> list[str]:
    """How many groups there are at a layer, and whether they are the labelled senses."""
    if own.problem:
        return [escape(own.problem)]
    said = [_count(own, layer)]
    if not math.isnan(own.rand):
        said.append(_agree(own))
    return said


def _count(own: Grouping, layer: int) -> str:
    n = len(own.each)
    many = f"**{n}** {'group' if n == 1 else 'groups'}"
    sizes = _sizes(own)
    if own.method == "dense":
        dense = many.replace(" group", " dense group")
        return f"HDBSCAN finds {dense} at layer {layer} ({sizes})."
    apart = f", silhouette {two(own.silhouette)}" if not math.isnan(own.silhouette) else ""
    if own.asked:
        return f"Asked for {many} at layer {layer}, k-means makes these ({sizes}{apart})."
    return (
        f"There are no dense groups at layer {layer}; k-means finds {many} ({sizes}{apart}), "
        "which need not be meanings."
    )


def _sizes(own: Grouping) -> str:
    sizes = [f"{group.n:,}" for group in own.each[:_NAMED]]
    more = len(own.each) - len(sizes)
    unit = "occurrence" if own.each[0].n == 1 and len(own.each) == 1 else "occurrences"
    said = f"{', '.join(sizes)} {unit}" + (f" and {more} smaller groups" if more else "")
    return f"{said}, {own.n_none:,} in none" if own.n_none else said


def _agree(own: Grouping) -> str:
    numbers = f"adjusted Rand index {bold(own.rand)}; 5 in 100 shuffles reach {two(own.shuffled)}"
    if float(two(own.rand)) > float(two(own.shuffled)):
        return f"They match the labelled senses better than shuffled labels do ({numbers})."
    return f"They do not clearly match the labelled senses ({numbers})."
