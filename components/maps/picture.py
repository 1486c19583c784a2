"""A finished map with all that it was made from: points, vectors, and how to draw it again."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version

from components.core.schema import FloatArray, Passport
from components.corpus.corpus import Corpus
from components.maps.map_quality import MapQuality
from components.maps.neighbors import Neighbors
from components.maps.plan import SAMPLING_SEED
from components.maps.points import Points
from components.maps.projection import Map
from components.maps.request import MapRequest, Method
from components.maps.vectors import Gathered

__all__ = ["Picture"]


@dataclass(frozen=True, eq=False)
class Picture:
    """A finished map with all that it was made from.

    Attributes:
        request, corpus, gathered: what was mapped.
        n_able: the number of texts that may have points.
        layers: the drawn layers, one or all; (-1,) for the pooler's output.
        vectors: (len(layers), n_points, n_dims) float32.
        coordinates: (len(layers), n_points, 2 or 3) float32.
        reason: why the map differs from the request, or "".
        neighbors, honesty: for each of the layers, in its own full space.
    """

    request: MapRequest
    corpus: Corpus
    gathered: Gathered
    n_able: int
    layers: tuple[int, ...]
    vectors: FloatArray
    coordinates: FloatArray
    method: Method
    reason: str
    neighbors: tuple[Neighbors, ...]
    honesty: tuple[MapQuality | None, ...]

    @property
    def points(self) -> Points:
        """The points of the map."""
        return self.gathered.points

    @property
    def nbytes(self) -> int:
        """The approximate memory in bytes."""
        own = sum(n.indices.nbytes + n.distances.nbytes for n in self.neighbors)
        return self.gathered.nbytes + self.coordinates.nbytes + own

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the places of its points, hex.

        Drawing a request again may move them: the last digits of a text's vectors depend on the
        texts that are encoded in the same batch.
        """
        return hashlib.sha256(self.coordinates.tobytes()).hexdigest()

    @property
    def passport(self) -> Passport:
        """The passport with which the same map can be drawn again."""
        encoded = self.gathered.passport
        if encoded is None:
            raise RuntimeError("a map without encodings")
        own = {
            "map": self.request.settings.as_dict(),
            "method": self.method,
            **({"placed_by": self._placed_by} if self.method == "umap" else {}),
            "unit": self.request.unit,
            "pooling": self.request.pooling,
            "layers": list(self.layers),
            "footing": self.request.footing,
            "corpus": self.corpus.name,
            "corpus_sha256": self.corpus.digest,
            "sampling_seed": SAMPLING_SEED,
        }
        drawn_by = ("umap-learn", "openTSNE", "scikit-learn", "numpy")
        libraries = {name: version(name) for name in drawn_by}
        return replace(
            encoded,
            versions={**encoded.versions, **libraries},
            settings={**encoded.settings, **own},
        )

    @property
    def _placed_by(self) -> str:
        """The graph and the optimiser that UMAP used."""
        if self.request.footing == "aligned":
            return "AlignedUMAP's optimiser on umap-learn's graphs"
        return "Contextlens' own optimiser of UMAP's objective, on umap-learn's graph"

    @cached_property
    def spots(self) -> list[tuple[str, int, int, str]]:
        """Each point by its text, span and name, which identify it in another map."""
        points = self.points
        return [
            (points.texts[text], start, end, name if start == end else "")
            for text, (start, end), name in zip(
                points.sentence.tolist(), points.spans.tolist(), points.names, strict=True
            )
        ]

    def as_map(self) -> Map:
        """The map of the only layer, as the engine returned it."""
        return Map(
            coordinates=self.coordinates[0],
            method=self.method,
            reason=self.reason,
            settings=self.request.settings,
            neighbors=self.neighbors[0],
            honesty=self.honesty[0],
        )

    def index_of(self, layer: int | None) -> int:
        """Return the row of a layer; the last row if the layer is not drawn."""
        return self.layers.index(layer) if layer in self.layers else len(self.layers) - 1
