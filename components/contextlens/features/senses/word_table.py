"""The word in the model's word table, beside the vectors of its senses at layer 0."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from contextlens.analysis.separation import centroids, cosine_table, cosines_to
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import quoted
from contextlens.core import EncoderService
from contextlens.core.schema import FloatArray
from contextlens.corpus.searchable import SearchableCorpus
from contextlens.features.senses.layers import units_at
from contextlens.features.senses.occurrences import WordUses
from contextlens.ui.panel import Panel

FORMULA = r"""
The word table has one row for each token, the same in every sentence. Layer 0 adds the position's
and the segment's rows to it and normalizes the sum; no other word takes part. So a word in
the table is one point, as in word2vec, about as near to each of its senses.
""".strip()

_ALIKE = 0.02  # cosines no further apart are called equal
_N_COLUMNS = 6


@dataclass(frozen=True, eq=False)
class WordTable(Panel):
    """A word in the word table.

    Attributes:
        surface: the spelling that was looked up, the most frequent in this corpus.
        pieces: the tokens whose rows are averaged.
        senses: the labelled senses.
        cosines: (n_senses,) between the row and each sense's centroid at layer 0.
        between: (n_senses, n_senses) cosines of these centroids.
        average: the mean cosine between the row and all occurrences at layer 0.
        problem: the reason why it cannot be compared, a plain sentence; "" if it can.
    """

    surface: str
    pieces: tuple[str, ...]
    senses: tuple[str, ...]
    cosines: FloatArray
    between: FloatArray
    average: float
    problem: str = ""
    formula = FORMULA

    def claims(self) -> list[Claim]:
        """The senses close to the word table's one vector; none with a problem."""
        if self.problem:
            return []
        n, word = len(self.pieces), quoted(self.surface)
        claims = [claim("senses.table.rows", n=n, word=word, average=self.average)]
        cosines = [float(value) for value in self.cosines]
        if len(cosines) < 2:
            return claims
        low, high = min(cosines), max(cosines)
        if high - low <= _ALIKE:
            return [*claims, claim("senses.table.alike", low=low, high=high)]
        best, worst = (quoted(self.senses[cosines.index(value)]) for value in (high, low))
        return [*claims, claim("senses.table.apart", best=best, worst=worst, high=high, low=low)]

    def notes(self) -> list[Claim]:
        """The meaning of the table's numbers."""
        return [claim("senses.table.caption")]

    def rows(self) -> list[dict[str, str | float]]:
        """A row for each sense; none for fewer than two, as there is nothing to compare."""
        if len(self.senses) < 2:
            return []
        others = self.senses[:_N_COLUMNS]
        return [
            {
                "sense": name,
                "the word's row": float(self.cosines[i]),
                **{f"to {other}": float(self.between[i, j]) for j, other in enumerate(others)},
            }
            for i, name in enumerate(self.senses)
        ]


def word_table(uses: WordUses, corpus: SearchableCorpus, service: EncoderService) -> WordTable:
    """The word's row and its similarities at layer 0, or the problem that rules them out.

    Raises:
        ContextlensError: the model cannot be used.
    """
    occurrences = uses.occurrences
    surface = Counter(occurrences.surfaces).most_common(1)[0][0]
    index = occurrences.surfaces.index(surface)
    (tokens,) = service.tokenize(corpus.model, [uses.texts[index]])
    starts, ends = tokens.offsets.T
    start, end = (int(edge) for edge in occurrences.spans[index])
    inside = np.flatnonzero((starts < end) & (ends > start) & (tokens.text_ids == 0))
    pieces = tuple(tokens.tokens[i] for i in inside)
    row = service.word_rows(corpus.model, tokens.token_ids[inside]).mean(axis=0)
    problem = _problem(corpus, len(row))
    if problem:
        none = np.zeros(0, dtype=np.float32)
        return WordTable(surface, pieces, (), none, none.reshape(0, 0), float("nan"), problem)
    units = units_at(uses, corpus, 0)
    centres = centroids(units, uses.codes, len(uses.senses))
    return WordTable(
        surface=surface,
        pieces=pieces,
        senses=uses.senses,
        cosines=cosines_to(centres, row),
        between=cosine_table(centres),
        average=float(cosines_to(units, row).mean()),
    )


def _problem(corpus: SearchableCorpus, n_dims: int) -> str:
    if 0 not in corpus.layers:
        return say("senses.missing.no_layer_0")
    if n_dims != corpus.n_dims:
        return say("senses.missing.table_dims", n=n_dims, other=corpus.n_dims)
    return ""
