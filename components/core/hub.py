"""Model files from the hub: safetensors and tokenizer files, never pickles, never code.

All that touches huggingface_hub is here, so that its errors become ours in one place. It is slow to
import, so functions do it; torch, transformers and streamlit are not imported at all.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.core.errors import CheckpointError, FetchError, ModelError, UnknownModelError
from components.core.schema import Progress, ProgressEvent

if TYPE_CHECKING:
    from huggingface_hub import ModelInfo

__all__ = ["Fetched", "cached", "check_id", "fetch"]

_NAME = r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?"
_ID = re.compile(rf"(?:{_NAME}/)?{_NAME}")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_SHARD = re.compile(r"model-\d+-of-\d+\.safetensors")
_SENTENCEPIECE = re.compile(r"\w[\w.-]*\.model", re.ASCII)
_SINGLE, _INDEX = "model.safetensors", "model.safetensors.index.json"
_TOKENIZER_FILES = frozenset(
    {"tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"}
    | {"vocab.txt", "vocab.json", "merges.txt"}
)
_PICKLED = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
_ANSWER_SECONDS = 10.0
_STEP_BYTES = 1 << 18
_N_PARALLEL = 4


@dataclass(frozen=True)
class Fetched:
    """A model's files on this machine: their folder, and the hub commit that they are."""

    folder: Path
    revision: str


@dataclass(frozen=True)
class _Listing:
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
        f"{_shown(model_id)} cannot be the id of a model. An id is a name or organisation/name, "
        "each of at most 96 letters, digits, '-', '_' and '.' (no other signs, no '..' or '--', "
        "not starting or ending with '-' or '.'). For example: google-bert/bert-base-uncased."
    )


def cached(model_id: str, *, cache_dir: Path | None = None) -> Fetched | None:
    """The model's complete files in the local hub cache, or None; never uses the network.

    The commit that `main` last stood for comes first, then the newest complete one.

    Args:
        model_id: `name` or `organisation/name`.
        cache_dir: the hub cache; None means huggingface_hub's own.

    Raises:
        UnknownModelError: the id cannot be one.
    """
    check_id(model_id)
    try:
        for folder in _snapshots(model_id, cache_dir):
            if _is_complete(folder, model_id, cache_dir):
                return Fetched(folder, folder.name)
    except OSError:  # a cache that cannot be read, or is being cleared, has no copy to offer
        return None
    return None


def fetch(
    model_id: str,
    *,
    endpoint: str | None,
    allow_downloads: bool,
    progress: Progress | None = None,
    cache_dir: Path | None = None,
) -> Fetched:
    """The model's files on this machine, from the local cache or else from the hub.

    Args:
        model_id: `name` or `organisation/name`.
        endpoint: address of the hub; None means huggingface_hub's own.
        allow_downloads: whether what is not in the cache may be fetched.
        progress: told of bytes fetched, from huggingface_hub's threads, one call at a time. What it
            raises stops the fetch and comes out of here unchanged.
        cache_dir: the hub cache; None means huggingface_hub's own.

    Raises:
        UnknownModelError: the id cannot be one, or the hub has no such model.
        CheckpointError: the model lacks files, has only pickled weights, or arrived damaged.
        FetchError: the hub did not give the files, or may not be asked.
    """
    if (here := cached(model_id, cache_dir=cache_dir)) is not None:
        return here
    if not allow_downloads:
        raise FetchError(
            f"{model_id} is not on this machine, and CONTEXTLENS_ALLOW_DOWNLOADS=0 forbids "
            "fetching it. Choose a model that is here, or ask whoever runs this app to allow it."
        )
    tally = _Tally(f"Fetching {model_id}", progress)
    try:
        return _download(model_id, endpoint, tally, cache_dir)
    except ModelError:
        raise
    except Exception as exc:
        if exc is tally.stopped_by:
            raise
        kind, what, advice = _diagnose(exc)
        hub = "the hub" if endpoint is None else "the hub named in CONTEXTLENS_HUB_ENDPOINT"
        raise kind(
            f"{model_id} could not be fetched: {what.replace('{hub}', hub)}. {advice}"
        ) from exc


