"""The settings: each one's name, type, limits, default and meaning, all in one place.

A field's variable is `CONTEXTLENS_` and the field's name, or the alias that it names. The sentence
below a field appears in docs/settings.md and in the message for a wrong value. Text comes from the
environment and is parsed (megabytes become bytes, commas separate names); other types come from
code. A secret has `repr=False`, and no message repeats a wrong value.
"""

from __future__ import annotations

import ast
import inspect
import os
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

from platformdirs import user_cache_path
from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsConfigDict
from pydantic_settings import PydanticBaseSettingsSource as Source

from contextlens.core.errors import SettingsError

__all__ = ["DEMO_CHARACTERS", "DEMO_MODELS", "DEMO_POINTS", "Settings", "markdown_table", "table"]

DEMO_MODELS = ("all-MiniLM-L6-v2",)
"""The bundled model: `registry.BUNDLED_ID`, which cannot be imported here."""
DEMO_CHARACTERS = 500  # of one text of a demo
DEMO_POINTS = 1_000  # of one map of a demo

_MB = 1_000_000
_REASONS = {
    "bool_parsing": "; it must be 0 or 1",
    "int_parsing": "; it must be a whole number",
    "string_pattern_mismatch": "",  # the sentence below the field states the form
}


def _bytes(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if not re.fullmatch("[0-9]{1,9}", value) or not 1 <= int(value) <= 1_000_000:
        raise ValueError("be a whole number of megabytes from 1 to 1000000")
    return int(value) * _MB


def _names(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return tuple(name for part in value.split(",") if (name := part.strip()))


def _path(value: Any) -> Any:
    try:
        return Path(value).expanduser()
    except RuntimeError as exc:  # ~name/ of a user who does not exist
        raise ValueError("be in a home folder that exists") from exc


def _folder(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    folder: Path = _path(value).resolve()
    if not folder.is_dir():
        raise ValueError("be a folder that exists")
    return folder


def _file(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    file: Path = _path(value).resolve()
    if not file.is_file():
        raise ValueError("be a file that exists")
    return file


# An address must not contain a user name or password: it appears in messages and in the log.
_HOST = r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?"
_PATH = r"(/[A-Za-z0-9._~%/-]*)?"
_PORT = r"(:([0-9]{1,5}|\{port\}))?"  # Streamlit inserts its own port for {port}
_SAFE = rf"(https://{_HOST}|http://(localhost|127\.0\.0\.1|\[::1\]){_PORT}){_PATH}"

_Bytes = Annotated[int, BeforeValidator(_bytes)]
_Folder = Annotated[Path, BeforeValidator(_folder)]
_File = Annotated[Path, BeforeValidator(_file)]
_Names = Annotated[tuple[str, ...], BeforeValidator(_names)]
_Host = Annotated[str, Field(pattern=r"^([A-Za-z0-9._-]+|\[?[0-9A-Fa-f]*:[0-9A-Fa-f:.]+\]?)$")]
_Hosts = Annotated[tuple[_Host, ...], BeforeValidator(_names)]
_Person = Annotated[str, Field(pattern="^[!-?A-~]*@[!-?A-~]+$"), AfterValidator(str.lower)]
_People = Annotated[tuple[_Person, ...], BeforeValidator(_names)]
_Secret = Annotated[str, Field(pattern="^[!-~]{16,256}$")]
_BEFORE_SLASH = AfterValidator(lambda address: address.rstrip("/"))
_Address = Annotated[str, Field(pattern=rf"^https?://{_HOST}{_PATH}$"), _BEFORE_SLASH]
_Storage = Annotated[str, Field(pattern=r"^(s3|gs|az)://[^\s/?#@]+(/[^\s?#@]*)?$"), _BEFORE_SLASH]


class Settings(BaseSettings):
    """The validated settings, all defaults unless given; `from_env` reads the environment."""

    model_config = SettingsConfigDict(
        env_prefix="CONTEXTLENS_",
        enable_decoding=False,
        frozen=True,
        hide_input_in_errors=True,
        loc_by_alias=False,
        populate_by_name=True,
        validate_default=False,
    )

    cache_bytes: _Bytes = Field(1000 * _MB, validation_alias="CONTEXTLENS_CACHE_MB")
    """Memory for results of models, pages and maps together, in MB (1 MB = 1,000,000 bytes)."""
    model_bytes: _Bytes = Field(4096 * _MB, validation_alias="CONTEXTLENS_MODEL_MB")
    """Memory for loaded models, in MB; the least recently used is unloaded first. A model whose
    files are larger is not fetched."""
    hub_cache_bytes: _Bytes = Field(50_000 * _MB, validation_alias="CONTEXTLENS_HUB_CACHE_MB")
    """The most that the hub's cache on this machine may hold after a fetch, in MB."""
    max_upload_bytes: _Bytes = Field(100 * _MB, validation_alias="CONTEXTLENS_MAX_UPLOAD_MB")
    """The largest file that may be uploaded as a corpus, in MB."""
    file_bytes: _Bytes = Field(1000 * _MB, validation_alias="CONTEXTLENS_FILES_MB")
    """Memory for uploaded files and their texts, in MB; beyond it, the visitor who holds most loses
    the least recently used."""
    data_dir: Annotated[Path, BeforeValidator(_path)] = Field(
        default_factory=lambda: user_cache_path("contextlens")
    )
    """Folder for measured baselines, compiled code and visitors' corpora; nobody else should be
    able to write there."""
    corpora_folder: _Folder | None = Field(None, validation_alias="CONTEXTLENS_CORPORA")
    """Folder whose files everybody may use as corpora; files linked into it may not."""
    corpora_uri: _Storage | None = None
    """Object storage for visitors' corpora (s3://bucket/folder, gs:// or az://, without a user or a
    query); empty means the data folder."""
    corpora_bytes: _Bytes = Field(20_000 * _MB, validation_alias="CONTEXTLENS_CORPORA_MB")
    """The most that all of visitors' corpora may take on disk, in MB."""
    corpus_bytes: _Bytes = Field(5000 * _MB, validation_alias="CONTEXTLENS_CORPUS_MB")
    """The most that one corpus may take on disk, with its vectors, in MB."""
    models: _Names = ()
    """Comma-separated model ids that may be loaded;
    empty allows what is offered, and any id on one machine alone."""
    allow_downloads: bool = True
    """0 forbids fetching models from the hub."""
    hub_endpoint: _Address | None = None
    """Address of a hub mirror (http:// or https://, without a user or a query); empty means the
    public hub."""
    token_models: _Names = ()
    """Comma-separated model ids that may be fetched with your HF_TOKEN, over https:// only; every
    visitor may then use them. No other fetch sends a token."""
    model_folder: _Folder | None = Field(None, validation_alias="CONTEXTLENS_MODEL_FOLDERS")
    """Folder whose sub-folders may be loaded as local models; folders linked into it may not."""
    word_vectors: _File | None = None
    """File of word vectors (word2vec or GloVe: .txt, .vec, .bin, .gz) that the Probe page compares
    the model with."""
    hosts: _Hosts = ()
    """Comma-separated names under which the app is opened, without https://, ports and paths, where
    they are not this machine's own, such as the name of a proxy."""
    service_url: _Address | None = None
    """Address of the service that runs the models on other machines (http:// or https://, without a
    user or a query, see docs/serving.md); empty runs them in the app itself."""
    service_token: _Secret | None = Field(None, repr=False)
    """The token that the app sends to that service, and that `make serve` then requires: 16 to 256
    characters without spaces (`openssl rand -hex 32`); empty requires none."""
    log: Literal["plain", "json", "full"] = "plain"
    """Form of the log: plain, or json for one object a line. Neither holds what visitors type; full
    does, for a developer's own machine."""
    metrics_token: _Secret | None = Field(None, repr=False)
    """A secret of 16 to 256 characters without spaces, with which another machine may read
    /metrics; empty allows only this machine."""
    sign_in: Literal["off", "optional", "required"] = "off"
    """Sign-in of visitors: `optional` allows it, `required` shows nothing without it; see
    docs/access.md."""
    oidc_metadata_url: str = Field("", pattern=rf"^{_SAFE}(\?[A-Za-z0-9._&=~%-]*)?$")
    """The OpenID Connect provider's address, ending in /.well-known/openid-configuration (https://,
    or on this machine, without a user); empty means that .streamlit/secrets.toml has it."""
    oidc_client_id: str = ""
    """The id of this app at the provider."""
    oidc_client_secret: str = Field("", repr=False)
    """The secret of this app at the provider."""
    oidc_redirect_url: str = Field("", pattern=rf"^{_SAFE}/oauth2callback$")
    """The app's own address, as visitors open it (https://, or on this machine), followed by
    /oauth2callback."""
    oidc_cookie_secret: str = Field("", min_length=32, repr=False)
    """At least 32 random characters that sign visitors' cookies, the same for every process."""
    admins: _People = ()
    """Comma-separated verified e-mail addresses, or @domains, of people who may do everything."""
    uploaders: _People = ()
    """The same, of people who may upload files and store corpora of their own."""
    viewers: _People = ()
    """The same, of people who may look; needed with the default role `none`."""
    role_claim: str = ""
    """A claim of the provider that names roles: `viewer`, `uploader` or `admin`; empty for none."""
    default_role: Literal["none", "viewer", "uploader", "admin"] = "viewer"
    """The role of signed-in people without another one; `none` refuses them."""
    demo: bool = False
    """1 runs a demo: short texts, small maps, no uploads, nothing fetched or stored."""
    device: Annotated[str, BeforeValidator(str.lower)] = Field(
        "auto", pattern="^(auto|cpu|mps|cuda(:[0-9]{1,2})?)$"
    )
    """Device for the models: cpu, cuda, cuda:1 (the second card), mps, or auto for the best one
    available."""
    queue_texts: int = Field(2000, ge=2, le=1_000_000)
    """Texts that may wait for a model before pages say to try again; one visitor may have at most
    half of them waiting."""
    idle_minutes: int = Field(60, ge=0, le=1_000_000)
    """Minutes after which an unused model is unloaded, except the default one; 0 for never."""

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None) -> Settings:
        """Return the settings of the environment (`os.environ` unless given).

        Raises:
            SettingsError: a variable has a value that is not allowed.
        """
        source = EnvSettingsSource(cls)
        env = os.environ if environ is None else environ
        source.env_vars = {name.lower(): text for name in env if (text := env[name].strip())}
        try:
            settings = cls(**source())
        except ValidationError as exc:
            raise SettingsError(" ".join(_sentences(exc))) from None
        if not settings.demo:
            return settings
        models = settings.models or DEMO_MODELS
        return settings.model_copy(update={"allow_downloads": False, "models": models})

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - pydantic's signature
        init_settings: Source,
        *_: Source,
        **__: Source,
    ) -> tuple[Source, ...]:
        """Leave the environment to `from_env`."""
        return (init_settings,)

    @property
    def missing_oidc(self) -> tuple[str, ...]:
        """The variables for the identity provider that are empty."""
        oidc = (name for name in Settings.model_fields if name.startswith("oidc_"))
        return tuple(_variable(name) for name in oidc if not getattr(self, name))

    @model_validator(mode="after")
    def _check_pairs(self) -> Settings:
        missing = self.missing_oidc
        if self.sign_in != "off" and 0 < len(missing) < 5:  # some of the five, but not all
            raise ValueError(
                f"CONTEXTLENS_SIGN_IN is {self.sign_in!r}, and of what the provider is asked with "
                f"this is missing: {', '.join(missing)}. Set it, or leave all CONTEXTLENS_OIDC_* "
                "out and write .streamlit/secrets.toml."
            )
        if self.token_models and (self.hub_endpoint or "").startswith("http://"):
            raise ValueError(
                "CONTEXTLENS_TOKEN_MODELS names models, and CONTEXTLENS_HUB_ENDPOINT starts with "
                "http://, where no token is sent. Use https://, or unset one of the two."
            )
        return self


def table() -> list[tuple[str, str, str]]:
    """Return every variable, its default and its meaning."""
    meanings = _meanings()
    fields = Settings.model_fields
    return [(_variable(name), _default(fields[name]), meanings[name]) for name in fields]


def markdown_table() -> str:
    """Return the table in Markdown, as docs/settings.md shows it."""
    rows = ["| Variable | Default | Meaning |", "|---|---|---|"]
    for name, default, meaning in table():
        cell = f"| `{default}` " if default.isalnum() else f"| {default} " if default else "| "
        rows.append(f"| `{name}` {cell}| {meaning} |")
    return "\n".join(rows)


def _variable(name: str) -> str:
    return str(Settings.model_fields[name].validation_alias or f"CONTEXTLENS_{name.upper()}")


def _default(field: FieldInfo) -> str:
    if field.default_factory is not None:
        return "the user's cache folder"
    default = field.default
    if isinstance(default, bool):
        return str(int(default))
    is_in_mb = str(field.validation_alias).endswith("_MB")
    return str(default // _MB if is_in_mb else default or "")


def _meanings() -> dict[str, str]:
    """The sentences below the fields; pydantic would take 50 ms to read them at each import."""
    tree = ast.parse(inspect.getsource(Settings))
    fields = next(node.body for node in tree.body if isinstance(node, ast.ClassDef))
    return {
        ast.unparse(field.target): " ".join(ast.literal_eval(sentence.value).split())
        for field, sentence in pairwise(fields)
        if isinstance(field, ast.AnnAssign) and isinstance(sentence, ast.Expr)
    }


def _sentences(exc: ValidationError) -> Iterator[str]:
    """Yield what is allowed and what to do, for each wrong variable; never its value.

    A password can be pasted into any of them.
    """
    meanings = _meanings()
    for error in exc.errors(include_url=False):
        if not error["loc"]:  # two variables that contradict each other
            yield error["msg"].removeprefix("Value error, ")
            continue
        name = str(error["loc"][0])
        field = Settings.model_fields[name]
        reason = re.sub("^(Value error, |(Input|String|Value) should )", "; it must ", error["msg"])
        reason = _REASONS.get(error["type"], reason)
        default = f" for the default, {_default(field)}" if _default(field) else ""
        advice = f"Correct it, or unset it{default}."
        yield f"{_variable(name)} cannot be what it is set to{reason}. {meanings[name]} {advice}"
