"""Script time of a rerun of Anatomy, and what taking a model apart costs beside running it.

Sentences do not matter on this page, so the long text stands for the work that is counted: the
parts of the largest preset beside the bundled model's own call on 512 tokens.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page

from components.core import BUNDLED_ID, open_service
from components.features.anatomy.figures import part_map
from components.features.anatomy.measures import build_tree
from components.ui.state.address import encode
from components.ui.state.view import DEFAULT
from tests.benchmarks.browser import chromium, served, visit
from tests.benchmarks.results import Outcome, Ratio

__all__ = ["anatomy_rerun"]

LARGE = "google-bert/bert-large-uncased"
RERUNS = 10  # of each kind, in each round
WARM_UP = 2
AT_REST = """
() => {
  const app = document.querySelector('[data-testid="stApp"]');
  return app?.dataset.testScriptState === 'notRunning'
    && document.querySelector('.st-key-anatomy_map .slice path')
    && !document.querySelector('[data-testid="stSkeleton"]');
}
"""


def anatomy_rerun(rounds: int) -> Outcome:
    """Milliseconds of script when the drawing changes, for the bundled model and the largest."""
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        times = Path(folder) / "times.jsonl"
        command = ["tests.benchmarks.timed_server", str(times), "run", "app.py"]
        with served(command, env={"CONTEXTLENS_DATA_DIR": folder}) as server:
            for name, subject in {"bundled": "", "bert-large": LARGE}.items():
                view = DEFAULT.with_control("anatomy", "subject", subject, "")
                with visit(browser, f"{server.address}/anatomy?s={encode(view)}") as page:
                    page.wait_for_function(AT_REST, timeout=120_000)
                    found[f"{name}, script ms"] = _reruns(page, times, RERUNS * rounds)
    found["parts of bert-large / call on 512 tokens"] = _beside_the_model(RERUNS * rounds)
    limits = {"ms": 100.0, "tokens": 1.0}
    ratios = [
        Ratio(name, tuple(values), limits[name.split()[-1]], unit="ms" if "ms" in name else "x")
        for name, values in found.items()
    ]
    return Outcome(ratios, found)


def _beside_the_model(n: int) -> list[float]:
    """Time to sort and draw the largest preset's parts, over that of one call on 512 tokens."""
    service = open_service()
    service.load(BUNDLED_ID)
    architecture = service.architecture(LARGE)

    def draw() -> None:
        tree = build_tree(architecture)
        part_map(tree, kind="treemap", chosen=tree, matches=None, title="").to_json()

    texts = [f"{turn} " + "word " * 600 for turn in range(n)]  # each unlike those remembered
    return [_took(draw) / _took(lambda t=text: service.encode(BUNDLED_ID, [t])) for text in texts]


def _took(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _reruns(page: Page, times: Path, n: int) -> list[float]:
    """Milliseconds of script of each rerun, without the first few."""
    return [_rerun(page, times, turn) for turn in range(WARM_UP + n)][WARM_UP:]


def _rerun(page: Page, times: Path, turn: int) -> float:
    before = len(times.read_text().splitlines())
    page.get_by_text("Tree" if turn % 2 == 0 else "Treemap", exact=True).click()
    deadline = time.monotonic() + 30
    while len(times.read_text().splitlines()) <= before and time.monotonic() < deadline:
        page.wait_for_timeout(10)
    page.wait_for_function(AT_REST, timeout=30_000)
    return float(json.loads(times.read_text().splitlines()[-1])["script"])
