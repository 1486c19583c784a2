"""Script time of a rerun of each page whose results are remembered, from the server itself."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

from contextlens.features.anatomy.controls import DRAWING
from contextlens.features.attention.controls import HEAD
from contextlens.features.embedding_layer.controls import SECTION as EMBEDDING_LOOK
from contextlens.features.layers.controls import SECTION as LAYERS_LOOK
from contextlens.features.masks.controls import MASK
from contextlens.features.probe.controls import SECTION as PROBE_LOOK
from contextlens.features.proof.controls import WHAT
from contextlens.features.sentences.controls import TEST, TESTS
from contextlens.features.tokens.controls import SECTION as TOKENS_LOOK
from contextlens.ui.state.address import encode
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState
from tests.benchmarks.browser import served
from tests.benchmarks.results import Outcome, Ratio
from tests.benchmarks.texts import mixed_sentences
from tests.load.visitor import PATIENCE, Visitor, visit

__all__ = ["page_rerun"]

RERUNS = 10  # of each page, in each round
LONG = replace(DEFAULT, sentences=(Sentence(" ".join(mixed_sentences(60, seed=0))),))  # 512 tokens
PAGES: Mapping[str, tuple[float, ViewState, ViewState]] = {
    "meaning": (50, replace(DEFAULT, layer=5), replace(DEFAULT, layer=6)),
    "tokens": (60, *(TOKENS_LOOK.put(LONG, look) for look in list(TOKENS_LOOK.options)[:2])),
    "masks": (100, MASK.put(DEFAULT, False), DEFAULT),
    "embedding_layer": (
        100, *(EMBEDDING_LOOK.put(DEFAULT, look) for look in list(EMBEDDING_LOOK.options)[:2])
    ),
    "layers": (100, *(LAYERS_LOOK.put(DEFAULT, look) for look in list(LAYERS_LOOK.options)[:2])),
    "attention": (100, *(HEAD.put(DEFAULT, head) for head in ("2.3", "3.4"))),
    "probe": (100, *(PROBE_LOOK.put(DEFAULT, look) for look in ("mistakes", "mixups"))),
    "sentences": (100, *(TEST.put(DEFAULT, test) for test in TESTS[:2])),
    "anatomy": (100, *(DRAWING.put(DEFAULT, drawing) for drawing in DRAWING.options)),
    "proof": (100, *(WHAT.put(DEFAULT, what) for what in list(WHAT.options)[:2])),
}  # fmt: skip
"""For each page the most milliseconds, and two views that take turns."""


def page_rerun(rounds: int) -> Outcome:
    """Milliseconds of script in a real server, frame included, driven as a browser drives it."""
    with tempfile.TemporaryDirectory() as folder:
        times = Path(folder) / "times.jsonl"
        command = ["tests.benchmarks.timed_server", str(times), "run", "app.py"]
        env = {"CONTEXTLENS_DATA_DIR": folder, "CONTEXTLENS_ALLOW_DOWNLOADS": "0"}
        with served(command, env=env) as server:
            raw = {
                f"{page}, script ms": asyncio.run(
                    _reruns(server.address, page, views, times, RERUNS * rounds)
                )
                for page, (_, *views) in PAGES.items()
            }
    targets = [target for target, *_ in PAGES.values()]
    ratios = [
        Ratio(name.removesuffix(" ms"), tuple(values), target, unit="ms")
        for (name, values), target in zip(raw.items(), targets, strict=True)
    ]
    return Outcome(ratios, raw)


async def _reruns(
    address: str, page: str, views: list[ViewState], times: Path, n: int
) -> list[float]:
    """Return the script times of `n` reruns, once both views are settled."""
    queries = [urlencode({"s": encode(view)}) for view in views]
    async with visit(address, page) as visitor:
        for query in queries * 2:
            await _settle(visitor, query)
        spent = []
        for turn in range(n):
            before = len(_lines(times))
            answer = await visitor.ask(queries[turn % 2])
            if answer.error:
                raise RuntimeError(f"{page}: {answer.error}")
            while len(_lines(times)) == before:  # it is written just after the answer
                await asyncio.sleep(0.01)
            spent.append(float(json.loads(_lines(times)[before])["script"]))
    return spent


async def _settle(visitor: Visitor, query: str) -> None:
    """Ask until nothing on the page waits for the model or for what is measured of it."""
    deadline = time.monotonic() + PATIENCE
    while not (answer := await visitor.ask(query)).is_settled or answer.error:
        if time.monotonic() > deadline:
            raise RuntimeError(f"The page does not settle: {answer.error}")
        await asyncio.sleep(0.5)


def _lines(times: Path) -> list[str]:
    return times.read_text().splitlines() if times.exists() else []
