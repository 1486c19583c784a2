"""Runs the network: batches sorted by length, limited by tokens, results in input order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np
import torch

from contextlens.core.batching import Processors
from contextlens.core.encoder.devices import (
    CPU_TOKENS,
    LONG_RUN,
    Device,
    allocate_array,
    device_of,
    tidy_memory,
)
from contextlens.core.encoder.inputs import Request, check_rows, network_inputs
from contextlens.core.encoder.loading import LoadedModel
from contextlens.core.encoder.threads import limit_threads, n_threads
from contextlens.core.encoder.tokenizing import tokenize
from contextlens.core.encoder.views import Attention
from contextlens.core.errors import ModelError, RequestError
from contextlens.core.schema import Counted, Encoding, FloatArray, Mask, Passport, Precision, Tokens

__all__ = [
    "MAX_WEIGHT_BYTES",
    "WEIGHT_BYTES",
    "BatchKey",
    "PreparedText",
    "ProgressCounter",
    "allocate_encoding",
    "batches",
    "check_finite",
    "freeze",
    "passport_of",
    "prepare_texts",
    "processors",
    "run_alone",
]

_TOKEN_FIELDS = [f.name for f in fields(Tokens)]


class ProgressCounter:
    """Counts the units of work begun and done so far, and reports both numbers."""

    def __init__(self, progress: Counted | None) -> None:
        self._progress, self._n, self._done = progress, 0, 0

    def begin(self, n: int) -> None:
        """Add `n` units to the work, and report."""
        self._n += n
        self.done(0)

    def done(self, n: int) -> None:
        """Report `n` more units as done; an exception from `progress` stops the work."""
        self._done += n
        if self._progress is not None:
            self._progress(self._done, self._n)


@dataclass(frozen=True)
class PreparedText:
    """One text and what to compute for it."""

    tokens: Tokens
    request: Request
    passport: Passport


def prepare_texts(
    loaded: LoadedModel,
    texts: Sequence[str],
    request: Request,
    *,
    pairs: Sequence[str | None] | None = None,
) -> list[PreparedText]:
    """Return the texts, tokenized, each with the request and its passport."""
    lengths = {"pad_to": request.pad_to, "max_length": request.max_length}
    tokens = tokenize(loaded.reader, texts, pairs=pairs, **lengths)
    check_rows(loaded, tokens)
    if request.attentions is not False:
        _check_weights(loaded, max((text.n_tokens for text in tokens), default=0))
    passport = passport_of(loaded, request)
    return [PreparedText(text_tokens, request, passport) for text_tokens in tokens]


def _check_weights(loaded: LoadedModel, n_tokens: int) -> None:
    """Refuse a text whose attention weights, which eager attention keeps at once, are too many."""
    size = 4 * loaded.card.n_layers * loaded.card.n_heads * n_tokens**2
    if size > MAX_WEIGHT_BYTES:
        raise RequestError(
            f"The attention weights of {n_tokens:,} tokens would take {size / 1e9:.0f} GB in "
            f"{loaded.card.title}; at most {MAX_WEIGHT_BYTES / 1e9:.0f} GB are computed at once. "
            "Shorten the text, or pad it less."
        )


# --- A batch: the texts of several callers that run together

MAX_WEIGHT_BYTES = 2_000_000_000
"""The limit for the attention weights of one text, of all layers and heads."""
WEIGHT_BYTES = 256_000_000
"""The limit for a batch's attention weights, unless a single text needs more."""


