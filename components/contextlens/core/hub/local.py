"""The hub cache on this machine: which files a model needs, and if they are there and intact."""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from contextlens.core.errors import UnknownModelError
from contextlens.core.families import FAMILIES
from contextlens.core.recipe import is_recipe_file
from contextlens.core.untrusted import shortened

__all__ = [
    "COMMIT",
    "CONFIG",
    "DESCRIPTIONS",
    "INDEX",
    "SINGLE",
    "CachedFiles",
    "Fetched",
    "Part",
    "cache_folder",
    "cached",
    "check_id",
    "choose_files",
    "discard",
    "drop_damaged",
    "has_digest",
    "has_pickles_only",
    "has_size",
    "missing_files",
    "repository_folder",
    "shards",
    "split_id",
]

Part = Literal["model", "tokenizer"]
"""The part of a model whose files are needed: all of it, or only its config and tokenizer."""

_NAME = r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?"
COMMIT = re.compile(r"[0-9a-f]{40}")
_ID = re.compile(rf"(?:{_NAME}/)?{_NAME}(?:@{COMMIT.pattern})?")
_SHARD = re.compile(r"model-\d+-of-\d+\.safetensors")
_SENTENCEPIECE = re.compile(r"\w[\w.-]*\.model", re.ASCII)
CONFIG, SINGLE, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"
_TOKENIZER = "tokenizer.json"
DESCRIPTIONS = frozenset({"tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"})
_VOCABULARIES = frozenset({"vocab.txt", "vocab.json", "merges.txt"}).union(
    *(family.word_files for family in FAMILIES.values())
)
_PICKLED = (".bin", ".pt", ".pth", ".ckpt", ".pkl")

_REMEMBERED_SECONDS = 5.0  # for which `CachedFiles` remembers an answer
_MAX_REMEMBERED = 200


@dataclass(frozen=True)
class Fetched:
    """A model's files on this machine: their folder, and the hub commit that they belong to."""

    folder: Path
    revision: str


# Which files a model needs: no pickles, no code


def check_id(model_id: str) -> None:
    """Check that this can be the id of a model on the hub; uses neither disk nor network.

    Raises:
        UnknownModelError: it cannot.
    """
    if _ID.fullmatch(model_id) and not re.search(r"\.\.|--|\.git(@|$)", model_id):
        return
    raise UnknownModelError(
        f"{shortened(model_id, 80)} cannot be the id of a model. An id is a name or "
        "organisation/name, each of at most 96 letters, digits, '-', '_' and '.' (no other signs, "
        "no '..' or '--', not starting or ending with '-' or '.'), and for one commit of it '@' "
        "with the commit's 40 digits. For example: google-bert/bert-base-uncased."
    )


def split_id(model_id: str) -> tuple[str, str | None]:
    """Return an id's repository, and its commit or None: "org/name@4f...", "org/name"."""
    repository, _, commit = model_id.partition("@")
    return repository, commit or None


def choose_files(names: Collection[str], part: Part = "model") -> list[str]:
    """The files to fetch from a repository; its weights are one file, or else all shards.

    Of a whole model, the files of its recipe for sentence vectors are among them.
    """
    required = {CONFIG, _TOKENIZER} | DESCRIPTIONS
    if part == "model":
        required |= {SINGLE} if SINGLE in names else {INDEX, *filter(_SHARD.fullmatch, names)}
    elif _TOKENIZER in names:  # this file also holds the vocabulary
        return sorted(required & set(names))
    required |= _VOCABULARIES
    return sorted(
        name
        for name in names
        if name in required
        or _SENTENCEPIECE.fullmatch(name)
        or (part == "model" and is_recipe_file(name))
    )


def has_pickles_only(names: Collection[str]) -> bool:
    """True if a repository has weights, but none that can be read without running code."""
    return (
        missing_files(names) is not None
        and missing_files([*names, SINGLE]) is None
        and any(map(_is_pickle, names))
    )


def _is_pickle(name: str) -> bool:
    return name.endswith(_PICKLED) and "model" in name


def missing_files(names: Collection[str], part: Part = "model") -> str | None:
    """Return why a repository is unusable, as the end of a sentence that begins with its id."""
    has_weights = SINGLE in names or (INDEX in names and any(map(_SHARD.fullmatch, names)))
    if part == "model" and not has_weights:
        pickled = sorted(filter(_is_pickle, names))
        if pickled:
            return f"has only pickled weights ({pickled[0][:80]}), which can run code when read"
        return f"has no weights in safetensors ({SINGLE}), the one format that is read here"
    if CONFIG not in names:
        return "has no config.json, so its architecture is not known"
    if {_TOKENIZER, "vocab.txt"} & set(names) or {"vocab.json", "merges.txt"} <= set(names):
        return None
    if alone := sorted(filter(_SENTENCEPIECE.fullmatch, names)):
        return f"has a tokenizer for SentencePiece alone ({alone[0][:80]}) and no {_TOKENIZER}"
    return "has no tokenizer files"


def shards(folder: Path, names: Collection[str]) -> set[str]:
    """The weight files that the index names; "?", which is no file, if it is unreadable."""
    if SINGLE in names:
        return {SINGLE}
    try:
        return set(json.loads((folder / INDEX).read_bytes())["weight_map"].values())
    except (ValueError, KeyError, TypeError, AttributeError):
        return {"?"}


