"""The random-pair baseline: the similarity of two unrelated words in a model, layer by layer.

Anisotropy makes a single cosine meaningless (Ethayarajh 2019, "How Contextual are Contextualized
Word Representations?"): in some layers any two words score high. So pages show every cosine beside
the cosines of random pairs of words, taken from different sentences of a fixed sample. The sample
is English, and words that a tokenizer cuts into pieces are more similar than others. So a pair is
compared with random pairs of its own kind, and with none if it is not in the sample's script.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import regex
from numpy.typing import NDArray

from contextlens.analysis.words import POOLINGS, Pooling, pool, token_positions
from contextlens.core.errors import RequestError
from contextlens.core.schema import Encoding, FloatArray, IntArray

__all__ = [
    "KINDS",
    "N_PAIRS",
    "SEED",
    "Band",
    "Baseline",
    "PairKind",
    "SampleWords",
    "is_in_sample_script",
    "kind_of",
    "measure",
    "sample_words",
]

N_PAIRS = 5000
WORDS_PER_SENTENCE = 4
SEED = 0
MIN_WORDS = 30
"""The fewest words of a kind for which random pairs are measured."""

PairKind = Literal["any", "whole", "mixed", "cut"]
KINDS: tuple[PairKind, ...] = get_args(PairKind)
_WORD_KINDS: dict[PairKind, str] = {
    "any": "English words",
    "whole": "whole English words",
    "mixed": "English words, one of them cut into pieces",
    "cut": "English words cut into pieces",
}
_BY_N_CUT: tuple[PairKind, ...] = ("whole", "mixed", "cut")
_OTHER_SCRIPT = regex.compile(r"[^\P{L}\p{Latin}]")
_LATIN = regex.compile(r"\p{Latin}")


@dataclass(frozen=True, eq=False)
class Band:
    """Cosines of random pairs at each layer: 5th percentile, mean and 95th percentile."""

    low: FloatArray  # (n_layers,)
    mean: FloatArray
    high: FloatArray
    of: str = _WORD_KINDS["any"]
    """The kind of words that were drawn."""


@dataclass(frozen=True, eq=False)
class Baseline:
    """Baselines of one model for each pooling (axis 0, in the order of `POOLINGS`).

    Attributes:
        plain: (n_poolings, n_kinds, 3, n_layers) low, mean and high of the cosine for each of
            `KINDS`; NaN for a kind of which the sample has too few words.
        centred: as `plain`, for the centred cosine.
        means: (n_poolings, n_layers, n_dims) the mean word vector of the sample.
        static_means: (n_poolings, n_embedding_dims) the mean word-table vector of the sample.
        n_words: the number of words in the sample.
    """

    plain: FloatArray
    centred: FloatArray
    means: FloatArray
    static_means: FloatArray
    n_words: int

    def fits(self, n_layers: int, n_dims: int) -> bool:
        """True if the arrays have the shapes of a model with layers 0 to `n_layers`."""
        bands = (len(POOLINGS), len(KINDS), 3, n_layers + 1)
        means = (len(POOLINGS), n_layers + 1, n_dims)
        return self.plain.shape == self.centred.shape == bands and self.means.shape == means

    def band(self, pooling: Pooling, *, centred: bool, kind: PairKind = "any") -> Band:
        """Return the band of one pooling and kind; that of all words if the kind has too few."""
        bands = (self.centred if centred else self.plain)[POOLINGS.index(pooling)]
        known_kind = kind if np.isfinite(bands[KINDS.index(kind)]).all() else "any"
        low, mean, high = bands[KINDS.index(known_kind)]
        return Band(low, mean, high, _WORD_KINDS[known_kind])

    def centre(self, pooling: Pooling) -> tuple[FloatArray, FloatArray]:
        """Return mean vectors in context (n_layers, n_dims) and without it (n_embedding_dims,)."""
        row = POOLINGS.index(pooling)
        return self.means[row], self.static_means[row]


@dataclass(frozen=True, eq=False)
class SampleWords:
    """Sampled words: their vectors, (n_poolings, n_words, n_layers, n_dims), and their origin."""

    vectors: FloatArray
    static: FloatArray  # (n_poolings, n_words, n_embedding_dims)
    sentences: NDArray[np.int64]  # (n_words,) the index of each word's sentence
    n_pieces: NDArray[np.int64]  # (n_words,) the number of tokens of each word


def kind_of(n_pieces: int, n_others: int) -> PairKind:
    """Return the kind of a pair of words from the number of tokens of each."""
    return _BY_N_CUT[(n_pieces > 1) + (n_others > 1)]


def is_in_sample_script(word: str) -> bool:
    """True if a word is in the sample's script: it has Latin letters and no others."""
    return bool(_LATIN.search(word)) and not _OTHER_SCRIPT.search(word)


