"""Whether a model made the vectors of a file: a sample of its texts is read again and compared.

Only then is a typed text comparable with these vectors, and the model reads it in the same way.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from contextlens.analysis.separation import scaled
from contextlens.core import EncoderService, ModelCard
from contextlens.core.byte_cache import remembered
from contextlens.core.errors import RequestError
from contextlens.core.schema import FloatArray
from contextlens.corpus.corpus import Corpus
from contextlens.maps.vectors import RECIPE, sentence_vectors

__all__ = ["N_COMPARED", "maker_of", "query_vector"]

N_COMPARED = 8
"""Texts that are read again."""
_SAME = 0.99  # the lowest cosine of a text's two vectors, which may be rounded to 8 bits in a file


def maker_of(corpus: Corpus, card: ModelCard, service: EncoderService) -> str:
    """Return how a model made a corpus's own vectors: `RECIPE` or "mean"; "" if it did not.

    Raises:
        ContextlensError: the model cannot read the texts.
    """
    own = corpus.own
    if own is None:
        return ""
    rows = np.unique(np.linspace(0, len(corpus.texts) - 1, N_COMPARED).astype(int)).tolist()
    texts, units = [corpus.texts[i] for i in rows], scaled(own.rows[rows])

    def compute() -> str:
        for pooling in (RECIPE, "mean"):
            if pooling == RECIPE and card.recipe is None:
                continue
            made = np.stack([_vector(text, pooling, card, service, "text") for text in texts])
            if made.shape == units.shape and bool(
                ((scaled(made) * units).sum(axis=1) > _SAME).all()
            ):
                return pooling
        return ""

    return remembered("maker of vectors", corpus.key, card.id, card.checksum, compute=compute)


def query_vector(
    text: str,
    corpus: Corpus,
    card: ModelCard,
    service: EncoderService,
    *,
    kind: Literal["query", "text"] = "query",
) -> FloatArray:
    """(n_dims,) a typed text as the maker of a corpus's own vectors reads it.

    Args:
        text: the text.
        corpus: the texts with their own vectors.
        card: the card of the model that is loaded.
        service: encodes the text.
        kind: the prompt before it: that of queries, or of texts.

    Raises:
        RequestError: the model is not their maker.
    """
    pooling = maker_of(corpus, card, service)
    if corpus.own is None or not pooling:
        raise RequestError(
            f"Only the model that made these vectors can read a typed text, and {card.title} did "
            f"not: it makes other vectors of {N_COMPARED} of these texts. Choose their model, or "
            "start from a text of the file."
        )
    return _vector(text, pooling, card, service, kind)


def _vector(
    text: str,
    pooling: str,
    card: ModelCard,
    service: EncoderService,
    kind: Literal["query", "text"],
) -> FloatArray:
    if pooling == RECIPE and card.recipe is not None:
        prompt = card.recipe.query_prompt if kind == "query" else card.recipe.text_prompt
        (made,) = service.sentence_vectors(card.id, [text], prompt=prompt, checksum=card.checksum)
        return made.vector
    (encoding,) = service.encode(card.id, [text], layers=[card.n_layers], checksum=card.checksum)
    vector: FloatArray = sentence_vectors(encoding, "mean")[-1]
    return vector