def _download(
    model_id: str, endpoint: str | None, tally: _Tally, cache_dir: Path | None
) -> Fetched:
    from huggingface_hub import HfApi, snapshot_download

    _set_up_huggingface_hub()
    info = HfApi(endpoint=endpoint).model_info(
        model_id, files_metadata=True, timeout=_ANSWER_SECONDS
    )
    listing = _read_listing(info, model_id)
    folder = _repository(model_id, cache_dir) / "snapshots" / listing.commit
    tally.start(sum(listing.sizes.values()), already=_keep_whole_files(folder, listing))
    snapshot_download(
        model_id,
        revision=listing.commit,
        endpoint=endpoint,
        cache_dir=cache_dir,
        allow_patterns=list(listing.sizes),
        max_workers=_N_PARALLEL,
        tqdm_class=_bar_class(tally),
    )
    tally.finish()
    _check_files(folder, listing, model_id)
    return Fetched(folder, listing.commit)


def _set_up_huggingface_hub() -> None:
    from huggingface_hub import constants

    # Xet transfers leave the configured endpoint for another service, and report and stop in ways
    # that no test here can prove: plain HTTP instead. The usual steps of 10 MiB make a slow fetch
    # look stuck, and what a cut connection has of one is lost. Both are read at each use, but from
    # the environment only at import.
    constants.HF_HUB_DISABLE_XET = True
    constants.DOWNLOAD_CHUNK_SIZE = _STEP_BYTES


def _read_listing(info: ModelInfo, model_id: str) -> _Listing:
    """The files to fetch.

    Raises:
        CheckpointError: the repository lacks files that a model needs.
    """
    files = {sibling.rfilename: sibling for sibling in info.siblings or ()}
    lack = _lack(files)
    if lack is not None:
        raise CheckpointError(f"{model_id} {lack}. Choose another model.")
    chosen = {name: files[name] for name in _choose(files)}
    sizes = {name: file.size for name, file in chosen.items() if file.size is not None}
    if not _COMMIT.fullmatch(info.sha or "") or len(sizes) < len(chosen):
        raise ValueError("a listing without a commit or without sizes")
    checksums = {name: file.lfs.sha256 for name, file in chosen.items() if file.lfs}
    return _Listing(str(info.sha), sizes, checksums)


def _choose(names: Collection[str]) -> list[str]:
    """The files worth having among a repository's; of weights, one file or else the shards."""
    weights = {_SINGLE} if _SINGLE in names else {_INDEX, *filter(_SHARD.fullmatch, names)}
    wanted = {"config.json"} | _TOKENIZER_FILES | weights
    return sorted(name for name in names if name in wanted or _SENTENCEPIECE.fullmatch(name))


def _lack(names: Collection[str]) -> str | None:
    """What a repository's files lack to be a model that can be used, in words; or None."""
    if _SINGLE not in names and not (_INDEX in names and any(map(_SHARD.fullmatch, names))):
        pickled = sorted(name for name in names if name.endswith(_PICKLED) and "model" in name)
        if pickled:
            return f"has only pickled weights ({pickled[0][:80]}), which can run code when read"
        return f"has no weights in safetensors ({_SINGLE}), the one format that is read here"
    if "config.json" not in names:
        return "has no config.json, so its architecture is not known"
    if not (
        {"tokenizer.json", "vocab.txt"} & set(names)
        or {"vocab.json", "merges.txt"} <= set(names)
        or any(map(_SENTENCEPIECE.fullmatch, names))
    ):
        return "has no tokenizer files"
    return None


def _repository(model_id: str, cache_dir: Path | None) -> Path:
    """The model's folder in the hub cache, by the cache's documented layout."""
    from huggingface_hub import constants

    root = Path(constants.HF_HUB_CACHE if cache_dir is None else cache_dir)
    return root.expanduser().resolve() / f"models--{model_id.replace('/', '--')}"


