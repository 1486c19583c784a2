"""One comparison with what a user would pick instead, and whether we fall behind in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Literal

import numpy as np

__all__ = ["INSTALL", "Group", "Missing", "Row", "Verdict"]

INSTALL = "pip install -e .[bench]"
Verdict = Literal["ahead", "level", "BEHIND"]


@dataclass(frozen=True)
class Row:
    """One task, done by Contextlens and by a peer in turns, in one run.

    Attributes:
        task: what both did, in a reader's words.
        peer: who else, with the packages whose versions matter.
        ours, theirs: the measurement of each round; both did round i side by side.
        unit: of both.
        better: whether less or more of it is better.
        slack: how much worse than the peer still counts as level, in the unit.
        packages: of the peer, whose versions the table names.
    """

    task: str
    peer: str
    ours: tuple[float, ...]
    theirs: tuple[float, ...]
    unit: str = "s"
    better: Literal["less", "more"] = "less"
    slack: float = 0.0
    packages: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.ours or len(self.ours) != len(self.theirs):
            raise ValueError(f"{self.task}: {len(self.ours)} and {len(self.theirs)} rounds.")
        if min(*self.ours, *self.theirs) <= 0:
            raise ValueError(f"{self.task}: what is measured must be above 0.")

    @property
    def ratios(self) -> tuple[float, ...]:
        """Our result relative to the peer's in each round."""
        pairs = zip(self.ours, self.theirs, strict=True)
        if self.better == "less":
            return tuple(theirs / ours for ours, theirs in pairs)
        return tuple(ours / theirs for ours, theirs in pairs)

    @property
    def ratio(self) -> float:
        """The median of its rounds."""
        return median(self.ratios)

    @property
    def verdict(self) -> Verdict:
        """Ahead or behind if the middle half of the rounds is, else level.

        Being behind by no more than the slack is level, too.
        """
        low, high = np.quantile(self.ratios, [0.25, 0.75])
        if low > 1:
            return "ahead"
        worse = median(self.ours) - median(self.theirs)
        worse = worse if self.better == "less" else -worse
        return "BEHIND" if high < 1 and worse > self.slack else "level"


@dataclass(frozen=True)
class Missing:
    """A peer that could not be asked, and what to do about it."""

    peer: str
    remedy: str


@dataclass(frozen=True)
class Group:
    """A comparison's results.

    Attributes:
        rows: of the table.
        missing: peers that are not installed.
        others: share of the machine that other programs took meanwhile, 0 to 1.
    """

    rows: Sequence[Row]
    missing: Sequence[Missing] = field(default=())
    others: float = 0.0
