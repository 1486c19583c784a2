"""The groups of a word's occurrences at one layer: sizes, typical words, central examples."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Literal

import numpy as np

from components.analysis.separation import silhouette
from components.content.language import say
from components.core.byte_cache import remembered
from components.core.errors import RequestError
from components.core.schema import FloatArray, IntArray
from components.features.senses.compute.contexts import around
from components.features.senses.compute.word import Found
from components.features.senses.controls import FOUND
from components.features.senses.measures import grouping
from components.maps.typical import count_terms, typical_of

__all__ = ["Group", "Grouping", "grouping_of", "groups_rows"]

_N_WORDS = 5
_N_TRIED = 200  # the most typical words, of which those are said that stand in several contexts
_LEAST = 2
_WIDTH = 200  # characters on each side of an occurrence in which typical words are looked for


@dataclass(frozen=True)
class Group:
    """One group.

    Attributes:
        number: 0 for the largest.
        n: how many occurrences it has.
        words: what is typical of their contexts, the most typical first.
        central: the three occurrences nearest to its middle, by their places.
        senses: how often each labelled sense is in it, the most frequent first.
    """

    number: int
    n: int
    words: tuple[str, ...]
    central: tuple[int, ...]
    senses: tuple[tuple[str, int], ...]

    @property
    def name(self) -> str:
        """What to call it: counted from 1."""
        return f"group {self.number + 1}"


@dataclass(frozen=True, eq=False)
class Grouping:
    """The groups at one layer.

    Attributes:
        asked: how many were asked for; 0 for as many as there are.
        method: "dense" by HDBSCAN, "k" by k-means, "none" where there are none.
        groups: (n,) each occurrence's group; -1 for none.
        each: the groups, the largest first.
        n_none: occurrences in no group.
        silhouette: how far apart the groups lie, by cosine distance; nan where it is not defined.
        rand: adjusted Rand index with the labelled senses; nan without at least two of them.
        shuffled: what it reaches in 5 of 100 cases with the labels shuffled; nan likewise.
        problem: why there are none, one sentence of plain text; "" where there may be.
    """

    asked: int
    method: Literal["dense", "k", "none"]
    groups: IntArray
    each: tuple[Group, ...]
    n_none: int
    silhouette: float
    rand: float
    shuffled: float
    problem: str = ""


def grouping_of(found: Found, units: FloatArray, layer: int, how: str) -> Grouping:
    """The groups at a layer: as they are found, or as many as `how` says; computed once."""
    return remembered(
        "senses: groups", found.key, layer, how, compute=lambda: _grouping(found, units, how)
    )


def groups_rows(found: Found, own: Grouping) -> list[dict[str, str | int]]:
    """A row for each group: what a table and a download show."""
    return [
        {
            "group": group.name,
            "occurrences": group.n,
            "typical words": ", ".join(group.words),
            "senses": ", ".join(f"{sense} ({n})" for sense, n in group.senses),
            **{
                f"example {i}": "".join(around(found, place, 60))
                for i, place in enumerate(group.central, 1)
            },
        }
        for group in own.each
    ]


def _grouping(found: Found, units: FloatArray, how: str) -> Grouping:
    asked = 0 if how == FOUND else int(how)
    nowhere = np.full(found.n, -1, dtype=np.int64)
    if found.n < 2:
        return _none(asked, nowhere, say("senses.missing.one_use"))
    try:
        groups, method = _groups(units, asked)
    except RequestError as exc:
        return _none(asked, nowhere, str(exc))
    if method == "none":
        return _none(asked, nowhere, say("senses.missing.too_few"))
    words = _typical(found, units, groups)
    numbers = range(int(groups.max()) + 1)
    has_senses = len(found.senses) > 1
    return Grouping(
        asked=asked,
        method=method,
        groups=groups,
        each=tuple(_group(found, units, groups, i, words.get(i, ())) for i in numbers),
        n_none=int((groups < 0).sum()),
        silhouette=silhouette(units, groups),
        rand=grouping.agreement(groups, found.codes) if has_senses else math.nan,
        shuffled=grouping.shuffled_agreement(groups, found.codes) if has_senses else math.nan,
    )


def _groups(units: FloatArray, asked: int) -> tuple[IntArray, Literal["dense", "k", "none"]]:
    """The groups asked for; else those that are dense, else those that lie furthest apart."""
    if asked:
        return grouping.k_groups(units, asked), "k"
    found = grouping.found_groups(units)
    if (found >= 0).any():
        return found, "dense"
    k = grouping.best_k(units)
    return (grouping.k_groups(units, k), "k") if k else (found, "none")


def _none(asked: int, nowhere: IntArray, problem: str) -> Grouping:
    return Grouping(asked, "none", nowhere, (), len(nowhere), math.nan, math.nan, math.nan, problem)


def _group(
    found: Found, units: FloatArray, groups: IntArray, number: int, words: tuple[str, ...]
) -> Group:
    members = np.flatnonzero(groups == number)
    senses = Counter(found.labels[i] for i in members.tolist() if found.labels[i])
    ordered = sorted(senses.items(), key=lambda pair: (-pair[1], pair[0]))
    central = tuple(grouping.central(units, groups, number))
    return Group(number, len(members), words, central, tuple(ordered))


def _typical(found: Found, units: FloatArray, groups: IntArray) -> dict[int, tuple[str, ...]]:
    """What is typical of the groups' contexts, the word itself left out.

    Those that stand in several of a group's contexts come first; of few contexts nearly every word
    stands in one alone, and then those of the central examples are taken.
    """
    contexts = [around(found, place, _WIDTH) for place in range(found.n)]
    terms = count_terms([f"{left} {right}" for left, _, right in contexts])
    every = typical_of(terms, np.arange(found.n), groups, n_words=_N_TRIED)
    columns = {term: i for i, term in enumerate(terms.terms)}
    often = terms.counts.tocsc() > 0
    told: dict[int, tuple[str, ...]] = {}
    for number, words in every.items():
        middle = grouping.central(units, groups, number)
        places = [often[:, [columns[word]]].nonzero()[0] for word in words]
        several = [(groups[own] == number).sum() >= _LEAST for own in places]
        near = [bool(np.isin(own, middle).any()) for own in places]
        ordered = sorted(range(len(words)), key=lambda i: (not several[i], not near[i]))
        told[number] = tuple(words[i] for i in ordered[:_N_WORDS] if several[i] or near[i])
    return told
