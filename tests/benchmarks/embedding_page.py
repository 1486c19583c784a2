"""Script time of Embedding layer: a rerun of 32 remembered tokens, and 512 new ones."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from urllib.parse import urlencode

from playwright.sync_api import Page

from components.core import BUNDLED_ID, Settings, open_service
from components.ui.state.address import encode
from components.ui.state.view import DEFAULT, Sentence
from tests.benchmarks.browser import Server, chromium, served, visit
from tests.benchmarks.results import Outcome, Ratio

__all__ = ["embedding_page"]

RERUNS = 10  # in each round
WARM_UP = 2
WORDS = "the river runs by a green bank where she keeps her pet python warm at night and "
SHORT = " ".join((WORDS * 2).split()[:30])  # 32 tokens with the special ones
AT_REST = """
() => {
  const app = document.querySelector('[data-testid="stApp"]');
  return app?.dataset.testScriptState === 'notRunning'
    && document.querySelector('.st-key-embedding_sum .heatmaplayer image')
    && !document.querySelector('[data-testid="stSkeleton"]');
}
"""


def embedding_page(rounds: int) -> Outcome:
    """Milliseconds of script in a real server, and 512 new tokens as a ratio to the model call."""
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        times = Path(folder) / "times.jsonl"
        command = ["tests.benchmarks.timed_server", str(times), "run", "app.py"]
        with served(command, env={"CONTEXTLENS_DATA_DIR": folder}) as server:
            with visit(browser, _address(server, SHORT)) as page:
                page.wait_for_function(AT_REST, timeout=120_000)
                rerun = [_rerun(page, times, turn) for turn in range(WARM_UP + RERUNS * rounds)]
            first, bytes_sent = [], []
            for turn in range(3 * rounds):
                with visit(browser, "about:blank") as page, _counted(page) as received:
                    before = len(_lines(times))
                    page.goto(_address(server, _long(turn)))
                    page.wait_for_function(AT_REST, timeout=60_000)
                    runs = [json.loads(line)["script"] for line in _lines(times)[before:]]
                first.append(sum(runs))
                bytes_sent.append(float(sum(received)))
    bare = _bare_calls(3 * rounds)
    ratio = tuple(ours / median(bare) for ours in first)
    ratios = [
        Ratio("rerun of 32 tokens, script", tuple(rerun[WARM_UP:]), 100, unit="ms"),
        Ratio("512 new tokens, script", tuple(first), 3000, unit="ms"),
        Ratio("512 new tokens, script / model call", ratio),
        Ratio("512 new tokens, to the browser", tuple(b / 1e6 for b in bytes_sent), 2, unit="MB"),
    ]
    raw = {"rerun ms": rerun, "512 tokens ms": first, "model call ms": bare, "sent B": bytes_sent}
    return Outcome(ratios, raw)


def _address(server: Server, text: str) -> str:
    query = urlencode({"s": encode(replace(DEFAULT, sentences=(Sentence(text),)))})
    return f"{server.address}/embedding_layer?{query}"


def _long(turn: int) -> str:
    """A text of more than 512 tokens that is new in each turn."""
    return f"number {turn} " + WORDS * 40


def _rerun(page: Page, times: Path, turn: int) -> float:
    """Script time of the run that another closer look causes."""
    name = "Neighbours" if turn % 2 == 0 else "Same word"
    return _after(page, times, lambda: page.get_by_role("radio", name=name, exact=True).click())


def _after(page: Page, times: Path, change: Callable[[], None]) -> float:
    before = len(_lines(times))
    change()
    deadline = time.monotonic() + 30
    while len(_lines(times)) <= before and time.monotonic() < deadline:
        page.wait_for_timeout(10)
    page.wait_for_function(AT_REST, timeout=30_000)
    return float(json.loads(_lines(times)[before])["script"])


@contextmanager
def _counted(page: Page) -> Iterator[list[int]]:
    """The bytes of each message that the server sends over the page's sockets."""
    received: list[int] = []
    page.on("websocket", lambda s: s.on("framereceived", lambda m: received.append(len(m))))
    yield received


def _bare_calls(n: int) -> list[float]:
    """Milliseconds of encoding as many tokens without a page, each text new."""
    service = open_service(Settings(allow_downloads=False))
    service.encode(BUNDLED_ID, ["warm up"])
    took = []
    for turn in range(n):
        start = time.perf_counter()
        service.encode(BUNDLED_ID, [_long(turn)], layers=[0])
        took.append(1e3 * (time.perf_counter() - start))
    return took


def _lines(times: Path) -> list[str]:
    return times.read_text().splitlines()
