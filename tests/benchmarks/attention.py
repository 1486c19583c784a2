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
from components.features.attention.compute import attention_view
from components.ui.state.address import encode
from components.ui.state.view import DEFAULT, Sentence
from tests.benchmarks.browser import chromium, served, visit
from tests.benchmarks.results import Outcome, Ratio
from tests.benchmarks.texts import mixed_sentences
from tests.benchmarks.workers import seconds

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
    long = _long_times(3 * rounds)
    page, weighed, plain = (tuple(turn[i] for turn in long) for i in range(3))
    return Outcome(
        [
            Ratio("another head, script", tuple(reruns), 100, unit="ms"),
            Ratio(
                "512 tokens: page's numbers / model call with all weights",
                tuple(a / b for a, b in zip(page, weighed, strict=True)),
                2.0,
            ),
            Ratio(
                "512 tokens: page's numbers / model call without weights",
                tuple(a / b for a, b in zip(page, plain, strict=True)),
            ),
            Ratio("512 tokens: sent to the browser", (sum(sent) / 1e6,), 5.0, unit="MB"),
        ],
        {
            "another head, script ms": reruns,
            "512 tokens: page's numbers s": page,
            "512 tokens: model call with all weights s": weighed,
            "512 tokens: model call without weights s": plain,
            "sent MB": [sum(sent) / 1e6],
        },
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


def _long_times(n: int) -> list[tuple[float, float, float]]:
    """Seconds for a new long text: the page's numbers, a model call with all weights, one without.

    The page needs all weights, which only the slower kind of attention gives: that call is the
    least it could take.
    """
    service = LocalService(Settings())
    card = service.load(BUNDLED_ID)
    for attentions in (True, False):
        service.encode(BUNDLED_ID, [_long_text(1)], attentions=attentions)
    found: list[tuple[float, float, float]] = []
    for seed in range(2, 3 * n + 2, 3):
        texts = [_long_text(seed + i) for i in range(3)]
        view = replace(DEFAULT, sentences=(Sentence(texts[0]),))
        page = seconds(lambda: attention_view(view, service, card))  # noqa: B023
        weighed, plain = (
            seconds(lambda: service.encode(BUNDLED_ID, [text], attentions=attentions))  # noqa: B023
            for text, attentions in ((texts[1], True), (texts[2], False))
        )
        found.append((page, weighed, plain))
        if (tokens := service.tokenize(BUNDLED_ID, texts[:1])[0].n_tokens) != LONG:
            raise RuntimeError(f"The text has {tokens} tokens, not {LONG}.")
    return found
