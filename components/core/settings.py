"""Settings from the environment, validated once, documented in one table (`TABLE`)."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from platformdirs import user_cache_path

from components.core import access
from components.core.access import Access
from components.core.computing import TABLE as COMPUTING_TABLE
from components.core.computing import Computing
from components.core.errors import SettingsError
from components.core.remote.address import SERVICE_TABLE, read_token, read_url

__all__ = ["TABLE", "Settings"]

TABLE: tuple[tuple[str, str, str], ...] = (
    (
        "CONTEXTLENS_CACHE_MB",
        "512",
        "Memory for remembered results, in MB (1 MB = 1,000,000 bytes); maps take up to half as "
        "much again.",
    ),
    (
        "CONTEXTLENS_MODEL_MB",
        "4096",
        "Memory for loaded models, in MB; the least used leaves first. A model whose files are "
        "larger is not fetched.",
    ),
    (
        "CONTEXTLENS_HUB_CACHE_MB",
        "50000",
        "The most that the hub's cache on this machine may hold after a fetch, in MB.",
    ),
    (
        "CONTEXTLENS_MAX_UPLOAD_MB",
        "100",
        "The largest file that may be uploaded as a corpus, in MB.",
    ),
    (
        "CONTEXTLENS_FILES_MB",
        "1000",
        "Memory for the texts of uploaded files, in MB; who holds most gives up the least used.",
    ),
    (
        "CONTEXTLENS_DATA_DIR",
        "the user's cache folder",
        "Where measured baselines, compiled code and visitors' corpora are kept; nobody else "
        "should be able to write there.",
    ),
    (
        "CONTEXTLENS_CORPORA",
        "",
        "Folder whose files everybody may use as corpora; files linked into it may not.",
    ),
    (
        "CONTEXTLENS_CORPORA_URI",
        "",
        "Object storage for visitors' corpora (s3://, gs:// or az://); empty means the data "
        "folder.",
    ),
    (
        "CONTEXTLENS_CORPORA_MB",
        "20000",
        "The most that all of visitors' corpora may take on disk, in MB.",
    ),
    (
        "CONTEXTLENS_CORPUS_MB",
        "5000",
        "The most that one corpus may take on disk, with its vectors, in MB.",
    ),
    ("CONTEXTLENS_MODELS", "", "Comma-separated model ids that may be loaded; empty allows all."),
    ("CONTEXTLENS_ALLOW_DOWNLOADS", "1", "0 forbids fetching models from the hub."),
    ("CONTEXTLENS_HUB_ENDPOINT", "", "Address of a hub mirror; empty means the public hub."),
    (
        "CONTEXTLENS_TOKEN_MODELS",
        "",
        "Comma-separated model ids that may be fetched with your HF_TOKEN, over https:// only; "
        "every visitor may then use them. No other fetch sends a token.",
    ),
    (
        "CONTEXTLENS_MODEL_FOLDERS",
        "",
        "Folder whose sub-folders may be loaded as local models; folders linked into it may not.",
    ),
    (
        "CONTEXTLENS_HOSTS",
        "",
        "Comma-separated names under which the app is opened, where they are not this machine's "
        "own: those of a proxy before it, for instance.",
    ),
    *SERVICE_TABLE,
    (
        "CONTEXTLENS_LOG",
        "plain",
        "How the log is written, to stderr: plain, or json for one object a line. Neither holds "
        "what visitors type; full does, for a developer's own machine.",
    ),
    (
        "CONTEXTLENS_METRICS_TOKEN",
        "",
        "A secret of at least 16 characters, with which another machine may read /metrics; empty "
        "leaves that to this machine.",
    ),
    *access.TABLE,
    *COMPUTING_TABLE,
)
"""Every variable: name, default, meaning."""

_MODELS = "one sub-folder for each model"


@dataclass(frozen=True)
class Settings:
    """Validated settings; build with `from_env`."""

    cache_bytes: int = 512_000_000
    model_bytes: int = 4_096_000_000
    hub_cache_bytes: int = 50_000_000_000
    max_upload_bytes: int = 100_000_000
    file_bytes: int = 1_000_000_000
    data_dir: Path = field(default_factory=lambda: user_cache_path("contextlens"))
    corpora_folder: Path | None = None
    corpora_uri: str | None = None
    corpora_bytes: int = 20_000_000_000
    corpus_bytes: int = 5_000_000_000
    models: tuple[str, ...] = ()
    allow_downloads: bool = True
    hub_endpoint: str | None = None
    token_models: tuple[str, ...] = ()
    model_folder: Path | None = None
    hosts: tuple[str, ...] = ()
    log: str = "plain"
    metrics_token: str | None = field(default=None, repr=False)
    access: Access = field(default_factory=Access)
    computing: Computing = field(default_factory=Computing)
    service_url: str | None = None
    service_token: str | None = field(default=None, repr=False)

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None) -> Settings:
        """Settings read from the environment (`os.environ` unless given).

        Raises:
            SettingsError: a variable has a value that is not allowed.
        """
        env = os.environ if environ is None else environ
        own = Access.from_env(env)
        folder = env.get("CONTEXTLENS_MODEL_FOLDERS", "").strip()
        data_dir = env.get("CONTEXTLENS_DATA_DIR", "").strip()
        corpora = env.get("CONTEXTLENS_CORPORA", "").strip()
        return cls(
            cache_bytes=_megabytes(env, "CONTEXTLENS_CACHE_MB", 512),
            model_bytes=_megabytes(env, "CONTEXTLENS_MODEL_MB", 4096),
            hub_cache_bytes=_megabytes(env, "CONTEXTLENS_HUB_CACHE_MB", 50_000),
            max_upload_bytes=_megabytes(env, "CONTEXTLENS_MAX_UPLOAD_MB", 100),
            file_bytes=_megabytes(env, "CONTEXTLENS_FILES_MB", 1000),
            data_dir=_home("DATA_DIR", data_dir) if data_dir else user_cache_path("contextlens"),
            corpora_folder=_folder("CORPORA", corpora, "files of texts") if corpora else None,
            corpora_uri=_storage(env.get("CONTEXTLENS_CORPORA_URI", "")),
            corpora_bytes=_megabytes(env, "CONTEXTLENS_CORPORA_MB", 20_000),
            corpus_bytes=_megabytes(env, "CONTEXTLENS_CORPUS_MB", 5000),
            models=_names(env.get("CONTEXTLENS_MODELS", "")) or own.models,
            allow_downloads=_flag(env, "CONTEXTLENS_ALLOW_DOWNLOADS", default=True)
            and not own.demo,
            hub_endpoint=_endpoint(env.get("CONTEXTLENS_HUB_ENDPOINT", "")),
            token_models=_token_models(env),
            model_folder=_folder("MODEL_FOLDERS", folder, _MODELS) if folder else None,
            hosts=_hosts(env.get("CONTEXTLENS_HOSTS", "")),
            service_url=read_url(env.get("CONTEXTLENS_SERVICE_URL", "")),
            service_token=read_token(env.get("CONTEXTLENS_SERVICE_TOKEN", "")),
            log=_one_of(env, "CONTEXTLENS_LOG", ("plain", "json", "full")),
            metrics_token=_secret(env, "CONTEXTLENS_METRICS_TOKEN"),
            access=own,
            computing=Computing.from_env(env),
        )


def _megabytes(env: Mapping[str, str], name: str, default: int) -> int:
    raw = env.get(name, "").strip() or str(default)
    if not re.fullmatch(r"0{0,9}[1-9][0-9]{0,6}", raw) or int(raw) > 1_000_000:
        raise SettingsError(
            f"{name} is {raw!r}; it must be a whole number of megabytes from 1 to 1000000. "
            f"Correct it, or unset it for the default, {default}."
        )
    return int(raw) * 1_000_000


def _flag(env: Mapping[str, str], name: str, *, default: bool) -> bool:
    raw = env.get(name, "").strip()
    if raw not in {"", "0", "1"}:
        raise SettingsError(f"{name} is {raw!r}; it must be 0 or 1.")
    return raw == "1" if raw else default


def _one_of(env: Mapping[str, str], name: str, allowed: tuple[str, ...]) -> str:
    raw = env.get(name, "").strip() or allowed[0]
    if raw not in allowed:
        raise SettingsError(f"{name} is {raw!r}; it must be one of {', '.join(allowed)}.")
    return raw


def _secret(env: Mapping[str, str], name: str) -> str | None:
    raw = env.get(name, "").strip()
    if raw and not re.fullmatch(r"[!-~]{16,}", raw):  # the sentence does not repeat it
        raise SettingsError(
            f"{name} must have at least 16 characters of ASCII, none of them a space. "
            "Lengthen it, or unset it."
        )
    return raw or None


def _names(raw: str) -> tuple[str, ...]:
    return tuple(name for part in raw.split(",") if (name := part.strip()))


def _hosts(raw: str) -> tuple[str, ...]:
    names = _names(raw)
    for name in names:
        if not re.fullmatch(r"[A-Za-z0-9._-]+|\[?[0-9A-Fa-f]*:[0-9A-Fa-f:.]+\]?", name):
            raise SettingsError(
                f"CONTEXTLENS_HOSTS names {name!r}; it must be names or addresses, such as "
                "lens.example.org, with commas between them. Leave out https://, ports and paths."
            )
    return names


def _endpoint(raw: str) -> str | None:
    endpoint = raw.strip().rstrip("/")
    if endpoint and not endpoint.startswith(("http://", "https://")):
        raise SettingsError(
            f"CONTEXTLENS_HUB_ENDPOINT is {raw!r}; it must start with http:// or https://."
        )
    return endpoint or None


def _token_models(env: Mapping[str, str]) -> tuple[str, ...]:
    names = _names(env.get("CONTEXTLENS_TOKEN_MODELS", ""))
    if names and env.get("CONTEXTLENS_HUB_ENDPOINT", "").strip().startswith("http://"):
        raise SettingsError(
            "CONTEXTLENS_TOKEN_MODELS names models, and CONTEXTLENS_HUB_ENDPOINT starts with "
            "http://, where no token is sent. Use https://, or unset one of the two."
        )
    return names


def _home(name: str, raw: str) -> Path:
    try:
        return Path(raw).expanduser()
    except RuntimeError as exc:
        raise SettingsError(
            f"CONTEXTLENS_{name} is {raw!r}, and there is no such home folder. Write it in full."
        ) from exc


def _folder(name: str, raw: str, holds: str) -> Path:
    folder = _home(name, raw).resolve()
    if not folder.is_dir():
        raise SettingsError(
            f"CONTEXTLENS_{name} is {raw!r}, which is not a folder. "
            f"Name a folder that holds {holds}, or unset it."
        )
    return folder


def _storage(raw: str) -> str | None:
    address = raw.strip().rstrip("/")
    if address and not re.fullmatch(r"(s3|gs|az)://[^\s/?#]+(/[^\s?#]*)?", address):
        raise SettingsError(
            f"CONTEXTLENS_CORPORA_URI is {raw!r}; it must be a place in object storage, such as "
            "s3://bucket/corpora (gs:// and az:// are others). Correct it, or unset it."
        )
    return address or None
