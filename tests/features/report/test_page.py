"""The Report page, as far as the server has it; the rest is tested in a browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from contextlens.ui.state.view import DEFAULT
from tests.support.pages import bundled_app, framed, given


@pytest.fixture(autouse=True, scope="module")
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory):
        yield


def test_an_empty_report_has_an_example_of_the_ready_sentences() -> None:
    app = framed(page="report")
    assert not app.exception
    first = given(app, "report")["examples"][0]
    assert first["title"] == DEFAULT.sentences[0].text
    assert "7 tokens" in first["claim"]
    assert first["svg"].startswith("<svg")
