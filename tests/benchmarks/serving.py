"""What it costs to have the models on Ray: beside the same service in this process, in one run."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from os import cpu_count
from pathlib import Path
from statistics import median
from time import perf_counter

from components.core import BUNDLED_ID, EncoderService, Settings
from components.core.remote.service import RemoteService
from components.core.service import LocalService
from tests.benchmarks.results import Outcome, Ratio
from tests.benchmarks.texts import short_sentences
from tests.support.ray_service import MISSING, has_ray, ray_service

__all__ = ["serving"]

N_TEXTS = 64
N_REQUESTS = 32  # of 64 texts, by twice as many clients as there are cores
N_SINGLE = 30
REPLICAS = (1, 2)


def serving(rounds: int) -> Outcome:
    """One text, and 64 a request: Ray with 1 and 2 replicas, and local."""
    if not has_ray():
        return Outcome([], {}, {"skipped": MISSING})
    ratios: list[Ratio] = []
    raw: dict[str, Sequence[float]] = {}
    for n in REPLICAS:
        found = _measured(n, rounds)
        name = f"Ray with {n} replica{'s' if n > 1 else ''}"
        overheads = tuple(
            1000 * (b - a) for a, b in zip(found["one"], found["one far"], strict=True)
        )
        speeds = tuple(b / a for a, b in zip(found["many"], found["many far"], strict=True))
        ratios += [
            Ratio(f"{name}: overhead a request", overheads, 10.0, unit=" ms"),
            Ratio(f"{name}: texts a second, 64 a request / local", speeds, 0.85, "at least"),
        ]
        raw |= {f"{name}, {key}": values for key, values in found.items()}
    return Outcome(ratios, raw, {"cores": cpu_count(), "texts in a request": N_TEXTS})


def _measured(n: int, rounds: int) -> dict[str, list[float]]:
    """Seconds of one text, and texts a second, of both services in turn."""
    cores = cpu_count() or 1
    texts = short_sentences(N_TEXTS * N_REQUESTS, 0)
    found: dict[str, list[float]] = {"one": [], "one far": [], "many": [], "many far": []}
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.txt"
        with (
            ray_service(log, replicas=n, cores=cores) as ray,
            closing(RemoteService(ray.address)) as remote,
        ):
            services: dict[str, EncoderService] = {"": LocalService(Settings()), " far": remote}
            for service in services.values():  # both replicas get to know the model
                _throughput(service, texts, cores * 2)
            for _ in range(rounds):
                for name, service in services.items():
                    found[f"one{name}"].append(_one(service))
                    found[f"many{name}"].append(_throughput(service, texts, cores * 2))
    return found


def _one(service: EncoderService) -> float:
    return median(
        _seconds(lambda i=i: service.encode(BUNDLED_ID, [f"A snake in the grass, {i}"]))
        for i in range(N_SINGLE)
    )


def _throughput(service: EncoderService, texts: Sequence[str], n_clients: int) -> float:
    requests = [texts[i : i + N_TEXTS] for i in range(0, len(texts), N_TEXTS)]
    with ThreadPoolExecutor(n_clients) as clients:
        took = _seconds(
            lambda: list(clients.map(lambda some: service.encode(BUNDLED_ID, some), requests))
        )
    return len(texts) / took


def _seconds(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start
