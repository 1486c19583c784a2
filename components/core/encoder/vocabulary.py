"""A tokenizer without its network: read from files, its vocabulary, and the way back to text."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import metadata
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import tokenizers
import torch
import transformers

from components.core.bundled_files import check_bundled_files
from components.core.encoder.panics import panics_told
from components.core.encoder.tokenizer_files import readable_folder
from components.core.errors import CheckpointError, RequestError
from components.core.families import family_of, read_config
from components.core.files import checksum_of
from components.core.registry import ModelFiles
from components.core.schema import CutRules, IntArray, TokenizerCard, Vocabulary

__all__ = ["LoadedTokenizer", "decode", "library_versions", "load_tokenizer", "normalize"]

_FILES = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
_KEPT = (*_FILES, "merges.txt", "tokenizer_config.json", "special_tokens_map.json")
_WORD_STARTS = {"BPE": "Ġ", "Unigram": "▁"}


@dataclass
class LoadedTokenizer:
    """A tokenizer in memory, with what is known of it."""

    card: TokenizerCard
    tokenizer: Any  # a fast transformers tokenizer
    lock: threading.Lock = field(default_factory=threading.Lock)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """Every piece by ID; see `EncoderService.vocabulary`."""
        return _vocabulary(self)

    @cached_property
    def cut_rules(self) -> CutRules:
        """How words are cut; see `EncoderService.cut_rules`."""
        if self.vocabulary.method == "WordPiece":  # nothing beside its vocabulary
            return CutRules(MappingProxyType({}), ())
        model = json.loads(self.tokenizer.backend_tokenizer.to_str())["model"]
        pairs = (m.split(" ") if isinstance(m, str) else m for m in model.get("merges", ()))
        scores = (row[1] for row in model["vocab"]) if model["type"] == "Unigram" else ()
        merges = {(left, right): place for place, (left, right) in enumerate(pairs)}
        return CutRules(MappingProxyType(merges), tuple(map(float, scores)))


def load_tokenizer(files: ModelFiles) -> LoadedTokenizer:
    """A tokenizer read from a model's files.

    Raises:
        UnsupportedModelError: not that of an encoder of a supported family.
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
        max_length=_max_length(config, family.skips_positions, tokenizer),
        n_added=(
            tokenizer.num_special_tokens_to_add(pair=False),
            tokenizer.num_special_tokens_to_add(pair=True),
        ),
        cased=bool(tokenizer.tokenize("Apple US") != tokenizer.tokenize("apple us")),
        has_segments=family.has_segments,
        versions=library_versions(),
    )
    return LoadedTokenizer(card, tokenizer)


@cache
def library_versions() -> dict[str, str]:
    """The versions of what computes, for passports."""
    own = {"contextlens": metadata.version("contextlens")}
    modules = (torch, transformers, tokenizers)
    return own | {module.__name__: str(module.__version__) for module in modules}


def normalize(loaded: LoadedTokenizer, texts: Sequence[str]) -> list[str]:
    """Each text as the tokenizer sees it before cutting: small letters, no accents, and so on."""
    normalizer = loaded.tokenizer.backend_tokenizer.normalizer
    if normalizer is None:
        return list(texts)
    with panics_told(loaded.card.title):
        return [str(normalizer.normalize_str(text)) for text in texts]


def decode(
    loaded: LoadedTokenizer, token_ids: Sequence[int] | IntArray, *, skip_special: bool
) -> str:
    """The text that the IDs stand for.

    Raises:
        RequestError: an ID that the vocabulary does not have.
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
    # Without its files transformers makes up a vocabulary of five pieces and says nothing.
    if not any(any(files.folder.glob(name)) for name in _FILES):
        raise CheckpointError(
            f"The tokenizer files of {files.title} are missing. Fetch the model again, or choose "
            "another."
        )
    try:
        with readable_folder(files, config) as folder:
            tokenizer = transformers.AutoTokenizer.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False, use_fast=True
            )
    except CheckpointError:
        raise
    except Exception as exc:  # damaged files raise almost anything
        line = (str(exc).strip().splitlines() or [type(exc).__name__])[0][:200]
        raise CheckpointError(
            f"The tokenizer files of {files.title} cannot be read ({line}). Fetch the model again, "
            "or choose another."
        ) from exc
    if not tokenizer.is_fast:
        raise CheckpointError(
            f"{files.title} has no fast tokenizer, so token positions in the text are not known. "
            "Choose a model with a tokenizer.json."
        )
    return tokenizer


def _check_usable(files: ModelFiles, config: dict[str, Any], tokenizer: Any) -> None:
    """Pass where there is a token to pad with, and room for a text beside the special tokens."""
    padding, rows = tokenizer.pad_token_id, config.get("vocab_size")
    if padding is None or (rows is not None and padding >= rows):
        raise CheckpointError(
            f"The tokenizer of {files.title} has no token to pad with (pad_token), or one that the "
            "model does not know. Choose another model."
        )
    room = _max_length(config, family_of(config).skips_positions, tokenizer)
    least = tokenizer.num_special_tokens_to_add(pair=True) + 2
    if room < least:
        raise CheckpointError(
            f"{files.title} takes texts of {room} tokens, and a pair of texts has {least} or more. "
            "Choose another model."
        )


def _max_length(config: dict[str, Any], skips_positions: bool, tokenizer: Any) -> int:
    """Tokens that fit: position rows that can be used, or less where the tokenizer says so."""
    unusable = int(config.get("pad_token_id", 1)) + 1 if skips_positions else 0
    rows = int(config.get("max_position_embeddings", 512))
    return int(min(rows - unusable, tokenizer.model_max_length))


def _vocabulary(loaded: LoadedTokenizer) -> Vocabulary:
    tokenizer = loaded.tokenizer
    model = tokenizer.backend_tokenizer.model
    method = type(model).__name__
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
    )


def _kind(piece: str, method: str, prefix: str) -> Literal["start", "continuation"]:
    mark = _WORD_STARTS.get(method)
    begins = piece.startswith(mark) if mark else not piece.startswith(prefix)
    return "start" if begins else "continuation"


def _text(piece: str, method: str, prefix: str) -> str:
    """What a piece stands for, without the sign that says whether it begins a word."""
    if method == "BPE":
        return _from_bytes(piece).removeprefix(" ")
    mark = _WORD_STARTS.get(method, prefix)
    return piece.removeprefix(mark) if piece != mark else piece


def _from_bytes(piece: str) -> str:
    """The text of a byte-coded piece; half characters become U+FFFD."""
    codes = _byte_codes()
    if not all(sign in codes for sign in piece):  # an added token, which is plain text
        return piece
    return bytes(codes[sign] for sign in piece).decode(errors="replace")


@cache
def _byte_codes() -> dict[str, int]:
    """GPT-2's byte for each sign: printable bytes are themselves, the others from U+0100 on."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    moved = [byte for byte in range(256) if byte not in plain]
    return {
        **{chr(byte): byte for byte in plain},
        **{chr(0x100 + i): byte for i, byte in enumerate(moved)},
    }
