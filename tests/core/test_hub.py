"""Fetching with the real huggingface_hub from a local server that speaks the hub's protocol."""

from __future__ import annotations

import random
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from components.core.errors import CheckpointError, FetchError, ModelError, UnknownModelError
from components.core.hub import Fetched, cached, faults, fetch, fetching
from components.core.schema import ProgressEvent
from tests.support.hub_server import Faults, HubServer, Reply, Request, error, hub_server
from tests.support.tiny_models import build

ID = "org/tiny-bert"
WEIGHTS = "model.safetensors"
LARGE = "spiece.model"
STEP = 1 << 18


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = build("bert", tmp_path_factory.mktemp("tiny"))
    (folder / "README.md").write_text("# Not needed")
    (folder / "pytorch_model.bin").write_bytes(b"a pickle, never to be fetched")
    (folder / "modeling_tiny.py").write_text("raise SystemExit('code, never to be fetched')")
    (folder / "onnx").mkdir()
    (folder / "onnx" / "spiece.model").write_bytes(b"in a folder, never to be fetched")
    return folder


@pytest.fixture
def repository(tiny: Path, tmp_path: Path) -> Path:
    """A copy of the tiny model's folder, to change."""
    return Path(shutil.copytree(tiny, tmp_path / "repository"))


@pytest.fixture
def large(repository: Path) -> Path:
    """A repository with one file of several steps."""
    (repository / LARGE).write_bytes(random.Random(0).randbytes(5 * STEP + 5))
    return repository


@pytest.fixture
def server(tiny: Path) -> Iterator[HubServer]:
    with hub_server({ID: tiny}) as running:
        yield running


@pytest.fixture(autouse=True)
def _online(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def get(
    server: HubServer, cache: Path, progress: Callable[[ProgressEvent], None] | None = None
) -> Fetched:
    return fetch(
        ID, endpoint=server.endpoint, allow_downloads=True, progress=progress, cache_dir=cache
    )


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def assert_good(events: list[ProgressEvent]) -> None:
    """One total, never less than before, never more than the total."""
    done = [event.done_bytes for event in events]
    assert done == sorted(done)
    assert len({event.total_bytes for event in events}) == 1
    assert max(done) <= (events[0].total_bytes or 0)


def on_file(name: str, reply: Callable[[Reply], Reply]) -> Faults:
    """A fault that changes the replies to GET of one file."""

    def fault(request: Request, normal: Reply) -> Reply:
        return reply(normal) if (request.method, request.file) == ("GET", name) else normal

    return fault


def always(reply: Reply) -> Faults:
    return lambda _request, _normal: reply


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


def test_progress_counts_bytes_up_to_the_size_of_the_files(server: HubServer, cache: Path) -> None:
    events: list[ProgressEvent] = []
    folder = get(server, cache, events.append).folder
    total = sum((folder / name).stat().st_size for name in names(folder))
    assert_good(events)
    assert events[0] == ProgressEvent(f"Fetching {ID}", 0, total)
    assert events[-1] == ProgressEvent(f"Fetching {ID}", total, total)
    assert len(events) > 2


def test_progress_of_a_large_file_comes_in_small_steps(large: Path, cache: Path) -> None:
    events: list[ProgressEvent] = []
    with hub_server({ID: large}) as server:
        get(server, cache, events.append)
    steps = [after.done_bytes - before.done_bytes for before, after in pairwise(events)]
    assert max(steps) <= STEP
    assert_good(events)


@pytest.mark.slow
def test_progress_is_never_ahead_of_what_arrived(large: Path, cache: Path) -> None:
    replies = iter([2 * STEP + 1000, None])

    def cut_then_refuse(reply: Reply) -> Reply:
        cut = next(replies)
        return error(403) if cut is None else replace(reply, cut_after=cut)

    events: list[ProgressEvent] = []
    with (
        hub_server({ID: large}, faults=on_file(LARGE, cut_then_refuse)) as server,
        pytest.raises(FetchError, match="403"),
    ):
        get(server, cache, events.append)
    others = sum(p.stat().st_size for p in cache.glob("*/snapshots/*/*") if p.name != LARGE)
    assert others < events[-1].done_bytes <= others + 2 * STEP


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


# What can go wrong


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (error(404, "RepoNotFound", "Repository not found"), UnknownModelError, "no such model"),
        (error(404), UnknownModelError, "no such model"),
        (error(401, "RepoNotFound"), UnknownModelError, "private"),
        (error(401, "GatedRepo", "Access is restricted"), FetchError, "gated"),
        (error(403, "GatedRepo", "Not in the authorized list"), FetchError, "gated"),
        (error(401, "", "Invalid credentials in Authorization header"), FetchError, "401"),
        (error(403), FetchError, "403"),
        (error(429), FetchError, "pause"),
        (error(400), FetchError, "400"),
        (error(500), FetchError, "500"),
        (error(503), FetchError, "503"),
        (error(403, "", "Access to this resource is disabled."), FetchError, "403"),
        (Reply(200, {}, b"<html>Please log in to this network</html>"), FetchError, "unreadable"),
        (Reply(200, {}, b"[]"), FetchError, "unreadable"),
        (Reply(200, {}, b"null"), FetchError, "unreadable"),
        (Reply(302, {"Location": "/api/models/" + ID}), FetchError, "unreadable"),
        (Reply(200, {"Content-Length": "100"}, b"{", cut_after=1), FetchError, "broke"),
    ],
)
def test_a_refusal_is_said_in_one_sentence_and_a_retry_works(
    server: HubServer, cache: Path, reply: Reply, kind: type[ModelError], words: str
) -> None:
    server.faults = always(reply)
    with pytest.raises(kind, match=words) as caught:
        get(server, cache)
    assert str(caught.value).startswith(ID)
    assert caught.value.__cause__ is not None
    assert server.endpoint not in str(caught.value)
    server.faults = None
    assert get(server, cache).revision == server.commit(ID)


