"""Texts to `Tokens`: validated, truncated and padded, with words found by offsets."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contextlens.core.encoder.vocabulary import LoadedTokenizer, panics_told
from contextlens.core.errors import RequestError, TextError
from contextlens.core.schema import IntArray, Tokens
from contextlens.core.words import split_words

__all__ = ["MAX_CHARACTERS", "checked_texts", "normalize", "tokenize"]

MAX_CHARACTERS = 200_000


def tokenize(
    loaded: LoadedTokenizer,
    texts: Sequence[str],
    *,
    pairs: Sequence[str | None] | None = None,
    pad_to: int | None = None,
    max_length: int | None = None,
) -> list[Tokens]:
    """Return each text's tokens, in the order given; see `EncoderService.tokenize`."""
    checked = checked_texts(texts, pairs)
    encodings = _run_tokenizer(loaded, checked, _limit(loaded, max_length, pairs is not None))
    return [
        _tokens(loaded, text, pair, encoding, lost, pad_to)
        for (text, pair), (encoding, lost) in zip(checked, encodings, strict=True)
    ]


def normalize(loaded: LoadedTokenizer, texts: Sequence[str]) -> list[str]:
    """Each text as the tokenizer sees it before cutting: lower case, no accents, and so on."""
    checked = [text for text, _ in checked_texts(texts, None)]
    normalizer = loaded.tokenizer.backend_tokenizer.normalizer
    if normalizer is None:
        return checked
    with panics_told(loaded.card.title):
        return [str(normalizer.normalize_str(text)) for text in checked]


def checked_texts(
    texts: Sequence[str], pairs: Sequence[str | None] | None
) -> list[tuple[str, str | None]]:
    """Each text with its pair.

    Raises:
        RequestError: the arguments are not lists, or their lengths do not match.
        TextError: a text is not a string, is too long, or cannot be read by any tokenizer.
    """
    if isinstance(texts, str) or isinstance(pairs, str):
        raise RequestError("texts and pairs must be lists of texts; a single text was given.")
    if pairs is not None and len(pairs) != len(texts):
        raise RequestError(
            f"{len(texts)} texts came with {len(pairs)} pairs; give one pair (or None) for each."
        )
    for text in (*texts, *(pair for pair in pairs or () if pair is not None)):
        _check_text(text)
    return list(zip(texts, pairs or [None] * len(texts), strict=True))


def _check_text(text: object) -> None:
    if not isinstance(text, str):
        raise TextError(f"A text must be a string; {type(text).__name__} was given.")
    if len(text) > MAX_CHARACTERS:
        raise TextError(
            f"The text has {len(text):,} characters; at most {MAX_CHARACTERS:,} are allowed. "
            "Shorten it, or load it as a corpus of sentences."
        )
    try:
        text.encode()
    except UnicodeEncodeError as exc:
        raise TextError.of_half_character(exc) from exc


def _run_tokenizer(
    loaded: LoadedTokenizer, inputs: list[tuple[str, str | None]], limit: int
) -> list[tuple[Any, int]]:
    """Each input's tokenizer result, and the number of tokens that did not fit."""
    results: list[tuple[Any, int] | None] = [None] * len(inputs)
    single = [i for i, (_, pair) in enumerate(inputs) if pair is None]
    double = [i for i, (_, pair) in enumerate(inputs) if pair is not None]
    for group in (single, double):
        full = _call(loaded, [inputs[i] for i in group])
        for i, encoding in zip(group, full, strict=True):
            results[i] = (encoding, 0)
            if len(encoding) > limit:
                cut = _call(loaded, [inputs[i]], max_length=limit)[0]
                results[i] = (cut, len(encoding) - len(cut))
    return [result for result in results if result is not None]


