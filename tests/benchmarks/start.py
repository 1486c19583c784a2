"""From `streamlit run app.py` to the chart on screen, beside what a bare start would cost."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser

from components.core.registry import bundled_folder
from tests.benchmarks.browser import chromium, served, visit
from tests.benchmarks.results import Outcome, Ratio
from tests.benchmarks.workers import worker

__all__ = ["start"]

CHART_DRAWN = """
() => document.querySelector('.st-key-meaning_lines .scatterlayer .trace path')
  && !document.querySelector('[data-testid="stSkeleton"]')
"""
HELLO_DRAWN = "() => document.querySelector('h1')?.textContent.includes('Welcome to Streamlit')"
SHELL_DRAWN = "() => document.querySelector('h1')?.textContent.includes('Meaning in context')"


def start(rounds: int) -> Outcome:
    """Seconds to the first chart of Meaning in context, in a browser that is running already.

    The bare start is `streamlit hello` to its page, and the time that a fresh process takes to
    import torch and transformers and to load the model with them. A first round is not counted:
    it brings the files into the disk's cache.
    """
    raw: dict[str, list[float]] = {}
    with chromium() as browser, tempfile.TemporaryDirectory() as folder:
        for turn in range(rounds + 1):
            fresh = Path(folder) / f"fresh-{turn}"
            measured = {
                "hello s": _hello(browser, Path(folder)),
                "import s": 0.0,
                "load s": 0.0,
                **_app(browser, Path(folder) / "kept", "baseline on disk"),
                **_app(browser, fresh, "baseline not on disk"),
            }
            measured["import s"], measured["load s"] = _bare_model()
            for name, value in measured.items():
                if turn > 0:
                    raw.setdefault(name, []).append(value)
    bare = [
        sum(parts) for parts in zip(raw["hello s"], raw["import s"], raw["load s"], strict=True)
    ]
    raw["bare start s"] = bare

    def over(name: str) -> tuple[float, ...]:
        return tuple(ours / theirs for ours, theirs in zip(raw[name], bare, strict=True))

    ratios = [
        Ratio("chart, baseline on disk / bare start", over("chart, baseline on disk s"), 1.3),
        Ratio("chart, baseline not on disk / bare start", over("chart, baseline not on disk s")),
    ]
    return Outcome(ratios, raw)


def _app(browser: Browser, data_dir: Path, state: str) -> dict[str, float]:
    command = ["streamlit", "run", "app.py"]
    with served(command, env={"CONTEXTLENS_DATA_DIR": str(data_dir)}) as server:
        with visit(browser, f"{server.address}/similarity") as page:
            page.wait_for_function(SHELL_DRAWN, timeout=60_000)
            shell = time.perf_counter() - server.started
            page.wait_for_function(CHART_DRAWN, timeout=60_000)
            chart = time.perf_counter() - server.started
        _await_baseline(data_dir)
    return {f"shell, {state} s": shell, f"chart, {state} s": chart}


def _await_baseline(data_dir: Path) -> None:
    """Wait until the background work has ended, so that the next round finds its file."""
    deadline = time.monotonic() + 60
    while not list(data_dir.glob("baselines/*.npz")) and time.monotonic() < deadline:
        time.sleep(0.05)


def _hello(browser: Browser, folder: Path) -> float:
    with (
        served(["streamlit", "hello"], cwd=folder) as server,
        visit(browser, server.address) as page,
    ):
        page.wait_for_function(HELLO_DRAWN, timeout=60_000)
        return time.perf_counter() - server.started


def _bare_model() -> tuple[float, float]:
    with worker(set_up_bare_model) as run:
        imported, loaded = run()
    return imported, loaded


def set_up_bare_model() -> Callable[[], tuple[float, float]]:
    folder = str(bundled_folder())

    def run() -> tuple[float, float]:
        begin = time.perf_counter()
        import torch  # noqa: F401
        import transformers

        imported = time.perf_counter()
        transformers.logging.disable_progress_bar()
        transformers.AutoTokenizer.from_pretrained(folder)
        transformers.AutoModel.from_pretrained(folder)
        return imported - begin, time.perf_counter() - imported

    return run
