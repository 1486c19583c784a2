"""What a tokenizer.json may say: the kinds of rules that the supported families use, within bounds.

A tokenizer is a small program: rules that change the text, cut it, and put tokens around it. Twenty
rules of a few letters make a million characters of one, and one ID of four thousand million asks
for a list of that length. So the kinds are listed here, and each number and length has a bound.
Whatever is let in is tried in a process of its own all the same (`encoder.tokenizer_trial`).
"""

from __future__ import annotations

import base64
from typing import Any

from components.core.config_keys import shortened
from components.core.tokenizer_file.around import check_lengths, check_post_processor
from components.core.tokenizer_file.bounds import (
    LONGEST_PIECE,
    LONGEST_TEXT,
    MAX_ADDED,
    MAX_PIECES,
    RefusedError,
    bounded_list,
    bounded_object,
    check_ids,
    short_text,
)
from components.core.tokenizer_file.patterns import shortest_match
from components.core.tokenizer_file.pieces import check_model

__all__ = ["check_rules"]

_MAX_RULES = 32  # of one part, those inside others too
_DEEPEST = 4
_MOST_GROWTH = 16.0  # characters that come out of the replacements for each that goes in
_CHARSMAP_BYTES = 2_000_000
_LONGEST_MAPPED = 128  # bytes that one character becomes

_NORMALIZERS = frozenset(
    [
        "BertNormalizer",
        "Lowercase",
        "NFC",
        "NFD",
        "NFKC",
        "NFKD",
        "Nmt",
        "Precompiled",
        "Prepend",
        "Replace",
        "Sequence",
        "Strip",
        "StripAccents",
    ]
)
_PRE_TOKENIZERS = frozenset(
    [
        "BertPreTokenizer",
        "ByteLevel",
        "CharDelimiterSplit",
        "Digits",
        "Metaspace",
        "Punctuation",
        "Sequence",
        "Split",
        "UnicodeScripts",
        "Whitespace",
        "WhitespaceSplit",
    ]
)
_POST_PROCESSORS = frozenset(
    ["BertProcessing", "ByteLevel", "RobertaProcessing", "Sequence", "TemplateProcessing"]
)
_DECODERS = frozenset(
    [
        "BPEDecoder",
        "ByteFallback",
        "ByteLevel",
        "Fuse",
        "Metaspace",
        "Replace",
        "Sequence",
        "Strip",
        "WordPiece",
    ]
)
_INNER = ("normalizers", "pretokenizers", "processors", "decoders")


def check_rules(tokenizer: dict[str, Any], n_rows: int) -> int:
    """One more than the largest ID that the tokenizer may use.

    Args:
        tokenizer: a tokenizer.json.
        n_rows: of the model's word embeddings, or 0.

    Raises:
        RefusedError: it says something that is not let in.
    """
    _check_growth(_rules(tokenizer, "normalizer", _NORMALIZERS))
    for rule in _rules(tokenizer, "pre_tokenizer", _PRE_TOKENIZERS):
        if rule["type"] == "Split":
            _pattern_length(rule)
    _check_growth(_rules(tokenizer, "decoder", _DECODERS))
    model, added = (
        bounded_object(tokenizer, "model"),
        bounded_list(tokenizer, "added_tokens", MAX_ADDED),
    )
    n_pieces = check_model(model)
    limit = max(min(n_rows, MAX_PIECES), n_pieces + len(added))
    if isinstance(model["vocab"], dict):
        check_ids(model["vocab"].values(), limit)
    for token in added:
        if not isinstance(token, dict):
            raise RefusedError("an added token is no object")
        short_text(token.get("content"), "an added token", LONGEST_PIECE)
        check_ids([token.get("id")], limit)
    for rule in _rules(tokenizer, "post_processor", _POST_PROCESSORS):
        check_post_processor(rule, limit)
    check_lengths(tokenizer)
    return limit


def _rules(tokenizer: dict[str, Any], part: str, kinds: frozenset[str]) -> list[dict[str, Any]]:
    """A part's rules in their order, those inside a sequence in its place."""
    found: list[dict[str, Any]] = []

    def collect(rule: object, depth: int) -> None:
        if rule is None:
            return
        kind = rule.get("type") if isinstance(rule, dict) else rule
        if not isinstance(rule, dict) or not isinstance(kind, str) or kind not in kinds:
            raise RefusedError(f"its {part} is of a kind that is not read here ({shortened(kind)})")
        if depth > _DEEPEST or len(found) >= _MAX_RULES:
            raise RefusedError(
                f"its {part} has more than {_MAX_RULES} rules, or rules nested more than "
                f"{_DEEPEST} deep"
            )
        found.append(rule)
        if rule["type"] == "Sequence":
            for name in _INNER:
                for inner in bounded_list(rule, name, _MAX_RULES):
                    collect(inner, depth + 1)

    collect(tokenizer.get(part), 1)
    return found


def _check_growth(rules: list[dict[str, Any]]) -> None:
    """Pass where what goes through the rules in turn cannot grow without measure."""
    growth, n_maps = 1.0, 0
    for rule in rules:
        if rule["type"] == "Replace":
            content = short_text(rule.get("content"), "a replacement", LONGEST_TEXT)
            growth *= max(1.0, len(content) / _pattern_length(rule))
        elif rule["type"] == "Prepend":
            growth *= 1 + len(short_text(rule.get("prepend"), "a text in front", LONGEST_TEXT))
        elif rule["type"] == "Precompiled":
            n_maps += 1
            _check_charsmap(rule.get("precompiled_charsmap"))
        for name in ("prefix", "suffix", "content", "replacement"):
            if isinstance(rule.get(name), str):
                short_text(rule[name], f"a rule's {name}", LONGEST_TEXT)
    if growth > _MOST_GROWTH or n_maps > 1:
        raise RefusedError(
            "its rules can make one character into "
            f"{'many' if n_maps > 1 else f'{growth:,.0f}'}; at most {_MOST_GROWTH:.0f} are allowed"
        )


def _pattern_length(rule: dict[str, Any]) -> int:
    """Characters that a rule's pattern matches at least."""
    pattern = rule.get("pattern")
    if isinstance(pattern, dict) and list(pattern) == ["String"]:
        text = short_text(pattern["String"], "a pattern", LONGEST_TEXT)
        if text:
            return len(text)
    elif isinstance(pattern, dict) and list(pattern) == ["Regex"]:
        length = shortest_match(str(pattern["Regex"]))
        if length:
            return length
    raise RefusedError(
        f"it cuts or changes texts by a pattern that may take without end on some text, or matches "
        f"nothing ({shortened(pattern)})"
    )


def _check_charsmap(charsmap: object) -> None:
    """A table of SentencePiece: bytes of the trie, the trie, then what it points to, zero-ended."""
    if charsmap is None or charsmap == "":
        return
    try:
        data = base64.b64decode(charsmap, validate=True) if isinstance(charsmap, str) else b""
    except ValueError:  # binascii.Error is one
        data = b""
    texts = data[4 + int.from_bytes(data[:4], "little") :]
    longest = max(map(len, texts.split(b"\0")))
    if not 4 < len(data) <= _CHARSMAP_BYTES or not texts or longest > _LONGEST_MAPPED:
        raise RefusedError(
            f"its table of characters is damaged, longer than {_CHARSMAP_BYTES:,} bytes, or makes "
            f"more than {_LONGEST_MAPPED} bytes of one character"
        )
