"""The models that are listed, that are allowed, and that are already here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from contextlens.core import BUNDLED_ID, open_service, registry
from contextlens.core.errors import UnknownModelError
from contextlens.core.hub import CachedFiles
from contextlens.core.registry import PRESETS, check_model, list_models
from contextlens.core.settings import Settings
from tests.support.hub_server import hub_server
from tests.support.tiny_models import build

ROOT = Path(__file__).parents[3]
EXPECTED_PRESETS = [
    "google-bert/bert-base-uncased",
    "sentence-transformers/all-mpnet-base-v2",
    "BAAI/bge-small-en-v1.5",
    "intfloat/multilingual-e5-base",
    "answerdotai/ModernBERT-base",
    "distilbert/distilbert-base-uncased",
    "FacebookAI/roberta-base",
    "google-bert/bert-base-cased",
    "google-bert/bert-large-uncased",
    "google-bert/bert-large-cased",
    "google-bert/bert-large-uncased-whole-word-masking",
]


# The list


def test_the_bundled_model_is_the_default_and_the_presets_follow() -> None:
    specs = list_models(Settings())
    assert [spec.id for spec in specs] == [BUNDLED_ID, *EXPECTED_PRESETS]
    assert specs[0].source == "bundled"
    assert specs[0].download_bytes is None
    assert [spec.id for spec in PRESETS] == EXPECTED_PRESETS


def test_local_folders_are_listed_by_name(folders: Path) -> None:
    specs = list_models(Settings(model_folder=folders))
    assert [spec.id for spec in specs[len(PRESETS) + 1 :]] == ["folder:one", "folder:two"]
    assert {spec.source for spec in specs[len(PRESETS) + 1 :]} == {"folder"}


def test_a_folder_that_is_added_later_is_found(folders: Path) -> None:
    settings = Settings(model_folder=folders)
    (folders / "later").mkdir()
    (folders / "later" / "config.json").write_text("{}", encoding="utf-8")
    assert "folder:later" in [spec.id for spec in list_models(settings)]


def test_a_model_folder_that_was_taken_away_leaves_the_others(tmp_path: Path) -> None:
    specs = list_models(Settings(model_folder=tmp_path / "gone"))
    assert [spec.id for spec in specs] == [BUNDLED_ID, *EXPECTED_PRESETS]


# Limits


def test_contextlens_models_is_the_whole_list_in_its_own_order(folders: Path) -> None:
    names = ("FacebookAI/roberta-base", "someone/else", BUNDLED_ID, "folder:two")
    specs = list_models(Settings(models=names, model_folder=folders))
    assert tuple(spec.id for spec in specs) == names
    assert [spec.source for spec in specs] == ["hub", "hub", "bundled", "folder"]
    assert specs[1].title == "else"
    assert specs[0] == next(spec for spec in PRESETS if spec.id == names[0])


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


# Models on this machine


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
        assert not CachedFiles().has(preset), "a tokenizer is no model"
        service.load(preset)
        assert preset in here(), "what was just fetched is looked at again"


def test_the_list_of_models_reads_folders_once_in_a_while(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from contextlens.core import *; looks = []\n"
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
        "import sys; from contextlens.core import open_service; open_service().models(); "
        "print(*({'huggingface_hub.hf_api', 'httpx2', 'torch'} & set(sys.modules)), 'done')"
    )
    env = {**os.environ, "HF_HUB_CACHE": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["done"]


# Lists for everyone, and facts on one model


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
