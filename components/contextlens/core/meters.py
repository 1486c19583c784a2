"""The metrics of this process, for Prometheus.

The value of a label is a name of ours (of a method, class, page or listed model), never a word that
a visitor typed. Numbers that other modules already count are read from them whenever Prometheus
asks: see `read_when_asked`. Without prometheus-client, which the extra `server` has, nothing is
counted.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from time import perf_counter
from typing import TYPE_CHECKING, Any

from contextlens.core import errors
from contextlens.core.caller import StoppedError

__all__ = [
    "BATCH_TEXTS",
    "BATCH_TOKENS",
    "ERRORS",
    "IS_COUNTING",
    "PAGE_RUNS",
    "PAGE_SECONDS",
    "QUEUED",
    "QUEUE_SECONDS",
    "REFUSED",
    "REGISTRY",
    "REQUESTS",
    "REQUEST_SECONDS",
    "count_error",
    "error_kind",
    "measured",
    "read_when_asked",
]

IS_COUNTING = find_spec("prometheus_client") is not None
"""True if prometheus-client is installed."""


class _Uncounted:
    """A metric or a registry that keeps nothing."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def labels(self, *_: Any) -> _Uncounted:
        return self

    def _ignore(self, *_: Any) -> None:
        pass

    inc = observe = register = set = _ignore


if TYPE_CHECKING or IS_COUNTING:
    from prometheus_client import (
        CollectorRegistry,
        Counter,
        Gauge,
        GCCollector,
        Histogram,
        PlatformCollector,
        ProcessCollector,
        disable_created_metrics,
    )
    from prometheus_client.metrics_core import Metric
    from prometheus_client.registry import Collector
else:
    Collector = CollectorRegistry = Counter = Gauge = Histogram = _Uncounted
    GCCollector = PlatformCollector = ProcessCollector = disable_created_metrics = _Uncounted

REGISTRY = CollectorRegistry(auto_describe=False)
"""Only the metrics of this program; libraries register theirs elsewhere."""

# Otherwise each counter and histogram has a second series, with its creation time.
disable_created_metrics()  # type: ignore[no-untyped-call]
_OTHER = "other"
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)
_TEXTS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
_TOKENS = (16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144)

REQUESTS = Counter(
    "contextlens_requests",
    "Calls of the encoder service, by method and outcome (ok, refused, stopped, failed).",
    ["method", "outcome"],
    registry=REGISTRY,
)
REQUEST_SECONDS = Histogram(
    "contextlens_request_seconds",
    "Time that a call of the encoder service took, remembered results included.",
    ["method"],
    buckets=_SECONDS,
    registry=REGISTRY,
)
BATCH_TEXTS = Histogram(
    "contextlens_batch_texts", "Texts in one run of a model.", buckets=_TEXTS, registry=REGISTRY
)
BATCH_TOKENS = Histogram(
    "contextlens_batch_tokens",
    "Tokens in one run of a model, padding included.",
    buckets=_TOKENS,
    registry=REGISTRY,
)
QUEUE_SECONDS = Histogram(
    "contextlens_queue_seconds",
    "Time that a request waited for its run of a model, by kind (interactive, bulk).",
    ["kind"],
    buckets=_SECONDS,
    registry=REGISTRY,
)
QUEUED = Gauge("contextlens_queued", "Texts that wait for a run of a model.", registry=REGISTRY)
REFUSED = Counter(
    "contextlens_refused",
    "Requests that a bound refused, by reason (a word of the program).",
    ["reason"],
    registry=REGISTRY,
)
ERRORS = Counter(
    "contextlens_errors",
    "Errors that a visitor or the log was told of, by class.",
    ["kind"],
    registry=REGISTRY,
)
PAGE_RUNS = Counter(
    "contextlens_page_runs",
    "Runs of page scripts, by page and outcome (ok, stopped, refused, failed).",
    ["page", "outcome"],
    registry=REGISTRY,
)
PAGE_SECONDS = Histogram(
    "contextlens_page_seconds",
    "Time that a run of a page script took.",
    ["page"],
    buckets=_SECONDS,
    registry=REGISTRY,
)


class _Readings(Collector):
    """Metrics that are read from their sources each time Prometheus asks."""

    def __init__(self) -> None:
        self._sources: dict[str, Callable[[], Iterable[Metric]]] = {}

    def put(self, name: str, read: Callable[[], Iterable[Metric]]) -> None:
        self._sources[name] = read

    def collect(self) -> Iterator[Metric]:
        for read in list(self._sources.values()):
            yield from read()


_readings = _Readings()
REGISTRY.register(_readings)
ProcessCollector(registry=REGISTRY)
PlatformCollector(registry=REGISTRY)
GCCollector(registry=REGISTRY)


def read_when_asked(name: str, read: Callable[[], Iterable[Metric]]) -> None:
    """Register metrics that are read from their source each time Prometheus asks.

    Args:
        name: the source's name; it replaces an earlier source of the same name.
        read: returns the metrics; called from any thread, and must be quick.
    """
    _readings.put(name, read)


def count_error(error: BaseException) -> None:
    """Count an error that is shown to a visitor or logged."""
    ERRORS.labels(error_kind(error)).inc()


def error_kind(error: BaseException) -> str:
    """The name of an error's class if it is ours or one of Python's built-ins, else "other"."""
    name = type(error).__name__
    module = errors if isinstance(error, errors.ContextlensError) else builtins
    return name if getattr(module, name, None) is type(error) else _OTHER


@contextmanager
def measured(method: str) -> Iterator[None]:
    """Count and time the block as one call of a method of the encoder service."""
    seconds, counts = _meters_of(method)
    started, outcome = perf_counter(), "ok"
    try:
        yield
    except BaseException as exc:
        outcome = _outcome(exc)
        raise
    finally:
        seconds.observe(perf_counter() - started)
        counts[outcome].inc()


@cache
def _meters_of(method: str) -> tuple[Histogram, dict[str, Counter]]:
    outcomes = ("ok", "refused", "stopped", "failed")
    return REQUEST_SECONDS.labels(method), {one: REQUESTS.labels(method, one) for one in outcomes}


def _outcome(error: BaseException) -> str:
    if isinstance(error, errors.ContextlensError):
        return "refused"
    # What is no Exception ends a thread or a page's run that is no longer wanted.
    is_stopped = isinstance(error, StoppedError) or not isinstance(error, Exception)
    return "stopped" if is_stopped else "failed"
