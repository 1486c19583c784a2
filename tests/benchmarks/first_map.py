"""From a server's start to its first map on screen, beside a map drawn by a server that is warm."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from contextlib import AbstractContextManager
from pathlib import Path

from playwright.sync_api import Browser

from contextlens.features.map.controls import PAGE
from contextlens.ui.state.address import encode
from contextlens.ui.state.view import DEFAULT
from tests.benchmarks.browser import ROOT, Server, chromium, served, visit
from tests.benchmarks.results import Outcome, Ratio
from tests.benchmarks.workers import wait_for_quiet

__all__ = ["first_map"]

MAP_DRAWN = "() => document.querySelector('.st-key-map_chart .scatterlayer path.point')"
TOKENS_DRAWN = """
() => document.querySelector('[data-testid="stMain"] h1')
  && document.body.innerText.includes('Under the hood')
  && !document.querySelector('[data-testid="stSkeleton"]')
"""
WAIT_MS = 120_000


def first_map(rounds: int) -> Outcome:
    """Seconds to the usual map, opened the moment a server answers.

    What such a start costs without a map is measured on Tokens & IDs, and a warm map as one that
    the server has not drawn before. "Kept" starts with the compiled code that the set-up makes,
    "new" with an empty data folder.
    """
    raw: dict[str, list[float]] = {}
    with chromium() as browser, tempfile.TemporaryDirectory() as folder:
        kept = Path(folder, "kept")
        _set_up(kept)
        _visits(browser, kept, seed=0)  # brings the files into the disk's cache
        for turn in range(rounds):
            for state in ("kept", f"new {turn}"):
                wait_for_quiet()
                first, warm = _visits(browser, Path(folder, state), seed=1 + turn)
                name = state.split()[0]
                raw.setdefault(f"first map, code {name}, s", []).append(first)
                raw.setdefault(f"warm map, code {name}, s", []).append(warm)
            wait_for_quiet()
            raw.setdefault("tokens page s", []).append(_tokens(browser, kept))
    ratios = [
        Ratio(
            f"first map, code {state}: beyond start and warm map",
            _beyond(raw, state),
            target,
            unit="s",
        )
        for state, target in (("kept", 2), ("new", None))
    ]
    return Outcome(ratios, raw)


def _beyond(raw: dict[str, list[float]], state: str) -> tuple[float, ...]:
    parts = (f"first map, code {state}, s", "tokens page s", f"warm map, code {state}, s")
    turns = zip(*(raw[name] for name in parts), strict=True)
    return tuple(first - start - warm for first, start, warm in turns)


def _set_up(data_dir: Path) -> None:
    env = {**os.environ, "CONTEXTLENS_DATA_DIR": str(data_dir)}
    subprocess.run(
        [sys.executable, "-m", "contextlens.maps.prepare"], cwd=ROOT, env=env, check=True
    )


def _visits(browser: Browser, data_dir: Path, *, seed: int) -> tuple[float, float]:
    """Seconds of the first map since the start, and of another since its page was opened."""
    with _server(data_dir) as server:
        with visit(browser, f"{server.address}/{PAGE}") as page:
            page.wait_for_function(MAP_DRAWN, timeout=WAIT_MS)
            first = time.perf_counter() - server.started
        wait_for_quiet()
        view = DEFAULT.with_control(PAGE, "seed", seed, None)
        begin = time.perf_counter()
        with visit(browser, f"{server.address}/{PAGE}?s={encode(view)}") as page:
            page.wait_for_function(MAP_DRAWN, timeout=WAIT_MS)
            warm = time.perf_counter() - begin
    return first, warm


def _tokens(browser: Browser, data_dir: Path) -> float:
    with _server(data_dir) as server, visit(browser, f"{server.address}/tokens") as page:
        page.wait_for_function(TOKENS_DRAWN, timeout=WAIT_MS)
        return time.perf_counter() - server.started


def _server(data_dir: Path) -> AbstractContextManager[Server]:
    return served(["streamlit", "run", "app.py"], env={"CONTEXTLENS_DATA_DIR": str(data_dir)})
