"""A word as it is found in texts, with the labels that a test gives."""

from __future__ import annotations

import numpy as np

from components.analysis.separation import trial_of
from components.corpus.searchable import Occurrences
from components.features.senses.words import WordUses

__all__ = ["HALF", "found_of"]


def found_of(labels: list[str], word: str = "python", split: tuple[str, ...] = ()) -> WordUses:
    n = len(labels)
    senses = tuple(sorted(set(labels) - {""}, key=lambda s: (-labels.count(s), s)))
    own = Occurrences(
        word=word,
        rows=np.arange(n),
        texts=np.arange(n),
        spans=np.tile([2, 2 + len(word)], (n, 1)),
        surfaces=(word,) * n,
        left=("a",) * n,
        right=("",) * n,
        is_target=np.ones(n, bool),
        n_total=n,
    )
    return WordUses(
        key="k",
        word=word,
        corpus="Some *texts*",
        model="m",
        occurrences=own,
        texts=(f"a {word}",) * n,
        column="sense",
        labels=tuple(labels),
        senses=senses,
        codes=np.array([senses.index(label) if label else -1 for label in labels]),
        trial=trial_of(labels, split),
    )


HALF = found_of(["animal"] * 16 + ["language"] * 16)
