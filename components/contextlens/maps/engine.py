"""Maps from a request to a result, in the background, shared by all who ask. No streamlit.

    request = MapRequest(model, corpus.digest, layer=6)
    with Maps(service) as maps:
        job = maps.draw(request, corpus, service.load(model))
        result = job.result(timeout=60)

A separate job reads the texts, and maps of the same points share it. Another process places the
points. A map of all layers continues from that of the last layer alone, which has a job of its own
and can be shown first. Of many texts some are read and drawn first, as a map of their own
(`first_request`). The others join them, and the whole map is turned to lie as the first one.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from contextlens.core import EncoderService, ModelCard
from contextlens.core.byte_cache import remembered, shared_cache
from contextlens.core.cache import CachedService
from contextlens.core.errors import JobError, RequestError
from contextlens.core.schema import Precision
from contextlens.corpus.corpus import Corpus
from contextlens.jobs import FORGOTTEN_SECONDS, Job, JobKind, Jobs, Report, Task, Visitor
from contextlens.maps.placing import N_PROCESSES, Placing
from contextlens.maps.plan import Plan, placing_seconds, plan, usual_token_seconds
from contextlens.maps.precision import with_cosine_errors
from contextlens.maps.prepare import is_compiled
from contextlens.maps.projection import turned
from contextlens.maps.request import GIVEN, MapRequest
from contextlens.maps.result import MapResult
from contextlens.maps.stability import Stability
from contextlens.maps.vectors import PointVectors, read_points

__all__ = ["LARGE_SECONDS", "MAPS", "READINGS", "Maps", "first_request", "last_layer", "map_key"]

LARGE_SECONDS = 5.0
"""The seconds from which a map counts as large.

