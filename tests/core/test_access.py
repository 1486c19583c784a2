"""Settings of sign-in, roles and the demo."""

from __future__ import annotations

import pytest

from components.core import BUNDLED_ID
from components.core.access import DEMO_MODELS, Access, Provider
from components.core.errors import SettingsError
from components.core.settings import Settings

WHOLE = {
    "OIDC_METADATA_URL": "https://id.example/.well-known/openid-configuration",
    "OIDC_CLIENT_ID": "lens",
    "OIDC_CLIENT_SECRET": "hush",
    "OIDC_REDIRECT_URL": "https://lens.example/oauth2callback",
    "OIDC_COOKIE_SECRET": "c" * 32,
}


def read(**environ: str) -> Access:
    return Access.from_env({f"CONTEXTLENS_{name}": value for name, value in environ.items()})


def test_without_settings_nobody_signs_in() -> None:
    assert read() == Access()
    assert read().sign_in == "off"
    assert read().provider.missing == tuple(f"CONTEXTLENS_{name}" for name in WHOLE)


def test_people_are_lower_case_addresses_and_domains() -> None:
    own = read(ADMINS=" Ada@Example.org ,, @EXAMPLE.com ", UPLOADERS="", VIEWERS="v@x.y")
    assert own.admins == ("ada@example.org", "@example.com")
    assert (own.uploaders, own.viewers) == ((), ("v@x.y",))


@pytest.mark.parametrize("people", ["ada", "@", "ada@", "a@b@c", "a b@c", "ädä@example.org"])
@pytest.mark.parametrize("name", ["ADMINS", "UPLOADERS", "VIEWERS"])
def test_what_names_nobody_is_refused(name: str, people: str) -> None:
    with pytest.raises(SettingsError, match=f"CONTEXTLENS_{name} names"):
        read(**{name: people})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SIGN_IN", "on"),
        ("SIGN_IN", "Required"),
        ("DEFAULT_ROLE", "owner"),
        ("DEMO", "yes"),
        ("OIDC_METADATA_URL", "http://id.example/.well-known/openid-configuration"),
        ("OIDC_METADATA_URL", "id.example"),
        ("OIDC_METADATA_URL", "https://[broken"),
        ("OIDC_REDIRECT_URL", "http://lens.example/oauth2callback"),
        ("OIDC_REDIRECT_URL", "https://lens.example/"),
        ("OIDC_REDIRECT_URL", "https://lens.example/?a=/oauth2callback"),
    ],
)
def test_what_is_not_allowed_is_refused_in_a_sentence(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=rf"CONTEXTLENS_{name} is .* must .*\.$"):
        read(**{name: value})


def test_a_guessable_secret_is_refused_and_never_repeated() -> None:
    with pytest.raises(SettingsError, match="has 7 characters") as caught:
        read(OIDC_COOKIE_SECRET="letmein")
    assert "letmein" not in str(caught.value)


def test_a_provider_is_said_whole_or_not_at_all() -> None:
    assert read(SIGN_IN="required", **WHOLE).provider.missing == ()
    assert read(SIGN_IN="required").provider == Provider()  # in .streamlit/secrets.toml
    for name in WHOLE:
        with pytest.raises(SettingsError, match=f"missing: CONTEXTLENS_{name}\\."):
            read(SIGN_IN="optional", **{**WHOLE, name: ""})


def test_secrets_are_not_shown() -> None:
    settings = Settings.from_env({f"CONTEXTLENS_{n}": v for n, v in WHOLE.items()})
    for secret in ("hush", "c" * 32):
        assert secret not in repr(settings)
        assert secret not in str(settings.access)


def test_a_demo_has_the_model_that_comes_along_and_fetches_none() -> None:
    demo = Settings.from_env({"CONTEXTLENS_DEMO": "1"})
    assert demo.models == DEMO_MODELS == (BUNDLED_ID,)
    assert not demo.allow_downloads
    own = {"CONTEXTLENS_DEMO": "1", "CONTEXTLENS_MODELS": "a/b"}
    assert Settings.from_env({**own, "CONTEXTLENS_ALLOW_DOWNLOADS": "1"}).models == ("a/b",)
    assert not Settings.from_env({**own, "CONTEXTLENS_ALLOW_DOWNLOADS": "1"}).allow_downloads
