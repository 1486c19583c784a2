"""Running the network: batches sorted by length, budgeted by tokens, results in input order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch

from components.core.encoder.loading import LoadedModel
from components.core.encoder.memory import set_aside, tidy_memory
from components.core.encoder.tokenizing import tokenize
from components.core.encoder.views import Attention
from components.core.errors import CheckpointError, RequestError
from components.core.schema import (
    AttentionRequest,
    Encoding,
    FloatArray,
    IntArray,
    Mask,
    ModelCard,
    Passport,
    Precision,
    Tokens,
)

__all__ = ["BATCH_TOKENS", "Request", "batches", "encode"]

BATCH_TOKENS = 1024
"""Padded tokens in a batch. Measured: 1,024 to 2,048 is fastest alone, 1,024 on a shared machine;
8,192 is 1.7 times slower."""

_TOKEN_FIELDS = [f.name for f in fields(Tokens)]


@dataclass(frozen=True)
class Request:
    """What to compute for each text, checked against the model by `checked`."""

    pad_to: int | None = None
    mask: Mask = "model"
    layers: tuple[int, ...] | None = None
    attentions: bool | tuple[tuple[int, int], ...] = False
    precision: Precision = "exact"  # the one that runs
    why_exact: str | None = None  # where another was asked

    @classmethod
    def checked(
        cls,
        card: ModelCard,
        *,
        pad_to: int | None,
        mask: Mask,
        layers: Sequence[int] | None,
        attentions: AttentionRequest,
        precision: Precision,
    ) -> Request:
        """A request that fits this model.

        Raises:
            RequestError: a layer, head, mask, precision or length that the model does not have.
        """
        _one_of("mask", mask, ("model", "ones"))
        _one_of("precision", precision, ("exact", "fast"))
        chosen = range(card.n_layers + 1) if layers is None else _checked_layers(layers, card)
        heads = attentions if isinstance(attentions, bool) else _checked_heads(attentions, card)
        why_exact = None
        if precision == "fast" and card.fast.dtype == "float32":
            precision, why_exact = "exact", card.fast.reason
        return cls(pad_to, mask, tuple(chosen), heads, precision, why_exact)


def encode(
    loaded: LoadedModel,
    texts: Sequence[str],
    request: Request,
    *,
    pairs: Sequence[str | None] | None = None,
) -> list[Encoding]:
    """Each text's encoding, in the order given; see `EncoderService.encode`."""
    tokens = tokenize(loaded.reader, texts, pairs=pairs, pad_to=request.pad_to)
    _check_rows(loaded, tokens)
    passport = _passport(loaded, request)
    results = [_room(t, loaded, request, passport) for t in tokens]
    lengths = [t.n_tokens for t in tokens]
    with tidy_memory(sum(lengths)):
        for batch in batches(lengths, same_length=request.mask == "ones"):
            outputs = _forward(loaded, [tokens[i] for i in batch], request)
            for row, i in enumerate(batch):
                _fill(results[i], row, outputs)
    return results


def _check_rows(loaded: LoadedModel, tokens: Sequence[Tokens]) -> None:
    """Pass where the model has a row for whatever its tokenizer gave: not each file fits."""
    segments = getattr(loaded.model.config, "type_vocab_size", 0)
    for each in tokens:
        _check_below("ID", each.token_ids, loaded.card.vocabulary_size, loaded.card.title)
        if each.token_type_ids is not None:
            _check_below("segment", each.token_type_ids, segments, loaded.card.title)


def _check_below(what: str, given: IntArray, limit: int, title: str) -> None:
    most = int(given.max(initial=0))
    if most >= limit:
        raise CheckpointError(
            f"The tokenizer of {title} gives the {what} {most}, and the model knows {what}s below "
            f"{limit}: its files do not belong together. Choose another model."
        )


def _one_of(name: str, given: object, allowed: tuple[str, ...]) -> None:
    if given not in allowed:
        raise RequestError(f"{name} is {given!r}; it must be one of {', '.join(allowed)}.")


def _is_index(number: object, low: int, high: int) -> bool:
    whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
    return whole and bool(low <= number <= high)  # type: ignore[operator]


def _checked_layers(layers: Sequence[int], card: ModelCard) -> list[int]:
    try:
        chosen = list(layers)
    except TypeError:
        chosen = []
    if not chosen or not all(_is_index(n, 0, card.n_layers) for n in chosen):
        raise RequestError(
            f"Layers {layers!r} were asked; {card.title} has layers 0 (the embedding layer) to "
            f"{card.n_layers}. Give a list of at least one of these."
        )
    return [int(n) for n in chosen]


def _checked_heads(
    heads: Sequence[tuple[int, int]], card: ModelCard
) -> tuple[tuple[int, int], ...]:
    try:
        asked = [(layer, head) for layer, head in heads]
    except (TypeError, ValueError):
        asked = []
    layers, numbers = (1, card.n_layers), (0, card.n_heads - 1)
    if not asked or not all(_is_index(a, *layers) and _is_index(b, *numbers) for a, b in asked):
        raise RequestError(
            f"Attentions {heads!r} were asked; give True for all, or a list of (layer, head) with "
            f"layers 1 to {card.n_layers} (layer 0, the embedding layer, has no attention) and "
            f"heads 0 to {card.n_heads - 1}."
        )
    return tuple((int(layer), int(head)) for layer, head in asked)


