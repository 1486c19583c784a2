"""Layer by layer: script time of cached reruns, and what 512 tokens cost beside the model call."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Page

from components.core import open_service
from components.core.registry import BUNDLED_ID
from components.features.layers.controls import PAGE, SECTION
from components.features.layers.measures import lowest_cosine, measures
from components.ui.state.address import encode
from components.ui.state.view import Sentence, ViewState
from tests.benchmarks.browser import chromium, served, visit
from tests.benchmarks.results import Outcome, Ratio
from tests.benchmarks.texts import mixed_sentences

__all__ = ["layers_page"]

RERUNS = 10  # of all looks, in each round
WARM_UP = 1  # round through the looks
SCRIPT_MS, MODEL_CALLS = 100, 1
AT_REST = """
() => document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState === 'notRunning'
  && document.querySelector('.st-key-reading')
  && !document.querySelector('[data-testid="stSkeleton"]')
"""


def layers_page(rounds: int) -> Outcome:
    """Reruns in a real server through the closer looks, and the measures against the model.

    At 32 tokens the script of a rerun has a target; at 512 its times are told. The measures of 512
    tokens are a ratio to the model call that gave the hidden states.
    """
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        times = Path(folder) / "times.jsonl"
        command = ["tests.benchmarks.timed_server", str(times), "run", "app.py"]
        env = {"CONTEXTLENS_DATA_DIR": folder, "CONTEXTLENS_ALLOW_DOWNLOADS": "0"}
        with served(command, env=env) as server:
            for n_words in (25, 600):
                view = ViewState(BUNDLED_ID, (Sentence(_text(n_words)),))
                address = f"{server.address}/{PAGE}?" + urlencode({"s": encode(view)})
                with visit(browser, address) as page:
                    page.wait_for_function(AT_REST, timeout=120_000)
                    _await_baseline(Path(folder))
                    _reruns(page, times, RERUNS * rounds, f"{n_words} words", found)
    ratios = [
        Ratio(name, tuple(values), SCRIPT_MS if _is_bound(name) else None, unit="ms")
        for name, values in found.items()
    ]
    ratio = [_measures_to_model() for _ in range(3 * rounds)]
    told = Ratio("512 tokens, measures to model call", tuple(ratio), MODEL_CALLS)
    return Outcome([*ratios, told], {**found, told.name: ratio})


def _is_bound(name: str) -> bool:
    return name.startswith("25 words") and "script" in name


def _text(n_words: int) -> str:
    return " ".join(" ".join(mixed_sentences(60, seed=0)).split()[:n_words])


def _measures_to_model() -> float:
    """Seconds of all measures and the scale over seconds of the model, for 512 tokens."""
    service = open_service()
    service.load(BUNDLED_ID)
    service.encode(BUNDLED_ID, ["to warm up"])
    begin = time.perf_counter()
    encoding = service.encode(BUNDLED_ID, [_text(600)])[0]
    middle = time.perf_counter()
    measures(encoding)
    lowest_cosine(encoding.hidden)
    return (time.perf_counter() - middle) / (middle - begin)


def _reruns(page: Page, times: Path, n: int, size: str, found: dict[str, list[float]]) -> None:
    sections = list(SECTION.options)
    for turn in range(WARM_UP * len(sections) + n):
        section = sections[(turn + 1) % len(sections)]
        line = _one(page, times, lambda name=section: _click(page, name))
        if turn >= WARM_UP * len(sections):
            for part, took in json.loads(line).items():
                found.setdefault(f"{size}, {section}, {part}", []).append(took)


def _click(page: Page, section: str) -> None:
    page.get_by_test_id("stMain").get_by_text(section, exact=True).first.click()


def _one(page: Page, times: Path, act: Callable[[], None]) -> str:
    """The line of the run that an act causes, once the page rests again."""
    before = len(_lines(times))
    act()
    deadline = time.monotonic() + 30
    while len(_lines(times)) <= before and time.monotonic() < deadline:
        page.wait_for_timeout(10)
    page.wait_for_function(AT_REST, timeout=30_000)
    return _lines(times)[before]


def _lines(times: Path) -> list[str]:
    return times.read_text().splitlines() if times.exists() else []


def _await_baseline(folder: Path) -> None:
    """The page reruns itself when the baseline is there: not to be counted."""
    deadline = time.monotonic() + 60
    while not list(folder.glob("baselines/*.npz")) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1.5)
