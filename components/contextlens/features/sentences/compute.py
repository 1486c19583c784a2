"""From sentences and corpora to their vectors by every way, and what the page shows of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contextlens.analysis.separation import SPLIT, scaled
from contextlens.analysis.similarity import cosine_matrix
from contextlens.content.bundled_texts import baseline_sentences
from contextlens.content.examples import SAME_MEANINGS
from contextlens.content.language import say
from contextlens.core import EncoderService, ModelCard
from contextlens.core.errors import CorpusError
from contextlens.core.schema import FloatArray, Passport
from contextlens.corpus.bundled import ambiguous_corpus, sentiment_corpus
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.store.store import Store
from contextlens.corpus.store.stored_corpus import StoredCorpus
from contextlens.features.sentences.controls import CORPUS, READY, SOURCE, TEST, YOURS
from contextlens.features.sentences.measures import (
    Accuracy,
    Disagreement,
    accuracies,
    disagreement,
    layers_of,
    nearest,
    poolings_of,
    shares_below,
    vectors_of,
)
from contextlens.features.sentences.search import TextIndex, Texts, index_of, mean_vectors
from contextlens.jobs import Report, Task, page_work
from contextlens.maps.vectors import RECIPE
from contextlens.ui.corpora.texts import stored_texts
from contextlens.ui.state.controls import Choice
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState, letter

# --- Texts to vectors

N_RANDOM = 64
"""Everyday sentences whose pairs say which cosine is usual for unrelated texts."""
N_DRAWN = 30
"""Texts of a corpus that are compared."""
_MOST_LABELS = 20  # different ones, by which drawn texts are put in order
_N_TEXTS = 64  # texts encoded at a time
_N_CHARACTERS = 4.0  # of a token, on average
_N_TOKENS = 25.0  # of a stored text, on average
_KIND = page_work("texts to make vectors of", "Reading the texts", large_seconds=10.0)


@dataclass(frozen=True, eq=False)
class TextVectors:
    """Vectors of texts by every way that their model offers.

    Attributes:
        by_pooling: (n_texts, n_dims) float32 for each way.
        passport: that of the encodings.
        n_cut: the number of texts whose end did not fit the model.
    """

    by_pooling: Mapping[str, FloatArray]
    passport: Passport
    n_cut: int

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return sum(vectors.nbytes for vectors in self.by_pooling.values())


def encode_texts(
    texts: Sequence[str],
    card: ModelCard,
    service: EncoderService,
    *,
    pairs: Sequence[str | None] | None = None,
    report: Report | None = None,
) -> TextVectors:
    """Return the vectors of one or more texts."""
    poolings, n_cut = poolings_of(card), 0
    vectors: dict[str, list[FloatArray]] = {pooling: [] for pooling in poolings}
    asked: dict[str, Any] = {"checksum": card.checksum}
    for at in range(0, len(texts), _N_TEXTS):
        if report is not None:
            report("Reading the texts", at / len(texts))
        part, end = list(texts[at : at + _N_TEXTS]), at + _N_TEXTS
        both = None if pairs is None else list(pairs[at:end])
        encodings = service.encode(card.id, part, pairs=both, layers=layers_of(card), **asked)
        for encoding in encodings:
            n_cut += encoding.n_truncated > 0
            for pooling, vector in vectors_of(encoding, poolings).items():
                vectors[pooling].append(vector)
        if RECIPE in vectors:
            own = service.sentence_vectors(card.id, part, pairs=both, **asked)
            vectors[RECIPE].extend(made.vector for made in own)
    stacked = {pooling: np.stack(rows) for pooling, rows in vectors.items()}
    prompt = "" if card.recipe is None else card.recipe.prompt(None)
    return TextVectors(stacked, encodings[0].passport.with_prompt(prompt), n_cut)


def vectors_task(
    name: str,
    texts: Sequence[str],
    card: ModelCard,
    service: EncoderService,
    *,
    token_seconds: float,
) -> Task:
    """A task that returns the `TextVectors` of texts.

    Args:
        name: identifies the texts.
        texts: the texts.
        card: the model's card.
        service: encodes each text once, so preferably without a cache.
        token_seconds: the expected duration of a token.
    """
    n_tokens = sum(2 + min(len(text) / _N_CHARACTERS, card.max_length) for text in texts)
    n_runs = 1 if card.recipe is None else 2
    return Task(
        ("sentences", name, card.id, card.checksum),
        _KIND,
        lambda report: encode_texts(texts, card, service, report=report),
        size=n_tokens * n_runs * token_seconds,
    )


def random_task(card: ModelCard, service: EncoderService, *, token_seconds: float) -> Task:
    """A task that returns the `TextVectors` of everyday sentences."""
    texts = baseline_sentences()[:N_RANDOM]
    return vectors_task("everyday sentences", texts, card, service, token_seconds=token_seconds)


# --- A few sentences


def source_of(view: ViewState) -> Choice:
    """The choice of sentences: by default the visitor's own if they changed any."""
    default = READY if view.sentences == DEFAULT.sentences else YOURS
    return SOURCE.among(SOURCE.options, default=default)


