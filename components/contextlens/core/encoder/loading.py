"""Loads a model from a folder of files: checked, ready to run, with its card."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
import transformers

from contextlens.core.bundled_files import check_bundled_files
from contextlens.core.encoder.devices import CPU, Device, return_freed_memory
from contextlens.core.encoder.heads import Head, read_heads, read_labels
from contextlens.core.encoder.layerwise import Layerwise, distance_terms, local_layers, window_of
from contextlens.core.encoder.sentences import DenseWeights, read_dense
from contextlens.core.encoder.shapes import check_shapes, prefixes_of
from contextlens.core.encoder.views import ModelVariants
from contextlens.core.encoder.vocabulary import LoadedTokenizer, load_tokenizer
from contextlens.core.errors import CheckpointError, ModelError
from contextlens.core.families import Family, Told
from contextlens.core.files import checksum_of
from contextlens.core.model_config import allowed_config, family_of, read_config
from contextlens.core.recipe import DenseStep, SentenceRecipe, read_recipe
from contextlens.core.registry import ModelFiles
from contextlens.core.schema import (
    FastPrecision,
    FloatArray,
    Labels,
    ModelCard,
    PartState,
    Provenance,
    TokenizerCard,
)
from contextlens.core.untrusted import read_json, shortened, whole_number

__all__ = ["LoadedModel", "load_model"]

return_freed_memory()
transformers.utils.logging.set_verbosity_error()  # type: ignore[no-untyped-call]
transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]

_BELL = 0.1  # random weights stay below this mean (in standard deviations) and excess kurtosis


@dataclass(eq=False)
class LoadedModel:
    """A model in memory with everything needed to run it; equal only to itself."""

    card: ModelCard
    family: Family
    model: Any  # a transformers PreTrainedModel, in float32 and eval mode
    reader: LoadedTokenizer
    trained_parts: dict[str, bool]
    views: ModelVariants
    device: Device
    dense: dict[str, DenseWeights]  # of the recipe's linear layers, by folder
    heads: dict[str, Head]  # the trained ones, by `heads.KINDS`

    @cached_property
    def layerwise(self) -> Layerwise:
        """This model's weights, run layer by layer; created on first use."""
        return Layerwise(self.views.apart(self.device.for_steps.name), self.family)

    @property
    def memory_bytes(self) -> int:
        """Bytes of the weights in memory, including the copy for fast work."""
        n_bytes = sum(head.n_bytes for head in self.heads.values())
        n_fast = self.card.memory_bytes // 2 if self.views.has_fast else 0
        return self.card.memory_bytes + n_fast + n_bytes


def load_model(files: ModelFiles, fast: FastPrecision, device: Device = CPU) -> LoadedModel:
    """Load a model from its files and check it.

    Args:
        files: the model's files.
        fast: the precision of fast work on this machine, for the card.
        device: the device to run on.

    Raises:
        UnsupportedModelError: the model is not an encoder of a supported family.
        CheckpointError: weights are missing, damaged, unsafe or have a different checksum.
        ModelError: the model does not fit on the device.
    """
    given = read_config(files.folder)
    family = family_of(given)
    config = allowed_config(given)
    weights = _weight_files(files)
    language = config["default_language"] if family.has_languages else ""
    checksum = checksum_of([*weights, *_word_files(files, family)], language)
    if files.expected_sha256 not in {None, checksum}:
        raise CheckpointError(
            f"The weights of {files.title} are not the ones Contextlens was built with "
            f"(SHA-256 {checksum[:12]}..., expected {str(files.expected_sha256)[:12]}...), so they "
            "are not used. Install the package again (make clean setup), or choose another model."
        )
    if files.source == "bundled":
        check_bundled_files(files.folder)
    stored = check_shapes(files, weights, config, family)
    model, missing = _read_weights(files, family, config)
    heads, states = read_heads(model, family, given, weights)
    provenance = replace(_provenance(model, family, missing), **states)
    reader = load_tokenizer(files)
    # After the heads: one that is tied to the word table reads it as the checkpoint has it.
    n_joined = _join(model, family, files, reader.tokenizer) if family.word_files else 0
    card = _card(files, reader.card, model, checksum, provenance, fast)
    read = frozenset(name for head in heads.values() for name in head.modules)
    card = replace(
        card,
        device=device.name,
        left_out=tuple(name for name in stored.left_out if name not in read),
        stored_as=stored.dtypes,
        is_wrapped=stored.is_wrapped,
        labels=read_labels(given) if {"text_head", "label_head"} & set(heads) else Labels(),
        local_layers=local_layers(model.config),
        window=window_of(model.config, family),
        positions=_told(model.config, family),
        language=language,
        n_joined=n_joined,
        read_by=reader.card.read_by,
        last_projection=family.last_projection,
    )
    for part in (model, *heads.values()):
        _move(part, files.title, device)
    recipe, dense, note = _recipe(files.folder, card, _last_projection(model, family))
    card = replace(card, recipe=recipe, recipe_note=note)
    trained = {
        "embeddings": provenance.embedding_layer.state == "trained",
        "pooler": provenance.pooler.state == "trained",
        "encoder": provenance.encoder.state == "trained",
    }
    views = ModelVariants(model, fast.dtype)
    return LoadedModel(card, family, model, reader, trained, views, device, dense, heads)


