"""What can go wrong: said in a sentence, the page goes on, and a retry works."""

from __future__ import annotations

import json
import resource
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from components.core import BUNDLED_ID, Settings, open_service
from components.core.errors import ContextlensError
from components.ui.models import runtime
from tests.support.hub_server import HubServer, Reply, Repository, error, hub_server
from tests.support.pages import choose, finish_background_work, framed, press, type_in
from tests.support.ports import free_port
from tests.ui.frame.sidebar.headless import (
    PRESET,
    SECOND,
    TEXT,
    WEIGHTS,
    app_on,
    assert_goes_on,
    pending,
    picked,
    said,
    weights_asked,
)

Fault = Callable[[HubServer, Path], AbstractContextManager[None]]


def replies(reply: Reply, only: str | None = None) -> Fault:
    def set_up(server: HubServer, _: Path) -> AbstractContextManager[None]:
        server.faults = lambda request, normal: (
            reply if only is None or request.file == only else normal
        )
        return nullcontext()

    return set_up


def changed(change: Callable[[Reply], Reply]) -> Fault:
    def set_up(server: HubServer, _: Path) -> AbstractContextManager[None]:
        server.faults = lambda request, normal: (
            change(normal) if (request.method, request.file) == ("GET", WEIGHTS) else normal
        )
        return nullcontext()

    return set_up


def repository(change: Callable[[Path], object]) -> Fault:
    def set_up(server: HubServer, folder: Path) -> AbstractContextManager[None]:
        change(folder)
        server.repositories[PRESET] = Repository(folder)
        return nullcontext()

    return set_up


def config(**changes: object) -> Fault:
    def change(folder: Path) -> None:
        path = folder / "config.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))

    return repository(change)


def pickled(folder: Path) -> None:
    (folder / WEIGHTS).rename(folder / "pytorch_model.bin")


def full_disk(_server: HubServer, _folder: Path) -> AbstractContextManager[None]:
    @contextmanager
    def limited() -> Iterator[None]:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    return limited()


FAULTS: dict[str, tuple[Fault, str]] = {
    "404": (replies(error(404, "RepoNotFound")), "no such model"),
    "401 gated": (replies(error(401, "GatedRepo")), "gated"),
    "500": (replies(error(500)), "answered with an error (500)"),
    "a login page": (replies(Reply(200, {}, b"<html>")), "unreadable"),
    "weights 500": (replies(error(500), only=WEIGHTS), "500"),
    "tokenizer 404": (
        replies(error(404, "EntryNotFound"), only="tokenizer.json"),
        "listed a file that it does not have",
    ),
    "truncated": (changed(lambda r: replace(r, body=r.body[:-10])), "did not arrive whole"),
    "checksum": (changed(lambda r: replace(r, body=r.body[::-1])), "arrived damaged"),
    "disk full": (full_disk, "could not be stored"),
    "pickled": (repository(pickled), "only pickled weights"),
    "code": (config(model_type="own", auto_map={"AutoModel": "x.Y"}), "its own program code"),
    "decoder": (config(model_type="gpt2", architectures=["GPT2LMHeadModel"]), "a decoder"),
    "encoder-decoder": (config(model_type="t5", is_encoder_decoder=True), "encoder-decoder"),
    "a size": (config(hidden_size=10**9), "hidden_size is 1000000000"),
    "no tokenizer": (repository(lambda f: (f / "tokenizer.json").unlink()), "no tokenizer files"),
}


@pytest.fixture
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hub's client asks again after 1, 2, 4 and 8 s: here at once."""
    hasty = SimpleNamespace(sleep=lambda _: None)
    monkeypatch.setattr("huggingface_hub.utils._http.time", hasty)


