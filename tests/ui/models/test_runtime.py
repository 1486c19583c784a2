"""What runs beside the pages: loads with their progress, and baselines kept on disk."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.testing.v1 import AppTest

from components.analysis import baseline as baselines
from components.analysis.baseline import Baseline
from components.content.sample import baseline_sentences
from components.core import BUNDLED_ID, EncoderService, ModelCard
from components.ui.frame.navigation import PAGES
from components.ui.models import runtime, tasks
from components.ui.models.background import jobs
from components.ui.state.address import encode, to_json
from components.ui.state.view import DEFAULT
from tests.support.fields import field
from tests.support.hub_server import HubServer, Reply, Request, hub_server
from tests.support.pages import (
    app_data,
    app_settings,
    arrived,
    assert_shows,
    choose,
    expected,
    finish_background_work,
    framed,
    lines,
    press,
    shown_view,
    type_in,
)
from tests.support.tiny_models import build

ROOT = Path(__file__).parents[3]
SECONDS = 300
PRESET = "distilbert/distilbert-base-uncased"  # an id that the picker offers; a tiny BERT behind it
OTHER = "org/tiny-bert"
TINY = "folder:bert"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of tiny models: two that take texts of all lengths, and one that takes 64 tokens."""
    folder = tmp_path_factory.mktemp("models")
    for family in ("bert", "electra"):
        build(family, folder / family, max_position_embeddings=512)
        config = folder / family / "tokenizer_config.json"
        settings = json.loads(config.read_text())
        config.write_text(json.dumps({**settings, "model_max_length": 512}))
    build("bert", folder / "short")
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def _app(models: Path, data: Path) -> Iterator[None]:
    """A fresh server with the tiny models and nothing measured."""
    with app_settings(DATA_DIR=str(data), MODEL_FOLDERS=str(models), ALLOW_DOWNLOADS="0"):
        yield


@pytest.fixture
def card(_app: None) -> ModelCard:
    return runtime.service().load(TINY)


def measured(card: ModelCard) -> Baseline:
    """The baseline, when it is there."""
    runtime.baseline(card)
    found = jobs().get(tasks.baseline_key(card))
    assert found is not None
    return found.result(SECONDS)


def restart() -> ModelCard:
    """What is in memory is gone, what is on disk stays, and the model is loaded again."""
    st.cache_resource.clear()
    return runtime.service().load(TINY)


def n_encoded() -> int:
    """How many texts the service of this process has encoded so far."""
    return runtime.service().cache_info().misses


def only_file(folder: Path) -> Path:
    (path,) = (folder / "baselines").iterdir()
    return path


def assert_equal(one: Baseline, other: Baseline) -> None:
    for part in fields(Baseline):
        np.testing.assert_array_equal(getattr(one, part.name), getattr(other, part.name))


# Baselines


