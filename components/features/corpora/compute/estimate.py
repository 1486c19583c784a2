"""What indexing will take, before it begins: words, disk and time, by a sample of the texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from components.core import EncoderService, ModelCard
from components.corpus.corpus import Corpus
from components.corpus.store.about import Indexing, indexing_of
from components.corpus.store.rows import words_of
from components.corpus.store.space import estimated_bytes

__all__ = ["Estimate", "estimate", "usual_layers"]

_MOST_BYTES = 500_000_000
"""Up to which all layers are indexed unless others are chosen."""
_N_SAMPLES, _N_TOKENIZED = 500, 64
_LONGER = 1.2  # than encoding alone: words are gathered and written


@dataclass(frozen=True)
class Estimate:
    """About how much indexing takes.

    Attributes:
        n_texts: to read.
        n_words: occurrences that will be stored.
        n_bytes: on disk.
        seconds: on this machine.
    """

    n_texts: int
    n_words: int
    n_bytes: int
    seconds: float


def usual_layers(corpus: Corpus, card: ModelCard) -> tuple[int, ...]:
    """All layers where they take little room, else the first, the middle and the last."""
    every = tuple(range(card.n_layers + 1))
    if estimated_bytes(corpus, indexing_of(card, every, "exact")) < _MOST_BYTES:
        return every
    return tuple(sorted({0, card.n_layers // 2, card.n_layers}))


def estimate(
    corpus: Corpus,
    indexing: Indexing,
    card: ModelCard,
    service: EncoderService,
    token_seconds: float,
) -> Estimate:
    """What a corpus will take; a sample of its texts is cut into words and tokens.

    Args:
        corpus: what is to be indexed.
        indexing: with what.
        card: of the model.
        service: cuts into tokens.
        token_seconds: what the model takes for one.
    """
    n = len(corpus.texts)
    sample = _spread(corpus.texts, _N_SAMPLES)
    n_words = sum(len(words_of(text)) for text in sample) * n / len(sample)
    cut = service.tokenize(card.id, _spread(corpus.texts, _N_TOKENIZED))
    n_tokens = sum(min(own.n_tokens, card.max_length) for own in cut) * n / len(cut)
    return Estimate(
        n_texts=n,
        n_words=round(n_words),
        n_bytes=estimated_bytes(corpus, indexing),
        seconds=_LONGER * n_tokens * token_seconds,
    )


def _spread(texts: Sequence[str], n: int) -> list[str]:
    return list(texts[:: max(1, len(texts) // n)][: 2 * n])
