"""Changes made to a batch at one layer: parts switched off, states replaced, positions hidden."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from components.core.encoder.intervention_checks import Changes
from components.core.encoder.put_in import PutIn
from components.core.schema import Average, Block, Encoding, Intervention, Patch, SwitchOff

__all__ = ["NEVER", "Row", "Switches", "replace_states", "visible_positions"]


NEVER = sys.maxsize


@dataclass(frozen=True, eq=False)
class Row:
    """One row of a batch.

    Attributes:
        result: of one text; what is computed is written into its arrays.
        changes: what is changed while the text is read.
    """

    result: Encoding
    changes: Changes

    @property
    def joins(self) -> int:
        """The layer up to which nothing is changed, but for states put in there; or NEVER."""
        return min(map(_joins, self.changes), default=NEVER)


def _joins(change: Intervention) -> int:
    if isinstance(change, SwitchOff):
        return change.layer - 1
    if isinstance(change, Block):
        return min(change.layers or (1,)) - 1
    return change.layer


class Switches:
    """A tap that switches off what the rows of a batch ask for in one layer."""

    def __init__(self, layer: int, rows: Sequence[Row], put_in: PutIn, *, n_heads: int) -> None:
        self._layer, self._put_in, self._n_heads = layer, put_in, n_heads
        self._off = {  # where two name the same part, the later one stays
            (change.part, place, change.head or 0): change.to
            for place, row in enumerate(rows)
            for change in row.changes
            if isinstance(change, SwitchOff) and change.layer == layer
        }

    def heads(self, outputs: torch.Tensor) -> None:
        """See `layerwise.Tap`."""
        self._replace("head", outputs.view(*outputs.shape[:-1], self._n_heads, -1))

    def attention(self, outputs: torch.Tensor) -> None:
        """See `layerwise.Tap`."""
        self._replace("attention", outputs.unsqueeze(-2))

    def feed_forward(self, outputs: torch.Tensor) -> None:
        """See `layerwise.Tap`."""
        self._replace("feed_forward", outputs.unsqueeze(-2))

    def _replace(self, part: str, outputs: torch.Tensor) -> None:
        """Outputs are (n_batch, n_tokens, n_heads or 1, n_dims of each), in the layer's memory."""
        for kind in ("zero", "mean"):
            off = [(i, head) for (p, i, head), to in self._off.items() if (p, to) == (part, kind)]
            if off:
                places, heads = map(list, zip(*off, strict=True))
                if kind == "zero":
                    outputs[places, :, heads] = 0
                else:
                    means = self._put_in.parts[part, self._layer].view(outputs.shape[2:])
                    outputs[places, :, heads] = means[heads].unsqueeze(1)


def replace_states(layer: int, hidden: torch.Tensor, rows: Sequence[Row], put_in: PutIn) -> None:
    """Put in, at one layer, the states that the rows of a batch ask for.

    Args:
        layer: 0 to n.
        hidden: (n_batch, n_tokens, n_dims), changed in place.
        rows: of the batch.
        put_in: what they are given.
    """
    for states, row in zip(hidden, rows, strict=True):
        for change in row.changes:
            if isinstance(change, Patch) and change.layer == layer:
                given = put_in.states[change.source, change.source_pair, layer]
                states[list(change.positions)] = given[list(change.source_positions)]
            elif isinstance(change, Average) and change.layer == layer:
                own = row.result.text, row.result.pair, layer
                mean = put_in.own[own] if change.over == "text" else put_in.batch[layer]
                states[list(change.positions)] = mean


def visible_positions(
    layer: int, rows: Sequence[Row], width: int, device: torch.device
) -> torch.Tensor | None:
    """Which position may look at which in one layer; see `Layerwise.step`.

    Args:
        layer: 1 to n.
        rows: of the batch.
        width: tokens of the longest.
        device: of the result.
    """
    lengths = torch.tensor([row.result.n_tokens for row in rows])
    visible = None
    if int(lengths.min()) < width:
        visible = (torch.arange(width) < lengths[:, None])[:, None, None, :]
    blocks = [
        (place, change)
        for place, row in enumerate(rows)
        for change in row.changes
        if isinstance(change, Block) and (change.layers is None or layer in change.layers)
    ]
    if blocks:
        known = torch.ones(1, dtype=torch.bool) if visible is None else visible
        visible = known.expand(len(rows), 1, width, width).clone()
        for place, block in blocks:
            by = slice(None) if block.seen_by is None else block.seen_by
            visible[place, 0, by, block.token] = False
    return None if visible is None else visible.to(device)
