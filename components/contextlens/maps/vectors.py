"""The vectors that a map is made of, gathered from the service text by text."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Literal

import numpy as np

from contextlens.analysis.words import pool
from contextlens.core import EncoderService, ModelCard
from contextlens.core.errors import RequestError
from contextlens.core.schema import (
    Encoding,
    FloatArray,
    IntArray,
    Passport,
    Precision,
    SentenceVector,
)
from contextlens.core.words import Span, split_words
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.file_vectors import FileVectors
from contextlens.maps.plan import Plan
from contextlens.maps.points import Points, Unit, label_title
from contextlens.maps.progress import OnProgress
from contextlens.maps.request import GIVEN, MapRequest

__all__ = [
    "RECIPE",
    "SENTENCE_POOLINGS",
    "WORD_POOLINGS",
    "PointVectors",
    "TextRows",
    "gather",
    "has_layers",
    "is_recipe",
    "read_points",
    "recipe_prompt",
    "recipe_rows",
    "rows_of",
    "sentence_vectors",
]


# --- The points of one text

WORD_POOLINGS = ("mean", "first", "last")
SENTENCE_POOLINGS = ("mean", "own", "cls", "max", "pooler")
"""Ways to pool a sentence: "mean" of all tokens, "own" without the special ones, ..."""
RECIPE = "recipe"
"""The model's own recipe; "recipe:NAME" puts the recipe's prompt of that name before each text."""
_PARTS = ("first third", "middle third", "last third")


@dataclass
class TextRows:
    """The points of one text, with one row for each point."""

    names: list[str]
    spans: IntArray
    vectors: FloatArray  # (n_layers, n, n_dims)
    columns: dict[str, list[str]] = field(default_factory=dict)
    positions: list[float] = field(default_factory=list)


def rows_of(
    encoding: Encoding,
    unit: Unit,
    pooling: str,
    span: Span | None,
    wanted: set[str],
    special: bool,
) -> TextRows:
    """Return the rows that a text adds to a map of words, tokens or sentences.

    Raises:
        RequestError: the model has no pooler.
    """
    if unit == "sentences":
        return _sentence(encoding.text, sentence_vectors(encoding, pooling))
    if unit == "tokens":
        return _tokens(encoding, wanted, special)
    return _words(encoding, pooling, span, wanted)


def is_recipe(pooling: str) -> bool:
    """True for the model's own recipe, with a prompt or without."""
    return pooling.partition(":")[0] == RECIPE


def has_layers(pooling: str) -> bool:
    """True if a pooling works at every layer, not only on the last one's states."""
    return pooling not in {"pooler", GIVEN} and not is_recipe(pooling)


def recipe_prompt(card: ModelCard, pooling: str) -> str:
    """The text that a recipe puts before each text: the prompt that a pooling names, or its own."""
    return "" if card.recipe is None else card.recipe.prompt(pooling.partition(":")[2] or None)


def recipe_rows(
    texts: Sequence[str],
    card: ModelCard,
    service: EncoderService,
    pooling: str,
    precision: Precision = "exact",
) -> list[tuple[TextRows, SentenceVector]]:
    """Return the rows of sentences by the model's own recipe, each with its vector.

    Raises:
        RequestError: the model has no recipe.
    """
    prompt = recipe_prompt(card, pooling)
    vectors = service.sentence_vectors(
        card.id, texts, prompt=prompt, precision=precision, checksum=card.checksum
    )
    return [
        (_sentence(text, made.vector[None]), made)
        for text, made in zip(texts, vectors, strict=True)
    ]


def _sentence(text: str, vectors: FloatArray) -> TextRows:
    return TextRows([text], np.array([[0, len(text)]]), vectors[:, None])


