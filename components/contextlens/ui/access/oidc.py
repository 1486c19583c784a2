"""Sign-in with an OpenID Connect provider: its settings, the way to it and back, the cookie.

Streamlit talks to the provider. Three of its habits do not fit here:

- It sends every returning visitor to the first page. The wanted view is in the address, which may
  be too long for a cookie or a Referer. So each tab stores its address when it leaves
  (`NOTE_ADDRESS`, part of the document), and a page that is only a script returns to it. If
  sign-in failed, a parameter of the address says so, and the page explains it.
- Its cookies hold every claim and two tokens, with all groups of a visitor: more than proxies
  and WebSockets accept. Ours hold only the claims that we use.
- It does not mark cookies as `Secure`.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from http.cookies import SimpleCookie
from string import Template
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from streamlit import config
from streamlit.auth_util import (
    get_origin_from_redirect_uri,
    is_authlib_installed,
    validate_auth_credentials,
)
from streamlit.errors import Error as StreamlitError
from streamlit.url_util import make_url_path
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value
from streamlit.web.server.starlette.starlette_auth_routes import create_auth_routes
from streamlit.web.server.starlette.starlette_server_config import (
    AUTH_COOKIE_MAX_AGE_SECONDS,
    TOKENS_COOKIE_NAME,
    USER_COOKIE_NAME,
)

from contextlens.core import Settings
from contextlens.core.errors import SettingsError
from contextlens.ui.access import guard, roles
from contextlens.ui.state import services

PARAMETER = "sign_in"
"""The parameter in which an address says why sign-in failed: "away", "refused" or "failed"."""

_KEY = "contextlens-place"
NOTE_ADDRESS = (
    'addEventListener("pagehide",()=>{try{sessionStorage.setItem('
    f'"{_KEY}",location.pathname+location.search)}}catch{{}}}});'
)
"""JavaScript of every page: stores the address that this tab leaves."""

_RETURN_PAGE = Template("""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Contextlens</title></head>
<body><noscript>Contextlens needs JavaScript.</noscript><script>
const { base, why, key, parameter } = $values;
let to = new URL(base, location.origin);
try {
  const noted = new URL(sessionStorage.getItem(key) ?? base, location.origin);
  if (noted.origin === location.origin && noted.pathname.startsWith(base)) to = noted;
} catch {}
to.searchParams.delete(parameter);
if (why) to.searchParams.set(parameter, why);
location.replace(to);
</script></body></html>
""")

_CLAIMS = (
    *("iss", "sub", "name", "preferred_username", "email", "email_verified"),
    *("is_logged_in", "origin", "provider"),  # Streamlit's own
)
_MAX_CLAIM = 300  # bytes of JSON, so that all of them fit into one cookie (4,096 bytes)
_MAX_COOKIES = 3000  # bytes of both; many proxies take 4,096 bytes of headers

_log = logging.getLogger("contextlens")


def secrets() -> Mapping[str, Any] | None:
    """Return the secrets for `st.App`; None if no settings name a provider.

    Streamlit reads them when the server starts. The secret that signs the cookie of a sign-in in
    progress is read earlier, from an option. All processes need the same one, so this sets it.
    """
    try:
        settings = Settings.from_env()
    except SettingsError:  # every page reports it
        return None
    if settings.sign_in == "off" or settings.missing_oidc:
        return None
    config.set_option("server.cookieSecret", settings.oidc_cookie_secret)
    return {
        "auth": {
            "redirect_uri": settings.oidc_redirect_url,
            "cookie_secret": settings.oidc_cookie_secret,
            "client_id": settings.oidc_client_id,
            "client_secret": settings.oidc_client_secret,
            "server_metadata_url": settings.oidc_metadata_url,
        }
    }


def is_set_up() -> bool:
    """Return True if Streamlit knows a provider; if not, the log says what is missing."""
    try:
        validate_auth_credentials("default")
    except StreamlitError as exc:
        _log.error("Nobody can sign in: %s", " ".join(str(exc).split()))
        return False
    return is_authlib_installed()


def is_over_https() -> bool:
    """Return True if visitors come over https, whatever a proxy speaks with this server."""
    return (get_origin_from_redirect_uri() or "").startswith("https://")


def routes(base: str = "") -> list[Route]:
    """Return the routes of sign-in under a base path, which go before Streamlit's."""
    login, _, callback = create_auth_routes(base)

    async def start_sign_in(request: Request) -> Response:
        response: Response = await login.endpoint(request)
        return _return_page(base, "away") if response.status_code >= 400 else response

    async def finish_sign_in(request: Request) -> Response:
        query = request.query_params
        response: Response = await callback.endpoint(request)
        if "code" not in query and "error" not in query:
            return response  # from signing out
        new = SimpleCookie()
        for header in response.headers.getlist("set-cookie"):
            new.load(header)
        cookies = {name: morsel.value for name, morsel in new.items()}
        if claims := guard.claims_in(cookies):
            tokens = guard.signed_value(cookies, TOKENS_COOKIE_NAME)
            return _signed_in(base, request, claims, tokens)
        if "error" in query:
            return _return_page(base, "refused")
        # The browser's Back may bring a signed-in visitor here.
        return _return_page(base, "" if guard.claims_in(request.cookies) else "failed")

    return [Route(login.path, start_sign_in), Route(callback.path, finish_sign_in)]


def _return_page(base: str, why: str = "") -> HTMLResponse:
    values = {"base": make_url_path(base, "/"), "why": why, "key": _KEY, "parameter": PARAMETER}
    page = _RETURN_PAGE.substitute(values=json.dumps(values))
    return HTMLResponse(page, headers={"Cache-Control": "no-store"})


def _signed_in(
    base: str, request: Request, claims: Mapping[str, Any], tokens: bytes | None
) -> Response:
    """Return the redirect, with cookies for the claims in use and, if it is short, the ID token.

    Some providers need the ID token for sign-out.
    """
    claim = services.settings().role_claim
    kept_claims = {claim: roles.claimed_roles(claims, services.settings())} if claim else {}
    present = {key: claims[key] for key in _CLAIMS if key in claims}
    kept_claims |= {
        key: value for key, value in present.items() if len(json.dumps(value)) <= _MAX_CLAIM
    }
    id_token = json.loads(tokens or b"{}").get("id_token")
    cookies = {
        name: create_signed_value(get_cookie_secret(), name, json.dumps(value)).decode()
        for name, value in (
            (USER_COOKIE_NAME, kept_claims),
            (TOKENS_COOKIE_NAME, {"id_token": id_token}),
        )
    }
    if not id_token or sum(map(len, cookies.values())) > _MAX_COOKIES:
        del cookies[TOKENS_COOKIE_NAME]
    page, path = _return_page(base), make_url_path(base, "").rstrip("/") or "/"
    for name in request.cookies:
        if name.startswith(USER_COOKIE_NAME) and name not in cookies:  # of an earlier sign-in
            page.delete_cookie(name, path)
    for name, value in cookies.items():
        age = AUTH_COOKIE_MAX_AGE_SECONDS
        page.set_cookie(name, value, max_age=age, path=path, httponly=True, samesite="lax")
    return page
