"""The word as the model's word table has it: one point, whatever it means.

Its row (or the mean of its pieces' rows) goes into layer 0 wherever the word stands; position,
segment and normalization are added there, and no other word: so it lies about as near to every
sense.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from components.analysis.separation import centroids, cosine_table, cosines_to
from components.content.language import say
from components.core import EncoderService
from components.core.schema import FloatArray
from components.corpus.searchable import SearchableCorpus
from components.features.senses.compute.course import units_at
from components.features.senses.compute.word import Found

__all__ = ["InTable", "in_table"]


@dataclass(frozen=True, eq=False)
class InTable:
    """A word in the word table.

    Attributes:
        surface: as it was looked up: the most frequent way it is written here.
        pieces: the tokens whose rows are averaged.
        senses: the labelled senses.
        cosines: (n_senses,) of the row with each sense's centroid at layer 0.
        between: (n_senses, n_senses) cosines of these centroids.
        average: the mean cosine of the row with all occurrences at layer 0.
        problem: why it cannot be compared, one sentence of plain text; "" where it can.
    """

    surface: str
    pieces: tuple[str, ...]
    senses: tuple[str, ...]
    cosines: FloatArray
    between: FloatArray
    average: float
    problem: str = ""


def in_table(found: Found, corpus: SearchableCorpus, service: EncoderService) -> InTable:
    """The word's row and what it is near to at layer 0, where both have as many numbers.

    Raises:
        ContextlensError: the model cannot be used.
    """
    own = found.occurrences
    surface = Counter(own.surfaces).most_common(1)[0][0]
    place = own.surfaces.index(surface)
    (tokens,) = service.tokenize(corpus.model, [found.texts[place]])
    starts, ends = tokens.offsets.T
    start, end = (int(edge) for edge in own.spans[place])
    inside = np.flatnonzero((starts < end) & (ends > start) & (tokens.text_ids == 0))
    pieces = tuple(tokens.tokens[i] for i in inside)
    row = service.word_rows(corpus.model, tokens.token_ids[inside]).mean(axis=0)
    problem = _problem(corpus, len(row))
    if problem:
        none = np.zeros(0, dtype=np.float32)
        return InTable(surface, pieces, (), none, none.reshape(0, 0), float("nan"), problem)
    units = units_at(found, corpus, 0)
    centres = centroids(units, found.codes, len(found.senses))
    return InTable(
        surface=surface,
        pieces=pieces,
        senses=found.senses,
        cosines=cosines_to(centres, row),
        between=cosine_table(centres),
        average=float(cosines_to(units, row).mean()),
    )


def _problem(corpus: SearchableCorpus, n: int) -> str:
    if 0 not in corpus.layers:
        return say("senses.missing.no_layer_0")
    if n != corpus.n_dims:
        return say("senses.missing.table_dims", n=n, other=corpus.n_dims)
    return ""
