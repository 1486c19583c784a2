"""Rights, headless: nobody can do what they may not, whatever was drawn for somebody else.

A page is drawn for one person, and its buttons are pressed as another, as by a browser that
sends the state of a button that was never drawn for its visitor.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from contextlens.content.examples import EXAMPLES
from contextlens.core.errors import AccessError
from contextlens.core.settings import DEMO_CHARACTERS, DEMO_POINTS
from contextlens.features.corpora.controls import PAGE
from contextlens.features.map.request import max_points
from contextlens.jobs import JobKind
from contextlens.ui.access import guard
from contextlens.ui.access.roles import FETCH, MANAGE, Role
from contextlens.ui.corpora import catalogue, exports
from contextlens.ui.corpora.controls import COLLECTION
from contextlens.ui.files import uploads
from contextlens.ui.files.uploads import forget_all
from contextlens.ui.frame.shell import DEMO_LINE
from contextlens.ui.models import runtime
from contextlens.ui.models.background import jobs, store
from contextlens.ui.models.tasks import FETCHES, TOKENIZERS
from contextlens.ui.state.view import DEFAULT, Sentence
from tests.support.corpus_store import indexed, made_up_corpus
from tests.support.fields import field
from tests.support.openid import claims, cookies, knows, owner_of, settings_of
from tests.support.pages import (
    app_settings,
    arrived,
    bundled_app,
    framed,
    plainly_said,
    press,
    settled,
    shown_view,
    type_in,
)

HUB_MODEL = "google-bert/bert-base-uncased"


def keys(app: AppTest) -> set[str]:
    return {str(button.key) for button in app.button}


def forced(app: AppTest, key: str) -> AppTest:
    """Click a disabled button: only browsers respect that."""
    button = app.button(key=key)
    button.proto.disabled = False
    return button.click().run()


def has_field(app: AppTest) -> bool:
    """True if a file can be given for a corpus."""
    return any("corpora_upload" in str(own.key) for own in app.file_uploader)


ADDRESS = "http://localhost:8501"
SECRET_TEXT = "A sentence that only those who may look should see"


def variables(sign_in: str = "required", **others: str) -> dict[str, str]:
    own = {
        name.removeprefix("CONTEXTLENS_"): v
        for name, v in settings_of("https://id.example").items()
    }
    own["OIDC_REDIRECT_URL"] = f"{ADDRESS}/oauth2callback"
    return {**own, "SIGN_IN": sign_in, **others}


@pytest.fixture(scope="module")
def _signed_in_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory, **variables()), knows(ADDRESS):
        yield


@pytest.fixture
def asked(_signed_in_app: None) -> Iterator[None]:
    """An app that requires sign-in; its corpora are deleted afterwards."""
    forget_all()
    yield
    for name in store().names():
        store().delete(name)


def seen_by(name: str, view: Any = DEFAULT, page: str = "corpora") -> AppTest:
    """A page as this person sees it; "" is not signed in."""
    from contextlens.ui.state.address import encode

    app = AppTest.from_file(str(Path(__file__).parents[3] / "main.py"), default_timeout=300)
    app.user = claims(name) if name else {}
    app.query_params["s"] = encode(view)
    return arrived(app.switch_page(f"pages/{page}.py").run())


def as_(app: AppTest, name: str) -> AppTest:
    """The same page; its next message comes from somebody else."""
    app.user = claims(name) if name else {}
    return app


def under_way(kind: JobKind) -> int:
    return len(jobs().under_way(kind))


def corpus_of(name: str, **corpus: Any) -> str:
    return indexed(store(), made_up_corpus(12, **corpus), owner=owner_of(name) if name else "")


# Who may look


@pytest.mark.parametrize("page", ["home", "tokens", "corpora", "map"])
def test_who_has_not_signed_in_sees_one_button_and_nothing_else(asked: None, page: str) -> None:
    view = replace(DEFAULT, sentences=(Sentence(SECRET_TEXT),), model=HUB_MODEL)
    app = seen_by("", view, page)
    assert not app.exception
    assert keys(app) == {"sign_in"}
    assert not app.sidebar.children
    assert SECRET_TEXT not in plainly_said(app)
    assert [title.value for title in app.title] == ["Contextlens"]
    assert not app.get("text_input")


def test_who_has_no_role_is_told_so_and_may_leave(tmp_path: Path) -> None:
    with app_settings(DATA_DIR=str(tmp_path), **variables(DEFAULT_ROLE="none")), knows(ADDRESS):
        app = seen_by("mallory", page="tokens")
        assert keys(app) == {"sign_out"}
        (said,) = messages_of(app)
        assert "have no role here" in said
        assert "verified" in said


def messages_of(app: AppTest) -> list[str]:
    return [said for said in plainly_said(app).splitlines() if said.startswith("Hello")]


def test_the_name_and_the_role_are_shown_with_a_way_out(asked: None) -> None:
    app = seen_by("vera")
    assert "sign_out" in keys(app)
    assert "Here you are a viewer" in plainly_said(app)
    assert "fetch models" not in plainly_said(app)
    assert "fetch models" in plainly_said(seen_by("ada"))


def test_guests_look_where_sign_in_is_optional(tmp_path: Path) -> None:
    with app_settings(DATA_DIR=str(tmp_path), **variables("optional")), knows(ADDRESS):
        app = seen_by("", page="corpora")
        assert {"sign_in", "corpora_add"} <= keys(app)
        assert app.button(key="corpora_add").disabled
        assert guard.current_person().role is Role.VIEWER
        with pytest.raises(AccessError, match="sign in as an admin first"):
            guard.require(FETCH)


# Models


def test_an_address_of_a_hub_model_is_fetched_for_an_admin_alone(tmp_path: Path) -> None:
    dead = {"ALLOW_DOWNLOADS": "1", "HUB_ENDPOINT": "http://127.0.0.1:9", "DATA_DIR": str(tmp_path)}
    with app_settings(**variables(**dead)), knows(ADDRESS):
        view = replace(DEFAULT, model=HUB_MODEL)
        app = seen_by("vera", view, "tokens")
        assert "go_on_without" in keys(app)
        assert "get_model" not in keys(app)
        assert "to fetch models takes an admin" in plainly_said(app)

        app = seen_by("ada", view, "tokens")
        app = as_(app, "vera").button(key="get_model").click().run()
        assert runtime.jobs().get(("model", HUB_MODEL)) is None
        assert "to fetch models takes an admin" in plainly_said(app)

        app = seen_by("uwe", page="tokens")
        app = field(app.selectbox, "model").set_value(HUB_MODEL).run()
        assert runtime.jobs().get(("model", HUB_MODEL)) is None
        assert "to fetch models takes an admin" in plainly_said(app)
        assert (under_way(FETCHES), under_way(TOKENIZERS)) == (0, 0)

        app = seen_by("ada", view, "tokens")
        press(app, "get_model")
        assert runtime.jobs().get(("model", HUB_MODEL)) is not None


# Files and corpora


def test_a_viewer_gets_nothing_in_by_the_fields_of_an_uploader(asked: None) -> None:
    content = b"text,sense\nMy pet python sleeps,a\nI write python,b\n"
    app = press(seen_by("uwe"), "corpora_add")
    app = field(as_(app, "vera").file_uploader, "corpora_upload").set_value(
        ("mine.csv", content, "text/csv")).run()  # fmt: skip
    assert "to upload files takes an uploader" in plainly_said(app)
    assert "corpora_index" not in keys(app)

    app = press(seen_by("uwe"), "corpora_add")
    own = field(app.file_uploader, "corpora_upload")
    app = settled(own.set_value(("mine.csv", content, "text/csv")).run())
    press(as_(app, "vera"), "corpora_index")
    assert store().names() == ()

    app = press(seen_by("uwe"), "corpora_add")
    own = field(app.file_uploader, "corpora_upload")
    app = settled(own.set_value(("mine.csv", content, "text/csv")).run())
    settled(press(app, "corpora_index"))
    (name,) = store().names()
    assert store().about(name).owner == owner_of("uwe")


def test_pressing_add_as_a_viewer_opens_nothing(asked: None) -> None:
    assert not has_field(forced(seen_by("vera"), "corpora_add"))
    assert has_field(press(seen_by("uwe"), "corpora_add"))


@pytest.mark.parametrize("other", ["vera", "una", ""])
def test_nobody_deletes_what_is_anothers_by_the_owner_s_button(asked: None, other: str) -> None:
    name = corpus_of("uwe")
    app = press(seen_by("uwe", COLLECTION.put(DEFAULT, name)), "corpora_delete")
    as_(app, other).button(key="corpora_delete_yes").click().run()
    assert store().names() == (name,)


@pytest.mark.parametrize("who", ["uwe", "ada"])
def test_the_owner_and_an_admin_delete_a_corpus(asked: None, who: str) -> None:
    name = corpus_of("uwe")
    app = press(seen_by(who, COLLECTION.put(DEFAULT, name)), "corpora_delete")
    press(app, "corpora_delete_yes")
    assert store().names() == ()


def test_an_address_shows_a_corpus_and_its_list_shows_ones_own(asked: None) -> None:
    theirs, own, old = corpus_of("uwe"), corpus_of("una", seed=1), corpus_of("", seed=2)
    shown = seen_by("una", COLLECTION.put(DEFAULT, theirs))
    assert {f"corpora_show_{theirs}", f"corpora_show_{own}"} <= keys(shown)
    assert not {"corpora_delete", f"corpora_show_{old}"} & keys(shown)
    assert "you can search it, but not" in plainly_said(shown)
    assert f"corpora_show_{theirs}" not in keys(seen_by("una"))
    assert {f"corpora_show_{n}" for n in (theirs, own, old)} <= keys(seen_by("ada"))
    shown = seen_by("una", COLLECTION.put(DEFAULT, old))  # of before there were owners
    assert f"corpora_show_{old}" in keys(shown)
    assert "corpora_delete" not in keys(shown)


def test_a_server_that_people_sign_in_to_is_not_for_one(asked: None) -> None:
    assert not catalogue.is_for_one()


# Past the pages


@pytest.fixture
def client(asked: None) -> TestClient:
    return TestClient(Starlette(routes=exports.routes(), middleware=uploads.middleware()), ADDRESS)


@pytest.mark.parametrize(
    "forged",
    [
        cookies("uwe", ADDRESS, secret="another secret, of another server"),
        cookies("uwe", "http://elsewhere.example"),
        cookies("uwe", ADDRESS, issuer="https://other-id.example"),
        {"_streamlit_user": "x"},
        {"_streamlit_user": ""},
        {"_streamlit_user": "chunks-3"},
    ],
    ids=["secret", "origin", "issuer", "text", "empty", "chunks"],
)
def test_a_cookie_that_is_another_s_or_nobody_s_opens_nothing(
    client: TestClient, forged: dict[str, str]
) -> None:
    assert answer(client, f"/{exports.address(corpus_of('uwe'))}", forged) == 403


def answer(client: TestClient, place: str, own: dict[str, str]) -> int:
    client.cookies.clear()
    client.cookies.update(own)
    return client.get(place).status_code


@pytest.mark.parametrize(
    ("name", "status"), [("", 403), ("vera", 403), ("mallory", 403), ("uwe", 404), ("ada", 404)]
)
def test_a_file_that_a_viewer_sends_is_refused_where_it_arrives(
    client: TestClient, name: str, status: int
) -> None:
    client.cookies.update(cookies(name, ADDRESS) if name else {})
    sent = client.put("/_stcore/upload_file/any-visit/any-file", content=b"x" * 1000)
    assert sent.status_code == status  # 404: it came through to where Streamlit would take it


def test_no_module_goes_past_the_doors() -> None:
    """Only `changing` calls what changes the store."""
    root = Path(__file__).parents[3]
    calls = ("store().create(", "store().delete(", "work.start(", "work.pause(", "store().export(")
    found = {
        path.relative_to(root).as_posix()
        for folder in ("components/contextlens/ui", "components/contextlens/features", "pages")
        for path in (root / folder).rglob("*.py")
        if any(call in path.read_text(encoding="utf-8") for call in calls)
    }
    assert found == {
        f"components/contextlens/ui/corpora/{name}.py" for name in ("changing", "exports")
    }
    assert PAGE == "corpora"


# A demo: small texts and maps, and nothing kept or taken


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
    app = type_in(app, "z" * (DEMO_CHARACTERS + 5))
    assert shown_view(app) == fit
    assert f"{DEMO_CHARACTERS + 5:,}" in plainly_said(app)


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
    app = framed(COLLECTION.put(DEFAULT, name), "corpora")
    assert "corpora_delete" not in keys(app)
    store().delete(name)
    with pytest.raises(AccessError, match="demo"):
        guard.require(MANAGE)


def test_a_demo_s_maps_are_small_and_its_models_listed(demo_app: None) -> None:
    assert max_points() == DEMO_POINTS
    app = framed(replace(DEFAULT, model=HUB_MODEL), "tokens")
    assert "not among those allowed here" in plainly_said(app)
