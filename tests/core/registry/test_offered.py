"""A server that others can reach loads only its offered models, and those an admin admits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from contextlens.core import BUNDLED_ID, registry
from contextlens.core.errors import ContextlensError, UnknownModelError
from contextlens.core.registry import PRESETS, check_model, is_open
from contextlens.core.service import LocalService
from contextlens.core.settings import Settings
from tests.support.hub_server import HubServer, hub_server
from tests.support.tiny_models import build

TYPED = "org/typed-by-somebody"
NOT_OFFERED = "is not offered here.*CONTEXTLENS_MODELS"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    """A hub with the typed model, and an empty cache."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    with hub_server({TYPED: build("bert", tmp_path / "model")}) as running:
        yield running


@pytest.fixture
def admitted(monkeypatch: pytest.MonkeyPatch) -> None:
    """No model is admitted yet, nor stays admitted after the test."""
    monkeypatch.setattr(registry, "_admitted", set())


def test_an_id_that_is_not_offered_is_refused_before_the_hub_is_asked(hub: HubServer) -> None:
    service = LocalService(Settings(hub_endpoint=hub.endpoint), offered_only=True)
    for ask in (
        service.load,
        service.load_tokenizer,
        service.architecture,
        service.parameters,
        lambda model: service.encode(model, ["a"]),
    ):
        with pytest.raises(UnknownModelError, match=NOT_OFFERED):
            ask(TYPED)
    assert not hub.requests


def test_what_an_admin_let_in_is_loaded(hub: HubServer, admitted: None) -> None:
    settings = Settings(hub_endpoint=hub.endpoint)
    registry.allow_model(TYPED)
    assert LocalService(settings, offered_only=True).load(TYPED).id == TYPED
    with pytest.raises(ContextlensError):
        LocalService(settings, offered_only=True).load("org/another")


def test_on_ones_own_machine_any_id_can_be_loaded(hub: HubServer) -> None:
    assert LocalService(Settings(hub_endpoint=hub.endpoint)).load(TYPED).id == TYPED


def test_all_that_is_offered_passes(folders: Path) -> None:
    settings = Settings(model_folder=folders)
    for model in (BUNDLED_ID, PRESETS[0].id, "folder:one"):
        check_model(model, settings, offered_only=True)
    check_model(TYPED, Settings(models=(TYPED,)), offered_only=True)
    with pytest.raises(UnknownModelError, match="not among those allowed here"):
        check_model(BUNDLED_ID, Settings(models=(TYPED,)), offered_only=True)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        *((own, False) for own in ("localhost", "127.0.0.1", "127.9.9.9", "::1", "[::1]")),
        *((any_, True) for any_ in ("0.0.0.0", "::", "192.168.0.3", "lens.example", "", None)),
    ],
)
def test_a_server_is_open_where_it_listens_on_another_address(
    address: str | None, expected: bool
) -> None:
    assert is_open(address) is expected
