"""How much disk a corpus takes and may take: guessed before it is stored, checked as it grows."""

from __future__ import annotations

from collections.abc import Sequence

from components.core.errors import CorpusError
from components.corpus.sheet import named
from components.corpus.store.about import Indexing
from components.corpus.store.word_rows import words_of

__all__ = ["check_room", "check_size", "estimated_bytes"]

_N_SAMPLES = 500
_OVERHEAD = 1.1
"""Of vectors: their index takes less than a tenth."""
_LIGHT = 40  # bytes of an occurrence beside its vectors
_MOST_WORDS = 400  # that a model reads of one text


def estimated_bytes(texts: Sequence[str], indexing: Indexing) -> int:
    """What texts will take with their vectors, by a sample of them."""
    if not texts:
        return 0
    sample = texts[:: max(1, len(texts) // _N_SAMPLES)]
    n_words = sum(min(_MOST_WORDS, len(words_of(text))) for text in sample)
    n_characters = sum(len(text.encode("utf-8", "replace")) for text in sample)
    own = n_words * (_OVERHEAD * indexing.row_bytes + _LIGHT) + n_characters
    return int(own * len(texts) / len(sample))


def check_room(title: str, n_bytes: int, *, max_corpus: int, left: int, free: int | None) -> None:
    """Pass where a corpus of about so many bytes may be stored.

    Args:
        title: what to call it.
        n_bytes: what it is likely to take.
        max_corpus: the most that one may take.
        left: what all others leave of what is allowed.
        free: what the disk has left, where that is known.

    Raises:
        CorpusError: there is no room for it.
    """
    would = f"{named(title)} would take about {_mb(n_bytes)} here, with its vectors"
    if n_bytes > max_corpus:
        raise CorpusError(
            f"{would}; one corpus may take {_mb(max_corpus)}. Choose fewer layers, or a shorter "
            "file."
        )
    if n_bytes > left:
        raise CorpusError(
            f"{would}; there is room for {_mb(max(0, left))} more of all corpora. Delete one, or "
            "choose fewer layers or a shorter file."
        )
    if free is not None and n_bytes > free:
        raise CorpusError(
            f"{would}, and the disk has {_mb(free)} left. Make room, or choose fewer layers or a "
            "shorter file."
        )


def check_size(title: str, n_bytes: int, max_corpus: int) -> None:
    """Pass where a corpus of so many bytes may grow.

    Raises:
        CorpusError: it may not.
    """
    if n_bytes > max_corpus:
        raise CorpusError(
            f"{named(title)} takes {_mb(n_bytes)} on disk; one corpus may take {_mb(max_corpus)}. "
            "What was stored can be used; for the rest, index a shorter file or fewer layers."
        )


def _mb(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:,.0f} MB" if n_bytes >= 10e6 else f"{n_bytes / 1e6:,.1f} MB"