def sentences_of(view: ViewState) -> tuple[Sentence, ...]:
    """The sentences to compare: the ready ones or the view's."""
    if source_of(view).of(view) == YOURS:
        return view.sentences
    return tuple(Sentence(text) for group in SAME_MEANINGS for text in group)


@dataclass(frozen=True)
class Drawn:
    """Texts of a corpus, drawn at random, in the order of a column of labels.

    Attributes:
        corpus: the corpus's name.
        n_texts: the number of its texts.
        texts: the drawn ones.
        column: the title of the column; "" if none has a few labels.
        labels: the texts' labels; empty without a column.
    """

    corpus: str
    n_texts: int
    texts: tuple[str, ...]
    column: str
    labels: tuple[str, ...]


def corpus_name(view: ViewState) -> str:
    """The name of the ready or stored corpus to search, or to draw from."""
    return CORPUS.asked(view) or CORPUS.default


def drawn_from(name: str) -> Drawn:
    """Return `N_DRAWN` texts of a ready or stored corpus, or all of a smaller one; always the same.

    Raises:
        CorpusError: there is no such corpus, or it is damaged or of a newer version.
    """
    corpus = ready_corpus(name) or stored_texts(name)
    n = len(corpus.texts)
    places = sorted(np.random.default_rng(0).choice(n, min(n, N_DRAWN), replace=False).tolist())
    found = {title: [column[i] for i in places] for title, column in corpus.labels.items()}
    few = (t for t in found if t != SPLIT and 2 <= len(set(found[t])) <= _MOST_LABELS)
    column = next(few, "")
    labels = found.get(column, [""] * len(places))
    order = sorted(range(len(places)), key=labels.__getitem__)
    texts = tuple(corpus.texts[places[i]] for i in order)
    return Drawn(corpus.name, n, texts, column, tuple(labels[i] for i in order) if column else ())


def drawn_task(
    drawn: Drawn, card: ModelCard, service: EncoderService, *, token_seconds: float
) -> Task:
    """A task that returns the `TextVectors` of drawn texts."""
    name = hashlib.sha256(json.dumps(drawn.texts).encode()).hexdigest()
    return vectors_task(name, drawn.texts, card, service, token_seconds=token_seconds)


@dataclass(frozen=True, eq=False)
class Compared:
    """A few sentences, compared by every way.

    Attributes:
        card: the model's card.
        sentences: at least two.
        vectors: the sentences' vectors by way.
        cosines: (n_ways, n, n).
        shares: (n_ways, n, n) the share of random pairs below each cosine.
        meanings: (n,) the number of each ready sentence's meaning; None for others.
        drawn: where the sentences are from, if they are texts of a corpus.
    """

    card: ModelCard
    sentences: tuple[Sentence, ...]
    vectors: TextVectors
    cosines: FloatArray
    shares: FloatArray
    meanings: tuple[int, ...] | None
    drawn: Drawn | None = None

    @property
    def poolings(self) -> tuple[str, ...]:
        """The ways, in the order of `cosines`."""
        return tuple(self.vectors.by_pooling)

    @property
    def letters(self) -> tuple[str, ...]:
        """The sentences' letters, or the numbers of a corpus's texts."""
        if self.drawn is not None:
            return tuple(say("sentences.drawn.name", i=i + 1) for i in range(len(self.sentences)))
        return tuple(letter(i) for i in range(len(self.sentences)))

    @cached_property
    def disagreement(self) -> Disagreement:
        """The pair about which two ways disagree most."""
        return disagreement(self.cosines)

    @cached_property
    def hits(self) -> tuple[int, tuple[int, ...]]:
        """The number of sentences with another of their meaning, and those nearest to it by way."""
        codes = np.array(self.meanings or range(len(self.sentences)))
        has_other = (codes[:, None] == codes).sum(axis=1) > 1
        right = [codes[nearest(cosines)] == codes for cosines in self.cosines]
        return int(has_other.sum()), tuple(int((r & has_other).sum()) for r in right)


def compared(
    view: ViewState,
    card: ModelCard,
    service: EncoderService,
    random: TextVectors,
    *,
    drawn: tuple[Drawn, TextVectors] | None = None,
) -> Compared | None:
    """Compare the view's sentences, or drawn texts, by every way; None if there is only one.

    Args:
        view: the view.
        card: the model's card.
        service: encodes the sentences.
        random: the result of `random_task`.
        drawn: the drawn texts, with the result of `drawn_task`.
    """
    source = None if drawn is None else drawn[0]
    sentences = tuple(map(Sentence, source.texts)) if source else sentences_of(view)
    if len(sentences) < 2:
        return None
    if drawn is None:
        texts, pairs = [s.text for s in sentences], [s.pair for s in sentences]
        vectors = encode_texts(texts, card, service, pairs=pairs)
    else:
        vectors = drawn[1]
    cosines = np.stack([cosine_matrix(rows) for rows in vectors.by_pooling.values()])
    shares = [
        shares_below(matrix, cosine_matrix(random.by_pooling[pooling]))
        for pooling, matrix in zip(vectors.by_pooling, cosines, strict=True)
    ]
    is_ready = source_of(view).of(view) == READY
    meanings = tuple(i for i, group in enumerate(SAME_MEANINGS) for _ in group)
    return Compared(
        card, sentences, vectors, cosines, np.stack(shares), meanings if is_ready else None, source
    )


