"""The model inside a tokenizer.json: its kind, its pieces with their IDs, its merges."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from components.core.config_keys import shortened
from components.core.tokenizer_file.bounds import (
    LONGEST_PIECE,
    LONGEST_TEXT,
    MAX_PIECES,
    RefusedError,
    bounded_list,
    check_ids,
    is_pair,
    short_text,
)

__all__ = ["check_model", "check_vocabulary"]

_LONGEST_WORD = 256  # characters of a word that WordPiece cuts: it takes the cube of it


def check_model(model: dict[str, Any]) -> int:
    """How many pieces the model that cuts words has.

    Raises:
        RefusedError: it is of another kind, or past a bound.
    """
    kind = model.get("type") or _kind_without_type(model)
    check = _MODELS.get(kind) if isinstance(kind, str) else None
    if check is None:
        raise RefusedError(f"it cuts words in a way that is not read here ({shortened(kind)})")
    if model.get("dropout"):
        raise RefusedError("it cuts words by chance (dropout), a different way each time")
    for name in ("continuing_subword_prefix", "end_of_word_suffix", "unk_token"):
        if model.get(name) is not None:
            short_text(model[name], f"the model's {name}", LONGEST_TEXT)
    vocab = model.get("vocab")
    if not isinstance(vocab, dict | list) or not 0 < len(vocab) <= MAX_PIECES:
        raise RefusedError(f"its vocabulary is missing, or has more than {MAX_PIECES:,} pieces")
    check(model)
    return len(vocab)


def check_vocabulary(pieces: dict[str, Any] | None, lists: list[bytes]) -> int:
    """How many pieces the files have from which a tokenizer without tokenizer.json is made.

    Args:
        pieces: a vocab.json.
        lists: a vocab.txt, which gives one piece a line, and a merges.txt, one pair a line.

    Raises:
        RefusedError: a file is past a bound.
    """
    lines = [data.split(b"\n") for data in lists if data.count(b"\n") <= MAX_PIECES]
    longest = max((len(line) for each in lines for line in each), default=0)
    if len(lines) < len(lists) or longest > 4 * LONGEST_PIECE:  # UTF-8 takes up to four bytes
        raise RefusedError(
            f"its vocabulary has more than {MAX_PIECES:,} pieces, or one of more than "
            f"{LONGEST_PIECE} characters"
        )
    if pieces is not None:
        check_model({"type": "WordLevel", "vocab": pieces})
    return max(len(pieces or ()), *(len(each) for each in lines), 0)


def _kind_without_type(model: dict[str, Any]) -> str:
    """The kind in files from before it was named."""
    if "merges" in model:
        return "BPE"
    return "WordPiece" if "max_input_chars_per_word" in model else "Unigram"


def _check_word_piece(model: dict[str, Any]) -> None:
    longest = model.get("max_input_chars_per_word", 100)
    if type(longest) is not int or not 1 <= longest <= _LONGEST_WORD:
        raise RefusedError(
            f"it cuts words of up to {shortened(longest)} characters; at most {_LONGEST_WORD} are "
            "allowed"
        )
    _check_pieces(model)


def _check_pieces(model: dict[str, Any]) -> None:
    if not isinstance(model["vocab"], dict):
        raise RefusedError("its vocabulary does not give each piece an ID")
    _check_longest(model["vocab"])


def _check_byte_pairs(model: dict[str, Any]) -> None:
    _check_pieces(model)
    merges = bounded_list(model, "merges", MAX_PIECES)
    if not all(isinstance(merge, str) or is_pair(merge, str) for merge in merges):
        raise RefusedError("one of its merges is no pair of pieces")


def _check_unigrams(model: dict[str, Any]) -> None:
    rows, unknown = model["vocab"], model.get("unk_id")
    if not isinstance(rows, list) or not all(is_pair(row, (int, float)) for row in rows):
        raise RefusedError("its vocabulary is no list of pieces with their scores")
    if not all(math.isfinite(row[1]) for row in rows):
        raise RefusedError("one of its scores is no number")
    _check_longest(row[0] for row in rows)
    if unknown is not None:
        check_ids([unknown], len(rows))


_MODELS: dict[str, Callable[[dict[str, Any]], None]] = {
    "BPE": _check_byte_pairs,
    "Unigram": _check_unigrams,
    "WordLevel": _check_pieces,
    "WordPiece": _check_word_piece,
}


def _check_longest(pieces: Iterable[str]) -> None:
    longest = max(pieces, key=len)
    short_text(longest, "a piece of its vocabulary", LONGEST_PIECE)
