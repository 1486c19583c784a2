"""`python -m tests.benchmarks`: one table against what a user would pick instead.

`--all`, or names, measure our own targets instead. JSON goes to build/.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace

from tests.benchmarks.batching import batching, gpu
from tests.benchmarks.browser import ROOT
from tests.benchmarks.corpora import corpus_indexing, corpus_search
from tests.benchmarks.encoding import encode_many, encode_one
from tests.benchmarks.first_map import first_map
from tests.benchmarks.first_senses import first_senses
from tests.benchmarks.machine import Others, write
from tests.benchmarks.maps import large_map, layer_maps, maps
from tests.benchmarks.memory import memory
from tests.benchmarks.page import page_rerun
from tests.benchmarks.peers import report
from tests.benchmarks.peers.encoding import encoding
from tests.benchmarks.peers.maps import maps as peer_maps
from tests.benchmarks.peers.rows import Group
from tests.benchmarks.peers.starting import starting
from tests.benchmarks.peers.views import views
from tests.benchmarks.results import Outcome, table, write_json
from tests.benchmarks.serving import serving
from tests.benchmarks.start import start
from tests.benchmarks.why_page import why_page

BENCHMARKS: dict[str, Callable[[int], Outcome]] = {
    function.__name__: function
    for function in (
        encode_many,
        encode_one,
        batching,
        gpu,
        why_page,
        page_rerun,
        maps,
        layer_maps,
        large_map,
        first_map,
        corpus_indexing,
        corpus_search,
        first_senses,
        serving,
        start,
        memory,
    )
}


PEERS: dict[str, Callable[[int], Group]] = {
    "encoding": encoding,
    "maps": peer_maps,
    "views": views,
    "starting": starting,
}
KEPT = ROOT / "docs" / "benchmarks.json"


def main() -> int:
    """Measure what was asked for; return 1 if a peer beats us."""
    parser = _parser()
    given = parser.parse_args()
    unknown = set(given.names) - set(BENCHMARKS)
    if unknown:
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}")
    if given.rounds < 1:
        parser.error("--rounds must be at least 1")
    if given.names or given.all:
        return _own(given.names or list(BENCHMARKS), given.rounds)
    return _against_peers(given.peer or list(PEERS), given.rounds, keep=given.keep)


def _own(names: Sequence[str], rounds: int) -> int:
    """Our own targets."""
    outcomes: dict[str, Outcome] = {}
    for name in names:
        others = Others()
        outcomes[name] = replace(BENCHMARKS[name](rounds), others=others.share)
        _print_took(name, others)
        write_json(outcomes, ROOT / "build" / "bench-all.json")
    print(f"\n{table(outcomes)}\n\nEvery round is in build/bench-all.json.")
    return 0


def _against_peers(names: Sequence[str], rounds: int, *, keep: bool) -> int:
    """Compare with peers; return 1 if one of them beats us."""
    groups: dict[str, Group] = {}
    for name in names:
        others = Others()
        groups[name] = replace(PEERS[name](rounds), others=others.share)
        _print_took(name, others)
    found = report.report(groups)
    write(found, ROOT / "build" / "bench.json")
    print(f"\n{report.table(found)}\n\nEvery round is in build/bench.json.")
    if keep:
        report.keep(found, KEPT)
    return 1 if report.behind(found) else 0


def _print_took(name: str, others: Others) -> None:
    print(
        f"{name}: {others.seconds:.0f} s, other programs took {others.share:.0%} of the machine",
        flush=True,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    add = parser.add_argument
    add("names", nargs="*", metavar="name", help=f"of our own targets: {', '.join(BENCHMARKS)}")
    add("--rounds", type=int, default=3, help="of each benchmark (default 3)")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--all", action="store_true", help="all of our own targets")
    which.add_argument("--peer", action="append", choices=list(PEERS), help="one comparison only")
    add("--keep", action="store_true", help="in docs/benchmarks.json and docs/benchmarks.md too")
    return parser


if __name__ == "__main__":
    sys.exit(main())
