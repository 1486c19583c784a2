"""Cosines between words: in context at each layer, and without context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from contextlens.analysis.baseline import Band
from contextlens.core.schema import FloatArray
from contextlens.core.words import folded

__all__ = [
    "MAX_MAIN_PAIRS",
    "Comparison",
    "Item",
    "Pair",
    "compare",
    "cosine_matrix",
    "pair_rows",
]

MAX_MAIN_PAIRS = 3
"""Pairs that a picture shows at first."""


@dataclass(frozen=True)
class Item:
    """One compared word.

    Attributes:
        label: "A", "B", ... of a sentence; "" for a reference.
        word: the word as written.
        role: the kind of text that it stands in.
        color: its index into the palette.
        token_ids: the IDs of its tokens.
        unknown: True if the model knows none of them.
        has_context: True if the model reads other tokens of its text beside it.
    """

    label: str
    word: str
    role: Literal["sentence", "reference"]
    color: int
    token_ids: tuple[int, ...] = ()
    unknown: bool = False
    has_context: bool = True

    @property
    def name(self) -> str:
        """The item's name on pages: 'A python', or 'snake' for a reference."""
        return f"{self.label} {self.word}".strip()


@dataclass(frozen=True)
class Pair:
    """Two items by index; `first` is the lower one."""

    first: int
    second: int


@dataclass(frozen=True, eq=False)
class Comparison:
    """Everything that the Meaning in context page shows.

    Attributes:
        items: the words of sentences first, then references.
        layers: the layer of each row of `cosines`.
        vectors: (n_items, n_layers, n_dims) float32 word vectors, never centred.
        cosines: (n_layers, n_items, n_items) cosine (or centred cosine) in [-1, 1].
        static: (n_items, n_items) cosines of the items' rows of the word-embedding table.
        centred: True if the mean word vector was subtracted first.
    """

    items: tuple[Item, ...]
    layers: tuple[int, ...]
    vectors: FloatArray
    cosines: FloatArray
    static: FloatArray
    centred: bool

    @property
    def measure(self) -> str:
        """The name of the measure that `cosines` and `static` hold."""
        return "centred cosine" if self.centred else "cosine"

    def pairs(self, kind: Literal["all", "sentences", "references"] = "all") -> list[Pair]:
        """Return pairs of sentence words, of a sentence word and a reference, or both kinds."""
        sentence = [item.role == "sentence" for item in self.items]
        pairs = []
        for i, j in combinations(range(len(self.items)), 2):
            both_in_sentences = sentence[i] and sentence[j]
            with_reference = sentence[i] and not sentence[j]
            if (both_in_sentences and kind != "references") or (
                with_reference and kind != "sentences"
            ):
                pairs.append(Pair(i, j))
        return pairs

    def main_pairs(self, row: int) -> list[Pair]:
        """Return at most `MAX_MAIN_PAIRS`: the first two words, both with the telling reference.

        That is the reference whose similarities to the two differ most. Without two words, or
        without references, the first pairs.

        Args:
            row: the row of the layer at which similarities differ.
        """
        sentences, references = self.pairs("sentences"), self.pairs("references")
        if not sentences or not references:
            return [*sentences, *references][:MAX_MAIN_PAIRS]
        words, cosines = sentences[0], self.cosines[row]
        telling = max(
            dict.fromkeys(pair.second for pair in references),
            key=lambda at: abs(float(cosines[words.first, at] - cosines[words.second, at])),
        )
        return [words, Pair(words.first, telling), Pair(words.second, telling)]

    def along(self, pair: Pair) -> FloatArray:
        """(n_layers,) a pair's cosine at each layer."""
        values: FloatArray = self.cosines[:, pair.first, pair.second]
        return values

    def has_unknown(self, pair: Pair) -> bool:
        """Return True if the model knows no token of one of the words: its cosines say nothing."""
        return self.items[pair.first].unknown or self.items[pair.second].unknown

    def is_one_word(self, pair: Pair) -> bool:
        """Return True if two words are spelled alike, ignoring case, and have the same tokens."""
        first, second = self.items[pair.first], self.items[pair.second]
        return folded(first.word) == folded(second.word) and first.token_ids == second.token_ids

    def are_twins(self, pair: Pair) -> bool:
        """Return True if two words are spelled differently, but have the same known tokens."""
        first, second = self.items[pair.first], self.items[pair.second]
        differ = folded(first.word) != folded(second.word)
        return differ and first.token_ids == second.token_ids != () and not first.unknown

    def pair_name(self, pair: Pair) -> str:
        """Return the pair's name on pages: 'A python ~ snake'."""
        return f"{self.items[pair.first].name} ~ {self.items[pair.second].name}"


def cosine_matrix(vectors: FloatArray) -> FloatArray:
    """(..., n, n) cosines in [-1, 1] between the rows of (..., n, n_dims); diagonal exactly 1.

    The cosine with a vector of length zero is 0, as in scikit-learn.
    """
    doubles = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(doubles, axis=-1, keepdims=True)
    units = np.divide(doubles, lengths, out=np.zeros_like(doubles), where=lengths > 0)
    cosines = np.clip(units @ np.swapaxes(units, -1, -2), -1.0, 1.0)
    diagonal = np.arange(cosines.shape[-1])
    cosines[..., diagonal, diagonal] = (lengths[..., 0] > 0).astype(float)
    result: FloatArray = cosines.astype(np.float32)
    return result


def compare(
    items: Sequence[Item],
    vectors: FloatArray,
    static: FloatArray,
    *,
    layers: Sequence[int],
    centre: tuple[FloatArray, FloatArray] | None = None,
) -> Comparison:
    """Return all cosines between items.

    Args:
        items: the items that the vectors belong to.
        vectors: (n_items, n_layers, n_dims) word vectors in context.
        static: (n_items, n_embedding_dims) word-table vectors, without context.
        layers: the layer of each row of `vectors`.
        centre: mean vectors to subtract first, (n_layers, n_dims) and (n_embedding_dims,).
    """
    context_mean, static_mean = centre if centre is not None else (0.0, 0.0)
    by_layer = np.swapaxes(vectors - context_mean, 0, 1)
    return Comparison(
        items=tuple(items),
        layers=tuple(layers),
        vectors=vectors,
        cosines=cosine_matrix(by_layer),
        static=cosine_matrix(static - static_mean),
        centred=centre is not None,
    )


def pair_rows(comparison: Comparison, band: Band | None) -> list[dict[str, str | float]]:
    """Return one row for each pair: its names, its cosine at every layer and without context.

    The random-pair baseline follows in rows of its own, if it is known.
    """
    rows: list[dict[str, str | float]] = [
        {
            "first": comparison.items[pair.first].name,
            "second": comparison.items[pair.second].name,
            **_by_layer(comparison, comparison.along(pair)),
            "without context": float(comparison.static[pair.first, pair.second]),
        }
        for pair in comparison.pairs()
    ]
    if band is not None:
        named = {"mean": band.mean, "5th percentile": band.low, "95th percentile": band.high}
        rows += [
            {"first": f"random pairs of {band.of}", "second": name, **_by_layer(comparison, values)}
            for name, values in named.items()
        ]
    return rows


def _by_layer(comparison: Comparison, values: FloatArray) -> dict[str, float]:
    layers = zip(comparison.layers, values, strict=True)
    return {f"layer {layer}": float(value) for layer, value in layers}
