"""Each of the bundled model's files is known by its checksum."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from contextlens.core import BUNDLED_ID, EncoderService, registry
from contextlens.core.bundled_files import SHA256, check_bundled_files
from contextlens.core.errors import CheckpointError


@pytest.fixture
def copy(tmp_path: Path, bundled_folder: Path) -> Path:
    """The bundled model's files; the weights are a link to the installed ones."""
    ignored = shutil.ignore_patterns("*.safetensors")
    made = Path(shutil.copytree(bundled_folder, tmp_path / "bundle", ignore=ignored))
    (made / "model.safetensors").symlink_to(bundled_folder / "model.safetensors")
    return made


def test_the_table_has_every_file_of_the_package(bundled_folder: Path) -> None:
    found = {p.relative_to(bundled_folder).as_posix() for p in bundled_folder.rglob("[!.]*.*")}
    assert found == {*SHA256, "model.safetensors"}
    check_bundled_files(bundled_folder)


@pytest.mark.parametrize("name", SHA256)
def test_a_changed_or_missing_file_is_found(name: str, copy: Path) -> None:
    check_bundled_files(copy)
    (copy / name).write_bytes((copy / name).read_bytes() + b" ")
    with pytest.raises(CheckpointError, match=name):
        check_bundled_files(copy)
    (copy / name).unlink()
    with pytest.raises(CheckpointError, match=name):
        check_bundled_files(copy)


@pytest.mark.parametrize("name", ["added_tokens.json", "merges.txt", "chat_template.jinja"])
def test_a_new_file_that_could_be_read_is_found(name: str, copy: Path) -> None:
    (copy / name).write_text("{}")
    with pytest.raises(CheckpointError, match=name):
        check_bundled_files(copy)


@pytest.mark.parametrize("name", ["tokenizer.json", "config.json"])
def test_a_changed_file_is_not_used(
    name: str,
    copy: Path,
    monkeypatch: pytest.MonkeyPatch,
    open_with: Callable[..., EncoderService],
) -> None:
    (copy / name).write_bytes((copy / name).read_bytes() + b" ")
    monkeypatch.setattr(registry, "bundled_folder", lambda: copy)
    for use in (open_with().load, open_with().load_tokenizer):
        with pytest.raises(CheckpointError, match=f"{name} is not what Contextlens was built"):
            use(BUNDLED_ID)