def sentence_vectors(encoding: Encoding, pooling: str) -> FloatArray:
    """(n_layers, n_dims) float32: a text's vector at each layer; (1, n_dims) for the pooler.

    Raises:
        RequestError: the model has no pooler.
    """
    if pooling == "pooler":
        if encoding.pooler_output is None:
            raise RequestError(
                "This model has no pooler, so there is no pooler output to map. Choose the mean, "
                "[CLS] or max of its tokens."
            )
        pooled: FloatArray = encoding.pooler_output[None]
        return pooled
    real = encoding.attention_mask == 1
    text_tokens = real & (encoding.special_tokens_mask == 0)
    if pooling == "own" and text_tokens.any():
        real = text_tokens
    hidden = encoding.hidden[:, real]
    if pooling == "cls":
        first: FloatArray = hidden[:, 0]
        return first
    if pooling == "max":
        highest: FloatArray = hidden.max(axis=1)
        return highest
    return pool(hidden, "mean")


def _tokens(encoding: Encoding, wanted: set[str], special: bool) -> TextRows:
    added = encoding.special_tokens_mask == 1
    takes = (encoding.attention_mask == 1) & (special | ~added)
    if wanted:
        takes &= np.array([token.casefold() in wanted for token in encoding.tokens])
    where = np.flatnonzero(takes)
    starts = [encoding.word_ids[i] != encoding.word_ids[i - 1] for i in where]
    kinds = [
        "special token" if added[i] else "first of its word" if start else "later in its word"
        for i, start in zip(where, starts, strict=True)
    ]
    return TextRows(
        [encoding.tokens[i] for i in where],
        encoding.offsets[where],
        encoding.hidden[:, where],
        {"kind of token": kinds, "part of text": parts_of(where, encoding.n_tokens)},
        [float(i) for i in where],
    )


def _words(encoding: Encoding, pooling: str, span: Span | None, wanted: set[str]) -> TextRows:
    text = encoding.text
    spans = split_words(text)
    candidates = [span] if span is not None else [e for e in spans if _is_word(text[slice(*e)])]
    words = [
        (edges, positions)
        for edges in candidates
        if not wanted or text[slice(*edges)].casefold() in wanted
        if (positions := _tokens_of(encoding, edges)).size
    ]
    how: Literal["mean", "first", "last"] = (
        "first" if pooling == "first" else "last" if pooling == "last" else "mean"
    )
    pooled = [pool(encoding.hidden[:, positions], how) for _, positions in words]
    empty = encoding.hidden[:, :0]
    names = [text[slice(*edges)] for edges, _ in words]
    starts = {start: i for i, (start, _) in enumerate(spans)}
    places = [starts.get(edges[0], 0) for edges, _ in words]
    return TextRows(
        names,
        np.array([edges for edges, _ in words], dtype=np.int64).reshape(-1, 2),
        np.stack(pooled, axis=1) if pooled else empty,
        {"word": [name.casefold() for name in names], "part of text": parts_of(places, len(spans))},
        [float(i) for i in places],
    )


def _is_word(text: str) -> bool:
    return any(map(str.isalnum, text))


def _tokens_of(encoding: Encoding, edges: Span) -> IntArray:
    """Positions of the tokens that overlap a word, as in `words.token_positions`."""
    start, end = edges
    offsets = encoding.offsets
    inside = (encoding.text_ids == 0) & (offsets[:, 0] < end) & (offsets[:, 1] > start)
    return np.flatnonzero(inside)


