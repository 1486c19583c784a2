"""Browsers of a shared server without sign-in, told apart by the key that the server gave them."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from contextlens.ui.access import guard, visitor_key

__all__ = ["browser", "cookies_of", "owner_in"]


def cookies_of(name: str) -> dict[str, str]:
    """The cookies of somebody's browser; none for ""."""
    digest = hashlib.sha256(name.encode()).digest()
    key = base64.urlsafe_b64encode(digest).decode().rstrip("=")
    return {visitor_key.COOKIE: key} if name else {}


def owner_in(name: str) -> str:
    """The owner of what somebody's browser stores."""
    return visitor_key.owner_of(cookies_of(name))


@contextmanager
def browser(name: str) -> Iterator[None]:
    """Pages are opened, and their buttons pressed, in somebody's browser."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(guard, "page_cookies", lambda: cookies_of(name))
        yield
