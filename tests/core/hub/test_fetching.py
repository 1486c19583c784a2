"""What a fetch gives with the real huggingface_hub, and what the cache holds then."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from pathlib import Path

from components.core.hub import Fetched, cached, fetch
from components.core.schema import ProgressEvent
from tests.core.hub.fetches import ID, WEIGHTS, assert_good, get, names
from tests.support.hub_server import HubServer, Reply, Request, hub_server
from tests.support.tiny_models import build

# What a fetch gives


def test_a_fetched_model_is_what_the_server_has(server: HubServer, tiny: Path, cache: Path) -> None:
    fetched = get(server, cache)
    assert fetched.revision == server.commit(ID)
    assert names(fetched.folder) == {
        "config.json",
        WEIGHTS,
        "tokenizer.json",
        "tokenizer_config.json",
    }
    assert all(
        (fetched.folder / name).read_bytes() == (tiny / name).read_bytes()
        for name in names(fetched.folder)
    )


def test_only_needed_files_are_asked_for_at_the_listed_commit(
    server: HubServer, cache: Path
) -> None:
    fetched = get(server, cache)
    asked = [request for request in server.requests if request.kind == "file"]
    assert {request.file for request in asked} == names(fetched.folder)
    assert {request.revision for request in asked} == {server.commit(ID)}


def test_transformers_loads_the_fetched_folder(server: HubServer, cache: Path) -> None:
    from transformers import AutoModel, AutoTokenizer

    folder = get(server, cache).folder
    model = AutoModel.from_pretrained(folder, local_files_only=True)
    ids = AutoTokenizer.from_pretrained(folder, local_files_only=True)(
        "a python", return_tensors="pt"
    )
    assert model(**ids).last_hidden_state.shape[-1] == model.config.hidden_size


def test_a_second_fetch_asks_nothing(server: HubServer, cache: Path) -> None:
    first = get(server, cache)
    n_requests = len(server.requests)
    events: list[ProgressEvent] = []
    assert get(server, cache, events.append) == first
    assert (len(server.requests), events) == (n_requests, [])


def test_a_fetched_model_needs_no_permission_to_download(server: HubServer, cache: Path) -> None:
    first = get(server, cache)
    assert fetch(ID, endpoint=None, allow_downloads=False, cache_dir=cache) == first


def test_weights_stored_elsewhere_come_by_plain_http(
    server: HubServer, cache: Path, tiny: Path
) -> None:
    """As the public hub has it: a redirect to another host, and an offer of a Xet transfer."""
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
    folder = get(server, cache).folder
    assert (folder / WEIGHTS).read_bytes() == (tiny / WEIGHTS).read_bytes()
    paths = [request.path for request in server.requests]
    assert "/storage" in paths
    assert "/xet" not in paths


def test_two_fetches_at_once_download_once(server: HubServer, cache: Path) -> None:
    results: list[Fetched] = []
    threads = [threading.Thread(target=lambda: results.append(get(server, cache))) for _ in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 2
    assert results[0] == results[1]
    gets = [request.file for request in server.requests if request.method == "GET" and request.file]
    assert len(gets) == len(set(gets))


def test_shards_come_with_their_index(tmp_path: Path, cache: Path) -> None:
    from transformers import AutoModel

    repository = build("bert-sharded", tmp_path / "sharded")
    with hub_server({ID: repository}) as server:
        folder = get(server, cache).folder
    assert names(folder) == names(repository)
    assert len(list(folder.glob("model-*.safetensors"))) > 1
    assert cached(ID, cache_dir=cache) is not None
    AutoModel.from_pretrained(folder, local_files_only=True)


def test_of_single_and_sharded_weights_only_the_single_file_comes(
    repository: Path, tmp_path: Path, cache: Path
) -> None:
    sharded = build("bert-sharded", tmp_path / "sharded")
    shutil.copytree(sharded, repository, dirs_exist_ok=True)
    with hub_server({ID: repository}) as server:
        folder = get(server, cache).folder
    assert {name for name in names(folder) if name.startswith("model")} == {WEIGHTS}


def test_importing_the_module_is_light() -> None:
    code = (
        "import sys, components.core.hub\n"
        "slow = {'huggingface_hub', 'torch', 'transformers', 'streamlit'} & set(sys.modules)\n"
        "raise SystemExit(str(slow) if slow else 0)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


# What the cache holds


def test_cached_knows_only_complete_copies(server: HubServer, cache: Path) -> None:
    assert cached(ID, cache_dir=cache) is None
    fetched = get(server, cache)
    assert cached(ID, cache_dir=cache) == fetched
    (fetched.folder / "tokenizer_config.json").unlink()  # only the repository's listing names it
    assert cached(ID, cache_dir=cache) is None


def test_cached_wants_weights_and_tokenizer_where_no_listing_was_kept(
    server: HubServer, cache: Path
) -> None:
    from huggingface_hub import hf_hub_download

    files = {"config.json", "vocab.txt", WEIGHTS}
    server.repositories[ID].files["vocab.txt"] = b"[PAD]"
    for name in sorted(files):
        assert cached(ID, cache_dir=cache) is None
        hf_hub_download(ID, name, cache_dir=cache, endpoint=server.endpoint)
    found = cached(ID, cache_dir=cache)
    assert found is not None
    assert names(found.folder) == files


def test_cached_prefers_the_commit_that_main_stands_for(server: HubServer, cache: Path) -> None:
    first = get(server, cache)
    other = shutil.copytree(first.folder, first.folder.with_name("f" * 40))
    refs = first.folder.parent.parent / "refs"
    refs.mkdir(exist_ok=True)
    for revision in (first.revision, other.name):
        (refs / "main").write_text(revision)
        found = cached(ID, cache_dir=cache)
        assert found is not None
        assert found.revision == revision


def test_a_cut_short_copy_is_fetched_again(server: HubServer, cache: Path, tiny: Path) -> None:
    weights = get(server, cache).folder / WEIGHTS
    weights.resolve().write_bytes(b"cut short")
    assert cached(ID, cache_dir=cache) is None
    events: list[ProgressEvent] = []
    get(server, cache, events.append)
    assert weights.read_bytes() == (tiny / WEIGHTS).read_bytes()
    assert events[0].done_bytes > 0  # the other files are here already
    assert_good(events)
