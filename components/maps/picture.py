"""A map that was drawn, with everything behind it: points, vectors, how to get it again."""

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
    """A map that was drawn, with everything behind it.

    Attributes:
        request, corpus, gathered: what was mapped.
        n_able: how many of the texts may have points.
        layers: those drawn; one, or all; (-1,) for the pooler's output.
        vectors: (len(layers), n_points, n_dims) float32.
        coordinates: (len(layers), n_points, 2 or 3) float32.
        reason: why it is another map than asked for, or "".
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
        """What each point is."""
        return self.gathered.points

    @property
    def nbytes(self) -> int:
        """Bytes held, roughly."""
        own = sum(n.indices.nbytes + n.distances.nbytes for n in self.neighbors)
        return self.gathered.nbytes + self.coordinates.nbytes + own

    @cached_property
    def digest(self) -> str:
        """SHA-256 of where its points lie, hex.

        A request that is drawn again may have them elsewhere: what a text gives differs in its last
        digits with the texts that it was encoded beside.
        """
        return hashlib.sha256(self.coordinates.tobytes()).hexdigest()

    @property
    def passport(self) -> Passport:
        """How to get the same map again."""
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
        """Whose graph and whose optimiser UMAP was."""
        if self.request.footing == "aligned":
            return "AlignedUMAP's optimiser on umap-learn's graphs"
        return "Contextlens' own optimiser of UMAP's objective, on umap-learn's graph"

    @cached_property
    def spots(self) -> list[tuple[str, int, int, str]]:
        """Each point by its text, span and name, to find it again in another map."""
        points = self.points
        return [
            (points.texts[text], start, end, name if start == end else "")
            for text, (start, end), name in zip(
                points.sentence.tolist(), points.spans.tolist(), points.names, strict=True
            )
        ]

    def as_map(self) -> Map:
        """The only layer's map as the engine gave it."""
        return Map(
            coordinates=self.coordinates[0],
            method=self.method,
            reason=self.reason,
            settings=self.request.settings,
            neighbors=self.neighbors[0],
            honesty=self.honesty[0],
        )

    def index_of(self, layer: int | None) -> int:
        """The row of a layer; the last where it is not drawn."""
        return self.layers.index(layer) if layer in self.layers else len(self.layers) - 1
