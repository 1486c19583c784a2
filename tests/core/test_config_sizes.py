"""A config that lies about sizes is refused by name, at once, and nothing is allocated by it."""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import transformers
from safetensors.torch import load_file, save_file

from contextlens.core import ModelCard, families
from contextlens.core.errors import CheckpointError
from tests.core.spoiled import change_json
from tests.support.tiny_models import FAMILIES, build

SECONDS = 2.0
MEGABYTES = 150

ABSURD: list[dict[str, Any]] = [
    {"hidden_size": 10**9},
    {"hidden_size": 65_536, "num_attention_heads": 1024},
    {"num_hidden_layers": 10**6},
    {"num_hidden_layers": 256},
    {"vocab_size": 10**12},
    {"vocab_size": 9_000_000},
    {"vocab_size": 10**4000},
    {"max_position_embeddings": 10**12},
    {"max_position_embeddings": 999_999},
    {"intermediate_size": 10**15},
    {"intermediate_size": 1_000_000},
    {"type_vocab_size": 10**9},
    {"type_vocab_size": 1000},
    {"num_attention_heads": 10**9},
    {"num_attention_heads": 5},
    {"num_attention_heads": 0},
    {"num_hidden_layers": 0},
    {"num_hidden_layers": -3},
    {"hidden_size": -32},
    {"hidden_size": "32"},
    {"hidden_size": 32.0},
    {"hidden_size": True},
    {"num_hidden_layers": None},
    {"hidden_size": [32] * 10_000},
    {"vocab_size": {"a": 1}},
    {"pad_token_id": 10**9},
    {"hidden_act": "nonsense"},
    {"hidden_act": 5},
    {"layer_norm_eps": "small"},
    {"hidden_dropout_prob": {}},
    {"add_cross_attention": True},
]


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


@pytest.mark.parametrize("lie", ABSURD, ids=lambda lie: json.dumps(lie)[:40])
def test_an_absurd_size_is_refused_at_once_and_allocates_nothing(
    lie: dict[str, Any], folder: Path, load: Callable[[], ModelCard]
) -> None:
    change_json(folder / "config.json", **lie)
    before, started = peak_megabytes(), time.perf_counter()
    with pytest.raises(CheckpointError, match=r"config\.json") as caught:
        load()
    assert time.perf_counter() - started < SECONDS
    assert peak_megabytes() - before < MEGABYTES
    assert len(str(caught.value)) < 400
    assert str(caught.value).endswith("another model.")


@pytest.mark.parametrize(
    ("family", "lie"),
    [
        ("distilbert", {"dim": 10**9}),
        ("distilbert", {"n_layers": 10**6}),
        ("distilbert", {"n_heads": 5}),
        ("distilbert", {"hidden_dim": 65}),
        ("mpnet", {"relative_attention_num_buckets": 10**9}),
        ("mpnet", {"relative_attention_num_buckets": 64}),
        ("albert", {"num_hidden_layers": 10**6}),
        ("albert", {"num_hidden_groups": 10**6}),
        ("albert", {"num_hidden_groups": 2}),
        ("albert", {"inner_group_num": 10**6}),
        ("albert", {"embedding_size": 10**9}),
        ("electra", {"embedding_size": 8}),
        ("roberta", {"num_hidden_layers": 10**6}),
        ("xlm-roberta", {"vocab_size": 10**12}),
    ],
    ids=str,
)
def test_every_family_is_guarded(
    family: str, lie: dict[str, Any], tmp_path: Path, load: Callable[[], ModelCard]
) -> None:
    change_json(build(family, tmp_path / "model") / "config.json", **lie)
    before, started = peak_megabytes(), time.perf_counter()
    with pytest.raises(CheckpointError):
        load()
    assert time.perf_counter() - started < SECONDS
    assert peak_megabytes() - before < MEGABYTES


@pytest.mark.parametrize(
    ("lie", "said"),
    [
        ({"intermediate_size": 48}, r"intermediate\.dense\.weight of 48 x 32, .* have 64 x 32"),
        ({"max_position_embeddings": 512}, r"position_embeddings\.weight of 512 x 32, .* 64 x 32"),
        ({"num_hidden_layers": 2}, "says 2 layers, and the weights have 3"),
        ({"num_hidden_layers": 12}, "says 12 layers, and the weights have 3"),
        ({"vocab_size": 10**12}, r"vocab_size is 1000000000000; .* from 1 to 10,000,000"),
        ({"num_attention_heads": 5}, "5 heads share 32 dimensions"),
        ({"hidden_size": True}, "hidden_size is True"),
    ],
)
def test_the_first_difference_is_named(
    lie: dict[str, Any], said: str, folder: Path, load: Callable[[], ModelCard]
) -> None:
    change_json(folder / "config.json", **lie)
    with pytest.raises(CheckpointError, match=said):
        load()


def test_a_config_that_leaves_sizes_out_is_held_against_the_weights_too(
    folder: Path, load: Callable[[], ModelCard]
) -> None:
    (folder / "config.json").write_text('{"model_type": "bert"}')  # then bert-base's sizes count
    with pytest.raises(CheckpointError, match="of 30,522 x 768"):
        load()


@pytest.mark.parametrize("family", FAMILIES)
def test_checkpoints_with_the_family_s_prefix_heads_and_old_names_are_read(
    family: str, tmp_path: Path, load: Callable[[], ModelCard]
) -> None:
    folder = build(family, tmp_path / "model")
    before = load().n_parameters
    prefix = getattr(transformers, families.FAMILIES[family].class_name).base_model_prefix
    weights = load_file(folder / "model.safetensors")
    old = {
        f"{prefix}.{name}".replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ): value
        for name, value in weights.items()
    }
    old["cls.predictions.bias"] = next(iter(weights.values())).flatten()[:7].clone()
    save_file(old, folder / "model.safetensors", metadata={"format": "pt"})
    assert load().n_parameters == before


def test_a_header_that_lies_is_damage(folder: Path, load: Callable[[], ModelCard]) -> None:
    path = folder / "model.safetensors"
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = data[8 : 8 + length].replace(b'"shape":[32,32]', b'"shape":[99,99]')
    path.write_bytes(data[:8] + header + data[8 + length :])
    with pytest.raises(CheckpointError, match="damaged"):
        load()


def test_a_header_of_absurd_length_is_damage(folder: Path, load: Callable[[], ModelCard]) -> None:
    path = folder / "model.safetensors"
    path.write_bytes((2**62).to_bytes(8, "little") + path.read_bytes()[8:])
    with pytest.raises(CheckpointError, match="damaged"):
        load()
