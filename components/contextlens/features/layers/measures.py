"""Hidden states measured layer by layer: tokens, and the spaces that they span.

Numpy in, numpy out.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from contextlens.analysis.baseline import Band
from contextlens.core.schema import Encoding, FloatArray, IntArray

# --- Whole layers as spaces

MAX_WORDS = 512
"""Maximum number of words: the Gram matrices of more would take seconds."""
LEAST_WORDS = 4
"""Minimum number of words for the unbiased estimator, which divides by n - 3."""
N_SHUFFLES = 5
SEED = 0
_WORDS_PER_SENTENCE = 4

Key = tuple[int, int, int]
"""A word: its sentence, its text (0) or pair (1), and its index in `words.split_words`."""


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Word vectors of some texts at all layers; a word's vector is the mean over its sub-tokens.

    Attributes:
        keys: the identity of each word, the same for every model.
        vectors: (n_layers, n_words, n_dims) float32.
    """

    keys: tuple[Key, ...]
    vectors: FloatArray


@dataclass(frozen=True, eq=False)
class LayerSimilarity:
    """The similarity of the layers of two models (or of one) over the same words.

    Attributes:
        cka: (n_layers, n_other_layers) linear CKA in [0, 1]; nan where it is undefined.
        debiased: debiased linear CKA in [-1, 1], 0 on average over all orders of the words; nan
            where it is undefined or there are fewer than `LEAST_WORDS`.
        shuffled: linear CKA with the second model's words in random order, averaged.
        n_words: the number of words compared.
    """

    cka: FloatArray
    debiased: FloatArray
    shuffled: FloatArray
    n_words: int


def words_of(
    encodings: Sequence[Encoding], keep: Sequence[Collection[int]] | None = None
) -> WordVectors:
    """The first `MAX_WORDS` words; with `keep`, only those word indices of each text, no pairs."""
    keys: list[Key] = []
    vectors: list[FloatArray] = []
    for i, encoding in enumerate(encodings):
        wanted = None if keep is None else keep[i]
        for key, positions in _positions(encoding).items():
            if len(keys) < MAX_WORDS and (wanted is None or (key[0] == 0 and key[1] in wanted)):
                keys.append((i, *key))
                vectors.append(encoding.hidden[:, positions].mean(axis=1))
    shape = encodings[0].hidden.shape if encodings else (0, 0, 0)
    stacked = np.stack(vectors, axis=1) if vectors else np.zeros((shape[0], 0, shape[2]))
    return WordVectors(tuple(keys), stacked.astype(np.float32))


def join(parts: Sequence[WordVectors], sizes: Sequence[int]) -> WordVectors:
    """Join the words of several runs of sentences; `sizes` are the numbers of sentences per run."""
    firsts = np.cumsum([0, *sizes[:-1]]).tolist()
    keys = [
        (first + key[0], key[1], key[2])
        for first, part in zip(firsts, parts, strict=True)
        for key in part.keys
    ]
    vectors = np.concatenate([part.vectors for part in parts], axis=1)
    return WordVectors(tuple(keys[:MAX_WORDS]), vectors[:, :MAX_WORDS])


def sample_choice(spans: Sequence[Sequence[tuple[int, int, str]]]) -> list[list[int]]:
    """For each sentence, the indices of a few of its words, drawn with a fixed seed.

    Only words of at least four letters: most shorter ones are function words.

    Args:
        spans: for each sentence, its words: start, end, text.
    """
    random = np.random.default_rng(SEED)
    chosen = []
    for words in spans:
        long = [i for i, (_, _, word) in enumerate(words) if len(word) >= 4 and word.isalpha()]
        chosen.append(sorted(random.permutation(long)[:_WORDS_PER_SENTENCE].tolist()))
    return chosen


def shared(first: WordVectors, second: WordVectors) -> tuple[FloatArray, FloatArray]:
    """The vectors of the words that both have, in the same order."""
    place = {key: i for i, key in enumerate(second.keys)}
    rows = [(i, place[key]) for i, key in enumerate(first.keys) if key in place]
    ours, theirs = [i for i, _ in rows], [i for _, i in rows]
    return first.vectors[:, ours], second.vectors[:, theirs]


