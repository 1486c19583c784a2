"""A model's own recipe for sentence vectors, as sentence-transformers stores it with the weights.

`modules.json` lists the steps after the network; each has a folder with its settings. The files
come from strangers: their sizes and values are bounded, and none of them names code that is run. A
recipe with a step that is not known here is refused as a whole, with the reason, because part of a
recipe gives other vectors.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal, cast, get_args

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from contextlens.core.errors import CheckpointError
from contextlens.core.untrusted import read_bytes, read_json, shortened

__all__ = [
    "ACTIVATIONS",
    "DenseStep",
    "NormalizeStep",
    "PoolingMode",
    "SentenceRecipe",
    "is_recipe_file",
    "pool",
    "read_recipe",
]

PoolingMode = Literal["cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"]
Activation = Literal["Identity", "Tanh", "ReLU", "GELU", "Sigmoid", "SiLU"]
ACTIVATIONS: tuple[Activation, ...] = get_args(Activation)

_MODES: tuple[PoolingMode, ...] = get_args(PoolingMode)
_OLD_MODES: Mapping[str, PoolingMode] = {  # in the order in which their vectors are joined
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
_MODULES = "modules.json"
_TRANSFORMER = "sentence_bert_config.json"
_OLD_TRANSFORMERS = tuple(
    f"sentence_{name}_config.json"
    for name in ("roberta", "distilbert", "camembert", "albert", "xlm-roberta")
)
_PROMPTS = "config_sentence_transformers.json"
_STEP_FILE = re.compile(r"\d{1,2}_[A-Za-z]{1,40}/(config\.json|model\.safetensors)")
_LAST_LAYER = {"method": "forward", "method_output_name": "last_hidden_state"}
_PLAIN: Mapping[str, Any] = {  # settings that must have their usual values
    "transformer_task": "feature-extraction",
    "module_output_name": "token_embeddings",
    "processing_kwargs": {},
}
_TEXT_PROMPTS = ("document", "passage", "corpus")  # the library's names for what is searched
_MAX_BYTES = 1_000_000
_MAX_STEPS, _MAX_DIMS, _MAX_PROMPTS, _MAX_PROMPT_LENGTH = 8, 16_384, 50, 2_000


class DenseStep(Struct, frozen=True, tag=True):
    """A linear layer with an activation: `activation(W x + b)`, plus `x` itself with a residual.

    Attributes:
        folder: where its weights are, below the model's folder; "" for the network's own layer.
        n_in, n_out: the numbers of dimensions before and after.
        activation: the name of torch's module.
        has_bias: True if `b` is added.
        has_residual: True if the input is added, through a matrix of its own if sizes differ.
    """

    folder: str
    n_in: int
    n_out: int
    activation: Activation
    has_bias: bool
    has_residual: bool


class NormalizeStep(Struct, frozen=True, tag=True):
    """A division by the vector's length (L2)."""


@dataclass(frozen=True)
class SentenceRecipe:
    """The steps from a text to its sentence vector, as the model's authors published them.

    Attributes:
        poolings: how the last layer's tokens become one vector; several are joined end to end.
        steps: what follows, in order.
        max_length: the most tokens that are read, special ones included.
        lower_case: True if texts are written in lower case first.
        prompts: texts to put before a text, by name ("query": "query: ").
        default_prompt: the prompt that is used if none is chosen; "" for none.
        include_prompt: False if the prompt's own tokens are left out of the pooling.
    """

    poolings: tuple[PoolingMode, ...]
    steps: tuple[DenseStep | NormalizeStep, ...]
    max_length: int
    lower_case: bool = False
    prompts: tuple[tuple[str, str], ...] = ()
    default_prompt: str = ""
    include_prompt: bool = True

    @property
    def is_more_than_pooling(self) -> bool:
        """True if the pooled tokens alone have other cosines than the recipe's vectors."""
        leaves_out = bool(self.prompts) and not self.include_prompt
        return leaves_out or any(isinstance(step, DenseStep) for step in self.steps)

    @property
    def is_plain_mean(self) -> bool:
        """True if cosines are those of the mean of all tokens, for texts within the length."""
        changed = self.lower_case or self.default_prompt
        return self.poolings == ("mean",) and not changed and not self.is_more_than_pooling

    def prepared(self, text: str) -> str:
        """Return a text as the tokenizer gets it."""
        return text.lower() if self.lower_case else text

    def prompt(self, name: str | None) -> str:
        """Return the text of a prompt by its name; None for the default one."""
        return dict(self.prompts).get(self.default_prompt if name is None else name, "")

    @property
    def query_prompt(self) -> str:
        """The text before a query, as in sentence-transformers' `encode_query`."""
        return dict(self.prompts).get("query", "")

    @property
    def text_prompt(self) -> str:
        """The text before a text that queries search."""
        prompts = dict(self.prompts)
        return next((prompts[name] for name in _TEXT_PROMPTS if prompts.get(name)), "")


