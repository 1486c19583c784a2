"""Which files of a repository make a model: safetensors and tokenizer, no pickles, no code."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from components.core.errors import CheckpointError, UnknownModelError
from components.core.hub.faults import shown

if TYPE_CHECKING:
    from huggingface_hub import ModelInfo

__all__ = ["COMMIT", "INDEX", "SINGLE", "Listing", "check_id", "choose", "lack", "read_listing"]

_NAME = r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?"
_ID = re.compile(rf"(?:{_NAME}/)?{_NAME}")
COMMIT = re.compile(r"[0-9a-f]{40}")
_SHARD = re.compile(r"model-\d+-of-\d+\.safetensors")
_SENTENCEPIECE = re.compile(r"\w[\w.-]*\.model", re.ASCII)
SINGLE, INDEX = "model.safetensors", "model.safetensors.index.json"
_TOKENIZER_FILES = frozenset(
    {"tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"}
    | {"vocab.txt", "vocab.json", "merges.txt"}
)
_PICKLED = (".bin", ".pt", ".pth", ".ckpt", ".pkl")


@dataclass(frozen=True)
class Listing:
    """What the hub says of the files to fetch: commit, bytes by name, SHA-256 of the large ones."""

    commit: str
    sizes: dict[str, int]
    checksums: dict[str, str]


def check_id(model_id: str) -> None:
    """Pass where this can be the id of a model on the hub; touches neither disk nor network.

    Raises:
        UnknownModelError: it cannot.
    """
    if _ID.fullmatch(model_id) and not re.search(r"\.\.|--|\.git$", model_id):
        return
    raise UnknownModelError(
        f"{shown(model_id)} cannot be the id of a model. An id is a name or organisation/name, "
        "each of at most 96 letters, digits, '-', '_' and '.' (no other signs, no '..' or '--', "
        "not starting or ending with '-' or '.'). For example: google-bert/bert-base-uncased."
    )


def read_listing(info: ModelInfo, model_id: str) -> Listing:
    """The files to fetch.

    Raises:
        CheckpointError: the repository lacks files that a model needs.
    """
    files = {sibling.rfilename: sibling for sibling in info.siblings or ()}
    missing = lack(files)
    if missing is not None:
        raise CheckpointError(f"{model_id} {missing}. Choose another model.")
    chosen = {name: files[name] for name in choose(files)}
    sizes = {name: file.size for name, file in chosen.items() if file.size is not None}
    if not COMMIT.fullmatch(info.sha or "") or len(sizes) < len(chosen):
        raise ValueError("a listing without a commit or without sizes")
    checksums = {name: file.lfs.sha256 for name, file in chosen.items() if file.lfs}
    return Listing(str(info.sha), sizes, checksums)


def choose(names: Collection[str]) -> list[str]:
    """The files worth having among a repository's; of weights, one file or else the shards."""
    weights = {SINGLE} if SINGLE in names else {INDEX, *filter(_SHARD.fullmatch, names)}
    wanted = {"config.json"} | _TOKENIZER_FILES | weights
    return sorted(name for name in names if name in wanted or _SENTENCEPIECE.fullmatch(name))


def lack(names: Collection[str]) -> str | None:
    """What a repository's files lack to be a model that can be used, in words; or None."""
    if SINGLE not in names and not (INDEX in names and any(map(_SHARD.fullmatch, names))):
        pickled = sorted(name for name in names if name.endswith(_PICKLED) and "model" in name)
        if pickled:
            return f"has only pickled weights ({pickled[0][:80]}), which can run code when read"
        return f"has no weights in safetensors ({SINGLE}), the one format that is read here"
    if "config.json" not in names:
        return "has no config.json, so its architecture is not known"
    if not (
        {"tokenizer.json", "vocab.txt"} & set(names)
        or {"vocab.json", "merges.txt"} <= set(names)
        or any(map(_SENTENCEPIECE.fullmatch, names))
    ):
        return "has no tokenizer files"
    return None
