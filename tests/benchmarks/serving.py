"""The cost of having the models on Ray, compared with the local service, in one run."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count
from pathlib import Path
from statistics import median

from contextlens.core import BUNDLED_ID, EncoderService, Settings
from contextlens.core.remote.service import RemoteService
from contextlens.core.service import LocalService
from tests.benchmarks.results import Outcome, Ratio
from tests.benchmarks.texts import short_sentences
from tests.benchmarks.workers import interleaved, seconds
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
    """Seconds of one text, and texts a second, of both services in turn.

    Each has a client process of its own, as in the app: the one that asks Ray has no model.
    """
    cores = cpu_count() or 1
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.txt"
        with ray_service(log, replicas=n, cores=cores) as ray:
            contenders = {"": (set_up, cores * 2), " far": (set_up, cores * 2, ray.address)}
            given = interleaved(contenders, [()] * rounds)
    found: dict[str, list[float]] = {"one": [], "one far": [], "many": [], "many far": []}
    for name, turns in given.items():
        for one, many in turns:
            found[f"one{name}"].append(one)
            found[f"many{name}"].append(many)
    return found


def set_up(n_clients: int, address: str | None = None) -> Callable[[], tuple[float, float]]:
    """Warm up the local service, or the one at an address, and return what measures it."""
    service: EncoderService = (
        LocalService(Settings()) if address is None else RemoteService(address)
    )
    texts = short_sentences(N_TEXTS * N_REQUESTS, 0)
    _throughput(service, texts, n_clients)  # all replicas get to know the model
    return lambda: (_one(service), _throughput(service, texts, n_clients))


def _one(service: EncoderService) -> float:
    return median(
        seconds(lambda i=i: service.encode(BUNDLED_ID, [f"A snake in the grass, {i}"]))
        for i in range(N_SINGLE)
    )


def _throughput(service: EncoderService, texts: Sequence[str], n_clients: int) -> float:
    requests = [texts[i : i + N_TEXTS] for i in range(0, len(texts), N_TEXTS)]
    with ThreadPoolExecutor(n_clients) as clients:
        took = seconds(
            lambda: list(clients.map(lambda some: service.encode(BUNDLED_ID, some), requests))
        )
    return len(texts) / took
