"""`python -m docs.simulate_capacity`: write the tables of capacity.md from capacity.json.

`python -m tests.load.measure_capacity --keep` measures again. An app process is simulated as a
flow-equivalent server (Chandy, Herzog and Woo, 1975): one station that all its visitors share
evenly, as threads share an interpreter, and whose speed for each number of visitors was measured.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from heapq import heapify, heappop, heappush
from itertools import count, cycle
from math import ceil, inf
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from docs.sections import replace_section

__all__ = ["Inputs", "Prediction", "Prices", "Station", "first_asks", "page_of", "simulate"]

PAGE = Path(__file__).with_name("capacity.md")
KEPT = PAGE.with_suffix(".json")
HOURS_A_MONTH = 730
FULL = 0.7  # the share of its capacity that a process or an encoder is planned for
N_LAYERS, N_DIMS = 7, 384  # of the bundled model's hidden states
GIGABIT = 125e6  # bytes a second
HERE = (1, 2, 3)  # app processes on the machine that measured, for 50 visitors
CROWDS = ((50, 2.0), (1000, 60.0), (1000, 20.0), (1000, 2.0))  # visitors, seconds between questions
OCCURRENCES = (200_000, 10_000_000, 1_000_000_000)
# Of a stored corpus, measured on two cores with 200,000 occurrences (one layer, float16):
CORPUS_CORES = 2
OCCURRENCE_BYTES = 159e6 / 200_000
OCCURRENCE_SECONDS = 1.2 / (0.83 * 22_747 / 3.3)  # 1.2 tokens, at 0.83 of the encoder's speed
INDEX_SECONDS = 212 / 200_000  # of the vector index, an occurrence


@dataclass(frozen=True)
class Inputs:
    """The measurements of one run.

    Attributes:
        rates: questions a second of one app process, by the number of visitors without a pause.
        spread: the times of a lone visitor's answers, in order, each divided by their mean.
        processor_seconds: processor time of a question in a full process.
        busy: processors that a full process takes.
        answer_bytes: bytes that the server sends for a question.
        process_mb: memory of an app process at the end.
        batch_seconds, token_seconds: an encoder's batch takes the first, plus the second a token.
        question_tokens: tokens of a question's two sentences.
        encoder_cores: processors that the encoder keeps busy.
        others: the largest share of the machine that other programs took, 0 to 1.
    """

    made: str
    machine: Mapping[str, Any]
    rates: Mapping[int, float]
    spread: Sequence[float]
    processor_seconds: float
    busy: float
    answer_bytes: float
    process_mb: float
    batch_seconds: float
    token_seconds: float
    question_tokens: int
    encoder_cores: float
    others: float

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Inputs:
        """Return the inputs of a JSON file."""
        rates = {int(n): rate for n, rate in values["rates"].items()}
        return cls(**{**values, "rates": rates})

    def station(self, processes: int = 1) -> Station:
        """Return that many app processes on the machine that measured."""
        cores = float(self.machine["cpus"])
        return Station(self.rates, self.spread, processes, self.busy, cores)


@dataclass(frozen=True)
class Prices:
    """Assumed prices in one currency: a virtual CPU an hour; memory and storage, a GB a month."""

    vcpu_hour: float = 0.04
    memory_month: float = 3.0
    storage_month: float = 0.025


# --- The simulation ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Station:
    """App processes on one machine; see `Inputs` for `rates`, `spread` and `busy`.

    `spread` is replayed in its order, because slow moments of a machine come together.
    """

    rates: Mapping[int, float]
    spread: Sequence[float] = (1.0,)
    processes: int = 1
    busy: float = 1.0
    cores: float = inf

    def rate(self, n: int) -> float:
        """Return the questions a second of one process with `n` visitors in it."""
        known = sorted(self.rates)
        if n < known[0]:
            return self.rates[known[0]] * n / known[0]
        return float(np.interp(n, known, [self.rates[k] for k in known]))


@dataclass(frozen=True)
class Prediction:
    """Questions a second, and the median and 95th percentile of the seconds to an answer."""

    requests_per_second: float
    p50: float
    p95: float


class _Process:
    """Work shared evenly: `clock` is the work that each visitor has received so far."""

    def __init__(self) -> None:
        self.clock = 0.0
        self.due: list[tuple[float, int, int]] = []  # clock at the end, order, visitor


def first_asks(visitors: int, think: float, seed: int) -> list[float]:
    """Return the second in which each visitor asks first, as in a load test with this seed."""
    dice = Random(seed)
    return [dice.uniform(0, think) for _ in range(visitors)]


def simulate(station: Station, starts: Sequence[float], think: float, seconds: float) -> Prediction:
    """Return what visitors meet who ask every `think` seconds, or later if the answer is later.

    Args:
        station: the app processes; visitor i is in process i modulo their number.
        starts: the second in which each visitor asks first; at least one.
        think: from one question of a visitor to the next.
        seconds: during which they ask.
    """
    processes = [_Process() for _ in range(station.processes)]
    order, work = count(), cycle(station.spread)
    asks = [(start, next(order), visitor) for visitor, start in enumerate(starts)]
    heapify(asks)
    asked, answered = [0.0] * len(starts), []
    now = 0.0
    while asks or any(process.due for process in processes):
        speeds = _speeds(station, processes)
        done, process = min(
            ((now + max(0.0, p.due[0][0] - p.clock) / speeds[i], i)
             for i, p in enumerate(processes) if p.due),
            default=(inf, -1),
        )  # fmt: skip
        until = min(done, asks[0][0] if asks else inf)
        for i, p in enumerate(processes):
            p.clock += (until - now) * speeds[i]
        now = until
        if asks and asks[0][0] <= done:
            visitor = heappop(asks)[2]
            own = processes[visitor % len(processes)]
            asked[visitor] = now
            heappush(own.due, (own.clock + next(work), next(order), visitor))
            continue
        visitor = heappop(processes[process].due)[2]
        answered.append((asked[visitor], now))
        again = max(asked[visitor] + think, now)
        if again < seconds:
            heappush(asks, (again, next(order), visitor))
    begun, ended = np.array(answered).T
    within = ended <= begun.min() + seconds
    p50, p95 = np.percentile(ended - begun, [50, 95])
    return Prediction(float(within.sum() / seconds), float(p50), float(p95))


def _speeds(station: Station, processes: Sequence[_Process]) -> list[float]:
    """Return the work that each visitor of each process gets a second; 0 in an idle process."""
    wanted = station.busy * sum(1 for process in processes if process.due)
    share = min(1.0, station.cores / wanted) if wanted else 1.0
    sizes = [len(process.due) for process in processes]
    return [station.rate(n) / n * share if n else 0.0 for n in sizes]


# --- The tables -------------------------------------------------------------------------------


def page_of(page: str, report: Mapping[str, Any], prices: Prices | None = None) -> str:
    """Return capacity.md with its tables made from a report: `inputs`, and turns `compared`."""
    inputs, prices = Inputs.from_dict(report["inputs"]), prices or Prices()
    tables = {
        "inputs": _inputs(inputs),
        "compared": _compared(report["compared"]),
        "processes": _processes(inputs),
        "visitors": _visitors(inputs, prices),
        "bottlenecks": _bottlenecks(inputs),
        "corpus": _corpus(prices),
        "prices": _table(("assumed", "value"),
                         [(n.replace("_", "-"), f"{v:g}") for n, v in asdict(prices).items()]),
    }  # fmt: skip
    for name, text in tables.items():
        page = replace_section(page, name, text)
    return page


def _inputs(inputs: Inputs) -> str:
    rates = ", ".join(f"{rate:.1f} with {n}" for n, rate in inputs.rates.items())
    rows = [
        ("questions/s of a process, by visitors without a pause", rates),
        ("processor time of a question, process full", f"{1e3 * inputs.processor_seconds:.0f} ms"),
        ("processors that a full process takes", f"{inputs.busy:.2f}"),
        ("memory of the process at the end", f"{inputs.process_mb:,.0f} MB"),
        ("sent to the browser for a question", f"{inputs.answer_bytes / 1e3:,.0f} kB"),
        ("tokens of a question", f"{inputs.question_tokens}"),
        ("encoder: any batch", f"{1e3 * inputs.batch_seconds:.1f} ms"),
        ("encoder: each token in it", f"{1e3 * inputs.token_seconds:.3f} ms"),
        ("processors that the encoder keeps busy", f"{inputs.encoder_cores:.2f}"),
        ("other programs took at most", f"{inputs.others:.0%} of the machine"),
    ]
    machine = inputs.machine
    where = f"{inputs.made}, {machine['processor']}, {machine['cpus']} cores."
    return f"{_table(('input', 'measured'), rows)}\n\n{where}"


def _compared(turns: Sequence[Mapping[str, Any]]) -> str:
    head = ("visitors, every 2 s", "of what it can do", "others", "requests/s", "p50 s", "p95 s")
    names = [field.name for field in fields(Prediction)]
    rows = [
        (
            *(f"{turn['visitors']}", f"{turn['wanted']:.0%}", f"{turn['others']:.0%}"),
            *(f"{turn['foretold'][name]:.2f} / {turn['found'][name]:.2f}" for name in names),
            f"{max(turn['errors'].values(), key=abs):+.0%}{'' if turn['is_judged'] else ', near'}",
        )
        for turn in turns
    ]
    return f"{_table((*head, 'largest error'), rows)}\n\nPredicted / measured."


def _processes(inputs: Inputs) -> str:
    rows = []
    for n in HERE:
        met = simulate(inputs.station(n), first_asks(50, 2.0, 0), 2.0, 60.0)
        times = f"{met.p50:.2f} s", f"{met.p95:.2f} s"
        rows.append((f"{n}", f"{met.requests_per_second:.1f}", *times))
    return _table(("app processes", "requests/s", "p50 predicted", "p95 predicted"), rows)


def _visitors(inputs: Inputs, prices: Prices) -> str:
    head = ("visitors, pause", "questions/s", "app processes", "vCPUs", "memory", "p95 predicted")
    head += ("encoder cores instead", "to browsers", "all layers to the app", "money a month")
    rows = []
    for visitors, think in CROWDS:
        rate = visitors / think
        n, vcpus, gigabytes, money = needs(inputs, prices, rate)
        starts = first_asks(ceil(visitors / n), think, 0)  # each process has its own processors
        p95 = simulate(inputs.station(), starts, think, 20 * think).p95
        encoders = rate * inputs.question_tokens * inputs.token_seconds * inputs.encoder_cores
        rows.append(
            (
                *(f"{visitors:,}, {think:g} s", f"{rate:,.0f}", f"{n:,}", f"{vcpus:,.0f}"),
                *(f"{gigabytes:,.0f} GB", f"{p95:.2f} s", f"{encoders / FULL:,.1f}"),
                f"{rate * inputs.answer_bytes / 1e6:,.1f} MB/s",
                f"{rate * _question_bytes(inputs) / 1e6:,.0f} MB/s",
                f"{money:,.0f}",
            )
        )
    return _table(head, rows)


def needs(inputs: Inputs, prices: Prices, rate: float) -> tuple[int, float, float, float]:
    """Return the processes, virtual CPUs, GB and money a month for so many questions a second."""
    processes = ceil(rate / (FULL * max(inputs.rates.values())))
    vcpus = rate * inputs.processor_seconds / FULL
    gigabytes = processes * inputs.process_mb / 1e3
    money = vcpus * HOURS_A_MONTH * prices.vcpu_hour + gigabytes * prices.memory_month
    return processes, vcpus, gigabytes, money


def _bottlenecks(inputs: Inputs) -> str:
    encoder = inputs.batch_seconds + inputs.question_tokens * inputs.token_seconds
    interpreter = max(0.0, 1 / max(inputs.rates.values()) - encoder)
    batched = inputs.question_tokens * inputs.token_seconds
    rows = [
        ("interpreter's part of a question", f"{1e3 * interpreter:.0f} ms"),
        ("encoder's part, alone", f"{1e3 * encoder:.0f} ms"),
        ("encoder's part, in a full batch", f"{1e3 * batched:.1f} ms"),
        ("tokens of a question above which the encoder is slower",
         f"{interpreter / inputs.token_seconds:,.0f}"),
        ("questions/s that fill 1 Gbit/s to browsers", f"{GIGABIT / inputs.answer_bytes:,.0f}"),
        ("questions/s that fill 1 Gbit/s with all layers",
         f"{GIGABIT / _question_bytes(inputs):,.0f}"),
    ]  # fmt: skip
    return _table(("where it moves", "at"), rows)


def _question_bytes(inputs: Inputs) -> int:
    """Return the bytes of all layers of a question's tokens as float32."""
    return inputs.question_tokens * N_LAYERS * N_DIMS * 4


