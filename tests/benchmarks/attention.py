"""The Attention page: script time of another head, 512 tokens beside the model call, bytes sent."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Page

from components.core import BUNDLED_ID, Settings
from components.core.service import LocalService
from components.features.attention.compute.attention import attention_view
from components.ui.state.address import encode
from components.ui.state.view import DEFAULT, Sentence
from tests.benchmarks.browser import chromium, served, visit
from tests.benchmarks.results import Outcome, Ratio
from tests.benchmarks.texts import mixed_sentences

__all__ = ["attention_page"]

RERUNS = 8  # in each round
WARM_UP = 2
LONG = 512  # tokens
AT_REST = """
() => {
  const app = document.querySelector('[data-testid="stApp"]');
  return app?.dataset.testScriptState === 'notRunning'
    && document.querySelector('.st-key-attention_heatmap .heatmaplayer image')
    && !document.querySelector('[data-testid="stSkeleton"]');
}
"""


def attention_page(rounds: int) -> Outcome:
    """Another head of 32 tokens in a real server, then long texts in this process and on screen."""
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        times = Path(folder) / "times.jsonl"
        command = ["tests.benchmarks.timed_server", str(times), "run", "app.py"]
        with served(command, env={"CONTEXTLENS_DATA_DIR": folder}) as server:
            with visit(browser, _address(server.address, " ".join(["python"] * 30))) as page:
                page.wait_for_function(AT_REST, timeout=120_000)
                reruns = _reruns(page, times, RERUNS * rounds)
            sent: list[int] = []
            address = _address(server.address, _long_text(0))
            with visit(browser, "about:blank") as page:
                page.on("websocket", lambda socket: socket.on("framereceived", _counter(sent)))
                page.goto(address)
                page.wait_for_function(AT_REST, timeout=120_000)
    ratios = _long_ratios(3 * rounds)
    return Outcome(
        [
            Ratio("another head, script", tuple(reruns), 100, unit="ms"),
            Ratio("512 tokens: page's numbers / model call", tuple(ratios), 2.0),
            Ratio("512 tokens: sent to the browser", (sum(sent) / 1e6,), 5.0, unit="MB"),
        ],
        {"another head, script ms": reruns, "512 tokens x": ratios, "sent MB": [sum(sent) / 1e6]},
    )


def _address(server: str, text: str) -> str:
    view = replace(DEFAULT, sentences=(Sentence(text),))
    return f"{server}/attention?{urlencode({'s': encode(view)})}"


def _counter(sent: list[int]) -> Callable[[bytes | str], None]:
    return lambda frame: sent.append(len(frame))


def _long_text(seed: int) -> str:
    return " ".join(mixed_sentences(40, seed))


def _reruns(page: Page, times: Path, n: int) -> list[float]:
    """Milliseconds of script, each for a head that the navigator is clicked on."""
    found: list[float] = []
    for turn in range(WARM_UP + n):
        before = len(times.read_text().splitlines())
        page.get_by_role("button", name=f"Layer {2 + turn % 2}, head {turn % 12}:").click()
        deadline = time.monotonic() + 30
        while len(times.read_text().splitlines()) <= before and time.monotonic() < deadline:
            page.wait_for_timeout(10)
        page.wait_for_function(AT_REST, timeout=30_000)
        if turn >= WARM_UP:
            found.append(json.loads(times.read_text().splitlines()[before])["script"])
    return found


def _long_ratios(n: int) -> list[float]:
    """How long the page's numbers of a new long text take, beside a plain encoding of one."""
    service = LocalService(Settings())
    card = service.load(BUNDLED_ID)
    service.encode(BUNDLED_ID, [_long_text(1)])
    found: list[float] = []
    for seed in range(2, 2 * n + 2, 2):
        begin = time.perf_counter()
        service.encode(BUNDLED_ID, [_long_text(seed)])
        alone = time.perf_counter() - begin
        view = replace(DEFAULT, sentences=(Sentence(_long_text(seed + 1)),))
        begin = time.perf_counter()
        attention = attention_view(view, service, card)
        found.append((time.perf_counter() - begin) / alone)
        if attention.encoding.n_tokens != LONG:
            raise RuntimeError(f"The text has {attention.encoding.n_tokens} tokens, not {LONG}.")
    return found