def rows(result: Compared) -> list[dict[str, Any]]:
    """A row for each pair of sentences and each way."""
    n = len(result.sentences)
    return [
        {
            "first": result.letters[i],
            "second": result.letters[j],
            "vector": say(f"sentences.title.{pooling}"),
            "cosine": float(result.cosines[at, i, j]),
            "random pairs below": float(result.shares[at, i, j]),
        }
        for i in range(n)
        for j in range(i + 1, n)
        for at, pooling in enumerate(result.poolings)
    ]


def arrays(result: Compared) -> dict[str, NDArray[Any]]:
    """The sentences, their vectors and cosines by way."""
    vectors = {f"vectors_{name}": rows for name, rows in result.vectors.by_pooling.items()}
    return {
        "texts": np.array([sentence.text for sentence in result.sentences]),
        "vector": np.array(result.poolings),
        "cosines": result.cosines,
        "random_pairs_below": result.shares,
        **vectors,
    }


# --- A labelled corpus


@dataclass(frozen=True, eq=False)
class CorpusAccuracy:
    """How often the nearest text of a corpus has the same label, by every way.

    Attributes:
        corpus: its name.
        accuracies: best first.
        baseline: the share of the commonest label among the tested texts.
        n: the number of tested texts.
    """

    corpus: str
    accuracies: tuple[Accuracy, ...]
    baseline: float
    n: int


def corpus_of(view: ViewState) -> Corpus:
    """The corpus with the chosen column of labels."""
    ready = ambiguous_corpus(), sentiment_corpus()
    return next(corpus for corpus in ready if TEST.of(view) in corpus.labels)


def accuracy_of(view: ViewState, vectors: TextVectors) -> CorpusAccuracy:
    """Test the vectors of the view's corpus on its labels."""
    corpus = corpus_of(view)
    units = {pooling: scaled(rows) for pooling, rows in vectors.by_pooling.items()}
    found, baseline = accuracies(units, corpus.labels[TEST.of(view)])
    return CorpusAccuracy(corpus.name, found, baseline, len(found[0].right))


# --- A corpus to search

MOST_TEXTS = 200_000
"""The most texts of a corpus that can be searched: 300 MB of vectors with 384 dimensions."""
_READING = 0.9  # the share of an index's progress for reading the texts
_CHUNK = 512  # texts, encoded between two reports


def ready_corpus(name: str) -> Corpus | None:
    """The ready corpus of this name; None for any other name."""
    return {"ambiguous": ambiguous_corpus, "sentiment": sentiment_corpus}.get(name, lambda: None)()


def texts_of(corpus: Corpus) -> Texts:
    """The function that returns texts of a corpus in memory."""
    return lambda places: [corpus.texts[i] for i in places.tolist()]


def corpus_task(
    corpus: Corpus, card: ModelCard, service: EncoderService, *, token_seconds: float
) -> Task:
    """The `vectors_task` of a corpus, the same for its accuracy and for a search."""
    return vectors_task(corpus.key, corpus.texts, card, service, token_seconds=token_seconds)


def index_task(
    corpus: Corpus, card: ModelCard, service: EncoderService, *, token_seconds: float
) -> Task:
    """A task that returns the `TextIndex` of a corpus in memory."""
    vectors = corpus_task(corpus, card, service, token_seconds=token_seconds)

    def work(report: Report, made: TextVectors) -> TextIndex:
        report("Counting words", _READING)
        return index_of(corpus.texts, made.by_pooling["mean"])

    key = ("sentences index", corpus.key, card.id, card.checksum)
    return Task(key, _KIND, work, size=vectors.size, after=vectors, split=_READING)


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
    if corpus.n_texts > MOST_TEXTS:
        raise CorpusError(say("sentences.search.many", n=corpus.n_texts, most=MOST_TEXTS))
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
                part = mean_vectors(texts[at : at + _CHUNK], card, service)
                vectors[at : at + _CHUNK] = scaled(part)
            store.keep_sentences(corpus.name, vectors)
        report("Counting words", _READING)
        return index_of(texts, vectors)

    n_tokens = 0.0 if corpus.has_sentences else _N_TOKENS * corpus.n_texts
    about = corpus.about
    key = ("sentences stored", store.root, about.name, about.digest, about.created)
    return Task(key, _KIND, work, size=1 + n_tokens * token_seconds)
