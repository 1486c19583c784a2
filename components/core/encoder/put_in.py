"""What is put in where something is switched off or replaced: means and other texts' states.

All of it comes from plain runs, in which nothing is changed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import torch

from components.core.encoder.inputs import network_inputs
from components.core.encoder.intervention_checks import Changes
from components.core.encoder.loading import LoadedModel
from components.core.encoder.running import batches
from components.core.schema import Average, Patch, SwitchOff, Tokens

__all__ = ["PutIn", "gather", "plain_layers"]

_Read = Iterator[tuple[list[Tokens], int, torch.Tensor]]
"""The texts of a batch, a layer, and its hidden states."""


@dataclass(frozen=True)
class PutIn:
    """Vectors to put in.

    Attributes:
        states: (n_tokens, n_dims) of another text, by text, pair and layer.
        parts: (n_dims,) mean of a part over the baseline, by part and layer; all heads of a layer
            side by side.
        own: (n_dims,) mean over a text's own tokens, by text, pair and layer.
        batch: (n_dims,) mean over all texts, by layer.
    """

    states: dict[tuple[str, str | None, int], torch.Tensor] = field(default_factory=dict)
    parts: dict[tuple[str, int], torch.Tensor] = field(default_factory=dict)
    own: dict[tuple[str, str | None, int], torch.Tensor] = field(default_factory=dict)
    batch: dict[int, torch.Tensor] = field(default_factory=dict)


def gather(
    loaded: LoadedModel,
    rows: Sequence[Changes],
    *,
    texts: Sequence[Tokens],
    sources: Sequence[Tokens],
    baseline: Sequence[Tokens],
    pause: Callable[[], None],
) -> PutIn:
    """What the changes of all texts need.

    Args:
        loaded: the model.
        rows: the changes, for each result.
        texts: the different texts that are read.
        sources: those that states are taken from.
        baseline: those that parts are averaged over.
        pause: called between batches; what it raises ends the work.
    """

    most = loaded.device.for_steps.batch_tokens

    def read(some: Sequence[Tokens], layers: set[int], sums: _PartSums | None = None) -> _Read:
        lengths = [t.n_tokens for t in some]
        for places in batches(lengths, same_length=False, most=most) if layers else ():
            pause()
            batch = [some[i] for i in places]
            for layer, hidden in plain_layers(loaded, batch, max(layers), sums):
                if layer in layers:
                    yield batch, layer, hidden

    changes = [change for row in rows for change in row]
    patched = {change.layer for change in changes if isinstance(change, Patch)}
    averaged = {change.layer for change in changes if isinstance(change, Average)}
    switched = {c.layer for c in changes if isinstance(c, SwitchOff) and c.to == "mean"}
    put_in = PutIn()
    for batch, layer, hidden in read(sources, patched):
        for tokens, states in zip(batch, hidden, strict=True):
            put_in.states[tokens.text, tokens.pair, layer] = states[: tokens.n_tokens].clone()
    means: defaultdict[int, _Mean] = defaultdict(_Mean)
    for batch, layer, hidden in read(texts, averaged):
        means[layer].add(hidden, batch)
        for tokens, states in zip(batch, hidden, strict=True):
            put_in.own[tokens.text, tokens.pair, layer] = states[: tokens.n_tokens].mean(0)
    put_in.batch.update({layer: mean.value for layer, mean in means.items()})
    sums = _PartSums()
    for _ in read(baseline, switched, sums):  # the tap sees what is wanted of them
        pass
    put_in.parts.update({key: mean.value for key, mean in sums.means.items()})
    return put_in


def plain_layers(
    loaded: LoadedModel, batch: Sequence[Tokens], last: int, sums: _PartSums | None = None
) -> Iterator[tuple[int, torch.Tensor]]:
    """One batch's plain hidden states: layer 0 to `last`, each with its number."""
    ids, mask, segments = network_inputs(loaded, batch, loaded.device.for_steps)
    visible = None if bool(mask.all()) else mask.bool()[:, None, None, :]
    hidden = loaded.layerwise.embed(ids, segments)
    yield 0, hidden
    for layer in range(1, last + 1):
        if sums is not None:
            sums.begin(layer, batch)
        hidden = loaded.layerwise.step(layer, hidden, visible, sums)
        yield layer, hidden


class _Mean:
    """A mean over the tokens of batches, padding left out."""

    def __init__(self) -> None:
        self._total = torch.zeros((), dtype=torch.float64)
        self._n = 0

    def add(self, states: torch.Tensor, batch: Sequence[Tokens]) -> None:
        lengths = torch.tensor([tokens.n_tokens for tokens in batch])
        real = torch.arange(states.shape[1]) < lengths[:, None]
        self._total = self._total.to(states.device) + states[real.to(states.device)].sum(
            0, dtype=torch.float64
        )
        self._n += int(lengths.sum())

    @property
    def value(self) -> torch.Tensor:
        return (self._total / self._n).float()


class _PartSums:
    """A tap that averages what every part gives."""

    def __init__(self) -> None:
        self.means: defaultdict[tuple[str, int], _Mean] = defaultdict(_Mean)
        self._layer = 0
        self._batch: Sequence[Tokens] = ()

    def begin(self, layer: int, batch: Sequence[Tokens]) -> None:
        self._layer, self._batch = layer, batch

    def heads(self, outputs: torch.Tensor) -> None:
        self.means["head", self._layer].add(outputs, self._batch)

    def attention(self, outputs: torch.Tensor) -> None:
        self.means["attention", self._layer].add(outputs, self._batch)

    def feed_forward(self, outputs: torch.Tensor) -> None:
        self.means["feed_forward", self._layer].add(outputs, self._batch)
