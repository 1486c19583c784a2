"""A foreign model's tokenizer files: what the app does before it uses them.

A tokenizer.json is tried in a process of its own, whatever it does there; the files beside it are
held against lists and bounds.
"""

from __future__ import annotations

import json
import tempfile
from functools import cache, partial
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from components.core.encoder.vocabulary import readable_folder
from components.core.errors import CheckpointError
from components.core.registry import ModelFiles
from tests.fuzz.structure import odd, rarely
from tests.fuzz.target import Target, check_says, seeds_of

__all__ = ["TARGETS"]

_CONFIG = {"model_type": "bert"}
_BESIDE = ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "vocab.json")


@cache
def _folder() -> tuple[Path, tempfile.TemporaryDirectory[str]]:
    kept = tempfile.TemporaryDirectory()
    return Path(kept.name), kept


def _lay_out(name: str, content: bytes) -> None:
    """Read a model's tokenizer files, of which there is this one and a vocabulary."""
    folder, _ = _folder()
    for path in folder.iterdir():
        path.unlink()
    (folder / "vocab.txt").write_text("[PAD]")
    (folder / name).write_bytes(content)
    files = ModelFiles("folder:a", "a" * 60, "folder", folder, "the folder a", "")
    with readable_folder(files, _CONFIG) as seen:
        for path in seen.glob("*_*.json"):
            json.dumps(json.loads(path.read_bytes()), allow_nan=False)


def _tokenizer(content: bytes) -> None:
    _lay_out("tokenizer.json", content)


def _beside(content: bytes) -> None:
    """The files beside it: which of them this is, each reader of them takes it to be its own."""
    refusals = []
    for name in _BESIDE:
        try:
            _lay_out(name, content)
        except CheckpointError as exc:
            check_says(str(exc))
            refusals.append(exc)
    if len(refusals) == len(_BESIDE):
        raise refusals[0]


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
    ),
    "tokenizer": Target(
        name="tokenizer",
        run=_tokenizer,
        structure=_tokenizers,
        seeds=partial(seeds_of, "tokenizer"),
        tokens=tuple(kind.encode() for kind in _KINDS),
        is_json=True,
    ),
}
