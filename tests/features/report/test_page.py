"""The Report page, as far as the server has it; the rest is tested in a browser."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from contextlens.ui.state.view import DEFAULT
from tests.support.pages import bundled_app, finish_background_work, framed, given


@pytest.fixture(autouse=True, scope="module")
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory):
        yield


def test_an_empty_report_has_an_example_of_the_ready_sentences() -> None:
    framed(page="home")
    finish_background_work()
    app = framed(page="report")  # starts to look up the meanings, unless they are there
    end = time.monotonic() + 60
    while len(given(app, "report")["examples"]) < 2 and time.monotonic() < end:
        time.sleep(0.2)
        app = app.run()
    assert not app.exception
    story, tokens = given(app, "report")["examples"]
    assert story["title"] == "A: the animal. B: the language."
    assert story["claim"].startswith("The thicker the line from a word")
    assert tokens["title"] == DEFAULT.sentences[0].text
    assert "7 tokens" in tokens["claim"]
    assert all(view["svg"].startswith("<svg") for view in (story, tokens))