def is_recipe_file(name: str) -> bool:
    """True if a file of a repository belongs to a recipe."""
    single = {_MODULES, _TRANSFORMER, *_OLD_TRANSFORMERS, _PROMPTS}
    return name in single or _STEP_FILE.fullmatch(name) is not None


def read_recipe(
    folder: Path, *, n_dims: int, max_length: int, projection: DenseStep | None = None
) -> SentenceRecipe | None:
    """Return the recipe in a model's folder, or None if it has none.

    A network that projects the states of its last layer has one in any case: their mean, projected.

    Args:
        folder: the model's files.
        n_dims: the size of the network's states.
        max_length: the most tokens that the network takes.
        projection: what the network does to each of its states. It has no bias, so that it comes
            to the same after any pooling that adds states up.

    Raises:
        CheckpointError: the files are damaged, or a step is not supported.
    """
    modules = _list(folder / _MODULES)
    if modules is None and projection is not None:
        return SentenceRecipe(("mean",), (projection,), max_length)
    if modules is None:
        return None
    kinds = [_kind(module) for module in modules]
    if kinds[:2] != ["Transformer", "Pooling"]:
        raise _unsupported(f"it begins with {' and '.join(kinds[:2]) or 'nothing'}")
    pooling = _settings(folder, modules[1])
    poolings = _poolings(pooling)
    steps: list[DenseStep | NormalizeStep] = []
    size = n_dims * len(poolings)
    if projection is not None:
        if poolings == ("max",) or len(poolings) > 1:
            raise _unsupported("it pools projected states by more than a sum")
        steps, size = [projection], projection.n_out
    for kind, module in zip(kinds[2:], modules[2:], strict=True):
        match kind:
            case "Normalize":
                steps.append(NormalizeStep())
            case "Dense":
                step = _dense(_settings(folder, module), _path(module), size)
                steps.append(step)
                size = step.n_out
            case "Dropout":  # does nothing outside training
                pass
            case _:
                raise _unsupported(f"it has the step {shortened(kind)}")
    reading = _transformer(folder, modules[0])
    prompts, default = _prompts(folder)
    limit = reading.get("max_seq_length")
    return SentenceRecipe(
        poolings=poolings,
        steps=tuple(steps),
        max_length=min(limit, max_length) if type(limit) is int and limit > 2 else max_length,
        lower_case=reading.get("do_lower_case") is True,
        prompts=prompts,
        default_prompt=default,
        include_prompt=pooling.get("include_prompt", True) is not False,
    )


def pool(
    states: NDArray[np.float32], mode: PoolingMode, *, skipped: int = 0
) -> NDArray[np.float32]:
    """(..., n_dims): the states of a text's real tokens as one vector.

    Args:
        states: (..., n_tokens, n_dims), without padding.
        mode: "mean", "max", "cls" (the first token), "lasttoken", "weightedmean" (token i counts i
            times), or "mean_sqrt_len_tokens" (the sum, divided by the root of the number).
        skipped: tokens at the beginning that do not count; if that is all, the first one does.
    """
    n_tokens = states.shape[-2]
    skipped = skipped if skipped < n_tokens else 0
    rows = states[..., skipped:, :]
    pooled: NDArray[np.float32]
    match mode:
        case "cls":
            pooled = rows[..., 0, :]
        case "lasttoken":
            pooled = rows[..., -1, :]
        case "max":
            pooled = rows.max(axis=-2)
        case "weightedmean":
            places = np.arange(skipped + 1, n_tokens + 1, dtype=np.float32)
            pooled = places @ rows / places.sum()
        case _:
            n = n_tokens - skipped
            pooled = rows.sum(axis=-2) / (n if mode == "mean" else np.sqrt(n))
    return pooled


def _list(path: Path) -> list[dict[str, Any]] | None:
    """The modules that a file lists; None if there is no file."""
    try:
        data = read_bytes(path, title=f"The model's {_MODULES}", most_bytes=_MAX_BYTES)
        modules = json.loads(data)
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError) as exc:
        raise _damaged(_MODULES) from exc
    is_list = isinstance(modules, list) and all(isinstance(module, dict) for module in modules)
    if not is_list or len(modules) > _MAX_STEPS:
        raise _damaged(_MODULES)
    return cast("list[dict[str, Any]]", modules)


