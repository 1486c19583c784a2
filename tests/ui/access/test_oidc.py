"""The way to a provider and back, and what stays in cookies."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.sessions import SessionMiddleware
from starlette.testclient import TestClient
from streamlit import config
from streamlit.auth_util import encode_provider_token

from contextlens.ui.access import guard, oidc
from contextlens.ui.access.roles import Role
from tests.support.openid import PEOPLE, cookies, knows, provider, settings_of, sign_in
from tests.support.pages import app_settings, framed, plainly_said

ADDRESS = "http://localhost:8501"
SETTINGS = {
    name.removeprefix("CONTEXTLENS_"): value
    for name, value in settings_of("https://id.example").items()
}


# The settings


def test_settings_become_what_streamlit_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    told: dict[str, object] = {}
    monkeypatch.setattr(config, "set_option", told.__setitem__)
    with app_settings(**SETTINGS):
        section = oidc.secrets()
    assert section == {
        "auth": {
            "redirect_uri": "http://localhost:{port}/oauth2callback",
            "cookie_secret": SETTINGS["OIDC_COOKIE_SECRET"],
            "client_id": "contextlens",
            "client_secret": SETTINGS["OIDC_CLIENT_SECRET"],
            "server_metadata_url": "https://id.example/.well-known/openid-configuration",
        }
    }
    assert told == {"server.cookieSecret": SETTINGS["OIDC_COOKIE_SECRET"]}
    st.App("main.py", secrets=section)  # which takes them


@pytest.mark.parametrize(
    "variables",
    [{}, {"SIGN_IN": "required"}, {**SETTINGS, "SIGN_IN": "off"}],
)
def test_else_streamlit_reads_its_own_file(variables: dict[str, str]) -> None:
    with app_settings(**variables):
        assert oidc.secrets() is None


def test_settings_that_are_wrong_are_left_to_the_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTEXTLENS_SIGN_IN", "?")
    assert oidc.secrets() is None


def test_what_is_missing_is_in_the_log_without_what_is_there(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR, "contextlens"):
        assert not oidc.is_set_up()
    assert "Nobody can sign in" in caplog.text
    with knows(ADDRESS):
        assert oidc.is_set_up()
    assert SETTINGS["OIDC_CLIENT_SECRET"] not in caplog.text


def test_where_a_provider_is_not_set_up_nobody_gets_in(tmp_path: Path) -> None:
    with app_settings(DATA_DIR=str(tmp_path), SIGN_IN="required"):
        app = framed(page="tokens")
        assert not app.button
        assert not app.text_input
        assert "Nobody can sign in here yet" in plainly_said(app)


# The way back


def client_of(base: str = "") -> TestClient:
    """A browser for an app with sign-in alone."""
    session = Middleware(SessionMiddleware, secret_key="of tests")
    app = Starlette(routes=oidc.routes(base), middleware=[session])
    return TestClient(app, ADDRESS, follow_redirects=False)


@pytest.fixture
def client() -> Iterator[TestClient]:
    with knows(ADDRESS, "http://127.0.0.1:9"):  # where nobody answers
        yield client_of()


def values_of(answer: Any) -> dict[str, str]:
    """The values in the one-line page."""
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    found = re.search(r"const \{ base, why, key, parameter \} = (\{.*\});", answer.text)
    assert found
    values: dict[str, str] = json.loads(found[1])
    assert values["key"] in oidc.NOTE_ADDRESS
    assert values["parameter"] == oidc.PARAMETER
    return values


def why(answer: Any) -> str:
    return values_of(answer)["why"]


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("error=access_denied&state=x", "refused"),
        ("error=</script><script>alert(1)</script>", "refused"),
        ("code=stale&state=x", "failed"),
        ("code=unasked", "failed"),
    ],
)
def test_the_reason_why_nobody_was_signed_in_is_named(
    client: TestClient, query: str, reason: str
) -> None:
    answer = client.get(f"/oauth2callback?{query}")
    assert why(answer) == reason
    assert "alert" not in answer.text


def test_a_stale_answer_is_no_error_for_somebody_who_is_signed_in(client: TestClient) -> None:
    client.cookies.update(cookies("vera", ADDRESS))
    assert why(client.get("/oauth2callback?code=stale")) == ""
    client.cookies.update(cookies("vera", ADDRESS, secret="another server's secret"))
    assert why(client.get("/oauth2callback?code=stale")) == "failed"


def test_signing_out_ends_at_the_first_page(client: TestClient) -> None:
    answer = client.get("/oauth2callback")
    assert (answer.status_code, answer.headers["location"]) == (302, "/")


def test_a_provider_that_is_away_is_named(client: TestClient) -> None:
    assert why(client.get(f"/auth/login?provider={encode_provider_token('default')}")) == "away"


# With a provider


@pytest.fixture(scope="module")
def its(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A provider's address."""
    with provider(tmp_path_factory.mktemp("provider") / "log.txt") as address:
        yield address


