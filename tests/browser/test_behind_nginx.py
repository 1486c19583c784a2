"""Sign-in in the browser with two processes behind nginx, and tokens that carry groups."""

from __future__ import annotations

import os
import random
import string
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, WebSocket, expect

from contextlens.ui.processes.__main__ import COOKIE
from tests.browser.rest import settle
from tests.support.app_server import AppServer, launch_several
from tests.support.measured import measured_data
from tests.support.openid import provider, settings_of

pytestmark = [pytest.mark.browser, pytest.mark.cluster, pytest.mark.slow]

KILOBYTES = (2, 6, 12)


def groups(kilobytes: int) -> list[str]:
    """Names that take so much, and that no compression makes much smaller."""
    chance = random.Random(kilobytes)
    letters = string.ascii_letters + string.digits
    return ["".join(chance.choices(letters, k=20)) for _ in range(kilobytes * 1_000 // 24)]


PEOPLE = {
    f"groups{size}": {
        "name": f"Groups {size}",
        "email": f"groups{size}@example.org",
        "email_verified": True,
        "groups": groups(size),
    }
    for size in KILOBYTES
}
"""People whose claims take so many kilobytes."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    folder = tmp_path_factory.mktemp("behind-nginx")
    data = measured_data(tmp_path_factory, folder / "data")
    with provider(folder / "provider.log", PEOPLE) as address:
        own = {**settings_of(address), "CONTEXTLENS_DATA_DIR": str(data)}
        server = launch_several(2, folder / "log.txt", {**os.environ, **own})
        try:
            server.wait()
            yield server
        finally:
            server.stop()


@pytest.mark.parametrize("size", KILOBYTES)
def test_a_token_with_groups_signs_in_and_the_page_opens(
    chromium: Browser, served: AppServer, size: int
) -> None:
    """Of the claims only those that are used get into cookies, beside those of other apps."""
    context = chromium.new_context()
    context.add_cookies(
        [
            {"name": f"of_another_app_{i}", "value": "x" * 1_000, "url": served.address}
            for i in range(size)
        ]
    )
    context.set_default_timeout(120_000)
    try:
        page = context.new_page()
        page.goto(f"{served.address}/tokens")
        page.get_by_role("button", name="Sign in").click()
        with page.expect_event("websocket", _is_the_apps) as opening:
            page.get_by_role("button", name=f"groups{size}", exact=True).click()
        side = page.get_by_test_id("stSidebar")
        expect(side.get_by_text(f"Groups {size}").first).to_be_visible()
        settle(page)
        assert not opening.value.is_closed()
        sent = context.cookies(served.address)
        line = "; ".join(f"{cookie['name']}={cookie['value']}" for cookie in sent)
        assert size * 1_000 < len(line) < size * 1_030 + 4_096
        assert COOKIE in {cookie["name"] for cookie in sent}
    finally:
        context.close()


def _is_the_apps(socket: WebSocket) -> bool:
    return socket.url.endswith("/_stcore/stream")
