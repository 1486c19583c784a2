"""config.json of a foreign model: read, judged, and what of it goes on."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from components.core.config_keys import KEYS, allowed_config
from components.core.families import FAMILIES, family_of, read_config
from tests.fuzz.structure import odd
from tests.fuzz.target import Target, hold, seeds_of

__all__ = ["TARGETS"]

_MOST_ROWS = 10_000_000


@cache
def _folder() -> tuple[Path, tempfile.TemporaryDirectory[str]]:
    kept = tempfile.TemporaryDirectory()
    return Path(kept.name), kept


def _run(content: bytes) -> None:
    folder, _ = _folder()
    (folder / "config.json").write_bytes(content)
    config = read_config(folder)
    family = family_of(config)
    hold(config["model_type"] == family.model_type, "another family than it names")
    built = allowed_config(config)
    hold(set(built) <= set(KEYS[family.model_type]), "names that are not read: {}", set(built))
    for name in (family.layers, family.dims, family.heads, "vocab_size", "max_position_embeddings"):
        size = built.get(name, 1)
        hold(type(size) is int and 1 <= size <= _MOST_ROWS, "{} is {!r}", name, size)
    json.dumps(built, allow_nan=False)
    hold(not config.get("is_decoder"), "a decoder")


# How inputs are made

_size = st.sampled_from([1, 2, 3, 4, 12, 32, 64, 384, 512, 768, 1024, 30_522]) | st.integers(0, 99)
_SIZES = (
    *("num_hidden_layers", "n_layers", "num_attention_heads", "n_heads", "hidden_size", "dim"),
    *("intermediate_size", "hidden_dim", "max_position_embeddings", "vocab_size"),
    *("type_vocab_size", "embedding_size", "relative_attention_num_buckets", "num_hidden_groups"),
)
_OTHERS = (
    *("num_labels", "id2label", "label2id", "attn_implementation", "_attn_implementation"),
    *(
        "quantization_config",
        "auto_map",
        "torch_dtype",
        "dtype",
        "is_encoder_decoder",
        "hidden_act",
    ),
    *("tokenizer_class", "pad_token_id", "architectures", "transformers_version", "pruned_heads"),
    *(
        "problem_type",
        "layer_norm_eps",
        "chunk_size_feed_forward",
        "inner_group_num",
        "rope_scaling",
    ),
    *("position_embedding_type", "is_decoder", "add_cross_attention", "encoder", "text_config"),
)
_values = st.booleans() | st.integers() | st.floats() | st.text(max_size=30) | odd


@st.composite
def _configs(draw: Callable[[st.SearchStrategy[Any]], Any]) -> bytes:
    names = st.sampled_from(tuple(FAMILIES))
    config: dict[str, Any] = {
        "model_type": draw(st.one_of(names, names, names, st.text(max_size=9)))
    }
    for name in draw(st.lists(st.sampled_from(_SIZES), max_size=8)):
        config[name] = draw(_size)
    for name in draw(st.lists(st.sampled_from((*_OTHERS, *_SIZES)), max_size=2)):
        config[name] = draw(_values)
    return json.dumps(config).encode()


_TOKENS = tuple(name.encode() for name in (*_SIZES, *_OTHERS, *FAMILIES))

TARGETS = {
    "config": Target(
        name="config",
        run=_run,
        structure=_configs(),
        seeds=partial(seeds_of, "config"),
        tokens=_TOKENS,
        is_json=True,
    )
}