def groups(n_bytes: int) -> list[str]:
    """Group names of so many bytes, which do not compress."""
    rows = (f"{i * 2654435761 % 2**32:08x}-{i:03}" for i in range(n_bytes // 15 + 1))
    return ["admin", "uploader", *rows]


@pytest.mark.parametrize("base", ["", "lens"])
@pytest.mark.parametrize("kilobytes", [0, 2, 6, 12])
def test_cookies_stay_small_however_many_groups_somebody_has(
    its: str, kilobytes: int, base: str
) -> None:
    own = {"groups": groups(1000 * kilobytes), "picture": "https://id.example/" + "x" * 1000}
    app = f"{ADDRESS}/{base}".rstrip("/")
    with app_settings(**SETTINGS, ROLE_CLAIM="groups"), knows(app, its):
        answer = sign_in(client := client_of(base), app, its, "grace", **own)
        person = guard.person_of_request(dict(client.cookies))
    assert values_of(answer) == {**values_of(answer), "base": f"/{base}/".replace("//", "/")}
    assert person.role is Role.ADMIN
    every = answer.headers.get_list("set-cookie")
    new = [header for header in every if header.startswith("_streamlit_user")]
    assert new
    assert all("HttpOnly" in header and "SameSite=lax" in header for header in new)
    assert all(f"Path=/{base}" in header for header in new)
    assert sum(map(len, new)) < 3300


def test_a_code_that_the_provider_does_not_know_signs_nobody_in(its: str) -> None:
    with app_settings(**SETTINGS), knows(ADDRESS, its):
        client = client_of()
        begun = client.get(f"/auth/login?provider={encode_provider_token('default')}")
        state = parse_qs(urlsplit(begun.headers["location"]).query)["state"][0]
        assert why(client.get(f"/oauth2callback?code=guessed&state={state}")) == "failed"
        assert not guard.person_of_request(dict(client.cookies)).is_signed_in


def test_of_a_small_id_token_signing_out_has_a_hint(its: str) -> None:
    with app_settings(**SETTINGS), knows(ADDRESS, its):
        sign_in(client := client_of(), ADDRESS, its, "vera")
        assert {"_streamlit_user", "_streamlit_user_tokens"} <= set(client.cookies)
        assert guard.person_of_request(dict(client.cookies)).name == PEOPLE["vera"]["name"]
        hint = guard.signed_value(dict(client.cookies), "_streamlit_user_tokens")
        assert list(json.loads(hint or b"")) == ["id_token"]


def test_pieces_of_an_earlier_sign_in_are_taken_away(its: str) -> None:
    with app_settings(**SETTINGS), knows(ADDRESS, its):
        client = client_of()
        client.cookies.update({"_streamlit_user_1": "x", "_streamlit_user_tokens_2": "x"})
        new = sign_in(client, ADDRESS, its, "vera").headers.get_list("set-cookie")
        gone = [header.partition("=")[0] for header in new if "Max-Age=0" in header]
        assert gone == ["_streamlit_user_1", "_streamlit_user_tokens_2"]


def test_what_is_too_long_for_a_cookie_is_left_out(its: str) -> None:
    with app_settings(**SETTINGS), knows(ADDRESS, its):
        own = {"name": "N" * 5000, "email": "a" * 5000 + "@example.org", "email_verified": True}
        sign_in(client := client_of(), ADDRESS, its, "long", **own)
        person = guard.person_of_request(dict(client.cookies))
        assert (person.name, person.role) == ("Signed in", Role.VIEWER)
