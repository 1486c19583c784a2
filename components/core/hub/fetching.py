"""A model's files, from the local cache or else from the hub.

Its config comes first and is judged, so that half a gigabyte is not fetched in vain.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from components.core.errors import FetchError, ModelError
from components.core.families import family_of, read_config
from components.core.hub.access import token_for
from components.core.hub.faults import UntrueError, diagnose
from components.core.hub.limits import Limits, check_sizes
from components.core.hub.listing import CONFIG, Listing, Part, check_id, read_listing
from components.core.hub.local import (
    cache_folder,
    check_files,
    is_complete,
    keep_whole_files,
    repository,
    snapshots,
)
from components.core.hub.progress import Tally, bar_class
from components.core.hub.room import room_for
from components.core.schema import Progress

__all__ = ["Fetched", "cached", "fetch"]

_ANSWER_SECONDS = 10.0
_STEP_BYTES = 1 << 18
_N_PARALLEL = 4
_USUAL = Limits()


@dataclass(frozen=True)
class Fetched:
    """A model's files on this machine: their folder, and the hub commit that they are."""

    folder: Path
    revision: str


def cached(model_id: str, *, part: Part = "model", cache_dir: Path | None = None) -> Fetched | None:
    """The model's complete files in the local hub cache, or None; never uses the network.

    The commit that `main` last stood for comes first, then the newest complete one. A complete
    model serves as its tokenizer before a tokenizer that stands alone.

    Args:
        model_id: `name` or `organisation/name`.
        part: the model, or config and tokenizer only.
        cache_dir: the hub cache; None means huggingface_hub's own.

    Raises:
        UnknownModelError: the id cannot be one.
    """
    check_id(model_id)
    parts: tuple[Part, ...] = ("model",) if part == "model" else ("model", "tokenizer")
    try:
        folders = snapshots(model_id, cache_dir)
        for wanted in parts:
            for folder in folders:
                if is_complete(folder, model_id, cache_dir, wanted):
                    return Fetched(folder, folder.name)
    except OSError:  # a cache that cannot be read, or is being cleared, has no copy to offer
        return None
    return None


def fetch(
    model_id: str,
    *,
    endpoint: str | None,
    allow_downloads: bool,
    part: Part = "model",
    progress: Progress | None = None,
    cache_dir: Path | None = None,
    limits: Limits = _USUAL,
    with_token: bool = False,
) -> Fetched:
    """The model's files on this machine, from the local cache or else from the hub.

    Args:
        model_id: `name` or `organisation/name`.
        endpoint: address of the hub; None means huggingface_hub's own.
        allow_downloads: whether what is not in the cache may be fetched.
        part: the model, or config and tokenizer only (well under 1 MB for BERT).
        progress: told of bytes fetched, from huggingface_hub's threads, one call at a time. What it
            raises stops the fetch and comes out of here unchanged.
        cache_dir: the hub cache; None means huggingface_hub's own.
        limits: how much may be fetched.
        with_token: whether the hub may be sent the operator's token, which never happens otherwise.

    Raises:
        UnknownModelError: the id cannot be one, or the hub has no such model.
        CheckpointError: the model lacks files, is too large, has only pickled weights, or arrived
            damaged.
        UnsupportedModelError: its config names another kind of model; no weights were fetched.
        FetchError: the hub did not give the files or may not be asked, or there is no room.
    """
    if (here := cached(model_id, part=part, cache_dir=cache_dir)) is not None:
        return here
    if not allow_downloads:
        raise FetchError(
            f"{model_id} is not on this machine, and CONTEXTLENS_ALLOW_DOWNLOADS=0 forbids "
            "fetching it. Choose a model that is here, or ask whoever runs this app to allow it."
        )
    what = model_id if part == "model" else f"the tokenizer of {model_id}"
    tally = Tally(f"Fetching {what}", progress)
    try:
        token = token_for(model_id, endpoint, named=with_token)
        source = _Source(model_id, endpoint, cache_dir, token)
        return _download(source, part, limits, tally)
    except ModelError:
        raise
    except Exception as exc:
        if exc is tally.stopped_by and not isinstance(exc, UntrueError):
            raise
        kind, what, advice = diagnose(exc)
        hub = "the hub" if endpoint is None else "the hub named in CONTEXTLENS_HUB_ENDPOINT"
        raise kind(
            f"{model_id} could not be fetched: {what.replace('{hub}', hub)}. {advice}"
        ) from exc


@dataclass(frozen=True)
class _Source:
    """A model on a hub, and the cache that it goes to."""

    model_id: str
    endpoint: str | None
    cache_dir: Path | None
    token: str | Literal[False]

    def options(self, tally: Tally) -> dict[str, Any]:
        """What huggingface_hub's functions are told each time."""
        return {
            "endpoint": self.endpoint,
            "cache_dir": self.cache_dir,
            "token": self.token,
            "tqdm_class": bar_class(tally),
        }


def _download(source: _Source, part: Part, limits: Limits, tally: Tally) -> Fetched:
    from components.core.hub.client import answers_bounded, use_client

    _set_up_huggingface_hub()
    use_client()
    with answers_bounded():
        listing = _list(source, part, limits)
        folder = repository(source.model_id, source.cache_dir) / "snapshots" / listing.commit
        to_come = sum(listing.sizes.values()) - keep_whole_files(folder, listing)
        with room_for(to_come, source.model_id, cache_folder(source.cache_dir), limits):
            _download_config(source, listing, folder, tally)
            _download_rest(source, listing, folder, tally)
    return Fetched(folder, listing.commit)


def _list(source: _Source, part: Part, limits: Limits) -> Listing:
    from huggingface_hub import HfApi

    info = HfApi(endpoint=source.endpoint, token=source.token).model_info(
        source.model_id, files_metadata=True, timeout=_ANSWER_SECONDS
    )
    listing = read_listing(info, source.model_id, part)
    check_sizes(listing.sizes, source.model_id, limits)
    return listing


def _download_config(source: _Source, listing: Listing, folder: Path, tally: Tally) -> None:
    from huggingface_hub import hf_hub_download

    already = keep_whole_files(folder, listing)
    total = sum(listing.sizes.values())
    tally.start(total, already=already, coming=listing.sizes[CONFIG])
    hf_hub_download(source.model_id, CONFIG, revision=listing.commit, **source.options(tally))
    check_files(folder, listing.only(CONFIG), source.model_id)
    family_of(read_config(folder))


def _download_rest(source: _Source, listing: Listing, folder: Path, tally: Tally) -> None:
    from huggingface_hub import snapshot_download

    already = keep_whole_files(folder, listing)
    total = sum(listing.sizes.values())
    tally.start(total, already=already, coming=total - already)
    snapshot_download(
        source.model_id,
        revision=listing.commit,
        allow_patterns=list(listing.sizes),
        max_workers=_N_PARALLEL,
        **source.options(tally),
    )
    tally.finish()
    check_files(folder, listing, source.model_id)


def _set_up_huggingface_hub() -> None:
    from huggingface_hub import constants

    # Xet transfers leave the configured endpoint for another service, and report and stop in ways
    # that no test here can prove: plain HTTP instead. The usual steps of 10 MiB make a slow fetch
    # look stuck, and what a cut connection has of one is lost. Both are read at each use, but from
    # the environment only at import.
    constants.HF_HUB_DISABLE_XET = True
    constants.HF_HUB_DISABLE_IMPLICIT_TOKEN = True  # should a call ever go out without its `token`
    constants.DOWNLOAD_CHUNK_SIZE = _STEP_BYTES
