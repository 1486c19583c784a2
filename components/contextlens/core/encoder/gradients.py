"""Integrated gradients (Sundararajan, Taly & Yan 2017) of a cosine or a label's score, and HotFlip.

The path from start to input is straight, over the states of layer 0. The gradient is taken at
Gauss-Legendre points, which need fewer steps than evenly spaced ones. A token's contribution is the
integral of its gradient times its change along the path; all contributions add up to the change of
the value. The remainder that the steps miss is reported, never distributed over the tokens. Each
piece of the path has its own remainder, which shows where more points are needed: a value that
changes within a hundredth of the path gets its points there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from contextlens.core.encoder.inputs import (
    Request,
    check_rows,
    checked_layers,
    is_index,
    network_inputs,
)
from contextlens.core.encoder.loading import LoadedModel
from contextlens.core.encoder.predicting import labelling_head, scores_of
from contextlens.core.encoder.running import ProgressCounter, passport_of
from contextlens.core.encoder.tokenizing import tokenize
from contextlens.core.errors import RequestError
from contextlens.core.schema import Attribution, Counted, FloatArray, Replacements, Tokens

__all__ = [
    "MAX_STEPS",
    "MIN_STEPS",
    "REMAINDER",
    "integrated_gradients",
    "label_gradients",
    "label_replacements",
]

MIN_STEPS, MAX_STEPS = 16, 512
"""Limits when the number of steps is not given: per piece of the path, and in total."""
REMAINDER = 1e-3
"""The total error of the value that is accepted when the number of steps is not given."""

_GRAPH_BYTES = 200_000_000  # at most, kept for the backward pass
_MAX_STEP_BYTES = 6_000_000_000  # for the backward pass of one step
_MAX_BEST = 100  # words for each token
_ROWS_AT_ONCE = 32  # tokens whose words are ranked at once: of 250,000 words, 32 MB
_GRAPH_VALUES = 24  # float32 values kept for each dimension, token and layer, roughly

_Value = Callable[[torch.Tensor], torch.Tensor]
"""Maps states of layer 0, (n_batch, n_tokens, n_dims), to cosines or scores, (n_batch,) float64;
or to logits, (n_batch, n_labels)."""


def integrated_gradients(
    loaded: LoadedModel,
    text: str,
    weights: FloatArray,
    toward: FloatArray,
    *,
    pair: str | None = None,
    layer: int | None = None,
    steps: int | None = None,
    progress: Counted | None = None,
) -> Attribution:
    """Each token's contribution to a cosine; see `EncoderService.integrated_gradients`.

    Raises:
        RequestError: the weights or the vector do not fit, the model does not have the layer, or
            the number of steps is not from 1 to 1,000; or the text is too long for this.
    """
    tokens = tokenize(loaded.reader, [text], pairs=[pair])[0]
    check_rows(loaded, [tokens])
    chosen = loaded.card.n_layers if layer is None else checked_layers([layer], loaded.card)[0]
    _check_size(loaded, chosen, tokens.n_tokens, or_else=", or choose an earlier layer")
    weighed = _checked("weights", weights, tokens.n_tokens)
    value = _cosine(loaded, chosen, weighed, _checked("toward", toward, loaded.card.n_dims))
    return _attribution(loaded, tokens, value, chosen, steps, progress)


def label_gradients(
    loaded: LoadedModel,
    text: str,
    label: int,
    *,
    pair: str | None = None,
    token: int | None = None,
    steps: int | None = None,
    progress: Counted | None = None,
) -> Attribution:
    """Each token's contribution to a label's score; see `EncoderService.label_gradients`.

    Raises:
        RequestError: the model has no trained head, the head does not have the label, or the text
            does not have the token.
    """
    tokens, logits = _labelled(loaded, text, label, pair, token)

    def value(hidden: torch.Tensor) -> torch.Tensor:
        return scores_of(logits(hidden).double(), loaded.card.labels)[:, label]

    return _attribution(loaded, tokens, value, loaded.card.n_layers, steps, progress)


def label_replacements(
    loaded: LoadedModel,
    text: str,
    label: int,
    *,
    pair: str | None = None,
    token: int | None = None,
    raises: bool = False,
    n_best: int = 10,
) -> Replacements:
    """Words that are expected to change a label most; see `EncoderService.label_replacements`.

    Raises:
        RequestError: as `label_gradients`; or `n_best` is not from 1 to 100.
    """
    if not is_index(n_best, 1, _MAX_BEST):
        raise RequestError(f"n_best is {n_best!r}; it must be from 1 to {_MAX_BEST}.")
    tokens, logits = _labelled(loaded, text, label, pair, token)
    device, table = loaded.device.for_steps, loaded.layerwise.word_table.detach()
    words = device.put(torch.tensor(_whole_words(loaded), dtype=torch.int64))
    ids, _, segments = network_inputs(loaded, [tokens], device)
    rows = table[ids].requires_grad_()
    with torch.enable_grad():
        found = logits(loaded.layerwise.embed(ids, segments, words=rows)).double()
        is_softmax = loaded.card.labels.scores == "softmax"
        value = (found.log_softmax(dim=-1) if is_softmax else found)[0, label]
        (slope,) = torch.autograd.grad(value, rows)
    signed, own = (slope[0] if raises else -slope[0]), (slope[0] * rows[0]).detach().sum(dim=-1)
    best, estimates = [], []
    for start in range(0, tokens.n_tokens, _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        expected, at = (signed[part] @ table[words].T).topk(min(int(n_best), len(words)), dim=-1)
        best.append(words[at])
        estimates.append((expected if raises else -expected) - own[part][:, None])
    found_ids, expected_changes = (torch.cat(part).cpu().numpy() for part in (best, estimates))
    found_ids.flags.writeable = expected_changes.flags.writeable = False
    plain = passport_of(loaded, Request(), device)
    settings = {**plain.settings, "replacements": "first order, HotFlip"}
    return Replacements(tokens, found_ids, expected_changes, replace(plain, settings=settings))


def _labelled(
    loaded: LoadedModel, text: str, label: int, pair: str | None, token: int | None
) -> tuple[Tokens, _Value]:
    """A text's tokens, and the logits, (n_batch, n_labels), of it or of one token, from layer 0."""
    kind, head = labelling_head(loaded)
    tokens = tokenize(loaded.reader, [text], pairs=[pair])[0]
    check_rows(loaded, [tokens])
    _check_size(loaded, loaded.card.n_layers, tokens.n_tokens)
    names, last = loaded.card.labels.names, tokens.n_tokens - 1
    if not is_index(label, 0, len(names) - 1):
        raise RequestError(f"Label {label!r} was asked; the labels are 0 to {len(names) - 1}.")
    if (kind == "label_head") != (token is not None) or not is_index(token or 0, 0, last):
        raise RequestError(
            f"Token {token!r} was asked. A head that labels tokens needs one from 0 to {last}; a "
            "head that labels texts takes None."
        )

    def logits(hidden: torch.Tensor) -> torch.Tensor:
        found = head(loaded.layerwise.through(hidden, loaded.card.n_layers))
        return found if token is None else found[:, token]

    return tokens, logits


