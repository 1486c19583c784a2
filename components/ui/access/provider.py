"""What Streamlit reads of the provider of identities, made of settings where they say it.

Streamlit reads `[auth]` of .streamlit/secrets.toml; the settings stand in its place. Nothing of it
is logged.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from streamlit import config
from streamlit.auth_util import is_authlib_installed, validate_auth_credentials
from streamlit.errors import Error as StreamlitError

from components.core import Settings
from components.core.errors import SettingsError

__all__ = ["is_set_up", "secrets"]

_COOKIE_SECRET = "server.cookieSecret"
_log = logging.getLogger("contextlens")


def secrets() -> Mapping[str, Any] | None:
    """What `st.App` is given as secrets; None where the settings say nothing of a provider.

    Streamlit takes them when the server starts, and signs the cookie of a sign-in under way with
    a secret that it asks for before that: with several processes, that has to be the same one too.
    """
    try:
        settings = Settings.from_env()
    except SettingsError:  # every page says it
        return None
    if settings.sign_in == "off" or settings.missing_oidc:
        return None
    config.set_option(_COOKIE_SECRET, settings.oidc_cookie_secret)
    return {"auth": _section(settings)}


def is_set_up() -> bool:
    """Whether Streamlit knows enough of a provider to ask it; the log says what is missing."""
    try:
        validate_auth_credentials("default")
    except StreamlitError as exc:
        _log.error("Nobody can sign in: %s", " ".join(str(exc).split()))  # names of keys alone
        return False
    return is_authlib_installed()


def _section(settings: Settings) -> dict[str, str]:
    return {
        "redirect_uri": settings.oidc_redirect_url,
        "cookie_secret": settings.oidc_cookie_secret,
        "client_id": settings.oidc_client_id,
        "client_secret": settings.oidc_client_secret,
        "server_metadata_url": settings.oidc_metadata_url,
    }