def _told(config: Any, family: Family) -> Told | None:
    """How attention is told of positions in one model of a family."""
    if family.positions == "distances" and not distance_terms(config):
        return None
    return family.positions


def _last_projection(model: Any, family: Family) -> FloatArray | None:
    """(n_out, n_dims): the weights of the linear layer after the last layer, if there is one."""
    if not family.last_projection:
        return None
    weights: FloatArray = model.get_submodule(family.last_projection).weight.cpu().numpy()
    return weights


def _recipe(
    folder: Path, card: ModelCard, projection: FloatArray | None
) -> tuple[SentenceRecipe | None, dict[str, DenseWeights], str]:
    """The recipe with its weights, or why the one in the folder is not offered."""
    own, step = dict[str, DenseWeights](), None
    if projection is not None:
        own[""] = {"linear.weight": projection}
        step = DenseStep("", card.n_dims, len(projection), "Identity", False, False)
    try:
        recipe = read_recipe(
            folder, n_dims=card.n_dims, max_length=card.max_length, projection=step
        )
        return recipe, {} if recipe is None else own | read_dense(folder, recipe), ""
    except CheckpointError as exc:  # everything else that the model says is right without it
        return None, {}, str(exc)


def _move(model: Any, title: str, device: Device) -> None:
    try:
        model.to(device.name)
    except torch.OutOfMemoryError as exc:
        raise ModelError(
            f"{title} does not fit into the free memory of {device.name}. Choose a smaller model, "
            "or compute on the processor (CONTEXTLENS_DEVICE=cpu)."
        ) from exc


_CONVERSION = """\
import torch
from safetensors.torch import save_file
weights = {{}}
for name in {names!r}:
    weights |= torch.load({folder!r} + "/" + name, map_location="cpu", weights_only=True)
weights = {{name: array.contiguous().clone() for name, array in weights.items()}}
save_file(weights, {folder!r} + "/model.safetensors", metadata={{"format": "pt"}})"""


def _weight_files(files: ModelFiles) -> list[Path]:
    folder = files.folder
    single = folder / "model.safetensors"
    weights = [single] if single.is_file() else sorted(folder.glob("model-*-of-*.safetensors"))
    if weights:
        return weights
    pickled = sorted(p.name for p in folder.glob("*.bin") if p.name != "training_args.bin")
    if pickled:
        raise CheckpointError(
            f"The model has only pickled weights ({pickled[0]}), which can run code when read. "
            "These lines, run beside the folder, read them without it and write safetensors:\n"
            + _CONVERSION.format(folder=folder.name, names=pickled)
        )
    raise CheckpointError(f"The model has no weights (model.safetensors). {files.repair}")


