"""`python -m components.ui.processes`: what `make serve-app` starts."""

from __future__ import annotations

import argparse
import sys

from components.core.errors import ContextlensError
from components.ui.processes.plan import planned, proxy_elsewhere
from components.ui.processes.proxy import configuration
from components.ui.processes.supervision import run


def _main() -> None:
    given = _parser().parse_args()
    try:
        if given.print_proxy:
            print(configuration(proxy_elsewhere(given.print_proxy, given.port)), end="")
            return
        plan = planned(
            processes=given.processes,
            port=given.port,
            host=given.host,
            drain_seconds=given.drain,
        )
        run(plan, _say)
    except ContextlensError as exc:
        sys.exit(str(exc))


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m components.ui.processes",
        description="Several processes of the app behind a proxy that keeps a visitor in one.",
    )
    add = parser.add_argument
    add("--processes", default="2", help="of the app (2)")
    add("--port", default="8501", help="where visitors come (8501); the processes get the next")
    add("--host", default="localhost", help="the address to listen on (localhost)")
    add("--drain", type=float, default=60.0, help="seconds for visitors of one that restarts (60)")
    add("--print-proxy", nargs="+", metavar="HOST:PORT",
        help="print nginx's configuration for a container before these, and end")  # fmt: skip
    return parser


if __name__ == "__main__":
    _main()
