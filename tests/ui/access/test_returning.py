"""The way back from a provider, past Streamlit's own routes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from components.ui.access.returning import LEAVING, middleware
from tests.support.openid import cookies, knows

ADDRESS = "http://localhost:8501"
NEW = {"path": "/", "httponly": True, "samesite": "lax", "max_age": 2_592_000}


async def _callback(request: Request) -> Response:
    """As Streamlit's: to the first page, with a cookie where the provider gave a good code."""
    back = RedirectResponse("/", 302)
    code = request.query_params.get("code")
    if code == "good":
        back.set_cookie("_streamlit_user", "signed", **NEW)
        back.set_cookie("_streamlit_user_tokens", "signed", **NEW)
    elif code == "broken":
        raise RuntimeError("a provider that answers with rubbish")
    else:
        back.delete_cookie("_streamlit_user")
    return back


async def _login(request: Request) -> Response:
    if "provider" in request.query_params:
        return RedirectResponse("https://id.example/authorize", 302)
    return PlainTextResponse("Authentication error", 400)


@pytest.fixture
def client() -> Iterator[TestClient]:
    routes = [
        Route("/oauth2callback", _callback),
        Route("/auth/login", _login),
        Route("/{page:path}", lambda _: PlainTextResponse("a page")),
    ]
    app = Starlette(routes=routes, middleware=middleware())
    with knows(ADDRESS):
        yield TestClient(app, ADDRESS, follow_redirects=False)


def why(answer: Any) -> str:
    """What the page of one line says in the address; it goes nowhere but where the tab was."""
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    assert 'sessionStorage.getItem("contextlens-place")' in answer.text
    return re.search(r'base = "/", why = "(\w*)";', answer.text)[1]  # type: ignore[index]


def test_who_has_signed_in_comes_back_with_the_cookies(client: TestClient) -> None:
    answer = client.get("/oauth2callback?code=good&state=x")
    assert why(answer) == ""
    kept = answer.headers.get_list("set-cookie")
    assert [cookie.partition("=")[0] for cookie in kept] == [
        "_streamlit_user",
        "_streamlit_user_tokens",
    ]
    assert all("HttpOnly" in cookie for cookie in kept)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("error=access_denied&state=x", "refused"),
        ("error=</script><script>alert(1)</script>", "refused"),
        ("code=stale&state=x", "failed"),
        ("code=broken", "failed"),
    ],
)
def test_why_nobody_was_signed_in_is_said(client: TestClient, query: str, said: str) -> None:
    answer = client.get(f"/oauth2callback?{query}")
    assert why(answer) == said
    assert "alert" not in answer.text


def test_a_stale_answer_is_no_error_for_who_is_signed_in(client: TestClient) -> None:
    client.cookies.update(cookies("vera", ADDRESS))
    assert why(client.get("/oauth2callback?code=stale")) == ""
    client.cookies.update(cookies("vera", ADDRESS, secret="another server's secret"))
    assert why(client.get("/oauth2callback?code=stale")) == "failed"


def test_who_signs_out_comes_to_the_first_page(client: TestClient) -> None:
    answer = client.get("/oauth2callback")
    assert (answer.status_code, answer.headers["location"]) == (302, "/")


def test_a_provider_that_is_away_is_said(client: TestClient) -> None:
    assert why(client.get("/auth/login")) == "away"
    away = client.get("/auth/login?provider=x")
    assert away.headers["location"] == "https://id.example/authorize"


@pytest.mark.parametrize("path", ["/tokens", "/x/oauth2callback", "/oauth2callback/", "/auth"])
def test_other_pages_are_left_alone(client: TestClient, path: str) -> None:
    assert client.get(path).text == "a page"


def test_what_is_noted_is_an_address_of_this_server() -> None:
    assert "location.pathname+location.search" in LEAVING
    assert "</" not in LEAVING
