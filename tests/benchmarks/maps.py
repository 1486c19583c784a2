"""Maps of token vectors: beside umap-learn called plainly, through the layers, and of many points.

The vectors are the bundled model's, of sentences made from those that ship with the app.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import numpy as np

from contextlens.core import BUNDLED_ID, Settings, open_service
from contextlens.maps.map_quality import measure
from contextlens.maps.plan import placing_seconds
from contextlens.maps.prepare import warm_up
from contextlens.maps.projection import project
from contextlens.maps.request import MapSettings
from contextlens.maps.vector_space import VectorSpace
from tests.benchmarks.results import Outcome, Ratio
from tests.benchmarks.texts import mixed_sentences
from tests.benchmarks.workers import interleaved, peak

__all__ = ["large_map", "layer_maps", "maps"]

N_POINTS, N_MANY, N_LAYER_POINTS = 10_000, 50_000, 500
Turn = Callable[[int], tuple[float, float]]
"""From a seed to seconds, and to trustworthiness or bytes."""


def maps(rounds: int) -> Outcome:
    """10,000 token vectors: umap-learn with a seed and the metric, and both of our efforts.

    Ours are whole: the graph, the map and its measures. Trustworthiness is over the same points.
    """
    with saved(token_vectors(N_POINTS)) as path:
        contenders = {
            "plain": (set_up_plain, path),
            "full": (set_up_ours, path, "full"),
            "quick": (set_up_ours, path, "quick"),
        }
        took = interleaved(contenders, [(seed,) for seed in range(rounds)])
    plain = took["plain"]
    ratios = []
    for effort, target, loss in (("full", 3.5, 0.0), ("quick", 8.0, 0.015)):
        turns = list(zip(plain, took[effort], strict=True))
        faster = tuple(theirs[0] / ours[0] for theirs, ours in turns)
        better = tuple(ours[1] - theirs[1] for theirs, ours in turns)
        ratios += [
            Ratio(f"plain umap-learn / {effort} effort", faster, target, "at least"),
            Ratio(f"trustworthiness gained, {effort}", better, -loss, "at least", ""),
        ]
    expected = placing_seconds(N_POINTS, 384, MapSettings())
    told = tuple(expected / ours[0] for ours in took["quick"])
    raw = {f"{name} s": [turn[0] for turn in turns] for name, turns in took.items()}
    raw |= {f"{name} trustworthiness": [turn[1] for turn in t] for name, t in took.items()}
    return Outcome([*ratios, Ratio("estimated / measured, quick", told)], raw)


def layer_maps(rounds: int) -> Outcome:
    """Seven layers of 500 tokens, each starting from the one above."""
    with saved(token_vectors(N_LAYER_POINTS, all_layers=True)) as path:
        took = interleaved({"layers": (set_up_layers, path)}, [(seed,) for seed in range(rounds)])
    seconds, lost, moved = zip(*took["layers"], strict=True)
    raw = {"layers s": list(seconds), "trustworthiness lost": list(lost), "moved": list(moved)}
    return Outcome(
        [
            Ratio("map of all layers", seconds, 4, unit="s"),
            Ratio("trustworthiness lost at the worst layer", lost, 0.012, unit=""),
            Ratio("moved from layer to layer", moved, unit=""),
        ],
        raw,
    )


def large_map(rounds: int) -> Outcome:
    """50,000 token vectors: seconds, memory at the peak, and the longest silence on the way."""
    with saved(token_vectors(N_MANY)) as path:
        took = interleaved({"map": (set_up_large, path)}, [(seed,) for seed in range(rounds)])
    turns = took["map"]
    names = ("seconds", "peak GB", "longest silence s", "estimated / measured", "trustworthiness")
    raw = {name: [turn[i] for turn in turns] for i, name in enumerate(names)}
    return Outcome(
        [
            Ratio("quick map", tuple(raw["seconds"]), 60, unit="s"),
            Ratio("memory at the peak", tuple(raw["peak GB"]), 3, unit="GB"),
            Ratio(
                "longest silence / whole",
                tuple(turn[2] / turn[0] for turn in turns),
                0.2,
            ),
            Ratio("estimated / measured", tuple(raw["estimated / measured"])),
        ],
        raw,
    )


def token_vectors(n: int, *, all_layers: bool = False) -> np.ndarray:
    """(n, 384) last-layer vectors of tokens, or (7, n, 384) of all layers."""
    service = open_service(Settings())
    layers = None if all_layers else [6]
    found: list[np.ndarray] = []
    seed = 0
    while sum(len(hidden[0]) for hidden in found) < n:
        encoded = service.encode(BUNDLED_ID, mixed_sentences(256, seed), layers=layers)
        found += [one.hidden for one in encoded]
        seed += 1
    vectors = np.concatenate(found, axis=1)[:, :n]
    return vectors if all_layers else vectors[0]


@contextmanager
def saved(vectors: np.ndarray) -> Iterator[Path]:
    """Vectors in a file, for workers to read."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.npy"
        np.save(path, vectors)
        yield path


def set_up_plain(path: Path) -> Turn:
    import warnings

    from contextlens.maps.compiled import umap_functions

    warnings.filterwarnings("ignore", "n_jobs value", UserWarning)
    with umap_functions() as umap:
        own = umap.UMAP
    vectors = np.load(path)
    own(metric="cosine", random_state=0, n_epochs=5).fit(vectors[:5000])  # compiles

    def run(seed: int) -> tuple[float, float]:
        start = time.perf_counter()
        places = own(metric="cosine", random_state=seed).fit_transform(vectors)
        took = time.perf_counter() - start
        return took, measure(VectorSpace.of(vectors, "cosine"), places).trustworthiness

    return run


def set_up_ours(path: Path, effort: str) -> Turn:
    vectors = np.load(path)
    warm_up()

    def run(seed: int) -> tuple[float, float]:
        settings = MapSettings.from_dict({"effort": effort, "seed": seed})
        start = time.perf_counter()
        found = project(vectors, settings).quality[0]
        took = time.perf_counter() - start
        return took, found.trustworthiness if found else 0.0

    return run


def set_up_layers(path: Path) -> Callable[[int], tuple[float, ...]]:
    vectors = np.load(path)
    project(vectors[:, :40], MapSettings())

    def run(seed: int) -> tuple[float, ...]:
        settings = MapSettings(seed=seed)
        start = time.perf_counter()
        found = project(vectors, settings)
        took = time.perf_counter() - start
        alone = [project(layer, settings).quality[0] for layer in vectors]
        pairs = zip(alone, found.quality, strict=True)
        lost = [own.trustworthiness - one.trustworthiness for own, one in pairs if own and one]
        return took, max(lost), float(np.median(found.moved))

    return run


def set_up_large(path: Path) -> Callable[[int], tuple[float, ...]]:
    import psutil

    vectors = np.load(path)
    warm_up()

    def run(seed: int) -> tuple[float, ...]:
        settings = MapSettings(seed=seed)
        calls = [time.perf_counter()]
        with peak(psutil.Process(os.getpid())) as highest:
            found = project(
                vectors, settings, on_progress=lambda *_: calls.append(time.perf_counter())
            )
        took = calls[-1] - calls[0]
        silence = max(later - earlier for earlier, later in pairwise(calls))
        told = placing_seconds(*vectors.shape, settings) / took
        quality = found.quality[0]
        trust = quality.trustworthiness if quality else 0.0
        return took, highest[0] / 1e9, silence, told, trust

    return run
