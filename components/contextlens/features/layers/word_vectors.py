"""Word vectors at all layers: of the visitor's sentences, and of the sample that ships."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from contextlens.content.bundled_texts import baseline_sentences
from contextlens.core import EncoderService, Encoding, ModelCard
from contextlens.core.byte_cache import remembered
from contextlens.core.schema import FloatArray
from contextlens.core.words import split_words
from contextlens.features.layers.controls import MAX_COMPARED_WORDS

Key = tuple[int, int, int]
"""A word: its sentence, its text (0) or pair (1), and its index in `words.split_words`."""

_BATCH = 32  # sample sentences encoded at a time
_SAMPLE_STEP = 2  # half of the sample's sentences give `MAX_COMPARED_WORDS` words
_WORDS_PER_SENTENCE = 4
_SEED = 0


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Word vectors of some texts at all layers; a word's vector is the mean over its sub-tokens.

    Attributes:
        keys: the identity of each word, the same for every model.
        vectors: (n_layers, n_words, n_dims) float32.
    """

    keys: tuple[Key, ...]
    vectors: FloatArray


def words_of(
    encodings: Sequence[Encoding], only: Sequence[Collection[int]] | None = None
) -> WordVectors:
    """Return the vectors of the first `MAX_COMPARED_WORDS` words.

    Args:
        encodings: the texts.
        only: for each text, the indices of its words; without them, all words, also of pairs.
    """
    keys: list[Key] = []
    vectors: list[FloatArray] = []
    for i, encoding in enumerate(encodings):
        wanted = None if only is None else only[i]
        for key, positions in _positions(encoding).items():
            is_wanted = wanted is None or (key[0] == 0 and key[1] in wanted)
            if len(keys) < MAX_COMPARED_WORDS and is_wanted:
                keys.append((i, *key))
                vectors.append(encoding.hidden[:, positions].mean(axis=1))
    shape = encodings[0].hidden.shape if encodings else (0, 0, 0)
    stacked = np.stack(vectors, axis=1) if vectors else np.zeros((shape[0], 0, shape[2]))
    return WordVectors(tuple(keys), stacked.astype(np.float32))


def sample_words(card: ModelCard, service: EncoderService) -> WordVectors:
    """Return a few words of each of the sample's sentences in a model; cached."""
    return remembered(
        "sample words", card.id, card.checksum, compute=lambda: _sample(card.id, service)
    )


def _sample(model: str, service: EncoderService) -> WordVectors:
    texts = baseline_sentences()[::_SAMPLE_STEP]
    chosen = sample_choice(texts)
    runs = [slice(i, i + _BATCH) for i in range(0, len(texts), _BATCH)]
    parts = [words_of(service.encode(model, texts[run]), chosen[run]) for run in runs]
    return join(parts, [len(texts[run]) for run in runs])


def sample_choice(texts: Sequence[str]) -> list[list[int]]:
    """Return the indices of a few words of each text, drawn with a fixed seed.

    Only words of at least four letters: most shorter ones are function words.
    """
    random = np.random.default_rng(_SEED)
    chosen = []
    for text in texts:
        words = [text[start:end] for start, end in split_words(text)]
        long = [i for i, word in enumerate(words) if len(word) >= 4 and word.isalpha()]
        chosen.append(sorted(random.permutation(long)[:_WORDS_PER_SENTENCE].tolist()))
    return chosen


def join(parts: Sequence[WordVectors], sizes: Sequence[int]) -> WordVectors:
    """Join the words of several runs of sentences; `sizes` are the numbers of sentences per run."""
    firsts = np.cumsum([0, *sizes[:-1]]).tolist()
    keys = [
        (first + key[0], key[1], key[2])
        for first, part in zip(firsts, parts, strict=True)
        for key in part.keys
    ]
    vectors = np.concatenate([part.vectors for part in parts], axis=1)
    return WordVectors(tuple(keys[:MAX_COMPARED_WORDS]), vectors[:, :MAX_COMPARED_WORDS])


def centred(vectors: FloatArray) -> np.ndarray:
    """(n_words, n_dims) float64 vectors minus their mean."""
    doubles = vectors.astype(np.float64)
    mean = doubles.mean(axis=0, keepdims=True) if len(doubles) else 0.0
    difference: np.ndarray = doubles - mean
    return difference


def _positions(encoding: Encoding) -> dict[tuple[int, int], list[int]]:
    """Return the positions of each word's tokens, by text and word, in the text's order."""
    positions_of: dict[tuple[int, int], list[int]] = {}
    pairs = zip(encoding.text_ids.tolist(), encoding.word_ids.tolist(), strict=True)
    for position, key in enumerate(pairs):
        if key[0] >= 0 and key[1] >= 0:
            positions_of.setdefault(key, []).append(position)
    return positions_of