def sample_words(
    encodings: Sequence[Encoding],
    rows: Sequence[FloatArray],
    spans: Sequence[Sequence[tuple[int, int]]],
) -> SampleWords:
    """Return a few words of each sentence, chosen by a fixed seed.

    Args:
        encodings: the sample's sentences with all layers.
        rows: for each sentence, its (n_tokens, n_embedding_dims) rows of the word table.
        spans: for each sentence, the spans of its words.
    """
    random = np.random.default_rng(SEED)
    vectors, static, sentences, n_pieces = [], [], [], []
    for i, (encoding, table, words) in enumerate(zip(encodings, rows, spans, strict=True)):
        chosen = random.permutation(len(words))[:WORDS_PER_SENTENCE]
        for positions in _present(encoding, [words[k] for k in sorted(chosen)]):
            vectors.append([pool(encoding.hidden[:, positions], p) for p in POOLINGS])
            static.append([pool(table[positions], p) for p in POOLINGS])
            sentences.append(i)
            n_pieces.append(len(positions))
    return SampleWords(
        np.swapaxes(np.array(vectors, np.float32), 0, 1),
        np.swapaxes(np.array(static, np.float32), 0, 1),
        np.array(sentences, np.int64),
        np.array(n_pieces, np.int64),
    )


def _present(encoding: Encoding, spans: Sequence[tuple[int, int]]) -> Iterator[IntArray]:
    """Yield the token positions of each span, except spans that were cut off or dropped."""
    for span in spans:
        try:
            yield token_positions(encoding, span)
        except RequestError:
            continue


def measure(words: SampleWords) -> Baseline:
    """Return the baseline from sampled words: `N_PAIRS` random pairs of each kind."""
    drawn = [_random_pairs(words, kind) for kind in KINDS]
    means = words.vectors.mean(axis=1)
    return Baseline(
        plain=np.stack([_bands(v, drawn) for v in words.vectors]),
        centred=np.stack([_bands(v - m, drawn) for v, m in zip(words.vectors, means, strict=True)]),
        means=means,
        static_means=words.static.mean(axis=1),
        n_words=len(words.sentences),
    )


def _random_pairs(words: SampleWords, kind: PairKind) -> tuple[IntArray, IntArray] | None:
    """Return pairs of one kind from different sentences; None if the kind has too few words."""
    any_word, cut = np.arange(len(words.sentences)), words.n_pieces > 1
    whole, pieces = any_word[~cut], any_word[cut]
    sides = {"any": (any_word, any_word), "whole": (whole, whole), "mixed": (whole, pieces)}
    ours, theirs = sides.get(kind, (pieces, pieces))
    if kind != "any" and min(len(ours), len(theirs)) < MIN_WORDS:
        return None
    random = np.random.default_rng(SEED)
    first = ours[random.integers(len(ours), size=2 * N_PAIRS)]
    second = theirs[random.integers(len(theirs), size=2 * N_PAIRS)]
    apart = words.sentences[first] != words.sentences[second]
    return first[apart][:N_PAIRS], second[apart][:N_PAIRS]


def _bands(vectors: FloatArray, drawn: Sequence[tuple[IntArray, IntArray] | None]) -> FloatArray:
    """(n_kinds, 3, n_layers) the bands of each kind's pairs."""
    missing = np.full((3, vectors.shape[1]), np.nan, np.float32)
    return np.stack([missing if pairs is None else _band(vectors, *pairs) for pairs in drawn])


def _band(vectors: FloatArray, first: IntArray, second: IntArray) -> FloatArray:
    """(3, n_layers) 5th percentile, mean, 95th percentile of the pairs' cosines."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    units = vectors / np.maximum(lengths, 1e-12)
    # Layer by layer: all layers of all pairs at once would take gigabytes for the largest models.
    cosines = [
        np.einsum("pd,pd->p", units[first, layer], units[second, layer])
        for layer in range(vectors.shape[1])
    ]
    rows = [(np.percentile(c, 5), c.mean(), np.percentile(c, 95)) for c in cosines]
    return np.array(rows, np.float32).T
