"""A foreign model's tokenizer.json and the files beside it: what is checked before it is built.

What passes them is then built and used in this bounded process, as the app does it in one of its
own: it may fail there, which the app tells in a sentence, but neither take long nor grow.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from hypothesis import strategies as st

from components.core.strict_json import parse_object
from components.core.tokenizer_file import (
    RefusedError,
    allowed_added_tokens,
    allowed_settings,
    allowed_special_tokens,
    check_rules,
    check_vocabulary,
)
from tests.fuzz.structure import odd, rarely
from tests.fuzz.target import Target, check_says, hold, seeds_of

__all__ = ["TARGETS"]

_ROWS = 300
_TEXT = "My pet python unbelievably sleeps; 12,345 " + "é́🐍 \u202e\u200d aaaa" * 20
_MOST_TOKENS = 40_000  # sixteen characters for each, up to four bytes each, and what stands around


def _run(content: bytes) -> None:
    tokenizer = parse_object(content, what="The model's tokenizer.json")
    limit = _said(check_rules, tokenizer, _ROWS)
    hold(0 < limit <= 2_000_000, "IDs up to {}", limit)
    for ids in _ids(content.decode()):
        hold(len(ids) <= _MOST_TOKENS, "{} tokens", len(ids))


def _beside(content: bytes) -> None:
    """The files beside it: which of them this is, each reader of them takes it to be its own."""
    given = parse_object(content, what="The model's tokenizer_config.json")
    readers = (
        partial(allowed_settings, limit=_ROWS),
        allowed_special_tokens,
        partial(allowed_added_tokens, limit=_ROWS),
        partial(check_vocabulary, lists=[content]),
    )
    refusals = []
    for read in readers:
        try:
            json.dumps(_said(read, given), allow_nan=False)
        except RefusedError as exc:
            refusals.append(exc)
    if len(refusals) == len(readers):
        raise refusals[0]


def _said(check: Callable[..., Any], *given: Any) -> Any:
    """What a check returns; a refusal of its must make a sentence."""
    try:
        return check(*given)
    except RefusedError as exc:
        check_says(f"The tokenizer of {'a' * 60} is not used: {exc}.")
        raise


def _ids(text: str) -> list[list[int]]:
    """What the library makes of a text, where it builds the tokenizer at all."""
    from tokenizers import Tokenizer

    with suppress(BaseException):  # a panic of its is none of the others
        tokenizer = Tokenizer.from_str(text)
        return [tokenizer.encode(_TEXT).ids, tokenizer.encode("a", "b").ids]
    return []


# How inputs are made

_piece = st.sampled_from(
    ["a", "b", "##a", "py", "##thon", "python", "[UNK]", "▁a", "Ġa", "é", "🐍"]
)
_patterns = st.sampled_from(
    [
        "a",
        "a",
        "b",
        "a+",
        "a+b",
        "(a+)+b",
        r"\s+",
        r"[^\s]+",
        ".*",
        "",
        "^$",
        r"(?=a)",
        "a{1000}",
        "a|b|c",
        "[",
    ]
)
_pattern = st.one_of(
    st.sampled_from(["a", " ", "aa", ""]).map(lambda text: {"String": text}),
    _patterns.map(lambda text: {"Regex": text}),
)
_put = st.sampled_from(["", "a", "aa", "aaaa", "▁", "a" * 64, "a" * 65])
_normalizer = st.one_of(
    st.fixed_dictionaries({"type": st.sampled_from(["NFC", "NFKD", "Lowercase", "StripAccents"])}),
    st.fixed_dictionaries({"type": st.just("Replace"), "pattern": _pattern, "content": _put}),
    st.fixed_dictionaries({"type": st.just("Prepend"), "prepend": _put}),
    st.just(
        {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        }
    ),
    st.just({"type": "Precompiled", "precompiled_charsmap": "BAAAAAAAAAAAAA=="}),
)
_pre_tokenizer = st.one_of(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["BertPreTokenizer", "Whitespace", "UnicodeScripts", "Strange"])}
    ),
    st.fixed_dictionaries(
        {
            "type": st.just("Split"),
            "pattern": _pattern,
            "behavior": st.sampled_from(["Isolated", "Removed"]),
            "invert": st.booleans(),
        }
    ),
    st.just(
        {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    ),
    st.just({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}),
)
_numbers = rarely(st.integers(-2, 4 * 10**9), st.integers(0, 20))
_numbered = st.lists(_piece, unique=True, min_size=1, max_size=8).map(
    lambda pieces: {piece: place for place, piece in enumerate(pieces)}
)
_vocab = rarely(st.dictionaries(_piece, _numbers, max_size=8), _numbered)
_model = st.one_of(
    st.fixed_dictionaries(
        {
            "type": st.just("WordPiece"),
            "vocab": _vocab,
            "unk_token": st.just("[UNK]"),
            "continuing_subword_prefix": st.just("##"),
            "max_input_chars_per_word": rarely(st.sampled_from([10**9, 0]), st.just(100)),
        }
    ),
    st.fixed_dictionaries(
        {
            "type": st.just("BPE"),
            "vocab": _vocab,
            "merges": st.lists(st.lists(_piece, min_size=2, max_size=2), max_size=3)
            | st.just(["a b"]),
        }
    ),
    st.fixed_dictionaries(
        {
            "type": st.just("Unigram"),
            "vocab": st.lists(
                st.tuples(_piece, st.floats(-20, 0)).map(list), min_size=1, max_size=6
            ),
            "unk_id": rarely(_numbers, st.none() | st.just(0)),
        }
    ),
)
_added = st.fixed_dictionaries(
    {
        "id": _numbers,
        "content": _piece,
        "special": st.booleans(),
        "single_word": st.booleans(),
        "lstrip": st.booleans(),
        "rstrip": st.booleans(),
        "normalized": st.booleans(),
    }
)


def _sequence(rules: st.SearchStrategy[Any], name: str) -> st.SearchStrategy[Any]:
    rules = rarely(odd, rules)
    several = rarely(st.lists(rules, max_size=25), st.lists(rules, min_size=1, max_size=2))
    return st.none() | rules | several.map(lambda inner: {"type": "Sequence", name: inner})


_tokenizers = st.fixed_dictionaries(
    {"version": st.just("1.0"), "model": _model},
    optional={
        "normalizer": _sequence(_normalizer, "normalizers"),
        "pre_tokenizer": _sequence(_pre_tokenizer, "pretokenizers"),
        "added_tokens": st.lists(_added, max_size=3),
        **dict.fromkeys(("truncation", "padding", "post_processor"), rarely(odd, st.none())),
        "decoder": rarely(odd, st.just({"type": "WordPiece", "prefix": "##", "cleanup": True})),
    },
).map(lambda tokenizer: json.dumps(tokenizer).encode("utf-8", "surrogatepass"))

_KINDS = (
    *(
        "Replace",
        "Prepend",
        "Sequence",
        "Strip",
        "Precompiled",
        "NFKC",
        "Split",
        "Digits",
        "Metaspace",
    ),
    *(
        "TemplateProcessing",
        "RobertaProcessing",
        "WordPiece",
        "BPE",
        "Unigram",
        "WordLevel",
        "Regex",
    ),
    *("String", "normalizers", "pretokenizers", "processors", "special_tokens", "ids", "type_id"),
    *(
        "vocab",
        "merges",
        "unk_id",
        "dropout",
        "id",
        "content",
        "pattern",
        "single",
        "pair",
        "A",
        "B",
    ),
)

_names = st.sampled_from(
    [
        *("model_max_length", "max_len", "tokenizer_class", "added_tokens_decoder", "errors"),
        *("cls_token", "unk_token", "x_token", "additional_special_tokens", "extra_special_tokens"),
        *(
            "do_lower_case",
            "strip_accents",
            "padding_side",
            "add_prefix_space",
            "auto_map",
            "vocab",
        ),
    ]
)
_token = st.one_of(_piece, _piece.map(lambda text: {"content": text, "lstrip": False}), odd)
_setting = st.one_of(
    st.booleans(),
    st.sampled_from(["left", "right", "replace", "BertTokenizerFast", "Strange", 512, 1e30]),
    _token,
    st.lists(_token, max_size=3),
    st.dictionaries(st.sampled_from(["0", "3", "99999", "-1", "٣", "²", "a"]), _token, max_size=3),
    odd,
)
_settings = st.one_of(
    st.dictionaries(_names, _setting, max_size=5),
    st.dictionaries(_piece, _numbers, max_size=4),
).map(lambda settings: json.dumps(settings).encode("utf-8", "surrogatepass"))

TARGETS = {
    "settings": Target(
        name="settings",
        run=_beside,
        structure=_settings,
        seeds=partial(seeds_of, "settings"),
        tokens=tuple(kind.encode() for kind in _KINDS),
        is_json=True,
        also=(RefusedError,),
    ),
    "tokenizer": Target(
        name="tokenizer",
        run=_run,
        structure=_tokenizers,
        seeds=partial(seeds_of, "tokenizer"),
        tokens=tuple(kind.encode() for kind in _KINDS),
        is_json=True,
        also=(RefusedError,),
    ),
}
