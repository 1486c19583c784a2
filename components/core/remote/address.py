"""Settings of the way to a service on other machines. Part of `Settings`."""

from __future__ import annotations

import re

from components.core.errors import SettingsError

__all__ = ["SERVICE_TABLE", "read_token", "read_url"]

SERVICE_TABLE: tuple[tuple[str, str, str], ...] = (
    (
        "CONTEXTLENS_SERVICE_URL",
        "",
        "Address of the service that runs the models on other machines (http:// or https://, see "
        "docs/serving.md); empty runs them in the app itself.",
    ),
    (
        "CONTEXTLENS_SERVICE_TOKEN",
        "",
        "What the app shows to that service, and what `make serve` then asks of everybody; empty "
        "lets in whoever reaches it.",
    ),
)


def read_url(raw: str) -> str | None:
    """The address of a service, or None where none is named.

    Raises:
        SettingsError: it is no such address.
    """
    address = raw.strip().rstrip("/")
    if address and not re.fullmatch(r"https?://[A-Za-z0-9._\-\[\]:]+(/[\w./~-]*)?", address):
        raise SettingsError(
            f"CONTEXTLENS_SERVICE_URL is {raw!r}; it must be an address such as "
            "http://localhost:8600, without a user's name or a query. Correct it, or unset it."
        )
    return address or None


def read_token(raw: str) -> str | None:
    """What is shown to a service, or None.

    Raises:
        SettingsError: it is too short to be a secret, or cannot be sent.
    """
    token = raw.strip()
    if token and not re.fullmatch(r"[!-~]{16,256}", token):
        raise SettingsError(
            "CONTEXTLENS_SERVICE_TOKEN must be 16 to 256 letters, digits and signs without spaces. "
            "Make one with: openssl rand -hex 32"
        )
    return token or None
