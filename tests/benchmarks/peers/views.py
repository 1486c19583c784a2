"""The attention of one text, seen: the page Attention, and BertViz's view of all heads."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from contextlens.core import BUNDLED_ID, Settings
from contextlens.core.service import LocalService
from contextlens.ui.state.address import encode
from contextlens.ui.state.view import DEFAULT, Sentence
from tests.benchmarks.browser import ROOT
from tests.benchmarks.encoding import bare_model
from tests.benchmarks.peers.rows import INSTALL, Group, Missing, Row
from tests.benchmarks.texts import mixed_sentences
from tests.benchmarks.workers import seconds, wait_for_quiet, worker
from tests.load.server import served
from tests.load.visitor import Visitor, visit

__all__ = ["longest", "views"]

LENGTHS = (16, 64, 128, 256, 512)  # tokens
LONGEST = LENGTHS[-1]  # that the model reads
MAX_CHARACTERS = 2**29 - 24
"""The longest string of V8: a view whose script is longer runs in no Chromium."""
UNSEEN_SECONDS = 0.1
"""A wait that nobody notices (J. Nielsen, Usability Engineering, 1993)."""
PACKAGES = ("bertviz", "transformers", "torch")
Seen = tuple[float, float]
"""Seconds from a text to its whole view, and the view's megabytes."""


def views(rounds: int) -> Group:
    """Each length in turns, a new text each time.

    Ours is the whole page, for somebody who is on it: its script, its numbers and pictures, all
    that the server sends until the run is over. BertViz's is what a cell of a running notebook
    does: the model call with all weights, and the HTML of its head view.
    """
    if importlib.util.find_spec("bertviz") is None:
        return Group([], [Missing("BertViz", f"install it with: {INSTALL}")])
    texts = _texts(rounds)
    ours, theirs = asyncio.run(_seen(texts))
    rows = [row for n in LENGTHS for row in _rows(n, ours[n], theirs[n])]
    taken = float(longest(theirs[LONGEST][0][1] * 1e6))
    return Group(
        [
            *rows,
            Row(
                "longest text whose attention a browser can show",
                *("BertViz head view", (float(LONGEST),), (taken,), "tokens", "more"),
                packages=PACKAGES,
            ),
        ]
    )


def longest(n_bytes: float) -> int:
    """Tokens whose view V8 can hold, by what a text of 512 takes: it grows with their square."""
    return min(LONGEST, int(LONGEST * (MAX_CHARACTERS / n_bytes) ** 0.5))


def _rows(n: int, ours: list[Seen], theirs: list[Seen]) -> list[Row]:
    def both(part: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
        return tuple(s[part] for s in ours), tuple(s[part] for s in theirs)

    task, peer = f"attention of {n} tokens", "BertViz head view"
    time, sent = both(0), both(1)
    return [
        Row(task, peer, *time, slack=UNSEEN_SECONDS, packages=PACKAGES),
        Row(f"{task}: sent to the browser", peer, *sent, "MB", packages=PACKAGES),
    ]


async def _seen(
    texts: dict[int, list[str]],
) -> tuple[dict[int, list[Seen]], dict[int, list[Seen]]]:
    ours: dict[int, list[Seen]] = {n: [] for n in texts}
    theirs: dict[int, list[Seen]] = {n: [] for n in texts}
    async with served(ROOT) as app, visit(app.address, "attention") as visitor:
        with worker(set_up_bertviz) as bertviz:
            for n, each in texts.items():
                for turn, text in enumerate(each):
                    await asyncio.to_thread(wait_for_quiet)
                    own = await _ours(visitor, text)
                    await asyncio.to_thread(wait_for_quiet)
                    other = await asyncio.to_thread(bertviz, text)
                    if turn:  # the first is for warming up
                        ours[n].append(own)
                        theirs[n].append(other)
    return ours, theirs


async def _ours(visitor: Visitor, text: str) -> Seen:
    view = replace(DEFAULT, sentences=(Sentence(text),))
    answer = await visitor.ask(urlencode({"s": encode(view)}))
    if answer.error or not answer.is_settled:
        raise RuntimeError(f"The page Attention did not answer: {answer.error or 'it waits'}")
    return answer.seconds, answer.n_bytes / 1e6


def set_up_bertviz() -> Callable[[str], Seen]:
    import torch
    from bertviz import head_view

    tokenizer, model = bare_model(attn_implementation="eager")

    def view(text: str) -> Any:
        inputs = tokenizer(text, return_tensors="pt")
        with torch.no_grad():
            weights = model(**inputs, output_attentions=True).attentions
        tokens = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
        return head_view(weights, tokens, html_action="return")

    def run(text: str) -> Seen:
        made: list[Any] = []
        took = seconds(lambda: made.append(view(text)))
        return took, len(made[0].data.encode()) / 1e6

    return run


def _texts(rounds: int) -> dict[int, list[str]]:
    """One more than the rounds for each length, all different."""
    service = LocalService(Settings())
    return {
        n: [_text_of(service, n, seed=100 * n + turn) for turn in range(rounds + 1)]
        for n in LENGTHS
    }


def _text_of(service: LocalService, n: int, seed: int) -> str:
    """The beginning of joined sentences that has exactly `n` tokens, the special ones included."""
    text = " ".join(mixed_sentences(80, seed))
    offsets = service.tokenize(BUNDLED_ID, [text])[0].offsets
    text = text[: offsets[n - 2][1]]
    if (found := service.tokenize(BUNDLED_ID, [text])[0].n_tokens) != n:
        raise RuntimeError(f"The text has {found} tokens, not {n}.")
    return text
