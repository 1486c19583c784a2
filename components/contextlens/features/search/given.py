"""The texts nearest to another one by the vectors of a file: to a row, to numbers, to a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from contextlens.content.language import Claim, claim
from contextlens.content.wording import quoted
from contextlens.core import EncoderService, ModelCard
from contextlens.core.errors import CorpusError
from contextlens.core.schema import FloatArray, Passport
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.file_vectors import FileVectors, numbers_in
from contextlens.features.search.controls import MAX_HITS
from contextlens.features.search.search import WORK, TextIndex, first, index_of
from contextlens.jobs import Report, Task
from contextlens.maps.makers import query_vector
from contextlens.ui.panel import Panel, Rows

FORMULA = r"""
**By the vectors of the file.** Texts are ordered by the cosine of their vector $v$ in the file with
the vector $q$ of the query: the vector of a text of the file, or given numbers.

$$\cos(q, v) = \frac{q \cdot v}{\lVert q \rVert \lVert v \rVert}$$

**By words.** scikit-learn's TF-IDF of content words, as in a search by a model.
""".strip()

_SECONDS_A_TEXT = 2e-4  # to count the words of a text
Kind = Literal["row", "numbers", "text"]


@dataclass(frozen=True)
class GivenHit:
    """A text that a search finds.

    Attributes:
        row: its row in the file, from 1.
        text: the text.
        cosine: its similarity to the query.
        word_rank: its rank by TF-IDF, from 1; 0 if it shares no word, None if the query is numbers.
    """

    row: int
    text: str
    cosine: float
    word_rank: int | None

    def line(self) -> Claim:
        """The numbers of the text."""
        if self.word_rank is None:
            return claim("search.given.numbers_hit", row=self.row, cosine=self.cosine)
        if self.word_rank:
            return claim("search.given.hit", row=self.row, cosine=self.cosine, rank=self.word_rank)
        return claim("search.given.new_hit", row=self.row, cosine=self.cosine)


@dataclass(frozen=True, eq=False)
class GivenQuery:
    """A query with its vector.

    Attributes:
        kind: what the visitor gave.
        vector: (n_dims,) its vector.
        text: its text; "" for numbers.
        row: its row in the file, from 1; 0 for others.
    """

    kind: Kind
    vector: FloatArray
    text: str = ""
    row: int = 0


@dataclass(frozen=True, eq=False)
class GivenSearch(Panel):
    """The first texts by the vectors of a file and by words.

    Attributes:
        own: the vectors.
        query: the query.
        n: the number of texts searched.
        by_vectors, by_words: best first.
        median: the median similarity of all searched texts.
    """

    formula: ClassVar[str] = FORMULA

    own: FileVectors
    query: GivenQuery
    n: int
    by_vectors: tuple[GivenHit, ...]
    by_words: tuple[GivenHit, ...]
    median: float

    @property
    def passport(self) -> Passport:
        """The passport of the numbers."""
        return self.own.passport()

    def claims(self) -> Sequence[Claim]:
        """The nearest text with its number, the query if it is a row of the file, the yardstick."""
        if not self.by_vectors:
            return [claim("search.given.alone")]
        cosine, yardstick = self.by_vectors[0].cosine, list[Claim]()
        if self.n > 1:  # the median of one is the result
            yardstick = [claim("search.given.yardstick", median=self.median)]
        if self.query.kind != "row":
            return [claim(f"search.given.nearest_{self.query.kind}", cosine=cosine), *yardstick]
        row, text = self.query.row, quoted(self.query.text, 300)
        return [
            claim("search.given.nearest_row", row=row, cosine=cosine),
            claim("search.given.query", row=row, text=text),
            *yardstick,
        ]

    def caption(self) -> Claim:
        """How many texts were searched, and by what."""
        if self.query.kind == "numbers":
            return claim("search.given.among_numbers", n=self.n)
        return claim("search.given.among", n=self.n)

    def rows(self) -> Rows:
        """A row for each text that either way finds."""
        hits = {hit.row: hit for hit in (*self.by_vectors, *self.by_words)}
        return [
            {
                "row": hit.row,
                "text": hit.text,
                "cosine": hit.cosine,
                "rank by words": hit.word_rank or None,
            }
            for hit in hits.values()
        ]

    def snippet(self) -> str:
        """A script that computes the cosines of the found texts from the file."""
        place = {int(p) + 1: i for i, p in enumerate(self.own.places.tolist())}
        wanted = [place[hit.row] for hit in self.by_vectors]
        if self.query.kind == "row":
            script = self.own.script([place[self.query.row], *wanted])
            script += "query, vectors = vectors[0], vectors[1:]\n"
        else:
            numbers = ", ".join(f"{value:.8g}" for value in self.query.vector.tolist())
            script = f"{self.own.script(wanted)}query = np.array([{numbers}])\n"
        return (
            f"{script}cosines = vectors @ query / np.linalg.norm(vectors, axis=1)\n"
            "cosines /= np.linalg.norm(query)\nprint(cosines.round(4))\n"
        )


def given_task(corpus: Corpus) -> Task:
    """A task that returns the `TextIndex` of texts with vectors of their own."""
    own = corpus.own
    if own is None:
        raise CorpusError("These texts bring no vectors. Choose the vectors of the model.")

    def work(report: Report) -> TextIndex:
        report("Counting words", 0.0)
        return index_of(corpus.texts, own.rows)

    size = len(corpus.texts) * _SECONDS_A_TEXT
    return Task(("search given", corpus.key), WORK, work, size=size)


def row_query(corpus: Corpus, row: int) -> GivenQuery:
    """Return a row of the file, from 1, as the query; 0 is the first text with a vector.

    Raises:
        CorpusError: the row has no text or no vector.
    """
    own = corpus.own
    if own is None:
        raise CorpusError("These texts bring no vectors. Choose the vectors of the model.")
    places = own.places.tolist()
    if row == 0:
        row = places[0] + 1
    if row - 1 not in places:
        raise CorpusError(
            f"Row {row:,} of {own.file} has no vector or no text here. Choose another row."
        )
    i = places.index(row - 1)
    return GivenQuery("row", own.rows[i], corpus.texts[i], row)


def pasted_numbers(pasted: str, n_dims: int) -> FloatArray:
    """Return pasted numbers as a vector.

    Raises:
        CorpusError: they are no numbers, too few or too many, or of no direction.
    """
    numbers = numbers_in(pasted if pasted.strip().startswith("[") else f"[{pasted}]")
    if numbers is None or not len(numbers):
        raise CorpusError(
            "These are no numbers. Paste the numbers of one vector, separated by commas or spaces."
        )
    if len(numbers) != n_dims:
        raise CorpusError(
            f"You pasted {len(numbers):,} numbers, and the vectors of the file have {n_dims:,}. "
            "Paste a vector of the same model."
        )
    with np.errstate(over="ignore"):
        vector: FloatArray = numbers.astype(np.float32)
    if not np.isfinite(vector).all() or not vector.any():
        raise CorpusError("A vector of zeros, or with NaN, has no direction. Paste another one.")
    return vector


def text_query(text: str, corpus: Corpus, card: ModelCard, service: EncoderService) -> GivenQuery:
    """Return a typed text as the query.

    Raises:
        ContextlensError: the model did not make the vectors, or cannot read the text.
    """
    return GivenQuery("text", query_vector(text, corpus, card, service), text)


def search_given(index: TextIndex, corpus: Corpus, query: GivenQuery) -> GivenSearch:
    """Return the first texts by the vectors of the file and by words, without the query itself."""
    own = corpus.own
    if own is None:
        raise CorpusError("These texts bring no vectors. Choose the vectors of the model.")
    cosines, scores = index.scores(query.vector, query.text)
    others = np.flatnonzero(own.places != query.row - 1)
    with_word = others[scores[others] > 0]
    by_vectors = others[first(cosines[others], MAX_HITS)]
    by_words = with_word[first(scores[with_word], MAX_HITS)]

    def hit(i: int) -> GivenHit:
        score = float(scores[i])
        rank = 1 + int((scores[others] > score).sum()) if score > 0 else 0
        known = None if query.kind == "numbers" else rank
        return GivenHit(int(own.places[i]) + 1, corpus.texts[i], float(cosines[i]), known)

    return GivenSearch(
        own=own,
        query=query,
        n=len(others),
        by_vectors=tuple(map(hit, by_vectors.tolist())),
        by_words=tuple(map(hit, by_words.tolist())),
        median=float(np.median(cosines[others])) if len(others) else 0.0,
    )
