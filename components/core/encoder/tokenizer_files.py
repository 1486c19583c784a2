"""A model's tokenizer files, checked, and laid out in a folder that transformers may read.

transformers looks for many names in a folder, and hands every name of tokenizer_config.json on as
an argument; some choose other code or other files. So it never sees the folder of a model from
elsewhere: it gets one with what was checked, and with nothing else. A tokenizer.json is tried in a
process of its own (`tokenizer_trial`); the files from before it, which are mere lists, have bounds.
The bundled model's files are known by their checksums and read where they are.
"""

from __future__ import annotations

import json
import math
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from components.core.config_keys import Rule, allowed_config, read_bytes, read_json, shortened
from components.core.encoder.tokenizer_trial import (
    LARGEST_ID,
    LONGEST_PIECE,
    RefusedError,
    try_tokenizer,
)
from components.core.errors import CheckpointError
from components.core.registry import ModelFiles

__all__ = ["readable_folder"]

_WHOLE = "tokenizer.json"
_MOST_BYTES = {_WHOLE: 80_000_000} | dict.fromkeys(
    ("vocab.txt", "vocab.json", "merges.txt"), 20_000_000
)
_MOST_BYTES_BESIDE = 5_000_000  # of tokenizer_config.json and its like
_MOST_SIGNS = {b"{": 100_000, b"[": 2_200_000, b",": 7_000_000}
"""Signs in a tokenizer.json, each of which may cost Python a hundred bytes."""

_CLASS = re.compile(
    r"(Albert|Bart|Bert|Camembert|DistilBert|Electra|GPT2|Herbert|LayoutLM|Longformer|MPNet|"
    r"MobileBert|PreTrained|Roberta|SqueezeBert|XLMRoberta)Tokenizer(Fast)?|TokenizersBackend"
)
"""Classes of transformers that models of the supported families name."""

_FLAG = Rule("true or false", lambda value: type(value) is bool)
_SIDE = Rule("left or right", lambda value: value in ("left", "right"))
_LENGTH = Rule("a number of tokens from 1", lambda v: type(v) in {int, float} and 1 <= v < math.inf)
_SETTINGS = {
    **dict.fromkeys(
        (
            *("add_bos_token", "add_eos_token", "add_prefix_space", "clean_up_tokenization_spaces"),
            *("do_lower_case", "keep_accents", "split_special_tokens", "strip_accents"),
            *("tokenize_chinese_chars", "trim_offsets"),
        ),
        _FLAG,
    ),
    "padding_side": _SIDE,
    "truncation_side": _SIDE,
    "max_len": _LENGTH,
    "model_max_length": _LENGTH,
    "errors": Rule("ignore, replace or strict", lambda v: v in ("ignore", "replace", "strict")),
    "tokenizer_class": Rule(
        "a class of the supported families (BertTokenizer, RobertaTokenizer and so on)",
        lambda value: isinstance(value, str) and _CLASS.fullmatch(value) is not None,
    ),
}
"""The names of tokenizer_config.json that are read, beside those of tokens."""

_SPECIAL = tuple(f"{name}_token" for name in ("bos", "cls", "eos", "mask", "pad", "sep", "unk"))
_AROUND = ("bos_token", "cls_token", "eos_token", "sep_token")
"""Those that transformers writes into a template, in which spaces, "$" and ":" mean something."""
_MORE = ("additional_special_tokens", "extra_special_tokens")
_MARKS = ("lstrip", "normalized", "rstrip", "single_word", "special")
_MOST_ADDED = 20_000  # tokens beside the vocabulary

_ID = Rule(
    f"a whole number from 0 to {LARGEST_ID:,}", lambda v: type(v) is int and 0 <= v <= LARGEST_ID
)
_TEXT = Rule(
    f"a text of at most {LONGEST_PIECE} characters",
    lambda value: isinstance(value, str) and len(value) <= LONGEST_PIECE,
)
_IDS = Rule(
    f"an object of at most {_MOST_ADDED:,} tokens",
    lambda value: isinstance(value, dict) and len(value) <= _MOST_ADDED,
)
_LIST = Rule(
    f"a list of at most {_MOST_ADDED:,} tokens",
    lambda value: isinstance(value, dict | list) and len(value) <= _MOST_ADDED,
)
_PLAIN = Rule(
    'a token without spaces, "$" and ":"',
    lambda text: not any(sign.isspace() or sign in "$:" for sign in text),
)


@contextmanager
def readable_folder(files: ModelFiles, config: dict[str, Any]) -> Iterator[Path]:
    """A folder that transformers may read a tokenizer from, while it is needed.

    Args:
        files: where the model is.
        config: its config.json.

    Raises:
        CheckpointError: files are missing, damaged or past a bound.
    """
    if files.source == "bundled":
        yield files.folder
        return
    with tempfile.TemporaryDirectory(prefix="contextlens-") as made:
        folder = Path(made)
        try:
            if (files.folder / _WHOLE).is_file():
                _lay_out_tokenizer(files, folder)
            else:
                _lay_out_vocabulary(files, folder)
            _lay_out_settings(files, config, folder)
        except RefusedError as exc:
            raise CheckpointError(
                f"The tokenizer of {files.title} is not used: {exc}. Choose another model."
            ) from exc
        yield folder