def batches(lengths: Sequence[int], *, same_length: bool) -> Iterator[list[int]]:
    """Indices in batches of at most BATCH_TOKENS padded tokens, longest first.

    Without the mask, padding would change results, so such batches hold one length only.
    """
    batch: list[int] = []
    for i in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        longest = lengths[batch[0]] if batch else 0
        full = (len(batch) + 1) * longest > BATCH_TOKENS
        if batch and (full or (same_length and lengths[i] != longest)):
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


@dataclass(frozen=True)
class _Outputs:
    """One batch's results, as numpy where they leave the batch."""

    hidden: list[FloatArray]  # for each chosen layer, (n_batch, n_tokens, n_dims)
    pooler_output: FloatArray | None
    attentions: FloatArray | None  # (n_batch, n_layers, n_heads, n, n) or (n_batch, n_asked, n, n)


@torch.inference_mode()
def _forward(loaded: LoadedModel, batch: Sequence[Tokens], request: Request) -> _Outputs:
    ids, mask, segments = _inputs(loaded, batch)
    if request.mask == "ones":
        mask = torch.ones_like(mask)
    arguments = {"token_type_ids": segments} if segments is not None else {}
    out = loaded.views.at(request.precision, _attention(loaded, request))(
        input_ids=ids,
        attention_mask=mask,
        output_hidden_states=True,
        output_attentions=request.attentions is not False,
        **arguments,
    )
    pooled = getattr(out, "pooler_output", None)
    return _Outputs(
        hidden=[_numpy(out.hidden_states[layer]) for layer in request.layers or ()],
        pooler_output=None if pooled is None else _numpy(pooled),
        attentions=_attentions(out.attentions, request.attentions),
    )


def _attention(loaded: LoadedModel, request: Request) -> Attention:
    """Only eager attention gives its weights; without them transformers' own choice is quicker."""
    return loaded.views.default if request.attentions is False else "eager"


def _inputs(
    loaded: LoadedModel, batch: Sequence[Tokens]
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
    shape = len(batch), max(tokens.n_tokens for tokens in batch)
    ids = np.full(shape, loaded.reader.tokenizer.pad_token_id, dtype=np.int64)
    mask = np.zeros(shape, dtype=np.int64)
    segments = np.zeros(shape, dtype=np.int64) if loaded.family.has_segments else None
    for row, tokens in enumerate(batch):
        ids[row, : tokens.n_tokens] = tokens.token_ids
        mask[row, : tokens.n_tokens] = tokens.attention_mask
        if segments is not None and tokens.token_type_ids is not None:
            segments[row, : tokens.n_tokens] = tokens.token_type_ids
    return (
        torch.from_numpy(ids),
        torch.from_numpy(mask),
        None if segments is None else torch.from_numpy(segments),
    )


def _numpy(tensor: torch.Tensor) -> FloatArray:
    array: FloatArray = tensor.float().numpy()
    return array


def _attentions(
    layers: Sequence[torch.Tensor], asked: bool | Sequence[tuple[int, int]]
) -> FloatArray | None:
    if asked is False:
        return None
    if asked is True:
        return _numpy(torch.stack(list(layers), dim=1))
    return _numpy(torch.stack([layers[layer - 1][:, head] for layer, head in asked], dim=1))


def _room(tokens: Tokens, loaded: LoadedModel, request: Request, passport: Passport) -> Encoding:
    """An encoding whose arrays are there but not yet filled: they are to outlast the run."""
    n, card = tokens.n_tokens, loaded.card
    layers = request.layers or ()
    heads: tuple[int, ...] | None = None
    if request.attentions is not False:
        every = request.attentions is True
        heads = (card.n_layers, card.n_heads) if every else (len(request.attentions),)  # type: ignore[arg-type]
    has_pooler = getattr(loaded.model, "pooler", None) is not None
    return Encoding(
        **{name: getattr(tokens, name) for name in _TOKEN_FIELDS},
        hidden=set_aside(len(layers), n, card.n_dims),
        layers=layers,
        pooler_output=set_aside(card.n_dims) if has_pooler else None,
        attentions=None if heads is None else set_aside(*heads, n, n),
        passport=passport,
    )


def _fill(encoding: Encoding, row: int, outputs: _Outputs) -> None:
    n = encoding.n_tokens
    for ours, layer in zip(encoding.hidden, outputs.hidden, strict=True):
        ours[:] = layer[row, :n]
    if encoding.pooler_output is not None and outputs.pooler_output is not None:
        encoding.pooler_output[:] = outputs.pooler_output[row]
    if encoding.attentions is not None and outputs.attentions is not None:
        encoding.attentions[:] = outputs.attentions[row, ..., :n, :n]
    for array in (encoding.hidden, encoding.pooler_output, encoding.attentions):
        if array is not None:
            array.flags.writeable = False


def _passport(loaded: LoadedModel, request: Request) -> Passport:
    settings: dict[str, Any] = {"attention": _attention(loaded, request), "mask": request.mask}
    if request.pad_to is not None:
        settings["pad_to"] = request.pad_to
    if request.why_exact is not None:
        settings["asked for fast, ran exact"] = request.why_exact
    return Passport(
        model=loaded.card.id,
        revision=loaded.card.revision,
        checksum=loaded.card.checksum,
        precision=request.precision,
        versions=loaded.reader.card.versions,
        settings=settings,
    )
