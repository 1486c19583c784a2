"""Pairs of texts, or of a word in either, with their labels or scores; and the bundled pairs."""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import combinations
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contextlens.analysis.correlation import Float64Array
from contextlens.core.schema import IntArray
from contextlens.core.words import Span, bare_words
from contextlens.corpus.bundled import sample_corpus
from contextlens.corpus.file_vectors import FileVectors

UNKNOWN, DIFFERENT, SAME = -1, 0, 1
"""The label of a pair."""
NEITHER, TRAIN, TEST = -1, 0, 1
"""The split of a pair."""
LABEL_NAMES: Mapping[int, str] = {SAME: "same", DIFFERENT: "different"}
SPLIT_NAMES: Mapping[int, str] = {TRAIN: "train", TEST: "test"}
WHOLE = (-1, -1)
"""The span of a side that is compared as a whole text."""
_BATCH = 200  # texts that are hashed at once


@dataclass(frozen=True, eq=False)
class PairSet:
    """Pairs of texts.

    Attributes:
        name: the file's name, or the title of bundled pairs.
        texts: each distinct text once.
        sides: (n_pairs, 2) int64, the texts of each pair.
        spans: (n_pairs, 2, 2) int64, the compared word of each side in code points, or `WHOLE`.
        rows: (n_pairs,) int64, the row of each pair in the file, from 1.
        gold: (n_pairs,) int64, SAME, DIFFERENT or UNKNOWN.
        split: (n_pairs,) int64, TRAIN, TEST or NEITHER; None if none is given.
        grades: (n_pairs,) float64, the graded score of each pair, NaN if it has none; None if
            pairs have no scores.
        notes: sentences on how the file was read and on pairs that were left out.
        are_triplets: True if two pairs in turn have one anchor, with its positive and its negative.
        vectors: those that the file gives for the first and for the second text of each pair, or
            for the three texts of each triplet, in place of a model's; None for a model's.
    """

    name: str
    texts: tuple[str, ...]
    sides: IntArray
    spans: IntArray
    rows: IntArray
    gold: IntArray
    split: IntArray | None
    grades: Float64Array | None = None
    notes: tuple[str, ...] = ()
    are_triplets: bool = False
    vectors: tuple[FileVectors, ...] | None = None

    @cached_property
    def by_model(self) -> PairSet:
        """The same pairs without the vectors of their file."""
        return self if self.vectors is None else replace(self, vectors=None)

    @property
    def n(self) -> int:
        """The number of pairs."""
        return len(self.sides)

    @cached_property
    def has_words(self) -> bool:
        """True if words are compared, not whole texts."""
        return bool((self.spans >= 0).any())

    @cached_property
    def has_labels(self) -> bool:
        """True if any pair has a label."""
        return bool((self.gold != UNKNOWN).any())

    @cached_property
    def contents(self) -> IntArray:
        """(n_pairs,) int64, the first pair with the same two texts, in either order.

        Case, signs and spaces do not count; the compared words do.
        """
        texts = [hash(bare_words(text)) for text in self.texts]
        firsts: dict[frozenset[tuple[int, ...]], int] = {}
        contents = []
        for i, sides in enumerate(self.sides.tolist()):
            pair = [(texts[text], *self._word_hashes(i, side)) for side, text in enumerate(sides)]
            contents.append(firsts.setdefault(frozenset(pair), i))
        return np.array(contents, np.int64)

    def _word_hashes(self, pair: int, side: int) -> tuple[int, ...]:
        span = self.span(pair, side)
        if span is None:
            return ()
        text = self.text(pair, side)
        return hash(bare_words(text[: span[0]])), hash(bare_words(text[slice(*span)]))

    @property
    def _arrays(self) -> tuple[NDArray[Any] | None, ...]:
        return (self.sides, self.spans, self.rows, self.gold, self.split, self.grades)

    @cached_property
    def key(self) -> str:
        """The SHA-256 of all contents, in hex."""
        digest = hashlib.sha256()
        for start in range(0, len(self.texts), _BATCH):
            packed = json.dumps(self.texts[start : start + _BATCH])
            digest.update(packed.encode("utf-8", "surrogatepass"))
        for array in self._arrays:
            digest.update(b"none" if array is None else array.tobytes())
        digest.update(json.dumps([self.name, self.notes]).encode("utf-8", "surrogatepass"))
        digest.update(b"triplets" if self.are_triplets else b"")
        for own in self.vectors or ():
            digest.update(own.digest.encode())
        return digest.hexdigest()

    @cached_property
    def n_bytes(self) -> int:
        """The approximate memory of the pairs, in bytes."""
        n = sum(array.nbytes for array in self._arrays if array is not None)
        n += sum(own.n_bytes for own in self.vectors or ())
        return n + sum(map(sys.getsizeof, self.texts)) + 8 * len(self.texts)

    def text(self, pair: int, side: int) -> str:
        """The text of one side of a pair."""
        return self.texts[int(self.sides[pair, side])]

    def span(self, pair: int, side: int) -> Span | None:
        """The span of the compared word of one side; None for a whole text."""
        start, end = self.spans[pair, side].tolist()
        return None if start < 0 else (start, end)

    def word(self, pair: int, side: int) -> str:
        """The compared word itself; "" for a whole text."""
        span = self.span(pair, side)
        return "" if span is None else self.text(pair, side)[slice(*span)]


