"""A tokenizer's files, judged as text before any library reads them. No torch, no tokenizers."""

from __future__ import annotations

from components.core.tokenizer_file.bounds import MAX_PIECES, RefusedError, check_ids
from components.core.tokenizer_file.pieces import check_vocabulary
from components.core.tokenizer_file.rules import check_rules
from components.core.tokenizer_file.settings import (
    allowed_added_tokens,
    allowed_settings,
    allowed_special_tokens,
)

__all__ = [
    "MAX_PIECES",
    "RefusedError",
    "allowed_added_tokens",
    "allowed_settings",
    "allowed_special_tokens",
    "check_ids",
    "check_rules",
    "check_vocabulary",
]
