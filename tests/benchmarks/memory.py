"""Memory after 10,000 different encodings, in a fresh process for each bound of the cache."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle

from contextlens.core import BUNDLED_ID, Settings, open_service
from tests.benchmarks.results import Outcome, Ratio
from tests.benchmarks.texts import mixed_sentences
from tests.benchmarks.workers import at_once

__all__ = ["memory"]

N_ENCODINGS = 10_000
BOUNDS_MB = (512, 128)
STEP = 250
CALL_SIZES = (1, 8, 64)  # texts in one call, in turn: pages ask for few, corpora for many


def memory(rounds: int) -> Outcome:
    """Resident memory above the start, beside what is allowed: the bound, 15% and 100 MB.

    The bounds are measured side by side, a thread for each.
    """
    contenders = {str(bound): (set_up, bound) for bound in BOUNDS_MB}
    ratios, raw = [], {}
    for bound, grown in at_once(contenders, N_ENCODINGS).items():
        allowed = 1.15 * int(bound) + 100
        what = f"{allowed:.0f} MB allowed for a cache of {bound} MB"
        ratios += [
            Ratio(f"growth at the end / {what}", (grown[-1] / allowed,), 1),
            Ratio(f"highest on the way / {what}", (max(grown) / allowed,)),
        ]
        raw[f"growth with a cache of {bound} MB, after each {STEP} encodings, MB"] = grown
    return Outcome(ratios, raw, {"encodings": N_ENCODINGS, "texts in a call": CALL_SIZES})


def set_up(bound_mb: int) -> Callable[[int], list[float]]:
    import psutil
    import torch

    torch.set_num_threads(1)
    process = psutil.Process()
    service = open_service(Settings.from_env({"CONTEXTLENS_CACHE_MB": str(bound_mb)}))
    service.encode(BUNDLED_ID, ["The first sentence is not counted."])
    start = process.memory_info().rss

    def run(n: int) -> list[float]:
        texts, sizes, done = mixed_sentences(n, 0), cycle(CALL_SIZES), 0
        grown: list[float] = []
        while done < n:
            size = next(sizes)
            service.encode(BUNDLED_ID, texts[done : done + size])
            done = min(n, done + size)
            if done // STEP > len(grown):
                grown.append((process.memory_info().rss - start) / 1e6)
        return grown

    return run