def test_an_unknown_model_is_not_found(server: HubServer, cache: Path) -> None:
    with pytest.raises(UnknownModelError, match=r"org/other .* Check the spelling"):
        fetch("org/other", endpoint=server.endpoint, allow_downloads=True, cache_dir=cache)


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (error(401, "GatedRepo", "Access is restricted"), FetchError, "gated"),
        (error(403), FetchError, "403"),
        (error(404, "EntryNotFound"), FetchError, "listed a file"),
        (Reply(200), FetchError, "unreadable"),  # neither commit nor ETag: no hub
    ],
)
def test_a_refused_file_is_said_and_a_retry_fetches_the_rest(
    server: HubServer, cache: Path, reply: Reply, kind: type[ModelError], words: str
) -> None:
    server.faults = lambda request, normal: reply if request.file == WEIGHTS else normal
    with pytest.raises(kind, match=words):
        get(server, cache)
    assert cached(ID, cache_dir=cache) is None
    server.faults = None
    events: list[ProgressEvent] = []
    get(server, cache, events.append)
    assert_good(events)
    assert events[-1].done_bytes == events[-1].total_bytes
    assert cached(ID, cache_dir=cache) is not None


@pytest.mark.slow
def test_a_cut_connection_goes_on_from_the_last_whole_step(large: Path, cache: Path) -> None:
    def cut_once(reply: Reply) -> Reply:
        return replace(reply, cut_after=2 * STEP + 1000) if reply.status == 200 else reply

    events: list[ProgressEvent] = []
    with hub_server({ID: large}, faults=on_file(LARGE, cut_once)) as server:
        folder = get(server, cache, events.append).folder
    assert (folder / LARGE).read_bytes() == (large / LARGE).read_bytes()
    asked = [(r.method, r.headers.get("range")) for r in server.requests if r.file == LARGE]
    assert asked == [("HEAD", None), ("GET", None), ("GET", f"bytes={2 * STEP}-")]
    assert_good(events)


