"""The nearest texts of a corpus to a query, by the model and by words, and why they match."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contextlens.analysis.separation import scaled
from contextlens.analysis.shares import (
    Doubles,
    Unit,
    is_word,
    merged,
    shares_of,
    units_of,
    vector_of,
)
from contextlens.core import EncoderService, ModelCard
from contextlens.core.schema import Encoding, FloatArray, IntArray, Passport
from contextlens.core.words import Span

LONGEST = 200
"""The most characters of a query."""
N_HITS = 5
"""The texts that each way to search shows."""
_BLOCK = 8_192  # vectors
_N_MATCHES = 3  # pairs of words beside a text

Texts = Callable[[IntArray], Sequence[str]]
"""Returns the texts with some numbers, in that order."""


@dataclass(frozen=True, eq=False)
class TextIndex:
    """What a search of a corpus needs.

    Attributes:
        units: (n, n_dims) the texts' vectors, scaled to length 1: means of all tokens.
        vectorizer: scikit-learn's TF-IDF, fitted on the texts; None if they have no word.
        words: (n, n_words) the texts' TF-IDF, sparse, in rows of length 1.
    """

    units: FloatArray
    vectorizer: Any
    words: Any

    @property
    def nbytes(self) -> int:
        """Approximate bytes in memory."""
        if self.vectorizer is None:
            return self.units.nbytes
        terms = 150 * len(self.vectorizer.vocabulary_)
        return int(self.units.nbytes + self.words.data.nbytes + self.words.indices.nbytes + terms)


@dataclass(frozen=True)
class WordMatch:
    """A word of the query and the word of a text whose vector is most similar to its own."""

    query_word: str
    text_word: str
    cosine: float


@dataclass(frozen=True)
class Hit:
    """A text that a search finds.

    Attributes:
        place: the number of the text.
        text: the text.
        cosine: its similarity to the query by the model.
        word_score: its similarity by TF-IDF; 0 if it shares no word.
        rank: its place by the model, from 1.
        word_rank: its place by TF-IDF, from 1; 0 if it shares no word.
        shares: the span of each word with its share in the cosine; shares of special tokens and
            of the punctuation belong to the sum, too.
        matches: the best matches of the query's content words, best first.
    """

    place: int
    text: str
    cosine: float
    word_score: float
    rank: int
    word_rank: int
    shares: tuple[tuple[Span, float], ...]
    matches: tuple[WordMatch, ...]


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The first texts by the model and by words.

    Attributes:
        query: the query.
        n: the number of texts searched.
        by_model, by_words: best first.
        median: the median similarity of all texts by the model.
        passport: that of the encodings.
    """

    query: str
    n: int
    by_model: tuple[Hit, ...]
    by_words: tuple[Hit, ...]
    median: float
    passport: Passport

    @property
    def n_without_word(self) -> int:
        """The number of the model's texts that share no word with the query."""
        return sum(not hit.word_score for hit in self.by_model)

    @property
    def n_missed(self) -> int:
        """The number of the texts found by words that are not among the model's."""
        return sum(hit.rank > len(self.by_model) for hit in self.by_words)


