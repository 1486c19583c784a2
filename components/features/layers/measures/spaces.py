"""Whole layers as spaces: how alike two of them are (linear CKA), how their variance is spread.

Linear CKA is Kornblith et al. 2019, "Similarity of Neural Network Representations Revisited": the
cosine of two centred Gram matrices. With fewer words than dimensions it is high for any two sets of
vectors, so its value for shuffled words is given beside it, and debiased CKA: the same with the
unbiased estimator of HSIC (Song et al. 2007, "Supervised Feature Selection via Dependence
Estimation"; used so by Nguyen et al. 2021, recommended by Murphy et al. 2024, "Correcting Biased
Centered Kernel Alignment Measures in Biological and Artificial Neural Networks").
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from components.core.schema import Encoding, FloatArray

__all__ = [
    "LEAST_WORDS",
    "MAX_WORDS",
    "N_SHUFFLES",
    "SEED",
    "Alike",
    "Words",
    "alike",
    "join",
    "sample_choice",
    "shared",
    "variance_shares",
    "words_of",
]

MAX_WORDS = 512
"""Words that enter at most: the Gram matrices of more would take seconds."""
LEAST_WORDS = 4
"""Words that the unbiased estimator needs: it divides by n - 3."""
N_SHUFFLES = 5
SEED = 0
_WORDS_PER_SENTENCE = 4

Key = tuple[int, int, int]
"""A word: its sentence, its text (0) or pair (1), and its index in `words.split_words`."""


@dataclass(frozen=True, eq=False)
class Words:
    """Word vectors of some texts at all layers; a word's is the mean over its sub-tokens.

    Attributes:
        keys: which word each is, the same for every model.
        vectors: (n_layers, n_words, n_dims) float32.
    """

    keys: tuple[Key, ...]
    vectors: FloatArray


@dataclass(frozen=True, eq=False)
class Alike:
    """How alike the layers of two models (or of one) are over the same words.

    Attributes:
        cka: (n_layers, n_other_layers) linear CKA in [0, 1]; nan where it is not defined.
        debiased: debiased linear CKA in [-1, 1], 0 on average over all orders of the words; nan
            where it is not defined or there are fewer than `LEAST_WORDS`.
        shuffled: linear CKA with the second model's words in random order, averaged.
        n_words: how many words entered.
    """

    cka: FloatArray
    debiased: FloatArray
    shuffled: FloatArray
    n_words: int


def words_of(encodings: Sequence[Encoding], keep: Sequence[Collection[int]] | None = None) -> Words:
    """The first `MAX_WORDS` words of texts, or only those of each text's first that are named."""
    keys: list[Key] = []
    vectors: list[FloatArray] = []
    for i, encoding in enumerate(encodings):
        kept = None if keep is None else keep[i]
        for key, positions in _positions(encoding).items():
            if len(keys) < MAX_WORDS and (kept is None or (key[0] == 0 and key[1] in kept)):
                keys.append((i, *key))
                vectors.append(encoding.hidden[:, positions].mean(axis=1))
    shape = encodings[0].hidden.shape if encodings else (0, 0, 0)
    stacked = np.stack(vectors, axis=1) if vectors else np.zeros((shape[0], 0, shape[2]))
    return Words(tuple(keys), stacked.astype(np.float32))


def join(parts: Sequence[Words], sizes: Sequence[int]) -> Words:
    """Words of several runs of sentences as one; `sizes` are the runs' numbers of sentences."""
    firsts = np.cumsum([0, *sizes[:-1]]).tolist()
    keys = [
        (first + key[0], key[1], key[2])
        for first, part in zip(firsts, parts, strict=True)
        for key in part.keys
    ]
    vectors = np.concatenate([part.vectors for part in parts], axis=1)
    return Words(tuple(keys[:MAX_WORDS]), vectors[:, :MAX_WORDS])


def sample_choice(spans: Sequence[Sequence[tuple[int, int, str]]]) -> list[list[int]]:
    """For each sentence, the indices of a few of its words, drawn by a fixed seed.

    Words of at least four letters: most shorter ones are function words.

    Args:
        spans: for each sentence, its words: start, end, text.
    """
    random = np.random.default_rng(SEED)
    chosen = []
    for words in spans:
        long = [i for i, (_, _, word) in enumerate(words) if len(word) >= 4 and word.isalpha()]
        chosen.append(sorted(random.permutation(long)[:_WORDS_PER_SENTENCE].tolist()))
    return chosen


def shared(first: Words, second: Words) -> tuple[FloatArray, FloatArray]:
    """The vectors of the words that both have, in one order."""
    place = {key: i for i, key in enumerate(second.keys)}
    rows = [(i, place[key]) for i, key in enumerate(first.keys) if key in place]
    ours, theirs = [i for i, _ in rows], [i for _, i in rows]
    return first.vectors[:, ours], second.vectors[:, theirs]


def alike(first: FloatArray, second: FloatArray) -> Alike:
    """Linear CKA of every layer of one with every layer of the other, plain and debiased.

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
    return Alike(_products(ours, theirs), _debiased(first, second), shuffled, n_words)


def variance_shares(vectors: FloatArray, n: int) -> FloatArray:
    """(n_layers, n) the share of the variance that the first 1, 2, ... n components hold.

    nan where all vectors of a layer are equal, or there are fewer than two.

    Args:
        vectors: (n_layers, n_words, n_dims).
        n: how many components.
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
    found: dict[tuple[int, int], list[int]] = {}
    pairs = zip(encoding.text_ids.tolist(), encoding.word_ids.tolist(), strict=True)
    for position, key in enumerate(pairs):
        if key[0] >= 0 and key[1] >= 0:
            found.setdefault(key, []).append(position)
    return found


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
    ours, theirs = (_units(_u_centred(_grams(each)), each) for each in (first, second))
    return _products(ours, theirs, lowest=-1.0)


def _grams(vectors: FloatArray) -> np.ndarray:
    """(n_layers, n_words, n_words) Gram matrices of the centred vectors."""
    return np.stack([centred @ centred.T for centred in map(_centred, vectors)])


def _u_centred(grams: np.ndarray) -> np.ndarray:
    """Gram matrices without their diagonals, every row and column of which sums to 0.

    Half of the work of the unbiased estimator: what it gives for two Gram matrices is the sum of
    the products of these, over n (n - 3) (Szekely and Rizzo 2014, "Partial Distance Correlation").
    """
    n = grams.shape[1]
    off = 1 - np.eye(n)
    bare = grams * off
    sums = bare.sum(axis=2, keepdims=True)
    total = sums.sum(axis=1, keepdims=True) / ((n - 1) * (n - 2))
    centred: np.ndarray = (bare - (sums + np.swapaxes(sums, 1, 2)) / (n - 2) + total) * off
    return centred


def _units(grams: np.ndarray, vectors: FloatArray) -> np.ndarray:
    """The matrices of some vectors brought to Frobenius norm one."""
    norms = np.linalg.norm(grams, axis=(1, 2), keepdims=True)
    # Equal vectors leave only rounding when centred: there is nothing to compare.
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
