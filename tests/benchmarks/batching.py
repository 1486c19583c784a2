"""Many who ask one service at once: encodings a second with what they ask run together, or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from time import perf_counter, process_time

from contextlens.core import BUNDLED_ID, Settings
from contextlens.core.caller import Caller, calling
from contextlens.core.service import LocalService
from tests.benchmarks.results import Outcome, Ratio
from tests.benchmarks.texts import WARM_UP, mixed_sentences, short_sentences
from tests.benchmarks.workers import interleaved

__all__ = ["batching", "gpu"]

N_CLIENTS = 64
N_EACH = 4  # pairs of sentences, one after the other
TURNS = 4  # in a round
N_MANY = 1000

_Took = dict[str, float]


def batching(rounds: int) -> Outcome:
    """64 clients of one service, each with a new pair of short sentences after the other."""
    contenders = {"together": (set_up, True), "apart": (set_up, False)}
    given = interleaved(contenders, [(seed,) for seed in range(TURNS * rounds)])
    pairs = list(zip(given["together"], given["apart"], strict=True))
    ratios = [
        Ratio(
            "encodings a second of 64 clients, run together / apart",
            tuple(a["speed"] / b["speed"] for a, b in pairs),
            2.0,
            "at least",
        ),
        Ratio(  # what other programs take of the machine counts for nothing here
            "encodings a processor second, run together / apart",
            tuple(a["thrift"] / b["thrift"] for a, b in pairs),
        ),
        Ratio("a client's median wait / apart", tuple(a["wait"] / b["wait"] for a, b in pairs)),
        Ratio("the longest wait / apart", tuple(a["longest"] / b["longest"] for a, b in pairs)),
    ]
    raw = {f"{name}, encodings/s": [took["speed"] for took in given[name]] for name in given}
    raw |= {f"{name}, encodings/cpu s": [took["thrift"] for took in given[name]] for name in given}
    raw |= {f"{name}, wait s": [took["wait"] for took in given[name]] for name in given}
    return Outcome(ratios, raw, {"clients": N_CLIENTS, "sentences in a request": 2})


def set_up(together: bool) -> Callable[[int], _Took]:
    service = LocalService(Settings(), batching=together)

    def run(seed: int) -> _Took:
        texts = short_sentences(2 * N_CLIENTS * N_EACH, seed)
        waits: list[float] = []

        def client(number: int) -> None:
            own = texts[number::N_CLIENTS]
            with calling(Caller(number)):
                for i in range(0, len(own), 2):
                    begun = perf_counter()
                    service.encode(BUNDLED_ID, own[i : i + 2])
                    waits.append(perf_counter() - begun)

        begun, worked = perf_counter(), process_time()
        with ThreadPoolExecutor(N_CLIENTS) as clients:
            list(clients.map(client, range(N_CLIENTS)))
        return {
            "speed": len(texts) / (perf_counter() - begun),
            "thrift": len(texts) / (process_time() - worked),
            "wait": median(waits),
            "longest": max(waits),
        }

    service.encode(BUNDLED_ID, short_sentences(64, WARM_UP))
    return run


def gpu(rounds: int) -> Outcome:
    """1,000 mixed sentences, all layers, on the graphics card and beside it on the processor."""
    from contextlens.core.encoder.devices import detect_hardware

    found = detect_hardware()
    if not found.n_cuda and not found.has_mps:
        why = "there is no graphics card on this machine"
        print(f"gpu: skipped, {why}")
        return Outcome([], {}, {"skipped": why})
    contenders = {
        "card": (set_up_many, "auto", "exact"),
        "card, fast": (set_up_many, "auto", "fast"),
        "processor": (set_up_many, "cpu", "exact"),
    }
    given = interleaved(contenders, [(seed,) for seed in range(rounds)])

    def over(name: str, other: str) -> tuple[float, ...]:
        return tuple(a / b for a, b in zip(given[name], given[other], strict=True))

    ratios = [
        Ratio("processor / graphics card", over("processor", "card"), 1.0, "at least"),
        Ratio("graphics card exact / fast", over("card", "card, fast")),
    ]
    return Outcome(ratios, {f"{name} s": values for name, values in given.items()})


def set_up_many(device: str, precision: str) -> Callable[[int], float]:
    service = LocalService(Settings(device=device))

    def seconds(texts: Sequence[str]) -> float:
        begun = perf_counter()
        service.encode(BUNDLED_ID, texts, precision=precision)  # type: ignore[arg-type]
        return perf_counter() - begun

    seconds(mixed_sentences(32, WARM_UP))
    return lambda seed: seconds(mixed_sentences(N_MANY, seed))
