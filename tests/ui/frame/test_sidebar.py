"""The model picker: what it lists, what goes on while a model is fetched, and what can go wrong."""

from __future__ import annotations

import json
import resource
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from contextlens.content.wording import escape
from contextlens.core import BUNDLED_ID, Settings, open_service
from contextlens.core.errors import ContextlensError
from contextlens.jobs import Job
from contextlens.ui.models import runtime, tasks
from contextlens.ui.models.background import jobs
from contextlens.ui.state.address import encode
from contextlens.ui.state.view import DEFAULT
from tests.support.fields import field
from tests.support.hub_server import HubServer, Reply, Repository, error, hub_server
from tests.support.pages import (
    app_data,
    app_settings,
    bundled_app,
    choose,
    finish_background_work,
    framed,
    lines,
    press,
    shown_view,
    type_in,
    typed,
)
from tests.support.tiny_models import build

SECONDS = 300
PRESET = "distilbert/distilbert-base-uncased"  # ids that the picker offers; a tiny BERT behind them
SECOND = "google-bert/bert-base-cased"
TYPED = "org/tiny-bert"
WEIGHTS = "model.safetensors"
TEXT = "My python is a good pet"


@contextmanager
def app_on(tmp_path_factory: pytest.TempPathFactory, endpoint: str, **more: str) -> Iterator[None]:
    data = str(app_data(tmp_path_factory))
    with app_settings(DATA_DIR=data, HUB_ENDPOINT=endpoint, **more):
        runtime.baseline(runtime.service().load(BUNDLED_ID))
        yield


def picked(app: AppTest) -> str:
    return field(app.sidebar.selectbox, "model").value


def pick_model(app: AppTest, model: str) -> AppTest:
    """Chooses, and waits for nothing."""
    return field(app.selectbox, "model").set_value(model).run()


def assert_goes_on(app: AppTest, model: str = BUNDLED_ID, text: str = TEXT) -> None:
    """The page is whole, on this model and with what was typed."""
    assert not app.exception
    assert not app.main.error
    assert shown_view(app).model == model
    assert typed(app) == text
    assert len(lines(app)) == 3


def weights_asked(server: HubServer) -> int:
    return sum((r.method, r.file) == ("GET", WEIGHTS) for r in server.requests)


def pending(app: AppTest) -> bool:
    return any(button.key == "wish_cancel" for button in app.sidebar.button)


def said(app: AppTest) -> str:
    (error_,) = app.sidebar.error
    return error_.value.replace("\\", "").replace("\u2060", "")


@pytest.fixture(autouse=True)
def _empty_cache(hub_cache: Path) -> None:
    """Of the hub."""


@pytest.fixture
def server(served: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubServer]:
    """The app with its bundled model loaded, on an empty hub cache, and a hub."""
    with (
        hub_server(dict.fromkeys((PRESET, SECOND, TYPED), served)) as running,
        app_on(tmp_path_factory, running.endpoint),
    ):
        yield running


def type_model(app: AppTest, text: str) -> AppTest:
    box = field(app.selectbox, "model")
    box.options.append(text)
    return box.set_value(text).run()


def labels(app: AppTest) -> list[str]:
    return list(field(app.selectbox, "model").proto.options)


# Folders


