"""A model's tokenizer files, checked, and laid out in a folder that transformers may read.

transformers looks for many names in a folder, and some of them choose other code or other files.
So it never sees the folder of a model from elsewhere: it gets one with what was checked, and with
nothing else. The bundled model's files are known by their checksums and read where they are.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from components.core.config_keys import allowed_config
from components.core.encoder.tokenizer_trial import try_tokenizer
from components.core.errors import CheckpointError
from components.core.registry import ModelFiles
from components.core.strict_json import parse_object, read_bytes, read_object
from components.core.tokenizer_file import (
    MAX_PIECES,
    RefusedError,
    allowed_added_tokens,
    allowed_settings,
    allowed_special_tokens,
    check_ids,
    check_rules,
    check_vocabulary,
)

__all__ = ["readable_folder"]

_WHOLE = "tokenizer.json"
_LARGEST = {
    _WHOLE: 80_000_000,
    "vocab.txt": 20_000_000,
    "vocab.json": 20_000_000,
    "merges.txt": 20_000_000,
    "tokenizer_config.json": 5_000_000,
    "special_tokens_map.json": 5_000_000,
    "added_tokens.json": 5_000_000,
}
"""Bytes of each file that is read."""

_MOST_SIGNS = {b"{": 100_000, b"[": 2_200_000, b",": 7_000_000}
"""Signs in a tokenizer.json, each of which may cost Python a hundred bytes."""


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
            _lay_out(files, config, folder)
        except RefusedError as exc:
            raise CheckpointError(
                f"The tokenizer of {files.title} is not used: {exc}. Choose another model."
            ) from exc
        yield folder


def _lay_out(files: ModelFiles, config: dict[str, Any], folder: Path) -> None:
    rows = config.get("vocab_size", 0)
    if (files.folder / _WHOLE).is_file():
        data = _bytes(files, _WHOLE)
        _check_signs(data)
        limit = check_rules(parse_object(data, what=_named(files, _WHOLE)), rows)
        (folder / _WHOLE).write_bytes(data)
        del data
    else:
        limit = _lay_out_vocabulary(files, folder, rows)
    _lay_out_settings(files, config, folder, limit)
    if (folder / _WHOLE).is_file():
        try_tokenizer(folder / _WHOLE, limit)


def _lay_out_vocabulary(files: ModelFiles, folder: Path, rows: int) -> int:
    """The files from before tokenizer.json; one more than the largest ID."""
    found: dict[str, bytes] = {}
    for name in ("vocab.txt", "vocab.json", "merges.txt"):
        with suppress(FileNotFoundError):
            found[name] = _bytes(files, name)
    if not {"vocab.txt", "vocab.json"} & set(found):
        raise RefusedError("it has neither a tokenizer.json nor a vocab.txt or vocab.json")
    pieces = None
    if "vocab.json" in found:
        pieces = parse_object(found["vocab.json"], what=_named(files, "vocab.json"))
    lists = [data for name, data in found.items() if name != "vocab.json"]
    limit = max(check_vocabulary(pieces, lists), min(rows, MAX_PIECES))
    check_ids((pieces or {}).values(), limit)
    for name, data in found.items():
        (folder / name).write_bytes(data)
    return limit


def _lay_out_settings(files: ModelFiles, config: dict[str, Any], folder: Path, limit: int) -> None:
    given = _object(files, "tokenizer_config.json")
    added = _object(files, "added_tokens.json")
    more = given.get("added_tokens_decoder")
    limit += len(added) + (len(more) if isinstance(more, dict) else 0)
    settings = allowed_settings({"tokenizer_class": config.get("tokenizer_class")} | given, limit)
    parts = {
        "config.json": {"model_type": config["model_type"], **allowed_config(config)},
        "tokenizer_config.json": settings,
        "special_tokens_map.json": allowed_special_tokens(
            _object(files, "special_tokens_map.json")
        ),
        "added_tokens.json": allowed_added_tokens(added, limit),
    }
    for name, part in parts.items():
        if part:
            (folder / name).write_text(json.dumps(part), encoding="utf-8")


def _object(files: ModelFiles, name: str) -> dict[str, Any]:
    """What is in a JSON file; nothing where there is no such file."""
    try:
        return read_object(files.folder / name, what=_named(files, name), largest=_LARGEST[name])
    except FileNotFoundError:
        return {}


def _bytes(files: ModelFiles, name: str) -> bytes:
    return read_bytes(files.folder / name, what=_named(files, name), largest=_LARGEST[name])


def _named(files: ModelFiles, name: str) -> str:
    return f"The {name} of {files.title}"


def _check_signs(data: bytes) -> None:
    for sign, most in _MOST_SIGNS.items():
        if data.count(sign) > most:
            raise RefusedError(
                f"its {_WHOLE} has {sign.decode()!r} more than {most:,} times; none needs so many"
            )
