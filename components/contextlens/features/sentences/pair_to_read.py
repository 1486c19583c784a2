"""The pair to read: the one about which two ways of making a vector disagree most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from contextlens.content.language import Claim, claim, say
from contextlens.core.schema import FloatArray
from contextlens.features.sentences.vectors import name_of, title_of
from contextlens.ui.panel import Panel, Rows


@dataclass(frozen=True)
class PairToRead(Panel):
    """Two texts about whose place among all pairs the ways disagree most.

    Attributes:
        pair: the two texts' indices, the first before the second.
        names: their letters.
        poolings: the ways.
        cosines: the pair's cosine by each way.
        ranks: the pair's rank by each way, from 1 for the most similar pair.
        n_pairs: the number of pairs.
    """

    pair: tuple[int, int]
    names: tuple[str, str]
    poolings: Sequence[str]
    cosines: Sequence[float]
    ranks: Sequence[int]
    n_pairs: int

    @property
    def all_agree(self) -> bool:
        """True if the pair has the same rank by every way."""
        return min(self.ranks) == max(self.ranks)

    def claims(self) -> list[Claim]:
        """The pair, and its ranks by the two ways that disagree most about it."""
        if self.all_agree:
            return [claim("sentences.pair.only", first=self.names[0], second=self.names[1])]
        return [self.ranking("sentences.pair.title")]

    def ranking(self, key: Literal["sentences.pair.title", "sentences.claim.disagree"]) -> Claim:
        """A sentence on the ranks by the two ways that disagree most."""
        best, worst = min(self.ranks), max(self.ranks)
        return claim(
            key,
            first=self.names[0],
            second=self.names[1],
            best=best,
            worst=worst,
            n=self.n_pairs,
            high=name_of(self.poolings[self.ranks.index(best)]),
            low=name_of(self.poolings[self.ranks.index(worst)]),
        )

    def rows(self) -> Rows:
        """The pair's cosine and rank by each way."""
        columns = zip(self.poolings, self.cosines, self.ranks, strict=True)
        return [
            {
                say("sentences.pair.vector"): title_of(pooling),
                say("sentences.pair.cosine"): cosine,
                say("sentences.pair.rank"): rank,
            }
            for pooling, cosine, rank in columns
        ]


def pair_to_read(cosines: FloatArray, poolings: Sequence[str], names: Sequence[str]) -> PairToRead:
    """The largest disagreement of (n_ways, n, n) cosines; of equal ones the first pair's.

    Cosines of different ways cannot be compared, but the order of their pairs can. Ranks are
    compared by their ratio, as 1 and 3 differ more than 11 and 15: a search shows the first ones.
    """
    from scipy.stats import rankdata

    first, second = np.triu_indices(cosines.shape[1], 1)
    ranks = rankdata(-cosines[:, first, second], method="min", axis=1).astype(int)
    at = int((ranks.max(axis=0) / ranks.min(axis=0)).argmax())
    i, j = int(first[at]), int(second[at])
    return PairToRead(
        pair=(i, j),
        names=(names[i], names[j]),
        poolings=poolings,
        cosines=cosines[:, i, j].tolist(),
        ranks=ranks[:, at].tolist(),
        n_pairs=len(first),
    )
