"""Pairs that are there before any upload: one word in two sentences, in one sense or in two.

They are made of the ready corpus of ambiguous words: for each word as many pairs of one sense as of
two, and no word is both among those that a threshold is fitted on and those that it is judged on.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from functools import lru_cache
from itertools import combinations
from random import Random

from components.core.words import Span
from components.corpus.bundled import ambiguous_corpus
from components.features.pairs.compute.pair_set import PairSet, pair_set
from components.features.pairs.measures import DIFFERENT, SAME, TEST, TRAIN

__all__ = ["bundled_pairs"]

_N_EACH = 20
"""Pairs of either kind for each word."""
_EVERY = 2
"""Of each sense every second sentence is used: half the reading, and hardly less to tell."""


@lru_cache(maxsize=1)
def bundled_pairs() -> PairSet:
    """The ready-made pairs: always the same for the same corpus."""
    corpus = ambiguous_corpus()
    spans = corpus.spans or ()
    senses = corpus.labels["sense"]
    members = defaultdict[str, list[int]](list)
    met: Counter[str] = Counter()
    for i, (word, sense) in enumerate(zip(corpus.labels["word"], senses, strict=True)):
        if met[sense] % _EVERY == 0:
            members[word].append(i)
        met[sense] += 1
    trained = set(sorted(members, key=_shuffled)[: len(members) // 2])
    chosen: list[tuple[int, int]] = []
    gold, split = list[int](), list[int]()
    for word, own in members.items():
        for kind in (SAME, DIFFERENT):
            pairs = [
                (a, b) for a, b in combinations(own, 2) if (senses[a] == senses[b]) == bool(kind)
            ]
            drawn = sorted(Random(f"{word} {kind}").sample(pairs, min(_N_EACH, len(pairs))))
            chosen += drawn
            gold += [kind] * len(drawn)
            split += [TRAIN if word in trained else TEST] * len(drawn)
    both: list[tuple[Span, Span]] = [(spans[a], spans[b]) for a, b in chosen]
    return pair_set(
        "Example pairs",
        [(corpus.texts[a], corpus.texts[b]) for a, b in chosen],
        spans=both,
        rows=list(range(1, len(chosen) + 1)),
        gold=gold,
        split=split,
    )


def _shuffled(word: str) -> str:
    """An order of words that has nothing to do with them, and stays when others join."""
    return hashlib.sha256(word.encode()).hexdigest()
