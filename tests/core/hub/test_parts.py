"""What is fetched first, and what is fetched alone: the config before weights, tokenizers."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from components.core import registry
from components.core.errors import (
    CheckpointError,
    FetchError,
    ModelError,
    UnknownModelError,
    UnsupportedModelError,
)
from components.core.hub import Fetched, cached, fetch
from components.core.schema import ProgressEvent
from components.core.service import open_service
from components.core.settings import Settings
from tests.support.hub_server import HubServer, Reply, Request, hub_server
from tests.support.tiny_models import build

ID = "org/tiny-bert"
WEIGHTS = "model.safetensors"
TOKENIZER = {"config.json", "tokenizer.json", "tokenizer_config.json"}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = build("bert", tmp_path_factory.mktemp("tiny"))
    (folder / "vocab.txt").write_text("[PAD]")
    (folder / "pytorch_model.bin").write_bytes(b"a pickle, never to be fetched")
    return folder


@pytest.fixture
def repository(tiny: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny, tmp_path / "repository"))


@pytest.fixture
def server(repository: Path) -> Iterator[HubServer]:
    """The tests change the folder's files before the first request reads them."""
    with hub_server({ID: repository}) as running:
        yield running


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def get(server: HubServer, **more: Any) -> Fetched:
    return fetch(ID, endpoint=server.endpoint, allow_downloads=True, **more)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def asked(server: HubServer) -> list[str]:
    return [r.file for r in server.requests if r.method == "GET" and r.file]


# The config comes first

REFUSED = {
    "a decoder": ({"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"]}, "a decoder"),
    "encoder-decoder": ({"model_type": "t5", "is_encoder_decoder": True}, "encoder-decoder"),
    "code": ({"model_type": "own", "auto_map": {"AutoModel": "own.Model"}}, "its own program code"),
    "bert as decoder": ({"model_type": "bert", "is_decoder": True}, "is_decoder"),
    "relative": ({"model_type": "bert", "position_embedding_type": "x"}, "positions"),
    "vision": ({"model_type": "vit"}, "not supported"),
    "odd": ({"model_type": ["x"] * 1000, "architectures": 5}, "not supported"),
    "absurd": ({"model_type": "bert", "hidden_size": 10**9}, "hidden_size"),
    "not an object": ([], "not a JSON object"),
}


@pytest.mark.parametrize(("config", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_what_the_config_rules_out_costs_one_small_file(
    server: HubServer, repository: Path, config: Any, words: str
) -> None:
    (repository / "config.json").write_text(json.dumps(config))
    for _ in range(2):  # again the same: nothing of it is taken for a model
        with pytest.raises((UnsupportedModelError, CheckpointError), match=words) as caught:
            get(server)
        assert len(str(caught.value)) < 500
    assert set(asked(server)) == {"config.json"}
    assert cached(ID) is None


def test_a_supported_class_that_also_offers_code_is_fetched_without_it(
    server: HubServer, repository: Path
) -> None:
    path = repository / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "auto_map": {"AutoModel": "x.Y"}}))
    (repository / "x.py").write_text("raise SystemExit")
    assert "x.py" not in names(get(server).folder)


def test_a_config_of_a_gigabyte_is_not_fetched(server: HubServer) -> None:
    def swell(request: Request, reply: Reply) -> Reply:
        if request.kind != "info":
            return reply
        listing = json.loads(reply.body)
        for sibling in listing["siblings"]:
            if sibling["rfilename"] == "config.json":
                sibling["size"] = 10**9
        return replace(reply, body=json.dumps(listing).encode())

    server.faults = swell
    with pytest.raises(CheckpointError, match="1,000,000,000 bytes"):
        get(server)
    assert not asked(server)


@pytest.mark.parametrize("name", ["config.json", "tokenizer_config.json"])
def test_a_small_file_that_was_changed_on_the_way_is_deleted_and_a_retry_works(
    server: HubServer, name: str
) -> None:
    def change(request: Request, reply: Reply) -> Reply:
        wanted = (request.method, request.file) == ("GET", name)
        return replace(reply, body=reply.body[:-2] + b" }") if wanted else reply

    server.faults = change
    with pytest.raises(CheckpointError, match=rf"damaged \({name}"):
        get(server)
    server.faults = None
    assert get(server).revision == server.commit(ID)


def test_nothing_is_drawn_in_the_terminal(
    server: HubServer, capfd: pytest.CaptureFixture[str]
) -> None:
    get(server)
    assert capfd.readouterr() == ("", "")


# A tokenizer alone


def test_a_tokenizer_comes_alone_and_is_no_model(server: HubServer) -> None:
    events: list[ProgressEvent] = []
    fetched = get(server, part="tokenizer", progress=events.append)
    assert names(fetched.folder) == TOKENIZER
    assert set(asked(server)) == TOKENIZER
    assert fetched.revision == server.commit(ID)
    assert events[-1].done_bytes == events[-1].total_bytes
    assert events[0].stage == f"Fetching the tokenizer of {ID}"
    assert cached(ID, part="tokenizer") == fetched
    assert cached(ID) is None
    n_requests = len(server.requests)
    assert get(server, part="tokenizer") == fetched
    assert len(server.requests) == n_requests


def test_without_tokenizer_json_the_vocabulary_comes(server: HubServer, repository: Path) -> None:
    (repository / "tokenizer.json").unlink()
    folder = get(server, part="tokenizer").folder
    assert names(folder) == {"config.json", "vocab.txt", "tokenizer_config.json"}


def test_a_model_whose_tokenizer_is_here_fetches_the_rest(server: HubServer) -> None:
    get(server, part="tokenizer")
    before = asked(server)
    events: list[ProgressEvent] = []
    fetched = get(server, progress=events.append)
    assert set(asked(server)[len(before) :]) == {WEIGHTS, "vocab.txt"}
    assert events[0].done_bytes > 0
    assert cached(ID) == cached(ID, part="tokenizer") == fetched


def test_a_complete_model_serves_as_tokenizer_without_a_request(server: HubServer) -> None:
    model = get(server)
    n_requests = len(server.requests)
    assert get(server, part="tokenizer") == model
    assert len(server.requests) == n_requests


def test_a_tokenizer_needs_no_weights_in_safetensors(server: HubServer, repository: Path) -> None:
    (repository / WEIGHTS).unlink()
    assert names(get(server, part="tokenizer").folder) == TOKENIZER
    with pytest.raises(CheckpointError, match="pickled"):
        get(server)


def test_a_model_without_tokenizer_files_is_refused_and_so_is_its_tokenizer(
    server: HubServer, repository: Path
) -> None:
    for name in ("tokenizer.json", "vocab.txt"):
        (repository / name).unlink()
    for part in ("model", "tokenizer"):
        with pytest.raises(CheckpointError, match="no tokenizer files"):
            get(server, part=part)


def test_a_tokenizer_file_that_is_not_found_is_said_and_a_retry_works(server: HubServer) -> None:
    server.faults = lambda request, reply: (
        replace(reply, status=404, body=b"", headers={"X-Error-Code": "EntryNotFound"})
        if request.file == "tokenizer.json"
        else reply
    )
    for part in ("model", "tokenizer"):
        with pytest.raises(FetchError, match="listed a file that it does not have"):
            get(server, part=part)
        assert cached(ID, part=part) is None
    server.faults = None
    assert get(server, part="tokenizer").revision == server.commit(ID)


def test_the_registry_locates_tokenizers(server: HubServer, tiny: Path, cache: Path) -> None:
    settings = Settings(hub_endpoint=server.endpoint, model_folder=tiny.parent)
    files = registry.locate_tokenizer(ID, settings)
    assert names(files.folder) == TOKENIZER
    assert (files.id, files.source, files.revision) == (ID, "hub", server.commit(ID))
    bundled = registry.locate_tokenizer(registry.BUNDLED_ID, settings)
    assert bundled == registry.locate(registry.BUNDLED_ID, settings)
    assert registry.locate_tokenizer(f"folder:{tiny.name}", settings).folder == tiny
    forbidden = settings.model_copy(update={"allow_downloads": False})
    assert registry.locate_tokenizer(ID, forbidden).folder == files.folder
    for model in ("org/other", "../..", "folder:../x"):
        with pytest.raises(ModelError):
            registry.locate_tokenizer(model, forbidden)
    limited = open_service(settings.model_copy(update={"models": (registry.BUNDLED_ID,)}))
    with pytest.raises(UnknownModelError, match="allowed"):
        limited.load_tokenizer(ID)


@pytest.mark.slow
def test_disk_full_is_said_and_a_retry_works(server: HubServer, cache: Path) -> None:
    code = (
        "import resource, sys\n"
        "from components.core.hub import fetch\n"
        "from components.core.errors import FetchError\n"
        "hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))\n"
        "try:\n"
        f"    fetch({ID!r}, endpoint={server.endpoint!r}, allow_downloads=True)\n"
        "except FetchError as exc:\n"
        "    print(exc)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))\n"
        f"print(fetch({ID!r}, endpoint={server.endpoint!r}, allow_downloads=True).revision)\n"
    )
    env = {"HF_HUB_CACHE": str(cache), "PATH": "/usr/bin:/bin", "HOME": str(cache.parent)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[3],
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    said, revision = done.stdout.splitlines()
    assert "could not be stored" in said
    assert "room" in said
    assert revision == server.commit(ID)