# Which files are in the cache


def cache_folder(cache_dir: Path | None) -> Path:
    """The hub cache; None means huggingface_hub's own."""
    from huggingface_hub import constants

    root = Path(constants.HF_HUB_CACHE if cache_dir is None else cache_dir)
    return root.expanduser().resolve()


def repository_folder(model_id: str, cache_dir: Path | None) -> Path:
    """The model's folder in the hub cache, whose layout huggingface_hub documents."""
    name, _ = split_id(model_id)
    return cache_folder(cache_dir) / f"models--{name.replace('/', '--')}"


def cached(model_id: str, *, part: Part = "model", cache_dir: Path | None = None) -> Fetched | None:
    """The model's complete files in the local hub cache, or None; never uses the network.

    Unless the id names a commit, the last known one of `main` is preferred, then the newest
    complete one. A complete model is preferred to a tokenizer that was cached alone, even if only
    the tokenizer is needed.

    Args:
        model_id: `name` or `organisation/name`, with `@` and a commit for one commit of it.
        part: the whole model, or only its config and tokenizer.
        cache_dir: the hub cache; None means huggingface_hub's own.

    Raises:
        UnknownModelError: the id is malformed.
    """
    check_id(model_id)
    parts: tuple[Part, ...] = ("model",) if part == "model" else ("model", "tokenizer")
    try:
        root = repository_folder(model_id, cache_dir)
        reference = root / "refs" / "main"
        main = reference.read_text(errors="replace").strip() if reference.is_file() else ""
        asked = re.compile(split_id(model_id)[1] or COMMIT)
        folders = [path for path in root.glob("snapshots/*") if asked.fullmatch(path.name)]
        folders.sort(key=lambda path: (path.name == main, path.stat().st_mtime), reverse=True)
        for cached_part in parts:
            for folder in folders:
                if _is_complete(folder, model_id, cache_dir, cached_part):
                    return Fetched(folder, folder.name)
    except OSError:  # an unreadable cache, or one being cleared, offers nothing
        return None
    return None


def _is_complete(folder: Path, model_id: str, cache_dir: Path | None, part: Part) -> bool:
    """True if all files are there; if the repository's listing was saved, with the right sizes."""
    from huggingface_hub import get_cached_repo_tree
    from huggingface_hub.errors import CachedRepoTreeNotFoundError

    names = {path.name for path in folder.iterdir() if path.is_file()}
    if missing_files(names, part) or (part == "model" and not shards(folder, names) <= names):
        return False
    try:
        name, _ = split_id(model_id)
        tree = get_cached_repo_tree(name, revision=folder.name, cache_dir=cache_dir)
    except CachedRepoTreeNotFoundError:  # fetched by another tool, one file at a time
        return True
    sizes = {file.path: file.size for file in tree}
    chosen = choose_files(sizes, part)  # older versions fetched no recipes; the card says so
    return all(has_size(folder / n, sizes[n]) for n in chosen if not is_recipe_file(n))


class CachedFiles:
    """Remembers for a few seconds which models are in the cache. Thread-safe.

    Pages ask at each rerun, and `cached` reads folders.
    """

    def __init__(self) -> None:
        self._known: dict[str, tuple[float, bool]] = {}
        self._lock = threading.Lock()

    def has(self, model_id: str) -> bool:
        """True if a model is complete in the local hub cache; False for an invalid id."""
        now = time.monotonic()
        with self._lock:
            until, is_here = self._known.get(model_id, (0.0, False))
        if now < until:
            return is_here
        try:
            check_id(model_id)
            # Look for the folder first: `cached` imports slow modules of huggingface_hub.
            folder = repository_folder(model_id, None)
            is_here = folder.is_dir() and cached(model_id) is not None
        except (UnknownModelError, OSError):
            is_here = False
        with self._lock:
            if len(self._known) >= _MAX_REMEMBERED:
                self._known.clear()
            self._known[model_id] = (now + _REMEMBERED_SECONDS, is_here)
        return is_here

    def forget(self, model_id: str) -> None:
        """Forget a model that was just fetched, so that the next question is answered anew."""
        with self._lock:
            self._known.pop(model_id, None)


# Which files are intact


def has_size(path: Path, size: int) -> bool:
    """True if there is a file of exactly this size."""
    return path.is_file() and path.stat().st_size == size


def has_digest(path: Path, digest: str) -> bool:
    """True if this is the file's SHA-256 or its git hash; the hub lists one of the two."""
    if len(digest) == 64:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == digest
    data = path.read_bytes()
    head = b"blob %d\0" % len(data)
    return hashlib.sha1(head + data, usedforsecurity=False).hexdigest() == digest


def drop_damaged(folder: Path) -> None:
    """Delete the damaged files of a commit, so that they are fetched again.

    A blob in the cache is named by its own hash. Intact blobs and other files stay.
    """
    links = [path for path in folder.rglob("*") if path.is_symlink() and path.is_file()]
    blobs = {path: path.resolve() for path in links}
    discard(
        path
        for path, blob in blobs.items()
        if len(blob.name) in {40, 64} and not has_digest(blob, blob.name)
    )


def discard(paths: Iterable[Path]) -> None:
    """Delete files of the cache, with the blobs that they link to."""
    for path in paths:
        path.resolve().unlink(missing_ok=True)
        path.unlink(missing_ok=True)
