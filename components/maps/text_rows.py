"""What one text adds to a map: its words, tokens or itself, each with its vectors and labels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from components.analysis.words import pool
from components.core.errors import RequestError
from components.core.schema import Encoding, FloatArray, IntArray
from components.core.words import Span, split_words
from components.maps.points import Unit

__all__ = [
    "SENTENCE_POOLINGS",
    "WORD_POOLINGS",
    "TextRows",
    "parts_of",
    "rows_of",
    "sentence_vectors",
]

WORD_POOLINGS = ("mean", "first", "last")
SENTENCE_POOLINGS = ("mean", "own", "cls", "max", "pooler")
"""Ways to make a sentence's vector from its tokens': of all, of its own alone, [CLS], ..."""
_PARTS = ("first third", "middle third", "last third")


@dataclass
class TextRows:
    """What one text adds to a map: a row for each of its points."""

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
    """What a text adds to a map of words, tokens or sentences.

    Raises:
        RequestError: the model has no pooler.
    """
    if unit == "sentences":
        return _sentence(encoding, pooling)
    if unit == "tokens":
        return _tokens(encoding, wanted, special)
    return _words(encoding, pooling, span, wanted)


def _sentence(encoding: Encoding, pooling: str) -> TextRows:
    vector = sentence_vectors(encoding, pooling)
    return TextRows([encoding.text], np.array([[0, len(encoding.text)]]), vector[:, None])


def sentence_vectors(encoding: Encoding, pooling: str) -> FloatArray:
    """(n_layers, n_dims) float32: a text's vector at each layer; (1, n_dims) of the pooler.

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
    own = real & (encoding.special_tokens_mask == 0)
    if pooling == "own" and own.any():
        real = own
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
    takes = [span] if span is not None else [e for e in spans if _is_word(text[slice(*e)])]
    found = [
        (edges, at)
        for edges in takes
        if not wanted or text[slice(*edges)].casefold() in wanted
        if (at := _tokens_of(encoding, edges)).size
    ]
    pooled = [pool(encoding.hidden[:, at], _word_pooling(pooling)) for _, at in found]
    empty = encoding.hidden[:, :0]
    names = [text[slice(*edges)] for edges, _ in found]
    starts = {start: i for i, (start, _) in enumerate(spans)}
    places = [starts.get(edges[0], 0) for edges, _ in found]
    return TextRows(
        names,
        np.array([edges for edges, _ in found], dtype=np.int64).reshape(-1, 2),
        np.stack(pooled, axis=1) if pooled else empty,
        {"word": [name.casefold() for name in names], "part of text": parts_of(places, len(spans))},
        [float(i) for i in places],
    )


def _is_word(text: str) -> bool:
    return any(map(str.isalnum, text))


def _tokens_of(encoding: Encoding, edges: Span) -> IntArray:
    """Positions of the tokens that share characters with a word, as in `words.token_positions`."""
    start, end = edges
    offsets = encoding.offsets
    inside = (encoding.text_ids == 0) & (offsets[:, 0] < end) & (offsets[:, 1] > start)
    return np.flatnonzero(inside)


def _word_pooling(pooling: str) -> Literal["mean", "first", "last"]:
    return "first" if pooling == "first" else "last" if pooling == "last" else "mean"


def parts_of(positions: Iterable[int] | IntArray, n: int) -> list[str]:
    """In which third of n places each position is."""
    return [_PARTS[min(2, 3 * int(p) // max(n, 1))] for p in positions]
