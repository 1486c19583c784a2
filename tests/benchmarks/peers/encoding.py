"""Many sentences: the notebook's loop, transformers' pipeline and sentence-transformers."""

from __future__ import annotations

from collections.abc import Callable

from contextlens.core.registry import bundled_folder
from tests.benchmarks.encoding import (
    set_up_loop,
    set_up_sentence_transformers,
    set_up_service,
    stay_offline,
)
from tests.benchmarks.peers.rows import Group, Row
from tests.benchmarks.texts import WARM_UP, mixed_sentences
from tests.benchmarks.workers import interleaved, seconds

__all__ = ["encoding"]

N_TEXTS = 500
BATCH = 32  # of the pipeline; sentence-transformers has the same by default
OURS = "Contextlens"
PEERS = {
    "notebook loop, every layer": ("transformers", "torch"),
    "transformers pipeline, last layer": ("transformers", "torch"),
    "sentence-transformers, last layer": ("sentence-transformers", "transformers", "torch"),
}


def encoding(rounds: int) -> Group:
    """500 mixed sentences; ours gives every layer of every token."""
    set_ups = (set_up_loop, set_up_pipeline, set_up_sentence_transformers)
    contenders = {OURS: (set_up_service, "exact", N_TEXTS)} | {
        name: (set_up, N_TEXTS) for name, set_up in zip(PEERS, set_ups, strict=True)
    }
    took = interleaved(contenders, [(seed,) for seed in range(rounds)])
    return Group(
        [
            Row(
                f"{N_TEXTS} sentences: vectors of all tokens",
                *(name, tuple(took[OURS]), tuple(took[name])),
                packages=packages,
            )
            for name, packages in PEERS.items()
        ]
    )


def set_up_pipeline(n: int) -> Callable[[int], float]:
    """Feature extraction in batches, tensors as they come: the quickest that it offers."""
    stay_offline()
    from transformers import logging, pipeline

    logging.disable_progress_bar()
    folder = str(bundled_folder())
    extract = pipeline("feature-extraction", model=folder, tokenizer=folder, device="cpu")

    def call(texts: list[str]) -> object:
        return extract(texts, batch_size=BATCH, return_tensors=True, truncation=True)

    def run(seed: int) -> float:
        texts = mixed_sentences(n, seed)
        return seconds(lambda: call(texts))

    call(mixed_sentences(BATCH, WARM_UP))
    return run
