"""A demo, headless: small texts and maps, and nothing kept or taken."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from components.content.examples import EXAMPLES
from components.core.errors import AccessError
from components.core.settings import DEMO_CHARACTERS, DEMO_POINTS
from components.features.corpora.controls import CORPUS
from components.features.map.request import most_points
from components.ui.access import guard
from components.ui.access.roles import MANAGE
from components.ui.corpora import exports
from components.ui.files import uploads
from components.ui.frame.shell import DEMO_LINE
from components.ui.models.background import store
from components.ui.state.view import DEFAULT, Sentence
from tests.support.corpus_store import indexed, made_up_corpus
from tests.support.fields import field
from tests.support.pages import bundled_app, framed, plainly_said, shown_view
from tests.ui.access.doors import HUB_MODEL, forced, has_field, keys

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def demo_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory, DEMO="1"):
        yield


def test_a_demo_says_that_it_is_one_on_every_page(demo_app: None) -> None:
    assert str(DEMO_CHARACTERS) in DEMO_LINE
    for page in ("tokens", "corpora"):
        assert DEMO_LINE in plainly_said(framed(DEFAULT, page))


def test_a_demo_takes_no_long_text_by_address_or_by_typing(demo_app: None) -> None:
    long = replace(DEFAULT, sentences=(Sentence("x" * (DEMO_CHARACTERS + 1)),))
    app = framed(long, "tokens")
    assert f"This text has {DEMO_CHARACTERS + 1:,} characters" in plainly_said(app)
    assert "opening example" in plainly_said(app)
    fit = replace(DEFAULT, sentences=(Sentence("y" * DEMO_CHARACTERS),))
    app = framed(fit, "tokens")
    assert "characters, and in this demo" not in plainly_said(app)
    box = field(app.text_input, "side_sentences_0")
    assert box.proto.max_chars == DEMO_CHARACTERS
    app = box.set_value("z" * (DEMO_CHARACTERS + 5)).run()  # no browser lets one type that
    assert len(shown_view(app).sentences[0].text) <= DEMO_CHARACTERS


def test_every_example_fits_into_a_demo() -> None:
    texts = [own.text for e in EXAMPLES for own in (*e.sentences, *e.references)]
    assert max(map(len, texts)) <= DEMO_CHARACTERS


def test_a_demo_keeps_and_takes_nothing(demo_app: None) -> None:
    app = framed(DEFAULT, "corpora")
    assert app.button(key="corpora_add").disabled
    assert not has_field(forced(app, "corpora_add"))
    client = TestClient(Starlette(routes=exports.routes(), middleware=uploads.middleware()))
    assert client.put("/_stcore/upload_file/any-visit/any-file", content=b"x").status_code == 403
    name = indexed(store(), made_up_corpus(5))
    assert client.get(f"/{exports.address(name)}").status_code == 403
    assert f"corpora_show_{name}" not in keys(framed(DEFAULT, "corpora"))
    app = framed(CORPUS.put(DEFAULT, name), "corpora")
    assert "corpora_delete" not in keys(app)
    store().delete(name)
    with pytest.raises(AccessError, match="demo"):
        guard.require(MANAGE)


def test_a_demo_s_maps_are_small_and_its_models_listed(demo_app: None) -> None:
    assert most_points() == DEMO_POINTS
    app = framed(replace(DEFAULT, model=HUB_MODEL), "tokens")
    assert "not among those allowed here" in plainly_said(app)