@dataclass(frozen=True)
class BatchKey:
    """The properties that texts must share to run together; see `batching.RunnableKind`."""

    loaded: LoadedModel
    has_weights: bool
    mask: Mask
    precision: Precision

    @classmethod
    def of(cls, loaded: LoadedModel, request: Request) -> BatchKey:
        """The kind of one request, for batching it with others."""
        return cls(loaded, request.attentions is not False, request.mask, request.precision)

    @property
    def same_length(self) -> bool:
        """True if padding would change results."""
        return self.mask == "ones"

    @property
    def overhead(self) -> int:
        """The fixed cost of a batch's steps, as the number of tokens computed in the same time."""
        return self.loaded.device.overhead_tokens

    def fits(self, n_texts: int, longest: int) -> bool:
        """True if `n_texts` texts of at most `longest` tokens fit in a batch; one always does."""
        if n_texts <= 1:
            return True
        card = self.loaded.card
        weights = 4 * n_texts * card.n_layers * card.n_heads * longest**2
        return n_texts * longest <= self.loaded.device.batch_tokens and not (
            self.has_weights and weights > WEIGHT_BYTES
        )

    def run(self, texts: Sequence[PreparedText]) -> list[Encoding]:
        """The encodings of a batch; each text may request different layers and heads."""
        loaded, request = self.loaded, texts[0].request
        ids, mask, segments = network_inputs(loaded, [text.tokens for text in texts])
        with torch.inference_mode():
            output = loaded.views.at(self.precision, _attention(loaded, request))(
                input_ids=ids,
                attention_mask=torch.ones_like(mask) if self.mask == "ones" else mask,
                output_hidden_states=True,
                output_attentions=self.has_weights,
                **({"token_type_ids": segments} if segments is not None else {}),
            )
            arrays = _fetch(loaded, texts, output)
        encodings = []
        for row, text in enumerate(texts):
            encoding = allocate_encoding(text.tokens, loaded, text.request, text.passport)
            _fill(encoding, row, arrays, text.request)
            check_finite(encoding, loaded)
            freeze(encoding)
            encodings.append(encoding)
        return encodings


@dataclass(frozen=True)
class _Outputs:
    """One batch's results, copied from the device."""

    hidden: dict[int, FloatArray]  # by layer, (n_batch, n_tokens, n_dims)
    pooler_output: FloatArray | None
    attentions: dict[int, FloatArray]  # by layer, (n_batch, n_heads, n_tokens, n_tokens)


def _fetch(loaded: LoadedModel, texts: Sequence[PreparedText], output: Any) -> _Outputs:
    """The layers and weights that any of the texts requests."""
    layers = sorted({layer for text in texts for layer in text.request.layers or ()})
    weights = sorted({layer for text in texts for layer in _weights(loaded, text.request)})
    pooled = getattr(output, "pooler_output", None)
    tensors = [output.hidden_states[layer] for layer in layers]
    tensors += [output.attentions[layer - 1] for layer in weights]
    arrays = iter(loaded.device.fetch(tensors if pooled is None else [*tensors, pooled]))
    return _Outputs(
        hidden={layer: next(arrays) for layer in layers},
        attentions={layer: next(arrays) for layer in weights},
        pooler_output=next(arrays, None),
    )


def _attention(loaded: LoadedModel, request: Request) -> Attention:
    """The attention implementation: eager to get weights, else transformers' faster default."""
    return loaded.views.default if request.attentions is False else "eager"


def _weights(loaded: LoadedModel, request: Request) -> set[int]:
    """The layers whose attention weights are requested."""
    if isinstance(request.attentions, bool):
        return set(range(1, loaded.card.n_layers + 1)) if request.attentions else set()
    return {layer for layer, _ in request.attentions}


def allocate_encoding(
    tokens: Tokens,
    loaded: LoadedModel,
    request: Request,
    passport: Passport,
    *,
    with_pooler: bool = True,
) -> Encoding:
    """An encoding with allocated, unfilled arrays, apart from the network's own memory."""
    n, card = tokens.n_tokens, loaded.card
    layers = request.layers or ()
    heads: tuple[int, ...] | None = None
    if request.attentions is not False:
        every = request.attentions is True
        heads = (card.n_layers, card.n_heads) if every else (len(request.attentions),)  # type: ignore[arg-type]
    has_pooler = with_pooler and getattr(loaded.model, "pooler", None) is not None
    return Encoding(
        **{name: getattr(tokens, name) for name in _TOKEN_FIELDS},
        hidden=allocate_array(len(layers), n, card.n_dims),
        layers=layers,
        pooler_output=allocate_array(card.n_dims) if has_pooler else None,
        attentions=None if heads is None else allocate_array(*heads, n, n),
        passport=passport,
    )


