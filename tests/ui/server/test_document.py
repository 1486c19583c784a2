"""The document that a browser opens: Streamlit's own, with our title, style and early imports."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from streamlit.file_util import get_static_dir

from contextlens.ui.page.navigation import PAGES
from contextlens.ui.server import document


@pytest.fixture
def fresh() -> Iterator[None]:
    """Made anew, and again after the test."""
    document.document.cache_clear()
    yield
    document.document.cache_clear()


def test_every_page_s_address_answers_with_it() -> None:
    client = TestClient(Starlette(routes=document.routes()))
    for path in ("/", *(f"/{page.name}" for page in PAGES)):
        answer = client.get(path)
        assert answer.status_code == 200
        assert answer.text == document.document()
        assert answer.headers["cache-control"] == "private, no-cache"  # for one version's files
    assert client.get("/nowhere").status_code == 404


def test_it_is_streamlit_s_with_our_title_and_our_style_last() -> None:
    text, theirs = document.document(), Path(get_static_dir(), "index.html").read_text("utf-8")
    assert "<title>Contextlens</title>" in text
    assert text.rindex("<style>") > text.index("<body")
    ours = re.sub(r"<style.*</style>\n|<script>window.*?\bawait.*</script>\n", "", text, flags=re.S)
    assert ours.replace("Contextlens", "Streamlit") == theirs


def test_no_change_of_a_page_has_all_of_it_styled_anew() -> None:
    """A browser looks at `:has()` after each change of what it could be about.

    Around everything, or about a part of a class's name, that is each change.
    """
    (style,) = re.findall(r"<style>(.*?)</style>", document.document(), re.DOTALL)
    style = re.sub(r"/\*.*?\*/", "", style, flags=re.DOTALL)
    selectors = [one for one in re.findall(r"([^{};]+)\{", style) if ":has(" in one]
    around = r"(?:html|body|\.st(?:App|AppViewContainer(?: > div)?|Main|MainBlockContainer))\b"
    costly = re.compile(rf"{around}\S*(?: ~ \S*)?:has\(|:has\([^)]*\[class")
    assert len(selectors) > 15
    (signed_out,) = filter(costly.search, selectors)
    assert "st-key-sign_in_page" in signed_out  # a page without a chart


@pytest.mark.parametrize("base", ["/", "/lens/"])
def test_its_server_is_asked_below_its_own_address_from_every_page(base: str) -> None:
    (pattern,) = re.findall(r"pathname\.replace\(/(.*)/,", document.document())
    python = pattern.replace(r"\/", "/")
    paths = ["", *(f"{page.name}{end}" for page in PAGES for end in ("", "/"))]
    assert {re.sub(python, "/", base + path, count=1) for path in paths} == {base}


def test_every_part_that_is_asked_for_early_is_there_once() -> None:
    asked = re.findall(r'import\("\./(static/js/(\w+)\.[^"]+)"\)', document.document())
    assert sorted(name for _, name in asked) == sorted([*document._NEEDED, document._LAST])
    assert asked[-1][1] == document._LAST
    for path, _ in asked:
        assert Path(get_static_dir(), path).is_file()


@pytest.mark.parametrize(
    "theirs", ["<html></html>", "<title>Streamlit</title></head></head></body>"], ids=repr
)
def test_another_streamlit_s_document_is_an_error(
    fresh: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, theirs: str
) -> None:
    (tmp_path / "index.html").write_text(theirs, encoding="utf-8")
    monkeypatch.setattr(document, "get_static_dir", lambda: str(tmp_path))
    with pytest.raises(RuntimeError, match=r"index\.html has changed"):
        document.document()
