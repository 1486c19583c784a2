"""A word's occurrences at every layer: where they lie on a plane, and how well senses part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from components.analysis.separation import Separation, scaled, separation
from components.core.byte_cache import remembered
from components.core.schema import FloatArray
from components.corpus.searchable import SearchableCorpus
from components.features.senses.compute.word import Found
from components.features.senses.measures.placing import Placed, first_placed, next_placed

__all__ = ["Course", "course_of", "curve_rows", "units_at"]


@dataclass(frozen=True, eq=False)
class Course:
    """What there is at every layer of a corpus.

    Attributes:
        layers: those that the corpus has.
        placed: the occurrences on a plane, for each layer.
        curve: the test of the nearest centroid at each layer; nothing where it has a problem.
    """

    layers: tuple[int, ...]
    placed: tuple[Placed, ...]
    curve: tuple[Separation, ...]

    def at(self, layer: int) -> Placed:
        """The plane at a layer."""
        return self.placed[self.layers.index(layer)]

    def separation(self, layer: int) -> Separation | None:
        """The test at a layer; None where the senses cannot be tested."""
        return self.curve[self.layers.index(layer)] if self.curve else None


def units_at(found: Found, corpus: SearchableCorpus, layer: int) -> FloatArray:
    """(n, n_dims) float32: the occurrences' vectors at a layer, scaled to length 1."""
    return scaled(corpus.vectors(found.occurrences, layer))


def course_of(found: Found, corpus: SearchableCorpus) -> Course:
    """What there is at every layer; computed once, a layer at a time."""
    return remembered("senses: course", found.key, compute=lambda: _course(found, corpus))


def curve_rows(found: Found, curve: Sequence[Separation]) -> list[dict[str, float | int | str]]:
    """A row for each layer: what a table and a download show of the curve."""
    return [
        {
            "layer": own.layer,
            "accuracy": own.accuracy,
            "right": own.right,
            "tested": own.n,
            "95% from": own.interval[0],
            "95% to": own.interval[1],
            "always guessing": found.trial.chance,
            "silhouette": own.silhouette,
        }
        for own in curve
    ]


def _course(found: Found, corpus: SearchableCorpus) -> Course:
    placed: list[Placed] = []
    curve: list[Separation] = []
    for layer in corpus.layers:
        units = units_at(found, corpus, layer)
        placed.append(next_placed(units, placed[-1]) if placed else first_placed(units))
        if not found.trial.problem:
            curve.append(separation(units, found.trial, layer))
    return Course(tuple(corpus.layers), tuple(placed), tuple(curve))