def alike(first: FloatArray, second: FloatArray) -> LayerSimilarity:
    """Linear CKA of each layer of one and each of the other, also debiased and with shuffled words.

    Args:
        first: (n_layers, n_words, n_dims).
        second: (n_other_layers, n_words, n_other_dims), of the same words.
    """
    n_words = first.shape[1]
    ours, theirs = _units(_grams(first), first), _units(_grams(second), second)
    random = np.random.default_rng(SEED)
    total = np.zeros((len(ours), len(theirs)))
    for _ in range(N_SHUFFLES):
        order = random.permutation(n_words)
        total += _products(ours, theirs[:, order][:, :, order])
    shuffled = (total / N_SHUFFLES).astype(np.float32)
    return LayerSimilarity(_products(ours, theirs), _debiased(first, second), shuffled, n_words)


def variance_shares(vectors: FloatArray, n: int) -> FloatArray:
    """(n_layers, n) the share of the variance in the first 1, 2, ... n components.

    nan if all vectors of a layer are equal, or there are fewer than two.

    Args:
        vectors: (n_layers, n_words, n_dims).
        n: the number of components.
    """
    shares = np.full((len(vectors), n), np.nan, np.float32)
    for row, layer in enumerate(vectors):
        eigenvalues = np.linalg.eigvalsh(_scatter(layer))[::-1].clip(min=0.0)
        total = eigenvalues.sum()
        if total > 0:
            held = np.cumsum(eigenvalues)[:n] / total
            shares[row] = np.pad(held, (0, n - len(held)), constant_values=1.0)
    return shares


def _positions(encoding: Encoding) -> dict[tuple[int, int], list[int]]:
    """Positions of each word's tokens: (text, word) to positions, in the text's order."""
    positions_of: dict[tuple[int, int], list[int]] = {}
    pairs = zip(encoding.text_ids.tolist(), encoding.word_ids.tolist(), strict=True)
    for position, key in enumerate(pairs):
        if key[0] >= 0 and key[1] >= 0:
            positions_of.setdefault(key, []).append(position)
    return positions_of


def _centred(vectors: FloatArray) -> np.ndarray:
    doubles = vectors.astype(np.float64)
    mean = doubles.mean(axis=0, keepdims=True) if len(doubles) else 0.0
    centred: np.ndarray = doubles - mean
    return centred


def _scatter(vectors: FloatArray) -> np.ndarray:
    """X^T X or X X^T of the centred X, whichever is smaller: their eigenvalues are the same."""
    centred = _centred(vectors)
    n_words, n_dims = centred.shape
    smaller: np.ndarray = centred.T @ centred if n_dims < n_words else centred @ centred.T
    return smaller


def _debiased(first: FloatArray, second: FloatArray) -> FloatArray:
    if first.shape[1] < LEAST_WORDS:
        return np.full((len(first), len(second)), np.nan, np.float32)
    ours, theirs = (_units(_u_centred(_grams(vectors)), vectors) for vectors in (first, second))
    return _products(ours, theirs, lowest=-1.0)


def _grams(vectors: FloatArray) -> np.ndarray:
    """(n_layers, n_words, n_words) Gram matrices of the centred vectors."""
    return np.stack([centred @ centred.T for centred in map(_centred, vectors)])


def _u_centred(grams: np.ndarray) -> np.ndarray:
    """Gram matrices with zero diagonals, whose rows and columns all sum to 0.

    The unbiased estimator for two Gram matrices is the sum of the elementwise products of these
    forms, divided by n (n - 3) (Szekely and Rizzo 2014, "Partial Distance Correlation").
    """
    n = grams.shape[1]
    off = 1 - np.eye(n)
    bare = grams * off
    sums = bare.sum(axis=2, keepdims=True)
    total = sums.sum(axis=1, keepdims=True) / ((n - 1) * (n - 2))
    centred: np.ndarray = (bare - (sums + np.swapaxes(sums, 1, 2)) / (n - 2) + total) * off
    return centred


def _units(grams: np.ndarray, vectors: FloatArray) -> np.ndarray:
    """Matrices scaled to Frobenius norm 1; nan where all `vectors` of a layer are equal."""
    norms = np.linalg.norm(grams, axis=(1, 2), keepdims=True)
    # Equal vectors, once centred, leave only rounding errors: there is nothing to compare.
    scale = np.square(vectors.astype(np.float64)).sum(axis=(1, 2)).reshape(-1, 1, 1)
    nothing = norms <= 1e-12 * np.maximum(scale, 1e-300)
    units: np.ndarray = np.divide(grams, norms, out=np.full_like(grams, np.nan), where=~nothing)
    return units


