"""Settings of who may use the app, and for what: sign-in, roles, the demo. Part of `Settings`.

What a provider of identities is asked with is never shown: no `repr` has it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Literal, cast, get_args
from urllib.parse import urlsplit

from components.core.errors import SettingsError

__all__ = [
    "DEMO_CHARACTERS",
    "DEMO_MODELS",
    "DEMO_POINTS",
    "TABLE",
    "Access",
    "Provider",
    "RoleName",
    "SignIn",
]

SignIn = Literal["off", "optional", "required"]
RoleName = Literal["none", "viewer", "uploader", "admin"]

TABLE: tuple[tuple[str, str, str], ...] = (
    (
        "CONTEXTLENS_SIGN_IN",
        "off",
        "Whether visitors sign in: `optional` lets them, `required` shows nothing to who has not; "
        "see docs/access.md.",
    ),
    (
        "CONTEXTLENS_OIDC_METADATA_URL",
        "",
        "The OpenID Connect provider's address, ending in /.well-known/openid-configuration; empty "
        "means .streamlit/secrets.toml says it.",
    ),
    ("CONTEXTLENS_OIDC_CLIENT_ID", "", "What the provider calls this app."),
    ("CONTEXTLENS_OIDC_CLIENT_SECRET", "", "The secret that the provider gave for this app."),
    (
        "CONTEXTLENS_OIDC_REDIRECT_URL",
        "",
        "The app's own address, as visitors open it, with /oauth2callback at its end.",
    ),
    (
        "CONTEXTLENS_OIDC_COOKIE_SECRET",
        "",
        "At least 32 random characters that sign visitors' cookies, the same for every process.",
    ),
    (
        "CONTEXTLENS_ADMINS",
        "",
        "Comma-separated verified e-mail addresses, or @domains, of those who may do everything.",
    ),
    (
        "CONTEXTLENS_UPLOADERS",
        "",
        "The same of those who may upload files and keep corpora of their own.",
    ),
    ("CONTEXTLENS_VIEWERS", "", "The same of those who may look; for the default role `none`."),
    (
        "CONTEXTLENS_ROLE_CLAIM",
        "",
        "A claim of the provider that names roles: `viewer`, `uploader` or `admin`; empty for "
        "none.",
    ),
    (
        "CONTEXTLENS_DEFAULT_ROLE",
        "viewer",
        "The role of who is signed in and has no other; `none` lets nobody else in.",
    ),
    (
        "CONTEXTLENS_DEMO",
        "0",
        "1 makes it a demo: short texts, small maps, no uploads, nothing fetched or kept.",
    ),
)
"""Every variable: name, default, meaning."""

DEMO_MODELS = ("all-MiniLM-L6-v2",)
"""The one that comes along: `registry.BUNDLED_ID`, which reads settings itself."""

DEMO_CHARACTERS = 500  # of one text of a demo
DEMO_POINTS = 1_000  # of one of its maps

_CALLBACK = "/oauth2callback"
_LEAST_SECRET = 32  # characters
_HERE = {"localhost", "127.0.0.1", "::1"}
_E_MAIL = re.compile(r"[^@\s,]*@[^@\s,]+")


@dataclass(frozen=True)
class Provider:
    """What a provider of identities is asked with; empty where .streamlit/secrets.toml says it."""

    metadata_url: str = ""
    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    redirect_url: str = ""
    cookie_secret: str = field(default="", repr=False)

    @property
    def missing(self) -> tuple[str, ...]:
        """The variables that are empty."""
        return tuple(_variable(own.name) for own in fields(self) if not getattr(self, own.name))


@dataclass(frozen=True)
class Access:
    """Who may use the app, and for what.

    Attributes:
        sign_in: whether visitors can or must sign in.
        provider: see `Provider`.
        admins, uploaders, viewers: e-mail addresses and @domains, lower case.
        role_claim: the claim that names roles, or "".
        default_role: of who is signed in and has no other.
        demo: whether everything is small and nothing stays.
    """

    sign_in: SignIn = "off"
    provider: Provider = field(default_factory=Provider)
    admins: tuple[str, ...] = ()
    uploaders: tuple[str, ...] = ()
    viewers: tuple[str, ...] = ()
    role_claim: str = ""
    default_role: RoleName = "viewer"
    demo: bool = False

    @property
    def models(self) -> tuple[str, ...]:
        """The models that may be loaded where no others are named; none for any."""
        return DEMO_MODELS if self.demo else ()

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Access:
        """What an environment says.

        Raises:
            SettingsError: a variable has a value that is not allowed.
        """
        found = cls(
            sign_in=cast("SignIn", _one_of(env, "SIGN_IN", get_args(SignIn), "off")),
            provider=_provider(env),
            admins=_people(env, "ADMINS"),
            uploaders=_people(env, "UPLOADERS"),
            viewers=_people(env, "VIEWERS"),
            role_claim=_own(env, "ROLE_CLAIM"),
            default_role=cast(
                "RoleName", _one_of(env, "DEFAULT_ROLE", get_args(RoleName), "viewer")
            ),
            demo=_one_of(env, "DEMO", ("0", "1"), "0") == "1",
        )
        missing = found.provider.missing
        if found.sign_in != "off" and 0 < len(missing) < len(fields(Provider)):
            raise SettingsError(
                f"CONTEXTLENS_SIGN_IN is {found.sign_in!r}, and of what the provider is asked with "
                f"this is missing: {', '.join(missing)}. Set it, or leave all CONTEXTLENS_OIDC_* "
                "out and write .streamlit/secrets.toml."
            )
        return found


def _variable(name: str) -> str:
    return f"CONTEXTLENS_OIDC_{name.upper()}"


def _own(env: Mapping[str, str], name: str) -> str:
    return env.get(f"CONTEXTLENS_{name}", "").strip()


def _one_of(env: Mapping[str, str], name: str, allowed: tuple[str, ...], default: str) -> str:
    raw = _own(env, name) or default
    if raw not in allowed:
        raise SettingsError(f"CONTEXTLENS_{name} is {raw!r}; it must be {', '.join(allowed)}.")
    return raw


def _people(env: Mapping[str, str], name: str) -> tuple[str, ...]:
    people = tuple(part.strip() for part in _own(env, name).split(",") if part.strip())
    for one in people:
        if not (one.isascii() and _E_MAIL.fullmatch(one)):
            raise SettingsError(
                f"CONTEXTLENS_{name} names {one!r}; it must be e-mail addresses or domains, such "
                "as ada@example.org or @example.org, with commas between them."
            )
    return tuple(one.lower() for one in people)


def _provider(env: Mapping[str, str]) -> Provider:
    found = Provider(
        **{own.name: _own(env, f"OIDC_{own.name.upper()}") for own in fields(Provider)}
    )
    for name in ("metadata_url", "redirect_url"):
        _check_address(_variable(name), getattr(found, name))
    if found.redirect_url and not urlsplit(found.redirect_url).path.endswith(_CALLBACK):
        raise SettingsError(
            f"CONTEXTLENS_OIDC_REDIRECT_URL is {found.redirect_url!r}; it must end in {_CALLBACK}."
        )
    if found.cookie_secret and len(found.cookie_secret) < _LEAST_SECRET:
        raise SettingsError(
            f"CONTEXTLENS_OIDC_COOKIE_SECRET has {len(found.cookie_secret)} characters; it must "
            f"have at least {_LEAST_SECRET}, and nobody may be able to guess them."
        )
    return found


def _check_address(name: str, address: str) -> None:
    """Pass where nobody on the way can read what goes there."""
    if not address:
        return
    try:
        parts = urlsplit(address)
        is_safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _HERE)
    except ValueError:
        is_safe = False
    if not is_safe:
        raise SettingsError(
            f"{name} is {address!r}; it must start with https://, or be on this machine."
        )
