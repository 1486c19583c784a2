"""Fetches with the real huggingface_hub: results, refusals, and the content of the cache."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from contextlens.core import registry
from contextlens.core.errors import (
    CheckpointError,
    FetchError,
    ModelError,
    UnknownModelError,
    UnsupportedModelError,
)
from contextlens.core.hub import Fetched, cached, fetch
from contextlens.core.schema import ProgressEvent
from contextlens.core.service import open_service
from contextlens.core.settings import Settings
from tests.core.hub.fetches import ID, WEIGHTS, asked, assert_good, get, names
from tests.support.hub_server import HubServer, Reply, Repository, Request, error, hub_server
from tests.support.tiny_models import build

TOKENIZER = {"config.json", "tokenizer.json", "tokenizer_config.json"}
MODEL = {*TOKENIZER, WEIGHTS}


@pytest.fixture(scope="session")
def sharded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("bert-sharded", tmp_path_factory.mktemp("sharded"))


# Results


def test_a_fetched_model_is_what_the_server_has(
    server: HubServer, tiny: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    from transformers import AutoModel, AutoTokenizer

    fetched = get(server)
    assert fetched.revision == server.commit(ID)
    assert names(fetched.folder) == set(asked(server)) == MODEL
    assert all((fetched.folder / name).read_bytes() == (tiny / name).read_bytes() for name in MODEL)
    assert {request.revision for request in server.requests if request.file} == {fetched.revision}
    assert capfd.readouterr() == ("", "")
    model = AutoModel.from_pretrained(fetched.folder, local_files_only=True)
    tokenizer = AutoTokenizer.from_pretrained(fetched.folder, local_files_only=True)
    states = model(**tokenizer("a python", return_tensors="pt")).last_hidden_state
    assert states.shape[-1] == model.config.hidden_size


def test_a_second_fetch_asks_nothing_and_needs_no_permission(server: HubServer) -> None:
    first = get(server)
    n_requests = len(server.requests)
    events: list[ProgressEvent] = []
    assert get(server, progress=events.append) == first
    assert fetch(ID, endpoint=None, allow_downloads=False) == first
    assert (len(server.requests), events) == (n_requests, [])


def test_weights_stored_elsewhere_come_by_plain_http(server: HubServer, tiny: Path) -> None:
    """As on the public hub: a redirect to another host, and an offer of a Xet transfer."""
    storage = server.endpoint.replace("127.0.0.1", "localhost") + "/storage"

    def elsewhere(request: Request, normal: Reply) -> Reply:
        if request.path == "/storage":
            return Reply(200, {}, (tiny / WEIGHTS).read_bytes())
        if request.file != WEIGHTS:
            return normal
        offer = {
            "X-Xet-Hash": "0" * 64,
            "Link": f'<{server.endpoint}/xet>; rel="xet-auth", <{storage}>; rel="xet-reconstruct"',
        }
        return Reply(302, {**normal.headers, **offer, "Location": storage})

    server.faults = elsewhere
    assert (get(server).folder / WEIGHTS).read_bytes() == (tiny / WEIGHTS).read_bytes()
    paths = [request.path for request in server.requests]
    assert "/storage" in paths
    assert "/xet" not in paths


def test_two_fetches_at_once_download_once(server: HubServer) -> None:
    results: list[Fetched] = []
    threads = [threading.Thread(target=lambda: results.append(get(server))) for _ in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 2
    assert results[0] == results[1]
    gets = [request.file for request in server.requests if request.method == "GET" and request.file]
    assert len(gets) == len(set(gets))


def test_shards_come_with_their_index(sharded: Path) -> None:
    from transformers import AutoModel

    with hub_server({ID: sharded}) as server:
        folder = get(server).folder
    assert names(folder) == names(sharded)
    assert len(list(folder.glob("model-*.safetensors"))) > 1
    assert cached(ID) is not None
    AutoModel.from_pretrained(folder, local_files_only=True)


def test_of_single_and_sharded_weights_only_the_single_file_comes(
    repository: Path, sharded: Path
) -> None:
    shutil.copytree(sharded, repository, dirs_exist_ok=True)
    with hub_server({ID: repository}) as server:
        folder = get(server).folder
    assert {name for name in names(folder) if name.startswith("model")} == {WEIGHTS}


# The config comes first

REFUSED: dict[str, tuple[Any, str]] = {
    "a decoder": ({"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"]}, "a decoder"),
    "code": ({"model_type": "own", "auto_map": {"AutoModel": "own.Model"}}, "its own program code"),
    "absurd": ({"model_type": "bert", "hidden_size": 10**9}, "hidden_size"),
    "not an object": ([], "not a JSON object"),
}


@pytest.mark.parametrize(("config", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_what_the_config_rules_out_costs_one_small_file(
    repository: Path, config: Any, words: str
) -> None:
    (repository / "config.json").write_text(json.dumps(config))
    with hub_server({ID: repository}) as server:
        for _ in range(2):  # twice the same: the remains are not taken for a model
            with pytest.raises((UnsupportedModelError, CheckpointError), match=words) as caught:
                get(server)
            assert len(str(caught.value)) < 500
    assert set(asked(server)) == {"config.json"}
    assert cached(ID) is None


def test_a_supported_class_that_also_offers_code_is_fetched_without_it(repository: Path) -> None:
    path = repository / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "auto_map": {"AutoModel": "x.Y"}}))
    with hub_server({ID: repository}) as server:
        assert names(get(server).folder) == MODEL


@pytest.mark.parametrize("name", ["config.json", "tokenizer_config.json", WEIGHTS])
def test_a_file_that_was_changed_on_the_way_is_deleted_and_a_retry_works(
    server: HubServer, name: str
) -> None:
    def change(request: Request, reply: Reply) -> Reply:
        wanted = (request.method, request.file) == ("GET", name)
        return replace(reply, body=reply.body[:-2] + b" }") if wanted else reply

    server.faults = change
    with pytest.raises(CheckpointError, match=rf"damaged \({name}"):
        get(server)
    assert cached(ID) is None
    server.faults = None
    assert get(server).revision == server.commit(ID)


# A tokenizer alone


def test_a_tokenizer_comes_alone_and_a_model_fetches_the_rest(server: HubServer) -> None:
    events: list[ProgressEvent] = []
    fetched = get(server, part="tokenizer", progress=events.append)
    assert names(fetched.folder) == set(asked(server)) == TOKENIZER
    assert fetched.revision == server.commit(ID)
    assert events[-1].done_bytes == events[-1].total_bytes
    assert events[0].stage == f"Fetching the tokenizer of {ID}"
    assert cached(ID) is None
    server.requests.clear()
    assert get(server, part="tokenizer") == cached(ID, part="tokenizer") == fetched
    assert not server.requests
    model = get(server, progress=events.append)
    gets = {request.file for request in server.requests if request.method == "GET" and request.file}
    assert gets == {WEIGHTS}
    assert cached(ID) == cached(ID, part="tokenizer") == model
    server.requests.clear()
    assert get(server, part="tokenizer") == model
    assert not server.requests


def test_without_tokenizer_json_the_vocabulary_comes(repository: Path) -> None:
    (repository / "tokenizer.json").rename(repository / "vocab.txt")
    with hub_server({ID: repository}) as server:
        folder = get(server, part="tokenizer").folder
    assert names(folder) == {"config.json", "vocab.txt", "tokenizer_config.json"}


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


def test_the_registry_locates_tokenizers(server: HubServer, tiny: Path) -> None:
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


# Models that can be fetched


@pytest.mark.parametrize(
    ("removed", "added", "words"),
    [
        ([WEIGHTS, "pytorch_model.bin"], [], "no weights in safetensors"),
        (["config.json"], [], "no config.json"),
        (["tokenizer.json"], [], "no tokenizer files"),
        (
            ["tokenizer.json"],
            ["spm.model"],
            r"SentencePiece alone \(spm.model\) and no tokenizer.json",
        ),
    ],
)
def test_what_cannot_be_used_is_refused_before_any_file_is_fetched(
    repository: Path, removed: list[str], added: list[str], words: str
) -> None:
    for name in removed:
        (repository / name).unlink()
    for name in added:
        (repository / name).touch()
    with hub_server({ID: repository}) as server:
        with pytest.raises(CheckpointError, match=words):
            get(server)
        assert [request.kind for request in server.requests] == ["info"]
        if WEIGHTS in removed:  # a tokenizer needs none
            assert names(get(server, part="tokenizer").folder) == TOKENIZER
        else:
            with pytest.raises(CheckpointError, match=words):
                get(server, part="tokenizer")


def test_a_rocbert_comes_with_the_shapes_and_sounds_of_its_tokens_or_not_at_all(
    tmp_path: Path,
) -> None:
    repository = build("roc_bert", tmp_path / "repository")
    words = {"word_shape.json", "word_pronunciation.json"}
    with hub_server({ID: repository}) as server:
        assert names(get(server).folder) == names(repository) >= words
    shutil.rmtree(tmp_path / "cache")
    (repository / "word_shape.json").unlink()
    with hub_server({ID: repository}) as server:
        with pytest.raises(CheckpointError, match=r"lacks word_shape\.json, from which"):
            get(server)
        assert WEIGHTS not in asked(server)


def test_of_pickled_weights_a_converted_pull_request_is_offered_and_never_taken(
    repository: Path, tiny: Path, tmp_path: Path
) -> None:
    (repository / WEIGHTS).unlink()
    other = Path(shutil.copytree(repository, tmp_path / "other"))
    (other / "README.md").write_text("# Another change")
    pickled = "has only pickled weights, which can run code when read"
    with hub_server({ID: repository}) as server:
        with pytest.raises(CheckpointError, match=f"{pickled}. Convert them"):
            get(server)
        server.pulls[ID] = [Repository(tiny), Repository(other)]
        commit = server.pulls[ID][0].commit
        with pytest.raises(CheckpointError) as caught:
            get(server)
        assert "Its pull request 1 offers them in safetensors" in str(caught.value)
        assert str(caught.value).endswith(f"choose {ID}@{commit}.")
        assert {request.kind for request in server.requests} == {"info", "refs"}
        files = fetch(f"{ID}@{commit}", endpoint=server.endpoint, allow_downloads=True)
        assert files.revision == files.folder.name == commit
        assert (files.folder / WEIGHTS).read_bytes() == (tiny / WEIGHTS).read_bytes()
        assert cached(f"{ID}@{commit}") == files
        assert cached(f"{ID}@{'0' * 40}") is None
        with pytest.raises(ModelError, match="could not be fetched"):
            fetch(f"{ID}@{'0' * 40}", endpoint=server.endpoint, allow_downloads=True)
        server.faults = lambda asked, reply: error(404) if asked.kind == "refs" else reply
        with pytest.raises(CheckpointError, match=f"{pickled}. Convert them"):
            fetch(ID, endpoint=server.endpoint, allow_downloads=True, cache_dir=tmp_path / "empty")


def test_an_index_that_names_a_missing_shard_is_refused(sharded: Path, tmp_path: Path) -> None:
    repository = Path(shutil.copytree(sharded, tmp_path / "sharded"))
    shard = max(repository.glob("model-*-of-*.safetensors"))
    shard.unlink()
    with (
        hub_server({ID: repository}) as server,
        pytest.raises(CheckpointError, match=f"lacks a weight file.*{shard.name}"),
    ):
        get(server)
    assert cached(ID) is None


def test_downloads_that_are_forbidden_ask_nothing(
    server: HubServer, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(FetchError, match="CONTEXTLENS_ALLOW_DOWNLOADS=0 forbids"):
        fetch(ID, endpoint=server.endpoint, allow_downloads=False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(FetchError, match="HF_HUB_OFFLINE forbids"):
        get(server)
    assert not server.requests
    assert not cache.exists()


BAD_IDS = [
    *("", " ", ".", "..", "../..", "org/..", "/etc/passwd", "org/name/more", "org/", "/name"),
    *("C:\\models", "https://hub.example/org/name", "org/name?revision=main", "org/na me"),
    *("-name", ".name", "name.", "a..b", "a--b/c", "org/name.git", "naïve", "org/name\n"),
    *("org/name@main", f"org/name@{'0' * 39}", f"org/name.git@{'0' * 40}", "@" + "0" * 40),
    *("org/na\x00me", "\ud800", "\u202eorg/name", "a" * 97, "a" * 10_000),
]


def test_bad_ids_stop_at_the_door(server: HubServer, cache: Path) -> None:
    for model_id in BAD_IDS:
        with pytest.raises(UnknownModelError, match=r"organisation/name") as caught:
            fetch(model_id, endpoint=server.endpoint, allow_downloads=True)
        assert len(str(caught.value)) < 500
        assert str(caught.value).isprintable()
        with pytest.raises(UnknownModelError):
            cached(model_id)
    assert not server.requests
    assert not cache.exists()


def test_good_ids_pass() -> None:
    from huggingface_hub.utils import validate_repo_id

    good = ("bert-base-cased", "google-bert/bert-base-uncased", "a", "0/_", "a_b/c.d-e", "a" * 96)
    assert cached(f"org/name@{'0' * 40}") is None
    for model_id in good:
        validate_repo_id(model_id)  # the oracle
        assert cached(model_id) is None


def test_disk_full_is_said_and_a_retry_works(server: HubServer, cache: Path) -> None:
    code = (
        "import resource, sys, contextlens.core.hub as hub\n"
        "slow = {'huggingface_hub', 'torch', 'transformers', 'streamlit'} & set(sys.modules)\n"
        "print(sorted(slow))\n"
        "from contextlens.core.errors import FetchError\n"
        "hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))\n"
        "try:\n"
        f"    hub.fetch({ID!r}, endpoint={server.endpoint!r}, allow_downloads=True)\n"
        "except FetchError as exc:\n"
        "    print(exc)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))\n"
        f"print(hub.fetch({ID!r}, endpoint={server.endpoint!r}, allow_downloads=True).revision)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[3],
        env={"HF_HUB_CACHE": str(cache), "PATH": "/usr/bin:/bin", "HOME": str(cache.parent)},
        capture_output=True,
        text=True,
        check=True,
    )
    slow, sentence, revision = done.stdout.splitlines()
    assert slow == "[]", "importing it is light"
    assert "could not be stored" in sentence
    assert "room" in sentence
    assert revision == server.commit(ID)


# Content of the cache


def test_cached_knows_only_complete_copies(server: HubServer, tiny: Path) -> None:
    assert cached(ID) is None
    fetched = get(server)
    assert cached(ID) == fetched
    (fetched.folder / "tokenizer_config.json").unlink()  # only the repository's listing names it
    assert cached(ID) is None
    weights = get(server).folder / WEIGHTS
    weights.resolve().write_bytes(b"cut short")
    assert cached(ID) is None
    events: list[ProgressEvent] = []
    get(server, progress=events.append)
    assert weights.read_bytes() == (tiny / WEIGHTS).read_bytes()
    assert events[0].done_bytes > 0  # the other files are here already
    assert_good(events)


def test_cached_wants_weights_and_tokenizer_where_no_listing_was_kept(server: HubServer) -> None:
    from huggingface_hub import hf_hub_download

    files = {"config.json", "vocab.txt", WEIGHTS}
    server.repositories[ID].files["vocab.txt"] = b"[PAD]"
    for name in sorted(files):
        assert cached(ID) is None
        hf_hub_download(ID, name, endpoint=server.endpoint)
    found = cached(ID)
    assert found is not None
    assert names(found.folder) == files


def test_cached_prefers_the_commit_that_main_stands_for(server: HubServer) -> None:
    first = get(server)
    other = shutil.copytree(first.folder, first.folder.with_name("f" * 40))
    refs = first.folder.parent.parent / "refs"
    refs.mkdir(exist_ok=True)
    for revision in (first.revision, other.name):
        (refs / "main").write_text(revision)
        found = cached(ID)
        assert found is not None
        assert found.revision == revision
