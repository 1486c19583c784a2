"""Seconds from a click to each picture of Why alike?, and another visitor's page meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from statistics import median

from tests.benchmarks.browser import ROOT
from tests.benchmarks.results import Outcome, Ratio
from tests.benchmarks.texts import WARM_UP, sentences_of
from tests.benchmarks.workers import seconds, wait_for_quiet, worker

__all__ = ["why_page"]

N_WORDS, N_LONG, N_LARGE = 12, 40, 150
RERUNS = 15
LOOKS = ("switch_off", "leave_out", "swap_in")


def why_page(rounds: int) -> Outcome:
    """Each look of two new sentences, run as a page; and a rerun of Meaning while a long one runs.

    Sentences have 12 words for heads and swapped states, and 40 for words left out.
    """
    with worker(set_up) as run:
        found = [run(seed) for seed in range(rounds)]
    raw = {name: [one[name] for one in found] for name in found[0]}
    before = [median(own) for own in raw["rerun before ms"]]
    during = [median(own) for own in raw["rerun meanwhile ms"]]
    slower = tuple(a / b for a, b in zip(during, before, strict=True))
    ratios = [
        *(Ratio(f"click to picture, {look}", tuple(raw[f"{look} s"]), 1.0, unit="s")
          for look in LOOKS),
        Ratio("another page's rerun meanwhile / before", slower, 2.0),
    ]  # fmt: skip
    rows = {name: [x for own in values for x in (own if isinstance(own, list) else [own])]
            for name, values in raw.items()}  # fmt: skip
    return Outcome(ratios, rows, {"words": N_WORDS, "words left out": N_LONG})


def set_up() -> Callable[[int], dict[str, float | list[float]]]:
    from streamlit.testing.v1 import AppTest

    from contextlens.core import BUNDLED_ID
    from contextlens.features.why import switch_off
    from contextlens.features.why.controls import LOOK
    from contextlens.features.why.score import NoScore, score_of
    from contextlens.jobs import Visitor
    from contextlens.ui.models import background
    from contextlens.ui.state import services
    from contextlens.ui.state.address import encode
    from contextlens.ui.state.view import DEFAULT, Sentence, ViewState

    service = services.service()
    card = service.load(BUNDLED_ID)
    why, meaning = (
        AppTest.from_file(ROOT / "pages" / f"{name}.py", default_timeout=120)
        for name in ("why", "meaning")
    )
    for _ in range(4):
        why.run()
        meaning.run()
        time.sleep(1.0)  # the model has been measured by then

    def view_of(n_words: int, seed: int) -> ViewState:
        texts = sentences_of(2, seed, words=(n_words, n_words))
        return replace(DEFAULT, sentences=tuple(map(Sentence, texts)))

    def shown(view: ViewState, look: str) -> float:
        """Seconds from choosing a look to its picture; runs follow each other, as in a tab."""
        why.query_params["s"] = encode(view)
        why.run()
        why.query_params["s"] = encode(LOOK.put(view, look))
        begin = time.perf_counter()
        why.run()
        while not any(chart.proto.id.endswith("why_chart") for chart in why.get("plotly_chart")):
            why.run()
        return time.perf_counter() - begin

    def meanwhile(view: ViewState) -> list[float]:
        """Milliseconds per rerun of Meaning while all heads of two long sentences run."""
        score = score_of(view, service, card)
        bare = services.uncached()
        if isinstance(score, NoScore):
            raise TypeError(score.problem)
        task = switch_off.task(view, score, bare, token_seconds=1.0)
        me = Visitor("another")
        job, took = background.jobs().start(task, me), []
        while len(took) < RERUNS and not job.done():
            took.append(1e3 * seconds(meaning.run))
            time.sleep(0.1)
        job.cancel(me)
        job.wait()
        return took

    def run(seed: int) -> dict[str, float | list[float]]:
        raw: dict[str, float | list[float]] = {}
        for place, look in enumerate(LOOKS):
            wait_for_quiet()
            n_words = N_LONG if look == "leave_out" else N_WORDS
            raw[f"{look} s"] = shown(view_of(n_words, 10 * seed + place), look)
        wait_for_quiet()
        raw["rerun before ms"] = [1e3 * seconds(meaning.run) for _ in range(RERUNS)]
        raw["rerun meanwhile ms"] = meanwhile(LOOK.put(view_of(N_LARGE, seed), "switch_off"))
        return raw

    for look in LOOKS:  # first use imports and compiles
        shown(view_of(N_WORDS, WARM_UP), look)
    return run
