"""Some texts run once as they are, and all their changed readings from where each begins to differ.

The deeper a change lies, the less there is to compute: a row joins the batch at the last layer that
its changes have not touched, with the plain text's states.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from components.core.encoder.changing import Row, Switches, replace_states, visible_positions
from components.core.encoder.loading import LoadedModel
from components.core.encoder.put_in import PutIn, plain_layers
from components.core.encoder.running import batches
from components.core.schema import Encoding, Tokens

__all__ = ["run_group"]

_Plain = dict[int, dict[tuple[str, str | None], torch.Tensor]]
"""States of texts that nothing changed, (n_tokens of the longest, n_dims), by layer and text."""


def run_group(
    loaded: LoadedModel,
    group: Sequence[Tokens],
    rows: Sequence[Row],
    put_in: PutIn,
    *,
    done: Callable[[int], None],
) -> None:
    """Fill the results of all rows of some texts.

    Args:
        loaded: the model.
        group: different texts, few enough for a batch.
        rows: all readings of these, changed and plain.
        put_in: what is put in.
        done: told how many more results are there, after each batch.
    """
    asked = rows[0].result.layers
    changed = sorted((r for r in rows if r.joins <= max(asked)), key=lambda row: row.joins)
    needed = {row.joins for row in changed} | {
        layer for row in rows for layer in asked if layer < row.joins
    }
    plain: _Plain = {}
    for layer, hidden in plain_layers(loaded, group, max(needed)):
        if layer in needed:
            plain[layer] = {(t.text, t.pair): own for t, own in zip(group, hidden, strict=True)}
    for row in rows:
        for layer in {layer for layer in asked if layer < row.joins}:
            _write(loaded, row.result, layer, plain[layer][_text_of(row)])
    if len(changed) < len(rows):
        done(len(rows) - len(changed))
    most = loaded.device.for_steps.batch_tokens
    for batch in batches([r.result.n_tokens for r in changed], same_length=False, most=most):
        _run_batch(loaded, [changed[i] for i in batch], plain, put_in)
        done(len(batch))


def _run_batch(loaded: LoadedModel, rows: Sequence[Row], plain: _Plain, put_in: PutIn) -> None:
    """Fill the results of rows from where they join on, of all layers that are asked for."""
    rows = sorted(rows, key=lambda row: row.joins)
    asked, width = rows[0].result.layers, max(row.result.n_tokens for row in rows)
    n_heads = loaded.card.n_heads
    hidden = torch.empty(0)
    for layer in range(rows[0].joins, max(asked) + 1):
        inside = rows[: len(hidden)]
        if inside:
            switches = Switches(layer, inside, put_in, n_heads=n_heads)
            visible = visible_positions(layer, inside, width, hidden.device)
            hidden = loaded.layerwise.step(layer, hidden, visible, switches)
        joining = [plain[layer][_text_of(row)][:width] for row in rows if row.joins == layer]
        if joining:
            hidden = torch.cat([*([hidden] if inside else []), torch.stack(joining)])
        inside = rows[: len(hidden)]
        replace_states(layer, hidden, inside, put_in)
        if layer in asked:
            for row, states in zip(inside, hidden, strict=True):
                _write(loaded, row.result, layer, states)


def _text_of(row: Row) -> tuple[str, str | None]:
    return row.result.text, row.result.pair


def _write(loaded: LoadedModel, result: Encoding, layer: int, states: torch.Tensor) -> None:
    """One layer's states into a result; after the last layer, its pooled vector too."""
    own = states[: result.n_tokens]
    for ours, number in zip(result.hidden, result.layers, strict=True):
        if number == layer:
            ours[:] = own.cpu().numpy()
    if layer == loaded.card.n_layers and result.pooler_output is not None:
        result.pooler_output[:] = loaded.layerwise.pooled(own[None])[0].cpu().numpy()
