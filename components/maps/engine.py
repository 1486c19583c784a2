"""Maps from a request to a picture, in the background, shared by all who ask. No streamlit.

    request = MapRequest(model, corpus.digest, footing="one", layer=6)
    with Maps(service) as maps:
        job = maps.draw(request, corpus, service.load(model))
        picture = job.result(timeout=60)

A separate job reads the texts, and maps of the same points share it. Another process places the
points.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from components.core import EncoderService, ModelCard
from components.core.byte_cache import remembered
from components.core.errors import JobError
from components.core.schema import FloatArray
from components.corpus.corpus import Corpus
from components.jobs import FORGOTTEN_SECONDS, Job, JobKind, Jobs, Report, Task, Visitor
from components.maps.layer_maps import How, LayerMaps
from components.maps.picture import Picture
from components.maps.placing import N_PROCESSES, Placing
from components.maps.plan import Plan, plan, usual_token_seconds
from components.maps.projection import estimate
from components.maps.request import MapRequest
from components.maps.stability import Stability
from components.maps.vectors import Gathered, gathered

__all__ = ["LARGE_SECONDS", "MAPS", "READINGS", "Checked", "Maps"]

LARGE_SECONDS = 5.0
"""The seconds from which a map counts as large.

A large map is drawn only at a visitor's explicit request, not for an address or a changed control.
Small maps never wait for a large one, nor longer than this for each other.
"""
_LINE: dict[str, Any] = {
    "n_at_once": N_PROCESSES,
    "n_large": 1,
    "large_seconds": LARGE_SECONDS,
    "n_waiting": 50,
    "n_waiting_each": 6,  # a page has three places that wait for a map
    "forgotten_seconds": FORGOTTEN_SECONDS,
}
MAPS = JobKind("maps", **_LINE)
READINGS = JobKind("maps to read texts for", **_LINE)
_MAX_BYTES = 256_000_000  # of maps, if no jobs are given
_ENOUGH, _CALLS = 500, 3
"""Tokens that make the time of a call meaningful, and calls before a speed is believed."""


@dataclass(frozen=True)
class Checked:
    """The measured stability of one layer's map that is drawn alone."""

    stability: Stability
    layer: int


