"""What a tokenizer.json puts around a text: special tokens, padding, truncation."""

from __future__ import annotations

from typing import Any

from components.core.config_keys import shortened
from components.core.tokenizer_file.bounds import (
    RefusedError,
    bounded_list,
    bounded_object,
    check_ids,
    is_pair,
)

__all__ = ["check_lengths", "check_post_processor"]

_LONGEST_TEMPLATE = 16
_MAX_LENGTH = 1_000_000  # tokens to which a text is padded or cut


def check_post_processor(rule: dict[str, Any], limit: int) -> None:
    """Pass where a rule puts few known tokens around each text, and the text itself once.

    Raises:
        RefusedError: it does not.
    """
    if rule["type"] in {"BertProcessing", "RobertaProcessing"}:
        for name in ("sep", "cls"):
            if not is_pair(rule.get(name), int):
                raise RefusedError(f"it does not say which token is its {name}")
            check_ids([rule[name][1]], limit)
    elif rule["type"] == "TemplateProcessing":
        _check_template(bounded_list(rule, "single", _LONGEST_TEMPLATE), ["A"])
        _check_template(bounded_list(rule, "pair", _LONGEST_TEMPLATE), ["A", "B"])
        tokens = bounded_object(rule, "special_tokens")
        if len(tokens) > _LONGEST_TEMPLATE:
            raise RefusedError(f"it puts more than {_LONGEST_TEMPLATE} tokens around a text")
        for token in tokens.values():
            if not isinstance(token, dict):
                raise RefusedError("a special token is no object")
            check_ids(bounded_list(token, "ids", _LONGEST_TEMPLATE), limit)
            bounded_list(token, "tokens", _LONGEST_TEMPLATE)


def _check_template(template: list[Any], texts: list[str]) -> None:
    """Pass where each text stands in it once, and all is of segment 0 or 1."""
    pieces = [value for piece in template if isinstance(piece, dict) for value in piece.items()]
    known = [(kind, value) for kind, value in pieces if isinstance(value, dict)]
    names = [str(value["id"]) for kind, value in known if kind == "Sequence" and "id" in value]
    segments = [value.get("type_id", 0) for _, value in known]
    whole = len(pieces) == len(template) == len(segments)
    if not whole or names != texts or not all(type(s) is int and s in {0, 1} for s in segments):
        raise RefusedError(
            "what it puts around a text leaves the text out, doubles it, or counts it to a segment "
            "other than 0 and 1"
        )


def check_lengths(tokenizer: dict[str, Any]) -> None:
    """Padding and truncation that are kept in the file; transformers asks for its own each time.

    Raises:
        RefusedError: a length is out of range.
    """
    padding, cut = tokenizer.get("padding") or {}, tokenizer.get("truncation") or {}
    if not isinstance(padding, dict) or not isinstance(cut, dict):
        raise RefusedError("its padding or truncation is no object")
    strategy = padding.get("strategy")
    fixed = strategy.get("Fixed") if isinstance(strategy, dict) else None
    numbers = (fixed, padding.get("pad_to_multiple_of"), cut.get("max_length"), cut.get("stride"))
    for number in numbers:
        if number is not None and (type(number) is not int or not 0 <= number <= _MAX_LENGTH):
            raise RefusedError(
                f"it pads or cuts texts to {shortened(number)} tokens; at most {_MAX_LENGTH:,} are "
                "allowed"
            )
