"""Which files of a repository make a model, or its tokenizer alone: no pickles, no code."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeGuard

from components.core.errors import CheckpointError, UnknownModelError
from components.core.hub.faults import UntrueError, in_ascii

if TYPE_CHECKING:
    from huggingface_hub import ModelInfo

__all__ = [
    "COMMIT",
    "CONFIG",
    "DESCRIPTIONS",
    "INDEX",
    "SINGLE",
    "Listing",
    "Part",
    "check_id",
    "choose",
    "lack",
    "read_listing",
]

Part = Literal["model", "tokenizer"]
"""What to have: weights and all, or only config and tokenizer."""

_NAME = r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?"
_ID = re.compile(rf"(?:{_NAME}/)?{_NAME}")
COMMIT = re.compile(r"[0-9a-f]{40}")
_SHARD = re.compile(r"model-\d+-of-\d+\.safetensors")
_SENTENCEPIECE = re.compile(r"\w[\w.-]*\.model", re.ASCII)
SINGLE, INDEX = "model.safetensors", "model.safetensors.index.json"
CONFIG = "config.json"
_TOKENIZER = "tokenizer.json"
DESCRIPTIONS = frozenset({"tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"})
_TOKENIZER_FILES = DESCRIPTIONS | {_TOKENIZER}
_VOCABULARIES = frozenset({"vocab.txt", "vocab.json", "merges.txt"})
_PICKLED = (".bin", ".pt", ".pth", ".ckpt", ".pkl")


@dataclass(frozen=True)
class Listing:
    """What the hub says of the files to fetch.

    Attributes:
        commit: 40 hexadecimal digits.
        sizes: bytes, by name.
        checksums: SHA-256 of the large files, by name.
        blob_ids: git's SHA-1 of the others, by name.
    """

    commit: str
    sizes: dict[str, int]
    checksums: dict[str, str]
    blob_ids: dict[str, str]

    def only(self, name: str) -> Listing:
        """The same with one file."""
        return Listing(
            self.commit,
            {key: size for key, size in self.sizes.items() if key == name},
            {key: sum_ for key, sum_ in self.checksums.items() if key == name},
            {key: blob for key, blob in self.blob_ids.items() if key == name},
        )


def check_id(model_id: str) -> None:
    """Pass where this can be the id of a model on the hub; touches neither disk nor network.

    Raises:
        UnknownModelError: it cannot.
    """
    if _ID.fullmatch(model_id) and not re.search(r"\.\.|--|\.git$", model_id):
        return
    raise UnknownModelError(
        f"{in_ascii(model_id)} cannot be the id of a model. An id is a name or organisation/name, "
        "each of at most 96 letters, digits, '-', '_' and '.' (no other signs, no '..' or '--', "
        "not starting or ending with '-' or '.'). For example: google-bert/bert-base-uncased."
    )


def read_listing(info: ModelInfo, model_id: str, part: Part = "model") -> Listing:
    """The files to fetch.

    Raises:
        CheckpointError: the repository lacks files that this part needs.
        UntrueError: the hub's own words of them make no sense.
    """
    files = {sibling.rfilename: sibling for sibling in info.siblings or ()}
    missing = lack(files, part)
    if missing is not None:
        raise CheckpointError(f"{model_id} {missing}. Choose another model.")
    chosen = {name: files[name] for name in choose(files, part)}
    sizes = {name: file.size for name, file in chosen.items() if _is_size(file.size)}
    if not COMMIT.fullmatch(info.sha or "") or len(sizes) < len(chosen):
        raise UntrueError("{hub} listed files without a commit, or of sizes that no file has")
    checksums = {name: file.lfs.sha256 for name, file in chosen.items() if file.lfs}
    small = {name: file.blob_id for name, file in chosen.items() if not file.lfs}
    return Listing(
        str(info.sha), sizes, checksums, {name: blob for name, blob in small.items() if blob}
    )


def _is_size(size: object) -> TypeGuard[int]:
    return type(size) is int and size >= 0


def choose(names: Collection[str], part: Part = "model") -> list[str]:
    """The files worth having among a repository's; of weights, one file or else the shards."""
    wanted = {CONFIG} | _TOKENIZER_FILES
    if part == "model":
        wanted |= _VOCABULARIES
        wanted |= {SINGLE} if SINGLE in names else {INDEX, *filter(_SHARD.fullmatch, names)}
    elif _TOKENIZER in names:  # it holds the vocabulary too
        return sorted(wanted & set(names))
    else:
        wanted |= _VOCABULARIES
    return sorted(name for name in names if name in wanted or _SENTENCEPIECE.fullmatch(name))


def lack(names: Collection[str], part: Part = "model") -> str | None:
    """What a repository's files lack to be of use, in words; or None."""
    has_weights = SINGLE in names or (INDEX in names and any(map(_SHARD.fullmatch, names)))
    if part == "model" and not has_weights:
        pickled = sorted(name for name in names if name.endswith(_PICKLED) and "model" in name)
        if pickled:
            return f"has only pickled weights ({pickled[0][:80]}), which can run code when read"
        return f"has no weights in safetensors ({SINGLE}), the one format that is read here"
    if CONFIG not in names:
        return "has no config.json, so its architecture is not known"
    if not (
        {_TOKENIZER, "vocab.txt"} & set(names)
        or {"vocab.json", "merges.txt"} <= set(names)
        or any(map(_SENTENCEPIECE.fullmatch, names))
    ):
        return "has no tokenizer files"
    return None
