"""What is read of tokenizer_config.json and its older companions: a short list of names.

transformers hands every name of tokenizer_config.json on as an argument, those for its own use too
(`vocab`, `post_processor`, `gguf_file`), and `tokenizer_class` may be any class that it has.
"""

from __future__ import annotations

import math
from typing import Any

from components.core.config_keys import shortened
from components.core.tokenizer_file.bounds import (
    LONGEST_PIECE,
    MAX_ADDED,
    RefusedError,
    check_ids,
    short_text,
)

__all__ = ["CLASSES", "allowed_added_tokens", "allowed_settings", "allowed_special_tokens"]

CLASSES = frozenset(
    [
        "AlbertTokenizer",
        "BartTokenizer",
        "BertTokenizer",
        "CamembertTokenizer",
        "DistilBertTokenizer",
        "ElectraTokenizer",
        "GPT2Tokenizer",
        "HerbertTokenizer",
        "LayoutLMTokenizer",
        "LongformerTokenizer",
        "MPNetTokenizer",
        "MobileBertTokenizer",
        "PreTrainedTokenizer",
        "RobertaTokenizer",
        "SqueezeBertTokenizer",
        "TokenizersBackend",
        "XLMRobertaTokenizer",
    ]
)
"""Classes of transformers that models of the supported families name, without a "Fast"."""

_FLAGS = frozenset(
    [
        "add_bos_token",
        "add_eos_token",
        "add_prefix_space",
        "clean_up_tokenization_spaces",
        "do_lower_case",
        "keep_accents",
        "split_special_tokens",
        "strip_accents",
        "tokenize_chinese_chars",
        "trim_offsets",
    ]
)
_CHOICES = {
    "errors": {"ignore", "replace", "strict"},
    "padding_side": {"left", "right"},
    "truncation_side": {"left", "right"},
}
_LENGTHS = ("max_len", "model_max_length")
_TOKEN_FLAGS = frozenset(("lstrip", "normalized", "rstrip", "single_word", "special"))
_EXTRA = ("additional_special_tokens", "extra_special_tokens")
_AROUND = frozenset(("bos_token", "cls_token", "eos_token", "sep_token"))
"""Those that transformers writes into a template, in which spaces, "$" and ":" mean something."""
_MAX_NAMED = 64  # names that end in "_token"


def allowed_settings(given: dict[str, Any], limit: int) -> dict[str, Any]:
    """The part of a tokenizer_config.json that a tokenizer is made from.

    Args:
        given: what is in the file.
        limit: one more than the largest ID.

    Raises:
        RefusedError: a value is not one that is let in.
    """
    chosen = allowed_special_tokens(given)
    for name in _FLAGS & set(given):
        if given[name] is not None and type(given[name]) is not bool:
            raise _refused(name, given[name], "true or false")
        chosen[name] = given[name]
    for name in _CHOICES.keys() & set(given):
        if not isinstance(given[name], str) or given[name] not in _CHOICES[name]:
            raise _refused(name, given[name], " or ".join(sorted(_CHOICES[name])))
        chosen[name] = given[name]
    for name in _LENGTHS:
        if given.get(name) is not None:
            chosen[name] = _length(name, given[name])
    if given.get("tokenizer_class") is not None:
        chosen["tokenizer_class"] = _class(given["tokenizer_class"])
    if "added_tokens_decoder" in given:
        chosen["added_tokens_decoder"] = _added(given["added_tokens_decoder"], limit)
    return chosen


def allowed_special_tokens(given: dict[str, Any]) -> dict[str, Any]:
    """The special tokens that a special_tokens_map.json or tokenizer_config.json names.

    Raises:
        RefusedError: a value is not one that is let in.
    """
    names = [name for name in given if name.endswith("_token") and name not in _FLAGS]
    if len(names) > _MAX_NAMED:
        raise RefusedError(f"it names more than {_MAX_NAMED} special tokens")
    chosen: dict[str, Any] = {name: _token(given[name]) for name in names}
    for name in _AROUND & set(chosen):
        _check_around(name, chosen[name])
    for name in _EXTRA:
        more = given.get(name)
        if more is None:
            continue
        if not isinstance(more, list | dict) or len(more) > MAX_ADDED:
            raise _refused(name, more, f"a list of at most {MAX_ADDED:,} tokens")
        if isinstance(more, dict):
            chosen[name] = {short_text(k, name, LONGEST_PIECE): _token(v) for k, v in more.items()}
        else:
            chosen[name] = [_token(token) for token in more]
    return chosen


def allowed_added_tokens(given: dict[str, Any], limit: int) -> dict[str, int]:
    """The tokens of an added_tokens.json with their IDs.

    Raises:
        RefusedError: there are too many, or an ID is out of range.
    """
    _check_number(given)
    check_ids(given.values(), limit)
    return {short_text(name, "an added token", LONGEST_PIECE): i for name, i in given.items()}


def _added(given: object, limit: int) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise _refused("added_tokens_decoder", given, "an object")
    _check_number(given)
    check_ids((int(i) if i.isdecimal() and len(i) < 15 else i for i in given), limit)
    return {i: _token(token) for i, token in given.items()}


def _check_number(tokens: dict[str, Any]) -> None:
    if len(tokens) > MAX_ADDED:
        raise RefusedError(
            f"it adds {len(tokens):,} tokens to its vocabulary; at most {MAX_ADDED:,} are allowed"
        )


def _token(given: object) -> str | dict[str, Any] | None:
    """A token: its text, or an object with its text and how it is found."""
    if given is None:
        return None
    if not isinstance(given, dict):
        return short_text(given, "a special token", LONGEST_PIECE)
    flags = {name: given[name] for name in _TOKEN_FLAGS & set(given)}
    if not all(type(value) is bool for value in flags.values()):
        raise _refused("a special token", given, "a text with true or false for each of its marks")
    text = short_text(given.get("content"), "a special token", LONGEST_PIECE)
    kind = {"__type": "AddedToken"} if given.get("__type") == "AddedToken" else {}
    return {"content": text, **flags, **kind}


def _check_around(name: str, token: str | dict[str, Any] | None) -> None:
    text = token["content"] if isinstance(token, dict) else token or ""
    if any(sign.isspace() or sign in "$:" for sign in text):
        raise _refused(name, text, 'a token without spaces, "$" and ":"')


def _length(name: str, given: object) -> int | float:
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    if not is_number or not math.isfinite(given) or given < 1:  # type: ignore[arg-type, operator]
        raise _refused(name, given, "a number of tokens from 1")
    return given  # type: ignore[return-value]


def _class(given: object) -> str:
    if isinstance(given, str) and given.removesuffix("Fast") in CLASSES:
        return given
    raise RefusedError(
        f"it asks for the class {shortened(given)}, and only those of the supported families are "
        "read here (BertTokenizer, RobertaTokenizer, XLMRobertaTokenizer and so on)"
    )


def _refused(name: str, given: object, allowed: str) -> RefusedError:
    return RefusedError(f"it says {name} is {shortened(given)}; it must be {allowed}")
