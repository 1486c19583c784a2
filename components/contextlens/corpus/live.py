"""A corpus in memory whose word vectors are computed on demand.

A corpus that ships with the app, or a visitor's own sentences, can therefore be searched at once,
without indexing. It has the same methods as a corpus on disk: see `SearchableCorpus`. Words whose
tokens are cut off have no vector.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property

import numpy as np

from contextlens.core import EncoderService
from contextlens.core.byte_cache import remembered
from contextlens.core.errors import CorpusError
from contextlens.core.schema import FloatArray, IntArray, Tokens
from contextlens.core.words import Span, folded
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.searchable import BoolArray, Nearest, Occurrences, WordCount
from contextlens.corpus.store.rows import read_vectors, words_of

__all__ = ["LiveCorpus"]

_LONGEST = 64  # characters of a word for which similar spellings are searched
_ALIKE = 0.6  # difflib's ratio from which spellings are similar


class LiveCorpus:
    """A corpus's words in a model, as a `SearchableCorpus`. Thread-safe.

    Words without a letter or digit are not occurrences. Neither are words without a token, which
    the model's maximum length cuts off or its tokenizer drops. A text's marked span is an
    occurrence even if it is not a single word.

    Attributes:
        name: a short name, unique to these texts in this model.
        title: the corpus's name.
        model: the model's id.
        layers: all layers of the model.
        n_dims: the length of its vectors.
        split: the column that separates training from test, or "".
    """

    def __init__(
        self, corpus: Corpus, service: EncoderService, model: str, *, split: str = ""
    ) -> None:
        """Take a corpus, and load the model.

        Raises:
            ContextlensError: the model cannot be used.
        """
        card = service.load(model)
        self._corpus, self._service, self._checksum = corpus, service, card.checksum
        self.name = f"{corpus.key[:32]} {card.checksum[:32]}"
        self.title, self.model = corpus.name, model
        self.layers, self.n_dims = tuple(range(card.n_layers + 1)), card.n_dims
        self.n_texts, self.columns = len(corpus.texts), tuple(corpus.labels)
        self.split = split if split in corpus.labels else ""
        self.has_targets = corpus.spans is not None

    @property
    def corpus(self) -> Corpus:
        """Its texts with their labels and marked words."""
        return self._corpus

    @property
    def n_occurrences(self) -> int:
        """The number of occurrences of words."""
        return len(self._index.words)

    def n_cut(self, word: str) -> int:
        """Return how often a word stands without a token, and so without a vector."""
        return self._index.cut[folded(word)]

    @cached_property
    def _index(self) -> WordIndex:
        return remembered("word index", self.name, self.model, compute=self._indexed)

    def _indexed(self) -> WordIndex:
        texts = self._corpus.texts
        return word_index(self._corpus, self._service.tokenize(self.model, texts) if texts else [])

    def words(self, prefix: str = "", n: int = 20) -> tuple[WordCount, ...]:
        """Return words with this prefix, most frequent first, then in alphabetical order."""
        wanted = folded(prefix)
        return self._counted([word for word in self._index.counts if word.startswith(wanted)])[:n]

    def similar(self, word: str, n: int = 5) -> tuple[WordCount, ...]:
        """Return words of similar spelling, nearest first by difflib; none for a very long word."""
        wanted, counts = folded(word), self._index.counts
        if not wanted or len(wanted) > _LONGEST:
            return ()
        others = [known for known in counts if known != wanted and len(known) <= 2 * len(wanted)]
        matches = get_close_matches(wanted, others, n=n, cutoff=_ALIKE) if n else []
        return tuple(WordCount(known, counts[known]) for known in matches)

    def inside(self, word: str, n: int = 5) -> tuple[WordCount, ...]:
        """Return longer words that contain this one, most frequent first."""
        wanted = folded(word)
        if not wanted:
            return ()
        longer_words = [
            known for known in self._index.counts if wanted in known and wanted != known
        ]
        return self._counted(longer_words)[:n]

    def occurrences(self, word: str, *, most: int | None = None, seed: int = 0) -> Occurrences:
        """Return all occurrences of a word, ignoring case, or a random sample of `most`."""
        wanted = folded(word)
        rows = np.array(self._index.rows.get(wanted, []), dtype=np.int64)
        n_total = len(rows)
        if most is not None and n_total > most:
            chosen = np.random.default_rng(seed).choice(n_total, most, replace=False)
            rows = rows[np.sort(chosen)]
        return self._at(wanted, rows, n_total)

    def at(self, rows: IntArray) -> Occurrences:
        """Return the occurrences in these rows, in the order given, of any words.

        Raises:
            CorpusError: there is no such row.
        """
        row_numbers = np.asarray(rows, dtype=np.int64).ravel()
        if (
            row_numbers.size
            and not 0 <= row_numbers.min() <= row_numbers.max() < self.n_occurrences
        ):
            raise CorpusError(
                f"This corpus has {self.n_occurrences:,} occurrences, and one of another was asked "
                "for. Search for the word again."
            )
        return self._at("", row_numbers, len(row_numbers))

    def text(self, ids: IntArray) -> tuple[str, ...]:
        """Return the texts with these numbers, in the order given."""
        return tuple(self._corpus.texts[i] for i in self._checked(ids))

    def column(self, title: str, ids: IntArray) -> tuple[str, ...]:
        """Return the labels of these texts in a column.

        Raises:
            CorpusError: there is no such column, or no such text.
        """
        if title not in self._corpus.labels:
            known = ", ".join(f"“{column}”" for column in self.columns) or "none"
            raise CorpusError(f"This corpus has no column “{title}”; it has: {known}. Choose one.")
        labels = self._corpus.labels[title]
        return tuple(labels[i] for i in self._checked(ids))

    def vectors(self, occurrences: Occurrences, layer: int) -> FloatArray:
        """(n, n_dims) float32: the means of the occurrences' sub-tokens at a layer, not scaled.

        All layers of one word are computed together and cached.

        Raises:
            CorpusError: there is no such layer.
        """
        at = self._place(layer)
        every = remembered(
            "vectors of a word",
            self.name,
            self.model,
            occurrences.rows.tobytes(),
            compute=lambda: self._encoded(occurrences, self.layers),
        )
        vectors: FloatArray = every[at]
        return vectors

    def nearest(
        self, vector: FloatArray, layer: int, n: int, *, word: str | None = None
    ) -> Nearest:
        """Return the n occurrences with the highest cosine to a vector, of one word or of any.

        Raises:
            CorpusError: there is no such layer, or the vector has another length.
        """
        wanted = np.asarray(vector, dtype=np.float64).ravel()
        if len(wanted) != self.n_dims:
            raise CorpusError(
                f"A vector of this corpus has {self.n_dims} numbers, and one of {len(wanted)} was "
                "given. Give one of the same model."
            )
        self._place(layer)
        if word is None:
            occurrences = self._at("", np.arange(self.n_occurrences), self.n_occurrences)
            vectors = remembered(
                "vectors of all words",
                self.name,
                self.model,
                layer,
                compute=lambda: self._encoded(occurrences, (layer,))[0],
            )
        else:
            occurrences = self.occurrences(word)
            vectors = self.vectors(occurrences, layer)
        lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(wanted)
        products = vectors @ wanted
        cosines = np.divide(products, lengths, out=np.zeros(len(occurrences)), where=lengths > 0)
        order = np.argsort(-cosines, kind="stable")[: max(n, 0)]
        return Nearest(occurrences.rows[order], np.clip(cosines[order], -1, 1).astype(np.float32))

    def _counted(self, words: Sequence[str]) -> tuple[WordCount, ...]:
        counts = self._index.counts
        ordered = sorted(words, key=lambda word: (-counts[word], word))
        return tuple(WordCount(word, counts[word]) for word in ordered)

    def _at(self, word: str, rows: IntArray, n_total: int) -> Occurrences:
        index, chosen = self._index, rows.tolist()
        return Occurrences(
            word=word,
            rows=rows,
            texts=index.texts[rows],
            spans=index.spans[rows],
            surfaces=tuple(index.surfaces[row] for row in chosen),
            left=tuple(index.left[row] for row in chosen),
            right=tuple(index.right[row] for row in chosen),
            is_target=index.is_target[rows],
            n_total=n_total,
        )

    def _checked(self, ids: IntArray) -> list[int]:
        numbers: list[int] = np.asarray(ids, dtype=np.int64).ravel().tolist()
        if any(not 0 <= i < self.n_texts for i in numbers):
            raise CorpusError(f"This corpus has texts 0 to {self.n_texts - 1}; others were asked.")
        return numbers

    def _place(self, layer: int) -> int:
        if layer not in self.layers:
            raise CorpusError(
                f"This corpus has no vectors of layer {layer}; it has layers 0 to "
                f"{self.layers[-1]}. Choose one of these."
            )
        return self.layers.index(layer)

    def _encoded(self, occurrences: Occurrences, layers: Sequence[int]) -> FloatArray:
        return read_vectors(self, occurrences, layers, self._service, self._checksum)


@dataclass(frozen=True, eq=False)
class WordIndex:
    """Every occurrence of a corpus, in the order of the text, one column for each property.

    Attributes:
        texts: (n,) the number of its text.
        spans: (n, 2) its start and end in the text, in code points.
        words, surfaces: folded, and as written.
        left, right: the words beside it, folded; "" at the ends of a text.
        is_target: (n,) True if it is the marked word of its text.
        cut: how often each word is left out because it has no token, such as words cut off.
    """

    texts: IntArray
    spans: IntArray
    words: tuple[str, ...]
    surfaces: tuple[str, ...]
    left: tuple[str, ...]
    right: tuple[str, ...]
    is_target: BoolArray
    cut: Counter[str]

    @cached_property
    def counts(self) -> Counter[str]:
        """The number of occurrences of each word."""
        return Counter(self.words)

    @cached_property
    def rows(self) -> dict[str, list[int]]:
        """The rows of each word."""
        rows: dict[str, list[int]] = {}
        for row, word in enumerate(self.words):
            rows.setdefault(word, []).append(row)
        return rows


def word_index(corpus: Corpus, tokens: Sequence[Tokens]) -> WordIndex:
    """Return the index of every word of a corpus that has a token."""
    columns: list[tuple[int, Span, str, str, bool]] = []
    cut: Counter[str] = Counter()
    for number, (text, text_tokens) in enumerate(zip(corpus.texts, tokens, strict=True)):
        target = None if corpus.spans is None else corpus.spans[number]
        words = words_of(text, target)
        spans = np.array([word.span for word in words], dtype=np.int64).reshape(-1, 2)
        has_vector = _have_tokens(text_tokens, spans)
        cut.update(folded(text[slice(*span)]) for span in spans[~has_vector].tolist())
        columns += [
            (number, word.span, word.left, word.right, word.span == target)
            for word in (words[i] for i in np.flatnonzero(has_vector).tolist())
        ]
    surfaces = tuple(corpus.texts[number][slice(*span)] for number, span, *_ in columns)
    return WordIndex(
        texts=np.array([row[0] for row in columns], dtype=np.int64),
        spans=np.array([row[1] for row in columns], dtype=np.int64).reshape(-1, 2),
        words=tuple(folded(surface) for surface in surfaces),
        surfaces=surfaces,
        left=tuple(row[2] for row in columns),
        right=tuple(row[3] for row in columns),
        is_target=np.array([row[4] for row in columns], dtype=np.bool_),
        cut=cut,
    )


def _have_tokens(tokens: Tokens, spans: IntArray) -> BoolArray:
    """(n_spans,) True if a token of the text overlaps the span."""
    starts, ends = tokens.offsets.T
    inside = (starts < spans[:, 1:]) & (ends > spans[:, :1]) & (tokens.text_ids == 0)
    has_token: BoolArray = inside.any(axis=1)
    return has_token
