"""Compares a config's sizes with those of the weights before allocating anything.

A config that says 65,536 dimensions beside weights of 32 would make transformers fill gigabytes
before it complains. The header of a safetensors file is small, and safetensors checks it against
the length of the file, so a size that both agree on is real.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors import safe_open
from transformers.conversion_mapping import get_checkpoint_conversion_mapping
from transformers.core_model_loading import WeightConverter, WeightRenaming, rename_source_key

from contextlens.core.errors import CheckpointError
from contextlens.core.families import Family
from contextlens.core.registry import ModelFiles

__all__ = ["WRAPPER", "StoredWeights", "check_shapes", "own_names", "prefixes_of"]

WRAPPER = r"^(?:module\.|_orig_mod\.)+"
"""What DistributedDataParallel and torch.compile put before each weight's name."""
_PART_FOR_TEXTS = r"^(?:model\.)?language_model\."

Shapes = dict[str, tuple[int, ...]]
_DTYPES = {"F16": "float16", "BF16": "bfloat16", "F32": "float32", "F64": "float64"}

_LEGACY = {"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"}
_ADVICE = "Choose another model."


_MAX_LEFT_OUT, _MAX_NAME_LENGTH = 5, 40  # modules that a card names, and characters of a name


@dataclass(frozen=True)
class StoredWeights:
    """Facts from the headers of a model's weight files.

    Attributes:
        left_out: modules that the model does not use, such as "classifier".
        dtypes: the data types of the weights that it uses, as torch names them.
        is_wrapped: True if names begin with `WRAPPER`.
    """

    left_out: tuple[str, ...]
    dtypes: tuple[str, ...]
    is_wrapped: bool


def check_shapes(
    files: ModelFiles, paths: Iterable[Path], config: dict[str, Any], family: Family
) -> StoredWeights:
    """Check that the weights have every parameter that the config implies, in the right shape.

    A pooler may be missing.

    Args:
        files: the model's files.
        paths: the model's safetensors files.
        config: what `allowed_config` returns for its config.json.
        family: the model's family.

    Raises:
        CheckpointError: the weights cannot be read, or differ; the message names the first
            difference.
    """
    title, cls = files.title, getattr(transformers, family.class_name)
    headers = _read_headers(files, paths)
    shapes: Shapes = {}
    dtypes: dict[str, str] = {}
    for stored, (shape, dtype) in headers.items():
        names = own_names(stored, cls.base_model_prefix, family)
        rows = (shape[0] // len(names), *shape[1:]) if len(names) > 1 else shape
        shapes |= dict.fromkeys(names, rows)
        dtypes |= dict.fromkeys(names, dtype)
    _check_layers(title, config.get(family.layers), _n_layers(shapes, family))
    wanted = _wanted_shapes(title, config, cls, family)
    for name, shape in wanted.items():
        if name in shapes and shapes[name] != shape:
            raise CheckpointError(
                f"The config.json of {title} does not fit its weights: it asks for {name} of "
                f"{_by(shape)}, and the weights have {_by(shapes[name])}. {_ADVICE}"
            )
    _check_layers(title, _n_layers(wanted, family), _n_layers(shapes, family))
    missing = [n for n in wanted if n not in shapes and not n.startswith("pooler.")]
    if missing:
        raise CheckpointError(
            f"The checkpoint of {title} lacks {len(missing)} of the model's weights "
            f"(for example {min(missing)}); random numbers are not shown in their place. {_ADVICE}"
        )
    modules = {name.partition(".")[0] for name in wanted}
    left_out = {name.partition(".")[0] for name in shapes} - modules
    return StoredWeights(
        tuple(name[:_MAX_NAME_LENGTH] for name in sorted(left_out)[:_MAX_LEFT_OUT]),
        tuple(sorted({dtypes[name] for name in wanted if name in dtypes})),
        any(re.match(WRAPPER, name) for name in headers),
    )


def _check_layers(title: str, n_in_config: int | None, n_in_weights: int) -> None:
    """Check the number of layers: transformers silently drops or adds some."""
    if n_in_config and n_in_weights and n_in_config != n_in_weights:
        raise CheckpointError(
            f"The config.json of {title} does not fit its weights: it says {n_in_config} layers, "
            f"and the weights have {n_in_weights}. {_ADVICE}"
        )


def _n_layers(shapes: Shapes, family: Family) -> int:
    """The number of layers that have weights; 0 where layers share them."""
    if family.parts.are_shared:
        return 0
    layer = re.compile(rf"{re.escape(family.parts.layers)}\.(\d+)\.")
    return len({match[1] for match in map(layer.match, shapes) if match})


def _by(shape: tuple[int, ...]) -> str:
    return " x ".join(f"{size:,}" for size in shape) or "one number"


def _read_headers(
    files: ModelFiles, paths: Iterable[Path]
) -> dict[str, tuple[tuple[int, ...], str]]:
    """Each weight's shape and data type, by its name in the files."""
    headers: dict[str, tuple[tuple[int, ...], str]] = {}
    try:
        for path in paths:
            with safe_open(path, framework="pt") as file:
                for name in file.keys():  # noqa: SIM118 - it has no iterator
                    header = file.get_slice(name)
                    dtype = header.get_dtype()
                    headers[name] = tuple(header.get_shape()), _DTYPES.get(dtype, dtype.lower())
    except Exception as exc:  # damaged files raise safetensors' own error, OSError or MemoryError
        raise CheckpointError(
            f"The weights of {files.title} cannot be read ({str(exc)[:200]}). They may be damaged. "
            f"{files.repair}"
        ) from exc
    return headers


def prefixes_of(family: Family) -> dict[str, str]:
    """Patterns of what weights' names begin with in files and not in the model, to be removed."""
    return {WRAPPER: "", **({_PART_FOR_TEXTS: ""} if family.composite else {})}


def own_names(name: str, prefix: str, family: Family) -> list[str]:
    """The names that transformers will give a weight, without the prefix of the encoder.

    There are several if it cuts the weight into equal blocks of rows, as some families store
    query, key and value in one.
    """
    renamings, converters = _conversions(family.model_type)
    for pattern in prefixes_of(family):
        name = re.sub(pattern, "", name)
    for old, new in _LEGACY.items():
        if name.endswith(old):
            name = name.removesuffix(old) + new
    name, source = rename_source_key(name, renamings, converters)
    parts = next((c.target_patterns for c in converters if source in c.source_patterns), [""])
    return [name.replace(parts[0], part, 1).removeprefix(f"{prefix}.") for part in parts]


@cache
def _conversions(model_type: str) -> tuple[list[WeightRenaming], list[WeightConverter]]:
    """The changes that transformers makes to the weights of published checkpoints."""
    every = get_checkpoint_conversion_mapping(model_type) or []  # type: ignore[no-untyped-call]
    return (
        [one for one in every if isinstance(one, WeightRenaming)],
        [one for one in every if isinstance(one, WeightConverter)],
    )


def _wanted_shapes(title: str, config: dict[str, Any], cls: Any, family: Family) -> Shapes:
    """Every parameter's shape, from a model without weights."""
    try:
        with torch.device("meta"):
            model = cls(cls.config_class(**config), **family.options)
    except Exception as exc:
        reason = (str(exc).strip().splitlines() or [type(exc).__name__])[0]
        raise CheckpointError(
            f"No model can be built from the config.json of {title} ({reason[:200]}). {_ADVICE}"
        ) from exc
    return {name: tuple(value.shape) for name, value in model.state_dict().items()}
