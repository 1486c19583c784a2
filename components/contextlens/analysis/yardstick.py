"""The random pairs of words that a compared pair is measured against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contextlens.analysis.baseline import Band, Baseline, is_in_sample_script, kind_of
from contextlens.analysis.similarity import Pair
from contextlens.analysis.words import Pooling

__all__ = ["Yardstick"]


@dataclass(frozen=True, eq=False)
class Yardstick:
    """The random pairs that each pair of some words is measured against.

    Attributes:
        words: the words as written.
        n_pieces: the number of tokens of each word.
    """

    baseline: Baseline
    pooling: Pooling
    centred: bool
    words: tuple[str, ...]
    n_pieces: tuple[int, ...]

    def of(self, pair: Pair) -> Band | None:
        """Return the band of a pair's kind; None for words outside the sample's script."""
        ours, theirs = pair.first, pair.second
        if not all(is_in_sample_script(self.words[i]) for i in (ours, theirs)):
            return None
        kind = kind_of(self.n_pieces[ours], self.n_pieces[theirs])
        return self.baseline.band(self.pooling, centred=self.centred, kind=kind)

    def shared(self, pairs: Sequence[Pair]) -> Band | None:
        """Return one band for several pairs: that of their common kind, or else of all words."""
        bands = [band for band in map(self.of, pairs) if band is not None]
        if not bands:
            return None
        if len({band.of for band in bands}) == 1:
            return bands[0]
        return self.baseline.band(self.pooling, centred=self.centred)
