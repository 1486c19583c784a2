"""A model's files, from the local cache or else from the hub.

The hub's file list is checked before any file is fetched: sizes, checksums and disk space. The
config is fetched and checked next, so that half a gigabyte is not fetched in vain.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contextlens.core.errors import CheckpointError, FetchError, ModelError
from contextlens.core.hub.local import (
    COMMIT,
    CONFIG,
    DESCRIPTIONS,
    INDEX,
    SINGLE,
    Fetched,
    Part,
    cache_folder,
    cached,
    choose_files,
    discard,
    has_digest,
    has_pickles_only,
    has_size,
    missing_files,
    repository_folder,
    shards,
    split_id,
)
from contextlens.core.model_config import family_of, read_config
from contextlens.core.schema import Progress
from contextlens.core.untrusted import shortened

if TYPE_CHECKING:
    from huggingface_hub import HfApi

    from contextlens.core.hub.client import ByteCounter

__all__ = ["Limits", "check_sizes", "fetch", "megabytes", "room_for"]

_N_PARALLEL = 4

_MAX_LISTED = 25_000  # files of a repository, needed or not
_MAX_FILES = 256  # the largest encoders have some ten shards
_MAX_BYTES = {CONFIG: 1_000_000, **dict.fromkeys((INDEX, *DESCRIPTIONS), 16_000_000)}
_MAX_VOCABULARY_BYTES = 64_000_000  # XLM-RoBERTa's tokenizer.json takes 17 MB
_MAX_PULLS, _PULL_SECONDS = 20, 5.0  # pull requests that are looked through, seconds for each
_RESERVE = 500_000_000  # bytes of disk that stay free for everything else

_lock = threading.Lock()
_coming: list[int] = []  # bytes of the fetches in progress


@dataclass(frozen=True)
class Limits:
    """The size limits in bytes that the operator sets.

    Attributes:
        model_bytes: for all files of one model.
        cache_bytes: for the whole hub cache, after a fetch.
    """

    model_bytes: int = 4_096_000_000
    cache_bytes: int = 50_000_000_000


@dataclass(frozen=True)
class _ListedFile:
    """A file as the hub lists it; `digest` is its SHA-256 or git hash, or None."""

    size: int
    digest: str | None


def fetch(
    model_id: str,
    *,
    endpoint: str | None,
    allow_downloads: bool,
    part: Part = "model",
    progress: Progress | None = None,
    cache_dir: Path | None = None,
    limits: Limits | None = None,
    with_token: bool = False,
) -> Fetched:
    """The model's files on this machine, from the local cache or else from the hub.

    Args:
        model_id: `name` or `organisation/name`, with `@` and a commit for one commit of it.
        endpoint: address of the hub; None means huggingface_hub's own.
        allow_downloads: True if files that are not in the cache may be fetched.
        part: the model, or config and tokenizer only (well under 1 MB for BERT).
        progress: called with the bytes fetched, from huggingface_hub's threads, one call at a time.
            An exception that it raises stops the fetch and propagates unchanged.
        cache_dir: the hub cache; None means huggingface_hub's own.
        limits: how much may be fetched; the defaults if None.
        with_token: True if the operator's token may be sent to the hub; otherwise it never is.

    Raises:
        UnknownModelError: the id is malformed, or the hub has no such model.
        CheckpointError: the model lacks files, is too large, has only pickled weights, or arrived
            damaged.
        UnsupportedModelError: its config names another kind of model; no weights were fetched.
        FetchError: the hub did not provide the files or must not be used, or the disk is full.
    """
    if (files := cached(model_id, part=part, cache_dir=cache_dir)) is not None:
        return files
    if not allow_downloads:
        raise FetchError(
            f"{model_id} is not on this machine, and CONTEXTLENS_ALLOW_DOWNLOADS=0 forbids "
            "fetching it. Choose a model that is here, or ask whoever runs this app to allow it."
        )
    from contextlens.core.hub import client

    title = model_id if part == "model" else f"the tokenizer of {model_id}"
    counter = client.ByteCounter(f"Fetching {title}", progress)
    try:
        source = {
            "endpoint": endpoint,
            "cache_dir": cache_dir,
            "token": client.token_for(model_id, endpoint, named=with_token),
            "etag_timeout": client.ANSWER_SECONDS,
            "max_workers": _N_PARALLEL,
            "tqdm_class": client.bar_class(counter),
        }
        client.use_client()
        return _download(model_id, part, source, limits or Limits(), counter)
    except ModelError:
        raise
    except Exception as exc:
        if exc is counter.stopped_by and not isinstance(exc, client.HubAnswerError):
            raise
        kind, reason, advice = client.diagnose(exc)
        hub = "the hub" if endpoint is None else "the hub named in CONTEXTLENS_HUB_ENDPOINT"
        reason = reason.replace("{hub}", hub)
        raise kind(f"{model_id} could not be fetched: {reason}. {advice}") from exc


def _download(
    model_id: str, part: Part, source: Mapping[str, Any], limits: Limits, counter: ByteCounter
) -> Fetched:
    from huggingface_hub import snapshot_download

    commit, files = _list_files(model_id, part, source, limits)
    folder = repository_folder(model_id, source["cache_dir"]) / "snapshots" / commit
    total = sum(file.size for file in files.values())
    n_bytes = total - _keep_whole_files(folder, files)
    with room_for(n_bytes, model_id, cache_folder(source["cache_dir"]), limits):
        for names in ([CONFIG], list(files)):
            already = _keep_whole_files(folder, files)
            coming = sum(files[name].size for name in names if not (folder / name).is_file())
            counter.start(total, already=already, coming=coming)
            snapshot_download(
                split_id(model_id)[0], revision=commit, allow_patterns=names, **source
            )
            _check_files(folder, {name: files[name] for name in names}, model_id)
            family = family_of(read_config(folder))
            if part == "model" and (lacking := [n for n in family.word_files if n not in files]):
                raise CheckpointError(
                    f"{model_id} lacks {lacking[0]}, from which the vectors of its tokens are "
                    "computed. Choose another model."
                )
        counter.finish()
    return Fetched(folder, commit)


# The hub's list of files


def _list_files(
    model_id: str, part: Part, source: Mapping[str, Any], limits: Limits
) -> tuple[str, dict[str, _ListedFile]]:
    """The commit, as 40 hexadecimal digits, and the files to fetch."""
    from huggingface_hub import HfApi

    from contextlens.core.hub.client import HubAnswerError

    hub = HfApi(endpoint=source["endpoint"], token=source["token"])
    name, asked = split_id(model_id)
    info = hub.model_info(name, revision=asked, files_metadata=True, timeout=source["etag_timeout"])
    listed = {sibling.rfilename: sibling for sibling in info.siblings or ()}
    if part == "model" and asked is None and has_pickles_only(listed):
        raise CheckpointError(_instead_of_pickles(hub, name))
    reason = missing_files(listed, part)
    if len(listed) > _MAX_LISTED:  # snapshot_download would ask for them page by page
        reason = f"has {len(listed):,} files; at most {_MAX_LISTED:,} are listed here"
    if reason is not None:
        raise CheckpointError(f"{model_id} {reason}. Choose another model.")
    chosen = {name: listed[name] for name in choose_files(listed, part)}
    sizes = [file.size for file in chosen.values()]
    if not COMMIT.fullmatch(info.sha or "") or any(type(s) is not int or s < 0 for s in sizes):
        raise HubAnswerError("{hub} listed files without a commit, or of sizes that no file has")
    files = {
        name: _ListedFile(file.size or 0, file.lfs.sha256 if file.lfs else file.blob_id)
        for name, file in chosen.items()
    }
    check_sizes({name: file.size for name, file in files.items()}, model_id, limits)
    return str(info.sha), files


def _instead_of_pickles(hub: HfApi, name: str) -> str:
    """What to do with a repository whose weights are pickled: its conversion, if there is one.

    The hub's own converter offers one as a pull request. Anyone can, so it is never taken by
    itself, and the id names the commit that was seen.
    """
    from huggingface_hub.errors import HfHubHTTPError

    pickled = f"{name} has only pickled weights, which can run code when read."
    with suppress(HfHubHTTPError):  # a mirror may not list them
        pulls = hub.list_repo_refs(name, include_pull_requests=True).pull_requests or []
        for pull in pulls[-_MAX_PULLS:]:
            commit, number = pull.target_commit, pull.ref.rsplit("/", maxsplit=1)[-1]
            if not (COMMIT.fullmatch(commit) and number.isdecimal()):
                continue
            info = hub.model_info(name, revision=commit, timeout=_PULL_SECONDS)
            if missing_files([sibling.rfilename for sibling in info.siblings or ()]) is None:
                return (
                    f"{pickled} Its pull request {number} offers them in safetensors; whoever "
                    "keeps the repository has not accepted it, so see for yourself whom it is "
                    f"from. To use it, choose {name}@{commit}."
                )
    return (
        f"{pickled} Convert them where you trust them: load the model and its tokenizer with "
        f"from_pretrained({name!r}) of transformers, save both into one folder with "
        "save_pretrained, and open that folder here. Or choose another model."
    )


def check_sizes(sizes: Mapping[str, int], model_id: str, limits: Limits) -> None:
    """Check the number and sizes of the files that a hub lists against the limits for a model.

    Raises:
        CheckpointError: a limit is exceeded; the message names the first file that is too large.
    """
    if len(sizes) > _MAX_FILES:
        raise CheckpointError(
            f"{model_id} has {len(sizes):,} files of weights and vocabularies; at most "
            f"{_MAX_FILES} are fetched. Choose another model."
        )
    for name, size in sizes.items():
        most = _MAX_BYTES.get(name, _MAX_VOCABULARY_BYTES)
        if not name.endswith(".safetensors") and size > most:
            raise CheckpointError(
                f"{model_id} has a {name[:80]} of {size:,} bytes; at most {most:,} are read. "
                "Choose another model."
            )
    if (total := sum(sizes.values())) > limits.model_bytes:
        raise CheckpointError(
            f"{model_id} takes {megabytes(total)}; at most {megabytes(limits.model_bytes)} are "
            "fetched for one model here (CONTEXTLENS_MODEL_MB). Choose a smaller model."
        )


def megabytes(n_bytes: int) -> str:
    """A number of bytes in words, rounded up: "1,345 MB"."""
    return f"{-(-n_bytes // 1_000_000):,} MB"


# The fetched files


def _keep_whole_files(folder: Path, files: Mapping[str, _ListedFile]) -> int:
    """Bytes of the files that are here already; files of the wrong size are deleted."""
    present = [name for name in files if (folder / name).is_file()]
    discard(folder / name for name in present if not has_size(folder / name, files[name].size))
    return sum((folder / name).stat().st_size for name in present if (folder / name).is_file())


def _check_files(folder: Path, files: Mapping[str, _ListedFile], model_id: str) -> None:
    """Check that the files are those that the hub listed; damaged ones are deleted.

    Raises:
        FetchError: a file is missing.
        CheckpointError: a file differs from the hub's listing, or the listing lacks weights.
    """
    missing = [name for name in files if not (folder / name).is_file()]
    if missing:  # if the hub fails midway, snapshot_download returns a partial folder
        raise FetchError(
            f"{model_id} is not complete: {missing[0]} did not arrive. Try again in a few minutes, "
            "or choose a model that is on this machine."
        )
    damaged = [
        name
        for name, file in files.items()
        if not has_size(folder / name, file.size)
        or (file.digest and not has_digest(folder / name, file.digest))
    ]
    if damaged:
        discard(folder / name for name in damaged)
        raise CheckpointError(
            f"{model_id} arrived damaged ({damaged[0]} is not what the hub listed), and what is "
            "damaged was deleted. Try again; if it happens again, choose another model."
        )
    if {SINGLE, INDEX} & set(files) and (unlisted := shards(folder, files) - set(files)):
        raise CheckpointError(
            f"{model_id} lacks a weight file that its index names "
            f"({shortened(min(unlisted), 80)}). Choose another model."
        )


# Disk space


@contextmanager
def room_for(n_bytes: int, model_id: str, cache: Path, limits: Limits) -> Iterator[None]:
    """Reserve disk space while a fetch is in progress.

    Args:
        n_bytes: the bytes still to be fetched.
        model_id: for messages.
        cache: the hub cache's folder; it may not exist yet.
        limits: `cache_bytes` is used.

    Raises:
        FetchError: the cache's limit or the disk leaves too little space.
    """
    with _lock:
        if n_bytes:
            _check_room(n_bytes, model_id, cache, limits.cache_bytes)
        _coming.append(n_bytes)
    try:
        yield
    finally:
        with _lock:
            _coming.remove(n_bytes)


def _check_room(n_bytes: int, model_id: str, cache: Path, most: int) -> None:
    advice = "Choose a model that is on this machine, or ask whoever runs this app to make room."
    promised, held = sum(_coming), 0
    for folder, _, names in os.walk(cache):
        for name in names:
            with suppress(OSError):  # the file was deleted in the meantime
                held += (Path(folder) / name).lstat().st_size  # of a link, its own size
    if held + promised + n_bytes > most:
        raise FetchError(
            f"{model_id} needs {megabytes(n_bytes)} more in the hub cache, which holds "
            f"{megabytes(held + promised)} of at most {megabytes(most)} "
            f"(CONTEXTLENS_HUB_CACHE_MB). {advice}"
        )
    parent = next(folder for folder in (cache, *cache.parents) if folder.exists())
    with suppress(OSError):  # if the disk cannot be queried, writing fails when it is full
        free = shutil.disk_usage(parent).free
        if n_bytes + promised + _RESERVE > free:
            raise FetchError(
                f"{model_id} needs {megabytes(n_bytes)} on the disk of the hub cache, where "
                f"{megabytes(free)} are free and {megabytes(_RESERVE + promised)} of these are "
                f"kept for other things. {advice}"
            )
