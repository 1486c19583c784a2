"""A word's occurrences at every layer: their vectors, a plane for each layer, and the test there.

The layers are read in one pass, one at a time, for the map, the curve and the visitor's sentence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contextlens.analysis.separation import Separation, scaled, separation
from contextlens.core.byte_cache import remembered
from contextlens.core.schema import FloatArray
from contextlens.corpus.searchable import SearchableCorpus
from contextlens.features.senses.occurrences import WordUses

_SEED = 0


@dataclass(frozen=True, eq=False)
class Plane:
    """Occurrences on a plane at one layer.

    Attributes:
        positions: (n, 2) float32.
        mean: (n_dims,) the mean that was subtracted.
        axes: (2, n_dims) the directions of the two coordinates.
    """

    positions: FloatArray
    mean: FloatArray
    axes: FloatArray

    def project(self, unit: FloatArray) -> FloatArray:
        """(2,) the position of another scaled vector."""
        position: FloatArray = (self.axes @ (unit - self.mean)).astype(np.float32)
        return position


@dataclass(frozen=True, eq=False)
class WordLayers:
    """The data of a word at every layer of a corpus.

    Attributes:
        layers: the corpus's layers.
        planes: the occurrences on a plane, for each layer.
        curve: the nearest-centroid test at each layer; empty if the senses cannot be tested.
    """

    layers: tuple[int, ...]
    planes: tuple[Plane, ...]
    curve: tuple[Separation, ...]

    def separation(self, layer: int) -> Separation | None:
        """The test at a layer; None if the senses cannot be tested."""
        return self.curve[self.layers.index(layer)] if self.curve else None


def units_at(uses: WordUses, corpus: SearchableCorpus, layer: int) -> FloatArray:
    """(n, n_dims) float32: the occurrences' vectors at a layer, scaled to length 1."""
    return scaled(corpus.vectors(uses.occurrences, layer))


def word_layers(uses: WordUses, corpus: SearchableCorpus) -> WordLayers:
    """The data at every layer; computed once, a layer at a time."""
    return remembered("senses: layers", uses.key, compute=lambda: _word_layers(uses, corpus))


def _word_layers(uses: WordUses, corpus: SearchableCorpus) -> WordLayers:
    """The layers from the last one down, so that its longer direction is the horizontal one."""
    planes: list[Plane] = []
    curve: list[Separation] = []
    for layer in corpus.layers[::-1]:
        units = units_at(uses, corpus, layer)
        planes.append(next_plane(units, planes[-1]) if planes else first_plane(units))
        if not uses.trial.problem:
            curve.append(separation(units, uses.trial, layer))
    return WordLayers(tuple(corpus.layers), tuple(planes[::-1]), tuple(curve[::-1]))


def first_plane(units: FloatArray) -> Plane:
    """The first two principal components of scaled vectors, the longer one horizontal."""
    n, n_dims = units.shape
    mean = units.mean(axis=0, dtype=np.float64) if n else np.zeros(n_dims)
    axes = np.zeros((2, n_dims))
    pca = principal_components(units, 2)
    if pca is not None:
        axes[: len(pca.components_)] = pca.components_
    return _plane(units, mean, axes)


def next_plane(units: FloatArray, neighbour: Plane) -> Plane:
    """The plane of an adjacent layer, rotated or mirrored to fit the given one best.

    Orthogonal Procrustes (Schönemann 1966).
    """
    plane = first_plane(units)
    left, _, right = np.linalg.svd(plane.positions.T.astype(np.float64) @ neighbour.positions)
    return _plane(units, plane.mean, (left @ right).T @ plane.axes)


def principal_components(units: FloatArray, n: int) -> Any | None:
    """scikit-learn's fitted PCA with at most n components; None if all vectors are equal."""
    from sklearn.decomposition import PCA

    n_components = min(n, len(units) - 1, units.shape[1])
    if n_components < 1 or not np.ptp(units, axis=0).any():
        return None
    solver = "covariance_eigh" if len(units) > units.shape[1] else "auto"  # a tenth of the time
    return PCA(n_components, svd_solver=solver, random_state=_SEED).fit(units.astype(np.float64))


def _plane(units: FloatArray, mean: NDArray[Any], axes: NDArray[Any]) -> Plane:
    positions = ((units - mean) @ axes.T).astype(np.float32)
    return Plane(positions, mean.astype(np.float32), axes.astype(np.float32))
