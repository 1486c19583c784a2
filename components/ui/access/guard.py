"""Asked wherever something is done that not everybody may do: not where its button is drawn.

What a browser sends is anyone's: the state of a button that was never drawn, a file for a field
that is not there, an address of somebody else's corpus. So each door asks here again.
"""

from __future__ import annotations

from collections.abc import Mapping

from components.core.errors import AccessError
from components.ui.access import identity, roles
from components.ui.access.roles import MANAGE, Person, Right
from components.ui.models.services import settings

__all__ = [
    "is_demo",
    "is_theirs",
    "may",
    "owner",
    "person",
    "person_of_request",
    "refusal",
    "require",
    "sign_in_is_on",
]


def person() -> Person:
    """Who has the page that runs in this thread."""
    return _person(None)


def person_of_request(cookies: Mapping[str, str]) -> Person:
    """Who sends a request, by its cookies."""
    return _person(cookies)


def owner() -> str:
    """Whose things are the visitor's, the same at every visit; "" where nobody is told apart."""
    return person().owner


def may(right: Right, who: Person | None = None) -> bool:
    """Whether somebody may do something; the visitor of this page unless told."""
    return roles.has(who or person(), right, settings())


def refusal(right: Right, who: Person | None = None) -> str:
    """Why somebody may not do something, in a sentence or two; "" where they may."""
    return roles.refusal(who or person(), right, settings())


def require(right: Right, who: Person | None = None) -> None:
    """Pass where somebody may do something.

    Raises:
        AccessError: they may not, with the reason.
    """
    why = refusal(right, who)
    if why:
        raise AccessError(why)


def is_theirs(owner: str, who: Person | None = None) -> bool:
    """Whether what belongs to an owner is for somebody to take away and to delete."""
    somebody = who or person()
    return bool(owner and owner == somebody.owner) or may(MANAGE, somebody)


def sign_in_is_on() -> bool:
    """Whether visitors are told apart by who they are."""
    return settings().sign_in != "off"


def is_demo() -> bool:
    """Whether everything is small here and nothing stays."""
    return settings().demo


def _person(cookies: Mapping[str, str] | None) -> Person:
    if settings().sign_in == "off":
        return roles.HERE
    claims = identity.of_run() if cookies is None else identity.of_cookies(cookies)
    return roles.person_of(claims, settings())
