"""From the start of the server to the chart on screen, beside what a bare start would cost."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Page

from contextlens.core.registry import bundled_folder
from tests.benchmarks.browser import chromium, served, visit
from tests.benchmarks.results import Outcome, Ratio
from tests.benchmarks.workers import wait_for_quiet, worker

__all__ = ["start"]

CHART_DRAWN = """
() => document.querySelector('.st-key-meaning_chart .scatterlayer .trace path')
  && !document.querySelector('[data-testid="stSkeleton"]')
"""
HELLO_DRAWN = "() => document.querySelector('h1')?.textContent.includes('Welcome to Streamlit')"
BARE_PARTS = ("bare model, import", "bare model, load")
WAIT_MS = 120_000
SHELL_DRAWN = "() => document.querySelector('h1')?.textContent.includes('Meaning in context')"


def start(rounds: int) -> Outcome:
    """Seconds to the first chart of Meaning in context, in a browser that is running already.

    The bare start is `streamlit hello` to its page, and the time that a fresh process takes to
    import torch and transformers and to load the model with them. A first round is not counted:
    it brings the files into the disk's cache.
    """
    raw: dict[str, list[float]] = {}
    with chromium() as browser, tempfile.TemporaryDirectory() as folder:
        contenders = {
            "hello": lambda _: _hello(browser, Path(folder)),
            "bare model": lambda _: _bare_model(),
            "baseline on disk": lambda _: _app(browser, Path(folder, "kept")),
            "baseline not on disk": lambda turn: _app(browser, Path(folder, str(turn))),
        }
        for measure in list(contenders.values())[:3]:
            measure(0)
        for turn in range(rounds):
            for name, measure in contenders.items():
                wait_for_quiet()
                for part, took in measure(turn).items():
                    raw.setdefault(f"{name}, {part} s", []).append(took)
    bare = [
        sum(raw[f"{name} s"][turn] for name in ("hello, page", *BARE_PARTS))
        for turn in range(rounds)
    ]
    ratios = [
        Ratio(
            f"chart, {state} / bare start",
            tuple(a / b for a, b in zip(raw[f"{state}, chart s"], bare, strict=True)),
            target,
        )
        for state, target in (("baseline on disk", 1.3), ("baseline not on disk", None))
    ]
    return Outcome(ratios, {**raw, "bare start s": bare})


def _app(browser: Browser, data_dir: Path) -> dict[str, float]:
    command = ["streamlit", "run", "app.py"]
    with (
        served(command, env={"CONTEXTLENS_DATA_DIR": str(data_dir)}) as server,
        visit(browser, f"{server.address}/meaning") as page,
    ):
        page.wait_for_function(SHELL_DRAWN, timeout=WAIT_MS)
        shell = time.perf_counter() - server.started
        page.wait_for_function(CHART_DRAWN, timeout=WAIT_MS)
        chart = time.perf_counter() - server.started
        _await_measures(data_dir, page)
    return {"shell": shell, "chart": chart}


def _await_measures(data_dir: Path, page: Page) -> None:
    """Wait until the background work has ended, so that the next round finds its files.

    The page stays open: it asks for one of them when the other is there.
    """
    deadline = time.monotonic() + WAIT_MS / 1000
    while not list(data_dir.glob("baselines/*-ruler.npz")) and time.monotonic() < deadline:
        page.wait_for_timeout(50)


def _hello(browser: Browser, folder: Path) -> dict[str, float]:
    with (
        served(["streamlit", "hello"], cwd=folder) as server,
        visit(browser, server.address) as page,
    ):
        page.wait_for_function(HELLO_DRAWN, timeout=WAIT_MS)
        return {"page": time.perf_counter() - server.started}


def _bare_model() -> dict[str, float]:
    with worker(set_up_bare_model) as run:
        return run()


def set_up_bare_model() -> Callable[[], dict[str, float]]:
    folder = str(bundled_folder())

    def run() -> dict[str, float]:
        begin = time.perf_counter()
        import torch  # noqa: F401
        import transformers

        imported = time.perf_counter()
        transformers.logging.disable_progress_bar()
        transformers.AutoTokenizer.from_pretrained(folder)
        transformers.AutoModel.from_pretrained(folder)
        return {"import": imported - begin, "load": time.perf_counter() - imported}

    return run
