"""The sentence vectors of a text, their cosines, and what a nearest neighbour says of a label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contextlens.analysis.separation import RISK, cosine_table, wilson
from contextlens.core.schema import Encoding, FloatArray, IntArray, ModelCard
from contextlens.maps.vectors import RECIPE, sentence_vectors

LAST_FOUR = "last_four"
POOLINGS = ("cls", "mean", "own", "max", "pooler", LAST_FOUR, RECIPE)
"""Ways to make one vector of a text, in the order of the page."""
_N_LAST = 4

Bools = NDArray[np.bool_]


def poolings_of(card: ModelCard) -> tuple[str, ...]:
    """The ways that a model offers: the pooler if it is trained, a recipe if there is one."""
    left_out = set()
    if card.provenance.pooler.state != "trained":
        left_out.add("pooler")
    if card.recipe is None:
        left_out.add(RECIPE)
    return tuple(pooling for pooling in POOLINGS if pooling not in left_out)


def layers_of(card: ModelCard) -> tuple[int, ...]:
    """The last four layers; fewer if the model has fewer."""
    return tuple(range(max(1, card.n_layers + 1 - _N_LAST), card.n_layers + 1))


def vectors_of(encoding: Encoding, poolings: Sequence[str]) -> dict[str, FloatArray]:
    """A text's vector (n_dims,) by each way but the model's own recipe.

    Args:
        encoding: the text at the layers of `layers_of`.
        poolings: some of `POOLINGS`.
    """
    vectors: dict[str, FloatArray] = {}
    for pooling in poolings:
        if pooling == LAST_FOUR:
            vectors[pooling] = sentence_vectors(encoding, "mean").mean(axis=0)
        elif pooling != RECIPE:
            vectors[pooling] = sentence_vectors(encoding, pooling)[-1]
    return vectors


def shares_below(cosines: FloatArray, random: FloatArray) -> FloatArray:
    """The share of random pairs with a lower cosine, for each cosine; equal ones count half.

    Args:
        cosines: of any shape.
        random: (n, n) cosines of unrelated texts with each other.
    """
    known = np.sort(random[np.triu_indices(len(random), 1)])
    places = np.searchsorted(known, cosines, "left") + np.searchsorted(known, cosines, "right")
    shares: FloatArray = (places / (2 * len(known))).astype(np.float32)
    return shares


@dataclass(frozen=True)
class Disagreement:
    """The pair of texts about whose place among all pairs the ways disagree most.

    Attributes:
        pair: the two texts' places, the first before the second.
        ranks: the pair's rank by each way, from 1 for the most similar pair.
        n_pairs: the number of pairs.
    """

    pair: tuple[int, int]
    ranks: tuple[int, ...]
    n_pairs: int

    @property
    def best(self) -> int:
        """The pair's rank by the way that finds it most similar."""
        return min(self.ranks)

    @property
    def worst(self) -> int:
        """The pair's rank by the way that finds it least similar; `best` if all agree."""
        return max(self.ranks)


def disagreement(cosines: FloatArray) -> Disagreement:
    """The largest disagreement of (n_ways, n, n) cosines; of equal ones the first pair's.

    Cosines of different ways cannot be compared, but the order of their pairs can. Ranks are
    compared by their ratio, as 1 and 3 differ more than 11 and 15: a search shows the first ones.
    """
    from scipy.stats import rankdata

    first, second = np.triu_indices(cosines.shape[1], 1)
    ranks = rankdata(-cosines[:, first, second], method="min", axis=1).astype(int)
    at = int((ranks.max(axis=0) / ranks.min(axis=0)).argmax())
    return Disagreement((int(first[at]), int(second[at])), tuple(ranks[:, at].tolist()), len(first))


def nearest(cosines: FloatArray) -> IntArray:
    """(n,) the other text that is nearest to each, from (n, n) cosines."""
    others = np.where(np.eye(len(cosines), dtype=bool), -np.inf, cosines)
    places: IntArray = others.argmax(axis=1)
    return places


@dataclass(frozen=True, eq=False)
class Accuracy:
    """How often the nearest other text has the same label, by one way.

    Attributes:
        pooling: the way.
        right: (n,) bool for each tested text: those whose label another text has, too.
        interval: the 95% interval of the share.
        is_worse: True if the best way is better on these texts by more than chance explains, by
            an exact sign test with Bonferroni's correction.
    """

    pooling: str
    right: Bools
    interval: tuple[float, float]
    is_worse: bool = False

    @property
    def share(self) -> float:
        """The share of texts that are right."""
        return float(self.right.mean())


def accuracies(
    units: Mapping[str, FloatArray], labels: Sequence[str]
) -> tuple[tuple[Accuracy, ...], float]:
    """The accuracy by each way, best first, and that of always guessing the commonest label.

    Each text is held out in turn and gets the label of the nearest other one (leave-one-out). A
    text with a label of its own is not tested.

    Args:
        units: (n, n_dims) scaled vectors by way.
        labels: one for each text.
    """
    counts = Counter(labels)
    tested = np.array([counts[label] > 1 for label in labels])
    codes = np.unique(np.array(labels), return_inverse=True)[1]
    rights = {
        pooling: (codes[nearest(cosine_table(vectors))] == codes)[tested]
        for pooling, vectors in units.items()
    }
    order = sorted(rights, key=lambda pooling: -int(rights[pooling].sum()))
    first, n = rights[order[0]], int(tested.sum())
    found = tuple(
        Accuracy(
            pooling,
            right,
            wilson(int(right.sum()), n),
            _is_worse(first, right, RISK / max(1, len(order) - 1)),
        )
        for pooling, right in ((pooling, rights[pooling]) for pooling in order)
    )
    return found, max(counts.values()) / n


def _is_worse(best: Bools, right: Bools, risk: float) -> bool:
    from scipy.stats import binomtest

    won, lost = int((best & ~right).sum()), int((right & ~best).sum())
    return won > lost and float(binomtest(won, won + lost).pvalue) < risk
