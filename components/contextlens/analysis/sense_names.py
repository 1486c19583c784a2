"""Names for the meanings of a word's uses: the labelled sense whose centroid is nearest.

A use gets a name only if its margin, the cosine to the nearest centroid less that to the second, is
at least as high as the margins of held-out labelled uses of the same word of which `RIGHT` are
right. Two uses with different names have different meanings, two with one name have the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from contextlens.analysis.separation import (
    Separation,
    Trial,
    centroids,
    scaled,
    separation,
    trial_of,
    two_nearest,
    verdict_of,
)
from contextlens.core.schema import FloatArray, IntArray

__all__ = [
    "MIN_USES",
    "ONE_MEANING",
    "RIGHT",
    "Naming",
    "SenseNames",
    "Verdict",
    "centred_cosine",
    "meaning_of",
    "measure",
    "reliable_margin",
]

RIGHT = 0.9
"""The share of held-out uses that must be right among those with a margin that gives a name."""
_NAMED = 0.3
"""The smallest share of held-out uses that must get a name; with fewer, the layer gives none."""
MIN_USES = 5
"""The fewest labelled uses of a sense; rarer senses are left out."""
ONE_MEANING = 0.95
"""From this centred cosine on, two uses of a word count as one meaning.

Among natural pairs at the last layer of the bundled model, 97% have one sense (CoarseWSD-20), 89%
in Word in Context.
"""


class Verdict(Enum):
    """The conclusion on whether two uses of a word have the same meaning."""

    SAME = "same"
    DIFFERENT = "different"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True)
class Naming:
    """The sense of one use of a word.

    Attributes:
        nearest: the sense with the nearest centroid.
        margin: the cosine to its centroid less that to the second nearest.
        is_clear: True if the margin is high enough for a name.
    """

    nearest: str
    margin: float
    is_clear: bool

    @property
    def sense(self) -> str | None:
        """The name; None if the margin is too low."""
        return self.nearest if self.is_clear else None


@dataclass(frozen=True, eq=False)
class SenseNames:
    """The centroids of a word's labelled senses in one model.

    Attributes:
        senses: (n_senses,) names, at least two.
        centre: (n_layers, n_dims) float32, subtracted from every vector first.
        centroids: (n_layers, n_senses, n_dims) float32, of length 1.
        margins: (n_layers,) the lowest margin that gives a name; infinite if a layer gives none.
    """

    senses: NDArray[np.str_]
    centre: FloatArray
    centroids: FloatArray
    margins: FloatArray

    def fits(self, n_layers: int, n_dims: int) -> bool:
        """True if the arrays have the shapes of a model with layers 0 to `n_layers`."""
        return self.centre.shape == (n_layers + 1, n_dims)

    def name(self, vector: FloatArray, layer: int) -> Naming:
        """Return the sense of a use from its word vector (n_dims,) at a layer."""
        unit = scaled(vector - self.centre[layer])[None]
        first, _, best, second = two_nearest(unit, self.centroids[layer])
        margin = float(best[0] - second[0])
        return Naming(str(self.senses[first[0]]), margin, margin >= float(self.margins[layer]))

    def cosines_at(self, vector: FloatArray, layer: int) -> FloatArray:
        """(n_senses,) centred cosines of a use, (n_dims,), to each centroid at a layer."""
        cosines: FloatArray = self.centroids[layer] @ scaled(vector - self.centre[layer])
        return cosines

    def cosines(self, vectors: FloatArray) -> FloatArray:
        """(n_layers, n_senses) centred cosines of a use, (n_layers, n_dims), to each centroid."""
        units = scaled(vectors - self.centre)
        cosines: FloatArray = np.einsum("ld,lsd->ls", units, self.centroids)
        return cosines

    def similarities(self, vectors: FloatArray, layer: int) -> FloatArray:
        """(n, n) centred cosines of uses, (n, n_dims), with each other at a layer."""
        units = scaled(vectors - self.centre[layer])
        cosines: FloatArray = units @ units.T
        return cosines


def measure(
    labels: Sequence[str],
    vectors: FloatArray,
    centre: FloatArray,
    *,
    are_meanings: bool = True,
) -> SenseNames | None:
    """Return the names that labelled uses of a word support; None with fewer than two senses.

    Args:
        labels: the sense of each use.
        vectors: (n_uses, n_layers, n_dims) their word vectors.
        centre: (n_layers, n_dims) the mean word vector at each layer.
        are_meanings: False for labels that may have nothing to do with the word's meaning: they
            give no names unless the test that Senses shows separates them. With ten uses of one
            meaning and labels at random, a layer would give names in a quarter of the words.
    """
    counts = Counter(labels)
    trial = trial_of([label if counts[label] >= MIN_USES else "" for label in labels])
    if trial.problem:
        return None
    units = scaled(vectors - centre)
    layers = range(vectors.shape[1])
    tests = [separation(units[:, n], trial, n) for n in layers]
    if not are_meanings and verdict_of(tests, trial).state != "separate":
        return None
    return SenseNames(
        senses=np.array(trial.senses),
        centre=centre.astype(np.float32),
        centroids=np.stack(
            [centroids(units[:, n], trial.codes, len(trial.senses)) for n in layers]
        ),
        margins=np.array([_margin_of(test, trial) for test in tests], dtype=np.float32),
    )


def _margin_of(test: Separation, trial: Trial) -> float:
    codes = trial.codes[trial.tested]
    return reliable_margin(test.margins, test.predicted[trial.tested] == codes, codes)


def reliable_margin(margins: FloatArray, right: NDArray[np.bool_], codes: IntArray) -> float:
    """Return the lowest margin from which at least `RIGHT` of held-out uses are right.

    All senses weigh the same. It is infinite if less than `_NAMED` of the uses reach such a margin,
    and never 0, since a use between two senses has no name.

    Args:
        margins: (n,) those of held-out uses.
        right: (n,) True where the nearest centroid is that of the use's own sense.
        codes: (n,) the number of each use's sense.
    """
    weights = 1 / np.bincount(codes)[codes]
    order = np.argsort(-margins, kind="stable")
    named = weights[order].cumsum()
    reliable = (weights * right)[order].cumsum() >= RIGHT * named - 1e-9
    reliable &= (named >= _NAMED * weights.sum()) & (margins[order] > 0)
    ends = np.flatnonzero(reliable)
    return float(margins[order][ends[-1]]) if len(ends) else float("inf")


def centred_cosine(first: FloatArray, second: FloatArray, centre: FloatArray) -> float:
    """Return the cosine of two word vectors less the mean word vector, each (n_dims,)."""
    one, other = scaled(np.stack([first, second]) - centre)
    return float(one @ other)


def meaning_of(first: Naming, second: Naming, centred_cosine: float) -> Verdict:
    """Return the conclusion on whether two uses of a word have the same meaning."""
    if centred_cosine >= ONE_MEANING:
        return Verdict.SAME
    if not (first.is_clear and second.is_clear):
        return Verdict.CANNOT_TELL
    return Verdict.SAME if first.nearest == second.nearest else Verdict.DIFFERENT