def _whole_words(loaded: LoadedModel) -> list[int]:
    """The IDs of tokens that begin a word and consist of two letters or more."""
    vocabulary, n_rows = loaded.reader.vocabulary, loaded.card.vocabulary_size
    rows = enumerate(zip(vocabulary.texts, vocabulary.kinds, strict=True))
    return [
        i
        for i, (text, kind) in rows
        if kind == "start" and len(text) > 1 and text.isalpha() and i < n_rows
    ]


def _attribution(
    loaded: LoadedModel,
    tokens: Tokens,
    value: _Value,
    layer: int,
    steps: int | None,
    progress: Counted | None,
) -> Attribution:
    """The tokens' contributions to a value.

    Args:
        loaded: the model.
        tokens: the input.
        value: computed from the states of layer 0.
        layer: the layer that it reads.
        steps: the number of steps; None for as many as are needed.
        progress: called with the numbers of steps done and known to be needed.
    """
    n_steps = _n_steps(steps)
    with torch.no_grad():
        ends = _ends(loaded, tokens)
        begin, end = value(ends).tolist()
    way = _Interpolation(
        value,
        ends,
        _rows_at_once(loaded, layer, tokens.n_tokens),
        n_steps,
        ProgressCounter(progress),
    )
    pieces = _pieces(way, _Piece(0.0, 1.0, begin, end), None if steps is None else n_steps)
    shares = np.sum([piece.shares for piece in pieces], axis=0)
    shares.flags.writeable = False
    n = n_steps * len(pieces)
    method = f"{n} steps of Gauss-Legendre"
    if len(pieces) > 1:
        method += f" on {len(pieces)} pieces of the way"
    plain = passport_of(loaded, Request(), loaded.device.for_steps)
    settings = {**plain.settings, "integrated gradients": method}
    return Attribution(
        tokens=tokens,
        layer=layer,
        shares=shares,
        start=begin,
        end=end,
        steps=n,
        cuts=(*(piece.low for piece in pieces), 1.0),
        missed=sum(piece.remainder for piece in pieces),
        passport=replace(plain, settings=settings),
    )


