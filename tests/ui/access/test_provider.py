"""What Streamlit is told of a provider, and what is said where nothing is."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
import streamlit as st
from streamlit import config

from components.ui.access import provider
from tests.support.openid import knows, settings_of
from tests.support.pages import app_settings, framed, plainly_said

SETTINGS = {
    name.removeprefix("CONTEXTLENS_"): value
    for name, value in settings_of("https://id.example").items()
}


def test_settings_become_what_streamlit_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    told: dict[str, object] = {}
    monkeypatch.setattr(config, "set_option", told.__setitem__)
    with app_settings(**SETTINGS):
        section = provider.secrets()
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


@pytest.mark.parametrize("variables", [{}, {"SIGN_IN": "required"}, {**SETTINGS, "SIGN_IN": "off"}])
def test_else_streamlit_reads_its_own_file(variables: dict[str, str]) -> None:
    with app_settings(**variables):
        assert provider.secrets() is None


def test_settings_that_are_wrong_are_left_to_the_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTEXTLENS_SIGN_IN", "?")
    assert provider.secrets() is None


def test_what_is_missing_is_in_the_log_without_what_is_there(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR, "contextlens"):
        assert not provider.is_set_up()
    assert "Nobody can sign in" in caplog.text
    with knows("http://localhost:8501"):
        assert provider.is_set_up()
    assert SETTINGS["OIDC_CLIENT_SECRET"] not in caplog.text


@pytest.mark.slow
def test_where_a_provider_is_not_set_up_nobody_gets_in(tmp_path: Path) -> None:
    with app_settings(DATA_DIR=str(tmp_path), SIGN_IN="required"):
        app = framed(page="tokens")
        assert not app.button
        assert not app.text_input
        assert "Nobody can sign in here yet" in plainly_said(app)
