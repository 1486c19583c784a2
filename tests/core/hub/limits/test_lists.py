"""A hub that lists files of false or huge sizes, or countless ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from components.core import registry
from components.core.errors import CheckpointError, FetchError
from components.core.hub import Limits
from components.core.hub.limits import check_sizes
from components.core.settings import Settings
from tests.core.hub.fetches import ID, WEIGHTS
from tests.core.hub.limits.limited import asked, get
from tests.support.hub_server import Faults, HubServer, Reply, Request


def listed(change: Callable[[list[dict[str, Any]]], None]) -> Faults:
    """A fault in the list of files."""

    def fault(request: Request, reply: Reply) -> Reply:
        if request.kind != "info":
            return reply
        answer = json.loads(reply.body)
        change(answer["siblings"])
        return replace(reply, body=json.dumps(answer).encode())

    return fault


def sized(name: str, size: object) -> Faults:
    """A hub that says that a file has this size; one that it has not is added."""

    def change(siblings: list[dict[str, Any]]) -> None:
        siblings[:] = [sibling for sibling in siblings if sibling["rfilename"] != name]
        siblings.append({"rfilename": name, "size": size, "blobId": "0" * 40})

    return listed(change)


@pytest.mark.parametrize("size", [-1, 1.5, True, "12", None, float("inf"), [], {}])
def test_a_size_that_no_file_has_is_refused(server: HubServer, size: object) -> None:
    server.faults = sized(WEIGHTS, size)
    with pytest.raises(FetchError, match="sizes that no file has"):
        get(server)
    assert not asked(server)


@pytest.mark.parametrize("size", [4_096_000_001, 10**12, 10**30])
@pytest.mark.parametrize("name", [WEIGHTS, "extra.model", "vocab.txt"])
def test_more_than_a_model_may_be_is_refused_before_any_file_comes(
    server: HubServer, name: str, size: int
) -> None:
    server.faults = sized(name, size)
    with pytest.raises(CheckpointError, match=r"at most .* Choose") as caught:
        get(server)
    assert len(str(caught.value)) < 300
    assert not asked(server)


def test_the_files_of_a_model_count_together(server: HubServer, tiny: Path) -> None:
    total = sum((tiny / n).stat().st_size for n in ("config.json", WEIGHTS, "tokenizer.json"))
    with pytest.raises(CheckpointError, match=r"takes 1 MB; at most 1 MB .*CONTEXTLENS_MODEL_MB"):
        get(server, limits=Limits(model_bytes=total))
    assert not asked(server)
    total += (tiny / "tokenizer_config.json").stat().st_size
    assert get(server, limits=Limits(model_bytes=total)).revision == server.commit(ID)


def test_the_registry_asks_with_the_settings_limits(server: HubServer) -> None:
    server.faults = sized(WEIGHTS, 8_000_000)
    settings = Settings(hub_endpoint=server.endpoint, model_bytes=7_000_000)
    with pytest.raises(CheckpointError, match="at most 7 MB"):
        registry.locate(ID, settings)
    server.faults = None
    full = Settings(hub_endpoint=server.endpoint, hub_cache_bytes=1000)
    with pytest.raises(FetchError, match="CONTEXTLENS_HUB_CACHE_MB"):
        registry.locate(ID, full)


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("config.json", 1_000_000),
        ("tokenizer_config.json", 16_000_000),
        ("model.safetensors.index.json", 16_000_000),
        ("tokenizer.json", 64_000_000),
        ("vocab.txt", 64_000_000),
        ("spiece.model", 64_000_000),
    ],
)
def test_each_small_file_has_its_own_bound(name: str, most: int) -> None:
    check_sizes({name: most}, ID, Limits())
    with pytest.raises(CheckpointError, match=rf"{name} of {most + 1:,} bytes; at most {most:,}"):
        check_sizes({name: most + 1}, ID, Limits())


def test_a_model_of_countless_shards_is_refused(server: HubServer) -> None:
    def shatter(siblings: list[dict[str, Any]]) -> None:
        siblings[:] = [s for s in siblings if s["rfilename"] != WEIGHTS]
        names = [f"model-{i:05}-of-09000.safetensors" for i in range(9000)]
        siblings += [{"rfilename": n, "size": 1} for n in [*names, f"{WEIGHTS}.index.json"]]

    server.faults = listed(shatter)
    with pytest.raises(CheckpointError, match="9,004 files"):
        get(server)
    assert not asked(server)


def test_what_honest_models_list_is_let_through() -> None:
    limits = Limits(Settings().model_bytes, Settings().hub_cache_bytes)
    for spec in registry.PRESETS:
        sizes = {"config.json": 700, "tokenizer.json": 466_000, "vocab.txt": 232_000}
        check_sizes({**sizes, WEIGHTS: spec.download_bytes or 0}, spec.id, limits)
    largest = {"tokenizer.json": 17_100_000, "sentencepiece.bpe.model": 5_070_000}  # XLM-RoBERTa
    check_sizes({**largest, "config.json": 616, WEIGHTS: 2_240_000_000}, ID, limits)
