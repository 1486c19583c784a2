"""A tokenizer's files, checked, and the vocabulary in them."""

from __future__ import annotations

import json
import math
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import metadata
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import tokenizers
import torch
import transformers

from contextlens.core.bundled_files import check_bundled_files
from contextlens.core.encoder.tokenizer_trial import (
    LARGEST_ID,
    MAX_PIECE_LENGTH,
    RefusedError,
    try_tokenizer,
)
from contextlens.core.errors import CheckpointError, RequestError
from contextlens.core.families import FAMILIES, Family
from contextlens.core.files import checksum_of
from contextlens.core.model_config import allowed_config, family_of, read_config
from contextlens.core.registry import ModelFiles
from contextlens.core.schema import CutRules, IntArray, TokenizerCard, Vocabulary
from contextlens.core.untrusted import Rule, read_bytes, read_json, shortened

__all__ = [
    "LoadedTokenizer",
    "decode",
    "load_tokenizer",
    "panics_told",
    "readable_folder",
]


# --- Rust panics turned into our errors

_NAME = "PanicException"  # it is in no module that can be imported


@contextmanager
def panics_told(title: str) -> Iterator[None]:
    """Turn a Rust panic inside the block into one of our errors.

    Args:
        title: the model's name.

    Raises:
        CheckpointError: instead of a panic.
    """
    try:
        yield
    except BaseException as exc:
        if type(exc).__name__ != _NAME:
            raise
        raise CheckpointError(
            f"The tokenizer of {title} fails on this text ({ascii(str(exc))[1:100]}). Change the "
            "text, or choose another model."
        ) from exc


# --- A model's tokenizer files

_WHOLE = "tokenizer.json"
_MAX_BYTES = {_WHOLE: 80_000_000} | dict.fromkeys(
    ("vocab.txt", "vocab.json", "merges.txt"), 20_000_000
)
_MAX_BYTES_BESIDE = 5_000_000  # of tokenizer_config.json and similar files
_MAX_SIGNS = {b"{": 100_000, b"[": 2_200_000, b",": 7_000_000}
"""Limits on characters in a tokenizer.json that may each cost Python a hundred bytes."""


def _is_tokenizer_class(value: object) -> bool:
    """True for one of transformers' tokenizer classes for models of the supported families."""
    names = {"PreTrained", *(name for family in FAMILIES.values() for name in family.tokenizers)}
    slow = {f"{name}Tokenizer" for name in names}
    return isinstance(value, str) and (
        value == "TokenizersBackend" or value.removesuffix("Fast") in slow
    )


