"""Padding & masks with the mask on and off, beside the bare model's time for the two batches."""

from __future__ import annotations

import os
from collections.abc import Callable

from components.core import BUNDLED_ID, Settings, open_service
from components.core.registry import bundled_folder
from components.features.masks.compute import encode_both
from tests.benchmarks.results import Outcome, Ratio
from tests.benchmarks.texts import WARM_UP, sentences_of
from tests.benchmarks.workers import interleaved, seconds

__all__ = ["masks"]

N_TEXTS = 16
N_TOKENS = 64
TURNS = 6  # of each round


def masks(rounds: int) -> Outcome:
    """16 new texts of 64 tokens or a few less: encoded and compared, with the mask on and off.

    Ours runs them a third time, alone: that is what the padded vectors are compared with. Texts
    that leave little to pad make that third run as dear as it can be.
    """
    contenders = {"laboratory": (set_up_laboratory,), "two batches": (set_up_bare,)}
    took = interleaved(contenders, [(seed,) for seed in range(TURNS * rounds)])
    ratio = tuple(a / b for a, b in zip(took["laboratory"], took["two batches"], strict=True))
    raw = {f"{name} ms": [1e3 * s for s in values] for name, values in took.items()}
    return Outcome([Ratio("laboratory / bare model, two batches", ratio, 2.5)], raw)


def set_up_laboratory() -> Callable[[int], float]:
    service = open_service(Settings())

    def both(texts: list[str]) -> object:
        how = {"pairs": [None] * len(texts), "pad_to": N_TOKENS}
        return [
            encode_both(service, BUNDLED_ID, texts, masked=masked, **how)
            for masked in (True, False)
        ]

    return _timed(both, lambda text: service.tokenize(BUNDLED_ID, [text])[0].n_tokens)


def set_up_bare() -> Callable[[int], float]:
    os.environ["HF_HUB_OFFLINE"] = "1"
    import torch
    from transformers import AutoModel, AutoTokenizer, logging

    logging.disable_progress_bar()
    tokenizer = AutoTokenizer.from_pretrained(bundled_folder())
    model = AutoModel.from_pretrained(bundled_folder()).eval()

    def both(texts: list[str]) -> object:
        size = {"padding": "max_length", "max_length": N_TOKENS, "truncation": True}
        batch = tokenizer(texts, return_tensors="pt", **size)
        ones = {**batch, "attention_mask": torch.ones_like(batch["attention_mask"])}
        with torch.no_grad():
            return [model(**inputs, output_hidden_states=True) for inputs in (batch, ones)]

    return _timed(both, lambda text: len(tokenizer(text)["input_ids"]))


def _timed(
    both: Callable[[list[str]], object], n_tokens: Callable[[str], int]
) -> Callable[[int], float]:
    def run(seed: int) -> float:
        texts = [_cut(t, n_tokens) for t in sentences_of(N_TEXTS, seed, words=(60, 70))]
        return seconds(lambda: both(texts))

    run(WARM_UP)
    return run


def _cut(text: str, n_tokens: Callable[[str], int]) -> str:
    """As many of a text's words as fit."""
    words = text.split()
    while n_tokens(" ".join(words)) > N_TOKENS:
        words.pop()
    return " ".join(words)
