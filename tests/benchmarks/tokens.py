"""Tokens & IDs: script time of reruns at 512 tokens, and how soon typed words are on the screen."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Page

from components.core.registry import BUNDLED_ID
from components.features.tokens.controls import PAGE, SECTIONS
from components.ui.state.address import encode
from components.ui.state.view import Sentence, ViewState
from tests.benchmarks.browser import chromium, served, visit
from tests.benchmarks.results import Outcome, Ratio
from tests.benchmarks.texts import mixed_sentences

__all__ = ["tokens_page"]

RERUNS = 10  # of each kind, in each round
WARM_UP = 2
SCRIPT_MS, TYPED_MS = 60, 300
AT_REST = """
() => document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState === 'notRunning'
  && document.querySelector('.st-key-reading')
  && !document.querySelector('[data-testid="stSkeleton"]')
"""
# The strip stands in a shadow root. Frames tell when its text can be seen.
WATCH = """
ending => {
  window.__begun = window.__drawn = null;
  const inside = () => [...document.querySelectorAll('[data-testid="stMain"] *')]
    .map(element => element.shadowRoot?.querySelector('.strip')).find(strip => strip);
  let strip = inside();
  const app = document.querySelector('[data-testid="stApp"]');
  new MutationObserver((_, observer) => {
    if (app.dataset.testScriptState !== 'running') return;
    window.__begun = performance.now();
    observer.disconnect();
  }).observe(app, { attributes: true });
  const look = () => {
    if (!strip?.isConnected) strip = inside();
    const line = strip?.querySelector('.line')?.textContent ?? '';
    if (line.endsWith(ending)) { window.__drawn = performance.now(); return; }
    requestAnimationFrame(look);
  };
  look();
}
"""


def tokens_page(rounds: int) -> Outcome:
    """Milliseconds in a real server, frame included, driven from a real browser.

    Cached reruns at 512 tokens take turns through the four closer looks; then sentences of 20
    words are typed, each new: from the browser's word that the script runs to the new tokens.
    """
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        times = Path(folder) / "times.jsonl"
        command = ["tests.benchmarks.timed_server", str(times), "run", "app.py"]
        env = {"CONTEXTLENS_DATA_DIR": folder, "CONTEXTLENS_ALLOW_DOWNLOADS": "0"}
        with served(command, env=env) as server:
            address = f"{server.address}/{PAGE}?"
            with visit(browser, address + urlencode({"s": encode(_long())})) as page:
                page.wait_for_function(AT_REST, timeout=120_000)
                _reruns(page, times, RERUNS * rounds, found)
            with visit(browser, address) as page:
                page.wait_for_function(AT_REST, timeout=120_000)
                _typed(page, RERUNS * rounds, found)
    ratios = [
        Ratio(name, tuple(values), _target(name), unit="ms") for name, values in found.items()
    ]
    return Outcome(ratios, found)


def _long() -> ViewState:
    """A text of 600 tokens and more, so that all 512 are full."""
    text = " ".join(mixed_sentences(60, seed=0))
    return ViewState(BUNDLED_ID, (Sentence(text),))


def _target(name: str) -> float | None:
    if name.startswith("512 tokens"):
        return SCRIPT_MS if "script" in name else None
    return TYPED_MS


def _reruns(page: Page, times: Path, n: int, found: dict[str, list[float]]) -> None:
    for turn in range(WARM_UP * len(SECTIONS) + n):
        section = SECTIONS[(turn + 1) % len(SECTIONS)]
        before = len(_lines(times))
        page.get_by_test_id("stMain").get_by_text(section, exact=True).first.click()
        line = _line_after(times, before, page)
        page.wait_for_function(AT_REST, timeout=30_000)
        if turn >= WARM_UP * len(SECTIONS):
            for part, took in json.loads(line).items():
                found.setdefault(f"512 tokens, {section}, {part}", []).append(took)


def _typed(page: Page, n: int, found: dict[str, list[float]]) -> None:
    words = " ".join(mixed_sentences(40 * n + 80, seed=1)).split()
    box = page.get_by_test_id("stSidebar").get_by_role("textbox", name="Sentence A", exact=True)
    for turn in range(WARM_UP + n):
        text = f"{' '.join(words[20 * turn : 20 * turn + 19])} end{turn}"
        page.evaluate(WATCH, f"end{turn}")
        box.fill(text)
        box.press("Enter")
        page.wait_for_function("() => window.__drawn", timeout=30_000)
        page.wait_for_function(AT_REST, timeout=30_000)
        begun, drawn = page.evaluate("() => [window.__begun, window.__drawn]")
        if turn >= WARM_UP and begun is not None:
            found.setdefault("20 words typed, from the rerun's start", []).append(drawn - begun)


def _lines(times: Path) -> list[str]:
    return times.read_text().splitlines() if times.exists() else []


def _line_after(times: Path, n: int, page: Page) -> str:
    """The line that a run adds behind the first n, once it is there."""
    deadline = time.monotonic() + 30
    while len(_lines(times)) <= n and time.monotonic() < deadline:
        page.wait_for_timeout(10)
    return _lines(times)[n]