def _checked(name: str, given: object, n: int) -> torch.Tensor:
    try:
        values = np.array(given, dtype=np.float32)
    except (TypeError, ValueError):
        values = np.zeros(0, np.float32)
    if values.shape != (n,) or not np.isfinite(values).all() or not values.any():
        raise RequestError(
            f"{name} of shape {values.shape} were given; it must be {n} finite numbers, not all "
            "zero."
        )
    return torch.from_numpy(values)


def _n_steps(steps: int | None) -> int:
    """The number of steps on a piece of the path."""
    if steps is None:
        return MIN_STEPS
    if not is_index(steps, 1, 1000):
        raise RequestError(f"{steps!r} steps were asked; ask for a whole number from 1 to 1,000.")
    return int(steps)


class _Piece:
    """A piece of the path from 0 to 1, the value at both ends, and each token's contribution."""

    def __init__(self, low: float, high: float, begin: float, end: float) -> None:
        self.low, self.high, self.begin, self.end = low, high, begin, end
        self.shares: NDArray[np.float64] = np.zeros(0)

    @property
    def remainder(self) -> float:
        """The absolute error of the steps on this piece."""
        return abs(self.end - self.begin - float(self.shares.sum()))


class _Interpolation:
    """The straight path between two states of layer 0, on which gradients are taken."""

    def __init__(
        self,
        value: _Value,
        ends: torch.Tensor,
        at_once: int,
        n_steps: int,
        report: ProgressCounter,
    ) -> None:
        self._value, self._start, self._way = value, ends[0], ends[1] - ends[0]
        self._at_once, self.n_steps, self._report = at_once, n_steps, report

    def follow(self, *pieces: _Piece) -> None:
        """Compute each piece's contributions."""
        self._report.begin(self.n_steps * len(pieces))
        for piece in pieces:
            piece.shares = self._shares(piece.low, piece.high)

    def halves(self, piece: _Piece) -> tuple[_Piece, _Piece]:
        """Return the two halves of a piece."""
        middle = (piece.low + piece.high) / 2
        with torch.no_grad():
            (value,) = self._value((self._start + middle * self._way)[None]).tolist()
        return (
            _Piece(piece.low, middle, piece.begin, value),
            _Piece(middle, piece.high, value, piece.end),
        )

    def _shares(self, low: float, high: float) -> NDArray[np.float64]:
        """(n_tokens,) each token's contribution between two points of the path."""
        places, parts = np.polynomial.legendre.leggauss(self.n_steps)  # on [-1, 1]
        total = torch.zeros_like(self._way, dtype=torch.float64)
        for first in range(0, self.n_steps, self._at_once):
            batch = slice(first, first + self._at_once)
            where = torch.from_numpy(low + (high - low) * (places[batch] + 1) / 2)
            where = where.to(self._way).reshape(-1, 1, 1)
            states = (self._start + where * self._way).requires_grad_()
            with torch.enable_grad():
                (slope,) = torch.autograd.grad(self._value(states).sum(), states)
            weights = torch.from_numpy((high - low) * parts[batch] / 2).to(total)
            total += torch.einsum("s,snd->nd", weights, slope.double())
            self._report.done(len(where))
        shares: NDArray[np.float64] = (total * self._way.double()).sum(1).cpu().numpy()
        return shares


