"""How far a map can be trusted, in a word and a sentence, from what its honesty report measured.

Every measure is read beside what a map drawn at random would get: a trustworthiness of 0.5 is not
half right but nothing at all, and with few points a random map keeps many neighbours. Distances
from chance to a perfect map, in equal parts, set the bounds: the rescaled recall is the R_NX of
Lee, Renard, Bernard, Dupont and Verleysen (2013); trustworthiness and continuity (Venna and Kaski
2001) are rescaled the same way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from components.content.wording import bold, percent, two
from components.maps.honesty import Honesty

__all__ = [
    "FEW",
    "SMALL",
    "StabilityNumbers",
    "Verdict",
    "VerdictWord",
    "chance_recall",
    "chance_trustworthiness",
    "verdict",
]

VerdictWord = Literal["trust", "care", "doubt", "few"]

FEW = 15
"""Below this many points no neighbours are measured: PCA is drawn."""
SMALL = 50
"""Below this many points neighbour measures say little, so a map is never simply trusted."""
_GOOD = 0.8
_HALF = 0.5
_POOR = 0.1
_MANY = 0.05
"""Share of points whose nearest are open, from which this is said."""


class StabilityNumbers(Protocol):
    """How maps of several seeds differ."""

    @property
    def seeds(self) -> Sequence[int]: ...  # noqa: D102
    @property
    def disparities(self) -> Sequence[float]: ...  # noqa: D102
    @property
    def shared_neighbors(self) -> float: ...  # noqa: D102


@dataclass(frozen=True)
class Verdict:
    """How far a picture can be trusted.

    Attributes:
        word: "trust", "care", "doubt", or "few" where there is too little to measure.
        said: one sentence with the numbers.
        notes: what else to know before reading nearness off the picture, a sentence each.
    """

    word: VerdictWord
    said: str
    notes: tuple[str, ...] = ()


def chance_recall(n: int, k: int) -> float:
    """Of a point's k true neighbours, the share that a random map of n points keeps near."""
    return min(1.0, k / (n - 1)) if n > 1 else 1.0


def chance_trustworthiness(n: int, k: int) -> float:
    """The mean trustworthiness (and continuity) of random maps of n points; 0.5 for many.

    A random neighbour's true rank is any of 1 to n - 1 alike, which gives the mean of the excess
    ranks that the measure adds up.
    """
    if not 0 < k < n / 2:
        return math.nan
    return 1 - (n - k) * (n - 1 - k) / ((n - 1) * (2 * n - 3 * k - 1))


def verdict(
    honesty: Honesty | None,
    stability: StabilityNumbers | None = None,
    *,
    n_points: int,
    n_identical: int = 0,
) -> Verdict:
    """How far a map can be trusted to draw near what is near in the full space.

    "trust" where trustworthiness and continuity reach 0.8 of the way from chance to perfect (0.9
    as written) and half of the neighbours beyond chance are kept; "doubt" where either stays below
    half of the way, or less than a tenth of the neighbours beyond chance is kept; "care" between.
    A map of few points, or one that another seed draws otherwise, gets "care" at best.

    Args:
        honesty: what was measured; None where there were too few points to measure.
        stability: how maps of several seeds differ, where they were drawn.
        n_points: points on the map.
        n_identical: points at distance 0 from another one.
    """
    if honesty is None or n_points < FEW or not 0 < honesty.k < n_points / 2:
        return _few(n_points, n_identical)
    if honesty.is_flat:
        return Verdict("few", _flat(n_points))
    measured = _level(honesty, n_points)
    held = n_points >= SMALL and not _wavers(stability, n_points, honesty.k)
    word: VerdictWord = measured if held or measured != "trust" else "care"
    notes = (
        _weaker(honesty, n_points),
        _small(honesty, n_points),
        _sampled(honesty, n_points),
        _tied(honesty),
        _identical(n_identical),
        _steady(stability),
    )
    return Verdict(word, _said(honesty, word, n_points), tuple(note for note in notes if note))


