"""The values that `/metrics` reads from parts of the app at the time of the request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from streamlit import runtime
from streamlit.runtime.stats import ACTIVE_SESSIONS_FAMILY

from contextlens.core import meters, metrics
from contextlens.core.errors import ContextlensError
from contextlens.core.service import LocalService
from contextlens.ui.models.background import jobs
from contextlens.ui.state.services import service

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric


def begin() -> None:
    """Register the readings of this process's cache, models, jobs and sessions."""
    for name, read in (("service", _service), ("jobs", _jobs), ("sessions", _sessions)):
        meters.read_when_asked(name, read)


def _service() -> Iterator[Metric]:
    try:
        current = service()
    except ContextlensError:  # settings that are not allowed: every page reports it
        return
    yield from metrics.of_cache(current.cache_info())
    if isinstance(current.uncached, LocalService):  # else the models are in other processes
        listed = {spec.id for spec in current.models()}
        yield from metrics.of_models(current.uncached.model_sizes(), listed)


def _jobs() -> Iterator[Metric]:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    now = GaugeMetricFamily(
        "contextlens_jobs",
        "Work in the background, by kind and state (waiting, running).",
        labels=["kind", "state"],
    )
    ended = CounterMetricFamily(
        "contextlens_jobs_ended",
        "Work in the background that is over, by kind and state (done, failed, stopped).",
        labels=["kind", "state"],
    )
    try:
        tally = jobs().tally()
    except ContextlensError:
        return
    for (kind, state), n in tally.items():
        (now if state in {"waiting", "running"} else ended).add_metric([kind, state], n)
    yield from (now, ended)


def _sessions() -> Iterator[Metric]:
    from prometheus_client.core import GaugeMetricFamily

    n = 0
    if runtime.exists():
        stats = runtime.get_instance().stats_mgr.get_stats([ACTIVE_SESSIONS_FAMILY])
        n = sum(stat.value for stat in stats.get(ACTIVE_SESSIONS_FAMILY, ()))  # type: ignore[attr-defined]
    yield GaugeMetricFamily("contextlens_sessions", "Tabs that are connected now.", value=n)
