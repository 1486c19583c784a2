"""Integrated gradients (Sundararajan, Taly & Yan 2017) of a cosine, over the states of layer 0.

The way from start to input is straight; the gradient is taken at the points of Gauss and Legendre,
which need fewer steps than evenly spaced ones. The integral of the gradient along the way, times
the way, adds up to the change of the cosine: what steps leave of it is told, never shared out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from components.core.encoder.inputs import check_rows, network_inputs
from components.core.encoder.loading import LoadedModel
from components.core.encoder.request import Request, checked_layers, is_index
from components.core.encoder.running import passport_of
from components.core.encoder.tokenizing import tokenize
from components.core.errors import RequestError
from components.core.schema import Attribution, Counted, FloatArray, Tokens

__all__ = ["LEAST_STEPS", "MOST_STEPS", "REMAINDER", "integrated_gradients"]

LEAST_STEPS, MOST_STEPS = 16, 256
"""Where the number of steps is not given: of the first attempt and of the last."""
REMAINDER = 1e-3
"""What the shares may leave of the cosine, where the number of steps is not given."""

_GRAPH_BYTES = 200_000_000  # of what is kept for the way back
_GRAPH_VALUES = 24  # such values for each dimension, token and layer, about

_Cosine = Callable[[torch.Tensor], torch.Tensor]
"""From (n_batch, n_tokens, n_dims) of layer 0 to (n_batch,) float64."""


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
    """What each token adds to a cosine; see `EncoderService.integrated_gradients`.

    Raises:
        RequestError: weights or a vector that do not fit, a layer that the model does not have, or
            a number of steps that is not from 1 to 1,000.
    """
    tokens = tokenize(loaded.reader, [text], pairs=[pair])[0]
    check_rows(loaded, [tokens])
    chosen = loaded.card.n_layers if layer is None else checked_layers([layer], loaded.card)[0]
    weighed = _checked("weights", weights, tokens.n_tokens)
    cosine = _cosine(loaded, chosen, weighed, _checked("toward", toward, loaded.card.n_dims))
    attempts = _attempts(steps)
    with torch.no_grad():
        ends = _ends(loaded, tokens)
        begin, end = cosine(ends).tolist()
    report = _Report(progress)
    at_once = _rows_at_once(loaded, chosen, tokens.n_tokens)
    for n in attempts:
        shares = _shares(cosine, ends, n, at_once, report)
        if abs(end - begin - shares.sum()) <= REMAINDER:
            break
    plain = passport_of(loaded, Request(), loaded.device.for_steps)
    settings = {**plain.settings, "integrated gradients": f"{n} steps of Gauss-Legendre"}
    return Attribution(
        tokens=tokens,
        layer=chosen,
        shares=shares,
        start=begin,
        end=end,
        steps=n,
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


def _attempts(steps: int | None) -> list[int]:
    """Numbers of steps to try, until the shares add up."""
    if steps is None:
        return [
            LEAST_STEPS << i
            for i in range(MOST_STEPS.bit_length())
            if LEAST_STEPS << i <= MOST_STEPS
        ]
    if not is_index(steps, 1, 1000):
        raise RequestError(f"{steps!r} steps were asked; ask for a whole number from 1 to 1,000.")
    return [int(steps)]


def _ends(loaded: LoadedModel, tokens: Tokens) -> torch.Tensor:
    """(2, n_tokens, n_dims) of layer 0: with [PAD]'s word vectors, and the input's own."""
    device = loaded.device.for_steps
    ids, _, segments = network_inputs(loaded, [tokens], device)
    table = loaded.layerwise.word_table
    words = table[ids]
    special = device.put(torch.from_numpy(tokens.special_tokens_mask == 1))[:, None]
    start = torch.where(special, words, table[loaded.reader.tokenizer.pad_token_id])
    both = [loaded.layerwise.embed(ids, segments, words=each) for each in (start, words)]
    return torch.cat(both)


def _cosine(
    loaded: LoadedModel, layer: int, weights: torch.Tensor, toward: torch.Tensor
) -> _Cosine:
    device = loaded.device.for_steps
    wanted = torch.nn.functional.normalize(device.put(toward).double(), dim=0)
    weights = device.put(weights)

    def cosine(hidden: torch.Tensor) -> torch.Tensor:
        for number in range(1, layer + 1):
            hidden = loaded.layerwise.step(number, hidden, None)
        pooled = torch.einsum("n,bnd->bd", weights, hidden).double()
        return torch.nn.functional.normalize(pooled, dim=1) @ wanted

    return cosine


def _rows_at_once(loaded: LoadedModel, layer: int, n_tokens: int) -> int:
    """Steps in a batch, with what is kept of them for the way back within bounds."""
    each = 4 * _GRAPH_VALUES * loaded.card.n_dims * max(1, layer) * n_tokens
    return max(1, min(loaded.device.for_steps.batch_tokens // n_tokens, _GRAPH_BYTES // each))


def _shares(
    cosine: _Cosine, ends: torch.Tensor, n: int, at_once: int, report: _Report
) -> NDArray[np.float64]:
    """(n_tokens,) with so many steps."""
    start, way = ends[0], ends[1] - ends[0]
    places, parts = np.polynomial.legendre.leggauss(n)  # of the way from -1 to 1
    total = torch.zeros_like(way, dtype=torch.float64)
    report.begin(n)
    for first in range(0, n, at_once):
        some = slice(first, first + at_once)
        where = torch.from_numpy((places[some] + 1) / 2).to(way).reshape(-1, 1, 1)
        states = (start + where * way).requires_grad_()
        with torch.enable_grad():
            (slope,) = torch.autograd.grad(cosine(states).sum(), states)
        total += torch.einsum(
            "s,snd->nd", torch.from_numpy(parts[some] / 2).to(total), slope.double()
        )
        report.done(len(where))
    shares: NDArray[np.float64] = (total * way.double()).sum(1).cpu().numpy()
    shares.flags.writeable = False
    return shares


class _Report:
    """Tells how many steps are done, of those begun so far."""

    def __init__(self, progress: Counted | None) -> None:
        self._progress, self._n, self._done = progress, 0, 0

    def begin(self, n: int) -> None:
        self._n += n
        self.done(0)

    def done(self, n: int) -> None:
        self._done += n
        if self._progress is not None:
            self._progress(self._done, self._n)
