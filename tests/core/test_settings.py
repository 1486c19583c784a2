from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from platformdirs import user_cache_path
from pydantic import ValidationError

from contextlens.core import BUNDLED_ID
from contextlens.core.errors import SettingsError
from contextlens.core.settings import DEMO_MODELS, Settings, markdown_table, table
from docs.sections import section

ROOT = Path(__file__).parents[2]
NAMES = [name for name, _, _ in table()]
OIDC = {
    "OIDC_METADATA_URL": "https://id.example/.well-known/openid-configuration",
    "OIDC_CLIENT_ID": "lens",
    "OIDC_CLIENT_SECRET": "hush",
    "OIDC_REDIRECT_URL": "https://lens.example/oauth2callback",
    "OIDC_COOKIE_SECRET": "c" * 32,
}
TOKEN = "sixteen-or-more-of-them"


def read(**environ: str) -> Settings:
    return Settings.from_env({f"CONTEXTLENS_{name}": value for name, value in environ.items()})


# Defaults


@pytest.mark.parametrize("value", ["", "  "])
def test_an_empty_variable_means_its_default(value: str) -> None:
    assert Settings.from_env(dict.fromkeys(NAMES, value)) == Settings() == Settings.from_env({})
    assert Settings().data_dir == user_cache_path("contextlens")


def test_the_default_in_the_table_is_the_default() -> None:
    written = {name: default for name, default, _ in table() if not default.startswith("the ")}
    assert len(written) == len(NAMES) - 1
    assert Settings.from_env(written) == Settings()


def test_only_from_env_reads_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTEXTLENS_CACHE_MB", "3")
    assert Settings.from_env().cache_bytes == 3_000_000
    assert Settings.from_env({}).cache_bytes == Settings().cache_bytes == 1_000_000_000


# Every variable


def test_every_variable_is_read_into_one_field(tmp_path: Path) -> None:
    (words := tmp_path / "glove.txt").touch()
    values: dict[str, tuple[str, Any]] = {
        "CACHE_MB": ("7", 7_000_000),
        "MODEL_MB": ("7", 7_000_000),
        "HUB_CACHE_MB": ("7", 7_000_000),
        "MAX_UPLOAD_MB": ("7", 7_000_000),
        "FILES_MB": ("7", 7_000_000),
        "DATA_DIR": ("data", Path("data")),
        "CORPORA": (str(tmp_path), tmp_path.resolve()),
        "CORPORA_URI": ("s3://bucket/corpora/", "s3://bucket/corpora"),
        "CORPORA_MB": ("7", 7_000_000),
        "CORPUS_MB": ("7", 7_000_000),
        "MODELS": (" a/b , c ,, folder:x,", ("a/b", "c", "folder:x")),
        "ALLOW_DOWNLOADS": (" 0 ", False),
        "HUB_ENDPOINT": ("https://hub.example:8080/mirror/", "https://hub.example:8080/mirror"),
        "TOKEN_MODELS": ("a/b", ("a/b",)),
        "MODEL_FOLDERS": (str(tmp_path), tmp_path.resolve()),
        "WORD_VECTORS": (str(words), words.resolve()),
        "HOSTS": ("lens.example.org, ::1,[::2]", ("lens.example.org", "::1", "[::2]")),
        "SERVICE_URL": ("http://[::1]:8600", "http://[::1]:8600"),
        "SERVICE_TOKEN": (TOKEN, TOKEN),
        "LOG": (" json ", "json"),
        "METRICS_TOKEN": (TOKEN, TOKEN),
        "SIGN_IN": ("required", "required"),
        **{name: (value, value) for name, value in OIDC.items()},
        "ADMINS": (" Ada@Example.org ,, @EXAMPLE.com ", ("ada@example.org", "@example.com")),
        "UPLOADERS": ("@example.org", ("@example.org",)),
        "VIEWERS": ("v@x.y", ("v@x.y",)),
        "ROLE_CLAIM": ("roles", "roles"),
        "DEFAULT_ROLE": ("none", "none"),
        "DEMO": ("1", True),
        "DEVICE": (" CUDA:1 ", "cuda:1"),
        "QUEUE_TEXTS": ("12", 12),
        "IDLE_MINUTES": ("0", 0),
    }
    assert [f"CONTEXTLENS_{name}" for name in values] == NAMES
    defaults = dict(Settings())
    changed: set[str] = set()
    for name, (text, value) in values.items():
        differing = {k: v for k, v in dict(read(**{name: text})).items() if v != defaults[k]}
        if name == "DEMO":  # it changes two others, see below
            differing = {"demo": differing["demo"]}
        assert list(differing.values()) == [value], name
        changed |= differing.keys()
    assert changed == defaults.keys()


def test_each_variable_has_a_sentence() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert [name for name, _, meaning in table() if not re.fullmatch(r"\S.+\.", meaning)] == []


def test_the_page_of_settings_has_the_table_of_today() -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert section(page, "settings") == markdown_table(), "run: python -m docs.write_settings"


def test_settings_cannot_be_changed_and_can_be_keys() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Settings().cache_bytes = 1  # type: ignore[misc]
    assert len({Settings(), Settings(), Settings(demo=True)}) == 2


# Values