def _products(ours: np.ndarray, theirs: np.ndarray, lowest: float = 0.0) -> FloatArray:
    flat = ours.reshape(len(ours), -1) @ theirs.reshape(len(theirs), -1).T
    undefined = np.isnan(flat) | (ours.shape[1] < 2)
    products: FloatArray = np.where(undefined, np.nan, np.clip(flat, lowest, 1.0)).astype(
        np.float32
    )
    return products


# --- One text layer by layer

MeasureKind = Literal["start", "before", "first", "length"]
KINDS: tuple[MeasureKind, ...] = get_args(MeasureKind)
MEASURE_NAMES: dict[MeasureKind, str] = {
    "start": "cosine to layer 0",
    "before": "cosine to layer before",
    "first": "cosine to first token",
    "length": "vector length",
}

TIE = 1e-4
"""Cosines this close count as equal, because rounding differs between runs of a sentence."""


@dataclass(frozen=True, eq=False)
class Measure:
    """One number for each token at each layer.

    Attributes:
        kind: cosine to the same token at layer 0 ("start") or at the layer before ("before"),
            cosine to the text's first token at the same layer ("first"), or the vector's length.
        layers: the layer of each row of `values`; "before" has no row for layer 0.
        values: (len(layers), n_tokens).
        own_mask: (n_tokens,) a mask of the text's own tokens.
        chance: for "start" and "before", the cosines of the own tokens to the *other* own tokens
            of the earlier layer; None for other kinds, and for fewer than two own tokens.
    """

    kind: MeasureKind
    layers: tuple[int, ...]
    values: FloatArray
    own_mask: np.ndarray
    chance: Band | None

    @property
    def counted(self) -> IntArray:
        """Positions that enter averages and extremes: the text's own tokens.

        All positions if it has none. For "first", the first token itself counts only if alone.
        """
        mask = self.own_mask if self.own_mask.any() else np.ones_like(self.own_mask)
        positions = np.flatnonzero(mask)
        others = positions[positions > 0]
        return others if self.kind == "first" and others.size else positions

    @property
    def averages(self) -> FloatArray:
        """(len(layers),) average over the `counted` tokens."""
        mean: FloatArray = self.values[:, self.counted].mean(axis=1)
        return mean

    def row(self, layer: int) -> int:
        """The row of a layer, or the nearest row if the measure has none for it."""
        return int(np.abs(np.array(self.layers) - layer).argmin())


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The nearest of some candidates at each layer, nearest first.

    Attributes:
        indices: (n_layers, n), the candidates' indices.
        cosines: (n_layers, n).
        tied: for each layer, the indices of all candidates within `TIE` of the nearest.
    """

    indices: IntArray
    cosines: FloatArray
    tied: tuple[frozenset[int], ...]


def own_tokens(encoding: Encoding) -> np.ndarray:
    """(n_tokens,) bool: tokens of the text, not added by the tokenizer."""
    mask: np.ndarray = encoding.text_ids >= 0
    return mask


def measure(encoding: Encoding, kind: MeasureKind) -> Measure:
    """One measure of an encoding that holds all layers."""
    own_mask, hidden, layers = own_tokens(encoding), encoding.hidden, encoding.layers
    if kind == "length":
        return Measure(kind, layers, _lengths(hidden)[..., 0], own_mask, None)
    units = _unit_vectors(hidden)
    if kind == "first":
        values = np.einsum("lnd,ld->ln", units, units[:, 0])
        return Measure(kind, layers, _cosines(values), own_mask, None)
    later, earlier = (units[1:], units[:-1]) if kind == "before" else (units, units[:1])
    values = np.einsum("lnd,lnd->ln", later, np.broadcast_to(earlier, later.shape))
    compared = layers[1:] if kind == "before" else layers
    return Measure(kind, compared, _cosines(values), own_mask, _chance(later, earlier, own_mask))


def measures(encoding: Encoding) -> dict[MeasureKind, Measure]:
    """Every measure of an encoding."""
    return {kind: measure(encoding, kind) for kind in KINDS}


def cosines_to_starts(encoding: Encoding, position: int) -> FloatArray:
    """(n_layers, n_tokens) cosines of a token at each layer to all tokens at the first one."""
    units = _unit_vectors(encoding.hidden[:, position]) @ _unit_vectors(encoding.hidden[0]).T
    return _cosines(units)


def token_pairs(hidden: FloatArray) -> FloatArray:
    """(..., n, n) float32 cosines between the rows of (..., n, n_dims) hidden states."""
    units = _unit_vectors(hidden)
    return _cosines(units @ np.swapaxes(units, -1, -2))


def lowest_cosine(hidden: FloatArray) -> float:
    """The lowest cosine between any two tokens at any layer, one layer at a time to save memory."""
    return min(float(token_pairs(rows).min()) for rows in hidden)


def nearest(
    vector: FloatArray, texts: Sequence[FloatArray], candidates: IntArray, n: int
) -> Neighbours:
    """The n candidates with the highest cosine to a vector at each layer.

    Args:
        vector: (n_layers, n_dims).
        texts: for each text, its (n_layers, n_tokens, n_dims) hidden states.
        candidates: indices of the candidates in the tokens of all texts, concatenated.
        n: the maximum number of neighbours.
    """
    indices, cosines, tied = [], [], []
    for row, layer_vector in enumerate(vector):  # layer by layer: all at once would take gigabytes
        unit = _unit_vectors(layer_vector)
        values = np.concatenate([_unit_vectors(text[row]) @ unit for text in texts])[candidates]
        order = np.argsort(-values, kind="stable")[:n]
        indices.append(candidates[order])
        cosines.append(_cosines(values[order]))
        near = values >= values.max(initial=-1.0) - TIE
        tied.append(frozenset(candidates[near].tolist()))
    return Neighbours(np.stack(indices), np.stack(cosines), tuple(tied))


def pool_by_hand(
    vector: FloatArray, weight: FloatArray, bias: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """A BERT pooler's arithmetic: (n_dims,) W x + b, and its tanh."""
    linear: FloatArray = weight @ vector + bias
    return linear, np.tanh(linear)


