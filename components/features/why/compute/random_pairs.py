"""What unrelated sentences get: the yardstick of a sentence vector's cosine, layer by layer.

Random pairs of the sample sentences, as words have random pairs of their own. With few sentences
all pairs are taken: nothing is drawn, and nothing depends on a seed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from components.analysis.baseline import Band
from components.analysis.similarity import cosine_matrix
from components.content.sample import baseline_sentences
from components.core import EncoderService, ModelCard
from components.features.why.measures.target import WHATS, Doubles, What, vector_of, weights_of

__all__ = ["SentencePairs", "random_pairs"]

_OF = "English sentences"
_AT_ONCE = 65


@dataclass(frozen=True, eq=False)
class SentencePairs:
    """The cosines of all pairs of sample sentences.

    Attributes:
        mean, cls: of their sentence vectors of either kind, at each layer.
        n_sentences: how many there are.
    """

    mean: Band
    cls: Band
    n_sentences: int

    def band(self, what: What) -> Band | None:
        """Of one kind of sentence vector; None for words, which have random pairs of their own."""
        return {"mean": self.mean, "cls": self.cls}.get(what)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(b.low.nbytes * 3 for b in (self.mean, self.cls))


def random_pairs(service: EncoderService, card: ModelCard) -> SentencePairs:
    """Measure it in a model: half a second in a small one, once."""
    texts = baseline_sentences()
    vectors: dict[What, list[Doubles]] = {what: [] for what in WHATS if what != "word"}
    for start in range(0, len(texts), _AT_ONCE):  # all layers of all tokens would take much room
        some = texts[start : start + _AT_ONCE]
        for encoding in service.encode(card.id, some, checksum=card.checksum):
            for what, own in vectors.items():
                own.append(vector_of(encoding.hidden, weights_of(encoding, what)))
    bands = {what: _band(np.stack(own, axis=1)) for what, own in vectors.items()}
    return SentencePairs(bands["mean"], bands["cls"], len(texts))


def _band(vectors: Doubles) -> Band:
    """The band of (n_layers, n_sentences, n_dims) vectors."""
    first, second = np.triu_indices(vectors.shape[1], 1)
    rows = []
    for layer in vectors:
        cosines = cosine_matrix(layer)[first, second]
        rows.append((np.percentile(cosines, 5), cosines.mean(), np.percentile(cosines, 95)))
    low, mean, high = np.array(rows, np.float32).T
    return Band(low, mean, high, _OF)
