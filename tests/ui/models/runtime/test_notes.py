"""What pages say of a model folder that holds more, or other, than an encoder and its tokenizer."""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from tests.support.pages import app_settings, framed, plainly_said, view_of
from tests.support.pages import sentence as typed
from tests.support.tiny_models import build


def opened(folder: Path, tmp_path: Path) -> tuple[str, list[str], list[str]]:
    """What the page Tokens says on a folder, its errors, and its code."""
    settings = {"MODEL_FOLDERS": str(folder.parent), "DATA_DIR": str(tmp_path / "data")}
    with app_settings(ALLOW_DOWNLOADS="0", **settings):
        view = view_of(typed("the python"))
        app = framed(type(view)(f"folder:{folder.name}", view.sentences, ()), "tokens")
        assert not app.exception
        errors = [error.value.replace("\\", "") for error in app.error]
        return plainly_said(app), errors, [code.value for code in app.code]


def test_a_dropped_classifier_and_a_foreign_vocabulary_are_said_on_page_and_card(
    tmp_path: Path,
) -> None:
    folder = build("bert", tmp_path / "models" / "mine", vocab_size=20)
    weights = load_file(folder / "model.safetensors")
    weights["classifier.weight"] = torch.ones(2, 32)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    text, errors, _ = opened(folder, tmp_path)
    assert not errors
    head = "one more part, which is not shown here: classifier."
    assert text.count(head) == 2  # on the page, and on the model's card
    assert text.count("but the model's table only 20 rows: they do not belong together") == 2


def test_pickled_weights_come_with_the_lines_that_convert_them(tmp_path: Path) -> None:
    folder = build("bert", tmp_path / "models" / "mine")
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    _, errors, code = opened(folder, tmp_path)
    assert "only pickled weights (pytorch_model.bin)" in errors[0]
    assert "torch.load('mine' + " in code[0]
