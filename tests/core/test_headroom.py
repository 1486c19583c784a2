"""A model that the free memory cannot hold is refused before its weights are read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
import torch
from safetensors.torch import load_file, save_file

from contextlens.core import EncoderService, memory
from contextlens.core.encoder import needed_memory
from contextlens.core.errors import ModelError
from tests.support.tiny_models import build

SPARE = 200_000_000


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Says how much memory is free."""
    return lambda n: monkeypatch.setattr("contextlens.core.encoder.free_memory", lambda: n)


def test_what_is_needed_is_what_the_weights_take_in_float32(tmp_path: Path) -> None:
    folder = build("bert", tmp_path / "whole")
    weights = load_file(folder / "model.safetensors")
    expected = sum(weight.numel() for weight in weights.values()) * 4 + SPARE
    assert needed_memory(folder) == expected
    half = {name: weight.to(torch.float16) for name, weight in weights.items()}
    save_file(half, folder / "model.safetensors")
    assert needed_memory(folder) == expected
    sharded = build("bert-sharded", tmp_path / "sharded")
    assert needed_memory(sharded) == expected


@pytest.mark.parametrize("content", [None, b"", b"\xff" * 100])
def test_weights_that_cannot_be_read_are_left_to_the_loader(
    tmp_path: Path, content: bytes | None
) -> None:
    if content is not None:
        (tmp_path / "model.safetensors").write_bytes(content)
    assert needed_memory(tmp_path) in {0, SPARE}


def test_a_model_that_does_not_fit_is_refused_before_it_is_read(
    tmp_path: Path,
    open_with: Callable[..., EncoderService],
    free: Callable[[int], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    build("bert", tmp_path / "a")
    read: list[object] = []
    monkeypatch.setattr("contextlens.core.encoder.load_model", lambda *given: read.append(given))
    free(150_000_000)
    service = open_with(model_folder=tmp_path)
    with pytest.raises(ModelError, match=r"a needs about 201 MB of memory, and 150 MB can be had"):
        service.load("folder:a")
    assert not read


def test_the_bundled_model_fits_into_three_hundred_megabytes(bundled_folder: Path) -> None:
    assert SPARE < needed_memory(bundled_folder) < 300_000_000


def test_models_that_are_not_used_make_room_only_where_that_helps(
    tmp_path: Path, open_with: Callable[..., EncoderService], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        build("bert", tmp_path / name)
    service = open_with(model_folder=tmp_path)
    size = service.load("folder:a").memory_bytes

    def loaded() -> set[str]:
        return {spec.title for spec in service.models() if spec.loaded}

    needed = needed_memory(tmp_path / "b")
    held_back = needed - 2 * size  # free memory, less than dropping "a" would make up for
    monkeypatch.setattr("contextlens.core.encoder.free_memory", lambda: held_back)
    with pytest.raises(ModelError, match="needs about"):
        service.load("folder:b")
    assert loaded() == {"a"}, "nobody's model goes for one that does not fit anyway"
    frees = iter([needed - 1, needed])  # before and after "a" has gone
    monkeypatch.setattr("contextlens.core.encoder.free_memory", lambda: next(frees))
    service.load("folder:b")
    assert loaded() == {"b"}


# How much is free


def container(folder: Path, most: str, held: int = 0, files: int = 0) -> Path:
    (folder / "memory.max").write_text(f"{most}\n")
    (folder / "memory.current").write_text(f"{held}\n")
    (folder / "memory.stat").write_text(f"anon 5\ninactive_file {files}\n")
    return folder


@pytest.mark.parametrize(
    ("most", "expected"), [("max", None), ("1000000", 500_000), ("nonsense", None)]
)
def test_a_containers_own_bound_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: str, expected: int | None
) -> None:
    class Machine:
        available = 10**12

    monkeypatch.setattr(psutil, "virtual_memory", Machine)
    monkeypatch.setattr(
        memory, "_CONTAINER", container(tmp_path, most, held=700_000, files=200_000)
    )
    assert memory.free_memory() == (expected or Machine.available)


def test_without_a_container_the_machine_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "_CONTAINER", tmp_path / "none")
    assert memory.free_memory() > 0