class Maps:
    """Draws maps. Thread-safe.

    Args:
        service: encodes the texts.
        jobs: run the work; created here if none are given.
        compiled: a private folder for compiled code, or None.
    """

    def __init__(
        self,
        service: EncoderService,
        jobs: Jobs | None = None,
        *,
        compiled: Path | None = None,
    ) -> None:
        self._service = service
        self._jobs = Jobs(_MAX_BYTES) if jobs is None else jobs
        self._placing = Placing(compiled)
        self._speeds: dict[str, tuple[int, float]] = {}  # calls, and the fewest seconds per token
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the processes for good."""
        self._placing.close()

    def warm_up(self) -> None:
        """Make a process compile its code, so that the first map need not wait."""
        self._placing.warm_up()

    def plan(self, request: MapRequest, corpus: Corpus, card: ModelCard) -> Plan:
        """The estimate of what a map will read and how long it takes; made once."""

        def make() -> Plan:
            return plan(request, corpus, card, self._service, self.token_seconds(card))

        return remembered("map plan", request.key, card.checksum, compute=make)

    def find(self, request: MapRequest) -> Job | None:
        """Return the last job that drew a map, or None."""
        return self._jobs.get(_key(request))

    def picture(self, request: MapRequest) -> Picture | None:
        """Return a finished map while it is kept, else None."""
        job = self.find(request)
        if job is None or job.state != "done":
            return None
        try:
            picture: Picture = job.result()
        except JobError:  # its result was evicted at this moment
            return None
        return picture

    def draw(
        self, request: MapRequest, corpus: Corpus, card: ModelCard, visitor: Visitor | None = None
    ) -> Job:
        """Return the job that draws a map, starting it if needed; its result is a `Picture`.

        Args:
            request: what is mapped, and how.
            corpus: the texts; its digest is that of the request.
            card: the card of the request's model.
            visitor: the visitor who waits for the map.

        Raises:
            BusyError: too many jobs are waiting already.
        """
        own = self.plan(request, corpus, card)

        def place(report: Report, found: Gathered) -> Picture:
            return self._place(report, found, request, corpus, own)

        reading = self._reading(request, corpus, card, own)
        task = Task(_key(request), MAPS, place, size=own.placing, after=reading, split=own.split)
        return self._jobs.start(task, visitor)

    def find_check(self, picture: Picture, layer: int) -> Job | None:
        """Return the job that `check` started, or None."""
        return self._jobs.get(_check_key(picture, layer))

    def check(self, picture: Picture, layer: int, visitor: Visitor | None = None) -> Job:
        """Return the job that draws one layer's map from two more seeds; its result is a `Checked`.

        It gets the map from the job that drew it, so that it holds no vectors while it waits.
        """
        _, n, n_dims = picture.vectors.shape
        seconds = estimate(n, n_dims, picture.request.settings).seconds
        task = Task(
            _check_key(picture, layer),
            MAPS,
            lambda report, drawn: self._check(report, drawn, layer),
            size=2 * seconds,
            after=Task(_key(picture.request), MAPS, lambda _: picture, size=0.0),
        )
        return self._jobs.start(task, visitor)

    def token_seconds(self, card: ModelCard) -> float:
        """The seconds that a model takes for one token here: measured, or else estimated."""
        with self._lock:
            n_calls, least = self._speeds.get(card.id, (0, 0.0))
        return least if n_calls >= _CALLS else usual_token_seconds(card)

    def _reading(self, request: MapRequest, corpus: Corpus, card: ModelCard, own: Plan) -> Task:
        """The task that gathers the points; other maps of the same texts share it."""

        def read(report: Report) -> Gathered:
            return gathered(
                request,
                corpus,
                card,
                own,
                self._service,
                on_progress=report,
                note_speed=lambda n, seconds: self._note_speed(card, n, seconds),
            )

        key = ("points", *request.points_key, own.layers, card.checksum, own.most)
        return Task(key, READINGS, read, size=own.reading)

    def _place(
        self,
        report: Report,
        found: Gathered,
        request: MapRequest,
        corpus: Corpus,
        own: Plan,
    ) -> Picture:
        layers = found.layers if request.layer is None else (request.layer,)
        rows = [found.layers.index(layer) for layer in layers]
        vectors = found.vectors if len(rows) == len(found.layers) else found.vectors[rows]
        report("Placing the points", 0.0)
        drawn = self._placed(vectors, request, report)
        return Picture(
            request=request,
            corpus=corpus,
            gathered=found,
            n_able=own.n_able,
            layers=layers,
            vectors=vectors,
            coordinates=drawn.coordinates,
            method=drawn.method,
            reason=drawn.reason,
            neighbors=drawn.neighbors,
            honesty=drawn.honesty,
        )

    def _placed(self, vectors: FloatArray, request: MapRequest, report: Report) -> LayerMaps:
        """Return the map of all layers together, or of a single layer alone."""
        settings = request.settings
        if len(vectors) > 1:
            how: How = "aligned" if request.footing == "aligned" else "joint"
            return self._placing.project_layers(vectors, settings, how=how, on_progress=report)
        one = self._placing.project(vectors[0], settings, report)
        return LayerMaps(
            how="joint",
            coordinates=one.coordinates[None],
            method=one.method,
            reason=one.reason,
            settings=settings,
            neighbors=(one.neighbors,),
            honesty=(one.honesty,),
        )

    def _check(self, report: Report, picture: Picture, layer: int) -> Checked:
        row = picture.index_of(layer)
        vectors, own = picture.vectors[row], picture.request.settings
        first, drawn = picture.as_map(), 0.0
        if len(picture.layers) > 1:  # the check needs this layer's own map
            first = self._placing.project(vectors, own, lambda s, p: report(s, p / 3))
            drawn = 1 / 3
        found = self._placing.stability(
            vectors, own, first, lambda s, p: report(s, drawn + (1 - drawn) * p)
        )
        return Checked(found, picture.layers[row])

    def _note_speed(self, card: ModelCard, n_tokens: int, seconds: float) -> None:
        """Record the seconds per token: the least of all calls, as one may wait or be the first."""
        if n_tokens >= _ENOUGH:
            now = seconds / n_tokens
            with self._lock:
                n_calls, least = self._speeds.get(card.id, (0, now))
                self._speeds[card.id] = n_calls + 1, min(now, least)


def _key(request: MapRequest) -> Hashable:
    return ("map", request.key)


def _check_key(picture: Picture, layer: int) -> Hashable:
    return ("stability", picture.request.key, layer)
