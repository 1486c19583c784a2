"""Roles, what each of them permits, and the role that a provider's claims give. No streamlit.

An e-mail address counts only if the provider says that it is verified, as anyone can open an
account under anyone's address.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from contextlens.core import Settings

_MAX_NAME = 200  # characters


class Role(IntEnum):
    """The role of a person; each may do everything that a lower one may."""

    NONE = 0
    VIEWER = 1
    UPLOADER = 2
    ADMIN = 3

    @property
    def title(self) -> str:
        """The name with its article, such as "an admin"."""
        return f"{'a' if self is Role.VIEWER else 'an'} {self.name.lower()}"


@dataclass(frozen=True)
class Permission:
    """Something that not everybody may do.

    Attributes:
        action: a phrase that follows "may".
        role: the lowest role that has it.
        in_demo: True if a demo allows it.
    """

    action: str
    role: Role
    in_demo: bool = False


LOOK = Permission("look at pages and at what an address names", Role.VIEWER, in_demo=True)
EXPORT = Permission("take away a whole corpus, one's own or one for everybody", Role.VIEWER)
UPLOAD = Permission("upload files", Role.UPLOADER)
KEEP = Permission("keep corpora, and pause, index and delete one's own", Role.UPLOADER)
FETCH = Permission("fetch models", Role.ADMIN)
MANAGE = Permission("list, take away and delete what others keep", Role.ADMIN)
PERMISSIONS = (LOOK, EXPORT, UPLOAD, KEEP, FETCH, MANAGE)


@dataclass(frozen=True)
class Person:
    """A visitor, as far as the server knows them.

    Attributes:
        role: their role.
        owner: the owner of everything that they store, the same at every visit; "" for nobody.
        name: their name for display; "" before sign-in.
        note: the reason why their e-mail address does not count, in a sentence, or "".
    """

    role: Role
    owner: str = ""
    name: str = ""
    note: str = ""

    @property
    def is_signed_in(self) -> bool:
        """True if a provider has identified them."""
        return bool(self.name)


EVERYBODY = Person(Role.ADMIN)
"""Any visitor of a server without sign-in."""


def person_of(claims: Mapping[str, Any], settings: Settings) -> Person:
    """Return the person whom a provider's claims describe; a guest if there are none."""
    if settings.sign_in == "off":
        return EVERYBODY
    issuer, subject = claims.get("iss"), claims.get("sub")
    if claims.get("is_logged_in") is not True or not _is_text(issuer) or not _is_text(subject):
        return Person(Role.VIEWER if settings.sign_in == "optional" else Role.NONE)
    address = _verified_address(claims)
    names = (claims.get(key) for key in ("name", "preferred_username", "email"))
    name = next((name.strip() for name in names if isinstance(name, str) and name.strip()), "")
    return Person(
        _listed_role(address, settings)
        or max((Role[name.upper()] for name in claimed_roles(claims, settings)), default=Role.NONE)
        or Role[settings.default_role.upper()],
        hashlib.sha256(f"{issuer}\n{subject}".encode("utf-8", "replace")).hexdigest()[:32],
        (name or "Signed in")[:_MAX_NAME],
        "Your e-mail address does not count here: the provider does not say that it is verified."
        if claims.get("email") and not address
        else "",
    )


def claimed_roles(claims: Mapping[str, Any], settings: Settings) -> list[str]:
    """Return the names of our roles in the claim that the settings name; none if they name none."""
    value = claims.get(settings.role_claim) if settings.role_claim else None
    names = value if isinstance(value, list) else [value]
    return [role.name.lower() for role in Role if role.name.lower() in names]


def refusal(person: Person, permission: Permission, settings: Settings) -> str:
    """Return the reason why a person lacks a permission, in one or two sentences; "" for none."""
    action, role = permission.action, permission.role.title
    if settings.demo and not permission.in_demo:
        return (
            f"This is a demo, where nobody may {action}. Run Contextlens on a machine of your own "
            "for that."
        )
    if person.role >= permission.role:
        return ""
    if not person.is_signed_in:
        return f"To {action}, sign in as {role} first."
    if person.role:
        reason = f"You are signed in as {person.role.title}; to {action} takes {role}."
        reason += " Ask whoever runs this server."
    else:
        reason = f"You are signed in, and have no role here. To {action}, ask whoever runs this "
        reason += f"server to make you {role}."
    return f"{reason} {person.note}".rstrip()


def _listed_role(address: str, settings: Settings) -> Role:
    """Return the role of the first list that names an address or its domain."""
    names = {address, f"@{address.partition('@')[2]}"} if address else set()
    lists = {
        Role.ADMIN: settings.admins,
        Role.UPLOADER: settings.uploaders,
        Role.VIEWER: settings.viewers,
    }
    return next((role for role, people in lists.items() if names & set(people)), Role.NONE)


def _verified_address(claims: Mapping[str, Any]) -> str:
    """Return the e-mail address in lower case; "" unless the provider says that it is theirs.

    Only ASCII counts: some other letters become ASCII when they are made lower case.
    """
    address, verified = claims.get("email"), claims.get("email_verified")
    if not (verified is True or verified == "true") or not isinstance(address, str):
        return ""
    return address.strip().lower() if address.isascii() and address.count("@") == 1 else ""


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)
