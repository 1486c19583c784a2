"""Models that stay loaded: as many as the bound allows, and always the requested one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from contextlens.core import EncoderService
from contextlens.core.encoder.devices import FILE, machine
from tests.support.tiny_models import build


def test_no_more_is_kept_loaded_than_the_bound_allows(
    tmp_path: Path, open_with: Callable[..., EncoderService]
) -> None:
    for name in ("a", "b", "c"):
        build("bert", tmp_path / name, hidden_size=160, intermediate_size=640)
    size = open_with(model_folder=tmp_path).load("folder:a").memory_bytes
    service = open_with(model_folder=tmp_path, model_bytes=int(2.4 * size))

    def loaded() -> set[str]:
        return {spec.title for spec in service.models() if spec.loaded}

    for name in ("a", "b"):
        service.load(f"folder:{name}")
    service.tokenize("folder:a", ["so that it was used last"])
    service.load("folder:c")
    assert loaded() == {"a", "c"}
    service.encode("folder:b", ["it comes back when it is asked for"])
    assert loaded() == {"b", "c"}


def test_a_model_larger_than_the_bound_is_kept_alone(
    tmp_path: Path, open_with: Callable[..., EncoderService]
) -> None:
    for name in ("a", "b"):
        build("bert", tmp_path / name)
    service = open_with(model_folder=tmp_path, model_bytes=1000)
    for name in ("a", "b"):
        service.load(f"folder:{name}")
        assert [spec.title for spec in service.models() if spec.loaded] == [name]


def test_the_copy_for_quick_work_counts_too(
    tmp_path: Path, open_with: Callable[..., EncoderService]
) -> None:
    for name in ("a", "b"):
        build("bert", tmp_path / name, hidden_size=160, intermediate_size=640)
    size = open_with(model_folder=tmp_path).load("folder:a").memory_bytes
    measured = {"machine": machine(), "ratio": 2.0}
    (tmp_path / FILE).write_text(json.dumps(measured), encoding="utf-8")
    service = open_with(model_folder=tmp_path, model_bytes=int(2.2 * size), data_dir=tmp_path)
    for name in ("a", "b"):
        service.load(f"folder:{name}")
    service.encode("folder:b", ["A snake"], precision="fast")
    assert [spec.title for spec in service.models() if spec.loaded] == ["b"]