def test_nobody_waits_while_a_baseline_is_measured(
    card: ModelCard, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    measure = tasks.measure

    def wait_and_measure(*given: Any) -> Baseline:
        assert go_on.wait(SECONDS)
        return measure(*given)

    monkeypatch.setattr(tasks, "measure", wait_and_measure)
    assert runtime.baseline(card) is None
    assert runtime.baseline(card) is None
    go_on.set()
    found = measured(card)
    assert runtime.baseline(card) is found


def test_many_visitors_have_one_baseline_measured(card: ModelCard) -> None:
    with ThreadPoolExecutor(8) as visitors:
        found = list(visitors.map(lambda _: measured(card), range(8)))
    assert all(each is found[0] for each in found)
    assert n_encoded() == len(baseline_sentences())


def test_a_baseline_is_kept_on_disk_and_read_back_without_measuring(
    card: ModelCard, data: Path
) -> None:
    before = measured(card)
    written = only_file(data).stat().st_mtime_ns
    card = restart()
    again = runtime.baseline(card)
    assert again is not None, "what is on disk is there at once"
    assert_equal(again, before)
    assert n_encoded() == 0
    assert only_file(data).stat().st_mtime_ns == written


@pytest.mark.slow
def test_each_model_has_a_baseline_of_its_own(card: ModelCard, data: Path) -> None:
    first = measured(card)
    second = measured(runtime.service().load("folder:electra"))
    assert len(list(data.rglob("*.npz"))) == 2
    assert not np.array_equal(first.plain, second.plain)


@pytest.mark.usefixtures("_app")
def test_a_model_too_short_for_some_sample_sentences_has_a_baseline_too() -> None:
    card = runtime.service().load("folder:short")
    assert card.max_length == 64
    assert measured(card).n_words > 500


def cut(good: bytes) -> bytes:
    return good[: len(good) // 2]


def cut_a_little(good: bytes) -> bytes:
    return good[:-10]


def change_a_byte(good: bytes) -> bytes:
    middle = len(good) // 2
    return good[:middle] + bytes([good[middle] ^ 0xFF]) + good[middle + 1 :]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "nonsense": lambda _: b"nonsense",
    "pickle": lambda _: b"\x80\x04K\x01.",
    "no zip": lambda _: b"PK\x03\x04nonsense",
    "half": cut,
    "end missing": cut_a_little,
    "one byte": change_a_byte,
}


def test_a_damaged_file_is_no_baseline(card: ModelCard, data: Path) -> None:
    measured(card)
    path = only_file(data)
    good = path.read_bytes()
    for name, damage in DAMAGES.items():
        path.write_bytes(damage(good))
        assert baselines.load(path) is None, name


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pickle", "half", "one byte"])
def test_a_damaged_file_is_measured_again_and_mended(
    card: ModelCard, data: Path, name: str
) -> None:
    before = measured(card)
    path = only_file(data)
    path.write_bytes(DAMAGES[name](path.read_bytes()))
    card = restart()
    runtime.baseline(card)
    assert_equal(measured(card), before)
    assert n_encoded() == len(baseline_sentences())
    mended = baselines.load(path)
    assert mended is not None
    assert_equal(mended, before)


def in_the_way(folder: Path) -> Path:
    (folder / "data").write_text("a file, not a folder")
    return folder / "data"


@pytest.mark.slow
@pytest.mark.parametrize(
    "place",
    [in_the_way, lambda folder: folder / ("x" * 300), lambda _: Path("/proc/contextlens")],
    ids=["a file in the way", "too long a name", "no folder can be made"],
)
def test_where_nothing_can_be_kept_there_is_a_baseline_all_the_same(
    models: Path,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    place: Callable[[Path], Path],
) -> None:
    with app_settings(DATA_DIR=str(place(tmp_path)), MODEL_FOLDERS=str(models)):
        card = runtime.service().load(TINY)
        assert measured(card).n_words > 500
        assert runtime.baseline(card) is not None
        assert any("could not be kept on disk" in r.getMessage() for r in caplog.records)
        app = framed(replace(DEFAULT, model=TINY))
        assert not app.exception
        assert not app.error


def test_a_baseline_that_cannot_be_measured_is_said_on_the_page_and_in_the_log(
    card: ModelCard, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: Any) -> NoReturn:
        raise RuntimeError("no measure today")

    monkeypatch.setattr(tasks, "measure", fail)
    with pytest.raises(RuntimeError, match="no measure today"):
        measured(card)
    assert runtime.baseline(card) is None
    assert runtime.baseline_failed(card)
    entry = next(r for r in caplog.records if r.levelno == logging.ERROR)
    assert TINY in entry.getMessage()
    app = framed(replace(DEFAULT, model=TINY))
    assert not app.exception
    assert any("could not be measured" in caption.value for caption in app.main.caption)
    assert "no measure today" not in str(app)


# Loading


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of some megabytes, so that fetching it has steps."""
    folder = tmp_path_factory.mktemp("served") / "model"
    return build("bert", folder, hidden_size=160, intermediate_size=640)


@pytest.fixture
def server(
    served: Path,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[HubServer]:
    """The app on an empty hub cache, and a hub that has one tiny model under two names."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    with (
        hub_server({PRESET: served, OTHER: served}) as running,
        app_settings(DATA_DIR=str(app_data(tmp_path_factory)), HUB_ENDPOINT=running.endpoint),
    ):
        yield running


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, str]]:
    """Every state of a progress bar that a page sends to the browser."""
    sent: list[tuple[float, str]] = []
    progress = DeltaGenerator.progress

    def note(place: DeltaGenerator, value: float, text: str) -> Any:
        sent.append((value, text))
        return progress(place, value, text=text)

    monkeypatch.setattr(DeltaGenerator, "progress", note)
    return sent


