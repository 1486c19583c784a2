"""The trust that a map deserves: a verdict on its measured quality, its claims and its table.

Every measure is read beside that of a random map: a trustworthiness of 0.5 is not half right but
worthless, and with few points a random map keeps many neighbours. The bounds are shares of the way
from chance to a perfect map: the rescaled recall is the R_NX of Lee, Renard, Bernard, Dupont and
Verleysen (2013); trustworthiness and continuity (Venna and Kaski 2001) are rescaled the same way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from contextlens.content.language import Claim, claim
from contextlens.maps.map_quality import MapQuality
from contextlens.maps.neighbors import EXACT_UP_TO, N_CHECKED, Neighbors
from contextlens.maps.stability import Stability
from contextlens.ui.panel import Panel, Rows

FORMULA = r"""
**Trustworthiness** (Venna and Kaski 2001). Of $n$ points, let $U_k(i)$ be those among the $k$
nearest of $i$ on the map but not in the full space, and $r(i, j)$ the rank of $j$ among the
neighbours of $i$ in the full space, 1 for the nearest:

$$T(k) = 1 - \frac{2}{n k (2n - 3k - 1)} \sum_{i=1}^{n} \sum_{j \in U_k(i)} (r(i, j) - k)$$

**Continuity** is the same the other way round: $V_k(i)$ holds those among the $k$ nearest in the
full space but not on the map, and $\hat r(i, j)$ is the rank on the map:

$$C(k) = 1 - \frac{2}{n k (2n - 3k - 1)} \sum_{i=1}^{n} \sum_{j \in V_k(i)} (\hat r(i, j) - k)$$

They need $k < n / 2$. Both are 1 for a perfect map and about one half, not 0, for a random one:

$$T_{\mathrm{chance}} = 1 - \frac{(n - k)(n - 1 - k)}{(n - 1)(2n - 3k - 1)}$$

**Neighbour recall.** With $N_k(i)$ the $k$ nearest in the full space and $M_k(i)$ those on the map:

$$
R(k) = \frac{1}{n k} \sum_{i=1}^{n} |N_k(i) \cap M_k(i)| \qquad
R_{\mathrm{chance}} = \frac{k}{n - 1}
$$

Where distances are equal, it is open which points are the $k$ nearest and what a rank is. All three
measures are then means over all orders of equals, on the map and in the full space: a point that
ties with others for some of the last places among the $k$ counts in part, and a rank is averaged
over the places that its equals share. A map gains nothing by ties, and where all distances are
equal it is worth what chance gives. scikit-learn takes one such order; without ties its
trustworthiness is the same. On the map Euclidean distances count.

**The verdict** counts how far a measure $m$ gets from chance towards 1,
$(m - m_{\mathrm{chance}}) / (1 - m_{\mathrm{chance}})$ (for recall this is $R_{NX}$ of Lee et al.
2013). A map is to be trusted where the lower of trustworthiness and continuity gets 0.8 of the way
and recall half of it; it is doubtful where the former stays below half, or the latter below a
tenth; in between, and with fewer than 50 points, it asks for care. These bounds are a convention.

**Procrustes disparity** of two maps $Y$ and $Z$ of the same points, each with its mean taken off
and scaled to $\lVert Y \rVert_F = \lVert Z \rVert_F = 1$, is what is left when one of them is
turned, mirrored and scaled onto the other, from 0 (the same) to 1:

$$\min_{s, \; Q^\top Q = I} \lVert Y - s \, Z Q \rVert_F^2$$
""".strip()

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
_MAX_CAUTIONS = 4


@dataclass(frozen=True, eq=False)
class Trust(Panel):
    """The trust that a map deserves.

    Attributes:
        state: "trust", "care" or "doubt"; "few" if there is too little to measure, "flat" if all
            distances are equal.
        claim: the finding with its numbers.
        cautions: for reading nearness off the map.
        quality: the measurements; None if there were too few points.
    """

    state: TrustState
    claim: Claim
    cautions: tuple[Claim, ...] = ()
    quality: MapQuality | None = None

    def claims(self) -> Sequence[Claim]:
        """Return the finding."""
        return (self.claim,)

    def sure(self) -> Sequence[Claim]:
        """Return the cautions."""
        return self.cautions

    def rows(self) -> Rows:
        """Return the measures, each from 0 to 1."""
        quality = self.quality
        if quality is None:
            return ()
        measures = {
            "trustworthiness": quality.trustworthiness,
            "continuity": quality.continuity,
            f"recall of {quality.k}": quality.recall,
        }
        return [{"measure": name, "0 to 1": value} for name, value in measures.items()]


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
    found: float | None = None,
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
        found: the share of the true neighbours that the search found; None if it was exact.
    """
    if quality is None or n_points < FEW or not 0 < quality.k < n_points / 2:
        few = claim("map.trust.few", n=n_points)
        return Trust("few", few, _equal_note(n_equal), quality)
    if quality.is_flat:
        return Trust("flat", claim("map.trust.flat", n=n_points), quality=quality)
    state = _level(quality, n_points)
    if state == "trust" and (n_points < SMALL or _wavers(stability, n_points, quality.k)):
        state = "care"
    finding = claim(
        f"map.trust.{state}",
        k=quality.k,
        recall=quality.recall,
        chance=chance_recall(n_points, quality.k),
    )
    cautions = (
        *_steady(stability),
        *_weaker(quality, n_points),
        *_measured(quality, n_points),
        *_found(found),
        *_equal_note(n_equal),
        *_tied(quality),
    )
    return Trust(state, finding, cautions[:_MAX_CAUTIONS], quality)


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


def _found(share: float | None) -> tuple[Claim, ...]:
    if share is None:
        return ()
    return (claim("map.trust_sure.approximate", most=EXACT_UP_TO, share=share, n=N_CHECKED),)


def _equal_note(n: int) -> tuple[Claim, ...]:
    return (claim("map.trust_sure.equal", n=n),) if n else ()


def _tied(quality: MapQuality) -> tuple[Claim, ...]:
    if quality.n_tied < _MANY * quality.n_measured:
        return ()
    share = quality.n_tied / quality.n_measured
    return (claim("map.trust_sure.tied", share=share, k=quality.k),)