_FLAG = Rule("true or false", lambda value: type(value) is bool)
_SIDE = Rule("left or right", lambda value: value in ("left", "right"))
_LENGTH = Rule("a number of tokens from 1", lambda v: type(v) in {int, float} and 1 <= v < math.inf)
_SETTINGS = {
    **dict.fromkeys(
        (
            *("add_bos_token", "add_eos_token", "add_prefix_space", "clean_up_tokenization_spaces"),
            *("do_lower_case", "keep_accents", "split_by_punct", "split_special_tokens"),
            *("strip_accents", "tokenize_chinese_chars", "trim_offsets"),
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
        _is_tokenizer_class,
    ),
}
"""The entries of tokenizer_config.json that are read, besides those for tokens."""

_SPECIAL = tuple(f"{name}_token" for name in ("bos", "cls", "eos", "mask", "pad", "sep", "unk"))
_AROUND = ("bos_token", "cls_token", "eos_token", "sep_token")
"""Tokens that transformers writes into a template, where spaces, "$" and ":" are syntax."""
_MORE = ("additional_special_tokens", "extra_special_tokens")
_MARKS = ("lstrip", "normalized", "rstrip", "single_word", "special")
_MAX_ADDED = 20_000  # tokens besides the vocabulary

_ID = Rule(
    f"a whole number from 0 to {LARGEST_ID:,}", lambda v: type(v) is int and 0 <= v <= LARGEST_ID
)
_TEXT = Rule(
    f"a text of at most {MAX_PIECE_LENGTH} characters",
    lambda value: isinstance(value, str) and len(value) <= MAX_PIECE_LENGTH,
)
_IDS = Rule(
    f"an object of at most {_MAX_ADDED:,} tokens",
    lambda value: isinstance(value, dict) and len(value) <= _MAX_ADDED,
)
_LIST = Rule(
    f"a list of at most {_MAX_ADDED:,} tokens",
    lambda value: isinstance(value, dict | list) and len(value) <= _MAX_ADDED,
)
_PLAIN = Rule(
    'a token without spaces, "$" and ":"',
    lambda text: not any(sign.isspace() or sign in "$:" for sign in text),
)


@contextmanager
def readable_folder(files: ModelFiles, config: dict[str, Any]) -> Iterator[Path]:
    """A folder for transformers to read a tokenizer from: the bundled model's, or a checked copy.

    Args:
        files: the model's files.
        config: its config.json.

    Raises:
        CheckpointError: files are missing, damaged or exceed a limit.
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
                _lay_out_vocabulary(files, FAMILIES[config["model_type"]], folder)
            _lay_out_settings(files, config, folder)
        except RefusedError as exc:
            raise CheckpointError(
                f"The tokenizer of {files.title} is not used: {exc}. Choose another model."
            ) from exc
        yield folder


def _lay_out_tokenizer(files: ModelFiles, folder: Path) -> None:
    data = _bytes(files, _WHOLE)
    for sign, most in _MAX_SIGNS.items():
        if data.count(sign) > most:
            raise RefusedError(
                f"its {_WHOLE} has {sign.decode()!r} more than {most:,} times; none needs so many"
            )
    (folder / _WHOLE).write_bytes(data)
    try_tokenizer(folder / _WHOLE)


def _lay_out_vocabulary(files: ModelFiles, family: Family, folder: Path) -> None:
    """Lay out the files that predate tokenizer.json: pieces by line, pieces with IDs, merges."""
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
            if not pieces or max(map(len, pieces)) > 4 * MAX_PIECE_LENGTH:
                raise RefusedError(
                    f"its {name} has no piece, more than {LARGEST_ID + 1:,}, or one of more than "
                    f"{MAX_PIECE_LENGTH} characters"
                )
            (folder / name).write_bytes(data)
    if not (folder / "vocab.txt").is_file() and not (folder / "vocab.json").is_file():
        way = (
            f"docs/models.md has the lines that write a {_WHOLE} from its spiece.model"
            if family.fast_tokenizer == "PreTrainedTokenizerFast"
            else "Where it can be loaded, "
            f"AutoTokenizer.from_pretrained(...).save_pretrained(...) writes a {_WHOLE}"
        )
        raise RefusedError(f"it has neither a {_WHOLE} nor a vocab.txt or vocab.json. {way}")
    if not any((folder / name).is_file() for name in ("vocab.txt", "merges.txt")):
        raise RefusedError(
            "it has a vocab.json, and the file merges.txt that belongs to it is missing"
        )


def _lay_out_settings(files: ModelFiles, config: dict[str, Any], folder: Path) -> None:
    settings = _settings(_given_settings(files, config))
    if (other := _other_class(files, config)) is not None:
        settings["tokenizer_class"] = other
    parts = {
        "config.json": {"model_type": config["model_type"], **allowed_config(config)},
        "tokenizer_config.json": settings,
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


def _given_settings(files: ModelFiles, config: dict[str, Any]) -> dict[str, Any]:
    """A tokenizer_config.json as it is, with the class that config.json names if it names none."""
    return {
        "tokenizer_class": config.get("tokenizer_class"),
        **_object(files, "tokenizer_config.json"),
    }


def _other_class(files: ModelFiles, config: dict[str, Any]) -> str | None:
    """The class to read a tokenizer with, if it is not the one that its files name."""
    family = FAMILIES[config["model_type"]]
    if not family.fast_tokenizer:
        return None
    given = _given_settings(files, config)["tokenizer_class"]
    is_own = given is None or str(given).removesuffix("Fast") == f"{family.tokenizers[0]}Tokenizer"
    if not is_own:
        return None
    is_whole = (files.folder / _WHOLE).is_file()  # else BERT's vocab.txt, which needs BERT's class
    return family.fast_tokenizer if is_whole else f"{family.tokenizers[1]}Tokenizer"


def _settings(given: dict[str, Any]) -> dict[str, Any]:
    """The part of a tokenizer_config.json that a tokenizer is built from."""
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
    """A token: its text, or an object with its text and the rules for matching it."""
    if not isinstance(given, dict):
        return _checked(name, given, _TEXT)
    marks = {mark: _checked(mark, given[mark], _FLAG) for mark in _MARKS if mark in given}
    kind = {"__type": "AddedToken"} if given.get("__type") == "AddedToken" else {}
    return {"content": _checked(name, given.get("content"), _TEXT), **marks, **kind}


def _checked(name: str, value: Any, rule: Rule) -> Any:
    """Return the value if its rule allows it."""
    if not rule.allows(value):
        raise RefusedError(f"it says {name} is {shortened(value)}; it must be {rule.says}")
    return value


def _object(files: ModelFiles, name: str) -> dict[str, Any]:
    """The content of a JSON file; empty if there is no such file."""
    try:
        return read_json(
            files.folder / name,
            title=f"The {name} of {files.title}",
            most_bytes=_MAX_BYTES.get(name, _MAX_BYTES_BESIDE),
        )
    except FileNotFoundError:
        return {}


def _bytes(files: ModelFiles, name: str) -> bytes:
    return read_bytes(
        files.folder / name,
        title=f"The {name} of {files.title}",
        most_bytes=_MAX_BYTES[name],
    )


# --- A tokenizer without its network

_FILES = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
_KEPT = (*_FILES, "merges.txt", "tokenizer_config.json", "special_tokens_map.json")
_WORD_STARTS = {"BPE": "Ġ", "SentencePiece BPE": "▁", "Unigram": "▁"}


@dataclass
class LoadedTokenizer:
    """A tokenizer in memory, with its card, vocabulary and rules for cutting words."""

    card: TokenizerCard
    tokenizer: Any  # a fast transformers tokenizer
    lock: threading.Lock = field(default_factory=threading.Lock)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """Every piece by ID; see `EncoderService.vocabulary`."""
        return _vocabulary(self)

    @cached_property
    def cut_rules(self) -> CutRules:
        """The rules for cutting words; see `EncoderService.cut_rules`."""
        if self.vocabulary.method == "WordPiece":  # it has no rules beyond its vocabulary
            return CutRules(MappingProxyType({}), ())
        model = json.loads(self.tokenizer.backend_tokenizer.to_str())["model"]
        pairs = (m.split(" ") if isinstance(m, str) else m for m in model.get("merges", ()))
        scores = (row[1] for row in model["vocab"]) if model["type"] == "Unigram" else ()
        merges = {(left, right): place for place, (left, right) in enumerate(pairs)}
        return CutRules(MappingProxyType(merges), tuple(map(float, scores)))


def load_tokenizer(files: ModelFiles) -> LoadedTokenizer:
    """Load a tokenizer from a model's files.

    Raises:
        UnsupportedModelError: the model is not an encoder of a supported family.
        CheckpointError: its files are missing or damaged.
    """
    if files.source == "bundled":
        check_bundled_files(files.folder)
    config = read_config(files.folder)
    family = family_of(config)
    with panics_told(files.title):
        tokenizer = _read(files, config)
        _check_usable(files, config, tokenizer)
    card = TokenizerCard(
        id=files.id,
        title=files.title,
        family=family.model_type,
        source=files.source,
        location=files.location,
        revision=files.revision,
        checksum=checksum_of(_present(files.folder)),
        vocabulary_size=len(tokenizer),
        max_length=_max_length(allowed_config(config), family, tokenizer),
        n_added=(
            tokenizer.num_special_tokens_to_add(pair=False),
            tokenizer.num_special_tokens_to_add(pair=True),
        ),
        cased=bool(tokenizer.tokenize("Apple US") != tokenizer.tokenize("apple us")),
        has_segments=family.reads_segments(config),
        versions=library_versions(),
        read_by=_other_class(files, config) or "AutoTokenizer",
    )
    return LoadedTokenizer(card, tokenizer)


@cache
def library_versions() -> dict[str, str]:
    """The versions of the libraries that compute, for passports."""
    app = {"contextlens": metadata.version("contextlens")}
    modules = (torch, transformers, tokenizers)
    return app | {module.__name__: str(module.__version__) for module in modules}


def decode(
    loaded: LoadedTokenizer, token_ids: Sequence[int] | IntArray, *, skip_special: bool
) -> str:
    """The text that token IDs stand for.

    Raises:
        RequestError: the vocabulary does not have an ID.
    """
    ids = [int(i) for i in token_ids]
    strange = [i for i in ids if not 0 <= i < loaded.card.vocabulary_size]
    if strange:
        raise RequestError(
            f"There is no token with ID {strange[0]}; {loaded.card.title} has IDs from 0 to "
            f"{loaded.card.vocabulary_size - 1:,}."
        )
    with panics_told(loaded.card.title):
        return str(loaded.tokenizer.decode(ids, skip_special_tokens=skip_special))


def _present(folder: Path) -> list[Path]:
    return sorted(path for name in _KEPT for path in folder.glob(name) if path.is_file())


def _read(files: ModelFiles, config: dict[str, Any]) -> Any:
    # Without its files, transformers silently makes up a vocabulary of five pieces.
    if not any(any(files.folder.glob(name)) for name in _FILES):
        raise CheckpointError(
            f"{files.title} has no tokenizer: the file {_WHOLE} is missing. {files.repair}"
        )
    try:
        with readable_folder(files, config) as folder:
            tokenizer = transformers.AutoTokenizer.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False, use_fast=True
            )
    except CheckpointError:
        raise
    except Exception as exc:  # damaged files raise almost any error
        line = (str(exc).strip().splitlines() or [type(exc).__name__])[0][:200]
        raise CheckpointError(
            f"The tokenizer files of {files.title} cannot be read ({line}). {files.repair}"
        ) from exc
    if not tokenizer.is_fast:
        raise CheckpointError(
            f"{files.title} has no fast tokenizer, so token positions in the text are not known. "
            "Choose a model with a tokenizer.json."
        )
    return tokenizer


def _check_usable(files: ModelFiles, config: dict[str, Any], tokenizer: Any) -> None:
    """Check that there is a padding token, and room for a pair of texts."""
    padding, rows = tokenizer.pad_token_id, config.get("vocab_size")
    if padding is None or (rows is not None and padding >= rows):
        raise CheckpointError(
            f"The tokenizer of {files.title} has no token to pad with (pad_token), or one that the "
            "model does not know. Choose another model."
        )
    room = _max_length(allowed_config(config), family_of(config), tokenizer)
    least = tokenizer.num_special_tokens_to_add(pair=True) + 2
    if room < least:
        raise CheckpointError(
            f"{files.title} takes texts of {room} tokens, and a pair of texts has {least} or more. "
            "Choose another model."
        )


def _max_length(config: dict[str, Any], family: Family, tokenizer: Any) -> int:
    """The most tokens that fit: the usable position rows, or fewer if the tokenizer says so."""
    unusable = int(config.get("pad_token_id", 1)) + 1 if family.skips_positions else 0
    rows = int(config.get("max_position_embeddings", 512))
    return int(min(rows - unusable, tokenizer.model_max_length))


def _vocabulary(loaded: LoadedTokenizer) -> Vocabulary:
    tokenizer = loaded.tokenizer
    model = tokenizer.backend_tokenizer.model
    method = _method(tokenizer)
    pieces = [""] * (1 + max(tokenizer.get_vocab().values()))
    for piece, token_id in tokenizer.get_vocab().items():
        pieces[token_id] = piece
    special = frozenset(tokenizer.all_special_ids)
    prefix = getattr(model, "continuing_subword_prefix", None) or "##"
    return Vocabulary(
        method=method,
        pieces=tuple(pieces),
        texts=tuple(_text(piece, method, prefix) for piece in pieces),
        kinds=tuple(
            "special" if i in special else _kind(piece, method, prefix)
            for i, piece in enumerate(pieces)
        ),
        unknown_id=tokenizer.unk_token_id,
        pad_id=tokenizer.pad_token_id,
        longest_word=getattr(model, "max_input_chars_per_word", None),
        mask_id=tokenizer.mask_token_id,
    )


def _method(tokenizer: Any) -> str:
    """How words are cut; BPE that joins characters instead of bytes (mmBERT) has its own name."""
    backend = tokenizer.backend_tokenizer
    method = type(backend.model).__name__
    parts = [part for part in (backend.pre_tokenizer, backend.decoder) if part is not None]
    if method != "BPE" or any(b'"ByteLevel"' in part.__getstate__() for part in parts):
        return method
    is_marked = any(piece.startswith("▁") for piece in tokenizer.get_vocab())
    return "SentencePiece BPE" if is_marked else method


def _kind(piece: str, method: str, prefix: str) -> Literal["start", "continuation"]:
    mark = _WORD_STARTS.get(method)
    begins = piece.startswith(mark) if mark else not piece.startswith(prefix)
    return "start" if begins else "continuation"


def _text(piece: str, method: str, prefix: str) -> str:
    """The text of a piece, without the marker that shows whether it begins a word."""
    if method == "BPE":
        return _from_bytes(piece).removeprefix(" ")
    mark = _WORD_STARTS.get(method, prefix)
    return piece.removeprefix(mark) if piece != mark else piece


def _from_bytes(piece: str) -> str:
    """The text of a byte-coded piece; incomplete characters become U+FFFD."""
    codes = _byte_codes()
    if not all(sign in codes for sign in piece):  # an added token, which is plain text
        return piece
    return bytes(codes[sign] for sign in piece).decode(errors="replace")


@cache
def _byte_codes() -> dict[str, int]:
    """GPT-2's byte for each character: itself if printable, the others from U+0100 on."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    moved = [byte for byte in range(256) if byte not in plain]
    return {
        **{chr(byte): byte for byte in plain},
        **{chr(0x100 + i): byte for i, byte in enumerate(moved)},
    }
