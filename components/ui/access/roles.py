"""Roles and rights, and which role somebody has by what a provider says of them. No streamlit.

An e-mail address counts only where the provider says that it is verified: anyone can open an
account somewhere under anyone's address.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from components.core import Settings

__all__ = [
    "EXPORT",
    "FETCH",
    "HERE",
    "KEEP",
    "LOOK",
    "MANAGE",
    "RIGHTS",
    "UPLOAD",
    "Person",
    "Right",
    "Role",
    "has",
    "person_of",
    "refusal",
]

_SELF = "Run Contextlens on a machine of your own for that."
_LONGEST_NAME = 200  # characters


class Role(IntEnum):
    """What somebody is here; each may do what those below it may."""

    NONE = 0
    VIEWER = 1
    UPLOADER = 2
    ADMIN = 3

    @property
    def title(self) -> str:
        """With its article: "an admin"."""
        name = self.name.lower()
        return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


@dataclass(frozen=True)
class Right:
    """Something that can be done here.

    Attributes:
        what: it, behind "may".
        least: the lowest role that may do it.
        in_demo: whether it can be done in a demo.
    """

    what: str
    least: Role
    in_demo: bool = False


LOOK = Right("look at pages and at what an address names", Role.VIEWER, in_demo=True)
EXPORT = Right("take away a whole corpus, one's own or one for everybody", Role.VIEWER)
UPLOAD = Right("upload files", Role.UPLOADER)
KEEP = Right("keep corpora, and pause, index and delete one's own", Role.UPLOADER)
FETCH = Right("fetch models", Role.ADMIN)
MANAGE = Right("list, take away and delete what others keep", Role.ADMIN)
RIGHTS = (LOOK, EXPORT, UPLOAD, KEEP, FETCH, MANAGE)


@dataclass(frozen=True)
class Person:
    """Who somebody is here.

    Attributes:
        role: what they may do.
        owner: whose things are theirs, the same at every visit; "" where nobody is told apart.
        name: what to call them; "" for nobody.
        why: what keeps them from a higher role, in a sentence, or "".
    """

    role: Role
    owner: str = ""
    name: str = ""
    why: str = ""

    @property
    def is_signed_in(self) -> bool:
        """Whether a provider has said who they are."""
        return bool(self.owner)


HERE = Person(Role.ADMIN)
"""Anybody, where nobody signs in."""


def person_of(claims: Mapping[str, Any], settings: Settings) -> Person:
    """Who somebody is by what a provider says of them; nothing of it for who has not signed in."""
    if settings.sign_in == "off":
        return HERE
    issuer, subject = claims.get("iss"), claims.get("sub")
    if claims.get("is_logged_in") is not True or not _is_text(issuer) or not _is_text(subject):
        return Person(Role.VIEWER if settings.sign_in == "optional" else Role.NONE)
    return Person(
        max(
            Role[settings.default_role.upper()],
            _by_address(claims, settings),
            _by_claim(claims, settings),
        ),
        hashlib.sha256(f"{issuer}\n{subject}".encode("utf-8", "replace")).hexdigest()[:32],
        _name(claims),
        _why(claims),
    )


def has(person: Person, right: Right, settings: Settings) -> bool:
    """Whether somebody may do something."""
    return person.role >= right.least and (right.in_demo or not settings.demo)


def refusal(person: Person, right: Right, settings: Settings) -> str:
    """Why somebody may not do something, in a sentence or two; "" where they may."""
    if has(person, right, settings):
        return ""
    if settings.demo and not right.in_demo:
        return f"This is a demo, where nobody may {right.what}. {_SELF}"
    if not person.is_signed_in:
        return f"To {right.what}, sign in as {right.least.title} first."
    if person.role:
        said = f"You are signed in as {person.role.title}; to {right.what} takes"
        said += f" {right.least.title}. Ask whoever runs this server."
    else:
        said = f"You are signed in, and have no role here. To {right.what}, ask whoever runs this "
        said += f"server to make you {right.least.title}."
    return f"{said} {person.why}".rstrip()


def _by_address(claims: Mapping[str, Any], settings: Settings) -> Role:
    address = _verified(claims)
    if not address:
        return Role.NONE
    own = {address, f"@{address.partition('@')[2]}"}
    lists = ((Role.ADMIN, settings.admins), (Role.UPLOADER, settings.uploaders))
    every = (*lists, (Role.VIEWER, settings.viewers))
    return next((role for role, people in every if own & set(people)), Role.NONE)


def _by_claim(claims: Mapping[str, Any], settings: Settings) -> Role:
    said = claims.get(settings.role_claim) if settings.role_claim else None
    names: Sequence[Any] = [said] if _is_text(said) else said if isinstance(said, list) else ()
    known = {role.name.lower(): role for role in Role}
    return max((known[name] for name in names if _is_text(name) and name in known), default=Role(0))


def _verified(claims: Mapping[str, Any]) -> str:
    """Their e-mail address, lower case; "" unless the provider says that it is theirs.

    Of ASCII alone: other letters become ASCII's when they are made lower case.
    """
    address = claims.get("email")
    verified = claims.get("email_verified")
    if not (verified is True or verified == "true") or not isinstance(address, str):
        return ""
    is_one = address.isascii() and address.count("@") == 1
    return address.strip().lower() if is_one else ""


def _why(claims: Mapping[str, Any]) -> str:
    if not claims.get("email") or _verified(claims):
        return ""
    return "Your e-mail address does not count here: the provider does not say that it is verified."


def _name(claims: Mapping[str, Any]) -> str:
    given = (claims.get(key) for key in ("name", "preferred_username", "email"))
    found = next((one.strip() for one in given if isinstance(one, str) and one.strip()), "")
    return (found or "Signed in")[:_LONGEST_NAME]


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)
