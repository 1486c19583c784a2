"""Running the network: batches sorted by length, budgeted by tokens, results in input order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import torch

from components.core.encoder.inputs import check_rows, network_inputs
from components.core.encoder.loading import LoadedModel
from components.core.encoder.memory import set_aside, tidy_memory
from components.core.encoder.request import Request
from components.core.encoder.tokenizing import tokenize
from components.core.encoder.views import Attention
from components.core.schema import Encoding, FloatArray, Passport, Tokens

__all__ = ["BATCH_TOKENS", "batches", "encode", "freeze", "passport_of", "room"]

BATCH_TOKENS = 1024
"""Padded tokens in a batch. Measured: 1,024 to 2,048 is fastest alone, 1,024 on a shared machine;
8,192 is 1.7 times slower."""

_TOKEN_FIELDS = [f.name for f in fields(Tokens)]


def encode(
    loaded: LoadedModel,
    texts: Sequence[str],
    request: Request,
    *,
    pairs: Sequence[str | None] | None = None,
) -> list[Encoding]:
    """Each text's encoding, in the order given; see `EncoderService.encode`."""
    tokens = tokenize(loaded.reader, texts, pairs=pairs, pad_to=request.pad_to)
    check_rows(loaded, tokens)
    passport = passport_of(loaded, request)
    results = [room(t, loaded, request, passport) for t in tokens]
    lengths = [t.n_tokens for t in tokens]
    with tidy_memory(sum(lengths)):
        for batch in batches(lengths, same_length=request.mask == "ones"):
            outputs = _forward(loaded, [tokens[i] for i in batch], request)
            for row, i in enumerate(batch):
                _fill(results[i], row, outputs)
                freeze(results[i])
    return results


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
    ids, mask, segments = network_inputs(loaded, batch)
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


def room(
    tokens: Tokens,
    loaded: LoadedModel,
    request: Request,
    passport: Passport,
    *,
    with_pooler: bool = True,
) -> Encoding:
    """An encoding whose arrays are there but not yet filled: they are to outlast the run."""
    n, card = tokens.n_tokens, loaded.card
    layers = request.layers or ()
    heads: tuple[int, ...] | None = None
    if request.attentions is not False:
        every = request.attentions is True
        heads = (card.n_layers, card.n_heads) if every else (len(request.attentions),)  # type: ignore[arg-type]
    has_pooler = with_pooler and getattr(loaded.model, "pooler", None) is not None
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


def freeze(encoding: Encoding) -> None:
    """Make what was filled read-only."""
    for array in (encoding.hidden, encoding.pooler_output, encoding.attentions):
        if array is not None:
            array.flags.writeable = False


def passport_of(loaded: LoadedModel, request: Request) -> Passport:
    """How to get a run's numbers again."""
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