def _kind(module: Mapping[str, Any]) -> str:
    """The name of a module's class; only sentence-transformers' own are known."""
    name = module.get("type")
    if not isinstance(name, str) or not name.startswith("sentence_transformers."):
        raise _unsupported(f"it has the step {shortened(name)}")
    return name.rpartition(".")[2]


def _path(module: Mapping[str, Any]) -> str:
    path = module.get("path", "")
    if not isinstance(path, str) or PurePosixPath(path).is_absolute() or ".." in path:
        raise _damaged(_MODULES)
    return path


def _settings(folder: Path, module: Mapping[str, Any]) -> dict[str, Any]:
    path = _path(module)
    if not PurePosixPath(path).parts:  # the model's own config.json is there
        raise _damaged(_MODULES)
    return _read(folder, f"{path}/config.json")


def _read(folder: Path, name: str) -> dict[str, Any]:
    try:
        return read_json(folder / name, title=f"The model's {name}", most_bytes=_MAX_BYTES)
    except FileNotFoundError as exc:
        raise _unsupported(f"{name} is missing") from exc


def _poolings(pooling: Mapping[str, Any]) -> tuple[PoolingMode, ...]:
    given = pooling.get("pooling_mode")
    if given is None:
        chosen = tuple(mode for name, mode in _OLD_MODES.items() if pooling.get(name) is True)
        return chosen or ("mean",)
    modes = [given] if isinstance(given, str) else given
    if not isinstance(modes, list) or not modes or not set(modes) <= set(_MODES):
        raise _unsupported(f"its pooling is {shortened(given)}")
    return tuple(modes)


def _dense(settings: Mapping[str, Any], folder: str, size: int) -> DenseStep:
    sizes = settings.get("in_features"), settings.get("out_features")
    if any(type(n) is not int or not 0 < n <= _MAX_DIMS for n in sizes) or sizes[0] != size:
        raise _unsupported(f"a linear layer maps {shortened(sizes[0])} dimensions, not {size}")
    names = settings.get("module_input_name"), settings.get("module_output_name")
    if not set(names) <= {None, "sentence_embedding"}:
        raise _unsupported("a linear layer does not read the sentence's vector")
    path = settings.get("activation_function", "torch.nn.Tanh")
    activation = str(path).rpartition(".")[2]
    if not str(path).startswith("torch.nn.") or activation not in ACTIVATIONS:
        raise _unsupported(f"a linear layer has the activation {shortened(path)}")
    return DenseStep(
        folder,
        cast("int", sizes[0]),
        cast("int", sizes[1]),
        activation,
        settings.get("bias", True) is not False,
        settings.get("use_residual") is True,
    )


def _transformer(folder: Path, module: Mapping[str, Any]) -> dict[str, Any]:
    """The settings for reading texts; {} if there are none."""
    for name in (_TRANSFORMER, *_OLD_TRANSFORMERS):
        path = folder / _path(module) / name
        if path.is_file():
            settings = read_json(path, title=f"The model's {name}", most_bytes=_MAX_BYTES)
            _check_output(settings)
            return settings
    return {}


def _check_output(settings: Mapping[str, Any]) -> None:
    """Check that the network's last layer is what is pooled, and texts are read plainly."""
    for name, usual in _PLAIN.items():
        if (given := settings.get(name, usual)) != usual:
            raise _unsupported(f"its {name} is {shortened(given)}")
    modalities = settings.get("modality_config", {"text": _LAST_LAYER})
    if not isinstance(modalities, dict) or modalities.get("text") != _LAST_LAYER:
        raise _unsupported("it does not pool the last layer's states")


def _prompts(folder: Path) -> tuple[tuple[tuple[str, str], ...], str]:
    """The prompts by name, and the name of the default one or ""."""
    if not (folder / _PROMPTS).is_file():
        return (), ""
    settings = _read(folder, _PROMPTS)
    given, default = settings.get("prompts") or {}, settings.get("default_prompt_name") or ""
    if not isinstance(given, dict) or len(given) > _MAX_PROMPTS or not isinstance(default, str):
        raise _damaged(_PROMPTS)
    prompts = tuple((name, text) for name, text in given.items() if isinstance(text, str))
    if any(len(text) > _MAX_PROMPT_LENGTH for _, text in prompts) or (
        default and default not in dict(prompts)
    ):
        raise _damaged(_PROMPTS)
    return prompts, default


def _damaged(name: str) -> CheckpointError:
    return CheckpointError(f"The model's {name} does not say how sentence vectors are made.")


def _unsupported(reason: str) -> CheckpointError:
    return CheckpointError(f"The model's own sentence vectors are not offered: {reason}.")