def _call(
    loaded: LoadedTokenizer, inputs: list[tuple[str, str | None]], max_length: int | None = None
) -> list[Any]:
    if not inputs:
        return []
    texts, pairs = zip(*inputs, strict=True)
    truncation = {"truncation": "longest_first", "max_length": max_length} if max_length else {}
    # A fast tokenizer stores truncation settings inside itself, where threads would overwrite them.
    with loaded.lock, panics_told(loaded.card.title):
        batch = loaded.tokenizer(
            list(texts),
            None if pairs[0] is None else list(pairs),
            padding=False,
            verbose=False,
            **truncation,
        )
    return list(batch.encodings)


def _limit(loaded: LoadedTokenizer, length: int | None, has_pairs: bool) -> int:
    most = loaded.card.max_length
    if length is None:
        return most
    least = loaded.card.n_added[has_pairs] + 1
    if type(length) is not int or not least <= length <= most:
        raise RequestError(
            f"A length of {length!r} tokens was asked; give a whole number from {least} (special "
            f"tokens and one more) to {most} (the most that {loaded.card.title} takes)."
        )
    return length


def _tokens(
    loaded: LoadedTokenizer,
    text: str,
    pair: str | None,
    encoding: Any,
    lost: int,
    pad_to: int | None,
) -> Tokens:
    n_pad = _padding(len(encoding), pad_to, loaded.card.max_length)
    text_ids = [-1 if s is None else s for s in encoding.sequence_ids]
    segments = encoding.type_ids if loaded.card.has_segments else None
    tokenizer = loaded.tokenizer
    ids = [*encoding.ids, *[tokenizer.pad_token_id] * n_pad]
    return Tokens(
        text=text,
        pair=pair,
        # Not encoding.tokens: a Unigram tokenizer returns the raw text there for unknown pieces.
        tokens=(*map(str, tokenizer.convert_ids_to_tokens(ids)),),
        token_ids=_row(ids, 0, 0),
        attention_mask=_row([1] * len(encoding), n_pad, 0),
        token_type_ids=None if segments is None else _row(segments, n_pad, 0),
        special_tokens_mask=_row(encoding.special_tokens_mask, n_pad, 1),
        offsets=_freeze(np.array([*encoding.offsets, *[(0, 0)] * n_pad], dtype=np.int64)),
        word_ids=_row(_word_ids(text, pair, encoding.offsets, text_ids), n_pad, -1),
        text_ids=_row(text_ids, n_pad, -1),
        n_truncated=lost,
    )


def _padding(n_tokens: int, pad_to: int | None, limit: int) -> int:
    if pad_to is None:
        return 0
    if type(pad_to) is not int:
        raise RequestError(f"pad_to is {pad_to!r}; it must be a whole number of tokens.")
    if pad_to > limit:
        raise RequestError(
            f"Padding to {pad_to} tokens was asked, but the model takes at most {limit}."
        )
    if pad_to < n_tokens:
        raise RequestError(
            f"Padding to {pad_to} tokens was asked, but the text has {n_tokens}. "
            f"Ask for {n_tokens} to {limit}."
        )
    return pad_to - n_tokens


def _row(values: Sequence[int], n_pad: int, fill: int) -> IntArray:
    return _freeze(np.array([*values, *[fill] * n_pad], dtype=np.int64))


def _freeze(array: NDArray[np.int64]) -> IntArray:
    array.flags.writeable = False
    return array


def _word_ids(
    text: str, pair: str | None, offsets: Sequence[tuple[int, int]], text_ids: Sequence[int]
) -> list[int]:
    words = (split_words(text), split_words(pair or ""))
    starts = [[start for start, _ in spans] for spans in words]
    return [
        -1 if which < 0 else _word_at(span, words[which], starts[which])
        for span, which in zip(offsets, text_ids, strict=True)
    ]


def _word_at(span: tuple[int, int], words: Sequence[tuple[int, int]], starts: Sequence[int]) -> int:
    """The word that shares the most characters with a token, the first if tied; -1 for none."""
    best, most = -1, 0
    first = max(bisect_right(starts, span[0]) - 1, 0)
    for index in range(first, len(words)):
        if words[index][0] >= span[1]:
            break
        shared = min(words[index][1], span[1]) - max(words[index][0], span[0])
        if shared > most:
            best, most = index, shared
    return best
