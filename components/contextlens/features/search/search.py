"""The nearest texts of a corpus to a query, by the model and by words, and why they match."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from contextlens.analysis.content_words import (
    CONTRACTED,
    MEANINGFUL,
    PATTERN,
    content_words,
)
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
from contextlens.analysis.snippet_start import literal, load_lines, prompt_argument, recipe_lines
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import escape, quoted, shortened
from contextlens.core import EncoderService, ModelCard
from contextlens.core.errors import CorpusError
from contextlens.core.recipe import SentenceRecipe
from contextlens.core.schema import (
    Encoding,
    FloatArray,
    IntArray,
    Passport,
    Precision,
    SentenceVector,
    Vocabulary,
)
from contextlens.core.words import Span
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.store.store import Store
from contextlens.corpus.store.stored_corpus import StoredCorpus
from contextlens.features.search.controls import (
    BY,
    MAX_CARD_CHARACTERS,
    MAX_HITS,
    MAX_SEARCHED_TEXTS,
    MAX_WORD_MATCHES,
)
from contextlens.figures.theme import CATEGORICAL
from contextlens.jobs import Report, Task, page_work
from contextlens.maps.precision import with_cosine_errors
from contextlens.maps.vectors import RECIPE
from contextlens.ui.panel import Panel, Rows
from contextlens.ui.state.controls import Choice
from contextlens.ui.widgets.unread import unknown_positions, unread

FORMULA = r"""
**By the model.** Query and texts have a vector by the model's own recipe, after its prompts for
queries and for texts, or the mean of all tokens of the last layer; texts are ordered by the cosine
with the query. Stored texts have their means in 16 bits, which moves a cosine by less than 0.0005.

**Share of a word.** For means, the cosine is a sum over all pairs of a token $s$ of the query and a
token $t$ of the text. With $n$ and $m$ tokens and the means $q$ and $v$:

