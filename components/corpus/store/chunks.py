"""Which texts are encoded together: always the same ones, wherever the indexing began.

A chunk depends on the texts before it and on the model, and on nothing else: not on the time that
anything takes. So whoever goes on with a corpus asks the model for what would have been asked
without the interruption, and has the same rows. The last bits of their vectors depend also on what
others ask the model meanwhile, and on the threads it has: see the contract of the service.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from components.corpus.store.rows import Chunk, Target

__all__ = ["chunks", "most_tokens"]

_MOST_TOKENS = 8_192
"""Estimated, about a second's work of the bundled model; sorting by length pays from 4,000 on."""
_MOST_TEXTS = 1_024
_MOST_BYTES = 256_000_000  # of hidden states, which are float32
_LETTERS = 3  # of ASCII in a token; English has 4 to 5


def most_tokens(*, n_layers: int, n_dims: int) -> int:
    """How many tokens are encoded at once where so many layers are kept."""
    return max(64, min(_MOST_TOKENS, _MOST_BYTES // (4 * n_layers * n_dims)))


def chunks(texts: Iterable[tuple[str, Target]], *, max_length: int, most: int) -> Iterator[Chunk]:
    """All chunks in order.

    Args:
        texts: all of the corpus, with the word that each is marked for.
        max_length: tokens that the model reads of one text.
        most: tokens at once; see `most_tokens`.
    """
    start, n_tokens = 0, 0
    held: list[tuple[str, Target]] = []
    for text, target in texts:
        own = min(max_length, _n_tokens(text))
        if held and (n_tokens + own > most or len(held) >= _MOST_TEXTS):
            yield _chunk(start, held)
            start, n_tokens, held = start + len(held), 0, []
        held.append((text, target))
        n_tokens += own
    if held:
        yield _chunk(start, held)


def _chunk(start: int, held: list[tuple[str, Target]]) -> Chunk:
    return Chunk(start, tuple(text for text, _ in held), tuple(target for _, target in held))


def _n_tokens(text: str) -> int:
    """A guess: a token for each few letters of ASCII, and for each other character."""
    n_ascii = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return 2 + n_ascii // _LETTERS + len(text) - n_ascii