def _read_weights(
    files: ModelFiles, family: Family, config: dict[str, Any]
) -> tuple[Any, set[str]]:
    """The torch model, and the names of the parameters that are missing in the checkpoint."""
    cls = getattr(transformers, family.class_name)
    try:
        model, info = cls.from_pretrained(
            files.folder,
            config=cls.config_class(**config),
            **family.options,
            dtype=torch.float32,
            key_mapping=prefixes_of(family),
            use_safetensors=True,
            local_files_only=True,
            output_loading_info=True,
        )
    except Exception as exc:  # damaged files raise almost any error
        raise CheckpointError(
            f"The files of {files.title} cannot be loaded ({_first_line(exc)}). "
            f"They may be damaged. {files.repair}"
        ) from exc
    if getattr(model.config, "use_cache", False):  # keys and values, for a text to go on
        model.config.use_cache = False
    if family.last_projection:  # the recipe for sentence vectors has it
        model.get_submodule(family.last_projection).forward = _unchanged
    missing = set(info["missing_keys"])
    if missing:
        model.pooler = None
    _check_finite(model, files.title)
    return model.eval().requires_grad_(requires_grad=False), missing


def _unchanged(states: torch.Tensor) -> torch.Tensor:
    return states


def _check_finite(model: Any, title: str) -> None:
    """Refuse weights with NaN or infinite values; smallest and largest value show both."""
    every = model.state_dict().items()  # with buffers, which may be stored, too
    parameters = {name: value for name, value in every if value.is_floating_point()}
    bad = [n for n, v in parameters.items() if not torch.stack(torch.aminmax(v)).isfinite().all()]
    if bad:
        n_bad = int((~parameters[bad[0]].isfinite()).sum())
        raise CheckpointError(
            f"The weights of {title} are broken: {n_bad:,} of {parameters[bad[0]].numel():,} "
            f"numbers in {bad[0]} are NaN or infinite"
            f"{f', and {len(bad) - 1:,} more arrays have such numbers' if bad[1:] else ''}. "
            "Nothing can be computed with them. Choose another model, or a checkpoint from before "
            "its training diverged."
        )


def _first_line(exc: Exception) -> str:
    return (str(exc).strip().splitlines() or [type(exc).__name__])[0][:200]


# --- Word tables that are computed from the shape and the sound of tokens (RoCBert)

_MAX_WORD_FILE = 5_000_000  # bytes; the published ones have a tenth
_UNKNOWN = "[UNK]"


def _word_files(files: ModelFiles, family: Family) -> list[Path]:
    """The files that a joined table is made from, with the one that says which token a row is."""
    paths = [files.folder / name for name in family.word_files]
    for path in paths:
        if not path.is_file():
            raise CheckpointError(
                f"{files.title} lacks {path.name}, from which the vectors of its tokens are "
                f"computed. {files.repair}"
            )
        if path.stat().st_size > _MAX_WORD_FILE:
            raise CheckpointError(
                f"The {path.name} of {files.title} has more than the {_MAX_WORD_FILE:,} bytes that "
                "are read. Choose another model."
            )
    vocabularies = [files.folder / name for name in ("tokenizer.json", "vocab.txt")]
    return [*paths, *[path for path in vocabularies if path.is_file()][:1]] if paths else []


@torch.no_grad()
def _join(model: Any, family: Family, files: ModelFiles, tokenizer: Any) -> int:
    """Make one row of a token, its shape and its sound; return the number of parameters joined.

    A token always has the same shape and sound, and a linear layer joins the three vectors, so a
    word table with what it gives for each token leaves a BERT that computes the same.
    """
    tables, padding = model.embeddings, tokenizer.pad_token_id
    n_before = sum(value.numel() for value in tables.parameters())
    ids = range(tables.word_embeddings.num_embeddings)
    tokens = tokenizer.convert_ids_to_tokens(list(ids))
    added = {tokenizer.cls_token, tokenizer.sep_token}  # RoCBertTokenizer takes them for unknown
    columns = [tables.word_embeddings.weight]
    for name, table in zip(
        family.word_files, (tables.shape_embed, tables.pronunciation_embed), strict=True
    ):
        known = read_json(
            files.folder / name,
            title=f"The {name} of {files.title}",
            most_bytes=_MAX_WORD_FILE,
        )
        unknown = known.get(_UNKNOWN)
        rows = [
            i if i == padding else unknown if token in added else known.get(token, unknown)
            for i, token in enumerate(tokens)
        ]
        rule = whole_number(0, table.num_embeddings - 1)
        for token, row in zip(tokens, rows, strict=True):
            if not rule.allows(row):
                raise CheckpointError(
                    f"The {name} of {files.title} says {shortened(token)} is {shortened(row)}; it "
                    f"must be {rule.says}. Choose another model."
                )
        columns.append(table.weight[rows])
    joined = tables.map_inputs_layer(torch.cat(columns, dim=-1))
    if not joined.isfinite().all():
        raise CheckpointError(
            f"The vectors that {files.title} makes of a token, its shape and its sound are NaN or "
            "infinite. Nothing can be computed with them. Choose another model."
        )
    tables.word_embeddings = torch.nn.Embedding.from_pretrained(joined)  # type: ignore[no-untyped-call]
    tables.map_inputs_layer = None
    del tables.shape_embed, tables.pronunciation_embed
    return int(n_before - sum(value.numel() for value in tables.parameters()))