def parts_of(positions: Iterable[int] | IntArray, n: int) -> list[str]:
    """Return the name of the third of `range(n)` that each position is in."""
    return [_PARTS[min(2, 3 * int(p) // max(n, 1))] for p in positions]


# --- From encodings to the points of a map and their vectors


@dataclass(frozen=True)
class ReadText:
    """A text that was read, with its points."""

    text: str
    rows: TextRows
    layers: tuple[int, ...]
    is_cut: bool
    passport: Passport


@dataclass(frozen=True, eq=False)
class PointVectors:
    """Points and their vectors.

    Attributes:
        points: the points.
        vectors: (n_layers, n_points, n_dims) float32.
        layers: the layer of each row of `vectors`; (-1,) for the pooler's output, for vectors by
            the model's own recipe, and for those of a file.
        n_cut: the number of texts that were cut off because they were too long for the model.
        passport: the passport of the encodings.
        read: the points text by text, if other texts will join them.
    """

    points: Points
    vectors: FloatArray
    layers: tuple[int, ...]
    n_cut: int
    passport: Passport | None
    read: tuple[ReadText, ...] = ()

    def at(self, layers: tuple[int, ...]) -> FloatArray:
        """(len(layers), n_points, n_dims): the vectors at these layers."""
        if layers == self.layers:
            return self.vectors
        return self.vectors[[self.layers.index(layer) for layer in layers]]

    @property
    def nbytes(self) -> int:
        """The approximate memory in bytes."""
        return self.vectors.nbytes + 300 * self.points.n_points + sum(map(len, self.points.texts))


def gather(
    encodings: Iterable[Encoding],
    *,
    unit: Unit,
    pooling: str = "mean",
    spans: Sequence[Span] | None = None,
    only: Sequence[str] = (),
    special: bool = False,
    labels: Mapping[str, Sequence[str]] | None = None,
    most: int = 200_000,
) -> PointVectors:
    """Return the points of a corpus and their vectors.

    Args:
        encodings: one for each text, in order, on the wanted layers.
        unit: whether points are tokens, words or sentences.
        pooling: how a word's sub-tokens (`WORD_POOLINGS`) or a sentence's tokens
            (`SENTENCE_POOLINGS`) become one vector; tokens need none.
        spans: for words, the span of the only word to take from each text; None takes all.
        only: words or tokens to take, ignoring case; empty takes all.
        special: for tokens, True to include those that the tokenizer added.
        labels: columns of labels with a value for each text; a point gets its text's value.
        most: the largest number of points; no encodings are read beyond it, and `points.texts`
            holds the texts that were read.

    Raises:
        RequestError: the model has no pooler, or there is nothing to map.
    """
    read = _texts(encodings, unit, pooling, spans, only, special)
    return _joined(read, unit, only, labels or {}, most)


def _texts(
    encodings: Iterable[Encoding],
    unit: Unit,
    pooling: str,
    spans: Sequence[Span] | None,
    only: Sequence[str],
    special: bool,
) -> Iterator[ReadText]:
    wanted = {word.casefold() for word in only}
    for encoding, span in zip(encodings, repeat(None) if spans is None else spans, strict=False):
        yield ReadText(
            encoding.text,
            rows_of(encoding, unit, pooling, span, wanted, special),
            (-1,) if unit == "sentences" and not has_layers(pooling) else encoding.layers,
            encoding.n_truncated > 0,
            encoding.passport,
        )


def _joined(
    read: Iterable[ReadText],
    unit: Unit,
    only: Sequence[str],
    labels: Mapping[str, Sequence[str]],
    most: int,
    *,
    keeps_texts: bool = False,
) -> PointVectors:
    parts: list[ReadText] = []
    n = 0
    for part in read:
        parts.append(part)
        n += len(part.rows.names)
        if n >= most:
            break
    if not n:
        raise RequestError(_nothing(unit, only))
    n_points = min(n, most)
    rows = [part.rows for part in parts]
    vectors = np.concatenate([row.vectors for row in rows], axis=1)
    if keeps_texts:  # as parts of that one array
        ends = np.cumsum([len(row.names) for row in rows])
        cut = zip(parts, np.split(vectors, ends[:-1], axis=1), strict=True)
        parts = [replace(part, rows=replace(part.rows, vectors=own)) for part, own in cut]
    return PointVectors(
        points=_points(unit, [part.text for part in parts], rows, labels, n_points),
        vectors=np.ascontiguousarray(vectors[:, :n_points]),
        layers=parts[-1].layers,
        n_cut=sum(part.is_cut for part in parts),
        passport=parts[-1].passport,
        read=tuple(parts) if keeps_texts else (),
    )


def _nothing(unit: Unit, only: Sequence[str]) -> str:
    if only:
        words = ", ".join(f"“{word}”" for word in only[:3])
        return (
            f"No {unit.removesuffix('s')} here is {words}. Write it as in the texts, or empty the "
            "field to map them all."
        )
    return f"These texts have no {unit} to map. Choose other texts, or another kind of point."


def _points(
    unit: Unit,
    texts: list[str],
    rows: list[TextRows],
    labels: Mapping[str, Sequence[str]],
    n_points: int,
) -> Points:
    sentence = np.repeat(np.arange(len(rows)), [len(row.names) for row in rows])[:n_points]
    titles = rows[0].columns if rows else {}
    columns = {t: tuple(v for row in rows for v in row.columns[t])[:n_points] for t in titles}
    given = {label_title(t): tuple(column[i] for i in sentence) for t, column in labels.items()}
    clashing = {title for title in given if title in columns and given[title] != columns[title]}
    given = {f"{t} (label)" if t in clashing else t: column for t, column in given.items()}
    measures = {"sentence length in characters": np.array([len(texts[i]) for i in sentence])}
    if unit == "sentences":
        columns["part of the texts"] = tuple(parts_of(sentence, len(texts)))
    else:
        positions = np.array([p for row in rows for p in row.positions])[:n_points]
        measures = {"position in the sentence": positions, **measures}
    return Points(
        unit=unit,
        texts=tuple(texts),
        sentence=sentence.astype(np.int64),
        spans=np.concatenate([row.spans for row in rows])[:n_points].astype(np.int64),
        names=tuple(name for row in rows for name in row.names)[:n_points],
        labels={**given, **columns},
        measures={title: values.astype(np.float32) for title, values in measures.items()},
    )


# --- The points of a planned map and their vectors

_N_TEXTS = 96  # texts encoded at a time


def read_points(
    request: MapRequest,
    corpus: Corpus,
    card: ModelCard,
    plan: Plan,
    service: EncoderService,
    *,
    on_progress: OnProgress,
    note_speed: Callable[[int, float], None],
    first: Sequence[ReadText] = (),
) -> PointVectors:
    """Return the points with the vectors of the planned layers.

    Args:
        request, corpus, card, plan: those of the map.
        service: encodes the texts.
        on_progress: receives the progress; an exception from it ends the work.
        note_speed: receives the number of encoded tokens and the seconds, after each group of
            texts.
        first: the planned first texts, if they were read; they are not read again.

    Raises:
        ContextlensError: the texts cannot be encoded, or hold nothing to map.
    """
    order = plan.order
    done = dict(zip(plan.first.tolist(), first, strict=False))
    rest = [i for at, i in enumerate(order) if at not in done]
    n_rest = max(1, plan.n_texts - len(done))
    chosen = request.unit == "words" and not request.every_word and corpus.spans is not None
    spans = [corpus.spans[i] for i in rest] if chosen and corpus.spans is not None else None
    layers = plan.layers if has_layers(request.pooling) else (card.n_layers,)
    labels = {title: [column[i] for i in order] for title, column in corpus.labels.items()}

    def batches() -> Iterator[list[str]]:
        for at in range(0, len(rest), _N_TEXTS):
            on_progress(f"Reading {plan.n_texts:,} texts", min(1.0, at / n_rest))
            yield [corpus.texts[i] for i in rest[at : at + _N_TEXTS]]

    def encodings() -> Iterator[Encoding]:
        for texts in batches():
            start = time.monotonic()
            batch = service.encode(
                card.id,
                texts,
                layers=layers,
                precision=plan.precision,
                checksum=card.checksum,
            )
            note_speed(sum(encoding.n_tokens for encoding in batch), time.monotonic() - start)
            yield from batch

    def by_recipe() -> Iterator[ReadText]:
        for texts in batches():
            for rows, made in recipe_rows(texts, card, service, request.pooling, plan.precision):
                yield ReadText(rows.names[0], rows, (-1,), made.n_truncated > 0, made.passport)

    def of_file(given: FileVectors) -> Iterator[ReadText]:
        passport, at = given.passport(), iter(rest)
        for texts in batches():
            for text, i in zip(texts, at, strict=False):
                yield ReadText(text, _sentence(text, given.rows[i][None]), (-1,), False, passport)

    how = request.unit, request.pooling, spans, request.only, request.special
    others = by_recipe() if is_recipe(request.pooling) else _texts(encodings(), *how)
    if request.pooling == GIVEN:
        if corpus.own is None:
            raise RequestError("These texts bring no vectors. Choose the vectors of the model.")
        others = of_file(corpus.own)
    read = (done[at] if at in done else next(others) for at in range(len(order)))
    return _joined(
        read, request.unit, request.only, labels, request.most, keeps_texts=request.is_first
    )