A large map is drawn only at a visitor's explicit request, not for an address or a changed control.
Small maps never wait for a large one, nor longer than this for each other.
"""
_QUEUE: dict[str, Any] = {
    "n_at_once": N_PROCESSES,
    "n_large": 1,
    "large_seconds": LARGE_SECONDS,
    "n_waiting": 50,
    "n_waiting_each": 12,  # a page has three places that wait for a map, for up to three jobs each
    "forgotten_seconds": FORGOTTEN_SECONDS,
}
MAPS = JobKind("maps", **_QUEUE)
READINGS = JobKind("maps to read texts for", **_QUEUE)
_FIRST_READINGS = JobKind("first maps to read texts for", **{**_QUEUE, "n_large": None})
"""They wait for no other visitor's large reading; calls of the model take turns."""
_MAX_BYTES = 256_000_000  # of maps, if no jobs are given
_ENOUGH, _CALLS = 500, 3
"""Tokens that make the time of a call meaningful, and calls before a speed is believed."""


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
        self._compiled = compiled
        self._placing = Placing(compiled)
        self._speeds: dict[tuple[str, Precision], tuple[int, float]] = {}
        """Calls, and the fewest seconds per token."""
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
        """Compile what maps need in a process, unless an earlier one has kept it on disk."""
        if self._compiled is None or not is_compiled(self._compiled):
            self._placing.warm_up()

    def plan(self, request: MapRequest, corpus: Corpus, card: ModelCard) -> Plan:
        """The estimate of what a map will read and how long it takes; made once."""

        def make() -> Plan:
            planned = plan(request, corpus, card, self._service, self.token_seconds(card))
            if planned.precision == "fast":
                seconds = planned.n_tokens * self.token_seconds(card, "fast")
                planned = replace(planned, reading=seconds)
            return planned

        return remembered("map plan", request.key, card.checksum, compute=make)

    def normalised(self, request: MapRequest, corpus: Corpus, card: ModelCard) -> MapRequest:
        """Return a request that does not ask for exact reading where the texts are so read anyway.

        Thus the wish alone makes no other map.
        """
        unasked = replace(request, exact=False)
        if request.exact and self.plan(unasked, corpus, card).precision == "exact":
            return unasked
        return request

    def find(self, request: MapRequest) -> Job | None:
        """Return the last job that drew a map, or None."""
        return self._jobs.get(map_key(request))

    def result(self, request: MapRequest) -> MapResult | None:
        """Return a finished map while it is kept, else None."""
        job = self.find(request)
        if job is None or job.state != "done":
            return None
        try:
            result: MapResult = job.result()
        except JobError:  # its result was evicted at this moment
            return None
        return result

    def draw(
        self, request: MapRequest, corpus: Corpus, card: ModelCard, visitor: Visitor | None = None
    ) -> Job:
        """Return the job that draws a map, starting it if needed; its result is a `MapResult`.

        Args:
            request: what is mapped, and how.
            corpus: the texts; its digest is that of the request.
            card: the card of the request's model.
            visitor: the visitor who waits for the map.

        Raises:
            BusyError: too many jobs are waiting already.
        """
        return self._jobs.start(self.task(request, corpus, card), visitor)

    def task(self, request: MapRequest, corpus: Corpus, card: ModelCard) -> Task:
        """Return the task that draws a map.

        It comes after the task of its last layer if it has them all, else after the reading; that
        of many texts comes after their first map.
        """
        planned = self.plan(request, corpus, card)
        size = planned.placing
        if request.layer is None:
            last = self.task(last_layer(request, card), corpus, card)

            def link(report: Report, drawn: MapResult) -> MapResult:
                gathered = drawn.gathered
                report("Placing the other layers", 0.0)
                linked = self._placing.project(
                    gathered.vectors, request.settings, report, last=drawn.map
                )
                layers, vectors = gathered.layers, gathered.vectors
                return MapResult(request, corpus, gathered, drawn.n_able, layers, vectors, linked)

            return Task(
                map_key(request),
                MAPS,
                link,
                size=size - last.size,
                after=last,
                split=min(0.95, (planned.reading + last.size) / max(planned.seconds, 1e-9)),
            )

        def place(report: Report, gathered: PointVectors | None) -> MapResult | None:
            if gathered is None:
                return None
            layers = gathered.layers if request.layer is None else (request.layer,)
            vectors = gathered.at(layers)
            report("Placing the points", 0.0)
            drawn = self._placing.project(vectors, request.settings, report)
            rows = np.flatnonzero(np.isin(gathered.points.sentence, planned.first))
            if rows.size:
                first = self.result(first_request(request, card))
                if first is None or first.points.n_points != len(rows):  # it is drawn again
                    places = self._placing.project(vectors[:, rows], request.settings, report)
                else:
                    places = first.map
                drawn = turned(drawn, rows, places)
            return MapResult(request, corpus, gathered, planned.n_able, layers, vectors, drawn)

        reading = self._reading(request, corpus, card, planned)
        return Task(map_key(request), MAPS, place, size=size, after=reading, split=planned.split)

    def _reading(self, request: MapRequest, corpus: Corpus, card: ModelCard, planned: Plan) -> Task:
        """Return the task that reads the texts of a map; maps of the same texts share it.

        If some texts are read first, it comes after their map, whose texts it does not read again.
        A first map without a point is None.
        """

        def read(report: Report, first: MapResult | None = None) -> PointVectors | None:
            self._placing.begin()
            try:
                points = read_points(
                    request,
                    corpus,
                    card,
                    planned,
                    self._reader(request, planned, card),
                    on_progress=report,
                    note_speed=lambda n, seconds: self._note_speed(
                        card, planned.precision, n, seconds
                    ),
                    first=() if first is None else first.gathered.read,
                )
            except RequestError:
                if request.is_first:
                    return None
                raise
            if points.passport is None or request.is_first:  # the whole one's says it soon
                return points
            texts = points.points.texts
            passport = with_cosine_errors(points.passport, texts, card, self._service)
            return replace(points, passport=passport)

        reader = (planned.precision, card.checksum) if request.pooling != GIVEN else ()
        key = ("points", *request.points_key, planned.layers, *reader)
        if not planned.first.size:
            kind = _FIRST_READINGS if request.is_first else READINGS
            return Task(key, kind, read, size=planned.reading)
        first_asked = first_request(request, card)
        first = self.task(first_asked, corpus, card)
        n, before = len(planned.first), self.plan(first_asked, corpus, card).seconds
        rest = planned.reading * (1 - n / planned.n_texts)
        split = before / max(before + rest, 1e-9)
        return Task(key, READINGS, read, size=rest, after=first, split=split)

    def _reader(self, request: MapRequest, planned: Plan, card: ModelCard) -> EncoderService:
        """Return the service that reads a map's texts, without its cache if they would fill it.

        The texts of a first map are not read again: they are handed to the whole one.
        """
        n_layers = card.n_layers + 1 if planned.layers is None else len(planned.layers)
        n_bytes = 4 * planned.n_tokens * n_layers * card.n_dims
        is_large = request.is_first or n_bytes > shared_cache().info().max_bytes // 2
        if is_large and isinstance(self._service, CachedService):
            return self._service.uncached
        return self._service

    def find_check(self, result: MapResult, layer: int) -> Job | None:
        """Return the job that `check` started, or None."""
        return self._jobs.get(_check_key(result, layer))

    def check(self, result: MapResult, layer: int, visitor: Visitor | None = None) -> Job:
        """Return the job that draws a layer from two more seeds; its result is a `Stability`.

        It gets the map from the job that drew it, or gets `result` if that map was evicted.
        """
        _, n, n_dims = result.vectors.shape
        seconds = placing_seconds(n, n_dims, result.request.settings)
        task = Task(
            _check_key(result, layer),
            MAPS,
            lambda report, drawn: self._check(report, drawn, layer),
            size=2 * seconds,
            after=Task(map_key(result.request), MAPS, lambda _: result, size=0.0),
        )
        return self._jobs.start(task, visitor)

    def token_seconds(self, card: ModelCard, precision: Precision = "exact") -> float:
        """The seconds that a model takes for one token here: measured, or else estimated."""
        with self._lock:
            n_calls, least = self._speeds.get((card.id, precision), (0, 0.0))
        return least if n_calls >= _CALLS else usual_token_seconds(card)

    def _check(self, report: Report, result: MapResult, layer: int) -> Stability:
        vectors, settings = result.vectors[result.index_of(layer)], result.request.settings
        first, share_done = result.map, 0.0
        if len(result.layers) > 1:  # a map of another seed starts from PCA, not from another layer
            first = self._placing.project(vectors, settings, lambda s, p: report(s, p / 3))
            share_done = 1 / 3
        return self._placing.stability(
            vectors, settings, first, lambda s, p: report(s, share_done + (1 - share_done) * p)
        )

    def _note_speed(
        self, card: ModelCard, precision: Precision, n_tokens: int, seconds: float
    ) -> None:
        """Record the least seconds per token of all calls, as some wait and the first is slow."""
        if n_tokens >= _ENOUGH:
            now = seconds / n_tokens
            with self._lock:
                n_calls, least = self._speeds.get((card.id, precision), (0, now))
                self._speeds[card.id, precision] = n_calls + 1, min(now, least)


def first_request(request: MapRequest, card: ModelCard) -> MapRequest:
    """Return the request for the map of the texts that are read first, of one layer."""
    layer = card.n_layers if request.layer is None else request.layer
    return replace(request, layer=layer, is_first=True)


def last_layer(request: MapRequest, card: ModelCard) -> MapRequest:
    """Return the request for the last layer alone, with which a map of all layers begins."""
    return replace(request, layer=card.n_layers)


def map_key(request: MapRequest) -> Hashable:
    """Return the key of the job that draws a map."""
    return ("map", request.key)


def _check_key(result: MapResult, layer: int) -> Hashable:
    return ("stability", result.request.key, layer)