def _fill(encoding: Encoding, row: int, outputs: _Outputs, request: Request) -> None:
    n = encoding.n_tokens
    for ours, layer in zip(encoding.hidden, encoding.layers, strict=True):
        ours[:] = outputs.hidden[layer][row, :n]
    if encoding.pooler_output is not None and outputs.pooler_output is not None:
        encoding.pooler_output[:] = outputs.pooler_output[row]
    if encoding.attentions is None:
        return
    if isinstance(request.attentions, bool):
        for ours, layer in zip(encoding.attentions, outputs.attentions, strict=True):
            ours[:] = outputs.attentions[layer][row, :, :n, :n]
    else:
        for ours, (layer, head) in zip(encoding.attentions, request.attentions, strict=True):
            ours[:] = outputs.attentions[layer][row, head, :n, :n]


def check_finite(encoding: Encoding, loaded: LoadedModel) -> None:
    """Refuse a result with NaN or infinite values: the network's numbers grew too large.

    A NaN goes up through all layers and along an attention row, so the highest layer and the first
    column show it.

    Raises:
        ModelError: the result has such values.
    """
    arrays = [encoding.pooler_output]
    if encoding.layers:
        arrays.append(encoding.layer(max(encoding.layers)))
    if encoding.attentions is not None:
        arrays.append(encoding.attentions[..., 0])
    if not all(array is None or np.isfinite(array).all() for array in arrays):
        fast = encoding.passport.precision == "fast"
        dtype = loaded.card.fast.dtype if fast else "float32"
        raise ModelError(
            f"{loaded.card.title} cannot read this text: on the way through its layers, numbers "
            f"grow too large for {dtype} and become infinite or NaN. "
            f"{'Compute in float32 (precision exact), or choose' if fast else 'Choose'} another "
            "model."
        )


def freeze(encoding: Encoding) -> None:
    """Make the filled arrays read-only."""
    for array in (encoding.hidden, encoding.pooler_output, encoding.attentions):
        if array is not None:
            array.flags.writeable = False


def passport_of(loaded: LoadedModel, request: Request, device: Device | None = None) -> Passport:
    """The settings that reproduce a run's numbers; `device` defaults to the model's."""
    settings: dict[str, Any] = {"attention": _attention(loaded, request), "mask": request.mask}
    settings["device"] = (device or loaded.device).name
    if loaded.card.language:
        settings["language"] = loaded.card.language
    if loaded.card.was_converted:
        settings["weights stored as"] = ", ".join(loaded.card.stored_as)
    if request.pad_to is not None:
        settings["pad_to"] = request.pad_to
    if request.max_length is not None:
        settings["max_length"] = request.max_length
    if request.precision == "fast":
        settings["computed in"] = loaded.card.fast.dtype
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


def processors(device: str) -> Processors:
    """The resources that batches compute with.

    Two batches run at once: on a processor with several threads, each has half of torch's threads;
    on a graphics card, one is prepared while the other is computed.

    Args:
        device: as `CONTEXTLENS_DEVICE` names it.

    Raises:
        SettingsError: torch has one thread, and this machine does not have the device.
    """
    has_two = n_threads() > 1 or device_of(device).name != "cpu"
    return Processors(2 if has_two else 1, limit_threads, partial(tidy_memory, LONG_RUN))


# --- Work of one thread alone


def run_alone(
    loaded: LoadedModel, prepared: Sequence[PreparedText], request: Request
) -> list[Encoding]:
    """Return each prepared text's encoding, in the order given, computed by this thread alone."""
    results: dict[int, Encoding] = {}
    lengths = [text.tokens.n_tokens for text in prepared]
    most = loaded.device.batch_tokens
    with tidy_memory(sum(lengths)):
        kind = BatchKey.of(loaded, request)
        for batch in batches(lengths, same_length=request.mask == "ones", most=most):
            results.update(zip(batch, kind.run([prepared[i] for i in batch]), strict=True))
    return [results[i] for i in range(len(prepared))]


def batches(
    lengths: Sequence[int], *, same_length: bool, most: int = CPU_TOKENS
) -> Iterator[list[int]]:
    """Indices in batches of at most `most` padded tokens, longest first.

    With `same_length`, a batch holds one length only: without the mask, padding changes results.
    """
    batch: list[int] = []
    for i in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        longest = lengths[batch[0]] if batch else 0
        full = (len(batch) + 1) * longest > most
        if batch and (full or (same_length and lengths[i] != longest)):
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch
