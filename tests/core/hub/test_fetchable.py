"""What can be fetched at all: usable files, where downloads are allowed, under a good id."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.core.errors import CheckpointError, FetchError, UnknownModelError
from components.core.hub import cached, fetch
from tests.core.hub.fetches import ID, WEIGHTS, get
from tests.support.hub_server import HubServer, hub_server
from tests.support.tiny_models import build


@pytest.mark.parametrize(
    ("removed", "words"),
    [
        ([WEIGHTS], "only pickled weights \\(pytorch_model.bin\\)"),
        ([WEIGHTS, "pytorch_model.bin"], "no weights in safetensors"),
        (["config.json"], "no config.json"),
        (["tokenizer.json"], "no tokenizer"),
    ],
)
def test_what_cannot_be_used_is_refused_before_any_file_is_fetched(
    repository: Path, cache: Path, removed: list[str], words: str
) -> None:
    for name in removed:
        (repository / name).unlink()
    with hub_server({ID: repository}) as server:
        with pytest.raises(CheckpointError, match=words):
            get(server, cache)
        assert [request.kind for request in server.requests] == ["info"]


def test_an_index_that_names_a_missing_shard_is_refused(tmp_path: Path, cache: Path) -> None:
    repository = build("bert-sharded", tmp_path / "sharded")
    shard = max(repository.glob("model-*-of-*.safetensors"))
    shard.unlink()
    with (
        hub_server({ID: repository}) as server,
        pytest.raises(CheckpointError, match=f"lacks a weight file.*{shard.name}"),
    ):
        get(server, cache)
    assert cached(ID, cache_dir=cache) is None


def test_downloads_that_are_forbidden_ask_nothing(server: HubServer, cache: Path) -> None:
    with pytest.raises(FetchError, match="CONTEXTLENS_ALLOW_DOWNLOADS=0 forbids"):
        fetch(ID, endpoint=server.endpoint, allow_downloads=False, cache_dir=cache)
    assert not server.requests
    assert not cache.exists()


def test_huggingface_hubs_own_offline_mode_is_named(
    server: HubServer, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(FetchError, match="HF_HUB_OFFLINE forbids"):
        get(server, cache)
    assert not server.requests


BAD_IDS = [
    "",
    " ",
    ".",
    "..",
    "../..",
    "org/..",
    "/etc/passwd",
    "org/name/more",
    "org/",
    "/name",
    "C:\\models",
    "https://hub.example/org/name",
    "org/name?revision=main",
    "org/na me",
    "-name",
    ".name",
    "name.",
    "a..b",
    "a--b/c",
    "org/name.git",
    "naïve",
    "org/name\n",
    "org/na\x00me",
    "\ud800",
    "\u202eorg/name",
    "a" * 97,
    "a" * 10_000,
]


@pytest.mark.parametrize("model_id", BAD_IDS, ids=range(len(BAD_IDS)))
def test_bad_ids_stop_at_the_door(server: HubServer, cache: Path, model_id: str) -> None:
    with pytest.raises(UnknownModelError, match=r"organisation/name") as caught:
        fetch(model_id, endpoint=server.endpoint, allow_downloads=True, cache_dir=cache)
    assert len(str(caught.value)) < 500
    assert str(caught.value).isprintable()
    with pytest.raises(UnknownModelError):
        cached(model_id, cache_dir=cache)
    assert not server.requests
    assert not cache.exists()


@pytest.mark.parametrize(
    "model_id",
    ["bert-base-cased", "google-bert/bert-base-uncased", "a", "0/_", "a_b/c.d-e", "a" * 96],
)
def test_good_ids_pass(model_id: str, cache: Path) -> None:
    from huggingface_hub.utils import validate_repo_id

    validate_repo_id(model_id)  # the oracle
    assert cached(model_id, cache_dir=cache) is None