def index_of(texts: Sequence[str], vectors: NDArray[Any]) -> TextIndex:
    """Return the index of some texts.

    Args:
        texts: the texts.
        vectors: (n, n_dims) the mean of each text's tokens.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    units = np.empty(vectors.shape, np.float32)
    for at in range(0, len(units), _BLOCK):  # in doubles, all at once are four times as large
        units[at : at + _BLOCK] = scaled(vectors[at : at + _BLOCK])
    vectorizer = TfidfVectorizer(stop_words="english", dtype=np.float32)
    try:
        words = vectorizer.fit_transform(texts)
    except ValueError:  # no text has a word that counts
        return TextIndex(units, None, None)
    return TextIndex(units, vectorizer, words)


def first(scores: FloatArray, n: int) -> IntArray:
    """The places of the n highest scores, highest first; of equal ones, the first place first."""
    n = min(n, len(scores))
    least = np.partition(scores, len(scores) - n)[len(scores) - n] if n else np.inf
    candidates = np.flatnonzero(scores >= least)
    places: IntArray = candidates[np.argsort(-scores[candidates], kind="stable")][:n]
    return places


def search(
    index: TextIndex, query: str, texts: Texts, card: ModelCard, service: EncoderService
) -> SearchResult:
    """Return the first texts by the model and by words.

    Args:
        index: that of the texts.
        query: a text.
        texts: returns the texts with some numbers.
        card: the card of the model that made the index.
        service: encodes the query and the texts that are found.
    """
    asked = _encode([query], card, service)[0]
    cosines = np.clip(index.units @ scaled(_mean(asked)), -1.0, 1.0)
    scores = np.zeros(len(cosines), np.float32)
    if index.vectorizer is not None:
        scores = (index.words @ index.vectorizer.transform([query]).T).toarray()[:, 0]
    by_model, by_words = first(cosines, N_HITS), first(scores, N_HITS)
    by_words = by_words[scores[by_words] > 0]
    places = list(dict.fromkeys([*by_model.tolist(), *by_words.tolist()]))
    found = list(texts(np.array(places, dtype=np.int64)))
    encodings = _encode(found, card, service)
    hits = {
        place: _hit(place, text, cosines, scores, asked, encoding)
        for place, text, encoding in zip(places, found, encodings, strict=True)
    }
    return SearchResult(
        query=query,
        n=len(cosines),
        by_model=tuple(hits[place] for place in by_model.tolist()),
        by_words=tuple(hits[place] for place in by_words.tolist()),
        median=float(np.median(cosines)),
        passport=asked.passport,
    )


def _encode(texts: Sequence[str], card: ModelCard, service: EncoderService) -> list[Encoding]:
    return service.encode(card.id, texts, layers=[card.n_layers], checksum=card.checksum)


def _weights(encoding: Encoding) -> Doubles:
    real = encoding.attention_mask.astype(np.float64)
    weights: Doubles = real / real.sum()
    return weights


def mean_vectors(texts: Sequence[str], card: ModelCard, service: EncoderService) -> FloatArray:
    """(n, n_dims) float32: the mean of each text's tokens at the last layer."""
    means = [_mean(encoding) for encoding in _encode(texts, card, service)]
    return np.array(means, dtype=np.float32)


def _mean(encoding: Encoding) -> Doubles:
    return vector_of(encoding.hidden[-1], _weights(encoding))


def _hit(
    place: int,
    text: str,
    cosines: FloatArray,
    scores: FloatArray,
    asked: Encoding,
    encoding: Encoding,
) -> Hit:
    ours, theirs = units_of(asked), units_of(encoding)
    shares = shares_of(asked.hidden[-1], encoding.hidden[-1], _weights(asked), _weights(encoding))
    columns = merged(shares, ours, theirs).columns
    score = float(scores[place])
    return Hit(
        place=place,
        text=text,
        cosine=float(np.clip(shares.total, -1.0, 1.0)),  # exact, where the index is 16 bit
        word_score=score,
        rank=1 + int((cosines > cosines[place]).sum()),
        word_rank=1 + int((scores > score).sum()) if score > 0 else 0,
        shares=tuple(
            (unit.span, float(share))
            for unit, share in zip(theirs, columns, strict=True)
            if unit.span is not None
        ),
        matches=_matches(asked, ours, encoding, theirs),
    )


def _matches(
    asked: Encoding, ours: Sequence[Unit], encoding: Encoding, theirs: Sequence[Unit]
) -> tuple[WordMatch, ...]:
    first_words, second_words = _content(ours), _content(theirs)
    if not first_words or not second_words:
        return ()
    n = len(first_words)
    vectors = [_word(asked, unit) for unit in first_words]
    units = scaled(np.array([*vectors, *(_word(encoding, unit) for unit in second_words)]))
    table = np.clip(units[:n] @ units[n:].T, -1.0, 1.0)
    best = table.argmax(axis=1)
    found = [
        WordMatch(unit.label, second_words[j].label, float(table[i, j]))
        for i, (unit, j) in enumerate(zip(first_words, best.tolist(), strict=True))
    ]
    return tuple(sorted(found, key=lambda match: -match.cosine)[:_N_MATCHES])


def _content(units: Sequence[Unit]) -> list[Unit]:
    """The words that TF-IDF counts, too; all words of a text that has no other."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    words = [unit for unit in units if is_word(unit) and any(map(str.isalnum, unit.label))]
    return [word for word in words if word.label.casefold() not in ENGLISH_STOP_WORDS] or words


def _word(encoding: Encoding, unit: Unit) -> FloatArray:
    mean: FloatArray = encoding.hidden[-1][list(unit.positions)].mean(axis=0)
    return mean


def rows(result: SearchResult) -> list[dict[str, Any]]:
    """A row for each text that either way finds."""
    hits = {hit.place: hit for hit in (*result.by_model, *result.by_words)}
    return [
        {
            "text": hit.text,
            "cosine": hit.cosine,
            "rank by the model": hit.rank,
            "TF-IDF": hit.word_score,
            "rank by words": hit.word_rank or None,
        }
        for hit in hits.values()
    ]
