"""Every pair as a row of a table: its texts, words, label or score, verdict and cosine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from contextlens.content.language import Claim, claim
from contextlens.features.pairs.controls import MAX_LISTED_PAIRS
from contextlens.features.pairs.pair_set import LABEL_NAMES, SPLIT_NAMES
from contextlens.features.pairs.pairs_at_layer import PairsAtLayer
from contextlens.ui.panel import Panel, Rows


@dataclass(frozen=True, eq=False)
class EveryPair(Panel):
    """The first pairs, as many as a browser takes, with their cosine at the layer."""

    pairs: PairsAtLayer

    def rows(self) -> Rows:
        """Return the first pairs with their label and verdict at the layer."""
        return PairRows(self.pairs, every_layer=False)[:MAX_LISTED_PAIRS]

    def notes(self) -> Sequence[Claim]:
        """Return how many pairs there are, and how many cannot be compared."""
        n, n_lost = self.pairs.pairs.n, self.pairs.n_lost
        first = claim("pairs.first_rows", shown=MAX_LISTED_PAIRS, n=n)
        return [
            *([first] if n > MAX_LISTED_PAIRS else []),
            *([self.pairs.lost_note()] if n_lost else []),
        ]


class PairRows(Sequence[Mapping[str, Any]]):
    """A row for each pair, built on demand: 100,000 at once would take much memory."""

    def __init__(self, at_layer: PairsAtLayer, *, every_layer: bool = True) -> None:
        """The rows of pairs, with their cosines at every layer or at the selected one."""
        self._at_layer, self._every_layer = at_layer, every_layer

    def __len__(self) -> int:
        return self._at_layer.pairs.n

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return (self._row(i) for i in range(len(self)))

    @overload
    def __getitem__(self, index: int) -> Mapping[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Mapping[str, Any]]: ...
    def __getitem__(self, index: int | slice) -> Mapping[str, Any] | Sequence[Mapping[str, Any]]:
        if isinstance(index, slice):
            return [self._row(i) for i in range(*index.indices(len(self)))]
        return self._row(range(len(self))[index])

    def _row(self, i: int) -> dict[str, Any]:
        at_layer, pairs = self._at_layer, self._at_layer.pairs
        row: dict[str, Any] = {"pair": int(pairs.rows[i])}
        for side in (0, 1):
            row[f"text {side + 1}"] = pairs.text(i, side)
            if pairs.has_words:
                row[f"word {side + 1}"] = pairs.word(i, side)
                start, end = pairs.spans[i, side].tolist()
                row |= {f"start {side + 1}": start, f"end {side + 1}": end}
        if pairs.has_labels:
            row["label"] = LABEL_NAMES.get(int(pairs.gold[i]), "")
        if pairs.grades is not None:
            grade = float(pairs.grades[i])
            row["score"] = None if np.isnan(grade) else grade
        if pairs.split is not None:
            row["split"] = SPLIT_NAMES.get(int(pairs.split[i]), "")
        row |= {name: column[i].item() for name, column in at_layer.verdict_columns.items()}
        if self._every_layer and pairs.vectors is None:
            cosines = at_layer.every_layer.values[:, i].tolist()
            names = (f"layer {layer}" for layer in at_layer.layers)
            return row | dict(zip(names, cosines, strict=True))
        row["cosine"] = float(at_layer.cosines[i])
        return row | {name: column[i].item() for name, column in at_layer.rank_columns.items()}
