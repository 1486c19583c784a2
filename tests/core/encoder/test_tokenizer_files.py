"""A foreign model's tokenizer is laid out anew: transformers sees what was checked, no more."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Regex, pre_tokenizers

from components.core import BUNDLED_ID, EncoderService
from components.core.encoder import tokenizer_trial
from components.core.encoder.panics import panics_told
from components.core.encoder.tokenizer_files import readable_folder
from components.core.errors import CheckpointError
from components.core.families import read_config
from components.core.registry import ModelFiles
from tests.support.tiny_models import build


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return build("bert", tmp_path / "model")


@pytest.fixture
def load(tmp_path: Path, open_with: Callable[..., EncoderService]) -> Callable[[], Any]:
    return lambda: open_with(model_folder=tmp_path).load_tokenizer("folder:model")


def change(path: Path, **changes: Any) -> None:
    given = json.loads(path.read_text()) if path.is_file() else {}
    path.write_text(json.dumps(given | changes))


def double(times: int) -> dict[str, Any]:
    rule = {"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}
    return {"type": "Sequence", "normalizers": [rule] * times}


def split(pattern: str) -> dict[str, Any]:
    return {
        "type": "Split",
        "pattern": {"Regex": pattern},
        "behavior": "Isolated",
        "invert": False,
    }


@pytest.mark.parametrize(
    ("name", "bomb", "said"),
    [
        ("tokenizer.json", {"normalizer": double(20)}, "one character into 1,048,576"),
        ("tokenizer.json", {"pre_tokenizer": split("(x+x+)+y")}, "may take without end"),
        ("tokenizer.json", {"added_tokens": [{"id": 4 * 10**9, "content": "x"}]}, "ID 4000000000"),
        ("tokenizer.json", {"x": [[]] * 2_200_001}, "more than 2,200,000 times"),
        ("tokenizer.json", {"model": {"type": "WordPiece", "vocab": {"a": 0}}}, "cannot be read"),
        ("added_tokens.json", {"x": 4 * 10**9}, "ID 4000000000"),
        ("tokenizer_config.json", {"tokenizer_class": "RagTokenizer"}, "class 'RagTokenizer'"),
        ("tokenizer_config.json", {"cls_token": "$A $A $A"}, "cls_token"),
        ("tokenizer_config.json", {"model_max_length": 2}, "takes texts of 2 tokens"),
        ("special_tokens_map.json", {"cls_token": 5}, "special token"),
        ("config.json", {"tokenizer_class": "RagTokenizer"}, "class"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_bomb_is_refused_in_one_sentence(
    name: str, bomb: dict[str, Any], said: str, folder: Path, load: Callable[[], Any]
) -> None:
    if name == "config.json":
        (folder / "tokenizer_config.json").unlink()
    change(folder / name, **bomb)
    with pytest.raises(CheckpointError, match=said) as caught:
        load()
    assert str(caught.value).endswith("another model.")
    assert len(str(caught.value)) < 600


def test_an_id_of_four_thousand_million_is_refused_before_it_is_loaded(
    folder: Path, load: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")  # no trial either
    path = folder / "tokenizer.json"
    model = json.loads(path.read_text())["model"]
    model["vocab"]["bomb"] = 4 * 10**9
    change(path, model=model)
    with pytest.raises(CheckpointError, match="the ID 4000000000, and with its"):
        load()


def test_a_file_past_its_bound_is_refused(folder: Path, load: Callable[[], Any]) -> None:
    with (folder / "tokenizer.json").open("ab") as file:
        file.truncate(80_000_001)  # zeros, which take no room on the disk
    with pytest.raises(CheckpointError, match="more than the 80,000,000 bytes"):
        load()


def test_transformers_sees_what_was_checked_and_nothing_else(folder: Path) -> None:
    for trap in ("tekken.json", "tiktoken.model", "spiece.model", "chat_template.jinja", "trap.py"):
        (folder / trap).write_text("{}")
    tricks = {"vocab": {"a": 0}, "chat_template": "{{ 1 }}", "init_inputs": []}
    change(folder / "tokenizer_config.json", **tricks)
    change(folder / "config.json", num_labels=10**8, auto_map={"AutoTokenizer": "trap.T"})
    files = ModelFiles("folder:model", "model", "folder", folder, "the folder model", "")
    with readable_folder(files, read_config(folder)) as seen:
        assert {p.name for p in seen.iterdir()} == {
            "config.json",
            "tokenizer.json",
            "tokenizer_config.json",
        }
        assert "num_labels" not in read_config(seen)
        settings = json.loads((seen / "tokenizer_config.json").read_text())
        assert not set(tricks) & set(settings)
        whole = (seen / "tokenizer.json").read_bytes()
        assert whole == (folder / "tokenizer.json").read_bytes()
    assert not seen.exists()


@pytest.mark.parametrize("name", ["vocab.txt", "vocab.json"])
def test_a_vocabulary_without_tokenizer_json_is_read(
    name: str, tmp_path: Path, load: Callable[[], Any]
) -> None:
    family = "bert" if name == "vocab.txt" else "roberta"
    folder = build(family, tmp_path / "model")
    expected = load().vocabulary_size
    model = json.loads((folder / "tokenizer.json").read_text())["model"]
    pieces = sorted(model["vocab"], key=model["vocab"].get)
    (folder / "tokenizer.json").unlink()
    if name == "vocab.txt":
        (folder / name).write_text("\n".join(pieces), encoding="utf-8")
    else:
        (folder / name).write_text(json.dumps(model["vocab"]))
        merges = "\n".join(" ".join(pair) for pair in model["merges"])
        (folder / "merges.txt").write_text(f"#version: 0.2\n{merges}\n", encoding="utf-8")
    assert load().vocabulary_size == expected


def test_the_bundled_tokenizer_is_not_tried(
    open_with: Callable[..., EncoderService], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokenizer_trial.sys, "executable", "/nowhere/python")
    assert open_with().load_tokenizer(BUNDLED_ID).vocabulary_size == 30_522


@pytest.mark.slow
def test_an_id_that_the_model_has_no_row_for_is_told(
    folder: Path, tmp_path: Path, open_with: Callable[..., EncoderService]
) -> None:
    added = json.loads((folder / "tokenizer.json").read_text())["added_tokens"]
    rows = read_config(folder)["vocab_size"]
    more = {**added[-1], "id": rows, "content": "[MORE]"}
    change(folder / "tokenizer.json", added_tokens=[*added, more])
    service = open_with(model_folder=tmp_path)
    assert service.encode("folder:model", ["the cat"])[0].n_tokens > 2
    with pytest.raises(CheckpointError, match=f"ID {rows}, and the model knows IDs below {rows}"):
        service.encode("folder:model", ["a [MORE]"])


def test_a_segment_that_the_model_has_no_row_for_is_told(
    tmp_path: Path, open_with: Callable[..., EncoderService]
) -> None:
    build("bert", tmp_path / "model", type_vocab_size=1)
    service = open_with(model_folder=tmp_path)
    assert service.encode("folder:model", ["the cat"])[0].n_tokens > 2
    with pytest.raises(CheckpointError, match="segment 1, and the model knows segments below 1"):
        service.encode("folder:model", ["the cat"], pairs=["a dog"])


def test_a_panic_is_an_error_of_ours() -> None:
    cut = pre_tokenizers.Split(Regex("(x+x+)+y"), "isolated")
    with pytest.raises(CheckpointError, match="fails on this text"), panics_told("model"):
        cut.pre_tokenize_str("x" * 60)
    with pytest.raises(KeyboardInterrupt), panics_told("model"):
        raise KeyboardInterrupt
