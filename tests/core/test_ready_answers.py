"""Answers kept on disk: the computed ones, of texts that ship alone, for these files alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contextlens.core import BUNDLED_ID, Settings, ready_answers
from contextlens.core.encoder.loading import LoadedModel
from contextlens.core.errors import ModelError
from contextlens.core.model_store import ModelStore
from contextlens.core.ready_answers import ReadyService
from contextlens.core.schema import Block, Tokens
from contextlens.core.service import LocalService
from tests.support import tiny_models

READY = ["I love my pet python", "programming"]
OWN = "My own secret sentence"
FRAGMENTS = ["my pet", "a", " ", "I love my pet python\nprogramming", "python"]
"""What a visitor types, in parts of the ready texts."""
TINY = "folder:tiny"


def service_of(
    data: Path, models: Path | None = None, texts: Sequence[str] = READY
) -> ReadyService:
    """The service of a server that starts."""
    first = (TINY,) if models else ()
    service = ReadyService(Settings(data_dir=data, model_folder=models, models=first), texts)
    service.is_starting = True
    return service


def loaded(service: ReadyService, model: str = BUNDLED_ID) -> ReadyService:
    service.load(model, progress=lambda _: None)
    return service


def asked(service: LocalService, model: str = BUNDLED_ID) -> list[Any]:
    """What a first page asks."""
    encodings = service.encode(model, READY, attentions=True)
    ids = encodings[0].token_ids
    return [
        service.load(model),
        encodings,
        service.tokenize(model, [" python"]),
        service.intervene(model, READY[:1], [[Block(token=2)]]),
        service.word_rows(model, ids),
        service.vocabulary(model).pieces,
    ]


def assert_same(one: Any, other: Any) -> None:
    """Equal to the last bit."""
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    elif isinstance(one, list):
        for a, b in zip(one, other, strict=True):
            assert_same(a, b)
    elif isinstance(one, Tokens):
        for field in fields(one):
            assert_same(getattr(one, field.name), getattr(other, field.name))
    else:
        assert one == other


def files_in(data: Path) -> set[Path]:
    return {path for path in (data / "answers").rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the answers of an earlier start."""
    data = tmp_path_factory.mktemp("data")
    asked(loaded(service_of(data)))
    return data


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A folder of models with one, whose answers are kept in `data` beside it."""
    tiny_models.build("bert", tmp_path / "models" / "tiny")
    asked(loaded(service_of(tmp_path / "data", tmp_path / "models"), TINY), TINY)
    return tmp_path


def is_quick(folder: Path) -> bool:
    """True if the tiny model's answers on disk are believed."""
    return service_of(folder / "data", folder / "models").spec(TINY).loaded


def test_kept_answers_are_the_computed_ones_and_need_no_model(kept: Path) -> None:
    service = service_of(kept)
    assert service.spec(BUNDLED_ID).loaded
    assert service.models()[0].loaded
    answers = asked(service)
    assert service.model_sizes() == {}
    assert_same(asked(LocalService(Settings(data_dir=kept))), answers)


def test_what_is_not_kept_waits_for_the_model_and_says_so_before(kept: Path) -> None:
    def leave() -> None:
        raise TimeoutError

    service = service_of(kept)
    service.before_waiting = leave
    asked(service)  # nothing waits
    with pytest.raises(TimeoutError):
        service.encode(BUNDLED_ID, [OWN])
    service.before_waiting = lambda: None
    (own,) = service.encode(BUNDLED_ID, [OWN])
    assert own.text == OWN
    assert BUNDLED_ID in service.model_sizes()


def test_nothing_of_a_visitor_is_kept(tmp_path: Path) -> None:
    service = loaded(service_of(tmp_path))
    asked(service)
    before = files_in(tmp_path)
    (own,) = service.encode(BUNDLED_ID, [OWN])
    (mixed,) = service.encode(BUNDLED_ID, ["python my I"])
    service.word_rows(BUNDLED_ID, mixed.token_ids)
    service.word_rows(BUNDLED_ID, mixed.token_ids[1:-1])
    service.encode(BUNDLED_ID, FRAGMENTS)
    service.tokenize(BUNDLED_ID, [*FRAGMENTS[:1], *READY])
    service.encode(BUNDLED_ID, READY[:1], pairs=[OWN])
    service.tokenize(BUNDLED_ID, [OWN])
    service.normalize(BUNDLED_ID, [OWN])
    service.word_rows(BUNDLED_ID, own.token_ids)
    service.intervene(BUNDLED_ID, READY[:1], [[]], baseline=[OWN])
    assert files_in(tmp_path) == before


def test_a_card_is_written_once(tiny: Path) -> None:
    def written() -> list[int]:
        return [path.stat().st_ino for path in files_in(tiny / "data")]

    service = loaded(service_of(tiny / "data", tiny / "models"), TINY)
    before = written()
    service.load(TINY)
    assert written() == before
    (card,) = (path for path in files_in(tiny / "data") if path.name == "card")
    whole = card.read_bytes()
    card.write_bytes(whole[:-3])
    loaded(service_of(tiny / "data", tiny / "models"), TINY)
    assert card.read_bytes() == whole


