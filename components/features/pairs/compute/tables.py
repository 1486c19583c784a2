"""The numbers of compared pairs, as the page's tables and its files have them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, overload

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from components.features.pairs.compute.shown import PairsShown
from components.features.pairs.measures import DIFFERENT, SAME, TEST, TRAIN

__all__ = ["PairRows", "layer_rows", "pair_arrays", "pair_table"]

_KINDS = {SAME: "same", DIFFERENT: "different"}
_PARTS = {TRAIN: "train", TEST: "test"}


def layer_rows(shown: PairsShown) -> list[dict[str, Any]]:
    """What there is of each layer: what thresholds get right, or how the cosines lie."""
    scores, compared = shown.scores, shown.compared
    if scores is None:
        own = compared.cosines[:, shown.there]
        cuts = np.percentile(own, [5, 25, 50, 75, 95], axis=1).T
        names = (
            "5th percentile",
            "25th percentile",
            "median",
            "75th percentile",
            "95th percentile",
        )
        return [
            {"layer": layer, **dict(zip(names, map(float, row), strict=True))}
            for layer, row in zip(compared.layers, cuts, strict=True)
        ]
    return [
        {
            "layer": layer,
            "threshold": float(scores.thresholds[i]),
            "accuracy": float(scores.accuracy[i]),
            "from (95%)": float(scores.low[i]),
            "to (95%)": float(scores.high[i]),
            "majority": scores.majority,
            "AUC": float(scores.auc[i]),
            "accuracy on the training pairs": float(scores.train_accuracy[i]),
        }
        for i, layer in enumerate(compared.layers)
    ]


def pair_table(shown: PairsShown, most: int) -> pd.DataFrame:
    """The first pairs with what is known and said of them at the layer."""
    rows = PairRows(shown, every_layer=False)
    return pd.DataFrame([rows[i] for i in range(min(most, len(rows)))])


class PairRows(Sequence[Mapping[str, Any]]):
    """A row for each pair, made when it is asked for: 100,000 at once would take much memory."""

    def __init__(self, shown: PairsShown, *, every_layer: bool = True) -> None:
        """The rows of pairs, with their cosines at every layer or at the one looked at."""
        self._shown, self._every_layer = shown, every_layer

    def __len__(self) -> int:
        return self._shown.pairs.n

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
        pairs = self._shown.pairs
        row: dict[str, Any] = {"pair": int(pairs.rows[i])}
        for side in (0, 1):
            row[f"text {side + 1}"] = pairs.text(i, side)
            if pairs.has_words:
                row[f"word {side + 1}"] = pairs.word(i, side)
                start, end = pairs.spans[i, side].tolist()
                row |= {f"start {side + 1}": start, f"end {side + 1}": end}
        return row | self._known(i) | (self._layers(i) if self._every_layer else self._layer(i))

    def _known(self, i: int) -> dict[str, Any]:
        pairs, says = self._shown.pairs, self._shown.says
        row: dict[str, Any] = {}
        if pairs.has_labels:
            row["label"] = _KINDS.get(int(pairs.gold[i]), "")
        if pairs.split is not None:
            row["split"] = _PARTS.get(int(pairs.split[i]), "")
        if says is not None:
            is_there = not np.isnan(self._shown.cosines[i])
            row["verdict"] = _KINDS[int(says[i])] if is_there else ""
        return row

    def _layer(self, i: int) -> dict[str, Any]:
        return {"cosine": float(self._shown.cosines[i])}

    def _layers(self, i: int) -> dict[str, Any]:
        compared = self._shown.compared
        own = compared.cosines[:, i].tolist()
        return {f"layer {layer}": c for layer, c in zip(compared.layers, own, strict=True)}


def pair_arrays(shown: PairsShown) -> Mapping[str, NDArray[Any]]:
    """What accuracy, ROC curve and AUC are made of: the page's second snippet reads it."""
    pairs, scores = shown.pairs, shown.scores
    split = np.full(pairs.n, -1) if pairs.split is None else pairs.split
    own: dict[str, NDArray[Any]] = {
        "cosines": shown.compared.cosines,
        "layers": np.array(shown.compared.layers),
        "gold": pairs.gold,
        "split": split,
        "sides": pairs.sides,
        "spans": pairs.spans,
        "rows": pairs.rows,
    }
    if scores is not None:
        own |= {
            "judged": scores.rows,
            "says": scores.says,
            "thresholds": scores.thresholds,
            "accuracy": scores.accuracy,
            "auc": scores.auc,
        }
    return own