def layer_rows(
    encoding: Encoding, labels: Sequence[str], sentence: str
) -> list[dict[str, str | int | float | None]]:
    """One row for each token and layer, with every measure."""
    by_kind = measures(encoding)
    rows: list[dict[str, str | int | float | None]] = []
    for position, label in enumerate(labels):
        for layer in encoding.layers:
            numbers = {
                MEASURE_NAMES[kind]: _value(measured, layer, position)
                for kind, measured in by_kind.items()
            }
            place: dict[str, str | int | float | None]
            place = {"sentence": sentence, "position": position, "token": label, "layer": layer}
            rows.append({**place, **numbers})
    return rows


def _value(measured: Measure, layer: int, position: int) -> float | None:
    return (
        float(measured.values[measured.layers.index(layer), position])
        if layer in measured.layers
        else None
    )


def _lengths(vectors: FloatArray) -> FloatArray:
    lengths: FloatArray = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return lengths


def _unit_vectors(vectors: FloatArray) -> FloatArray:
    """Vectors of length one; a vector of length zero stays zero, and so does its cosine."""
    lengths = _lengths(vectors)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)


def _cosines(values: FloatArray) -> FloatArray:
    """Cosines clipped to [-1, 1] to undo rounding."""
    return np.clip(values, -1.0, 1.0).astype(np.float32)


def _chance(later: FloatArray, earlier: FloatArray, own_mask: np.ndarray) -> Band | None:
    """The cosines of the own tokens to other own tokens of the earlier layer, row by row."""
    n = int(own_mask.sum())
    if n < 2:
        return None
    is_other, ends = ~np.eye(n, dtype=bool), []
    for row, start in zip(later, np.broadcast_to(earlier, later.shape), strict=True):
        cosines = _cosines(row[own_mask] @ start[own_mask].T)[is_other]
        low, high = np.quantile(cosines, (0.05, 0.95))
        ends.append((low, cosines.mean(dtype=np.float64), high))
    low, mean, high = np.array(ends, np.float32).T
    return Band(low, mean, high, of="two different tokens")