def _pieces(way: _Interpolation, first: _Piece, steps: int | None) -> list[_Piece]:
    """The path's pieces in order; the worst is halved until the error is small or steps run out.

    Args:
        way: the path on which the steps are taken.
        first: the piece from 0 to 1.
        steps: the number of steps on the whole path; if given, nothing is halved.
    """
    way.follow(first)
    pieces, n_taken = [first], way.n_steps
    while (
        steps is None
        and sum(piece.remainder for piece in pieces) > REMAINDER
        and n_taken + 2 * way.n_steps <= MAX_STEPS
    ):
        worst = max(range(len(pieces)), key=lambda i: pieces[i].remainder)
        halves = way.halves(pieces[worst])
        way.follow(*halves)
        pieces[worst : worst + 1] = halves
        n_taken += 2 * way.n_steps
    return pieces


def _ends(loaded: LoadedModel, tokens: Tokens) -> torch.Tensor:
    """(2, n_tokens, n_dims) layer 0 of the start, [PAD] for ordinary tokens, and of the input."""
    device = loaded.device.for_steps
    ids, _, segments = network_inputs(loaded, [tokens], device)
    table = loaded.layerwise.word_table
    words = table[ids]
    special = device.put(torch.from_numpy(tokens.special_tokens_mask == 1))[:, None]
    start = torch.where(special, words, table[loaded.reader.tokenizer.pad_token_id])
    both = [loaded.layerwise.embed(ids, segments, words=vectors) for vectors in (start, words)]
    return torch.cat(both)


def _cosine(loaded: LoadedModel, layer: int, weights: torch.Tensor, toward: torch.Tensor) -> _Value:
    device = loaded.device.for_steps
    wanted = torch.nn.functional.normalize(device.put(toward).double(), dim=0)
    weights = device.put(weights)

    def cosine(hidden: torch.Tensor) -> torch.Tensor:
        states = loaded.layerwise.through(hidden, layer)
        pooled = torch.einsum("n,bnd->bd", weights, states).double()
        return torch.nn.functional.normalize(pooled, dim=1) @ wanted

    return cosine


def _check_size(loaded: LoadedModel, layer: int, n_tokens: int, *, or_else: str = "") -> None:
    """Refuse a text whose single step takes too much memory: states and attention weights."""
    weights = 4 * loaded.card.n_heads * max(1, layer) * n_tokens**2
    size = _row_bytes(loaded, layer, n_tokens) + weights
    if size > _MAX_STEP_BYTES:
        raise RequestError(
            f"Gradients over {n_tokens:,} tokens would take {size / 1e9:.0f} GB in "
            f"{loaded.card.title}; at most {_MAX_STEP_BYTES / 1e9:.0f} GB are used. Shorten the "
            f"text{or_else}."
        )


def _row_bytes(loaded: LoadedModel, layer: int, n_tokens: int) -> int:
    return 4 * _GRAPH_VALUES * loaded.card.n_dims * max(1, layer) * n_tokens


def _rows_at_once(loaded: LoadedModel, layer: int, n_tokens: int) -> int:
    """The number of steps in a batch whose backward pass stays within the memory limit."""
    row_bytes = _row_bytes(loaded, layer, n_tokens)
    return max(1, min(loaded.device.for_steps.batch_tokens // n_tokens, _GRAPH_BYTES // row_bytes))
