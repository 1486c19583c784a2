"""The nearest texts of a corpus to a query, by the model and by words, and why they match."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

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
from contextlens.analysis.snippet_start import literal, load_lines
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import escape, shortened
from contextlens.core import EncoderService, ModelCard
from contextlens.core.errors import CorpusError
from contextlens.core.schema import Encoding, FloatArray, IntArray, Passport
from contextlens.core.words import Span
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.store.store import Store
from contextlens.corpus.store.stored_corpus import StoredCorpus
from contextlens.features.sentences.controls import (
    MAX_CARD_CHARACTERS,
    MAX_HITS,
    MAX_SEARCHED_TEXTS,
    MAX_WORD_MATCHES,
)
from contextlens.features.sentences.vectors import WORK, TextVectors, vectors_task
from contextlens.figures.theme import CATEGORICAL
from contextlens.jobs import Report, Task
from contextlens.ui.panel import Panel, Rows

FORMULA = r"""
**By the model.** Query and texts have the mean of all tokens of the last layer; texts are ordered
by the cosine with the query.

**Share of a word.** The cosine is a sum over all pairs of a token $s$ of the query and a token $t$
of the text. With $n$ and $m$ tokens and the means $q$ and $v$:

$$\cos(q, v) = \sum_{s,t} \frac{h_s \cdot h'_t}{n m \lVert q \rVert \lVert v \rVert}$$

The share of a word is the sum over its tokens and all of the query's. Shares of special tokens
belong to the sum, too.

**Closest words.** For each word of the query, the word of the text with the highest cosine of the
mean vectors of their tokens.

**By words.** scikit-learn's TF-IDF without English function words: a word counts more, the fewer
texts have it; texts are ordered by the cosine with the query.
""".strip()

_BLOCK = 8_192  # vectors
_MAX_OPACITY = 0.55  # of the word with the largest share
_READING = 0.9  # the share of an index's progress for reading the texts
_CHUNK = 512  # texts, encoded between two reports
_N_TOKENS = 25.0  # of a stored text, on average

Texts = Callable[[IntArray], Sequence[str]]
"""Returns the texts with some numbers, in that order."""


@dataclass(frozen=True, eq=False)
class TextIndex:
    """The texts of a corpus with all that a search needs.

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
        index: the number of the text.
        text: the text.
        cosine: its similarity to the query by the model.
        word_score: its similarity by TF-IDF; 0 if it shares no word.
        rank: its rank by the model, from 1.
        word_rank: its rank by TF-IDF, from 1; 0 if it shares no word.
        shares: the span of each word with its share in the cosine; shares of special tokens and
            of the punctuation belong to the sum, too.
        matches: the best matches of the query's content words, best first.
    """

    index: int
    text: str
    cosine: float
    word_score: float
    rank: int
    word_rank: int
    shares: tuple[tuple[Span, float], ...]
    matches: tuple[WordMatch, ...]

    def line(self, *, by_words: bool) -> Claim:
        """The numbers of the text: by the way that found it, and its rank by the other."""
        if by_words:
            return claim("sentences.search.word_hit", score=self.word_score, rank=self.rank)
        if not self.word_rank:
            return claim("sentences.search.new_hit", cosine=self.cosine)
        return claim("sentences.search.hit", cosine=self.cosine, rank=self.word_rank)

    def closest_words(self) -> str:
        """The best matches in words."""
        matches = [
            say(
                "sentences.search.match",
                query=escape(shortened(match.query_word, 24)),
                word=escape(shortened(match.text_word, 24)),
                cosine=match.cosine,
            )
            for match in self.matches
        ]
        return " · ".join(matches)

    def highlighted(self) -> str:
        """The text as HTML, its words tinted by their shares in the similarity."""
        largest = max((share for _, share in self.shares), default=0.0)
        pieces, at = list[str](), 0
        for (start, end), share in sorted(self.shares):
            if start < at or share <= 0 or start >= MAX_CARD_CHARACTERS:
                continue
            percent = round(100 * _MAX_OPACITY * share / largest)
            word = html.escape(self.text[start:end])
            pieces.append(html.escape(self.text[at:start]))
            pieces.append(
                '<span style="border-radius:0.25rem;background:color-mix(in srgb, '
                f'{CATEGORICAL[0]} {percent}%, transparent)">{word}</span>'
            )
            at = end
        remainder = self.text[at : max(at, MAX_CARD_CHARACTERS)]
        ending = "…" if len(self.text) > MAX_CARD_CHARACTERS else ""
        return "".join([*pieces, html.escape(remainder), ending])


@dataclass(frozen=True, eq=False)
class SearchResult(Panel):
    """The first texts by the model and by words.

    Attributes:
        card: the card of the model.
        query: the query.
        n: the number of texts searched.
        by_model, by_words: best first.
        median: the median similarity of all texts by the model.
        passport: that of the encodings.
    """

    formula: ClassVar[str] = FORMULA

    card: ModelCard
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

    def claims(self) -> list[Claim]:
        """The texts that the model finds and words do not, and the reverse."""
        n, without = len(self.by_model), self.n_without_word
        key = "sentences.search.without_word" if without else "sentences.search.with_word"
        claims = [claim(key, n=n, without=without)]
        if not self.by_words:
            return [*claims, claim("sentences.search.no_word")]
        if len(self.by_words) == 1:
            return [*claims, claim("sentences.search.one_text", rank=self.by_words[0].rank)]
        n_words = len(self.by_words)
        missed = claim("sentences.search.missed", n=n, words=n_words, missed=self.n_missed)
        return [*claims, missed]

    def rows(self) -> Rows:
        """A row for each text that either way finds."""
        hits = {hit.index: hit for hit in (*self.by_model, *self.by_words)}
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

    def snippet(self) -> str:
        """A script that searches the texts that the model found."""
        return search_snippet(self.card, self.query, [hit.text for hit in self.by_model])


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
    """The indices of the n highest scores, highest first; of equal ones, the first index first."""
    n = min(n, len(scores))
    lowest = np.partition(scores, len(scores) - n)[len(scores) - n] if n else np.inf
    candidates = np.flatnonzero(scores >= lowest)
    indices: IntArray = candidates[np.argsort(-scores[candidates], kind="stable")][:n]
    return indices


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
    encoding = _encode([query], card, service)[0]
    cosines = np.clip(index.units @ scaled(_mean(encoding)), -1.0, 1.0)
    scores = np.zeros(len(cosines), np.float32)
    if index.vectorizer is not None:
        scores = (index.words @ index.vectorizer.transform([query]).T).toarray()[:, 0]
    by_model, by_words = first(cosines, MAX_HITS), first(scores, MAX_HITS)
    by_words = by_words[scores[by_words] > 0]
    indices = list(dict.fromkeys([*by_model.tolist(), *by_words.tolist()]))
    matches = list(texts(np.array(indices, dtype=np.int64)))
    encodings = _encode(matches, card, service)
    hits = {
        i: _hit(i, text, cosines, scores, encoding, match)
        for i, text, match in zip(indices, matches, encodings, strict=True)
    }
    return SearchResult(
        card=card,
        query=query,
        n=len(cosines),
        by_model=tuple(hits[i] for i in by_model.tolist()),
        by_words=tuple(hits[i] for i in by_words.tolist()),
        median=float(np.median(cosines)),
        passport=encoding.passport,
    )


def _encode(texts: Sequence[str], card: ModelCard, service: EncoderService) -> list[Encoding]:
    return service.encode(card.id, texts, layers=[card.n_layers], checksum=card.checksum)


def _weights(encoding: Encoding) -> Doubles:
    real = encoding.attention_mask.astype(np.float64)
    weights: Doubles = real / real.sum()
    return weights


def _mean(encoding: Encoding) -> Doubles:
    return vector_of(encoding.hidden[-1], _weights(encoding))


def _hit(
    index: int,
    text: str,
    cosines: FloatArray,
    scores: FloatArray,
    query: Encoding,
    encoding: Encoding,
) -> Hit:
    query_units, text_units = units_of(query), units_of(encoding)
    shares = shares_of(query.hidden[-1], encoding.hidden[-1], _weights(query), _weights(encoding))
    columns = merged(shares, query_units, text_units).columns
    score = float(scores[index])
    return Hit(
        index=index,
        text=text,
        cosine=float(np.clip(shares.total, -1.0, 1.0)),  # exact, where the index is 16 bit
        word_score=score,
        rank=1 + int((cosines > cosines[index]).sum()),
        word_rank=1 + int((scores > score).sum()) if score > 0 else 0,
        shares=tuple(
            (unit.span, float(share))
            for unit, share in zip(text_units, columns, strict=True)
            if unit.span is not None
        ),
        matches=_matches(query, query_units, encoding, text_units),
    )


def _matches(
    query: Encoding, query_units: Sequence[Unit], encoding: Encoding, text_units: Sequence[Unit]
) -> tuple[WordMatch, ...]:
    query_words, text_words = _content(query_units), _content(text_units)
    if not query_words or not text_words:
        return ()
    n = len(query_words)
    vectors = [_word(query, unit) for unit in query_words]
    units = scaled(np.array([*vectors, *(_word(encoding, unit) for unit in text_words)]))
    table = np.clip(units[:n] @ units[n:].T, -1.0, 1.0)
    best = table.argmax(axis=1)
    matches = [
        WordMatch(unit.label, text_words[j].label, float(table[i, j]))
        for i, (unit, j) in enumerate(zip(query_words, best.tolist(), strict=True))
    ]
    return tuple(sorted(matches, key=lambda match: -match.cosine)[:MAX_WORD_MATCHES])


def _content(units: Sequence[Unit]) -> list[Unit]:
    """The words that TF-IDF counts, too; all words of a text that has no other."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    words = [unit for unit in units if is_word(unit) and any(map(str.isalnum, unit.label))]
    return [word for word in words if word.label.casefold() not in ENGLISH_STOP_WORDS] or words


def _word(encoding: Encoding, unit: Unit) -> FloatArray:
    mean: FloatArray = encoding.hidden[-1][list(unit.positions)].mean(axis=0)
    return mean


# --- Indexes


def texts_of(corpus: Corpus) -> Texts:
    """The function that returns texts of a corpus in memory."""
    return lambda indices: [corpus.texts[i] for i in indices.tolist()]


def index_task(
    corpus: Corpus, card: ModelCard, service: EncoderService, *, token_seconds: float
) -> Task:
    """A task that returns the `TextIndex` of a corpus in memory."""
    vectors = vectors_task(corpus.key, corpus.texts, card, service, token_seconds=token_seconds)

    def work(report: Report, made: TextVectors) -> TextIndex:
        report("Counting words", _READING)
        return index_of(corpus.texts, made.by_pooling["mean"])

    key = ("sentences index", corpus.key, card.id, card.checksum)
    return Task(key, WORK, work, size=vectors.size, after=vectors, split=_READING)


def stored_task(
    corpus: StoredCorpus,
    store: Store,
    card: ModelCard,
    service: EncoderService,
    *,
    token_seconds: float,
) -> Task:
    """A task that returns the `TextIndex` of a stored corpus.

    The vectors of its texts are computed once, and stored with the corpus.

    Args:
        corpus: the corpus.
        store: where it is.
        card: the card of the view's model.
        service: encodes each text once, so preferably without a cache.
        token_seconds: the expected duration of a token.

    Raises:
        CorpusError: it is too large, or was stored for another model.
    """
    if corpus.n_texts > MAX_SEARCHED_TEXTS:
        raise CorpusError(say("sentences.search.many", n=corpus.n_texts, most=MAX_SEARCHED_TEXTS))
    indexing = corpus.about.indexing
    if (indexing.model, indexing.checksum) != (card.id, card.checksum):
        raise CorpusError(say("sentences.search.other_model", model=indexing.model))

    def work(report: Report) -> TextIndex:
        texts = [text for text, _ in store.texts(corpus.name)]
        if corpus.has_sentences:
            vectors = corpus.sentences()
        else:
            vectors = np.empty((len(texts), card.n_dims), np.float16)
            for at in range(0, len(texts), _CHUNK):
                report(f"Reading {len(texts):,} texts", _READING * at / len(texts))
                means = [_mean(e) for e in _encode(texts[at : at + _CHUNK], card, service)]
                vectors[at : at + _CHUNK] = scaled(np.array(means, dtype=np.float32))
            store.keep_sentences(corpus.name, vectors)
        report("Counting words", _READING)
        return index_of(texts, vectors)

    n_tokens = 0.0 if corpus.has_sentences else _N_TOKENS * corpus.n_texts
    about = corpus.about
    key = ("sentences stored", store.root, about.name, about.digest, about.created)
    return Task(key, WORK, work, size=1 + n_tokens * token_seconds)


# --- The script

_SEARCH = """\
def vector(text):
    batch = tokenizer(text, truncation=True, max_length={max_length}, return_tensors="pt")
    with torch.inference_mode():
        mean = model(**batch).last_hidden_state[0].mean(dim=0)
    return torch.nn.functional.normalize(mean, dim=-1)


cosines = (torch.stack([vector(text) for text in texts]) @ vector(query)).numpy()
words = TfidfVectorizer(stop_words="english")
tf_idf = (words.fit_transform(texts) @ words.transform([query]).T).toarray()[:, 0]
for i in cosines.argsort()[::-1]:
    print(f"{{cosines[i]:.4f}} {{tf_idf[i]:.4f}} {{texts[i]}}")
"""


def search_snippet(card: ModelCard, query: str, texts: Sequence[str]) -> str:
    """A script that leaves `cosines` and `tf_idf` (n,) of texts with a query."""
    lines = [
        "import torch",
        "from sklearn.feature_extraction.text import TfidfVectorizer",
        "from transformers import AutoModel, AutoTokenizer",
        "",
        *load_lines(card),
        "",
        f"query = {literal(query)}",
        "texts = [",
        *(f"    {literal(text)}," for text in texts),
        "]",
        "",
        "",
        _SEARCH.format(max_length=card.max_length),
    ]
    return "\n".join(lines)