def _corpus(prices: Prices) -> str:
    head = ("occurrences", "encode, hours", "vector index, hours", "one layer on disk")
    rows = []
    for n in OCCURRENCES:
        encode, index = n * OCCURRENCE_SECONDS / 3600, n * INDEX_SECONDS / 3600
        gigabytes = n * OCCURRENCE_BYTES / 1e9
        rows.append(
            (
                *(f"{n:,}", f"{encode:,.2f}", f"{index:,.2f}", f"{gigabytes:,.2f} GB"),
                f"{ceil(encode / 24):,}",
                f"{(encode + index) * CORPUS_CORES * prices.vcpu_hour:,.2f}",
                f"{gigabytes * prices.storage_month:,.2f}",
            )
        )
    return _table((*head, "machines to encode in a day", "money once", "money a month"), rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Write the tables of capacity.md; with other prices, print them."""
    parser = argparse.ArgumentParser(prog="python -m docs.simulate_capacity", description=__doc__)
    for field in fields(Prices):
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=float, default=field.default)
    prices = Prices(**vars(parser.parse_args()))
    report = json.loads(KEPT.read_text(encoding="utf-8"))
    if prices == Prices():
        page = page_of(PAGE.read_text(encoding="utf-8"), report)
        PAGE.write_text(page, encoding="utf-8")
    else:
        print(_visitors(Inputs.from_dict(report["inputs"]), prices), _corpus(prices), sep="\n\n")


if __name__ == "__main__":
    main()
