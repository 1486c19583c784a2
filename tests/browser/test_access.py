"""Sign-in and roles in the browser, against a provider on this machine, and what gets past pages.

One server for three people: a viewer, an uploader and an admin, each in a browser of their own.
"""

from __future__ import annotations

import http.server
import io
import re
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from urllib.parse import parse_qs, urljoin, urlsplit

import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Browser, Page, expect
from streamlit.proto.WidgetStates_pb2 import WidgetState

from components.features.corpora.controls import CORPUS
from components.ui.models.background import store
from components.ui.state.address import decode, encode
from components.ui.state.view import DEFAULT, Sentence
from tests.browser.rest import PATIENCE, settle
from tests.support.corpus_store import indexed, made_up_corpus
from tests.support.forged import Forger
from tests.support.measured import measured_data
from tests.support.openid import cookies, owner_of, provider, settings_of
from tests.support.pages import app_settings

pytestmark = pytest.mark.browser

OWN = "A river bank lies quietly in the sun."
VIEW = encode(replace(DEFAULT, sentences=(Sentence(OWN), Sentence("The bank lends money."))))
HUB_VIEW = encode(replace(DEFAULT, model="google-bert/bert-base-uncased"))
FILE = "text,sense\n" + "".join(f"The bank number {i} is here,{i % 2}\n" for i in range(12))


@dataclass
class Place:
    """The app, its provider, and what it asks of a hub that has nothing."""

    app: str
    provider: str
    asked_of_hub: list[str] = field(default_factory=list)
    has_asked: threading.Event = field(default_factory=threading.Event)

    def cookies(self, name: str) -> dict[str, str]:
        """What the app gives somebody who signs in."""
        return cookies(name, self.app, issuer=self.provider)


