"""The targets by name, each imported where it is used."""

from __future__ import annotations

from importlib import import_module

from tests.fuzz.target import Target

__all__ = ["NAMES", "named"]

_PLACES = {
    "address": "addresses",
    "state": "addresses",
    "txt": "uploads",
    "csv": "uploads",
    "tsv": "uploads",
    "jsonl": "uploads",
    "parquet": "parquet",
    "config": "configs",
    "tokenizer": "tokenizer_files",
    "settings": "tokenizer_files",
    "messages": "messages",
    "planted": "planted",
}
NAMES = tuple(name for name in _PLACES if name != "planted")


def named(name: str) -> Target:
    """A target."""
    targets: dict[str, Target] = import_module(f"tests.fuzz.targets.{_PLACES[name]}").TARGETS
    return targets[name]
