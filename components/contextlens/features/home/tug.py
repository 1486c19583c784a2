"""The tug-of-war: each use of a word on a line between two senses, or between two references."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contextlens.analysis.sense_names import Naming
from contextlens.analysis.similarity import Comparison
from contextlens.core.schema import FloatArray
from contextlens.ui.widgets.comparison.reading import NOISE
from contextlens.ui.widgets.comparison.senses import NamedUses

_SAME_START = 1e-3
"""The largest difference of places at layer 0 that count as one."""


@dataclass(frozen=True, eq=False)
class Tug:
    """The uses of a word between two ends.

    Attributes:
        left, right: what stands at the ends.
        places: (n_uses, n_layers): the cosine to the right end less that to the left one.
        middle: the place from which neither end is nearer than at the start.
        margins: (n_layers,) how far from the middle a use must be for an end to have it; infinite
            at a layer that tells nothing.
        is_clear: (n_uses, n_layers) True where an end, or another sense, has the use.
        others: for each use, the sense that it leans to if that is neither end.
        has_one_start: True if all uses are at one place at layer 0.
        is_of_senses: True if the ends are senses, not references.
    """

    left: str
    right: str
    places: FloatArray
    middle: float
    margins: FloatArray
    is_clear: NDArray[np.bool_]
    others: tuple[str | None, ...]
    has_one_start: bool
    is_of_senses: bool = False

    @property
    def reach(self) -> float:
        """The largest distance from the middle that is drawn."""
        finite = self.margins[np.isfinite(self.margins)]
        farthest = float(np.abs(self.places - self.middle).max())
        return 1.08 * max(farthest, float(finite.max(initial=0.0)), NOISE)


def of_senses(uses: NamedUses) -> Tug:
    """Return uses between the two senses that they lean to at the shown layer.

    Layer 0 tells nothing, so that the last one counts instead.
    """
    names, layers = uses.names, range(len(uses.names.margins))
    namings = [[names.name(use[n], n) for n in layers] for use in uses.vectors]
    at = uses.layer or layers[-1]
    cosines = uses.cosines()
    ends = _ends([use[at] for use in namings], cosines[:, at].mean(axis=0), names.senses.tolist())
    left, right = (names.senses.tolist().index(end) for end in ends)
    places = (cosines[..., right] - cosines[..., left]).astype(np.float32)
    shown = [use[at].nearest for use in namings]
    return Tug(
        left=uses.title(ends[0]),
        right=uses.title(ends[1]),
        places=places,
        middle=0.0,
        margins=names.margins,
        is_clear=np.array([[each.is_clear for each in use] for use in namings]),
        others=tuple(uses.title(sense) if sense not in ends else None for sense in shown),
        has_one_start=_has_one_start(places, layers),
        is_of_senses=True,
    )


def _ends(namings: Sequence[Naming], cosines: FloatArray, senses: Sequence[str]) -> tuple[str, str]:
    """Return the two senses that most uses lean to, that of the first use on the left.

    Args:
        namings: the sense of each use at one layer.
        cosines: (n_senses,) the mean cosine of the uses to each sense, for a second one.
        senses: the names of the senses.
    """
    order = sorted(namings, key=lambda each: (not each.is_clear, -each.margin))
    wanted = [sense for sense, _ in Counter(each.nearest for each in order).most_common(2)]
    nearest = (senses[i] for i in np.argsort(-cosines, kind="stable"))
    wanted += [sense for sense in nearest if sense not in wanted][: 2 - len(wanted)]
    is_turned = wanted[1] == namings[0].nearest
    return (wanted[1], wanted[0]) if is_turned else (wanted[0], wanted[1])


def of_references(comparison: Comparison) -> Tug | None:
    """Return uses between the first two references; None without two that the model can read."""
    items = comparison.items
    uses = [i for i, item in enumerate(items) if item.role == "sentence"]
    ends = [i for i, item in enumerate(items) if item.role == "reference" and not item.unknown][:2]
    if len(ends) < 2 or not uses or any(items[i].unknown for i in uses):
        return None
    places = (comparison.cosines[:, uses, ends[1]] - comparison.cosines[:, uses, ends[0]]).T
    middle = float(places[:, 0].mean())
    margins = np.full(len(comparison.layers), NOISE, dtype=np.float32)
    return Tug(
        left=items[ends[0]].word,
        right=items[ends[1]].word,
        places=places,
        middle=middle,
        margins=margins,
        is_clear=np.abs(places - middle) >= NOISE,
        others=(None,) * len(uses),
        has_one_start=_has_one_start(places, comparison.layers),
    )


def _has_one_start(places: FloatArray, layers: Sequence[int]) -> bool:
    return layers[0] == 0 and float(np.ptp(places[:, 0])) <= _SAME_START
