"""Sign-in on a real server behind a proxy that ends TLS, under a base path, with large cookies.

The tests stand in for the proxy: they speak http to the server, with the proxy's name as the host.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from dataclasses import dataclass

import httpx2
import pyarrow.parquet as pq
import pytest

from contextlens.ui.access.oidc import NOTE_ADDRESS
from contextlens.ui.corpora import exports
from contextlens.ui.corpora.controls import COLLECTION
from contextlens.ui.models.background import store
from contextlens.ui.state.address import encode
from contextlens.ui.state.view import DEFAULT
from tests.support.app_server import ROOT, launch
from tests.support.corpus_store import indexed, made_up_corpus
from tests.support.measured import measured_data
from tests.support.openid import cookies, owner_of, provider, settings_of
from tests.support.pages import app_settings
from tests.ui.access.forged import Forger

ORIGIN = "https://lens.example.org"
BASE = "lens"


@dataclass(frozen=True)
class Place:
    """The server, the provider, and a corpus that Uwe keeps."""

    app: str
    provider: str
    corpus: str

    def cookies(self, name: str) -> dict[str, str]:
        """The cookies of somebody who has signed in."""
        return cookies(name, ORIGIN, issuer=self.provider)

    def get(self, path: str, name: str = "") -> httpx2.Response:
        """The answer to somebody, or to anybody, through the proxy."""
        root = self.app.removesuffix(f"/{BASE}")
        own = [f"{key}={value}" for key, value in self.cookies(name).items()] if name else []
        headers = {"Host": "lens.example.org", "Cookie": "; ".join(own)}
        return httpx2.get(f"{root}{path}", headers=headers, timeout=60)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("server")
    data = measured_data(tmp_path_factory, folder / "data")
    with provider(folder / "provider.txt") as its:
        with app_settings(DATA_DIR=str(data)):
            name = indexed(store(), made_up_corpus(12), owner=owner_of("uwe", its))
        env = {
            **settings_of(its, app=f"{ORIGIN}/{BASE}"),
            "CONTEXTLENS_HOSTS": "lens.example.org",
            "CONTEXTLENS_DATA_DIR": str(data),
            "CONTEXTLENS_ALLOW_DOWNLOADS": "0",
            "STREAMLIT_SERVER_BASE_URL_PATH": BASE,
        }
        server = launch(ROOT / "app.py", folder / "log.txt", {**os.environ, **env})
        try:
            server.wait()
            yield Place(server.address, its, name)
        finally:
            server.stop()


@pytest.mark.parametrize("path", ["/lens/", "/lens/tokens", "/lens/corpora"])
def test_pages_note_where_they_were_left(place: Place, path: str) -> None:
    assert NOTE_ADDRESS in place.get(path).text


def test_our_own_routes_answer_under_the_base_path(place: Place) -> None:
    for path in ("/healthz", "/lens/healthz"):  # the first: other processes of this machine
        assert place.get(path).text == "ok\n"
    assert place.get("/lens/readyz").json().keys() == {"ready", "not_ready", "checks"}
    assert "contextlens" in place.get("/lens/metrics").text
    assert place.get("/tokens").status_code == 404


def test_exports_are_under_the_base_path_for_the_owner(place: Place) -> None:
    path = f"/{BASE}/{exports.address(place.corpus)}"
    status = {name: place.get(path, name).status_code for name in ("uwe", "ada", "una", "")}
    assert status == {"uwe": 200, "ada": 200, "una": 403, "": 403}
    rows = pq.read_table(io.BytesIO(place.get(path, "uwe").content))
    assert "sentence" in rows.column_names


@pytest.mark.parametrize(("name", "status"), [("", 403), ("vera", 403), ("uwe", 204)])
def test_uploads_are_asked_for_a_role_under_the_base_path(
    place: Place, name: str, status: int
) -> None:
    own = place.cookies(name) if name else {}
    with Forger(place.app, own, ORIGIN) as tab:
        tab.run("corpora")
        answer = httpx2.put(
            f"{place.app}/_stcore/upload_file/{tab.session}/a-file",
            files={"f": ("mine.csv", b"text\nA bank\n", "text/csv")},
            headers={
                "Host": "lens.example.org",
                "Cookie": "; ".join(f"{key}={value}" for key, value in tab.cookies.items()),
                "X-Xsrftoken": tab.xsrf,
            },
        )
    assert answer.status_code == status


def test_what_is_forged_of_the_owner_s_buttons_changes_nothing(place: Place) -> None:
    query = f"s={encode(COLLECTION.put(DEFAULT, place.corpus))}"
    with Forger(place.app, place.cookies("uwe"), ORIGIN) as owner:
        delete = owner.run("corpora", query).id_of("corpora_delete")
        yes = owner.press("corpora", query, delete).id_of("corpora_delete_yes")
    for person in ("vera", "una", ""):
        with Forger(place.app, place.cookies(person) if person else {}, ORIGIN) as other:
            assert not other.run("corpora", query).has("corpora_delete")
            other.press("corpora", query, delete)
            other.press("corpora", query, delete, yes)
    assert place.get(f"/{BASE}/{exports.address(place.corpus)}", "uwe").status_code == 200


@pytest.mark.parametrize("kilobytes", [2, 12])
def test_a_page_opens_for_a_browser_with_large_cookies(place: Place, kilobytes: int) -> None:
    large = {f"of_another_app_{i}": "x" * 1000 for i in range(kilobytes)}
    with Forger(place.app, {**large, **place.cookies("vera")}, ORIGIN) as tab:
        seen = tab.run("tokens")
    assert seen.has("sign_out")
    assert not seen.has("sign_in")


def test_every_cookie_is_for_https_alone(place: Place) -> None:
    answers = [place.get("/lens/_stcore/health"), place.get("/lens/auth/logout", "vera")]
    set_ = [header for answer in answers for header in answer.headers.get_list("set-cookie")]
    assert {header.partition("=")[0] for header in set_} >= {"_streamlit_xsrf", "_streamlit_user"}
    assert [header for header in set_ if "; secure" not in header.lower()] == []
