"""The process's own metrics: calls, errors, and values that are read on request."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric

from contextlens.core import EncoderService, meters, metrics
from contextlens.core.byte_cache import CacheInfo
from contextlens.core.errors import BusyError, TextError
from contextlens.jobs import StoppedError

MODEL = "folder:bert"


def value(name: str, **labels: str) -> float:
    return meters.REGISTRY.get_sample_value(name, labels) or 0.0


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (None, "ok"),
        (TextError("what a visitor typed"), "refused"),
        (BusyError("wait"), "refused"),
        (StoppedError("key"), "stopped"),
        (ValueError("what a visitor typed"), "failed"),
        (KeyboardInterrupt(), "stopped"),  # as the end of a page that nobody waits for
    ],
)
def test_each_call_is_counted_once_and_timed_and_its_error_goes_on(
    error: BaseException | None, outcome: str
) -> None:
    counts = {"method": "double", "outcome": outcome}
    before = value("contextlens_requests_total", **counts)
    timed = value("contextlens_request_seconds_count", method="double")

    expected = nullcontext() if error is None else pytest.raises(type(error))
    with expected as caught, meters.measured("double"):
        if error is not None:
            raise error
    assert caught is None or caught.value is error
    assert value("contextlens_requests_total", **counts) == before + 1
    assert value("contextlens_request_seconds_count", method="double") == timed + 1


def test_the_service_of_the_app_counts_every_call_but_look_ups(
    tiny_service: EncoderService,
) -> None:
    look_ups = {
        method: value("contextlens_request_seconds_count", method=method)
        for method in ("models", "spec")
    }
    tiny_service.models()
    tiny_service.spec(MODEL)
    for method, n in look_ups.items():
        assert value("contextlens_request_seconds_count", method=method) == n
    before = value("contextlens_requests_total", method="encode", outcome="ok")
    refused = value("contextlens_requests_total", method="encode", outcome="refused")
    tiny_service.encode(MODEL, ["a text"])
    with pytest.raises(TextError):
        tiny_service.encode(MODEL, ["lone \ud800"])
    assert value("contextlens_requests_total", method="encode", outcome="ok") == before + 1
    assert value("contextlens_requests_total", method="encode", outcome="refused") == refused + 1


class SecretError(Exception):
    """In no list."""


class ValueError_(ValueError):  # noqa: N801, N818
    """Another with the name of Python's."""


ValueError_.__name__ = "ValueError"


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TextError("x"), "TextError"),
        (ValueError("x"), "ValueError"),
        (OSError(28, "x"), "OSError"),
        (SecretError("x"), "other"),
        (ValueError_("x"), "other"),
        (type("x " * 50, (TextError,), {})("x"), "other"),
    ],
)
def test_the_kind_of_an_error_is_a_class_of_ours_or_python_s(
    error: BaseException, kind: str
) -> None:
    before = value("contextlens_errors_total", kind=kind)
    meters.count_error(error)
    assert value("contextlens_errors_total", kind=kind) == before + 1


def test_what_is_read_when_asked_is_read_anew_and_replaced_by_its_name() -> None:
    now = [1.0]

    def read() -> Iterator[Metric]:
        yield GaugeMetricFamily("contextlens_test", "For a test.", value=now[0])

    def nothing() -> Sequence[Metric]:
        return ()

    meters.read_when_asked("test", read)
    assert value("contextlens_test") == 1.0
    now[0] = 2.0
    assert value("contextlens_test") == 2.0
    meters.read_when_asked("test", nothing)
    assert "contextlens_test" not in generate_latest(meters.REGISTRY).decode()


def samples(found: Iterator[Metric]) -> dict[tuple[str, ...], float]:
    return {(s.name, *s.labels.values()): s.value for each in found for s in each.samples}


def test_a_cache_s_numbers_are_its_own() -> None:
    info = CacheInfo(hits=5, misses=3, n_entries=2, n_bytes=700, max_bytes=1000)
    assert samples(metrics.of_cache(info)) == {
        ("contextlens_cache_hits_total",): 5,
        ("contextlens_cache_misses_total",): 3,
        ("contextlens_cache_entries",): 2,
        ("contextlens_cache_bytes",): 700,
        ("contextlens_cache_max_bytes",): 1000,
    }


@given(st.dictionaries(st.text(), st.integers(0, 10**12)), st.sets(st.sampled_from(["a", "b"])))
def test_a_model_that_a_visitor_typed_is_no_label(sizes: dict[str, int], listed: set[str]) -> None:
    found = samples(metrics.of_models(sizes, listed))
    assert {name for _, name in found} <= {*listed, "other"}
    assert sum(found.values()) == sum(sizes.values())


def test_models_in_memory_are_counted_without_using_them(tiny_service: Any) -> None:
    tiny_service.load(MODEL)
    card = tiny_service.load("folder:roberta")
    before = list(tiny_service.uncached._store._models)
    sizes = tiny_service.uncached.model_sizes()
    assert sizes["folder:roberta"] == card.memory_bytes
    assert list(tiny_service.uncached._store._models) == before


def test_every_outcome_is_there_from_a_method_s_first_call_on() -> None:
    """So that rates are known."""
    with meters.measured("fresh"):
        pass
    labels = {"method": "fresh", "outcome": "failed"}
    assert meters.REGISTRY.get_sample_value("contextlens_requests_total", labels) == 0


WITHOUT = """
import sys
sys.modules["prometheus_client"] = None  # as if it were not installed
from starlette.requests import Request
from contextlens.core import BUNDLED_ID, meters, open_service
from contextlens.ui.server import health, metrics
meters.count_error(ValueError())
metrics.begin()
print(len(open_service().encode(BUNDLED_ID, ["pet python"])[0].tokens))
answer = health._metrics(Request({"type": "http", "headers": []}))
print(answer.status_code, answer.body.decode())
"""


@pytest.mark.slow
def test_without_prometheus_client_only_the_metrics_are_missing(tmp_path: Path) -> None:
    env = {**os.environ, "CONTEXTLENS_DATA_DIR": str(tmp_path)}
    command = [sys.executable, "-c", WITHOUT]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=env)
    n_tokens, said = done.stdout.split(maxsplit=1)
    assert n_tokens == "4"
    assert said.startswith("501 Nothing is counted here")
    assert "pip install 'contextlens[server]'" in said