def _above(value: float, chance: float) -> float:
    """How much of the way from chance to 1 a measure reaches."""
    return (value - chance) / (1 - chance) if chance < 1 else 0.0


def _level(honesty: Honesty, n: int) -> VerdictWord:
    chance = chance_trustworthiness(n, honesty.k)
    worse = _above(min(honesty.trustworthiness, honesty.continuity), chance)
    kept = _above(honesty.recall, chance_recall(n, honesty.k))
    if worse >= _GOOD and kept >= _HALF:
        return "trust"
    return "doubt" if worse < _HALF or kept < _POOR else "care"


def _said(honesty: Honesty, word: VerdictWord, n: int) -> str:
    lead = {
        "trust": "Near points are mostly truly near",
        "care": "Read nearness with care",
        "doubt": "Do not read nearness off this picture",
    }[word]
    return (
        f"{lead}: of the **{honesty.k}** nearest in the full space, "
        f"**{percent(honesty.recall)}** are among the {honesty.k} nearest on the map "
        f"(by chance {percent(chance_recall(n, honesty.k))})."
    )


def _few(n: int, n_identical: int) -> Verdict:
    points = "**1** point is" if n == 1 else f"**{n}** points are"
    said = (
        f"{points} too few to measure how far the picture can be trusted: read exact cosines "
        "instead."
    )
    note = _identical(n_identical)
    return Verdict("few", said, (note,) if note else ())


def _flat(n: int) -> str:
    return (
        f"Nothing can be told apart: all distances between the **{n:,}** points are equal in the "
        "full space, so whatever is near on the map says nothing."
    )


def _weaker(honesty: Honesty, n: int) -> str:
    """A sentence on the worse of trustworthiness and continuity, where it is not good."""
    chance = chance_trustworthiness(n, honesty.k)
    false_near = honesty.trustworthiness <= honesty.continuity
    value = honesty.trustworthiness if false_near else honesty.continuity
    if _above(value, chance) >= _GOOD:
        return ""
    what = "Some points are drawn near that are not" if false_near else "Some near points lie apart"
    name = "trustworthiness" if false_near else "continuity"
    return f"{what}: {name} {bold(value)}, where chance gives {two(chance)}."


def _small(honesty: Honesty, n: int) -> str:
    if n >= SMALL:
        return ""
    chance = percent(chance_recall(n, honesty.k))
    return f"With only **{n}** points such measures say little: a random map keeps {chance} too."


def _sampled(honesty: Honesty, n: int) -> str:
    if honesty.n_measured >= n:
        return ""
    return f"Measured on a sample of **{honesty.n_measured:,}** of the {n:,} points."


def _tied(honesty: Honesty) -> str:
    if honesty.n_tied < _MANY * honesty.n_measured:
        return ""
    return (
        f"For **{percent(honesty.n_tied / honesty.n_measured)}** of points, equal distances leave "
        f"open which are the {honesty.k} nearest: measures are means over all orders of equals."
    )


def _identical(n: int) -> str:
    if not n:
        return ""
    return f"**{n:,}** points are at distance 0 from another one: no map can tell these apart."


def _wavers(stability: StabilityNumbers | None, n: int, k: int) -> bool:
    if stability is None:
        return False
    return _above(stability.shared_neighbors, chance_recall(n, k)) < _HALF


def _steady(stability: StabilityNumbers | None) -> str:
    """What stays from seed to seed: neighbours, and, after turning, the whole arrangement."""
    if stability is None or len(stability.seeds) < 2:
        return ""
    alike = 1 - max(stability.disparities)
    return (
        f"Drawn with **{len(stability.seeds)}** seeds, points keep "
        f"**{percent(stability.shared_neighbors)}** of their neighbours on the map; turned onto "
        f"each other, the two drawings least alike share **{percent(alike)}** of their layout."
    )