@pytest.mark.usefixtures("_hasty")
@pytest.mark.parametrize(("fault", "words"), FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_is_one_sentence_and_the_model_can_be_loaded_after_it(
    served: Path, tmp_path: Path, fault: Fault, words: str
) -> None:
    with hub_server({PRESET: served}) as hub:
        service = open_service(Settings(data_dir=tmp_path / "data", hub_endpoint=hub.endpoint))
        good = hub.repositories[PRESET]
        with (
            fault(hub, Path(shutil.copytree(served, tmp_path / "bad"))),
            pytest.raises(ContextlensError) as raised,
        ):
            service.load(PRESET)
        assert words in str(raised.value)
        assert len(str(raised.value)) < 400
        hub.faults = None
        hub.repositories[PRESET] = good
        assert service.load(PRESET).revision == hub.commit(PRESET)


@pytest.mark.slow
@pytest.mark.usefixtures("_hasty")
@pytest.mark.parametrize("name", ["404", "disk full", "code"])
def test_a_fault_is_said_the_page_goes_on_and_a_retry_works(
    server: HubServer, served: Path, tmp_path: Path, name: str
) -> None:
    fault, words = FAULTS[name]
    app = type_in(framed(), TEXT)
    good = server.repositories[PRESET]
    with fault(server, Path(shutil.copytree(served, tmp_path / "bad"))):
        app = choose(app, PRESET)
    assert_goes_on(app)
    assert words in said(app)
    assert len(said(app)) < 400
    assert "reference" not in said(app)
    assert picked(app) == BUNDLED_ID
    assert not pending(app)
    app = type_in(app, "My python eats mice")
    assert_goes_on(app, text="My python eats mice")
    assert words in said(app), "it stays until it is dismissed"
    server.faults = None
    server.repositories[PRESET] = good
    app = press(app, "wish_retry")
    assert not app.error
    finish_background_work()
    app = app.run()
    assert_goes_on(app, PRESET, "My python eats mice")
    assert not app.error


@pytest.mark.slow
def test_a_connection_cut_in_the_middle_goes_on_within_the_fetch(server: HubServer) -> None:
    cuts = iter([400_000, None])
    server.faults = lambda request, reply: (
        replace(reply, cut_after=next(cuts, None))
        if (request.method, request.file) == ("GET", WEIGHTS)
        else reply
    )
    app = choose(type_in(framed(), TEXT), PRESET)
    assert_goes_on(app, PRESET)
    assert weights_asked(server) == 2


@pytest.mark.slow
def test_without_a_network_the_page_goes_on_and_a_retry_works(
    served: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    port = free_port()
    with app_on(tmp_path_factory, f"http://127.0.0.1:{port}"):
        app = choose(type_in(framed(), TEXT), PRESET)
        assert_goes_on(app)
        assert "cannot be reached" in said(app)
        with hub_server({PRESET: served}, port=port):
            app = press(app, "wish_retry")
            finish_background_work()
            assert_goes_on(app.run(), PRESET)


@pytest.mark.slow
def test_weights_that_do_not_fit_their_config_are_said_each_time(
    server: HubServer, served: Path, tmp_path: Path
) -> None:
    config(intermediate_size=48)(server, Path(shutil.copytree(served, tmp_path / "bad")))
    app = choose(type_in(framed(), TEXT), PRESET)
    for _ in range(2):
        assert_goes_on(app)
        assert "does not fit its weights" in said(app)
        app = press(app, "wish_retry")
        finish_background_work()
        app = app.run()
    assert_goes_on(choose(app, SECOND), SECOND)


@pytest.mark.slow
def test_a_copy_that_was_damaged_on_this_machine_is_fetched_again(
    server: HubServer, hub_cache: Path
) -> None:
    app = choose(type_in(framed(), TEXT), PRESET)
    (weights,) = hub_cache.glob(f"models--{PRESET.replace('/', '--')}/snapshots/*/{WEIGHTS}")
    size = weights.stat().st_size
    weights.resolve().write_bytes(b"\xff" * size)  # of the same length, so it counts as whole
    runtime.st.cache_resource.clear()
    runtime.service().load(BUNDLED_ID)
    app = choose(type_in(framed(), TEXT), PRESET)
    assert "may be damaged" in said(app)
    app = press(app, "wish_retry")
    finish_background_work()
    assert_goes_on(app.run(), PRESET)
    assert weights_asked(server) == 2


@pytest.mark.slow
def test_a_failure_can_be_dismissed(server: HubServer) -> None:
    server.faults = lambda _request, _reply: error(500)
    app = press(choose(type_in(framed(), TEXT), PRESET), "wish_dismiss")
    assert_goes_on(app)
    assert not app.error


@pytest.mark.slow
def test_another_choice_replaces_a_failure(server: HubServer) -> None:
    server.faults = lambda request, reply: error(500) if request.repo == PRESET else reply
    app = choose(choose(type_in(framed(), TEXT), PRESET), SECOND)
    assert_goes_on(app, SECOND)
    assert not app.error


@pytest.mark.slow
def test_an_error_that_nobody_foresaw_is_a_reference_to_the_log(
    server: HubServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a secret detail")

    monkeypatch.setattr("components.core.encoder.loading._card", fail)
    app = choose(type_in(framed(), TEXT), PRESET)
    assert_goes_on(app)
    assert "reference" in said(app)
    assert "secret" not in said(app)
    assert any("a secret detail" in str(r.exc_info) for r in caplog.records if r.exc_info)