def _snapshots(model_id: str, cache_dir: Path | None) -> list[Path]:
    """Folders of the commits in the cache, best first."""
    repository = _repository(model_id, cache_dir)
    reference = repository / "refs" / "main"
    main = reference.read_text(errors="replace").strip() if reference.is_file() else ""
    folders = [p for p in repository.glob("snapshots/*") if _COMMIT.fullmatch(p.name)]
    return sorted(folders, key=lambda p: (p.name == main, p.stat().st_mtime), reverse=True)


def _is_complete(folder: Path, model_id: str, cache_dir: Path | None) -> bool:
    """Whether all files are there: as the repository's listing says where it was kept."""
    from huggingface_hub import get_cached_repo_tree
    from huggingface_hub.errors import CachedRepoTreeNotFoundError

    names = {path.name for path in folder.iterdir() if path.is_file()}
    if _lack(names) is not None or not _shards(folder, names) <= names:
        return False
    try:
        tree = get_cached_repo_tree(model_id, revision=folder.name, cache_dir=cache_dir)
    except CachedRepoTreeNotFoundError:  # fetched by another tool, one file at a time
        return True
    sizes = {file.path: file.size for file in tree}
    return all(_has_size(folder / name, sizes[name]) for name in _choose(sizes))


def _shards(folder: Path, names: Collection[str]) -> set[str]:
    """The weight files that the index asks for; a name that no file has if it cannot be read."""
    if _SINGLE in names:
        return {_SINGLE}
    try:
        return set(json.loads((folder / _INDEX).read_bytes())["weight_map"].values())
    except (ValueError, KeyError, TypeError, AttributeError):
        return {"?"}


def _has_size(path: Path, size: int) -> bool:
    return path.is_file() and path.stat().st_size == size


def _keep_whole_files(folder: Path, listing: _Listing) -> int:
    """Bytes of the files that are here already; those of another size are deleted."""
    present = [folder / name for name in listing.sizes if (folder / name).is_file()]
    _discard(path for path in present if not _has_size(path, listing.sizes[path.name]))
    return sum(path.stat().st_size for path in present if path.is_file())


def _check_files(folder: Path, listing: _Listing, model_id: str) -> None:
    """Pass where the files are those that the hub listed; damaged ones are deleted.

    Raises:
        FetchError: a file is missing.
        CheckpointError: a file is not what the hub listed, or the listing lacks weights.
    """
    missing = [name for name in listing.sizes if not (folder / name).is_file()]
    if missing:  # snapshot_download is content with what is there when the hub fails on its way
        raise FetchError(f"{model_id} is not complete: {missing[0]} did not arrive. {_LATER}")
    damaged = [name for name, size in listing.sizes.items() if not _has_size(folder / name, size)]
    damaged += [name for name, sum_ in listing.checksums.items() if _sha256(folder / name) != sum_]
    if damaged:
        _discard(folder / name for name in damaged)
        raise CheckpointError(
            f"{model_id} arrived damaged ({damaged[0]} is not what the hub listed), and what is "
            "damaged was deleted. Try again; if it happens again, choose another model."
        )
    unlisted = _shards(folder, listing.sizes) - set(listing.sizes)
    if unlisted:
        raise CheckpointError(
            f"{model_id} lacks a weight file that its index names ({_shown(min(unlisted))}). "
            "Choose another model."
        )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _discard(paths: Iterable[Path]) -> None:
    """Delete files of the cache, with the blobs that they link to."""
    for path in paths:
        path.resolve().unlink(missing_ok=True)
        path.unlink(missing_ok=True)


class _Tally:
    """Bytes so far of one fetch: never less than before, never more than the total."""

    def __init__(self, stage: str, progress: Progress | None) -> None:
        self.stopped_by: BaseException | None = None
        self._stage = stage
        self._progress = progress
        self._lock = threading.Lock()
        self._already = 0
        self._done = 0
        self._total = 0

    def start(self, total: int, *, already: int) -> None:
        """Set the scale, and tell it."""
        with self._lock:
            self._total, self._already, self._done = total, already, already
            self._tell()

    def add(self, bar: Any, n: float) -> None:
        """Count on a bar; the one that is furthest ahead says what is done.

        Two bars count the same bytes, as received and as written, and a server that sends a file
        again from the start takes a bar back.
        """
        with self._lock:
            bar.n += n
            if bar.counts_bytes:
                self._reach(self._already + int(bar.n))

    def finish(self) -> None:
        """Tell that all is here (files linked from another commit were never counted)."""
        with self._lock:
            self._reach(self._total)

    def _reach(self, done: int) -> None:
        if self.stopped_by is not None:
            raise self.stopped_by
        if (done := min(done, self._total)) > self._done:
            self._done = done
            self._tell()

    def _tell(self) -> None:
        if self._progress is None:
            return
        try:
            self._progress(ProgressEvent(self._stage, self._done, self._total))
        except BaseException as exc:
            self.stopped_by = exc
            raise


