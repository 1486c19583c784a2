"""The cosine of each pair at every layer, with a bounded number of vectors at a time.

Pairs are read in their order, some at a time. A text is encoded once, as long as its vectors find
room until the last pair that needs them: those that wait longest make room for others, and are
computed again where there are too many. Knows no page.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from components.analysis.words import word_vectors
from components.core import EncoderService, Encoding, ModelCard
from components.core.errors import RequestError
from components.core.schema import FloatArray, IntArray, Passport
from components.features.pairs.compute.pair_set import PairSet
from components.maps.text_rows import sentence_vectors

__all__ = ["Cosines", "compare", "n_tokens_of"]

_CHUNK_BYTES = 96_000_000  # of hidden states at a time
_HELD_BYTES = 256_000_000  # of vectors that wait for a later pair
_CHARACTERS = 3  # of a token in English, or fewer
OnProgress = Callable[[str, float], None]


@dataclass(frozen=True, eq=False)
class Cosines:
    """The cosines of pairs.

    Attributes:
        values: (n_layers, n_pairs) float32; NaN where the model does not read a pair's word.
        layers: the layer of each row.
        n_cut: texts whose end did not fit the model.
        n_encoded: how many texts were encoded; more than there are where vectors had to make room.
        n_tokens: how many tokens they have.
        passport: of the encodings.
    """

    values: FloatArray
    layers: tuple[int, ...]
    n_cut: int
    n_encoded: int
    n_tokens: int
    passport: Passport


def compare(
    pairs: PairSet,
    card: ModelCard,
    service: EncoderService,
    *,
    on_progress: OnProgress | None = None,
    chunk_bytes: int = _CHUNK_BYTES,
    held_bytes: int = _HELD_BYTES,
) -> Cosines:
    """Each pair's cosine at every layer.

    Args:
        pairs: what is compared: words by the mean of their sub-tokens, whole texts by that of all
            tokens.
        card: of the model.
        service: encodes the texts.
        on_progress: told how far it is; what it raises ends the work.
        chunk_bytes: of hidden states that are there at a time, roughly.
        held_bytes: of vectors that wait for a later pair.
    """
    layers = tuple(range(card.n_layers + 1))
    values = np.full((len(layers), pairs.n), np.nan, np.float32)
    vectors = _Vectors(pairs, card, service, held_bytes)
    for start, stop in _chunks(pairs, card, chunk_bytes):
        if on_progress is not None:
            on_progress(f"Reading {pairs.n:,} pairs", start / pairs.n)
        first, second = vectors.of(start, stop)
        values[:, start:stop] = np.clip(np.einsum("pld,pld->lp", first, second), -1, 1)
    passport = vectors.passport
    settings = {**passport.settings, "pooling": "mean"}
    return Cosines(
        values,
        layers,
        len(vectors.cut),
        vectors.n_encoded,
        vectors.n_tokens,
        replace(passport, settings=settings),
    )


def n_tokens_of(pairs: PairSet, card: ModelCard) -> IntArray:
    """(n_texts,) about how many tokens each text has."""
    n = [len(text) // _CHARACTERS + 2 if text.isascii() else len(text) + 2 for text in pairs.texts]
    return np.minimum(np.array(n, np.int64), card.max_length)


def _chunks(pairs: PairSet, card: ModelCard, chunk_bytes: int) -> Iterator[tuple[int, int]]:
    """Ranges of pairs whose texts are about so many bytes of hidden states; at least one pair."""
    each = n_tokens_of(pairs, card)[pairs.sides].sum(axis=1)
    most = max(1, chunk_bytes // (4 * (card.n_layers + 1) * card.n_dims))
    start, total = 0, 0
    for i, n in enumerate(each.tolist()):
        if i > start and total + n > most:
            yield start, i
            start, total = i, 0
        total += n
    yield start, pairs.n


class _Vectors:
    """Unit vectors of the sides of pairs, each computed when it is first needed."""

    def __init__(
        self, pairs: PairSet, card: ModelCard, service: EncoderService, held_bytes: int
    ) -> None:
        self._pairs, self._card, self._service = pairs, card, service
        flat = np.concatenate([pairs.sides[:, :, None], pairs.spans], axis=2).reshape(-1, 3)
        kinds, numbers = np.unique(flat, axis=0, return_inverse=True)
        self._kinds = kinds  # (n_different, 3): text, start, end
        self._sides = numbers.reshape(-1, 2)
        self._uses = np.bincount(numbers.ravel(), minlength=len(kinds))
        self._first = np.searchsorted(kinds[:, 0], np.arange(len(pairs.texts) + 1))
        shape = (card.n_layers + 1, card.n_dims)
        self._most = max(1, held_bytes // (4 * shape[0] * shape[1]))
        self._none = np.full(shape, np.nan, np.float32)
        self._held: OrderedDict[int, FloatArray] = OrderedDict()
        self.cut: set[int] = set()
        self.n_encoded = self.n_tokens = 0
        self._passport: Passport | None = None

    @property
    def passport(self) -> Passport:
        """Of the encodings."""
        if self._passport is None:  # every vector was given by none: there is no such set of pairs
            raise RequestError("There is no pair to compare. Choose other pairs.")
        return self._passport

    def of(self, start: int, stop: int) -> tuple[FloatArray, FloatArray]:
        """Both sides' (n, n_layers, n_dims) unit vectors of a range of pairs."""
        sides = self._sides[start:stop]
        missing = {int(self._kinds[s, 0]) for s in np.unique(sides) if int(s) not in self._held}
        if missing:
            self._encode(sorted(missing))
        first, second = (np.stack([self._held[s] for s in own.tolist()]) for own in sides.T)
        self._let_go(sides)
        return first, second

    def _encode(self, texts: Sequence[int]) -> None:
        encodings = self._service.encode(
            self._card.id,
            [self._pairs.texts[i] for i in texts],
            checksum=self._card.checksum,
        )
        for text, encoding in zip(texts, encodings, strict=True):
            self._passport = encoding.passport
            self.n_encoded += 1
            self.n_tokens += encoding.n_tokens
            if encoding.n_truncated:
                self.cut.add(text)
            for side in range(self._first[text], self._first[text + 1]):
                if self._uses[side]:
                    self._held[side] = self._unit(encoding, *self._kinds[side, 1:].tolist())

    def _unit(self, encoding: Encoding, start: int, end: int) -> FloatArray:
        """(n_layers, n_dims) of length 1 at each layer; NaN where the model reads no such word."""
        vectors = self._none
        with suppress(RequestError):
            vectors = (
                sentence_vectors(encoding, "mean")
                if start < 0
                else word_vectors(encoding, (start, end))
            )
        lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
        unit: FloatArray = vectors / np.maximum(lengths, 1e-12)
        return unit

    def _let_go(self, sides: IntArray) -> None:
        """Drop what no later pair needs, and what waits longest where there is too much."""
        used, n = np.unique(sides, return_counts=True)
        self._uses[used] -= n
        for side in used[self._uses[used] == 0].tolist():
            del self._held[side]
        while len(self._held) > self._most:
            self._held.popitem(last=False)
