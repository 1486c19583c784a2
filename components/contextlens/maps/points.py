"""The points of a map: one row for each token, word or sentence that has a vector.

Columns, not objects, as a map may have 200,000 points. This module knows no model and no vectors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np

from contextlens.core.schema import FloatArray, IntArray
from contextlens.maps.typical import TermCounts, count_terms

__all__ = ["UNITS", "Points", "Unit", "around", "context", "label_title"]

Unit = Literal["words", "tokens", "sentences"]
UNITS: tuple[Unit, ...] = get_args(Unit)
_OWN_TITLES = {
    *("sentence", "token", "group", "group on the map", "layer", "nothing", "x", "y", "z"),
    *("part of the texts", "position in the sentence", "sentence length in characters"),
}
"""The titles of columns and colours that a map has without labels."""


def label_title(title: str) -> str:
    """Return the title of a column of labels on a map, where those of its own are taken."""
    return f"{title} (label)" if title in _OWN_TITLES else title


@dataclass(frozen=True, eq=False)
class Points:
    """The points of a map, one column for each property.

    Attributes:
        unit: whether points are tokens, words or sentences.
        texts: the texts that the points come from.
        sentence: (n_points,) int64, index of each point's text in `texts`.
        spans: (n_points, 2) int64, start and end in code points of that text; (0, 0) for tokens
            that the tokenizer added.
        names: the token, the word as written, or the sentence.
        labels: columns of labels by title, n_points values each; "" for none.
        measures: columns of numbers by title, (n_points,) float32 each; NaN for none.
    """

    unit: Unit
    texts: tuple[str, ...]
    sentence: IntArray
    spans: IntArray
    names: tuple[str, ...]
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    measures: Mapping[str, FloatArray] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def n_points(self) -> int:
        """The number of points."""
        return len(self.names)

    @cached_property
    def terms(self) -> TermCounts:
        """The terms of each text; counted once, as this takes a second for 50,000 texts."""
        return count_terms(self.texts)

    @cached_property
    def distinct_text(self) -> IntArray:
        """(n_points,) int64, the number of each point's text; equal texts have the same number."""
        numbers: dict[str, int] = {}
        every = [numbers.setdefault(text, len(numbers)) for text in self.texts]
        return np.array(every, dtype=np.int64)[self.sentence]

    @property
    def n_copies(self) -> int:
        """The number of texts on the map that are equal to an earlier one."""
        return len(np.unique(self.sentence)) - len(np.unique(self.distinct_text))

    def text(self, point: int) -> str:
        """Return the text that a point comes from."""
        return self.texts[int(self.sentence[point])]

    def take(self, chosen: IntArray | Sequence[int]) -> Points:
        """Return some of the points, in the order given, with all texts."""
        rows = np.asarray(chosen, dtype=np.int64)
        return replace(
            self,
            sentence=self.sentence[rows],
            spans=self.spans[rows],
            names=tuple(self.names[i] for i in rows),
            labels={title: tuple(column[i] for i in rows) for title, column in self.labels.items()},
            measures={title: column[rows] for title, column in self.measures.items()},
        )

    def rows(self, chosen: Sequence[int] | None = None) -> list[dict[str, Any]]:
        """Return points as rows of a table: name, labels, measures, sentence."""
        wanted = range(self.n_points) if chosen is None else chosen
        name = self.unit.removesuffix("s")
        return [
            {
                **({} if self.unit == "sentences" else {name: self.names[i]}),
                **{title: column[i] for title, column in self.labels.items()},
                **{title: float(column[i]) for title, column in self.measures.items()},
                "sentence": self.text(i),
            }
            for i in wanted
        ]


def context(points: Points, point: int, *, longest: int = 90) -> tuple[str, str, str]:
    """Return the text before a point, the point, and the text after it, cut to about `longest`."""
    start, end = (int(edge) for edge in points.spans[point])
    if points.unit == "sentences":
        start = end = 0
    return around(points.text(point), start, end, longest=longest)


def around(text: str, start: int, end: int, *, longest: int) -> tuple[str, str, str]:
    """Return the text before a span, the span, and the text after it, cut to about `longest`.

    The text is cut between words if there are spaces. An empty span stands for the whole text.
    """
    if start == end:
        return "", text if len(text) <= longest else text[: longest - 1] + "…", ""
    spare = max(0, longest - (end - start))
    after = min(len(text) - end, max(spare // 2, spare - start))
    before = min(start, spare - after)
    left, right = text[start - before : start], text[end : end + after]
    if before < start:
        _, space, whole = left.partition(" ")
        left = f"… {whole}" if space else f"…{left}"
    if end + after < len(text):
        whole, space, _ = right.rpartition(" ")
        right = f"{whole} …" if space else f"{right}…"
    return left, text[start:end][:longest], right
