"""A provider of identities on this machine, and the environment of an app that asks it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
from streamlit.auth_util import encode_provider_token
from streamlit.runtime.secrets import secrets_singleton
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from contextlens.core import Settings
from contextlens.ui.access.roles import person_of
from tests.support.ports import free_port

__all__ = [
    "ISSUER",
    "PEOPLE",
    "claims",
    "cookies",
    "knows",
    "owner_of",
    "provider",
    "settings_of",
    "sign_in",
]

ISSUER = "https://id.example"
COOKIE_SECRET = "a cookie secret of tests, over 32 long"
PEOPLE: Mapping[str, Mapping[str, Any]] = {
    "vera": {"name": "Vera Viewer", "email": "vera@example.org", "email_verified": True},
    "uwe": {"name": "Uwe Uploader", "email": "uwe@example.org", "email_verified": True},
    "una": {"name": "Una Uploader", "email": "una@example.org", "email_verified": True},
    "ada": {"name": "Ada Admin", "email": "ada@example.org", "email_verified": True},
    "mallory": {"name": "Mallory", "email": "ada@example.org", "email_verified": False},
}
"""The accounts there, by subject; the last claims an address that is not verified."""
_SECONDS = 120.0


@contextmanager
def provider(log: Path, accounts: Mapping[str, Mapping[str, Any]] = PEOPLE) -> Iterator[str]:
    """A running provider's address. Nobody is asked for a password."""
    port = free_port()
    people = [
        part
        for name, own in accounts.items()
        for part in ("--user-claims", json.dumps({"sub": name, **own}))
    ]
    command = [sys.executable, "-m", "oidc_provider_mock", "--port", str(port), *people]
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
    try:
        address = f"http://localhost:{port}"
        _await(address, process, log)
        yield address
    finally:
        process.kill()
        process.wait()


def settings_of(
    provider: str, *, sign_in: str = "required", app: str = "http://localhost:{port}"
) -> dict[str, str]:
    """The environment of an app whose visitors sign in at a provider."""
    return {
        "CONTEXTLENS_SIGN_IN": sign_in,
        "CONTEXTLENS_OIDC_METADATA_URL": f"{provider}/.well-known/openid-configuration",
        "CONTEXTLENS_OIDC_CLIENT_ID": "contextlens",
        "CONTEXTLENS_OIDC_CLIENT_SECRET": "a client's secret of tests",
        "CONTEXTLENS_OIDC_REDIRECT_URL": f"{app}/oauth2callback",
        "CONTEXTLENS_OIDC_COOKIE_SECRET": COOKIE_SECRET,
        "CONTEXTLENS_ADMINS": "ada@example.org",
        "CONTEXTLENS_UPLOADERS": "uwe@example.org, una@example.org",
    }


@contextmanager
def knows(address: str, issuer: str = ISSUER) -> Iterator[None]:
    """Streamlit in this process as in an app at an address, whose visitors sign in."""
    before = secrets_singleton._secrets
    own = {
        "redirect_uri": f"{address}/oauth2callback",
        "cookie_secret": COOKIE_SECRET,
        "client_id": "contextlens",
        "client_secret": "a client's secret of tests",
        "server_metadata_url": f"{issuer}/.well-known/openid-configuration",
    }
    secrets_singleton.merge_programmatic_secrets({"auth": own})
    try:
        yield
    finally:
        secrets_singleton._secrets = before
        secrets_singleton._programmatic_secrets = None


def sign_in(client: Any, app: str, provider: str, name: str, /, **claims: Any) -> Any:
    """Has somebody sign in at a provider, where they have these claims, as a browser would do it.

    Args:
        client: keeps cookies and follows no redirects.
        app: the address of the app; see `knows`.
        provider: the address of the provider.
        name: their subject.
        claims: other claims of them.

    Returns:
        The app's answer to who comes back.
    """
    account = {**PEOPLE.get(name, {}), **claims}
    httpx2.put(f"{provider}/users/{name}", json=account).raise_for_status()
    begun = client.get(f"{app}/auth/login?provider={encode_provider_token('default')}")
    form = httpx2.post(begun.headers["location"], data={"sub": name})
    query = urlsplit(form.headers["location"]).query
    # Cookies that are `Secure` too: a proxy would bring them here over http.
    own = "; ".join(f"{cookie.name}={cookie.value}" for cookie in client.cookies.jar)
    return client.get(f"{app}/oauth2callback?{query}", headers={"Cookie": own})


def owner_of(name: str, issuer: str = ISSUER) -> str:
    """The name under which a person's things are kept."""
    return person_of({**claims(name), "iss": issuer}, Settings(sign_in="required")).owner


def claims(name: str) -> dict[str, Any]:
    """The claims that Streamlit gives a page about a person who has signed in."""
    return {"is_logged_in": True, "iss": ISSUER, "sub": name, **PEOPLE[name]}


def cookies(
    name: str, address: str, *, secret: str = COOKIE_SECRET, issuer: str = ISSUER
) -> dict[str, str]:
    """The cookie that an app at an address gives somebody who has signed in."""
    own = {**claims(name), "iss": issuer, "origin": address, "provider": "default"}
    said = json.dumps(own)
    return {"_streamlit_user": create_signed_value(secret, "_streamlit_user", said).decode()}


def _await(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{address}/.well-known/openid-configuration", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise AssertionError(f"The provider did not start:\n{log.read_text(errors='replace')}")