def _provenance(model: Any, family: Family, missing: set[str]) -> Provenance:
    encoder = family.parts.layers.partition(".")[0]
    return Provenance(
        embedding_layer=_embedding_state(model, family),
        encoder=_part_state(model.get_submodule(encoder), "encoder", family),
        pooler=_pooler_state(model, family, missing),
    )


def _embedding_state(model: Any, family: Family) -> PartState:
    if family.tables:
        return _part_state(model.get_submodule(family.tables), "embedding layer", family)
    state = _part_state(model, "model", family)  # the word table alone does not show it
    return replace(state, reason=f"The embedding layer is a table alone. {state.reason}")


def _pooler_state(model: Any, family: Family, missing: set[str]) -> PartState:
    if missing:
        return PartState("absent", "The checkpoint has no weights for a pooler.")
    if not family.has_pooler:
        return PartState("absent", f"The {family.model_type} architecture has no pooler.")
    state = _part_state(model.pooler, "pooler", family)
    if state.state == "untrained" and all(map(_is_bell, _matrices(model.pooler))):
        bell = " Its weights look like random numbers, normally distributed around 0."
        return replace(state, reason=state.reason + bell)
    return state


def _matrices(part: Any) -> list[Any]:
    return [p for p in part.parameters() if p.dim() == 2]


def _is_bell(weights: Any) -> bool:
    """True if mean and tails (fourth moment) match a normal distribution around 0."""
    centred = weights.double() - weights.double().mean()
    spread = centred.square().mean()
    tails = centred.pow(4).mean() / spread.square()
    near = (weights.double().mean() / spread.sqrt()).abs() < _BELL
    return bool(near) and bool((tails - 3).abs() < _BELL)


def _part_state(part: Any, name: str, family: Family) -> PartState:
    """The training state of a part, as far as its weights show it.

    Training almost never leaves every bias at exactly 0, or, in a part without any, every scale of
    its LayerNorms at exactly 1; random initialisation does.
    """
    biases = [p for n, p in part.named_parameters() if n.endswith("bias")]
    scales = [p for n, p in part.named_parameters() if n.endswith("weight") and p.dim() == 1]
    if scales and not biases:
        norm, start = family.parts.norm, 0 if family.parts.adds_one else 1
        if all(bool((scale == start).all()) for scale in scales):
            reason = f"Every {norm} scale of the {name} is exactly 1, as before any training."
            return PartState("untrained", reason)
        reason = f"The checkpoint has weights for the {name}; {norm} scales are not 1."
        return PartState("trained", reason)
    if biases and not any(bool(bias.any()) for bias in biases):
        return PartState(
            "untrained",
            f"Every bias of the {name} is exactly 0, as before any training.",
        )
    return PartState("trained", f"The checkpoint has weights for the {name}; biases are not 0.")


def _card(
    files: ModelFiles,
    reader: TokenizerCard,
    model: Any,
    checksum: str,
    provenance: Provenance,
    fast: FastPrecision,
) -> ModelCard:
    config = model.config
    parameters = list(model.parameters())
    return ModelCard(
        id=files.id,
        title=files.title,
        family=reader.family,
        source=files.source,
        location=files.location,
        revision=files.revision,
        checksum=checksum,
        n_layers=config.num_hidden_layers,
        n_dims=config.hidden_size,
        n_heads=config.num_attention_heads,
        vocabulary_size=config.vocab_size,
        tokenizer_size=reader.vocabulary_size,
        max_length=reader.max_length,
        cased=reader.cased,
        has_segments=reader.has_segments,
        n_parameters=sum(p.numel() for p in parameters),
        memory_bytes=sum(p.numel() * p.element_size() for p in parameters),
        provenance=provenance,
        fast=fast,
    )
