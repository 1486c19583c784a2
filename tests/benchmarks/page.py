"""Script time of a rerun of Meaning in context whose encodings are remembered."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from playwright.sync_api import Page

from tests.benchmarks.browser import chromium, served, visit
from tests.benchmarks.results import Outcome, Ratio

__all__ = ["page_rerun"]

RERUNS = 10  # of each kind, in each round
WARM_UP = 2
AT_REST = """
() => {
  const app = document.querySelector('[data-testid="stApp"]');
  return app?.dataset.testScriptState === 'notRunning'
    && document.querySelector('.st-key-meaning_chart .scatterlayer .trace path')
    && !document.querySelector('[data-testid="stSkeleton"]');
}
"""


def page_rerun(rounds: int) -> Outcome:
    """Milliseconds of script in a real server, frame included, driven from a real browser.

    Two kinds of rerun take turns: another layer, and another word of a sentence.
    """
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        times = Path(folder) / "times.jsonl"
        command = ["tests.benchmarks.timed_server", str(times), "run", "app.py"]
        with served(command, env={"CONTEXTLENS_DATA_DIR": folder}) as server:
            address = f"{server.address}/meaning"
            with visit(browser, address) as page:
                page.wait_for_function(AT_REST, timeout=120_000)
                _await_baseline(Path(folder))
            with visit(browser, address) as page:
                page.wait_for_function(AT_REST, timeout=120_000)
                found = _reruns(page, times, RERUNS * rounds)
    ratios = [
        Ratio(name.removesuffix(" ms"), tuple(values), 50 if "script" in name else None, unit="ms")
        for name, values in found.items()
    ]
    return Outcome(ratios, found)


def _reruns(page: Page, times: Path, n: int) -> dict[str, list[float]]:
    """Times of `n` reruns of each kind, by name; a first few bring every encoding in memory."""
    found: dict[str, list[float]] = {}
    for turn in range(WARM_UP + n):
        for kind, change in {"layer": _other_layer, "word": _other_word}.items():
            spent = _rerun(page, times, partial(change, page, turn))
            if turn >= WARM_UP:
                for part, took in spent.items():
                    found.setdefault(f"another {kind}, {part} ms", []).append(took)
    return found


def _other_layer(page: Page, turn: int) -> None:
    page.get_by_role("slider", name="Layer").press("ArrowLeft" if turn % 6 < 3 else "ArrowRight")


def _other_word(page: Page, turn: int) -> None:
    word = "love" if turn % 2 == 0 else "python"
    words = page.get_by_role("toolbar", name="Words of sentence A", exact=True)
    words.get_by_role("button", name=f"{word}, word").click()


def _rerun(page: Page, times: Path, change: Callable[[], None]) -> dict[str, float]:
    """The times of the one run that a change causes."""
    before = _lines(times)
    change()
    deadline = time.monotonic() + 30
    while len(_lines(times)) <= len(before) and time.monotonic() < deadline:
        page.wait_for_timeout(10)
    page.wait_for_function(AT_REST, timeout=30_000)
    (line,) = _lines(times)[len(before) :]
    return json.loads(line)


def _lines(times: Path) -> list[str]:
    return times.read_text().splitlines()


def _await_baseline(folder: Path) -> None:
    """Wait until the baseline and the ruler, which comes after it, are there."""
    deadline = time.monotonic() + 60
    while not list(folder.glob("baselines/*-ruler.npz")) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)