@pytest.fixture(scope="module")
def place(run_app: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    found = Place("", "")

    class EmptyHub(http.server.BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            found.asked_of_hub.append(self.path)
            found.has_asked.set()
            self.send_error(404)

        do_GET = do_HEAD  # noqa: N815 - http.server's name

        def log_message(self, *_: object) -> None:
            """Nothing."""

    hub = http.server.ThreadingHTTPServer(("127.0.0.1", 0), EmptyHub)
    threading.Thread(target=hub.serve_forever, daemon=True).start()
    folder = measured_data(tmp_path_factory, tmp_path_factory.mktemp("access") / "data")
    with provider(tmp_path_factory.mktemp("provider") / "log.txt") as its:
        env = {
            **settings_of(its),
            "CONTEXTLENS_DATA_DIR": str(folder),
            "CONTEXTLENS_HUB_ENDPOINT": f"http://127.0.0.1:{hub.server_port}",
            "HF_HUB_CACHE": str(tmp_path_factory.mktemp("hub")),
        }
        found.app, found.provider = run_app("app.py", env), its
        yield found
    hub.shutdown()
    hub.server_close()


@pytest.fixture
def tab(chromium: Browser) -> Iterator[Callable[[], Page]]:
    """A factory of tabs, each in a browser of its own that sees nothing but this machine."""
    used = []

    def open_() -> Page:
        used.append(chromium.new_context(viewport={"width": 1440, "height": 900}))
        used[-1].set_default_timeout(300_000)
        return used[-1].new_page()

    yield open_
    for context in used:
        context.close()


def sign_in(page: Page, name: str) -> None:
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name=name, exact=True).click()
    page.get_by_test_id("stSidebar").get_by_text(re.compile(f"^{name}.*·", re.I)).wait_for()
    settle(page)


def test_three_people_sign_in_and_each_may_do_what_their_role_says(
    place: Place, tab: Callable[[], Page]
) -> None:
    viewer, wanted = tab(), f"{place.app}/tokens?s={VIEW}"
    viewer.goto(wanted)
    expect(viewer.get_by_role("button", name="Sign in")).to_be_visible()
    expect(viewer.get_by_text(OWN)).to_have_count(0)
    expect(viewer.get_by_test_id("stSidebar")).to_have_count(0)

    viewer.get_by_role("button", name="Sign in").click()
    viewer.get_by_role("button", name="Deny").click()
    expect(viewer.get_by_text("refused, or you broke off")).to_be_visible()
    assert urlsplit(viewer.url).path == "/tokens"  # and the view is still in the address
    assert parse_qs(urlsplit(viewer.url).query) == {"s": [VIEW], "sign_in": ["refused"]}

    sign_in(viewer, "vera")
    assert viewer.url == wanted
    side = viewer.get_by_test_id("stSidebar")
    expect(side.get_by_role("textbox", name="Sentence A")).to_have_value(OWN)
    side.get_by_role("link", name="Corpora").click()
    expect(viewer.get_by_role("button", name="Add your own texts")).to_be_disabled()

    uploader = tab()
    uploader.goto(f"{place.app}/corpora")
    sign_in(uploader, "uwe")
    uploader.get_by_role("button", name="Add your own texts").click()
    file = {"name": "mine.csv", "mimeType": "text/csv", "buffer": FILE.encode()}
    uploader.locator("input[type=file]").set_input_files(file)
    uploader.get_by_role("button", name="Index it").click()
    expect(uploader.get_by_text(re.compile("are indexed|word count")).first).to_be_visible()
    uploader.wait_for_url(re.compile(r"\?s="))
    name = CORPUS.asked(decode(parse_qs(urlsplit(uploader.url).query)["s"][0]))
    assert name
    card = f".st-key-corpora_card_{name}"
    expect(uploader.locator(card)).to_be_visible()

    viewer.goto(uploader.url)  # handed on, an address shows its page, and no more
    expect(viewer.locator(card)).to_be_visible()
    viewer.get_by_role("button", name="Export or delete").click()
    expect(viewer.get_by_text("you can search it, but not export or delete it")).to_be_visible()
    viewer.goto(f"{place.app}/corpora")
    settle(viewer)
    expect(viewer.locator(card)).to_have_count(0)

    admin = tab()
    admin.goto(f"{place.app}/corpora")
    sign_in(admin, "ada")
    expect(admin.locator(card)).to_be_visible()

    viewer.get_by_test_id("stSidebar").get_by_text("Vera Viewer").click()
    viewer.get_by_role("button", name="Sign out").click()
    viewer.get_by_role("button", name="End session").click()
    expect(viewer.get_by_role("button", name="Sign in")).to_be_visible()
    viewer.goto(wanted)
    expect(viewer.get_by_role("button", name="Sign in")).to_be_visible()
    expect(viewer.get_by_text(OWN)).to_have_count(0)
    _nobody_gets_past_the_pages(place, str(name))


def _nobody_gets_past_the_pages(place: Place, name: str) -> None:
    """Whatever a browser sends, of buttons and fields that were drawn for the owner alone."""
    query = f"s={encode(CORPUS.put(DEFAULT, name))}"
    with Forger(place.app, place.cookies("uwe")) as owner:
        opened = owner.run("corpora", query)
        delete = opened.id_of("corpora_delete")
        yes = owner.press("corpora", query, delete).id_of("corpora_delete_yes")
        field_id = owner.press("corpora", query, opened.id_of("corpora_add")).id_of(
            "corpora_upload"
        )
        assert uploaded(place, "uwe", owner) == 204
        with Forger(place.app, place.cookies("ada")) as admin:
            get = admin.run("tokens", f"s={HUB_VIEW}").id_of("get_model")
        for person in ("vera", "una", ""):
            with Forger(place.app, place.cookies(person) if person else {}) as other:
                seen = other.run("corpora", query)
                assert (b"mine.csv" in seen.text) is bool(person)
                assert not seen.has("corpora_delete")
                other.press("corpora", query, delete)
                other.press("corpora", query, delete, yes)
                if person != "una":  # an uploader, who may give files of her own
                    assert uploaded(place, person, other) == 403
                    state = WidgetState(id=field_id)
                    info = state.file_uploader_state_value.uploaded_file_info.add()
                    info.file_id, info.name, info.size = "a-file", "mine.csv", len(FILE)
                    assert not other.run("corpora", query, [state]).has("corpora_index")
                pressed = other.press("tokens", f"s={HUB_VIEW}", get)
                assert not pressed.has("get_model")
            assert exported(place, person, name) == 403
        assert place.asked_of_hub == []
        with Forger(place.app, place.cookies("ada")) as admin:
            admin.run("tokens", f"s={HUB_VIEW}")
            admin.press("tokens", f"s={HUB_VIEW}", get)
            assert place.has_asked.wait(PATIENCE)
        assert exported(place, "uwe", name) == 200
        owner.press("corpora", query, yes)
    assert exported(place, "uwe", name) == 404


def uploaded(place: Place, person: str, tab: Forger) -> int:
    """What the server answers to a file for a tab's visit, sent past the page."""
    mark = "boundary-of-parts"
    part = (
        f'--{mark}\r\nContent-Disposition: form-data; name="f"; filename="mine.csv"\r\n\r\n{FILE}'
    )
    request = urllib.request.Request(
        f"{place.app}/_stcore/upload_file/{tab.session}/a-file",
        f"{part}\r\n--{mark}--\r\n".encode(),
        {
            "Content-Type": f"multipart/form-data; boundary={mark}",
            "Cookie": "; ".join(f"{key}={value}" for key, value in tab.cookies.items()),
            "X-Xsrftoken": tab.xsrf,
        },
        method="PUT",
    )
    return _status(request)


def exported(place: Place, person: str, name: str) -> int:
    """What the server answers to who asks for a whole corpus."""
    own = place.cookies(person) if person else {}
    head = {"Cookie": "; ".join(f"{key}={value}" for key, value in own.items())}
    return _status(urllib.request.Request(f"{place.app}/export/{name}.parquet", headers=head))


def _status(request: urllib.request.Request) -> int:
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as exc:
        with exc:
            return exc.code


def test_under_a_base_path_one_comes_back_too_and_takes_a_corpus_away(
    run_app: Callable[..., str], tab: Callable[[], Page], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = measured_data(tmp_path_factory, tmp_path_factory.mktemp("base") / "data")
    with provider(tmp_path_factory.mktemp("provider") / "log.txt") as its:
        with app_settings(DATA_DIR=str(folder)):
            name = indexed(store(), made_up_corpus(12), owner=owner_of("uwe", its))
        env = {
            **settings_of(its, app="http://localhost:{port}/lens"),
            "CONTEXTLENS_DATA_DIR": str(folder),
            "CONTEXTLENS_ALLOW_DOWNLOADS": "0",
            "STREAMLIT_SERVER_BASE_URL_PATH": "lens",
        }
        app = run_app("app.py", env)
        assert app.endswith("/lens")
        page, wanted = tab(), f"{app}/corpora?s={encode(CORPUS.put(DEFAULT, name))}"
        page.goto(wanted)
        sign_in(page, "uwe")
        assert page.url == wanted
        page.get_by_role("button", name="Export or delete").click()
        link = page.get_by_role("link", name=re.compile("Parquet")).get_attribute("href")
        rows = pq.read_table(io.BytesIO(page.request.get(urljoin(wanted, str(link))).body()))
        assert "sentence" in rows.column_names
