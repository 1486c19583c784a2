from __future__ import annotations

from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from platformdirs import user_cache_path

from components.core.errors import SettingsError
from components.core.settings import TABLE, Settings

NAMES = [name for name, _, _ in TABLE]


def read(**environ: str) -> Settings:
    return Settings.from_env({f"CONTEXTLENS_{name}": value for name, value in environ.items()})


# Defaults


def test_an_empty_environment_gives_the_defaults() -> None:
    assert Settings.from_env({}) == Settings()
    assert Settings() == Settings(
        cache_bytes=512_000_000,
        model_bytes=4_096_000_000,
        hub_cache_bytes=50_000_000_000,
        max_upload_bytes=100_000_000,
        file_bytes=1_000_000_000,
        data_dir=user_cache_path("contextlens"),
        corpora_folder=None,
        corpora_uri=None,
        corpora_bytes=20_000_000_000,
        corpus_bytes=5_000_000_000,
        models=(),
        allow_downloads=True,
        hub_endpoint=None,
        token_models=(),
        model_folder=None,
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", ["", "  "])
def test_an_empty_variable_means_its_default(name: str, value: str) -> None:
    assert Settings.from_env({name: value}) == Settings()


def test_the_default_in_the_table_is_the_default() -> None:
    written = {name: default for name, default, _ in TABLE if not default.startswith("the ")}
    assert len(written) == len(TABLE) - 1
    assert Settings.from_env(written) == Settings()


# Every variable


def test_every_variable_of_the_table_is_read_and_no_other(tmp_path: Path) -> None:
    others = {
        "CONTEXTLENS_CACHE_MB": "7",
        "CONTEXTLENS_MODEL_MB": "7",
        "CONTEXTLENS_HUB_CACHE_MB": "7",
        "CONTEXTLENS_MAX_UPLOAD_MB": "7",
        "CONTEXTLENS_FILES_MB": "7",
        "CONTEXTLENS_DATA_DIR": str(tmp_path / "data"),
        "CONTEXTLENS_CORPORA": str(tmp_path),
        "CONTEXTLENS_CORPORA_URI": "s3://bucket/corpora",
        "CONTEXTLENS_CORPORA_MB": "7",
        "CONTEXTLENS_CORPUS_MB": "7",
        "CONTEXTLENS_MODELS": "a/b",
        "CONTEXTLENS_ALLOW_DOWNLOADS": "0",
        "CONTEXTLENS_HUB_ENDPOINT": "http://hub.example",
        "CONTEXTLENS_TOKEN_MODELS": "a/b",
        "CONTEXTLENS_MODEL_FOLDERS": str(tmp_path),
        "CONTEXTLENS_HOSTS": "lens.example.org",
        "CONTEXTLENS_SERVICE_URL": "http://service.example:8600",
        "CONTEXTLENS_SERVICE_TOKEN": "sixteen-or-more-of-them",
        "CONTEXTLENS_LOG": "json",
        "CONTEXTLENS_METRICS_TOKEN": "sixteen-or-more-of-them",
        "CONTEXTLENS_DEVICE": "cpu",
        "CONTEXTLENS_QUEUE_TEXTS": "7",
        "CONTEXTLENS_IDLE_MINUTES": "7",
        "CONTEXTLENS_SIGN_IN": "required",
        "CONTEXTLENS_OIDC_METADATA_URL": "https://id.example/.well-known/openid-configuration",
        "CONTEXTLENS_OIDC_CLIENT_ID": "lens",
        "CONTEXTLENS_OIDC_CLIENT_SECRET": "secret",
        "CONTEXTLENS_OIDC_REDIRECT_URL": "https://lens.example.org/oauth2callback",
        "CONTEXTLENS_OIDC_COOKIE_SECRET": "s" * 32,
        "CONTEXTLENS_ADMINS": "ada@example.org",
        "CONTEXTLENS_UPLOADERS": "@example.org",
        "CONTEXTLENS_VIEWERS": "@example.com",
        "CONTEXTLENS_ROLE_CLAIM": "roles",
        "CONTEXTLENS_DEFAULT_ROLE": "none",
        "CONTEXTLENS_DEMO": "1",
    }
    assert set(others) == set(NAMES)
    changed: set[str] = set()
    for name, value in others.items():
        settings = Settings.from_env({name: value})
        differing = {
            f.name
            for f in fields(Settings)
            if getattr(settings, f.name) != getattr(Settings(), f.name)
        }
        if name == "CONTEXTLENS_DEMO":  # of models too: see test_access.py
            differing &= {"access"}
        assert len(differing) == 1, name
        changed |= differing
    assert changed == {f.name for f in fields(Settings)}


def test_the_real_environment_is_read_unless_another_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CONTEXTLENS_CACHE_MB", "3")
    assert Settings.from_env().cache_bytes == 3_000_000
    assert Settings.from_env({}).cache_bytes == 512_000_000


def test_the_table_documents_each_variable_in_a_sentence() -> None:
    assert len(set(NAMES)) == len(NAMES)
    for name, _, meaning in TABLE:
        assert name.startswith("CONTEXTLENS_")
        assert meaning.endswith(".")


def test_the_readme_has_the_same_table() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    rows = [line for line in readme.splitlines() if line.startswith("| `CONTEXTLENS_")]
    written = [
        f"| `{default}` " if default.isalnum() else f"| {default} " for _, default, _ in TABLE
    ]
    expected = [
        f"| `{name}` {default if default.strip('| ') else '| '}| {meaning} |"
        for (name, _, meaning), default in zip(TABLE, written, strict=True)
    ]
    assert rows == expected


def test_settings_cannot_be_changed_afterwards() -> None:
    with pytest.raises(FrozenInstanceError):
        Settings().cache_bytes = 1  # type: ignore[misc]


# Sizes


@given(st.integers(1, 1_000_000))
def test_sizes_are_whole_megabytes(megabytes: int) -> None:
    text = str(megabytes)
    settings = read(CACHE_MB=f" {text} ", MODEL_MB=text, MAX_UPLOAD_MB=text)
    assert settings.cache_bytes == settings.model_bytes == megabytes * 1_000_000
    assert settings.max_upload_bytes == megabytes * 1_000_000


@pytest.mark.parametrize(
    "name", ["CACHE_MB", "MODEL_MB", "HUB_CACHE_MB", "MAX_UPLOAD_MB", "CORPORA_MB", "CORPUS_MB"]
)
@pytest.mark.parametrize(
    "value",
    ["0", "-1", "+5", "1.5", "1e3", "512MB", "ten", "1000001", "٣", "²", "1_000", "9" * 5000],
    ids=lambda value: value[:8],
)
def test_another_size_is_refused_in_a_sentence(name: str, value: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read(**{name: value})
    message = str(caught.value)
    assert f"CONTEXTLENS_{name}" in message
    assert repr(value)[:50] in message
    assert "1 to 1000000" in message


# The others


def test_models_are_separated_by_commas() -> None:
    assert read(MODELS=" a/b , c ,, folder:x,").models == ("a/b", "c", "folder:x")
    assert read(MODELS=" , ").models == ()


@pytest.mark.parametrize(("value", "expected"), [("0", False), ("1", True), (" 0 ", False)])
def test_downloads_are_on_or_off(value: str, expected: bool) -> None:
    assert read(ALLOW_DOWNLOADS=value).allow_downloads is expected


@pytest.mark.parametrize("value", ["no", "true", "2", "00"])
def test_another_flag_is_refused(value: str) -> None:
    with pytest.raises(SettingsError, match=r"CONTEXTLENS_ALLOW_DOWNLOADS.*0 or 1"):
        read(ALLOW_DOWNLOADS=value)


def test_a_hub_endpoint_is_an_address_without_its_last_slash() -> None:
    assert read(HUB_ENDPOINT="https://hub.example/").hub_endpoint == "https://hub.example"
    assert read(HUB_ENDPOINT="http://localhost:8080").hub_endpoint == "http://localhost:8080"


@pytest.mark.parametrize("value", ["hub.example", "ftp://hub.example", "file:///x", "https://"])
def test_what_is_no_web_address_is_refused(value: str) -> None:
    with pytest.raises(SettingsError, match=r"CONTEXTLENS_HUB_ENDPOINT.*http"):
        read(HUB_ENDPOINT=value)


def test_a_token_for_a_hub_without_encryption_is_refused_in_a_sentence() -> None:
    read(TOKEN_MODELS="org/own", HUB_ENDPOINT="https://hub.example")
    read(HUB_ENDPOINT="http://hub.example")
    with pytest.raises(SettingsError, match=r"TOKEN_MODELS.*no token is sent") as caught:
        read(TOKEN_MODELS="org/own", HUB_ENDPOINT="http://name:secret@hub.example")
    assert "secret" not in str(caught.value)


def test_the_model_folder_must_be_there(tmp_path: Path) -> None:
    assert read(MODEL_FOLDERS=str(tmp_path)).model_folder == tmp_path.resolve()
    file = tmp_path / "file"
    file.touch()
    for wrong in (tmp_path / "missing", file):
        with pytest.raises(SettingsError, match=r"CONTEXTLENS_MODEL_FOLDERS.*not a folder"):
            read(MODEL_FOLDERS=str(wrong))


def test_the_folder_of_corpora_must_be_there(tmp_path: Path) -> None:
    assert read(CORPORA=str(tmp_path)).corpora_folder == tmp_path.resolve()
    with pytest.raises(
        SettingsError, match=r"CONTEXTLENS_CORPORA is .*not a folder.*files of texts"
    ):
        read(CORPORA=str(tmp_path / "missing"))


@pytest.mark.parametrize("address", ["s3://bucket", "gs://bucket/a/b", "az://container/corpora/"])
def test_corpora_may_be_in_object_storage(address: str) -> None:
    assert read(CORPORA_URI=f" {address} ").corpora_uri == address.rstrip("/")


@pytest.mark.parametrize("address", ["/folder", "s3:/bucket", "s3://", "https://x/y", "s3://a b"])
def test_an_address_of_no_object_storage_is_refused(address: str) -> None:
    with pytest.raises(SettingsError, match=r"CONTEXTLENS_CORPORA_URI.*s3://bucket/corpora"):
        read(CORPORA_URI=address)


def test_the_model_folder_is_resolved_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "models").mkdir()
    monkeypatch.chdir(tmp_path)
    assert read(MODEL_FOLDERS="models/../models").model_folder == tmp_path.resolve() / "models"


def test_a_tilde_is_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert read(DATA_DIR="~/kept").data_dir == tmp_path / "kept"
    assert read(MODEL_FOLDERS="~").model_folder == tmp_path.resolve()


@pytest.mark.parametrize("name", ["DATA_DIR", "MODEL_FOLDERS", "CORPORA"])
def test_the_home_folder_of_nobody_is_refused_in_a_sentence(name: str) -> None:
    with pytest.raises(SettingsError, match=f"CONTEXTLENS_{name}"):
        read(**{name: "~no-such-user-at-all/models"})


# The log and the metrics


@pytest.mark.parametrize("value", ["plain", "json", "full", " json "])
def test_the_log_has_three_forms(value: str) -> None:
    assert read(LOG=value).log == value.strip()


@pytest.mark.parametrize("value", ["JSON", "text", "1", "plain,json"])
def test_another_form_of_log_is_refused(value: str) -> None:
    with pytest.raises(SettingsError, match=r"CONTEXTLENS_LOG.*plain, json, full"):
        read(LOG=value)


@pytest.mark.parametrize("value", ["short", "with a space in the middle", "é" * 20, "x" * 15])
def test_a_weak_token_is_refused_and_not_repeated(value: str) -> None:
    with pytest.raises(SettingsError, match="at least 16 characters") as caught:
        read(METRICS_TOKEN=value)
    assert value not in str(caught.value)


def test_the_token_is_not_shown_with_the_settings() -> None:
    settings = read(METRICS_TOKEN="sixteen-or-more-of-them")
    assert settings.metrics_token == "sixteen-or-more-of-them"
    assert "sixteen" not in repr(settings)
