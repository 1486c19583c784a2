"""The text pages share one collection: chosen or uploaded once, it is on all of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from contextlens.content.language import say
from contextlens.content.wording import escape
from contextlens.ui.corpora.controls import COLLECTION, LABEL, READY_TEXTS
from contextlens.ui.state.controls import TEXT_PAGES
from contextlens.ui.state.view import DEFAULT
from tests.support.fields import field
from tests.support.pages import bundled_app, framed, plainly_said, press, settled, shown_view

THINGS = ("soup", "film", "room", "bus", "song", "walk")
TABLE = "text,mood\n" + "".join(f"A good {t},yes\nA bad {t},no\n" for t in THINGS)
WITH_MENU = tuple(page for page in TEXT_PAGES if page != "corpora")


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory):
        yield


def collection(app: AppTest, page: str) -> str:
    """The value of the bar's menu of collections."""
    assert not app.exception
    return str(field(app.selectbox, f"{page}_collection").value)


def test_a_file_is_uploaded_once_and_what_a_page_cannot_use_is_said() -> None:
    app = press(settled(framed(DEFAULT, "senses")), "senses_add_texts")
    own = field(app.file_uploader, "senses_upload")
    app = settled(own.set_value(("mine.csv", TABLE.encode(), "text/csv")).run())
    assert "**mine.csv**: **12** texts from the column “text”. Label: “mood”." in plainly_said(app)
    view = shown_view(app)
    assert {page: collection(framed(view, page), page) for page in WITH_MENU} == {
        **dict.fromkeys(WITH_MENU, "file"), "pairs": ""
    }  # fmt: skip
    problem = say("texts.problem.pairs", title=escape("mine.csv"))
    assert problem in [info.value for info in framed(view, "pairs").info]
    assert field(framed(view, "probe").selectbox, "probe_label").value == "mood"
    app = settled(app.switch_page("pages/pairs.py").run())
    assert problem in [info.value for info in app.info]


@pytest.mark.parametrize("name", READY_TEXTS)
def test_a_ready_collection_and_its_label_go_along(name: str) -> None:
    view = COLLECTION.put(DEFAULT, name)
    shown = {page: collection(framed(view, page), page) for page in WITH_MENU if page != "pairs"}
    assert set(shown.values()) == {name}
    title = list(READY_TEXTS[name]().labels)[1]
    labelled = LABEL.put(view, title)
    for page in ("senses", "probe"):
        assert field(framed(labelled, page).selectbox, f"{page}_label").value == title
