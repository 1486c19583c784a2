"""The host names that the server answers to, and the origins whose pages may send it requests.

A page of another site can make a browser send requests to this server: openly, with its own origin,
or under a host name of its own that points to this machine. Both are refused here, before Streamlit
sees them. Streamlit checks the host names of WebSockets only, and before it refuses an origin it
asks an external site for this machine's address.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable
from ipaddress import IPv6Address, ip_address
from pathlib import Path
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from contextlens.core import Settings
from contextlens.core.errors import SettingsError
from contextlens.ui.access import oidc

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # addresses contain sentences
    "Content-Security-Policy": "frame-ancestors 'self'",
    "X-Frame-Options": "SAMEORIGIN",
}
"""Headers of every response that does not set them itself."""

_LOCAL = ("localhost", "127.0.0.1", "::1")
_EVERYWHERE = {"0.0.0.0", "::"}
_SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}
"""Methods that change nothing."""
_RESOLVER = Path("/etc/resolv.conf")


def middleware() -> list[Middleware]:
    """Return the middleware in front of all of Streamlit's own."""
    return [Middleware(Gate)]


def names(address: str | None, extra_names: Iterable[str] = ()) -> frozenset[str]:
    """Return the names of a server, in lower case, without asking an external site.

    Args:
        address: the address that it listens on; None for all, which adds this machine's own names.
        extra_names: further names from the operator.
    """
    everywhere = address is None or address in _EVERYWHERE
    own_names = [*(_machine_names() if everywhere else ()), *([address] if address else ())]
    return frozenset(_normalized(name) for name in (*_LOCAL, *own_names, *extra_names))


class Gate:
    """Pass only requests to one of this server's names from one of its own pages.

    This machine's address needs no list: it is the one at which the connection arrived.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._extra_names: frozenset[str] = frozenset()
        self._names: frozenset[str] = frozenset()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer with 403 and a sentence."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal:
            answer = PlainTextResponse(refusal, status_code=403, headers=HEADERS)
            await answer(scope, receive, send)
            return
        await self._app(_with_the_origin_s_host(scope), receive, _with_headers(send))

    def _refusal(self, scope: Scope) -> str | None:
        self._load_names()
        headers = Headers(scope=scope)
        hosts, origin = headers.getlist("host"), headers.get("origin")
        name = _name(hosts[0]) if len(hosts) == 1 else ""
        server_address = _normalized((scope.get("server") or ("", 0))[0])
        if not name or not (name in self._names or (name == server_address and _is_address(name))):
            return _foreign_host(hosts)
        changes = scope["type"] == "websocket" or scope["method"] not in _SAFE_METHODS
        if origin is None or not changes or self._is_own(origin, hosts[0]):
            return None
        return _foreign_origin(origin)

    def _is_own(self, origin: str, host: str) -> bool:
        netloc = _netloc(origin)
        return bool(netloc) and (
            _without_default_port(netloc) == _without_default_port(host)
            or _name(netloc) in self._extra_names
        )

    def _load_names(self) -> None:
        if self._names:
            return
        try:
            extra_names = Settings.from_env().hosts
        except SettingsError:  # every page reports it
            extra_names = ()
        self._extra_names = frozenset(_normalized(name) for name in extra_names)
        self._names = names(st.get_option("server.address"), extra_names)


def _machine_names() -> list[str]:
    """Return this machine's names: its own, and those that its network knows."""
    name = socket.gethostname()
    short = name.partition(".")[0]
    return [name, short, *(f"{short}.{domain}" for domain in ("local", *_search_domains()))]


def _search_domains() -> list[str]:
    """Return the suffixes that this machine's resolver appends to a short name."""
    try:
        lines = _RESOLVER.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    rows = [line.split() for line in lines]
    return [domain for row in rows if row[:1] in (["search"], ["domain"]) for domain in row[1:]]


def _name(netloc: str) -> str:
    """Return the name in a host header, without its port; "" if it is not a name."""
    try:
        parts = urlsplit(f"//{netloc}")
        _ = parts.port
    except ValueError:
        return ""
    is_whole = parts.netloc == netloc and "@" not in netloc
    return _normalized(parts.hostname or "") if is_whole else ""


def _normalized(name: str) -> str:
    """Return a name or address in the form that is compared."""
    bare = name.strip().strip("[]").partition("%")[0].lower().rstrip(".")
    try:
        address = ip_address(bare)
    except ValueError:
        return bare
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return str(mapped or address)


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _netloc(origin: str) -> str:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return ""
    return parts.netloc if parts.scheme in {"http", "https"} else ""


def _without_default_port(netloc: str) -> str:
    return netloc.lower().removesuffix(":80").removesuffix(":443")


def _with_the_origin_s_host(scope: Scope) -> Scope:
    """Return a WebSocket request as if a proxy had passed the visitor's host on.

    Streamlit compares host and origin, and asks an external site if they differ.
    """
    headers = MutableHeaders(raw=list(scope["headers"]))
    netloc = _netloc(headers.get("origin", ""))
    if scope["type"] != "websocket" or not netloc or netloc == headers["host"]:
        return scope
    headers["host"] = netloc
    return {**scope, "headers": headers.raw}


def _with_headers(send: Send) -> Send:
    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [_only_over_https(*header) for header in message["headers"]]
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return with_headers


def _only_over_https(name: bytes, value: bytes) -> tuple[bytes, bytes]:
    """Return a header; on a server reached over https, cookies become `Secure`."""
    is_open = name.lower() == b"set-cookie" and b"; secure" not in value.lower()
    return name, value + b"; Secure" if is_open and oidc.is_over_https() else value


def _foreign_host(hosts: list[str]) -> str:
    host = hosts[0][:100] if hosts else ""
    return (
        f"Contextlens does not answer to the name {host!a}. Open it by a name or an address of "
        "the machine it runs on, or ask whoever started it to add this one to CONTEXTLENS_HOSTS.\n"
    )


def _foreign_origin(origin: str) -> str:
    return (
        f"Pages of {origin[:100]!a} may not use Contextlens. Open it in a tab of its own; where "
        "this is its address behind a proxy, whoever started it adds the name to "
        "CONTEXTLENS_HOSTS.\n"
    )