def _bar_class(tally: _Tally) -> Any:
    """A progress bar class for huggingface_hub that draws nothing and tells the tally."""
    from huggingface_hub.utils.tqdm import tqdm

    class Bar(tqdm):
        monitor_interval = 0  # no thread that watches bars which are never drawn

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            self.counts_bytes = kwargs.get("unit") == "B"
            super().__init__(*args, **{**kwargs, "disable": True})  # type: ignore[no-untyped-call]

        def update(self, n: float | None = 1) -> None:
            tally.add(self, n or 0)

    return Bar


def _shown(text: str) -> str:
    """Foreign text, quoted, with odd characters escaped and at most 80 characters of it."""
    return ascii(text if len(text) <= 80 else text[:79] + "...")


_LATER = "Try again in a few minutes, or choose a model that is on this machine."
_ACCESS = (
    "Ask for access on the model's page and set HF_TOKEN for this app, or choose another model."
)


def _diagnose(exc: BaseException) -> tuple[type[ModelError], str, str]:
    """Our kind of error for what a fetch ended with, what happened, and what to do next."""
    import httpx2  # its transport errors come through huggingface_hub unchanged
    from huggingface_hub import errors

    match exc:
        case errors.LocalEntryNotFoundError() if exc.__cause__ is not None:
            return _diagnose(exc.__cause__)  # "not in the cache": why it was not fetched is below
        case errors.GatedRepoError():  # a RepositoryNotFoundError to huggingface_hub
            return FetchError, "it is gated, {hub} gives it to chosen accounts only", _ACCESS
        case errors.RepositoryNotFoundError() | errors.HFValidationError():
            advice = "Check the spelling (organisation/name), or choose another model."
            return UnknownModelError, "{hub} has no such model, or it is private", advice
        case errors.RemoteEntryNotFoundError() | errors.RevisionNotFoundError():
            return FetchError, "{hub} listed a file that it does not have", _LATER
        case errors.HfHubHTTPError():
            return _diagnose_status(exc.response.status_code)
        case errors.OfflineModeIsEnabled():
            advice = "Unset it where this app runs, or choose a model that is on this machine."
            return FetchError, "HF_HUB_OFFLINE forbids asking {hub}", advice
        case httpx2.TimeoutException():
            return FetchError, "{hub} took too long to answer", _LATER
        case httpx2.ConnectError() | httpx2.ProxyError():
            advice = "Check this machine's network, or choose a model that is on this machine."
            return FetchError, "{hub} cannot be reached", advice
        case httpx2.TransportError():
            return FetchError, "the connection to {hub} broke", "Try again: it starts afresh."
        case OSError(errno=int()):
            advice = "See that the hub cache has room and can be written to, and try again."
            return FetchError, f"its files could not be stored ({exc.strerror})", advice
        case OSError() if not isinstance(exc, errors.FileMetadataError):
            return FetchError, "a file did not arrive whole", "Try again: it starts afresh."
    return FetchError, f"{{hub}} gave an unreadable answer ({type(exc).__name__})", _LATER


def _diagnose_status(status: int) -> tuple[type[ModelError], str, str]:
    if status == 404:
        advice = "Check the spelling (organisation/name), or choose another model."
        return UnknownModelError, "{hub} has no such model", advice
    if status in {401, 403}:
        return FetchError, f"{{hub}} refused access ({status})", _ACCESS
    if status == 429:
        return FetchError, "{hub} was asked too often and wants a pause (429)", _LATER
    return FetchError, f"{{hub}} answered with an error ({status})", _LATER