def sidebar_text(app: AppTest) -> str:
    kinds = (app.sidebar.caption, app.sidebar.markdown)
    return "\n".join(element.value.replace("\\", "") for kind in kinds for element in kind)


def opened_on(model: str) -> AppTest:
    """The page on a model, as it is right after a click on the button that gets it."""
    app = AppTest.from_file(str(ROOT / "main.py"), default_timeout=SECONDS)
    app.query_params["s"] = encode(replace(DEFAULT, model=model))
    app = app.switch_page("pages/meaning.py").run()
    return app.button(key="get_model").click().run()


def asked_for(model: str) -> AppTest:
    """The page on a model that was got by a click, when it is there or has failed."""
    return press(framed(replace(DEFAULT, model=model)), "get_model")


@pytest.mark.parametrize("model", [PRESET, OTHER])
def test_a_model_from_the_hub_shows_its_size_and_revision(server: HubServer, model: str) -> None:
    app = asked_for(model)
    assert not app.exception
    assert not app.error
    card = runtime.service().load(model)
    assert card.revision == server.commit(model)
    assert card.revision in sidebar_text(app)
    assert "3 layers · 160 dims · 4 heads" in sidebar_text(app)


@pytest.mark.slow
def test_fetching_a_model_shows_how_far_it_is(
    server: HubServer, bars: list[tuple[float, str]]
) -> None:
    seen_enough = threading.Event()

    def slowly(request: Request, reply: Reply) -> Reply:
        slow = replace(reply, bytes_per_second=200_000, hurry=seen_enough)
        return slow if request.kind == "file" else reply

    server.faults = slowly
    app = opened_on(PRESET)
    while app.get("progress"):
        if len({value for value, _ in bars}) > 4 and bars[-1][1].endswith(" left"):
            seen_enough.set()
        app = app.run()
    app = arrived(app)
    assert not app.error
    assert_progress(bars, PRESET)
    assert not app.get("progress"), "the bar leaves with the wait"
    bars.clear()
    app.run()
    assert not bars


def assert_progress(bars: list[tuple[float, str]], model: str) -> None:
    bars = [bar for bar in bars if bar[1].startswith("Fetching")]
    values = [value for value, _ in bars]
    assert len(set(values)) > 2
    assert values == sorted(values)
    assert 0 <= values[0] <= values[-1] <= 1
    plain = [text.replace("\\", "") for _, text in bars]
    assert all(text.startswith(f"Fetching {model}: ") and " MB" in text for text in plain)
    assert any(text.endswith(" left") for text in plain)


@pytest.mark.slow
def test_a_model_chosen_in_the_picker_gives_the_page_its_numbers(
    server: HubServer, served: Path, open_with: Callable[..., EncoderService]
) -> None:
    app = type_in(framed(), "My python is a good pet")
    app = choose(app, PRESET)
    assert not app.error
    view = replace(
        DEFAULT,
        sentences=(
            replace(DEFAULT.sentences[0], text="My python is a good pet", word=(3, 9)),
            DEFAULT.sentences[1],
        ),
    )
    on_disk = open_with(model_folder=served.parent)
    assert_shows(app, expected(on_disk, replace(view, model="folder:model")))
    assert app.query_params["s"] == encode(replace(view, model=PRESET))


@pytest.mark.slow
@pytest.mark.parametrize("model", [PRESET, OTHER])
def test_a_fetched_model_is_used_again_without_a_request(server: HubServer, model: str) -> None:
    app = asked_for(model)
    n_requests = len(server.requests)
    assert n_requests > 0
    app = app.run()
    assert not app.error
    st.cache_resource.clear()
    again = framed(replace(DEFAULT, model=model))
    assert not again.error
    assert len(server.requests) == n_requests


@pytest.mark.parametrize("model", [PRESET, OTHER])
def test_a_loaded_model_costs_a_rerun_nothing(server: HubServer, model: str) -> None:
    app = asked_for(model)
    assert runtime.is_loaded(model)
    before = jobs().get(tasks.load_key(model))
    assert before is not None
    app.run()
    assert jobs().get(tasks.load_key(model)) is before