def changed_weights(folder: Path, _: pytest.MonkeyPatch) -> None:
    tiny_models.build("bert", folder / "models" / "tiny", seed=1)


def changed_tokenizer(folder: Path, _: pytest.MonkeyPatch) -> None:
    path = folder / "models" / "tiny" / "tokenizer_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "model_max_length": 17}))


def another_version(_: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ready_answers, "version", lambda name: f"{name} of tomorrow")


def another_machine(_: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ready_answers, "processor", lambda: "another")


def a_new_card(_: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ready_answers, "_DRIVERS", (*ready_answers._DRIVERS[1:], __file__))


def another_card(_: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setenv("CUDA_VISIBLE_DEVICES", "7")


@pytest.mark.parametrize(
    "change",
    [
        changed_weights,
        changed_tokenizer,
        another_version,
        another_machine,
        a_new_card,
        another_card,
    ],
)
def test_answers_of_other_files_versions_and_machines_are_not_believed(
    tiny: Path, monkeypatch: pytest.MonkeyPatch, change: Any
) -> None:
    assert is_quick(tiny)
    change(tiny, monkeypatch)
    assert not is_quick(tiny)
    asked(loaded(service_of(tiny / "data", tiny / "models"), TINY), TINY)
    assert is_quick(tiny)


def test_what_a_graphics_card_computes_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def on_a_card(*given: Any) -> LoadedModel:
        one = ModelStore.model(service._store, *given)
        return replace(one, card=replace(one.card, device="cuda:0"))

    tiny_models.build("bert", tmp_path / "models" / "tiny")
    service = service_of(tmp_path / "data", tmp_path / "models")
    monkeypatch.setattr(service._store, "model", on_a_card)
    asked(loaded(service, TINY), TINY)
    assert files_in(tmp_path / "data") == set()


def test_a_damaged_answer_is_computed_and_written_again(tiny: Path) -> None:
    whole = {path: path.read_bytes() for path in files_in(tiny / "data")}
    for i, (path, body) in enumerate(sorted(whole.items())):
        if path.name != "card":  # one bit near the end, which is a number; or a part is missing
            flipped = bytes([*body[:-3], body[-3] ^ 1, *body[-2:]])
            path.write_bytes((flipped, body[:-3], b"")[i % 3])
    service = service_of(tiny / "data", tiny / "models")
    plain = LocalService(Settings(data_dir=tiny / "data", model_folder=tiny / "models"))
    assert_same(asked(plain, TINY), asked(service, TINY))
    asked(loaded(service, TINY), TINY)
    assert {path: path.read_bytes() for path in files_in(tiny / "data")} == whole


def test_an_answer_that_each_run_of_a_page_asks_for_is_read_from_disk_once(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = loaded(service_of(tiny / "data", tiny / "models"), TINY)
    asked(service, TINY)
    read: list[Path] = []
    monkeypatch.setattr(ready_answers, "_read", lambda _, path: read.append(path))
    asked(service, TINY)
    assert read == []


def test_the_model_may_come_while_a_page_reads(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service, read = service_of(tiny / "data", tiny / "models"), ready_answers._read
    paths: list[Path] = []

    def read_and_load(method: str, path: Path) -> Any:
        paths.append(path)
        if len(paths) == 3:  # the card, the first text, the second
            loaded(service, TINY)
        return read(method, path)

    monkeypatch.setattr(ready_answers, "_read", read_and_load)
    assert [own.text for own in service.encode(TINY, READY, attentions=True)] == READY
    assert not service.is_starting


def test_threads_that_write_at_once_lose_no_answer(tiny: Path) -> None:
    texts = [f"The {i}th ready text" for i in range(200)]
    service = service_of(tiny / "new", tiny / "models", texts)
    loaded(service, TINY)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda text: service.encode(TINY, [text]), texts))
    assert len(files_in(tiny / "new")) == 1 + len(texts)  # with the card


def test_a_model_that_cannot_be_loaded_is_not_said_to_be(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ModelError("There is no memory.")

    service = service_of(tiny / "data", tiny / "models")
    monkeypatch.setattr(service._store, "model", fail)
    assert service.spec(TINY).loaded
    with pytest.raises(ModelError):
        loaded(service, TINY)
    assert not service.spec(TINY).loaded
    with pytest.raises(ModelError):
        service.load(TINY)


def test_the_folder_is_bounded(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = loaded(service_of(tiny / "data", tiny / "models"), TINY)
    held = sum(path.stat().st_size for path in files_in(tiny / "data"))
    monkeypatch.setattr(ready_answers, "_MAX_BYTES", held + 1)
    service.encode(TINY, READY, layers=[1])
    assert sum(path.stat().st_size for path in files_in(tiny / "data")) <= held + 1
