"""What a crowd and a corpus need, on paper: from what was measured, and from assumed prices.

Plain proportions: nothing here was measured at the sizes that it speaks of.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from math import ceil
from pathlib import Path
from typing import Any

from docs.sections import replace_section
from tests.load.inputs import Inputs, system
from tests.load.simulation import Crowd, phases, simulate
from tests.support.app_server import ROOT

__all__ = ["Corpus", "Need", "Prices", "bottlenecks", "corpus_need", "documented", "visitors_need"]

HOURS_A_MONTH = 730
FULL = 0.7  # of what a process or a replica can do is planned for
PERIODS = 20
N_LAYERS, N_DIMS = 7, 384  # of the bundled model's hidden states
BUSY = 0.1  # share of the machine that other programs may take
HERE = (1, 2, 3)  # processes on the machine that measured, for 50 visitors
LINE = 125e6  # bytes a second of one gigabit
CROWDS = ((50, 2.0), (1000, 60.0), (1000, 20.0), (1000, 2.0))
OCCURRENCES = (200_000, 10_000_000, 1_000_000_000)


@dataclass(frozen=True)
class Prices:
    """Assumed, in any one currency: put in your own.

    Attributes:
        vcpu_hour: one virtual processor for an hour.
        memory_month: one GB of memory for a month.
        storage_month: one GB kept for a month, as objects.
    """

    vcpu_hour: float = 0.04
    memory_month: float = 3.0
    storage_month: float = 0.025


@dataclass(frozen=True)
class Corpus:
    """What the store and the indexing took on two cores.

    Attributes:
        bytes_each: on disk, of one occurrence of 384 numbers in float16, one layer.
        tokens_each: that are encoded for one occurrence.
        tokens_per_second: that are indexed.
        index_seconds_each: to build the vector index.
        cores: that did it.
    """

    bytes_each: float = 159e6 / 200_000
    tokens_each: float = 1.2
    tokens_per_second: float = 0.83 * 22_747 / 3.3
    index_seconds_each: float = 212 / 200_000
    cores: int = 2


@dataclass(frozen=True)
class Need:
    """Of visitors: what answers them, with everything that is planned for at most 70% full.

    Attributes:
        rate: questions a second.
        processes: of the app, each on processors of its own; they encode themselves.
        vcpus: for these.
        memory_gb: of these.
        encoders: cores of replicas that could encode instead.
        to_browsers: bytes a second.
        from_encoders: bytes a second, were all layers sent to the app.
        month: money for processors and memory.
        p95: seconds, as the simulation foretells.
    """

    rate: float
    processes: int
    vcpus: float
    memory_gb: float
    encoders: float
    to_browsers: float
    from_encoders: float
    month: float
    p95: float


def visitors_need(inputs: Inputs, prices: Prices, visitors: int, think: float) -> Need:
    """What so many visitors need who each ask something new every `think` seconds."""
    rate = visitors / think
    processes = ceil(rate / (FULL * max(inputs.rates.values())))
    vcpus = rate * inputs.processor_seconds / FULL
    memory = processes * inputs.process_mb / 1e3
    own = Crowd(phases(ceil(visitors / processes), think, 0), think, PERIODS * think)
    return Need(
        rate=rate,
        processes=processes,
        vcpus=vcpus,
        memory_gb=memory,
        encoders=rate * inputs.question_tokens * inputs.token_seconds * inputs.encoder_cores / FULL,
        to_browsers=rate * inputs.answer_bytes,
        from_encoders=rate * inputs.question_tokens * N_LAYERS * N_DIMS * 4,
        month=vcpus * HOURS_A_MONTH * prices.vcpu_hour + memory * prices.memory_month,
        p95=simulate(system(inputs), own).p95,  # each process has processors of its own
    )


def corpus_need(corpus: Corpus, prices: Prices, occurrences: int) -> dict[str, float]:
    """Hours of one machine to encode and to index, GB of a layer, and what that costs.

    In proportion to the number of occurrences.
    """
    encode = occurrences * corpus.tokens_each / corpus.tokens_per_second / 3600
    index = occurrences * corpus.index_seconds_each / 3600
    gigabytes = occurrences * corpus.bytes_each / 1e9
    return {
        "encode_hours": encode,
        "index_hours": index,
        "gb": gigabytes,
        "once": (encode + index) * corpus.cores * prices.vcpu_hour,
        "month": gigabytes * prices.storage_month,
    }


def bottlenecks(inputs: Inputs) -> dict[str, float]:
    """Where one resource overtakes another."""
    question = 1 / max(inputs.rates.values())
    own = inputs.batch_seconds + inputs.question_tokens * inputs.token_seconds
    sent = inputs.question_tokens * N_LAYERS * N_DIMS * 4
    return {
        "interpreter ms": 1e3 * max(0.0, question - own),
        "encoder alone ms": 1e3 * own,
        "encoder batched ms": 1e3 * inputs.question_tokens * inputs.token_seconds,
        "tokens": max(0.0, question - own) / inputs.token_seconds,
        "browsers/s": LINE / inputs.answer_bytes,
        "all layers/s": LINE / sent,
    }


def documented(page: str, report: Mapping[str, Any]) -> str:
    """docs/capacity.md with its tables made anew from a kept report."""
    inputs = Inputs.from_dict(report["inputs"])
    prices, corpus = Prices(), Corpus()
    parts = {
        "inputs": _inputs(inputs),
        "compared": _compared(report["compared"]),
        "processes": _processes(inputs),
        "visitors": _visitors(inputs, prices),
        "bottlenecks": _bottlenecks(inputs),
        "corpus": _corpus(corpus, prices),
        "prices": _prices(prices),
    }
    for name, text in parts.items():
        page = replace_section(page, name, text)
    return page


def _inputs(inputs: Inputs) -> str:
    rates = ", ".join(f"{rate:.1f} with {n}" for n, rate in inputs.rates.items())
    machine = inputs.machine
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
    where = f"{inputs.made}, {machine['processor']}, {machine['cpus']} cores."
    return f"{_table(('input', 'measured'), rows)}\n\n{where}"


def _compared(compared: Sequence[Mapping[str, Any]]) -> str:
    head = ("visitors, every 2 s", "of what it can do", "others", "requests/s", "p50 s", "p95 s")
    head += ("largest error",)
    names = ("requests_per_second", "p50", "p95")
    rows = [
        (
            f"{one['visitors']}",
            f"{one['wanted']:.0%}",
            f"{one['others']:.0%}",
            *(f"{one['foretold'][name]:.2f} / {one['found'][name]:.2f}" for name in names),
            f"{max(one['errors'].values(), key=abs):+.0%}{'' if one['is_judged'] else ', near'}",
        )
        for one in compared
    ]
    others = max(one["others"] for one in compared)
    said = ["Foretold / found."]
    if not all(one["is_judged"] for one in compared):
        said.append("“Near” what the app can do, a turn is not judged.")
    if others > BUSY:
        said.append(f"No confirmation: other programs took up to {others:.0%} of the machine.")
    return _table(head, rows) + "\n\n" + " ".join(said)


def _processes(inputs: Inputs) -> str:
    """What the load test's 50 visitors would meet where processes share the machine's cores."""
    rows = []
    for processes in HERE:
        crowd = Crowd(phases(50, 2.0, 0), 2.0, 60.0)
        found = simulate(system(inputs, processes=processes), crowd)
        times = f"{found.p50:.2f} s", f"{found.p95:.2f} s"
        rows.append((f"{processes}", f"{found.requests_per_second:.1f}", *times))
    return _table(("app processes", "requests/s", "p50 foretold", "p95 foretold"), rows)


def _visitors(inputs: Inputs, prices: Prices) -> str:
    head = ("visitors, pause", "questions/s", "app processes", "vCPUs", "memory", "p95 foretold")
    head += ("encoder cores instead", "to browsers", "all layers to the app", "money a month")
    rows = []
    for visitors, think in CROWDS:
        need = visitors_need(inputs, prices, visitors, think)
        rows.append(
            (
                *(f"{visitors:,}, {think:g} s", f"{need.rate:,.0f}", f"{need.processes:,}"),
                *(f"{need.vcpus:,.0f}", f"{need.memory_gb:,.0f} GB", f"{need.p95:.2f} s"),
                *(f"{need.encoders:,.1f}", f"{need.to_browsers / 1e6:,.1f} MB/s"),
                *(f"{need.from_encoders / 1e6:,.0f} MB/s", f"{need.month:,.0f}"),
            )
        )
    return _table(head, rows)


def _bottlenecks(inputs: Inputs) -> str:
    found = bottlenecks(inputs)
    rows = [
        ("interpreter's part of a question", f"{found['interpreter ms']:.0f} ms"),
        ("encoder's part, alone", f"{found['encoder alone ms']:.0f} ms"),
        ("encoder's part, in a full batch", f"{found['encoder batched ms']:.1f} ms"),
        ("tokens of a question above which the encoder is slower", f"{found['tokens']:,.0f}"),
        ("questions/s that fill 1 Gbit/s to browsers", f"{found['browsers/s']:,.0f}"),
        ("questions/s that fill 1 Gbit/s with all layers", f"{found['all layers/s']:,.0f}"),
    ]
    return _table(("where it moves", "at"), rows)


def _corpus(corpus: Corpus, prices: Prices) -> str:
    head = ("occurrences", "encode, hours", "vector index, hours", "one layer on disk")
    head += ("machines to encode in a day", "money once", "money a month")
    rows = []
    for occurrences in OCCURRENCES:
        need = corpus_need(corpus, prices, occurrences)
        rows.append(
            (
                *(f"{occurrences:,}", f"{need['encode_hours']:,.2f}"),
                *(f"{need['index_hours']:,.2f}", f"{need['gb']:,.2f} GB"),
                *(f"{ceil(need['encode_hours'] / 24):,}", f"{need['once']:,.2f}"),
                f"{need['month']:,.2f}",
            )
        )
    return _table(head, rows)


def _prices(prices: Prices) -> str:
    return _table(
        ("assumed", "value"),
        [(name.replace("_", "-"), f"{getattr(prices, name):g}") for name in names_of(prices)],
    )


def names_of(prices: Prices) -> list[str]:
    """What there is a price of."""
    return [field.name for field in fields(prices)]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """`python -m tests.load.capacity`: the tables with prices, and inputs, of your own."""
    parser = argparse.ArgumentParser(prog="python -m tests.load.capacity", description=main.__doc__)
    for name in names_of(Prices()):
        parser.add_argument(
            f"--{name.replace('_', '-')}", type=float, default=getattr(Prices, name)
        )
    kept = ROOT / "docs" / "capacity.json"
    parser.add_argument("--inputs", type=Path, default=kept, metavar="FILE")
    given = parser.parse_args()
    prices = Prices(*(getattr(given, name) for name in names_of(Prices())))
    inputs = Inputs.from_dict(json.loads(given.inputs.read_text(encoding="utf-8"))["inputs"])
    print(_visitors(inputs, prices), _corpus(Corpus(), prices), _prices(prices), sep="\n\n")


if __name__ == "__main__":
    main()