@given(st.integers(1, 1_000_000))
def test_sizes_are_whole_megabytes(megabytes: int) -> None:
    assert read(CACHE_MB=f" {megabytes} ").cache_bytes == megabytes * 1_000_000


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("CACHE_MB", value) for value in ("0", "1000001", "1.5", "٣", "1_000", "9" * 5000)),
        ("CORPORA", __file__),
        ("CORPORA_URI", "s3://"),
        ("CORPORA_URI", "https://x/y"),
        ("CORPORA_URI", "s3://a b"),
        ("DATA_DIR", "~no-such-user-at-all/models"),
        ("DEMO", "2"),
        ("DEVICE", "gpu"),
        ("DEVICE", "cuda:"),
        ("DEVICE", "cuda:100"),
        ("HOSTS", "lens.example.org:8501"),
        ("HUB_ENDPOINT", "ftp://hub.example"),
        ("HUB_ENDPOINT", "https://"),
        ("IDLE_MINUTES", "-1"),
        ("IDLE_MINUTES", "2000000"),
        ("LOG", "JSON"),
        ("OIDC_METADATA_URL", "http://id.example/.well-known/openid-configuration"),
        ("OIDC_METADATA_URL", "https://[broken"),
        ("OIDC_REDIRECT_URL", "http://lens.example/oauth2callback"),
        ("OIDC_REDIRECT_URL", "https://lens.example/"),
        ("QUEUE_TEXTS", "1"),
        ("QUEUE_TEXTS", "many"),
        ("UPLOADERS", "ada"),
        ("VIEWERS", "ada"),
        ("ADMINS", "ada"),
    ],
    ids=lambda value: value[:8],
)
def test_a_wrong_value_is_refused_with_what_is_allowed(name: str, value: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read(**{name: value})
    message = str(caught.value)
    variable, default, meaning = next(row for row in table() if row[0] == f"CONTEXTLENS_{name}")
    assert message.startswith(f"{variable} cannot be what it is set to")
    assert f". {meaning} Correct it, or unset it" in message
    assert message.endswith(f" for the default, {default}." if default else "unset it.")


def test_all_wrong_values_are_told_at_once() -> None:
    with pytest.raises(SettingsError) as caught:
        read(CACHE_MB="0", QUEUE_TEXTS="1", LOG="xml")
    for name, allowed in (
        ("CACHE_MB", "a whole number of megabytes from 1 to"),
        ("QUEUE_TEXTS", "greater than or equal to 2."),
        ("LOG", "'plain', 'json' or 'full'."),
    ):
        sentence = f"CONTEXTLENS_{name} cannot be what it is set to; it must be {allowed}"
        assert sentence in str(caught.value)


@pytest.mark.parametrize("people", ["ada@", "a@b@c", "a b@c", "ädä@example.org"])
def test_people_are_addresses_and_domains(people: str) -> None:
    with pytest.raises(SettingsError, match=r"CONTEXTLENS_ADMINS cannot be .*@domains"):
        read(ADMINS=f"@example.org, {people}")


def test_a_tilde_is_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert read(DATA_DIR="~/kept").data_dir == tmp_path / "kept"
    assert read(MODEL_FOLDERS="~").model_folder == tmp_path.resolve()
    assert read(CORPORA="../" + tmp_path.name).corpora_folder == tmp_path.resolve()


# Together


def test_a_token_for_a_hub_without_encryption_is_refused() -> None:
    read(TOKEN_MODELS="org/own", HUB_ENDPOINT="https://hub.example")
    read(HUB_ENDPOINT="http://hub.example")
    with pytest.raises(SettingsError, match=r"TOKEN_MODELS.*no token is sent"):
        read(TOKEN_MODELS="org/own", HUB_ENDPOINT="http://hub.example")


def test_a_provider_is_described_whole_or_not_at_all() -> None:
    assert read(SIGN_IN="required", **OIDC).missing_oidc == ()
    assert len(read(SIGN_IN="required").missing_oidc) == len(OIDC)  # .streamlit/secrets.toml
    for name in OIDC:
        with pytest.raises(SettingsError, match=f"missing: CONTEXTLENS_{name}\\."):
            read(SIGN_IN="optional", **{**OIDC, name: ""})


def test_a_demo_has_the_bundled_model_and_fetches_none() -> None:
    demo = read(DEMO="1")
    assert demo.models == DEMO_MODELS == (BUNDLED_ID,)
    assert not demo.allow_downloads
    wider = read(DEMO="1", MODELS="a/b", ALLOW_DOWNLOADS="1")
    assert (wider.models, wider.allow_downloads) == (("a/b",), False)


# Secrets


def test_secrets_are_not_shown() -> None:
    settings = read(**OIDC, SERVICE_TOKEN=TOKEN, METRICS_TOKEN=TOKEN)
    assert settings.service_token == settings.metrics_token == TOKEN
    assert not re.search(f"hush|ccc|{TOKEN}", repr(settings) + str(settings))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("METRICS_TOKEN", "é" * 20),
        ("METRICS_TOKEN", "x" * 15),
        ("SERVICE_TOKEN", "with a space in the middle"),
        ("OIDC_COOKIE_SECRET", "x" * 31),
        ("SERVICE_URL", "http://app:hush-hush"),
        ("SERVICE_URL", "http://models/?key=hush"),
        ("HUB_ENDPOINT", "https://hush@hub.example/"),
        ("CORPORA_URI", "AKIA-hush/hush"),
        ("CORPORA_URI", "s3:///app:hush@bucket"),
        ("OIDC_METADATA_URL", "https://app:hush@id.example/.well-known/openid-configuration"),
        ("OIDC_REDIRECT_URL", "hush"),
        ("HOSTS", "hush=hush"),
        *((name, "/hush=hush") for name in ("CACHE_MB", "QUEUE_TEXTS", "LOG", "DEMO", "CORPORA")),
    ],
)
def test_a_wrong_value_is_never_repeated(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=f"CONTEXTLENS_{name} cannot be what it is") as caught:
        read(**{name: value})
    assert value not in str(caught.value)
    assert "hush" not in str(caught.value)
    assert caught.value.__suppress_context__  # of pydantic, which repeats it