@pytest.mark.slow
def test_several_visitors_wait_for_one_fetch(server: HubServer) -> None:
    jobs().lease_seconds = SECONDS  # a headless visitor does not look while another one acts
    go_on = threading.Event()

    def wait(request: Request, reply: Reply) -> Reply:
        if request.method == "GET" and request.file == "model.safetensors":
            go_on.wait(SECONDS)
        return reply

    server.faults = wait
    try:
        visitors = [opened_on(PRESET) for _ in range(4)]
        assert not runtime.is_loaded(PRESET)
    finally:
        go_on.set()
    for app in visitors:
        assert server.commit(PRESET) in sidebar_text(arrived(app))
    asked = [r for r in server.requests if r.method == "GET" and r.file == "model.safetensors"]
    assert len(asked) == 1


@pytest.mark.slow
def test_a_visitor_who_leaves_does_not_stop_the_fetch(server: HubServer) -> None:
    app = framed()
    app.query_params["s"] = encode(replace(DEFAULT, model=PRESET))
    go_on = threading.Event()

    def wait(request: Request, reply: Reply) -> Reply:
        if request.method == "GET" and request.file == "model.safetensors":
            go_on.wait(SECONDS)
        return reply

    server.faults = wait
    app.run().button(key="get_model").click().run()
    assert not runtime.is_loaded(PRESET)
    jobs().lease_seconds = 0  # nobody looks any more
    go_on.set()
    finish_background_work()
    assert runtime.service().load(PRESET).revision == server.commit(PRESET)
    assert runtime.is_loaded(PRESET)


@pytest.mark.slow
def test_a_page_can_be_left_at_once_while_the_hub_does_not_answer(server: HubServer) -> None:
    app = framed()
    go_on = threading.Event()

    def wait(_: Request, reply: Reply) -> Reply:
        go_on.wait(SECONDS)
        return reply

    server.faults = wait
    app.query_params["s"] = encode(replace(DEFAULT, model=PRESET))
    try:
        app.run().button(key="get_model").click().run()
        assert "Looking for the model…" in [caption.value for caption in app.main.caption]
        app = app.button(key="page_load_cancel").click().run()
        assert shown_view(app).model == BUNDLED_ID
        assert lines(app)
        assert not app.error
        assert not app.exception
    finally:
        go_on.set()


def test_a_model_that_the_hub_does_not_have_is_one_sentence(server: HubServer) -> None:
    app = asked_for("org/no-such-model")
    assert not app.exception
    assert len(app.error) == 1
    app = choose(app, BUNDLED_ID)
    assert not app.error


def test_a_fetch_that_failed_is_tried_again_when_asked(server: HubServer) -> None:
    server.faults = lambda _, reply: replace(reply, status=500, body=b"")
    app = asked_for(PRESET)
    assert len(app.error) == 1
    assert "could not be fetched" in app.error[0].value
    server.faults = None
    app = press(app, "try_again")
    assert not app.error
    assert not app.exception
    assert not any(button.key == "try_again" for button in app.button)


# What an address may do by itself


def buttons(app: AppTest) -> dict[str, str]:
    """What the offer's buttons say, by their keys; empty where nothing is offered."""
    own = {"get_model", "go_on_without"}
    return {b.key: b.label.replace("\\", "") for b in app.main.button if b.key in own}


def assert_offered(app: AppTest, model: str, label: str) -> None:
    """The model is offered, its files were not asked for, and the rest of the page is there."""
    assert not app.exception
    assert not app.error
    assert buttons(app) == {"get_model": label, "go_on_without": "Go on with all-MiniLM-L6-v2"}
    said = "".join(each.value.replace("\\", "") for each in app.main.markdown)
    assert f"asks for **{model}**, which is not on the machine" in said
    assert field(app.text_input, "page_sentences_0").value == shown_view(app).sentences[0].text
    assert jobs().get(tasks.load_key(model)) is None


@pytest.mark.parametrize("page", [page.name for page in PAGES])
def test_an_address_alone_fetches_nothing(server: HubServer, page: str) -> None:
    app = framed(replace(DEFAULT, model=PRESET), page)
    for _ in range(2):
        assert not app.exception
        if page != "corpora":  # what is kept is looked at without a model
            assert buttons(app)["get_model"] == "Get distilbert-base-uncased (268 MB)"
        app = app.run()
    assert not server.requests


