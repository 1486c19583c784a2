"""Maps, from a request to a picture: points are gathered, then placed in another process."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cached_property

import streamlit as st

from components.core import ModelCard
from components.core.schema import FloatArray, Passport
from components.corpus.corpus import Corpus
from components.features.map import costs
from components.features.map import vectors as map_vectors
from components.features.map.costs import SEED, Costs
from components.features.map.jobs import Job, Jobs
from components.features.map.request import MapRequest
from components.maps.gathering import Gathered
from components.maps.honesty import Honesty
from components.maps.layer_maps import How
from components.maps.neighbors import Neighbors
from components.maps.points import Points
from components.maps.prepare import compiled_folder
from components.maps.process import MapProcesses
from components.maps.projection import Map, Method, estimate
from components.maps.stability import Stability
from components.ui.models.services import settings

__all__ = [
    "Checked",
    "Picture",
    "check_stability",
    "draw",
    "jobs",
    "stability_job",
    "warm_up",
]


@dataclass(frozen=True, eq=False)
class Picture:
    """A map that was drawn, with everything behind it.

    Attributes:
        layers: those drawn; one, or all; (-1,) for the pooler's output.
        vectors: (len(layers), n_points, n_dims) float32.
        coordinates: (len(layers), n_points, 2 or 3) float32.
        reason: why it is another map than asked for, or "".
        neighbors, honesty: for each of the layers, in its own full space.
    """

    request: MapRequest
    corpus: Corpus
    gathered: Gathered
    layers: tuple[int, ...]
    vectors: FloatArray
    coordinates: FloatArray
    method: Method
    reason: str
    neighbors: tuple[Neighbors, ...]
    honesty: tuple[Honesty | None, ...]
    seconds: float

    @property
    def points(self) -> Points:
        """What each point is."""
        return self.gathered.points

    @property
    def nbytes(self) -> int:
        """Bytes held, roughly."""
        own = sum(n.indices.nbytes + n.distances.nbytes for n in self.neighbors)
        return self.gathered.nbytes + self.coordinates.nbytes + own

    @property
    def passport(self) -> Passport:
        """How to get the same map again."""
        from importlib.metadata import version

        encoded = self.gathered.passport
        if encoded is None:
            raise RuntimeError("a map without encodings")
        own = {
            "map": self.request.settings.as_dict(),
            "method": self.method,
            "unit": self.request.unit,
            "pooling": self.request.pooling,
            "layers": list(self.layers),
            "footing": self.request.footing,
            "corpus": self.corpus.name,
            "corpus_sha256": self.corpus.digest,
            "sampling_seed": SEED,
        }
        drawn_by = ("umap-learn", "openTSNE", "scikit-learn", "numpy")
        libraries = {name: version(name) for name in drawn_by}
        return replace(
            encoded,
            versions={**encoded.versions, **libraries},
            settings={**encoded.settings, **own},
        )

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


@st.cache_resource(show_spinner=False)
def jobs() -> Jobs:
    """The maps of this process."""
    return Jobs(settings().cache_bytes // 4)


@st.cache_resource(show_spinner=False, on_release=MapProcesses.stop)
def _processes() -> MapProcesses:
    return MapProcesses.with_cache(compiled_folder(settings()))


def warm_up() -> None:
    """Have the map process compile its code, so that a first map needs not wait for it."""
    _processes().small.warm_up()


def draw(request: MapRequest, corpus: Corpus, card: ModelCard) -> Job:
    """The job that draws a map, begun where it is not under way; its result is a `Picture`."""
    cost = costs.costs(request, corpus, card)
    return jobs().start(request.key, lambda job: _draw(job, request, corpus, card, cost))


def check_stability(picture: Picture, layer: int) -> None:
    """Begin to draw one layer's map from two more seeds."""
    key = f"{picture.request.key}-stability-{layer}"
    jobs().start(key, lambda job: _stability(job, picture, layer))


@dataclass(frozen=True)
class Checked:
    """A stability that was measured; of the map of one layer drawn alone."""

    stability: Stability
    layer: int
    nbytes: int = 0


def stability_job(picture: Picture, layer: int) -> Job | None:
    """The job that `check_stability` began; its result is a `Checked`."""
    return jobs().get(f"{picture.request.key}-stability-{layer}")


def _draw(job: Job, request: MapRequest, corpus: Corpus, card: ModelCard, cost: Costs) -> Picture:
    start = time.monotonic()
    placing = estimate(cost.n_points, card.n_dims, request.settings).seconds
    split = 1 - min(0.95, max(0.05, placing / max(cost.seconds, 1e-9)))
    gathered = map_vectors.gathered(job, request, corpus, card, share=split)
    layers = gathered.layers if request.layer is None else (request.layer,)
    rows = [gathered.layers.index(layer) for layer in layers]
    vectors = gathered.vectors if len(rows) == len(gathered.layers) else gathered.vectors[rows]

    def report(stage: str, share: float) -> None:
        job.report(stage, split + (1 - split) * share)

    report("Placing the points", 0.0)
    neighbors: tuple[Neighbors, ...]
    honesty: tuple[Honesty | None, ...]
    if len(layers) == 1:
        found = _processes().project(vectors[0], request.settings, report)
        coordinates, neighbors, honesty = (
            found.coordinates[None],
            (found.neighbors,),
            (found.honesty,),
        )
        method, reason = found.method, found.reason
    else:
        how: How = "aligned" if request.footing == "aligned" else "joint"
        maps = _processes().project_layers(vectors, request.settings, how=how, on_progress=report)
        coordinates, neighbors, honesty = maps.coordinates, maps.neighbors, maps.honesty
        method, reason = maps.method, maps.reason
    return Picture(
        request=request,
        corpus=corpus,
        gathered=gathered,
        layers=layers,
        vectors=vectors,
        coordinates=coordinates,
        method=method,
        reason=reason,
        neighbors=neighbors,
        honesty=honesty,
        seconds=time.monotonic() - start,
    )


def _stability(job: Job, picture: Picture, layer: int) -> Checked:
    row = picture.index_of(layer)
    vectors, own = picture.vectors[row], picture.request.settings
    if len(picture.layers) > 1:  # what is checked is this layer's own map, as nothing else repeats
        first = _processes().project(vectors, own, lambda s, p: job.report(s, p / 3))
    else:
        first = picture.as_map()
    found = _processes().stability(vectors, own, first, lambda s, p: job.report(s, (1 + 2 * p) / 3))
    return Checked(found, picture.layers[row])