def pair_set(
    name: str,
    pairs: list[tuple[str, str]],
    *,
    spans: list[tuple[Span, Span]],
    rows: list[int],
    gold: list[int],
    split: list[int] | None,
    grades: list[float] | None = None,
    notes: tuple[str, ...] = (),
    are_triplets: bool = False,
    vectors: tuple[FileVectors, ...] | None = None,
) -> PairSet:
    """Build a `PairSet` from lists with one item for each pair."""
    numbers: dict[str, int] = {}
    sides = [[numbers.setdefault(text, len(numbers)) for text in pair] for pair in pairs]
    return PairSet(
        name=name,
        texts=tuple(numbers),
        sides=np.array(sides, np.int64).reshape(-1, 2),
        spans=np.array(spans, np.int64).reshape(-1, 2, 2),
        rows=np.array(rows, np.int64),
        gold=np.array(gold, np.int64),
        split=None if split is None else np.array(split, np.int64),
        grades=None if grades is None else np.array(grades, np.float64),
        notes=notes,
        are_triplets=are_triplets,
        vectors=vectors,
    )


# --- The bundled pairs

_N_EACH = 20
"""At most this many pairs of each kind, same and different, are drawn for each word."""
_EVERY = 2
"""Only every second sentence of each sense is used: half the work for nearly the same result."""


@lru_cache(maxsize=1)
def bundled_pairs() -> PairSet:
    """The example pairs, drawn with fixed seeds; half of the words train, the others test."""
    corpus = sample_corpus()
    spans = corpus.spans or ()
    senses = corpus.labels["sense"]
    members = defaultdict[str, list[int]](list)
    n_met: Counter[str] = Counter()
    for i, (word, sense) in enumerate(zip(corpus.labels["word"], senses, strict=True)):
        if n_met[sense] % _EVERY == 0:
            members[word].append(i)
        n_met[sense] += 1
    trained = set(sorted(members, key=_shuffled)[: len(members) // 2])
    chosen: list[tuple[int, int]] = []
    gold, split = list[int](), list[int]()
    for word, rows in members.items():
        for kind in (SAME, DIFFERENT):
            pairs = [
                (a, b) for a, b in combinations(rows, 2) if (senses[a] == senses[b]) == bool(kind)
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
    """A sort key unrelated to the words themselves, and stable when others are added."""
    return hashlib.sha256(word.encode()).hexdigest()
