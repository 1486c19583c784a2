"""Pairs of texts to compare: each text once, the compared words, and what is known of each pair."""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from components.core.schema import IntArray
from components.core.words import Span
from components.features.pairs.measures import UNKNOWN

__all__ = ["WHOLE", "PairSet", "pair_set"]

WHOLE = (-1, -1)
"""In place of a word's span: the whole text."""
_BATCH = 200  # texts that are packed at once


@dataclass(frozen=True, eq=False)
class PairSet:
    """Pairs of texts.

    Attributes:
        name: what to call them: a file's name, or the title of what ships with the app.
        texts: each different text once.
        sides: (n_pairs, 2) int64, the texts of each pair.
        spans: (n_pairs, 2, 2) int64, the compared word of each side in code points, or `WHOLE`.
        rows: (n_pairs,) int64, the row of the file that each pair was, from 1.
        gold: (n_pairs,) int64, SAME, DIFFERENT or UNKNOWN.
        split: (n_pairs,) int64, TRAIN, TEST or NEITHER; None where none is given.
        notes: what was decided or left out, in a sentence each.
    """

    name: str
    texts: tuple[str, ...]
    sides: IntArray
    spans: IntArray
    rows: IntArray
    gold: IntArray
    split: IntArray | None
    notes: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """How many pairs there are."""
        return len(self.sides)

    @property
    def has_words(self) -> bool:
        """Whether words are compared, not whole texts."""
        return bool((self.spans >= 0).any())

    @property
    def has_labels(self) -> bool:
        """Whether anything is known of a pair."""
        return bool((self.gold != UNKNOWN).any())

    @cached_property
    def key(self) -> str:
        """SHA-256 of all that is in it, hex."""
        found = hashlib.sha256()
        for start in range(0, len(self.texts), _BATCH):
            packed = json.dumps(self.texts[start : start + _BATCH])
            found.update(packed.encode("utf-8", "surrogatepass"))
        for array in (self.sides, self.spans, self.rows, self.gold, self.split):
            found.update(b"none" if array is None else array.tobytes())
        found.update(json.dumps([self.name, self.notes]).encode("utf-8", "surrogatepass"))
        return found.hexdigest()

    @cached_property
    def n_bytes(self) -> int:
        """The memory that it takes."""
        arrays = (self.sides, self.spans, self.rows, self.gold, self.split)
        n = sum(array.nbytes for array in arrays if array is not None)
        return n + sum(map(sys.getsizeof, self.texts)) + 8 * len(self.texts)

    def text(self, pair: int, side: int) -> str:
        """The text of one side of a pair."""
        return self.texts[int(self.sides[pair, side])]

    def span(self, pair: int, side: int) -> Span | None:
        """The compared word of one side; None for the whole text."""
        start, end = self.spans[pair, side].tolist()
        return None if start < 0 else (start, end)

    def word(self, pair: int, side: int) -> str:
        """The compared word itself; "" for the whole text."""
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
    notes: tuple[str, ...] = (),
) -> PairSet:
    """Pairs from lists, a value for each pair."""
    places: dict[str, int] = {}
    sides = [[places.setdefault(text, len(places)) for text in pair] for pair in pairs]
    return PairSet(
        name=name,
        texts=tuple(places),
        sides=np.array(sides, np.int64).reshape(-1, 2),
        spans=np.array(spans, np.int64).reshape(-1, 2, 2),
        rows=np.array(rows, np.int64),
        gold=np.array(gold, np.int64),
        split=None if split is None else np.array(split, np.int64),
        notes=notes,
    )
