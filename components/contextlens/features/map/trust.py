"""The quality of a map, from its measurements.

Every measure is read beside that of a random map: a trustworthiness of 0.5 is not half right but
worthless, and with few points a random map keeps many neighbours. The bounds are shares of the way
from chance to a perfect map: the rescaled recall is the R_NX of Lee, Renard, Bernard, Dupont and
Verleysen (2013); trustworthiness and continuity (Venna and Kaski 2001) are rescaled the same way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from contextlens.content.language import Claim, claim
from contextlens.maps.map_quality import MapQuality
from contextlens.maps.neighbors import Neighbors
from contextlens.maps.stability import Stability

TrustState = Literal["trust", "care", "doubt", "few", "flat"]

FEW = 15
"""Below this many points no neighbours are measured, and PCA is drawn."""
SMALL = 50
"""Below this many points neighbour measures say little, so a map is never fully trusted."""
SAME_DISTANCE = 1e-6
"""Distances up to this count as 0; Euclidean ones relative to the largest to a neighbour."""
_GOOD = 0.8
_HALF = 0.5
_POOR = 0.1
_MANY = 0.05
"""The share of points with ambiguous nearest neighbours from which a note says so."""
_MOST_NOTES = 4


@dataclass(frozen=True)
class Trust:
    """The quality of a map.

    Attributes:
        state: "trust", "care" or "doubt"; "few" if there is too little to measure, "flat" if all
            distances are equal.
        claim: the finding with its numbers.
        notes: cautions for reading nearness off the map.
    """

    state: TrustState
    claim: Claim
    notes: tuple[Claim, ...] = ()


def chance_recall(n: int, k: int) -> float:
    """The share of a point's k true neighbours that a random map of n points keeps near."""
    return min(1.0, k / (n - 1)) if n > 1 else 1.0


def chance_trustworthiness(n: int, k: int) -> float:
    """The mean trustworthiness (and continuity) of random maps of n points; 0.5 for many.

    A random neighbour's true rank is uniform from 1 to n - 1, which gives the mean of the excess
    ranks that the measure adds up.
    """
    if not 0 < k < n / 2:
        return math.nan
    return 1 - (n - k) * (n - 1 - k) / ((n - 1) * (2 * n - 3 * k - 1))


def count_equal(neighbors: Neighbors) -> int:
    """The number of points at distance 0 from another one, apart from float32 rounding."""
    far = neighbors.distances
    unit = 1.0 if neighbors.metric == "cosine" else float(far.max(initial=0.0))
    return int((far <= SAME_DISTANCE * unit)[:, :1].sum())


def trust_of(
    quality: MapQuality | None,
    stability: Stability | None = None,
    *,
    n_points: int,
    n_equal: int = 0,
) -> Trust:
    """The verdict on whether a map draws near what is near in the full space.

    "trust" if trustworthiness and continuity reach 0.8 of the way from chance to perfect (0.9
    as displayed) and half of the neighbours beyond chance are kept; "doubt" if either is below
    half of the way, or less than a tenth of the neighbours beyond chance is kept; else "care".
    A map with few points, or one that another seed draws differently, gets "care" at best.

    Args:
        quality: the measurements; None if there were too few points to measure.
        stability: the differences between maps of several seeds, if they were drawn.
        n_points: the number of points on the map.
        n_equal: the number of points at distance 0 from another one.
    """
    if quality is None or n_points < FEW or not 0 < quality.k < n_points / 2:
        return Trust("few", claim("map.trust.few", n=n_points), _equal_note(n_equal))
    if quality.is_flat:
        return Trust("flat", claim("map.trust.flat", n=n_points))
    state = _level(quality, n_points)
    if state == "trust" and (n_points < SMALL or _wavers(stability, n_points, quality.k)):
        state = "care"
    finding = claim(
        f"map.trust.{state}",
        k=quality.k,
        recall=quality.recall,
        chance=chance_recall(n_points, quality.k),
    )
    notes = (
        *_steady(stability),
        *_weaker(quality, n_points),
        *_measured(quality, n_points),
        *_equal_note(n_equal),
        *_tied(quality),
    )
    return Trust(state, finding, notes[:_MOST_NOTES])


def _above(value: float, chance: float) -> float:
    """The share of the way from chance to 1 that a measure reaches."""
    return (value - chance) / (1 - chance) if chance < 1 else 0.0


def _level(quality: MapQuality, n: int) -> TrustState:
    chance = chance_trustworthiness(n, quality.k)
    worse = _above(min(quality.trustworthiness, quality.continuity), chance)
    recall = _above(quality.recall, chance_recall(n, quality.k))
    if worse >= _GOOD and recall >= _HALF:
        return "trust"
    return "doubt" if worse < _HALF or recall < _POOR else "care"


def _wavers(stability: Stability | None, n: int, k: int) -> bool:
    if stability is None:
        return False
    return _above(stability.shared_neighbors, chance_recall(n, k)) < _HALF


def _steady(stability: Stability | None) -> tuple[Claim, ...]:
    """The agreement between seeds: neighbours, and, after rotation, the whole arrangement."""
    if stability is None or len(stability.seeds) < 2:
        return ()
    shared, differ = stability.shared_neighbors, max(stability.disparities)
    return (claim("map.trust_sure.seeds", n=len(stability.seeds), shared=shared, disparity=differ),)


def _weaker(quality: MapQuality, n: int) -> tuple[Claim, ...]:
    """The worse of trustworthiness and continuity, if it is not good."""
    chance = chance_trustworthiness(n, quality.k)
    case = "false_near" if quality.trustworthiness <= quality.continuity else "drawn_apart"
    value = min(quality.trustworthiness, quality.continuity)
    if _above(value, chance) >= _GOOD:
        return ()
    return (claim(f"map.trust_sure.{case}", value=value, chance=chance),)


def _measured(quality: MapQuality, n: int) -> tuple[Claim, ...]:
    """A note that few points were measured, or only some of many."""
    if n < SMALL:
        return (claim("map.trust_sure.small", n=n),)
    if quality.n_measured < n:
        return (claim("map.trust_sure.sampled", n=quality.n_measured, total=n),)
    return ()


def _equal_note(n: int) -> tuple[Claim, ...]:
    return (claim("map.trust_sure.equal", n=n),) if n else ()


def _tied(quality: MapQuality) -> tuple[Claim, ...]:
    if quality.n_tied < _MANY * quality.n_measured:
        return ()
    share = quality.n_tied / quality.n_measured
    return (claim("map.trust_sure.tied", share=share, k=quality.k),)
