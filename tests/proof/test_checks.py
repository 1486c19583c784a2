"""The checks that need no file: right on every family, red where a weight is wrong."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file
from transformers import AutoModel

from contextlens import proof
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.proof.__main__ import main
from contextlens.proof.checks import TEXTS, Check, ready_checks
from contextlens.proof.plain import plain_script
from tests.support.snippets import run
from tests.support.tiny_models import ALL

NAME = "encoder.layer.3.output.dense.weight"
COPY = "folder:all-MiniLM-L6-v2"


def quiet(stage: str, share: float) -> None:
    pass


def verdicts(checks: tuple[Check, ...]) -> dict[str, str]:
    return {check.key: check.verdict for check in checks}


@pytest.fixture
def copied(bundled_folder: Path, tmp_path: Path) -> Path:
    """A copy of the bundled model under its own name."""
    folder = tmp_path / "all-MiniLM-L6-v2"
    shutil.copytree(bundled_folder, folder)
    return folder


def spoil(folder: Path) -> None:
    arrays = load_file(folder / "model.safetensors")
    arrays[NAME] = arrays[NAME].copy()
    arrays[NAME][0, 0] += 1
    save_file(arrays, folder / "model.safetensors", metadata={"format": "pt"})


@pytest.mark.parametrize("family", ALL)
def test_every_family_agrees_wherever_a_check_applies(
    tiny_service: EncoderService, family: str
) -> None:
    card = tiny_service.load(f"folder:{family}")
    found = verdicts(ready_checks(tiny_service, card, None, quiet))
    assert "differs" not in found.values()
    assert {found["batch"], found["padding"], found["parameters"]} == {"agrees"}
    assert found["transformers"] == "not_run"  # no files here


def print_rows(folder: Path) -> None:
    """Write bert-base-uncased's printed rows of words, positions and a segment into a model."""
    facts = json.loads(Path(proof.__file__).with_name("bert_base_uncased.json").read_text())
    token_ids = {"I am Sinan": [101, 1045, 2572, 8254, 2319, 102],
                 "I am Matt": [101, 1045, 2572, 4717, 102],
                 "She is Zoe": [101, 2016, 2003, 11199, 102]}  # fmt: skip
    rows = {"word": {}, "position": facts["position_rows"], "token_type": facts["segment_row"]}
    for fact in facts["word_rows"]:
        ids = token_ids[fact["text"]]
        rows["word"] |= {ids[int(place)]: ends for place, ends in fact["rows"].items()}
    assert [len(table) for table in rows.values()] == [10, 6, 1]
    arrays = load_file(folder / "model.safetensors")
    for table, printed in rows.items():
        name = f"embeddings.{table}_embeddings.weight"
        arrays[name] = arrays[name].copy()
        for row, (head, tail) in printed.items():
            arrays[name][int(row), :3], arrays[name][int(row), -3:] = head, tail
    save_file(arrays, folder / "model.safetensors", metadata={"format": "pt"})


@pytest.mark.parametrize("has_printed_rows", [False, True])
def test_another_model_under_the_name_of_bert_base_is_red_in_all_printed_numbers(
    copied: Path, open_with: Callable[..., EncoderService], *, has_printed_rows: bool
) -> None:
    folder = copied.rename(copied.parent / "bert-base-uncased")
    if has_printed_rows:
        print_rows(folder)
    service = open_with(model_folder=folder.parent)
    card = service.load(f"folder:{folder.name}")
    found = verdicts(ready_checks(service, card, None, quiet))
    red = {"weights", "bert_embeddings", "bert_states", "bert_pooler", "bert_cosines"}
    red |= set() if has_printed_rows else {"bert_rows"}
    assert {key for key, verdict in found.items() if verdict == "differs"} == red


@pytest.mark.slow
def test_one_wrong_weight_turns_red(copied: Path, open_with: Callable[..., EncoderService]) -> None:
    service = open_with(model_folder=copied.parent)
    card = service.load(COPY)
    spoil(copied)  # the app still holds the right weights
    found = verdicts(ready_checks(service, card, copied, quiet))
    red = {"weights", "transformers", "cosines"}
    assert {key for key, verdict in found.items() if verdict == "differs"} == red
    assert found["layer_0"] == found["tokens"] == "agrees"


@pytest.mark.slow
def test_the_command_line_says_it_with_its_exit_code(
    copied: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CONTEXTLENS_MODEL_FOLDER", str(copied.parent))
    spoil(copied)
    assert main(["--model", COPY, "--json"]) == 1
    rows = json.loads(capsys.readouterr().out)
    red = [row["check"] for row in rows if row["verdict"] == "differs"]
    assert red == ["The published weights"]  # the other numbers are right for these weights
    assert main(["--model", "folder:none"]) == 2
    assert "no model folder" in capsys.readouterr().err
    assert main(["--benchmark", "stsb"]) == 2


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_weights_stored_in_half_precision_are_computed_as_transformers_does_in_float32(
    copied: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], dtype
) -> None:
    folder = copied.rename(copied.parent / "half")
    AutoModel.from_pretrained(folder, dtype=dtype).save_pretrained(folder)
    monkeypatch.setenv("CONTEXTLENS_MODEL_FOLDER", str(folder.parent))
    assert main(["--model", "folder:half", "--json"]) == 0
    found = {row["check"]: row["verdict"] for row in json.loads(capsys.readouterr().out)}
    assert found["States, as transformers"] == found["Sentence vectors"] == "agrees"


def test_a_check_that_could_not_be_run_here_ends_with_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One of another model, such as the printed numbers of bert-base-uncased, does not."""
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    assert main(["--json"]) == 1
    rows = json.loads(capsys.readouterr().out)
    assert {row["check"] for row in rows if row["verdict"] == "not run"} == {
        *("States, as transformers", "Sentence vectors", "bert-base's numbers")
    }
    monkeypatch.undo()
    assert main([]) == 0


def test_the_script_gives_the_apps_states_and_vectors(
    service: EncoderService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    card = service.load(BUNDLED_ID)
    found = run(plain_script(card, TEXTS, library=False))
    for encoding, states in zip(service.encode(BUNDLED_ID, TEXTS), found["states"], strict=True):
        np.testing.assert_allclose(encoding.hidden, states, atol=1e-5)
    own = [one.vector for one in service.sentence_vectors(BUNDLED_ID, TEXTS)]
    lengths = np.linalg.norm(found["vectors"], axis=1, keepdims=True)
    np.testing.assert_allclose(own, found["vectors"] / lengths, atol=1e-6)
    with np.load("proof.npz") as arrays:
        assert set(arrays) == {*(f"arr_{i}" for i in range(len(TEXTS))), "vectors"}
