"""Links of each released version keep opening: data/links-VERSION.json has one for each page.

A file of a released version is not changed again; a page that is renamed keeps its old address.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from contextlens.ui.page.navigation import PAGES
from contextlens.ui.state.address import decode, from_json
from contextlens.ui.state.controls import TEXTS, Control
from tests.support.pages import bundled_app, framed

FILES = sorted(Path(__file__).with_name("data").glob("links-*.json"))
LINKS = [
    pytest.param(link, id=f"{file.stem}-{link['page']}")
    for file in FILES
    for link in json.loads(file.read_text(encoding="utf-8"))
]


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory):
        yield


def controls_of(page: str) -> dict[str, Control]:
    """The controls of a page by their names in a view."""
    where = {"meaning": "ui.widgets.comparison", TEXTS: "ui.corpora"}.get(page, f"features.{page}")
    module = import_module(f"contextlens.{where}.controls")
    return {c.name: c for c in vars(module).values() if isinstance(c, Control) and c.page == page}


@pytest.mark.parametrize("link", LINKS)
def test_a_released_link_opens_its_page_on_its_view(link: dict[str, Any]) -> None:
    page, view = link["page"], decode(link["address"], link["page"])
    assert view == from_json(json.dumps(link["view"]), page)
    for group in (page, TEXTS):
        choices = view.controls.get(group, {})
        known = controls_of(group) if choices else {}
        assert {name: known[name].asked(view) for name in choices} == choices
    app = framed(link["address"], page)
    assert not app.exception
    assert [title.value for title in app.title] == [row.title for row in PAGES if row.name == page]
    assert decode(app.query_params.get("s", ""), page) == view
    assert not [warning.value for warning in app.warning if "opening example" in warning.value]


def test_every_page_of_the_newest_file_is_still_there() -> None:
    newest = json.loads(FILES[-1].read_text(encoding="utf-8"))
    assert {link["page"] for link in newest} <= {page.name for page in PAGES}
