"""How large an answer may be at most, known from the call and the model's card alone.

The service refuses what is too large before it is made. The client asks the same, and splits what
many texts would be answered with, so that honest callers never meet the bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from math import inf
from typing import Any
from unicodedata import normalize

from components.core.calls import CARDS
from components.core.errors import RequestError
from components.core.protocol import METHODS
from components.core.remote.wire import MOST_ITEMS
from components.core.schema import TokenizerCard

__all__ = ["CARD_BY", "MOST_BYTES", "check_answer", "parts_of", "result_bytes"]

MOST_BYTES = 1_000_000_000
"""Of one answer: what 512 tokens have, with all attentions, in the largest of the known models."""
PART_BYTES = 256_000_000
"""Of the answer to one part of a call; tokens count as one a byte, which is four times most."""
_MOST_TEXTS, _MOST_CHARACTERS = 128, 8_000  # of a part: more would not be computed any faster
_MOST_RUNS = 1_024
_OTHER_BYTES = 2_000_000  # of an answer that has no more for more texts: cards, parameters
_MATRIX_BYTES = 20_000_000  # of a parameter; larger ones are refused where they are read
_RESULT_BYTES = 2_000  # of a result beside its arrays and texts
_TOKEN_BYTES = 100  # its seven numbers, and itself
_ENTRY_BYTES = 100  # of a token in a vocabulary
_LEAST_ROW = 1_024  # a row of the word table is longer than a layer's states in some models

CARD_BY: Mapping[str, str] = {
    name: CARDS[method.of]
    for name, method in METHODS.items()
    if method.of and name != "architecture" and name not in CARDS.values()
}
"""The method that gives the card by which the size of a method's answer is known."""

Card = Any
"""A `ModelCard`, a `TokenizerCard`, or None where the size depends on neither."""


def check_answer(method: str, arguments: Mapping[str, Any], card: Card) -> int:
    """Bytes of the answer to a call, at most.

    Raises:
        RequestError: it would be larger than an answer may be.
    """
    n_bytes = sum(result_bytes(method, arguments, card))
    if n_bytes > MOST_BYTES:
        raise RequestError(
            f"The answer to {method} would have up to {n_bytes / 1e6:,.0f} MB, and an answer may "
            f"have {MOST_BYTES / 1e6:,.0f} MB. Ask in parts: for fewer texts, layers, attentions "
            "or token IDs at a time."
        )
    return n_bytes


def result_bytes(method: str, arguments: Mapping[str, Any], card: Card) -> list[int]:
    """Bytes of each result at most: one for each text, or one for the whole answer.

    Args:
        method: that is called.
        arguments: by name.
        card: that `CARD_BY` names for the method.
    """
    match method:
        case "tokenize" | "encode" | "intervene":
            return [
                _RESULT_BYTES + _bytes(text) + _bytes(pair) + _states(arguments, card, text, pair)
                for text, pair in zip_longest(arguments["texts"], arguments.get("pairs") or ())
            ]
        case "embedding_parts" | "integrated_gradients":
            text, pair = arguments["text"], arguments.get("pair")
            return [8 * _states({**arguments, "layers": [0]}, card, text, pair)]
        case "word_rows":
            return [4 * max(card.n_dims, _LEAST_ROW) * len(arguments["token_ids"])]
        case "vocabulary" | "cut_rules" | "nearest_rows":
            n = card.vocabulary_size
            return [_OTHER_BYTES + _ENTRY_BYTES * max(0, min(n, arguments.get("n", n)))]
        case "decode":
            return [_ENTRY_BYTES * len(arguments["token_ids"])]
        case "normalize":
            return [18 * _bytes(text) for text in arguments["texts"]]
    return [_MATRIX_BYTES if method == "matrix" else _OTHER_BYTES]


def parts_of(method: str, arguments: Mapping[str, Any], card: Card) -> Iterator[slice]:
    """Slices of the texts or token IDs of a call, each to be asked for by itself.

    Args:
        method: "tokenize", "encode", "intervene" or "word_rows".
        arguments: by name; those with one entry for each text fit each other.
        card: that `CARD_BY` names for the method.
    """
    if method == "word_rows":
        n = len(arguments["token_ids"])
        yield from (slice(start, start + MOST_ITEMS) for start in range(0, max(n, 1), MOST_ITEMS))
        return
    is_run = method == "intervene"  # what is the same below the changes is computed once a part
    most_texts, most_characters = (_MOST_RUNS, inf) if is_run else (_MOST_TEXTS, _MOST_CHARACTERS)
    sizes = result_bytes(method, arguments, card)
    start = n_bytes = n_characters = 0
    for i, (size, text) in enumerate(zip(sizes, arguments["texts"], strict=True)):
        n_bytes, n_characters = n_bytes + size, n_characters + len(text)
        is_full = n_bytes > PART_BYTES or n_characters > most_characters
        if i > start and (is_full or i - start == most_texts):
            yield slice(start, i)
            start, n_bytes, n_characters = i, size, len(text)
    yield slice(start, len(sizes))


def _states(arguments: Mapping[str, Any], card: Card, text: Any, pair: Any) -> int:
    """Bytes of all that is known of one text's tokens; of tokens, one for each byte."""
    n: int = max(_bytes(text) + _bytes(pair) + 4, arguments.get("pad_to") or 0)
    n = min(n, card.max_length, arguments.get("max_length") or n)
    if isinstance(card, TokenizerCard):
        return n * _TOKEN_BYTES
    layers, attentions = arguments.get("layers"), arguments.get("attentions", False)
    n_layers = card.n_layers + 1 if layers is None else len(layers)
    is_all = isinstance(attentions, bool)
    n_heads = card.n_layers * card.n_heads * attentions if is_all else len(attentions)
    n_bytes: int = n * (_TOKEN_BYTES + 4 * card.n_dims * n_layers) + 4 * n_heads * n * n
    return n_bytes


def _bytes(text: str | None) -> int:
    """Bytes of a text, or of all that its characters stand for where that is more."""
    if text is None or text.isascii():
        return len(text or "")
    written_out = normalize("NFKC", text)  # as some tokenizers do: one character becomes 18
    return max(len(form.encode(errors="replace")) for form in (text, written_out))
