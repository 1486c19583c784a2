"""Metrics that are read from their source at the moment of a request."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from contextlens.core.byte_cache import CacheInfo

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

__all__ = ["of_cache", "of_models"]

_OTHER = "other"


def of_cache(info: CacheInfo) -> Iterator[Metric]:
    """The result cache's counters so far."""
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    yield CounterMetricFamily(
        "contextlens_cache_hits", "Results that were remembered.", value=info.hits
    )
    yield CounterMetricFamily(
        "contextlens_cache_misses", "Results that had to be computed.", value=info.misses
    )
    yield GaugeMetricFamily(
        "contextlens_cache_entries", "Results that are remembered now.", value=info.n_entries
    )
    yield GaugeMetricFamily("contextlens_cache_bytes", "Memory that they take.", value=info.n_bytes)
    yield GaugeMetricFamily(
        "contextlens_cache_max_bytes", "Memory that they may take.", value=info.max_bytes
    )


def of_models(sizes: Mapping[str, int], listed: Collection[str]) -> Iterator[Metric]:
    """The bytes of the models in memory.

    Args:
        sizes: bytes of each model, by its id.
        listed: the ids that everyone is offered; any other was typed by a visitor and must not
            become a label.
    """
    from prometheus_client.core import GaugeMetricFamily

    held: dict[str, int] = {}
    for model, n_bytes in sizes.items():
        name = model if model in listed else _OTHER
        held[name] = held.get(name, 0) + n_bytes
    family = GaugeMetricFamily(
        "contextlens_model_bytes",
        'Memory of the models that are loaded; "other" are those of no list.',
        labels=["model"],
    )
    for name, n_bytes in held.items():
        family.add_metric([name], n_bytes)
    yield family