@pytest.mark.parametrize(
    ("model", "label"),
    [
        (PRESET, "Get distilbert-base-uncased (268 MB)"),
        (OTHER, f"Get {OTHER}"),
        ("org/" + "n" * 90, f"Get org/{'n' * 55}…"),
    ],
    ids=["preset", "typed", "long"],
)
def test_only_the_click_fetches_and_what_was_typed_meanwhile_is_kept(
    server: HubServer, model: str, label: str
) -> None:
    app = framed(replace(DEFAULT, model=model))
    assert_offered(app, model, label)
    app = type_in(app, "My python is a good pet")
    assert_offered(app, model, label)
    assert not server.requests
    app = press(app, "get_model")
    assert server.requests
    assert shown_view(app).sentences[0].text == "My python is a good pet"
    if model in server.repositories:
        assert not app.error
        assert len(lines(app)) == 5
        assert not buttons(app)


def test_there_is_a_way_back_to_the_first_model(server: HubServer) -> None:
    app = type_in(framed(replace(DEFAULT, model=PRESET)), "My python is a good pet")
    app = press(app, "go_on_without")
    assert not app.exception
    assert (shown_view(app).model, len(lines(app))) == (BUNDLED_ID, 5)
    assert shown_view(app).sentences[0].text == "My python is a good pet"
    assert not server.requests


def test_back_forward_and_a_state_file_fetch_nothing(server: HubServer) -> None:
    view = replace(DEFAULT, model=PRESET)
    app = framed()
    for model in (PRESET, BUNDLED_ID, PRESET):  # the browser changes the address by itself
        app.query_params["s"] = encode(replace(DEFAULT, layer=1, model=model))
        app = arrived(app.run())
    assert_offered(app, PRESET, "Get distilbert-base-uncased (268 MB)")
    file = ("view.json", to_json(view).encode(), "application/json")
    app = framed().file_uploader(key="open_view").set_value(file).run()
    assert shown_view(app) == view
    assert_offered(app, PRESET, "Get distilbert-base-uncased (268 MB)")
    assert not server.requests


@pytest.mark.slow
def test_who_cancelled_or_went_elsewhere_is_asked_again(server: HubServer) -> None:
    gate = threading.Event()

    def wait(_: Request, reply: Reply) -> Reply:
        gate.wait(SECONDS)
        return reply

    server.faults = wait
    try:
        app = opened_on(PRESET)
        app = app.button(key="page_load_cancel").click().run()
        assert shown_view(app).model == BUNDLED_ID
        app.query_params["s"] = encode(replace(DEFAULT, model=PRESET))
        assert buttons(app.run())
    finally:
        gate.set()
    finish_background_work()


def test_a_fetch_that_failed_is_not_begun_again_by_coming_back(server: HubServer) -> None:
    server.faults = lambda _, reply: replace(reply, status=500, body=b"")
    app = asked_for(PRESET)
    assert len(app.error) == 1
    app.query_params["s"] = ""
    app = app.run()
    app.query_params["s"] = encode(replace(DEFAULT, model=PRESET))
    n_requests = len(server.requests)
    assert buttons(arrived(app.run()))
    assert len(server.requests) == n_requests


@pytest.mark.slow
def test_another_visitors_fetch_is_not_joined_without_a_click(server: HubServer) -> None:
    gate = threading.Event()

    def wait(_: Request, reply: Reply) -> Reply:
        gate.wait(SECONDS)
        return reply

    server.faults = wait
    try:
        opened_on(PRESET)
        assert buttons(framed(replace(DEFAULT, model=PRESET)))
    finally:
        gate.set()
    finish_background_work()
    assert not buttons(framed(replace(DEFAULT, model=PRESET)))


@pytest.mark.slow
def test_what_is_on_this_machine_needs_no_click(server: HubServer, models: Path) -> None:
    asked_for(OTHER)
    n_requests = len(server.requests)
    st.cache_resource.clear()  # as after a new start: on disk, not in memory
    app = framed(replace(DEFAULT, model=OTHER))
    assert not buttons(app)
    assert not app.error
    assert runtime.is_loaded(OTHER)
    assert len(server.requests) == n_requests
    with app_settings(MODEL_FOLDERS=str(models), HUB_ENDPOINT=server.endpoint):
        app = framed(replace(DEFAULT, model=TINY))
        assert not buttons(app)
        assert runtime.is_loaded(TINY)


