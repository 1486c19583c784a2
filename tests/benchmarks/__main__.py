"""`python -m tests.benchmarks [name ...]`: measures, prints one table, writes build/bench.json."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from dataclasses import replace

import psutil

from tests.benchmarks.anatomy import anatomy_rerun
from tests.benchmarks.attention import attention_page
from tests.benchmarks.browser import ROOT
from tests.benchmarks.corpora import corpus_indexing, corpus_search
from tests.benchmarks.embedding_page import embedding_page
from tests.benchmarks.encoding import cached_encode, encode_many, encode_one
from tests.benchmarks.first_map import first_map
from tests.benchmarks.first_senses import first_senses
from tests.benchmarks.intervening import intervene
from tests.benchmarks.layers import layers_page
from tests.benchmarks.maps import large_map, layer_maps, maps
from tests.benchmarks.masks import masks
from tests.benchmarks.memory import memory
from tests.benchmarks.page import page_rerun
from tests.benchmarks.results import Outcome, table, write_json
from tests.benchmarks.start import start
from tests.benchmarks.tokens import tokens_page
from tests.benchmarks.why_page import why_page

BENCHMARKS: dict[str, Callable[[int], Outcome]] = {
    function.__name__: function
    for function in (
        encode_many,
        encode_one,
        cached_encode,
        intervene,
        why_page,
        masks,
        page_rerun,
        tokens_page,
        embedding_page,
        attention_page,
        anatomy_rerun,
        layers_page,
        maps,
        layer_maps,
        large_map,
        first_map,
        corpus_indexing,
        corpus_search,
        first_senses,
        start,
        memory,
    )
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(BENCHMARKS))
    parser.add_argument("--rounds", type=int, default=3, help="of each benchmark (default 3)")
    given = parser.parse_args()
    unknown = set(given.names) - set(BENCHMARKS)
    if unknown:
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}")
    if given.rounds < 1:
        parser.error("--rounds must be at least 1")
    outcomes: dict[str, Outcome] = {}
    for name in given.names or BENCHMARKS:
        begin, others = time.monotonic(), _others()
        outcome = BENCHMARKS[name](given.rounds)
        took = time.monotonic() - begin
        share = max(0.0, _others() - others) / took / (os.cpu_count() or 1)
        outcomes[name] = replace(outcome, others=share)
        print(f"{name}: {took:.0f} s, other programs took {share:.0%} of the machine", flush=True)
        write_json(outcomes, ROOT / "build" / "bench.json")
    print(f"\n{table(outcomes)}\n\nEvery round is in build/bench.json.")


def _others() -> float:
    """Processor seconds so far that were not ours or our ended children's."""
    machine, own = psutil.cpu_times(), os.times()
    kinds = ("user", "nice", "system", "irq", "softirq", "steal")
    busy = sum(getattr(machine, kind, 0.0) for kind in kinds)
    return busy - own.user - own.system - own.children_user - own.children_system


if __name__ == "__main__":
    main()
