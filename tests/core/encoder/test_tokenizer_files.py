"""A foreign model's tokenizer is laid out anew: transformers sees what was checked, no more."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import transformers
from tokenizers import Regex, pre_tokenizers

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.encoder import tokenizer_trial
from contextlens.core.encoder.vocabulary import panics_told, readable_folder
from contextlens.core.errors import CheckpointError
from contextlens.core.model_config import read_config
from tests.core.spoiled import change_json, files_of
from tests.support.tiny_models import build


@pytest.fixture
def folder(tiny_root: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_root / "bert", tmp_path / "model"))


@pytest.fixture
def load(tmp_path: Path, open_with: Callable[..., EncoderService]) -> Callable[[], Any]:
    return lambda: open_with(model_folder=tmp_path).load_tokenizer("folder:model")


TOKENIZER, SETTINGS = "tokenizer.json", "tokenizer_config.json"
MAP, ADDED = "special_tokens_map.json", "added_tokens.json"
DOUBLE = {"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}
MANY = {str(i): {"content": "x"} for i in range(20_001)}
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    (
        TOKENIZER,
        {"normalizer": {"type": "Sequence", "normalizers": [DOUBLE] * 20}},
        "makes 1,048,576 characters of 1; at most 24",
    ),
    (TOKENIZER, {"x": [[]] * 2_200_001}, "more than 2,200,000 times"),
    (TOKENIZER, {"model": {"type": "WordPiece", "vocab": {"a": 0}}}, "cannot be read"),
    (SETTINGS, {"tokenizer_class": "RagTokenizer"}, "class .* 'RagTokenizer'; it must be a class"),
    (SETTINGS, {"tokenizer_class": ["BertTokenizer"]}, "it must be a class of the supported"),
    (SETTINGS, {"tokenizer_class": "x" * 500}, "tokenizer_class is 'xxx"),
    (SETTINGS, {"cls_token": "$A $A $A"}, "cls_token is .* without spaces"),
    (SETTINGS, {"sep_token": {"content": "x:4000000000"}}, "sep_token is .* without spaces"),
    (SETTINGS, {"cls_token": "x" * 1000}, "a text of at most 512 characters"),
    (SETTINGS, {"cls_token": 5}, "cls_token is 5"),
    (SETTINGS, {"additional_special_tokens": ["x"] * 20_001}, "at most 20,000 tokens"),
    (SETTINGS, {"extra_special_tokens": "x"}, "a list of at most 20,000 tokens"),
    (SETTINGS, {"added_tokens_decoder": {str(4 * 10**9): {"content": "x"}}}, "ID is 4000000000"),
    (SETTINGS, {"added_tokens_decoder": {"9" * 4000: {"content": "x"}}}, "ID is '9999"),
    (SETTINGS, {"added_tokens_decoder": {"-1": {"content": "x"}}}, "ID is '-1'"),
    (SETTINGS, {"added_tokens_decoder": MANY}, "an object of at most 20,000 tokens"),
    (SETTINGS, {"added_tokens_decoder": []}, "an object of at most 20,000 tokens"),
    (SETTINGS, {"added_tokens_decoder": {"0": {"content": "x", "lstrip": "y"}}}, "lstrip is 'y'"),
    (SETTINGS, {"do_lower_case": "yes"}, "it must be true or false"),
    (SETTINGS, {"errors": "xmlcharrefreplace"}, "ignore, replace or strict"),
    (SETTINGS, {"padding_side": "middle"}, "padding_side is .*; it must be left or right"),
    (SETTINGS, {"truncation_side": [[]]}, "truncation_side is .*; it must be left or right"),
    (SETTINGS, {"errors": {}}, "errors is .*; it must be ignore, replace"),
    *[
        (SETTINGS, {"model_max_length": value}, "a number of tokens from 1")
        for value in (0, float("inf"), float("nan"), True, "512")
    ],
    (SETTINGS, {"model_max_length": 2}, "takes texts of 2 tokens"),
    (MAP, {"cls_token": 5}, "cls_token is 5"),
    (ADDED, {"x": 4 * 10**9}, "ID is 4000000000"),
    (ADDED, {"x": -1}, "ID is -1"),
    (ADDED, {"x": "0"}, "ID is '0'"),
    (ADDED, {"x" * 1000: 1}, "an added token is"),
    ("config.json", {"tokenizer_class": "RagTokenizer"}, "tokenizer_class is 'RagTokenizer'"),
]
IGNORED: dict[str, Any] = {
    "vocab": {"a": 0},
    "merges": [],
    "vocab_file": "/etc/passwd",
    "tokenizer_file": "/etc/passwd",
    "tokenizer_object": {},
    "post_processor": {},
    "tokenizer_padding": {"length": 10**9},
    "_json_padding": {"length": 10**9},
    "_spm_precompiled_charsmap": "x",
    "gguf_file": "x.gguf",
    "fast_tokenizer_files": ["tokenizer.4.0.0.json"],
    "init_inputs": [1, 2, 3],
    "auto_map": {"AutoTokenizer": ["trap.Tokenizer", None]},
    "chat_template": "{{ 'a' * 10**9 }}",
    "backend": "sentencepiece",
    "name_or_path": "/etc",
    "unk_id": 10**9,
    "x_token": "x",
    "model_input_names": ["x"],
    "added_tokens_encoder": {},
    "max_length": 10**12,
}


@pytest.mark.parametrize(("name", "bomb", "words"), REFUSED, ids=lambda value: str(value)[:30])
def test_a_bomb_is_refused_in_one_sentence(
    name: str, bomb: dict[str, Any], words: str, folder: Path, load: Callable[[], Any]
) -> None:
    if name == "config.json":
        (folder / SETTINGS).unlink()
    change_json(folder / name, **bomb)
    with pytest.raises(CheckpointError, match=words) as caught:
        load()
    assert str(caught.value).endswith("another model.")
    assert len(str(caught.value)) < 500


def test_an_id_of_four_thousand_million_is_refused_before_it_is_loaded(
    folder: Path, load: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", pytest.fail)
    path = folder / TOKENIZER
    model = json.loads(path.read_text())["model"]
    model["vocab"]["bomb"] = 4 * 10**9
    change_json(path, model=model)
    with pytest.raises(CheckpointError, match="the ID 4000000000; at most 999,999 is allowed"):
        load()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("vocab.txt", b"\n" * 1_000_001, "more than 1,000,000"),
        ("vocab.txt", b"a" * 5000, "one of more than 512 characters"),
        ("vocab.json", b'{"a": 4000000000}', "an ID is 4000000000"),
        ("vocab.json", b'{"a": true}', "an ID is True"),
        ("vocab.json", b'{"' + b"a" * 5000 + b'": 1}', "one of more than 512 characters"),
        ("vocab.json", b"{}", "has no piece"),
        ("vocab.json", b'{"a": 1}', "the file merges.txt that belongs to it is missing"),
        ("spiece.model", b"x", "neither a tokenizer.json nor a vocab.txt or vocab.json"),
    ],
)
def test_vocabularies_in_files_of_their_own_are_bounded(
    name: str, content: bytes, words: str, folder: Path, load: Callable[[], Any]
) -> None:
    (folder / TOKENIZER).unlink()
    (folder / name).write_bytes(content)
    with pytest.raises(CheckpointError, match=words):
        load()


def test_a_tokenizer_without_places_in_the_text_is_read_by_a_class_that_has_them(
    tmp_path: Path, load: Callable[[], Any]
) -> None:
    """transformers reads SentencePiece alone for this class, or none: in the text, no token is."""
    folder = build("bert-generation", tmp_path / "model")
    assert load().read_by == "AutoTokenizer"
    change_json(folder / SETTINGS, tokenizer_class="BertGenerationTokenizer")
    assert load().read_by == "PreTrainedTokenizerFast"
    (folder / TOKENIZER).rename(folder / "spiece.model")
    with pytest.raises(CheckpointError, match=r"docs/models.md has the lines that write a"):
        load()


def test_a_vocabulary_of_bert_s_is_read_with_bert_s_class(
    tmp_path: Path, load: Callable[[], Any]
) -> None:
    folder = build("bert-generation", tmp_path / "model")
    for name in (TOKENIZER, SETTINGS):
        (folder / name).unlink()
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "un", "##known"]
    (folder / "vocab.txt").write_text("\n".join(pieces), encoding="utf-8")
    assert load().read_by == "BertTokenizer"


def test_a_file_past_its_bound_is_refused(folder: Path, load: Callable[[], Any]) -> None:
    with (folder / TOKENIZER).open("ab") as file:
        file.truncate(80_000_001)  # zeros, which take no room on the disk
    with pytest.raises(CheckpointError, match="more than the 80,000,000 bytes"):
        load()


@pytest.mark.parametrize("family", ["bert", "roberta", "albert"])
def test_settings_that_transformers_writes_are_handed_on(family: str, tiny_root: Path) -> None:
    given = json.loads((tiny_root / family / SETTINGS).read_text())
    with readable_folder(files_of(tiny_root / family), read_config(tiny_root / family)) as seen:
        handed_on = json.loads((seen / SETTINGS).read_text())
    expected = {name: value for name, value in given.items() if value is not None}
    assert handed_on == {name: value for name, value in expected.items() if name != "backend"}


def test_transformers_sees_what_was_checked_and_nothing_else(folder: Path) -> None:
    for trap in ("tekken.json", "tiktoken.model", "spiece.model", "chat_template.jinja", "trap.py"):
        (folder / trap).write_text("{}")
    change_json(folder / SETTINGS, **IGNORED)
    change_json(folder / "config.json", num_labels=10**8, auto_map={"AutoTokenizer": "trap.T"})
    with readable_folder(files_of(folder), read_config(folder)) as seen:
        assert {p.name for p in seen.iterdir()} == {
            "config.json",
            "tokenizer.json",
            "tokenizer_config.json",
        }
        assert "num_labels" not in read_config(seen)
        settings = json.loads((seen / "tokenizer_config.json").read_text())
        assert not set(IGNORED) & set(settings)
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


def test_an_id_that_the_model_has_no_row_for_is_told(
    folder: Path, tmp_path: Path, open_with: Callable[..., EncoderService]
) -> None:
    added = json.loads((folder / "tokenizer.json").read_text())["added_tokens"]
    rows = read_config(folder)["vocab_size"]
    more = {**added[-1], "id": rows, "content": "[MORE]"}
    change_json(folder / "tokenizer.json", added_tokens=[*added, more])
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