def _lay_out_tokenizer(files: ModelFiles, folder: Path) -> None:
    data = _bytes(files, _WHOLE)
    for sign, most in _MOST_SIGNS.items():
        if data.count(sign) > most:
            raise RefusedError(
                f"its {_WHOLE} has {sign.decode()!r} more than {most:,} times; none needs so many"
            )
    (folder / _WHOLE).write_bytes(data)
    try_tokenizer(folder / _WHOLE)


def _lay_out_vocabulary(files: ModelFiles, folder: Path) -> None:
    """The files from before tokenizer.json: a piece a line, pieces with their IDs, pairs."""
    for name in ("vocab.txt", "vocab.json", "merges.txt"):
        with suppress(FileNotFoundError):
            data = _bytes(files, name)
            pieces: list[Any] = []
            if name == "vocab.json":
                vocabulary = _object(files, name)
                pieces = list(vocabulary)
                for token_id in vocabulary.values():
                    _checked("an ID", token_id, _ID)
            elif data.count(b"\n") <= LARGEST_ID:
                pieces = data.split(b"\n")
            # UTF-8 takes up to four bytes for a character.
            if not pieces or max(map(len, pieces)) > 4 * LONGEST_PIECE:
                raise RefusedError(
                    f"its {name} has no piece, more than {LARGEST_ID + 1:,}, or one of more than "
                    f"{LONGEST_PIECE} characters"
                )
            (folder / name).write_bytes(data)
    if not (folder / "vocab.txt").is_file() and not (folder / "vocab.json").is_file():
        raise RefusedError("it has neither a tokenizer.json nor a vocab.txt or vocab.json")


def _lay_out_settings(files: ModelFiles, config: dict[str, Any], folder: Path) -> None:
    family = {"tokenizer_class": config.get("tokenizer_class")}
    parts = {
        "config.json": {"model_type": config["model_type"], **allowed_config(config)},
        "tokenizer_config.json": _settings(family | _object(files, "tokenizer_config.json")),
        "special_tokens_map.json": _special_tokens(_object(files, "special_tokens_map.json")),
        "added_tokens.json": {
            _checked("an added token", text, _TEXT): _checked("an ID", token_id, _ID)
            for text, token_id in _checked(
                "added_tokens.json", _object(files, "added_tokens.json"), _IDS
            ).items()
        },
    }
    for name, part in parts.items():
        if part:
            (folder / name).write_text(json.dumps(part), encoding="utf-8")


def _settings(given: dict[str, Any]) -> dict[str, Any]:
    """The part of a tokenizer_config.json that a tokenizer is made from."""
    chosen = _special_tokens(given)
    for name in _SETTINGS.keys() & given.keys():
        if given[name] is not None:
            chosen[name] = _checked(name, given[name], _SETTINGS[name])
    if "added_tokens_decoder" in given:
        added = _checked("added_tokens_decoder", given["added_tokens_decoder"], _IDS)
        for digits in added:
            is_number = digits.isdecimal() and len(digits) < 15
            _checked("an ID", int(digits) if is_number else digits, _ID)
        chosen["added_tokens_decoder"] = {i: _token(i, token) for i, token in added.items()}
    return chosen


def _special_tokens(given: dict[str, Any]) -> dict[str, Any]:
    """The special tokens that a special_tokens_map.json or a tokenizer_config.json names."""
    chosen = {name: _token(name, given[name]) for name in _SPECIAL if given.get(name) is not None}
    for name in _AROUND:
        token = chosen.get(name, "")
        _checked(name, token["content"] if isinstance(token, dict) else token, _PLAIN)
    for name in _MORE:
        if (more := given.get(name)) is not None:
            _checked(name, more, _LIST)
            chosen[name] = (
                {_checked(name, key, _TEXT): _token(name, token) for key, token in more.items()}
                if isinstance(more, dict)
                else [_token(name, token) for token in more]
            )
    return chosen


def _token(name: str, given: Any) -> Any:
    """A token: its text, or an object with its text and how it is found."""
    if not isinstance(given, dict):
        return _checked(name, given, _TEXT)
    marks = {mark: _checked(mark, given[mark], _FLAG) for mark in _MARKS if mark in given}
    kind = {"__type": "AddedToken"} if given.get("__type") == "AddedToken" else {}
    return {"content": _checked(name, given.get("content"), _TEXT), **marks, **kind}


def _checked(name: str, value: Any, rule: Rule) -> Any:
    """The value, where its rule allows it."""
    if not rule.allows(value):
        raise RefusedError(f"it says {name} is {shortened(value)}; it must be {rule.says}")
    return value


def _object(files: ModelFiles, name: str) -> dict[str, Any]:
    """The content of a JSON file; nothing where there is no such file."""
    try:
        return read_json(
            files.folder / name,
            title=f"The {name} of {files.title}",
            most_bytes=_MOST_BYTES.get(name, _MOST_BYTES_BESIDE),
        )
    except FileNotFoundError:
        return {}


def _bytes(files: ModelFiles, name: str) -> bytes:
    return read_bytes(
        files.folder / name,
        title=f"The {name} of {files.title}",
        most_bytes=_MOST_BYTES[name],
    )
