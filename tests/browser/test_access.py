"""Sign-in and roles in the browser, under a base path, against a provider on this machine.

One server for three people: a viewer, an uploader and an admin, each in a browser of their own.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from urllib.parse import parse_qs, urljoin, urlsplit

import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Browser, Page, expect

from contextlens.ui.corpora.controls import COLLECTION
from contextlens.ui.state.address import decode, encode
from contextlens.ui.state.view import DEFAULT, Sentence
from tests.browser.rest import settle
from tests.support.measured import measured_data
from tests.support.openid import provider, settings_of

pytestmark = pytest.mark.browser

OWN = "A river bank lies quietly in the sun."
VIEW = encode(replace(DEFAULT, sentences=(Sentence(OWN), Sentence("The bank lends money."))))
FILE = "text,sense\n" + "".join(f"The bank number {i} is here,{i % 2}\n" for i in range(12))


@pytest.fixture(scope="module")
def app(run_app: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app under a base path, and its provider."""
    folder = measured_data(tmp_path_factory, tmp_path_factory.mktemp("access") / "data")
    with provider(tmp_path_factory.mktemp("provider") / "log.txt") as its:
        env = {
            **settings_of(its, app="http://localhost:{port}/lens"),
            "CONTEXTLENS_DATA_DIR": str(folder),
            "CONTEXTLENS_ALLOW_DOWNLOADS": "0",
            "STREAMLIT_SERVER_BASE_URL_PATH": "lens",
        }
        yield run_app("app.py", env)


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
    app: str, tab: Callable[[], Page]
) -> None:
    viewer, wanted = tab(), f"{app}/tokens?s={VIEW}"
    viewer.goto(wanted)
    expect(viewer.get_by_role("button", name="Sign in")).to_be_visible()
    expect(viewer.get_by_text(OWN)).to_have_count(0)
    expect(viewer.get_by_test_id("stSidebar")).to_have_count(0)

    viewer.get_by_role("button", name="Sign in").click()
    viewer.get_by_role("button", name="Deny").click()
    expect(viewer.get_by_text("refused, or you broke off")).to_be_visible()
    assert urlsplit(viewer.url).path == "/lens/tokens"  # and the view is still in the address
    assert parse_qs(urlsplit(viewer.url).query) == {"s": [VIEW], "sign_in": ["refused"]}

    sign_in(viewer, "vera")
    assert viewer.url == wanted
    side = viewer.get_by_test_id("stSidebar")
    words = viewer.get_by_role("toolbar", name="Words of sentence A").get_by_role("button")
    expect(words.first).to_have_text(OWN.split()[0])
    side.get_by_role("link", name="Texts").click()
    expect(viewer.get_by_role("button", name="Add your own texts")).to_be_disabled()

    uploader = tab()
    uploader.goto(f"{app}/corpora")
    sign_in(uploader, "uwe")
    uploader.get_by_role("button", name="Add your own texts").click()
    file = {"name": "mine.csv", "mimeType": "text/csv", "buffer": FILE.encode()}
    uploader.locator("input[type=file]").set_input_files(file)
    uploader.get_by_role("button", name="Read and store").click()
    expect(uploader.get_by_text(re.compile("are read|word count")).first).to_be_visible()
    uploader.wait_for_url(re.compile(r"\?s="))
    name = COLLECTION.asked(decode(parse_qs(urlsplit(uploader.url).query)["s"][0]))
    assert name
    card = f".st-key-corpora_card_{name}"
    expect(uploader.locator(card)).to_contain_text("ready to be searched")
    settle(uploader)  # the page runs again when the indexing is over, and closes what was opened
    uploader.get_by_role("button", name="Export or delete").click()
    link = uploader.get_by_role("link", name=re.compile("Parquet")).get_attribute("href")
    rows = pq.read_table(io.BytesIO(uploader.request.get(urljoin(uploader.url, str(link))).body()))
    assert "sentence" in rows.column_names

    viewer.goto(uploader.url)  # handed on, an address shows its page, and no more
    expect(viewer.locator(card)).to_be_visible()
    viewer.get_by_role("button", name="Export or delete").click()
    expect(viewer.get_by_text("you can search it, but not export or delete it")).to_be_visible()
    viewer.goto(f"{app}/corpora")
    settle(viewer)
    expect(viewer.locator(card)).to_have_count(0)

    admin = tab()
    admin.goto(f"{app}/corpora")
    sign_in(admin, "ada")
    expect(admin.locator(card)).to_be_visible()

    viewer.get_by_test_id("stSidebar").get_by_text("Vera Viewer").click()
    viewer.get_by_role("button", name="Sign out").click()
    viewer.get_by_role("button", name="End session").click()
    expect(viewer.get_by_role("button", name="Sign in")).to_be_visible()
    viewer.goto(wanted)
    expect(viewer.get_by_role("button", name="Sign in")).to_be_visible()
    expect(viewer.get_by_text(OWN)).to_have_count(0)
