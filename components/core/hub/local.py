"""The hub cache on this machine: what is there, whether it is whole, and what must go."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable
from pathlib import Path

from components.core.errors import CheckpointError, FetchError
from components.core.hub.faults import LATER, in_ascii
from components.core.hub.listing import COMMIT, INDEX, SINGLE, Listing, Part, choose, lack

__all__ = [
    "cache_folder",
    "check_files",
    "drop_damaged",
    "is_complete",
    "keep_whole_files",
    "repository",
    "snapshots",
]


def cache_folder(cache_dir: Path | None) -> Path:
    """The hub cache; None means huggingface_hub's own."""
    from huggingface_hub import constants

    root = Path(constants.HF_HUB_CACHE if cache_dir is None else cache_dir)
    return root.expanduser().resolve()


def repository(model_id: str, cache_dir: Path | None) -> Path:
    """The model's folder in the hub cache, by the cache's documented layout."""
    return cache_folder(cache_dir) / f"models--{model_id.replace('/', '--')}"


def snapshots(model_id: str, cache_dir: Path | None) -> list[Path]:
    """Folders of the commits in the cache, best first."""
    root = repository(model_id, cache_dir)
    reference = root / "refs" / "main"
    main = reference.read_text(errors="replace").strip() if reference.is_file() else ""
    folders = [p for p in root.glob("snapshots/*") if COMMIT.fullmatch(p.name)]
    return sorted(folders, key=lambda p: (p.name == main, p.stat().st_mtime), reverse=True)


def is_complete(folder: Path, model_id: str, cache_dir: Path | None, part: Part = "model") -> bool:
    """Whether all files are there: as the repository's listing says where it was kept."""
    from huggingface_hub import get_cached_repo_tree
    from huggingface_hub.errors import CachedRepoTreeNotFoundError

    names = {path.name for path in folder.iterdir() if path.is_file()}
    if lack(names, part) is not None:
        return False
    if part == "model" and not shards(folder, names) <= names:
        return False
    try:
        tree = get_cached_repo_tree(model_id, revision=folder.name, cache_dir=cache_dir)
    except CachedRepoTreeNotFoundError:  # fetched by another tool, one file at a time
        return True
    sizes = {file.path: file.size for file in tree}
    return all(_has_size(folder / name, sizes[name]) for name in choose(sizes, part))


def shards(folder: Path, names: Collection[str]) -> set[str]:
    """The weight files that the index asks for; a name that no file has if it cannot be read."""
    if SINGLE in names:
        return {SINGLE}
    try:
        return set(json.loads((folder / INDEX).read_bytes())["weight_map"].values())
    except (ValueError, KeyError, TypeError, AttributeError):
        return {"?"}


def _has_size(path: Path, size: int) -> bool:
    return path.is_file() and path.stat().st_size == size


def keep_whole_files(folder: Path, listing: Listing) -> int:
    """Bytes of the files that are here already; those of another size are deleted."""
    present = [folder / name for name in listing.sizes if (folder / name).is_file()]
    _discard(path for path in present if not _has_size(path, listing.sizes[path.name]))
    return sum(path.stat().st_size for path in present if path.is_file())


def check_files(folder: Path, listing: Listing, model_id: str) -> None:
    """Pass where the files are those that the hub listed; damaged ones are deleted.

    Raises:
        FetchError: a file is missing.
        CheckpointError: a file is not what the hub listed, or the listing lacks weights.
    """
    missing = [name for name in listing.sizes if not (folder / name).is_file()]
    if missing:  # snapshot_download is content with what is there when the hub fails on its way
        raise FetchError(f"{model_id} is not complete: {missing[0]} did not arrive. {LATER}")
    damaged = [name for name, size in listing.sizes.items() if not _has_size(folder / name, size)]
    damaged += [name for name, sum_ in listing.checksums.items() if _sha256(folder / name) != sum_]
    damaged += [name for name, sum_ in listing.blob_ids.items() if _blob_id(folder / name) != sum_]
    if damaged:
        _discard(folder / name for name in damaged)
        raise CheckpointError(
            f"{model_id} arrived damaged ({damaged[0]} is not what the hub listed), and what is "
            "damaged was deleted. Try again; if it happens again, choose another model."
        )
    weighs = {SINGLE, INDEX} & set(listing.sizes)
    unlisted = shards(folder, listing.sizes) - set(listing.sizes) if weighs else None
    if unlisted:
        raise CheckpointError(
            f"{model_id} lacks a weight file that its index names ({in_ascii(min(unlisted))}). "
            "Choose another model."
        )


def drop_damaged(folder: Path) -> None:
    """Delete those of a commit's files that are not what they were, so that they are fetched again.

    A blob of the cache is named by its own hash; what is sound, or no blob, stays.
    """
    links = [path for path in folder.iterdir() if path.is_symlink() and path.is_file()]
    hashes = {64: _sha256, 40: _blob_id}
    named = {path: path.resolve() for path in links}
    _discard(
        path
        for path, blob in named.items()
        if len(blob.name) in hashes and hashes[len(blob.name)](blob) != blob.name
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _blob_id(path: Path) -> str:
    """Git's own hash of a file."""
    data = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _discard(paths: Iterable[Path]) -> None:
    """Delete files of the cache, with the blobs that they link to."""
    for path in paths:
        path.resolve().unlink(missing_ok=True)
        path.unlink(missing_ok=True)
