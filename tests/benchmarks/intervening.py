"""Reading two sentences with each head switched off, each word left out, and each state swapped."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from components.core import BUNDLED_ID, Settings
from components.core.registry import bundled_folder
from components.core.schema import Patch, SwitchOff
from components.core.service import LocalService
from tests.benchmarks.results import Outcome, Ratio
from tests.benchmarks.texts import WARM_UP, sentences_of
from tests.benchmarks.workers import interleaved, seconds

__all__ = ["intervene"]

N_LAYERS, N_HEADS = 6, 12  # of the bundled model
N_WORDS, N_LONG = 12, 40
TURNS = 5  # of each round


def intervene(rounds: int) -> Outcome:
    """All heads of two sentences of 12 words, beside as many plain readings in one batch.

    Also what a page waits for: 40 words left out one by one, and 12 tokens swapped at 7 layers.
    """
    contenders = {
        "all heads": (set_up_heads,),
        "as many plain": (set_up_plain,),
        "words left out": (set_up_left_out,),
        "swapped in": (set_up_swapped,),
    }
    took = interleaved(contenders, [(seed,) for seed in range(TURNS * rounds)])
    ratio = tuple(a / b for a, b in zip(took["all heads"], took["as many plain"], strict=True))
    return Outcome(
        [
            Ratio("all heads / as many plain encodings, one batch", ratio, 1.2),
            Ratio("40 words left out", tuple(took["words left out"]), 1.0, unit="s"),
            Ratio("12 tokens x 7 layers swapped in", tuple(took["swapped in"]), 1.0, unit="s"),
        ],
        {f"{name} ms": [1e3 * s for s in values] for name, values in took.items()},
    )


def set_up_heads() -> Callable[[int], float]:
    service = LocalService(Settings())
    heads = [
        [SwitchOff("head", layer, head)]
        for layer in range(1, N_LAYERS + 1)
        for head in range(N_HEADS)
    ]

    def all_heads(texts: Sequence[str]) -> object:
        each = [text for text in texts for _ in heads]
        return service.intervene(BUNDLED_ID, each, heads * len(texts), layers=[N_LAYERS])

    return _timed(all_heads)


def set_up_plain() -> Callable[[int], float]:
    """The bare model, given the two sentences as often as there are heads, in one batch."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    import torch
    from transformers import AutoModel, AutoTokenizer, logging

    logging.disable_progress_bar()
    tokenizer = AutoTokenizer.from_pretrained(bundled_folder())
    model = AutoModel.from_pretrained(bundled_folder()).eval()

    def plain(texts: Sequence[str]) -> object:
        each = [text for text in texts for _ in range(N_LAYERS * N_HEADS)]
        with torch.no_grad():
            return model(**tokenizer(each, return_tensors="pt", padding=True))

    return _timed(plain)


def set_up_left_out() -> Callable[[int], float]:
    service = LocalService(Settings())

    def run(seed: int) -> float:
        words = sentences_of(1, seed, words=(N_LONG, N_LONG))[0].split()
        texts = [" ".join(words[:i] + words[i + 1 :]) for i in range(N_LONG)]
        return seconds(lambda: service.encode(BUNDLED_ID, texts, layers=[N_LAYERS]))

    run(WARM_UP)
    return run


def set_up_swapped() -> Callable[[int], float]:
    service = LocalService(Settings())

    def swapped(texts: Sequence[str]) -> object:
        swaps = [
            [Patch(layer, (position,), texts[1], (position,))]
            for layer in range(N_LAYERS + 1)
            for position in range(1, N_WORDS + 1)
        ]
        return service.intervene(BUNDLED_ID, texts[:1] * len(swaps), swaps, layers=[N_LAYERS])

    return _timed(swapped)


def _timed(work: Callable[[Sequence[str]], object]) -> Callable[[int], float]:
    def run(seed: int) -> float:
        texts = sentences_of(2, seed, words=(N_WORDS, N_WORDS))
        return seconds(lambda: work(texts))

    run(WARM_UP)
    return run
