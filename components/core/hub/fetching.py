"""A model's files, from the local cache or else from the hub.

Its config comes first and is judged, so that half a gigabyte is not fetched in vain.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from components.core.errors import FetchError, ModelError
from components.core.families import family_of, read_config
from components.core.hub.faults import diagnose
from components.core.hub.listing import CONFIG, Part, check_id, read_listing
from components.core.hub.local import (
    check_files,
    is_complete,
    keep_whole_files,
    repository,
    snapshots,
)
from components.core.hub.progress import Tally, bar_class
from components.core.schema import Progress

__all__ = ["Fetched", "cached", "fetch"]

_ANSWER_SECONDS = 10.0
_STEP_BYTES = 1 << 18
_N_PARALLEL = 4


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

    Raises:
        UnknownModelError: the id cannot be one, or the hub has no such model.
        CheckpointError: the model lacks files, has only pickled weights, or arrived damaged.
        UnsupportedModelError: its config names another kind of model; no weights were fetched.
        FetchError: the hub did not give the files, or may not be asked.
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
        return _download(model_id, endpoint, tally, cache_dir, part)
    except ModelError:
        raise
    except Exception as exc:
        if exc is tally.stopped_by:
            raise
        kind, what, advice = diagnose(exc)
        hub = "the hub" if endpoint is None else "the hub named in CONTEXTLENS_HUB_ENDPOINT"
        raise kind(
            f"{model_id} could not be fetched: {what.replace('{hub}', hub)}. {advice}"
        ) from exc


def _download(
    model_id: str, endpoint: str | None, tally: Tally, cache_dir: Path | None, part: Part
) -> Fetched:
    from huggingface_hub import HfApi, hf_hub_download, snapshot_download

    _set_up_huggingface_hub()
    info = HfApi(endpoint=endpoint).model_info(
        model_id, files_metadata=True, timeout=_ANSWER_SECONDS
    )
    listing = read_listing(info, model_id, part)
    folder = repository(model_id, cache_dir) / "snapshots" / listing.commit
    total = sum(listing.sizes.values())
    tally.start(total, already=keep_whole_files(folder, listing))
    hf_hub_download(
        model_id,
        CONFIG,
        revision=listing.commit,
        endpoint=endpoint,
        cache_dir=cache_dir,
        tqdm_class=bar_class(tally),
    )
    check_files(folder, listing.only(CONFIG), model_id)
    family_of(read_config(folder))
    tally.start(total, already=keep_whole_files(folder, listing))
    snapshot_download(
        model_id,
        revision=listing.commit,
        endpoint=endpoint,
        cache_dir=cache_dir,
        allow_patterns=list(listing.sizes),
        max_workers=_N_PARALLEL,
        tqdm_class=bar_class(tally),
    )
    tally.finish()
    check_files(folder, listing, model_id)
    return Fetched(folder, listing.commit)


def _set_up_huggingface_hub() -> None:
    from huggingface_hub import constants

    # Xet transfers leave the configured endpoint for another service, and report and stop in ways
    # that no test here can prove: plain HTTP instead. The usual steps of 10 MiB make a slow fetch
    # look stuck, and what a cut connection has of one is lost. Both are read at each use, but from
    # the environment only at import.
    constants.HF_HUB_DISABLE_XET = True
    constants.DOWNLOAD_CHUNK_SIZE = _STEP_BYTES