@pytest.mark.slow
def test_a_server_that_sends_all_again_takes_no_progress_back(large: Path, cache: Path) -> None:
    whole = (large / LARGE).read_bytes()
    cuts = iter([2 * STEP + 1000, None])

    def cut_and_ignore_ranges(_reply: Reply) -> Reply:
        return Reply(200, {}, whole, cut_after=next(cuts))

    events: list[ProgressEvent] = []
    with hub_server({ID: large}, faults=on_file(LARGE, cut_and_ignore_ranges)) as server:
        folder = get(server, cache, events.append).folder
    assert (folder / LARGE).read_bytes() == whole
    assert_good(events)


def test_changed_weights_are_refused_and_deleted(server: HubServer, cache: Path) -> None:
    server.faults = on_file(WEIGHTS, lambda reply: replace(reply, body=reply.body[::-1]))
    with pytest.raises(CheckpointError, match=f"damaged \\({WEIGHTS}"):
        get(server, cache)
    assert cached(ID, cache_dir=cache) is None
    server.faults = None
    assert cached(ID, cache_dir=cache) is None
    assert get(server, cache).revision == server.commit(ID)


def test_a_shorter_file_than_announced_does_not_count(server: HubServer, cache: Path) -> None:
    server.faults = on_file(WEIGHTS, lambda reply: replace(reply, body=reply.body[:-10]))
    with pytest.raises(FetchError, match="did not arrive whole"):
        get(server, cache)
    assert cached(ID, cache_dir=cache) is None


def test_no_server_is_said(cache: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))  # bound and not listening: connections are refused
        endpoint = f"http://127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(FetchError, match=r"cannot be reached.*network"):
            fetch(ID, endpoint=endpoint, allow_downloads=True, cache_dir=cache)


@pytest.mark.parametrize("endpoint", ["http://", "ftp://127.0.0.1", "http://127.0.0.1:port"])
def test_an_address_that_is_none_is_said(cache: Path, endpoint: str) -> None:
    with pytest.raises(FetchError, match="CONTEXTLENS_HUB_ENDPOINT"):
        fetch(ID, endpoint=endpoint, allow_downloads=True, cache_dir=cache)


def test_a_silent_hub_is_not_waited_for(
    server: HubServer, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "_ANSWER_SECONDS", 0.1)
    server.faults = lambda _request, normal: replace(normal, delay=0.5)
    with pytest.raises(FetchError, match="too long"):
        get(server, cache)


def test_a_disk_that_cannot_be_written_is_said(server: HubServer, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(FetchError, match="could not be stored"):
        get(server, tmp_path / "file")


def test_what_progress_raises_stops_the_fetch_and_comes_out(server: HubServer, cache: Path) -> None:
    class Cancelled(BaseException):
        pass

    def cancel(event: ProgressEvent) -> None:
        if event.done_bytes:
            raise Cancelled

    with pytest.raises(Cancelled):
        get(server, cache, cancel)
    assert cached(ID, cache_dir=cache) is None
    assert not list(cache.rglob("*.incomplete"))


def test_an_error_of_the_callers_own_is_not_taken_for_the_hubs(
    server: HubServer, cache: Path
) -> None:
    mistake = OSError("the caller's own")

    def fail(event: ProgressEvent) -> None:
        if event.done_bytes:
            raise mistake

    with pytest.raises(OSError, match="own") as caught:
        get(server, cache, fail)
    assert caught.value is mistake


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


def test_every_error_of_huggingface_hub_has_one_of_ours() -> None:
    import httpx2
    from huggingface_hub import errors

    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    raised = [kind for kind in kinds if issubclass(kind, Exception)]
    for kind in (*raised, httpx2.ReadError, ValueError, KeyError, RuntimeError):
        exc = kind.__new__(kind)
        exc.response = httpx2.Response(418)
        ours, what, advice = faults.diagnose(exc)
        assert issubclass(ours, ModelError)
        assert what
        assert advice.endswith(".")


def test_importing_the_module_is_light() -> None:
    code = (
        "import sys, components.core.hub\n"
        "slow = {'huggingface_hub', 'torch', 'transformers', 'streamlit'} & set(sys.modules)\n"
        "raise SystemExit(str(slow) if slow else 0)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