$$\cos(q, v) = \sum_{s,t} \frac{h_s \cdot h'_t}{n m \lVert q \rVert \lVert v \rVert}$$

The share of a word is the sum over its tokens and all of the query's. Shares of special tokens
belong to the sum, too.

**Closest words.** For each word of the query, the word of the text with the highest cosine of the
mean vectors of their tokens.

**By words.** scikit-learn's TF-IDF of content words, that is, without English function words: a
word counts more, the fewer texts have it; texts are ordered by the cosine with the query.
""".strip()

WORK = page_work("texts to search", "Reading the texts", large_seconds=10.0)
_BLOCK = 8_192  # vectors
_MAX_OPACITY = 0.55  # of the word with the largest share
_READING = 0.9  # the share of an index's progress for reading the texts
_CHUNK = 512  # texts, encoded between two reports
_N_TOKENS = 25.0  # of a stored text, on average
_N_CHARACTERS = 4.0  # of a token, on average


def pooling_of(card: ModelCard) -> Choice:
    """The choice of how texts become vectors: the model's own recipe comes first, if it has one.

    A recipe that is the mean of all tokens leaves no choice.
    """
    if card.recipe is None:
        return BY.among(("mean",))
    return BY.among((RECIPE,) if _is_mean_alone(card) else (RECIPE, "mean"), default=RECIPE)


def _is_mean_alone(card: ModelCard) -> bool:
    """True if the recipe's vectors are means, but for texts that are longer than it reads."""
    recipe = card.recipe
    has_prompt = recipe is not None and (recipe.query_prompt or recipe.text_prompt)
    return recipe is not None and recipe.is_plain_mean and not has_prompt


Texts = Callable[[IntArray], Sequence[str]]
"""Returns the texts with some numbers, in that order."""


@dataclass(frozen=True, eq=False)
class TextIndex:
    """The texts of a corpus with all that a search needs.

    Attributes:
        units: (n, n_dims) the texts' vectors, scaled to length 1.
        vectorizer: scikit-learn's TF-IDF, fitted on the texts; None if they have no word.
        words: (n, n_words) the texts' TF-IDF, sparse by columns, in rows of length 1.
        fast: the passport of the texts' vectors if they were read fast; None if exactly.
    """

    units: FloatArray
    vectorizer: Any
    words: Any
    fast: Passport | None = None

    @property
    def nbytes(self) -> int:
        """Approximate bytes in memory."""
        if self.vectorizer is None:
            return self.units.nbytes
        terms = 150 * len(self.vectorizer.vocabulary_)
        return int(self.units.nbytes + self.words.data.nbytes + self.words.indices.nbytes + terms)

    def scores(self, vector: FloatArray, query: str) -> tuple[FloatArray, FloatArray]:
        """Return the similarity of each text to a query by vectors, and by words (TF-IDF)."""
        cosines = np.clip(self.units @ scaled(vector), -1.0, 1.0)
        if self.vectorizer is None:
            return cosines, np.zeros(len(cosines), np.float32)
        counted = self.vectorizer.transform([query])
        return cosines, self.words[:, counted.indices] @ counted.data


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
        cosine: its similarity to the query by the model, as precise as the index.
        word_score: its similarity by TF-IDF; 0 if it shares no content word.
        rank: its rank by the model, from 1; 0 if the model cannot read the query.
        word_rank: its rank by TF-IDF, from 1; 0 if it shares no word.
        shares: the span of each word with its share in the cosine; shares of special tokens and
            of the punctuation belong to the sum, too. Empty unless vectors are means, and until the
            text is explained.
        matches: the best matches of the query's content words, best first; empty until then, too.
    """

    index: int
    text: str
    cosine: float
    word_score: float
    rank: int
    word_rank: int
    shares: tuple[tuple[Span, float], ...] = ()
    matches: tuple[WordMatch, ...] = ()

    def line(self, *, by_words: bool) -> Claim:
        """The numbers of the text: by the way that found it, and its rank by the other."""
        if by_words and not self.rank:
            return claim("search.word_hit_alone", score=self.word_score)
        if by_words:
            return claim("search.word_hit", rank=self.rank)
        if not self.word_rank:
            return claim("search.new_hit", cosine=self.cosine)
        return claim("search.hit", cosine=self.cosine, rank=self.word_rank)

    def closest_words(self) -> str:
        """The best matches in words, each with the cosine of the two words."""
        matches = [
            say(
                "search.match",
                query=escape(shortened(match.query_word, 24)),
                word=escape(shortened(match.text_word, 24)),
                cosine=match.cosine,
            )
            for match in self.matches
        ]
        return " · ".join(matches) or say("search.no_match")

    def highlighted(self) -> str:
        """The text as HTML, its words tinted by their shares in the similarity."""
        largest = max((share for _, share in self.shares), default=0.0)
        pieces, at = list[str](), 0
        for (start, end), share in sorted(self.shares):
            word = html.escape(self.text[start:end])
            is_drawn = share > 0 and any(map(str.isalnum, word))
            if start < at or not is_drawn or start >= MAX_CARD_CHARACTERS:
                continue
            percent = round(100 * _MAX_OPACITY * share / largest)
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
        passport: that of the texts' vectors and the query's, which is always exact.
        pooling: how texts became vectors.
        is_read: True if the model can read the query; else there are no texts by the model.
        unread: what the model cannot read of the query.
    """

    formula: ClassVar[str] = FORMULA

    card: ModelCard
    query: str
    n: int
    by_model: tuple[Hit, ...]
    by_words: tuple[Hit, ...]
    median: float
    passport: Passport
    pooling: str = "mean"
    is_read: bool = True
    unread: tuple[Claim, ...] = ()

    @property
    def way(self) -> str:
        """The name of the way in which texts became vectors."""
        is_recipe = self.pooling == RECIPE and not _is_mean_alone(self.card)
        return say(f"search.way.{'recipe' if is_recipe else 'mean'}")

    @property
    def n_without_word(self) -> int:
        """The number of the model's texts that share no content word with the query."""
        return sum(not hit.word_score for hit in self.by_model)

    def claims(self) -> list[Claim]:
        """The nearest text with its number and yardstick, and what a search by words finds."""
        if not self.is_read:
            n = len(self.by_words)
            alone = [claim("search.words_alone", n=n)] if n else []
            return [claim("search.unreadable"), *alone]
        nearest = self.by_model[0]
        found = claim("search.nearest", cosine=nearest.cosine, median=self.median)
        words = self._by_words()
        return [words, found] if words.key == "search.without_any" else [found, words]

    def _by_words(self) -> Claim:
        if not content_words(self.query):
            return claim("search.no_content")
        if not self.by_words:
            return claim("search.no_word")
        n, without = len(self.by_model), self.n_without_word
        if without in {0, n}:
            return claim(f"search.{'without_any' if without else 'with_word'}", n=n)
        return claim("search.without_word", n=without, total=n)

    def caption(self) -> Claim:
        """How many texts were searched, and in what way."""
        return claim("search.among", n=self.n, way=self.way)

    def notes(self) -> list[Claim]:
        """The prompts, and what the model cannot read of the query."""
        recipe = self.card.recipe if self.pooling == RECIPE else None
        prompts = (
            {} if recipe is None else {"query": recipe.query_prompt, "text": recipe.text_prompt}
        )
        quotes = {name: quoted(prompt.strip()) for name, prompt in prompts.items()}
        has_query, has_text = (bool(prompts.get(name)) for name in ("query", "text"))
        case = "query_and_text" if has_query and has_text else "query" if has_query else "text"
        prompted = [claim(f"search.prompt.{case}", **quotes)] if has_query or has_text else []
        return [*prompted, *(self.unread if self.is_read else [])]

    def rows(self) -> Rows:
        """A row for each text that either way finds."""
        hits = {hit.index: hit for hit in (*self.by_model, *self.by_words)}
        return [
            {
                "text": hit.text,
                "cosine": hit.cosine if self.is_read else None,
                "rank by the model": hit.rank or None,
                "TF-IDF": hit.word_score,
                "rank by words": hit.word_rank or None,
            }
            for hit in hits.values()
        ]

    def snippet(self) -> str:
        """A script that searches the texts that the model found."""
        texts = [hit.text for hit in self.by_model or self.by_words]
        return search_snippet(
            self.card,
            self.query,
            texts,
            pooling=self.pooling,
            precision=self.passport.precision,
        )


def index_of(
    texts: Sequence[str], vectors: NDArray[Any], fast: Passport | None = None
) -> TextIndex:
    """Return the index of some texts.

    Args:
        texts: the texts.
        vectors: (n, n_dims) the vector of each text.
        fast: the passport of the vectors if the texts were read fast.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    units = np.empty(vectors.shape, np.float32)
    for at in range(0, len(units), _BLOCK):  # in doubles, all at once are four times as large
        units[at : at + _BLOCK] = scaled(vectors[at : at + _BLOCK])
    vectorizer = TfidfVectorizer(analyzer=content_words, dtype=np.float32)
    try:
        words = vectorizer.fit_transform(texts)
    except ValueError:  # no text has a word that counts
        return TextIndex(units, None, None, fast)
    return TextIndex(units, vectorizer, words.tocsc(), fast)


def first(scores: FloatArray, n: int) -> IntArray:
    """The indices of the n highest scores, highest first; of equal ones, the first index first."""
    n = min(n, len(scores))
    lowest = np.partition(scores, len(scores) - n)[len(scores) - n] if n else np.inf
    candidates = np.flatnonzero(scores >= lowest)
    indices: IntArray = candidates[np.argsort(-scores[candidates], kind="stable")][:n]
    return indices


def search(
    index: TextIndex,
    query: str,
    texts: Texts,
    card: ModelCard,
    service: EncoderService,
    *,
    pooling: str = "mean",
) -> SearchResult:
    """Return the first texts by the model and by words.

    Args:
        index: that of the texts.
        query: a text.
        texts: returns the texts with some numbers.
        card: the card of the model that made the index.
        service: encodes the query.
        pooling: how the index's vectors were made, an option of `pooling_of`.
    """
    reader = _Reader(card, service, pooling)
    vector, passport = reader.query_vector(query)
    (tokens,) = service.tokenize(card.id, [reader.prepared(query)])
    unknown = unknown_positions(tokens, service.vocabulary(card.id))
    is_read = int((tokens.text_ids >= 0).sum()) > len(unknown)
    cosines, scores = index.scores(vector, query)
    by_model = first(cosines, MAX_HITS if is_read else 0)
    with_word = np.flatnonzero(scores)  # of many zeros, numpy takes 20 ms to find the highest
    by_words = with_word[first(scores[with_word], MAX_HITS)]
    indices = list(dict.fromkeys([*by_model.tolist(), *by_words.tolist()]))
    hits = {
        i: Hit(
            index=i,
            text=text,
            cosine=float(cosines[i]),
            word_score=float(scores[i]),
            rank=1 + int((cosines > cosines[i]).sum()) if is_read else 0,
            word_rank=1 + int((scores > scores[i]).sum()) if scores[i] > 0 else 0,
        )
        for i, text in zip(indices, texts(np.array(indices, dtype=np.int64)), strict=True)
    }
    return SearchResult(
        card=card,
        query=query,
        n=len(cosines),
        by_model=tuple(hits[i] for i in by_model.tolist()),
        by_words=tuple(hits[i] for i in by_words.tolist()),
        median=float(np.median(cosines)),
        passport=_passport(passport, index.fast),
        pooling=pooling,
        is_read=is_read,
        unread=tuple(unread({say("search.query"): tokens}, service, card.id)),
    )


def _passport(query: Passport, texts: Passport | None) -> Passport:
    """The passport of a search, from those of its query and of its texts if they were read fast."""
    if texts is None:
        return query
    settings = {**query.settings, **texts.settings, "query": "read exactly"}
    return replace(query, precision=texts.precision, settings=settings)


def explained(hits: Sequence[Hit], result: SearchResult, service: EncoderService) -> list[Hit]:
    """Return texts that a search found with their words' shares and matches.

    Args:
        hits: the texts, of a query that the model can read.
        result: that of the search.
        service: encodes the query and these texts.
    """
    reader = _Reader(result.card, service, result.pooling)
    (query,) = reader.read([result.query], prompt=reader.query_prompt)
    texts = reader.read([hit.text for hit in hits], prompt=reader.text_prompt)
    vocabulary = service.vocabulary(result.card.id)
    return [
        replace(
            hit,
            shares=_shares(query, text) if reader.is_mean else (),
            matches=_matches(query, text, vocabulary),
        )
        for hit, text in zip(hits, texts, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class _ReadText:
    """A text as the model reads it.

    Attributes:
        encoding: that of the text after its prompt, at the last layer.
        units: the words of the text, and all other tokens.
    """

    encoding: Encoding
    units: tuple[Unit, ...]


@dataclass(frozen=True)
class _Reader:
    """Reads queries and texts by one way to make vectors."""

    card: ModelCard
    service: EncoderService
    pooling: str
    precision: Precision = "exact"  # of the corpus; a query and what is explained are read exactly

    @property
    def recipe(self) -> SentenceRecipe | None:
        """The model's own recipe, if that is the way."""
        return self.card.recipe if self.pooling == RECIPE else None

    @property
    def is_mean(self) -> bool:
        """True if a vector is the mean of all tokens, whose words have a share in it."""
        recipe = self.recipe
        return recipe is None or (recipe.poolings == ("mean",) and not recipe.is_more_than_pooling)

    @property
    def query_prompt(self) -> str:
        """The text before a query."""
        return "" if self.recipe is None else self.recipe.query_prompt

    @property
    def text_prompt(self) -> str:
        """The text before a text of the corpus."""
        return "" if self.recipe is None else self.recipe.text_prompt

    def prepared(self, text: str) -> str:
        """Return a text as the tokenizer gets it."""
        return text if self.recipe is None else self.recipe.prepared(text)

    def read(self, texts: Sequence[str], *, prompt: str) -> list[_ReadText]:
        """Return the texts as the model reads them after a prompt."""
        recipe = self.recipe
        options: dict[str, Any] = {"layers": [self.card.n_layers], "checksum": self.card.checksum}
        if recipe is not None:
            options["max_length"] = recipe.max_length
        given = [self.prepared(prompt + text) for text in texts]
        return [
            _ReadText(encoding, _units(encoding, prompt + text, len(prompt)))
            for text, encoding in zip(
                texts, self.service.encode(self.card.id, given, **options), strict=True
            )
        ]

    def query_vector(self, query: str) -> tuple[FloatArray, Passport]:
        """(n,) the vector of a query, and its passport."""
        if not self.is_mean:
            (made,) = self._by_recipe([query], self.query_prompt, "exact")
            return made.vector, made.passport
        (read,) = self.read([query], prompt=self.query_prompt)
        passport = read.encoding.passport.with_prompt(self.query_prompt)
        return _mean(read.encoding).astype(np.float32), passport

    def vectors(self, texts: Sequence[str]) -> FloatArray:
        """(n_texts, n) the vectors of texts of the corpus."""
        if self.recipe is None:
            layers, checksum = [self.card.n_layers], self.card.checksum
            encodings = self.service.encode(
                self.card.id,
                list(texts),
                layers=layers,
                precision=self.precision,
                checksum=checksum,
            )
            return np.stack([_mean(encoding).astype(np.float32) for encoding in encodings])
        made = self._by_recipe(texts, self.text_prompt, self.precision)
        return np.stack([one.vector for one in made])

    def fast_passport(self, texts: Sequence[str]) -> Passport | None:
        """The passport of the vectors of texts of the corpus if they are fast, else None."""
        if self.precision == "exact":
            return None
        card = self.card
        (encoding,) = self.service.encode(
            card.id,
            texts[:1],
            layers=[card.n_layers],
            precision=self.precision,
            checksum=card.checksum,
        )
        # Stored vectors may come from a machine on which fast reading is another thing than here.
        passport = replace(encoding.passport, precision=self.precision)
        return with_cosine_errors(passport, texts, card, self.service)

    def _by_recipe(
        self, texts: Sequence[str], prompt: str, precision: Precision
    ) -> list[SentenceVector]:
        return self.service.sentence_vectors(
            self.card.id,
            list(texts),
            prompt=prompt,
            precision=precision,
            checksum=self.card.checksum,
        )


def _units(encoding: Encoding, given: str, n_prompt: int) -> tuple[Unit, ...]:
    """The words of a text with their spans in it; those of its prompt are no words."""
    units = []
    for unit in units_of(encoding):
        start, end = unit.span or (0, 0)
        is_own = unit.span is not None and start >= n_prompt and len(encoding.text) == len(given)
        span = (start - n_prompt, end - n_prompt) if is_own else None
        units.append(replace(unit, span=span))
    return tuple(units)


def _weights(encoding: Encoding) -> Doubles:
    real = encoding.attention_mask.astype(np.float64)
    weights: Doubles = real / real.sum()
    return weights


def _mean(encoding: Encoding) -> Doubles:
    return vector_of(encoding.hidden[-1], _weights(encoding))


def _shares(query: _ReadText, text: _ReadText) -> tuple[tuple[Span, float], ...]:
    first, second = query.encoding, text.encoding
    cells = shares_of(first.hidden[-1], second.hidden[-1], _weights(first), _weights(second))
    columns = merged(cells, query.units, text.units).columns.tolist()
    shares = zip(text.units, columns, strict=True)
    return tuple((unit.span, share) for unit, share in shares if unit.span is not None)


def _matches(query: _ReadText, match: _ReadText, vocabulary: Vocabulary) -> tuple[WordMatch, ...]:
    query_words, text_words = _content(query, vocabulary), _content(match, vocabulary)
    if not query_words or not text_words:
        return ()
    n = len(query_words)
    vectors = [_word(query.encoding, unit) for unit in query_words]
    units = scaled(np.array([*vectors, *(_word(match.encoding, unit) for unit in text_words)]))
    table = np.clip(units[:n] @ units[n:].T, -1.0, 1.0)
    best = table.argmax(axis=1)
    matches = [
        WordMatch(unit.label, text_words[j].label, float(table[i, j]))
        for i, (unit, j) in enumerate(zip(query_words, best.tolist(), strict=True))
    ]
    by_word: dict[str, WordMatch] = {}
    for word_match in sorted(matches, key=lambda match: -match.cosine):
        by_word.setdefault(word_match.query_word.casefold(), word_match)
    return tuple(by_word.values())[:MAX_WORD_MATCHES]


def _content(text: _ReadText, vocabulary: Vocabulary) -> list[Unit]:
    """The content words that the model can read; all such words of a text that has no other."""
    unknown = set(unknown_positions(text.encoding, vocabulary))
    readable = [unit for unit in text.units if is_word(unit) and not set(unit.positions) <= unknown]
    words = [unit for unit in readable if any(map(str.isalnum, unit.label))]
    return [word for word in words if content_words(word.label)] or words


def _word(encoding: Encoding, unit: Unit) -> FloatArray:
    mean: FloatArray = encoding.hidden[-1][list(unit.positions)].mean(axis=0)
    return mean


# --- Indexes


def texts_of(corpus: Corpus) -> Texts:
    """The function that returns texts of a corpus in memory."""
    return lambda indices: [corpus.texts[i] for i in indices.tolist()]


def index_task(
    corpus: Corpus,
    card: ModelCard,
    service: EncoderService,
    *,
    pooling: str = "mean",
    precision: Precision = "exact",
    token_seconds: float,
) -> Task:
    """A task that returns the `TextIndex` of a corpus in memory."""
    if len(corpus.texts) > MAX_SEARCHED_TEXTS:
        raise CorpusError(say("search.many", n=len(corpus.texts), most=MAX_SEARCHED_TEXTS))
    reader = _Reader(card, service, pooling, precision)

    def work(report: Report) -> TextIndex:
        vectors = _read_all(corpus.texts, reader, report)
        report("Counting words", _READING)
        return index_of(corpus.texts, vectors, reader.fast_passport(corpus.texts))

    lengths = (min(len(text) / _N_CHARACTERS, card.max_length) for text in corpus.texts)
    size = sum(2 + length for length in lengths) * token_seconds
    key = ("search", corpus.key, card.id, card.checksum, pooling, precision)
    return Task(key, WORK, work, size=size)


def _read_all(texts: Sequence[str], reader: _Reader, report: Report) -> FloatArray:
    """(n_texts, n) vectors of length 1."""
    units = np.empty((0, 0), np.float32)
    for at in range(0, len(texts), _CHUNK):
        report(f"Reading {len(texts):,} texts", _READING * at / len(texts))
        chunk = scaled(reader.vectors(texts[at : at + _CHUNK]))
        if not at:
            units = np.empty((len(texts), chunk.shape[1]), np.float32)
        units[at : at + _CHUNK] = chunk
    return units


def stored_task(
    corpus: StoredCorpus,
    store: Store,
    card: ModelCard,
    service: EncoderService,
    *,
    pooling: str = "mean",
    exact: bool = False,
    token_seconds: float,
) -> Task:
    """A task that returns the `TextIndex` of a stored corpus.

    The means of its texts are computed once, as precisely as it was indexed, and stored with it.

    Args:
        corpus: the corpus.
        store: where it is.
        card: the card of the view's model.
        service: encodes each text once, so preferably without a cache.
        pooling: an option of `pooling_of`.
        exact: True to read the texts exactly even if the corpus was indexed fast.
        token_seconds: the expected duration of a token.

    Raises:
        CorpusError: it is too large, or was stored for another model.
    """
    if corpus.n_texts > MAX_SEARCHED_TEXTS:
        raise CorpusError(say("search.many", n=corpus.n_texts, most=MAX_SEARCHED_TEXTS))
    indexing = corpus.about.indexing
    if (indexing.model, indexing.checksum) != (card.id, card.checksum):
        raise CorpusError(say("search.other_model", model=indexing.model))
    precision: Precision = "exact" if exact else indexing.precision
    reader = _Reader(card, service, pooling, precision)
    is_kept = precision == indexing.precision and (pooling == "mean" or _is_mean_alone(card))

    def work(report: Report) -> TextIndex:
        vectors: NDArray[Any]
        texts = [text for text, _ in store.texts(corpus.name)]
        if is_kept and corpus.has_sentences:
            vectors = corpus.sentences()
        else:
            vectors = _read_all(texts, reader, report)
            if is_kept:
                vectors = vectors.astype(np.float16)
                store.keep_sentences(corpus.name, vectors)
        report("Counting words", _READING)
        return index_of(texts, vectors, reader.fast_passport(texts))

    n_tokens = 0.0 if is_kept and corpus.has_sentences else _N_TOKENS * corpus.n_texts
    about = corpus.about
    stored = store.root, about.name, about.digest, about.created
    key = ("search stored", *stored, pooling, precision)
    return Task(key, WORK, work, size=1 + n_tokens * token_seconds)


# --- The script

_MEAN = """\
def vector(text, model):
    batch = tokenizer(text, truncation=True, max_length={max_length}, return_tensors="pt")
    with torch.inference_mode():
        mean = model(**batch).last_hidden_state[0].float().mean(dim=0)
    return torch.nn.functional.normalize(mean, dim=-1)


cosines = torch.stack([vector(text, {reader}) for text in texts]) @ vector(query, model)
cosines = cosines.numpy()
"""
_BY_RECIPE = """\
vectors = {reader}.encode(texts{of_texts}, convert_to_tensor=True).float()
vectors = torch.nn.functional.normalize(vectors, dim=-1)
cosines = vectors @ model.encode(query{of_query}, normalize_embeddings=True, convert_to_tensor=True)
cosines = cosines.numpy()
"""
_WORDS = """\
pattern = regex.compile(r"{pattern}")
function_words = ENGLISH_STOP_WORDS - set(
    "{meaningful}".split()
)
function_words |= set("{contracted}".split())


def content_words(text):
    words = pattern.findall(unicodedata.normalize("NFC", text).lower())
    return [word for word in words if word not in function_words]


words = TfidfVectorizer(analyzer=content_words)
tf_idf = (words.fit_transform(texts) @ words.transform([query]).T).toarray()[:, 0]
for i in cosines.argsort()[::-1]:
    print(f"{{cosines[i]:.4f}} {{tf_idf[i]:.4f}} {{texts[i]}}")
"""


def search_snippet(
    card: ModelCard,
    query: str,
    texts: Sequence[str],
    *,
    pooling: str = "mean",
    precision: Precision = "exact",
) -> str:
    """A script that leaves `cosines` and `tf_idf` (n,) of texts with a query.

    Texts that were read fast have a model of their own in it, `reader`.
    """
    is_fast = precision == "fast"
    reader = "reader" if is_fast else "model"
    counting = "from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfVectorizer"
    given = [f"query = {literal(query)}", "texts = ["]
    given += [*(f"    {literal(text)}," for text in texts), "]", ""]
    by_words = _WORDS.format(pattern=PATTERN, meaningful=MEANINGFUL, contracted=CONTRACTED)
    if pooling == RECIPE and card.recipe is not None:
        prompts = card.recipe.text_prompt, card.recipe.query_prompt
        of_texts, of_query = (prompt_argument(card, prompt) for prompt in prompts)
        lines = [
            "import unicodedata",
            "",
            "import regex",
            "import torch",
            "from sentence_transformers import SentenceTransformer",
            counting,
            "",
            *recipe_lines(card),
            *([recipe_lines(card, precision)[-1].replace("model =", "reader =")] * is_fast),
            "",
            *given,
            _BY_RECIPE.format(reader=reader, of_texts=of_texts, of_query=of_query),
            by_words,
        ]
    else:
        lines = [
            "import unicodedata",
            "",
            "import regex",
            "import torch",
            counting,
            "from transformers import AutoModel, AutoTokenizer",
            "",
            *load_lines(card),
            *([load_lines(card, precision, "reader")[-1]] * is_fast),
            "",
            *given,
            "",
            _MEAN.format(max_length=card.max_length, reader=reader),
            by_words,
        ]
    return "\n".join(lines)