@pytest.mark.slow
def test_the_operators_own_first_model_needs_no_click(
    served: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    with (
        hub_server({OTHER: served, PRESET: served}) as running,
        app_settings(
            DATA_DIR=str(tmp_path), HUB_ENDPOINT=running.endpoint, MODELS=f"{OTHER},{PRESET}"
        ),
    ):
        app = framed()
        assert not buttons(app)
        assert runtime.is_loaded(OTHER)
        app = framed(replace(DEFAULT, model=PRESET))
        assert buttons(app)["go_on_without"] == "Go on with tiny-bert"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "section", "key", "label"),
    [
        ("layers", "Layers compared", "get_second_model", "Get distilbert-base-uncased (268 MB)"),
        ("tokens", "Two tokenizers", "get_tokenizer", "Get the tokenizer of distilbert-base-"),
    ],
)
def test_a_second_model_or_tokenizer_named_in_a_view_is_fetched_by_a_click_alone(
    server: HubServer, page: str, section: str, key: str, label: str
) -> None:
    own = {"section": section, "other": PRESET}
    app = framed(replace(DEFAULT, controls={page: own}), page)
    assert not app.exception
    assert app.button(key=key).label.replace("\\", "").startswith(label)
    assert not server.requests
    app = press(app, key)
    assert server.requests
    assert not app.error


@pytest.mark.slow
def test_another_visitors_second_model_is_not_joined_without_a_click(server: HubServer) -> None:
    gate = threading.Event()

    def wait(_: Request, reply: Reply) -> Reply:
        gate.wait(SECONDS)
        return reply

    view = replace(DEFAULT, controls={"layers": {"section": "Layers compared", "other": PRESET}})
    server.faults = wait
    try:
        app = framed(view, "layers").button(key="get_second_model").click().run()
        assert any(button.key == "get_second_model_cancel" for button in app.button)
        other = framed(view, "layers")
        assert other.button(key="get_second_model").label.startswith("Get distilbert")
    finally:
        gate.set()
    finish_background_work()


def test_the_picker_is_a_click_too_where_a_view_asks_for_what_is_not_here(
    server: HubServer,
) -> None:
    app = framed(replace(DEFAULT, model=OTHER))
    assert buttons(app)
    assert not server.requests
    app = choose(app, PRESET)
    assert not app.error
    assert (shown_view(app).model, len(lines(app))) == (PRESET, 5)
    assert {request.repo for request in server.requests} == {PRESET}


# Whose models are whose


def offered(app: AppTest) -> list[str]:
    """What the picker offers."""
    return list(field(app.selectbox, "model").proto.options)


@pytest.mark.slow
def test_what_one_visitor_typed_is_not_listed_to_others(server: HubServer) -> None:
    mine = asked_for(OTHER)
    assert runtime.is_loaded(OTHER)
    assert "tiny-bert" in offered(mine.run())
    mine = choose(mine, BUNDLED_ID)
    assert "tiny-bert" in offered(mine), "it stays with who opened it"
    listed = [spec.id for spec in runtime.service().models()]
    assert OTHER not in listed
    other = framed()
    assert not [label for label in offered(other) if "tiny" in label]
    both = {"section": "Layers compared"}
    compared = framed(replace(DEFAULT, controls={"layers": both}), "layers")
    assert "tiny-bert" not in field(compared.selectbox, "layers_other").proto.options
    taken_apart = framed(DEFAULT, "anatomy")
    assert not [o for o in taken_apart.main.selectbox[0].proto.options if "tiny" in o]


@pytest.mark.slow
def test_ones_own_model_can_stand_beside_another(server: HubServer) -> None:
    app = choose(asked_for(OTHER), BUNDLED_ID).switch_page("pages/layers.py")
    app.query_params["s"] = encode(
        replace(DEFAULT, controls={"layers": {"section": "Layers compared", "other": OTHER}})
    )
    app = arrived(app.run())
    assert not app.exception
    assert field(app.selectbox, "layers_other").value == OTHER
    app = arrived(app.switch_page("pages/anatomy.py").run())
    assert "tiny-bert (loaded)" in app.main.selectbox[0].proto.options
