"""A finished map with all that it was made from: points, vectors, and how to draw it again."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version

from contextlens.core.schema import FloatArray, Passport
from contextlens.corpus.corpus import Corpus
from contextlens.maps.neighbors import N_CHECKED
from contextlens.maps.plan import SAMPLING_SEED
from contextlens.maps.points import Points
from contextlens.maps.projection import Map
from contextlens.maps.request import MapRequest
from contextlens.maps.vectors import PointVectors

__all__ = ["MapResult"]

_OWN_OPTIMISER = "Contextlens' own optimiser of UMAP's objective, on umap-learn's graph"


@dataclass(frozen=True, eq=False)
class MapResult:
    """A finished map with all that it was made from.

    Attributes:
        request, corpus, gathered: the request, the texts, and the points with their vectors.
        n_able: the number of texts that may have points; for a first map, that of the whole map.
        layers: the drawn layers, one or all; (-1,) for the pooler's output.
        vectors: (len(layers), n_points, n_dims) float32.
        map: the places of the points at these layers.
    """

    request: MapRequest
    corpus: Corpus
    gathered: PointVectors
    n_able: int
    layers: tuple[int, ...]
    vectors: FloatArray
    map: Map

    @property
    def is_first(self) -> bool:
        """True if other texts are still to join these."""
        return self.request.is_first

    @property
    def points(self) -> Points:
        """The points of the map."""
        return self.gathered.points

    @property
    def nbytes(self) -> int:
        """The approximate memory in bytes."""
        near = sum(n.indices.nbytes + n.distances.nbytes for n in self.map.neighbors)
        gathered = self.gathered
        own_vectors = 0 if self.vectors is gathered.vectors else self.vectors.nbytes
        return gathered.nbytes + own_vectors + self.map.coordinates.nbytes + near

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the points' places, in hexadecimal.

        Drawing a request again may move them: the last digits of a text's vectors depend on the
        texts that are encoded in the same batch.
        """
        return hashlib.sha256(self.map.coordinates.tobytes()).hexdigest()

    @cached_property
    def passport(self) -> Passport:
        """The passport with which the same map can be drawn again."""
        encoded = self.gathered.passport
        if encoded is None:
            raise RuntimeError("a map without encodings")
        settings = {
            "map": self.request.settings.as_dict(),
            "method": self.map.method,
            **({"placed_by": _OWN_OPTIMISER} if self.map.method == "umap" else {}),
            "unit": self.request.unit,
            "pooling": self.request.pooling,
            "layers": list(self.layers),
            "corpus": self.corpus.name,
            "corpus_sha256": self.corpus.digest,
            "sampling_seed": SAMPLING_SEED,
            **self._search(),
            **({"first_texts": [len(self.points.texts), self.n_able]} if self.is_first else {}),
        }
        drawn_by = ["umap-learn", "openTSNE", "scikit-learn", "numpy"]
        drawn_by += ["pynndescent"] if self._search() else []
        libraries = {name: version(name) for name in drawn_by}
        return replace(
            encoded,
            versions={**encoded.versions, **libraries},
            settings={**encoded.settings, **settings},
        )

    def _search(self) -> dict[str, object]:
        """The share of the true neighbours that were found, at each layer; nothing if exact."""
        recalls = [neighbors.recall for neighbors in self.map.neighbors]
        return {} if None in recalls else {"neighbor_recall": recalls, "n_checked": N_CHECKED}

    @cached_property
    def point_ids(self) -> list[tuple[str, int, int, str]]:
        """Each point by its text, span and name, which identify it in another map."""
        points = self.points
        return [
            (points.texts[text], start, end, name if start == end else "")
            for text, (start, end), name in zip(
                points.sentence.tolist(), points.spans.tolist(), points.names, strict=True
            )
        ]

    def index_of(self, layer: int | None) -> int:
        """Return the row of a layer; the last row if the layer is not drawn."""
        return self.layers.index(layer) if layer in self.layers else len(self.layers) - 1
