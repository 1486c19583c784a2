"""From a file of 10,000 sentences to the first picture of a word's senses; the app meanwhile."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace

from contextlens.core import BUNDLED_ID
from contextlens.corpus.corpus import Corpus
from tests.benchmarks.browser import ROOT
from tests.benchmarks.results import Outcome, Ratio
from tests.benchmarks.texts import WARM_UP, mixed_sentences
from tests.benchmarks.workers import seconds, wait_for_quiet, worker

__all__ = ["first_senses"]

N_TEXTS = 10_000
N_AT_ONCE = 250
RERUNS = 15
WORD = "time"


def first_senses(rounds: int) -> Outcome:
    """Indexing and the picture beside the bare encoding; one round, as each takes minutes.

    Meanwhile another visitor's Meaning is run again and again, as it was before.
    """
    del rounds
    with tempfile.TemporaryDirectory() as folder, worker(set_up, folder) as run:
        raw = run()
    (encode,), (indexed,), (picture,) = raw["encode s"], raw["index s"], raw["picture s"]
    before, during = sorted(raw["rerun before ms"]), sorted(raw["rerun meanwhile ms"])
    middle = before[len(before) // 2]
    ratios = [
        Ratio("index and first picture / bare encoding", ((indexed + picture) / encode,), 1.25),
        Ratio("a page's rerun meanwhile / before", (during[len(during) // 2] / middle,), 2.0),
        Ratio("picture, once indexed", (picture,), unit="s"),
    ]
    return Outcome(ratios, raw, {"sentences": N_TEXTS, "layers": "all", "word": WORD})


def set_up(folder: str) -> Callable[[], dict[str, list[float]]]:
    os.environ["CONTEXTLENS_DATA_DIR"] = folder
    from streamlit.testing.v1 import AppTest

    from contextlens.corpus.store.about import indexing_of
    from contextlens.corpus.store.indexing import start
    from contextlens.features.senses.controls import WORD as WORD_CONTROL
    from contextlens.features.senses.senses import senses_in
    from contextlens.ui.models import background
    from contextlens.ui.server.startup import warm_up
    from contextlens.ui.state import services
    from contextlens.ui.state.view import DEFAULT

    warm_up()  # as the server does
    service = services.service()
    bare = service.uncached
    card = service.load(BUNDLED_ID)
    page = AppTest.from_file(ROOT / "pages" / "meaning.py", default_timeout=120)
    for _ in range(5):
        page.run()
        time.sleep(1.0)  # what it measures of the model is there then
    bare.encode(BUNDLED_ID, mixed_sentences(N_AT_ONCE, WARM_UP))
    view = WORD_CONTROL.put(replace(DEFAULT, layer=card.n_layers), WORD)

    def run() -> dict[str, list[float]]:
        texts = tuple(mixed_sentences(N_TEXTS, 0))
        raw: dict[str, list[float]] = {"rerun before ms": [], "rerun meanwhile ms": []}
        wait_for_quiet()
        raw["rerun before ms"] = [1e3 * seconds(page.run) for _ in range(RERUNS)]
        raw["encode s"] = [
            sum(
                seconds(lambda some=some: bare.encode(BUNDLED_ID, some))
                for some in (texts[i : i + N_AT_ONCE] for i in range(0, N_TEXTS, N_AT_ONCE))
            )
        ]
        begin = time.perf_counter()
        own = indexing_of(card, range(card.n_layers + 1), "exact")
        name = background.store().create(Corpus("bench", texts), own).name
        job = start(background.jobs(), background.store(), service, name)
        time.sleep(5)
        while len(raw["rerun meanwhile ms"]) < RERUNS and not job.done():
            raw["rerun meanwhile ms"].append(1e3 * seconds(page.run))
            time.sleep(1.0)
        job.result(1_200)
        raw["index s"] = [time.perf_counter() - begin]
        corpus = background.store().open(name)
        raw["picture s"] = [
            seconds(lambda: senses_in(corpus, view, service).word_map)  # type: ignore[union-attr]
        ]
        return raw

    return run