@pytest.mark.slow
def test_a_folder_that_is_no_model_is_named_and_told_what_to_do(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    adapter = tmp_path / "models" / "run" / "checkpoint-10"
    adapter.mkdir(parents=True)
    (adapter / "adapter_config.json").write_text('{"base_model_name_or_path": "org/base"}')
    build("bert", tmp_path / "models" / "old" / "0_Transformer")
    with bundled_app(tmp_path_factory, MODEL_FOLDERS=str(tmp_path / "models")):
        app = type_in(framed(), TEXT)
        assert labels(app)[-2:] == [
            "old/0_Transformer · folder",
            "run/checkpoint-10 · LoRA adapter",
        ]
        app = choose(app, "folder:run/checkpoint-10")
        assert_goes_on(app)
        assert "run/checkpoint-10 is a LoRA adapter: it holds changes to 'org/base'" in said(app)
        assert_goes_on(choose(app, "folder:old/0_Transformer"), "folder:old/0_Transformer")


# Typed ids


def test_an_id_can_be_typed(server: HubServer) -> None:
    app = type_model(type_in(framed(), TEXT), f" {TYPED} ")
    assert (picked(app), pending(app)) == (TYPED, True)
    finish_background_work()
    app = app.run()
    assert [toast.value for toast in app.toast] == [f"The page now shows {escape(TYPED)}."]
    assert_goes_on(app, TYPED)
    assert not app.run().toast


@pytest.mark.parametrize(
    "typed",
    [
        PRESET,
        "DistilBERT-base-uncased",
        "distilbert-base-uncased · 268 MB to fetch",  # the label of a page that has not heard yet
        "distilbert-base-uncased · not on this machine",
    ],
)
def test_the_title_or_an_old_label_of_a_preset_names_it(server: HubServer, typed: str) -> None:
    app = type_model(type_in(framed(), TEXT), typed)
    finish_background_work()
    assert_goes_on(app.run(), PRESET)


NO_MODELS = ("../..", "a" * 10_000, "![x](http://example.org/x.png)")


@pytest.mark.parametrize("typed", NO_MODELS, ids=lambda typed: typed[:12])
def test_what_cannot_be_a_model_stops_at_the_door(server: HubServer, typed: str) -> None:
    app = type_model(type_in(framed(), TEXT), typed)
    assert_goes_on(app)
    assert len(said(app)) < 500
    assert "![x](" not in app.sidebar.error[0].value
    assert not server.requests
    assert [b.key for b in app.sidebar.button if "wish" in b.key] == ["wish_dismiss"]
    app = press(app, "wish_dismiss")
    assert_goes_on(app)
    assert not app.error


def test_a_value_of_a_picker_that_was_replaced_is_not_a_choice(
    server: HubServer, gate: threading.Event
) -> None:
    app = pick_model(type_in(framed(), TEXT), PRESET)
    old = field(app.selectbox, "model").key
    app = press(app, "wish_cancel")
    assert field(app.selectbox, "model").key != old
    assert not pending(app)
    gate.set()


# What the picker says


def test_sizes_are_said_only_of_what_must_be_fetched(server: HubServer) -> None:
    app = framed()
    assert labels(app)[0] == "all-MiniLM-L6-v2"
    assert "distilbert-base-uncased · 268 MB to fetch" in labels(app)
    assert "bge-small-en-v1.5 · search · 133 MB to fetch" in labels(app)
    app = choose(app, PRESET)
    assert "distilbert-base-uncased" in labels(app)
    runtime.st.cache_resource.clear()  # as after a new start: on this machine, not in memory
    runtime.service().load(BUNDLED_ID)
    assert "distilbert-base-uncased" in labels(framed())


def test_where_downloads_are_forbidden_the_picker_says_what_is_not_here(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with bundled_app(tmp_path_factory):
        app = type_in(framed(), TEXT)
        assert "distilbert-base-uncased · not on this machine" in labels(app)
        assert not any("to fetch" in label for label in labels(app))
        app = choose(app, PRESET)
        assert_goes_on(app)
        assert "CONTEXTLENS_ALLOW_DOWNLOADS=0" in said(app)


def test_where_the_models_are_limited_none_can_be_typed(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with bundled_app(tmp_path_factory, MODELS=f"{BUNDLED_ID},{PRESET}"):
        app = type_in(framed(), TEXT)
        box = field(app.selectbox, "model")
        assert not box.proto.accept_new_options
        assert len(labels(app)) == 2
        assert "organisation/name" not in box.proto.help


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def load_of(model: str) -> Job:
    """The last load of a model."""
    load = jobs().get(tasks.load_key(model))
    assert load is not None
    return load


def test_the_page_goes_on_with_its_model_until_the_other_is_there(
    server: HubServer, gate: threading.Event
) -> None:
    app = type_in(framed(replace(DEFAULT, layer=5)), TEXT)
    app = pick_model(app, PRESET)
    assert_goes_on(app)
    assert picked(app) == PRESET
    assert pending(app)
    app = type_in(app, "My python eats mice")
    assert_goes_on(app, text="My python eats mice")
    assert (shown_view(app).layer, pending(app)) == (5, True)
    gate.set()
    finish_background_work()
    app = app.run()
    assert_goes_on(app, PRESET, "My python eats mice")
    assert shown_view(app).layer is None
    assert not pending(app)
    assert picked(app) == PRESET


def test_what_is_fetched_and_how_far_it_is_stands_in_the_sidebar(
    server: HubServer, gate: threading.Event
) -> None:
    app = pick_model(framed(), PRESET)
    until(lambda: weights_asked(server) == 1)
    app = app.run()
    (bar,) = app.sidebar.get("progress")
    assert bar.proto.text.replace("\\", "").startswith(f"Fetching {PRESET}: 0.")
    assert " MB" in bar.proto.text
    assert 0 <= bar.proto.value < 100


def test_back_after_the_change_is_not_undone(server: HubServer) -> None:
    app = type_in(framed(), TEXT)
    before = app.query_params["s"]
    app = choose(app, PRESET)
    assert shown_view(app).model == PRESET
    app.query_params["s"] = before
    app = app.run()
    assert_goes_on(app)
    assert_goes_on(app.run())
    assert picked(app) == BUNDLED_ID


def test_cancel_is_immediate_and_stops_the_fetch(server: HubServer, gate: threading.Event) -> None:
    app = pick_model(type_in(framed(), TEXT), PRESET)
    until(lambda: weights_asked(server) == 1)
    load = load_of(PRESET)
    app = press(app, "wish_cancel")
    assert not load.done(), "the hub has not said a word since"
    assert_goes_on(app)
    assert not pending(app)
    assert picked(app) == BUNDLED_ID
    gate.set()
    until(load.done)
    assert load.was_stopped
    app = app.run()
    assert_goes_on(app)
    assert not app.error


def test_a_retry_works_while_the_cancelled_fetch_still_hangs(
    server: HubServer, served: Path, gate: threading.Event
) -> None:
    app = pick_model(type_in(framed(), TEXT), PRESET)
    load = load_of(PRESET)
    weights = (served / WEIGHTS).stat().st_size

    def only_weights_are_missing() -> bool:
        status = load.poll()
        return status.total_bytes is not None and status.done_bytes + weights == status.total_bytes

    until(only_weights_are_missing)
    app = press(app, "wish_cancel")
    app = pick_model(app, PRESET)
    assert pending(app)
    gate.set()
    finish_background_work()
    assert_goes_on(app.run(), PRESET)
    assert load_of(PRESET) is load


def test_of_two_quick_choices_the_second_counts(server: HubServer, gate: threading.Event) -> None:
    app = pick_model(type_in(framed(), TEXT), PRESET)
    until(lambda: weights_asked(server) == 1)
    first = load_of(PRESET)
    app = pick_model(app, SECOND)
    assert (picked(app), pending(app)) == (SECOND, True)
    gate.set()
    finish_background_work()
    assert_goes_on(app.run(), SECOND)
    assert first.was_stopped


@pytest.mark.parametrize("is_reset", [True, False])
def test_reset_or_the_model_in_use_takes_the_request_back(
    server: HubServer, gate: threading.Event, is_reset: bool
) -> None:
    app = pick_model(type_in(framed(), TEXT), PRESET)
    app = press(app, "reset") if is_reset else pick_model(app, BUNDLED_ID)
    assert not pending(app)
    gate.set()
    finish_background_work()
    assert_goes_on(app.run(), text=DEFAULT.sentences[0].text if is_reset else TEXT)


def test_who_went_elsewhere_keeps_the_model_found_there(
    server: HubServer, gate: threading.Event
) -> None:
    gate.set()
    runtime.service().load(SECOND)
    gate.clear()
    app = pick_model(type_in(framed(), TEXT), PRESET)
    app.query_params["s"] = encode(replace(shown_view(app), model=SECOND))
    app = app.run()
    assert not pending(app)
    gate.set()
    finish_background_work()
    assert_goes_on(app.run(), SECOND)


def test_two_visitors_share_one_download_and_one_cannot_stop_it_for_the_other(
    server: HubServer, gate: threading.Event
) -> None:
    jobs().lease_seconds = SECONDS  # a headless visitor does not look while another one acts
    first = pick_model(type_in(framed(), TEXT), PRESET)
    second = pick_model(type_in(framed(), TEXT), PRESET)
    until(lambda: weights_asked(server) == 1)
    first = press(first, "wish_cancel")
    gate.set()
    finish_background_work()
    assert_goes_on(second.run(), PRESET)
    assert_goes_on(first.run())
    assert weights_asked(server) == 1


def test_a_model_that_was_dropped_from_memory_before_the_change_is_loaded_again(
    served: Path, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        shutil.copytree(served, tmp_path / "models" / name)
    with (
        hub_server({}) as running,
        app_on(
            tmp_path_factory,
            running.endpoint,
            MODEL_MB="1",
            MODEL_FOLDERS=str(tmp_path / "models"),
        ),
    ):
        app = pick_model(type_in(framed(), TEXT), "folder:a")
        finish_background_work()
        runtime.service().load("folder:b")  # by another visitor; there is room for one
        assert not runtime.is_loaded("folder:a")
        app = app.run()
        assert_goes_on(app, "folder:a")
        assert sum(spec.loaded for spec in runtime.service().models()) == 1


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
    "500": (replies(error(500)), "answered with an error (500)"),
    "weights 500": (replies(error(500), only=WEIGHTS), "500"),
    "checksum": (changed(lambda r: replace(r, body=r.body[::-1])), "arrived damaged"),
    "disk full": (full_disk, "could not be stored"),
    "code": (config(model_type="own", auto_map={"AutoModel": "x.Y"}), "its own program code"),
    "encoder-decoder": (config(model_type="t5", is_encoder_decoder=True), "encoder-decoder"),
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
        assert len(str(raised.value)) < 500
        hub.faults = None
        hub.repositories[PRESET] = good
        assert service.load(PRESET).revision == hub.commit(PRESET)


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
    assert len(said(app)) < 500
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
def test_a_copy_that_was_damaged_on_this_machine_is_fetched_again(
    server: HubServer, hub_cache: Path
) -> None:
    app = choose(type_in(framed(), TEXT), PRESET)
    finish_background_work()  # what still reads the weights would end this process
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


def test_another_choice_replaces_a_failure(server: HubServer) -> None:
    server.faults = lambda request, reply: error(500) if request.repo == PRESET else reply
    app = choose(choose(type_in(framed(), TEXT), PRESET), SECOND)
    assert_goes_on(app, SECOND)
    assert not app.error


def test_an_error_that_nobody_foresaw_is_a_reference_to_the_log(
    server: HubServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a secret detail")

    monkeypatch.setattr("contextlens.core.encoder.loading._card", fail)
    app = choose(type_in(framed(), TEXT), PRESET)
    assert_goes_on(app)
    assert "reference" in said(app)
    assert "secret" not in said(app)
    assert any("a secret detail" in str(r.exc_info) for r in caplog.records if r.exc_info)
