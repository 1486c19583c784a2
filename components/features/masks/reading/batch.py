"""Padding & masks, said in words: how much is padding, and what it does to the texts."""

from __future__ import annotations

import numpy as np

from components.content.wording import MARGIN, bold, escape, leading, percent, placed, two
from components.features.masks.measures.laboratory import Lab, LabRow, token_labels

__all__ = ["batch_title", "layers_title", "masks_reading", "padding_note", "share_title"]

_CLOSE = 0.95


def batch_title(lab: Lab, row: LabRow, layer: int) -> str:
    """The finding of the main picture, told of one text (or of another where it has no padding)."""
    told = _told(lab, row, layer)
    if told is None:
        return "No padding: the mask has nothing to hide"
    if lab.masked and all(_stays(each, layer) for each in lab.rows if each.n_padding):
        return "With the mask, padding changes no token's direction"
    only = "only " if _is_far(_at(told, layer)) else ""
    mask = "With" if lab.masked else "Without"
    return f"{mask} the mask, {told.label} is {only}{two(_at(told, layer))} like itself"


def share_title(lab: Lab) -> str:
    """How much of the batch is padding, as a title."""
    return f"{percent(lab.share)} of this batch is padding"


def layers_title(row: LabRow) -> str:
    """The finding of one text's lines over the layers, told of its mean."""
    mean = row.damage.mean
    low = float(mean.min())
    if not row.n_padding:
        return f"{row.label} has no padding"
    if two(low) == "1.00":
        return f"{row.label}'s mean stays at 1.00"
    if not _is_far(low) or len(mean) < 2:
        return f"{row.label}'s mean never falls below {two(np.floor(100 * low) / 100)}"
    losses = (mean[:-1] - mean[1:]).tolist()
    steepest = leading(losses)
    if len(steepest) > 1:
        return f"{row.label}'s mean falls to {two(low)}"
    return f"{row.label}'s mean loses most at layer {row.damage.layers[steepest[0] + 1]}"


def masks_reading(lab: Lab, row: LabRow, layer: int) -> list[str]:
    """How much is padding, what it does to a text, and what averaging it in does."""
    told = _told(lab, row, layer)
    n = len(lab.rows) * lab.pad_to
    if told is None:
        return [
            f"All **{n:,}** positions of this batch hold real tokens: nothing is padding, so the "
            "mask has nothing to hide. With padding you would see what it is for."
        ]
    instead = f" {row.label} has none, so this tells of {told.label}." if told is not row else ""
    return [
        f"**{percent(lab.share)}** of the {n:,} positions in this batch are padding.{instead}",
        _mask_on(told, layer) if lab.masked else _mask_off(lab, told, layer),
        _averaged(told, layer, masked=lab.masked),
    ]


def padding_note(lab: Lab, row: LabRow, layer: int) -> str:
    """What the mask says of padding, and that it has vectors too; empty where there is none."""
    told = _told(lab, row, layer)
    return "" if told is None else _padding_note(told, layer)


def _padding_note(row: LabRow, layer: int) -> str:
    lengths = row.damage.lengths[row.damage.layers.index(layer)]
    pad, real = lengths[row.n_real :].mean(), lengths[: row.n_real].mean()
    given = int(row.mask[-1])
    means = (
        "as if it were a token, which others attend to"
        if given
        else "so that nothing attends to it"
    )
    return (
        f"Hatched, not always to scale: {escape(row.pad_token)}, mask {given}, {means}. These "
        f"positions have vectors too (of length {two(pad)} on average in {row.label}, real tokens "
        f"{two(real)}), but represent no word: leave them out."
    )


def _at(row: LabRow, layer: int) -> float:
    return float(row.damage.mean[row.damage.layers.index(layer)])


def _worst(lab: Lab, layer: int) -> LabRow | None:
    """The padded text whose mean moved furthest at a layer; None where nothing is padding."""
    padded = [row for row in lab.rows if row.n_padding]
    return min(padded, key=lambda row: _at(row, layer), default=None)


def _told(lab: Lab, row: LabRow, layer: int) -> LabRow | None:
    """The text to tell of: the chosen one, or where that has no padding the one hit hardest."""
    return row if row.n_padding else _worst(lab, layer)


def _stays(row: LabRow, layer: int) -> bool:
    """Whether mean and tokens all read as 1.00."""
    tokens = row.damage.tokens[row.damage.layers.index(layer)]
    return two(min(_at(row, layer), float(tokens.min()))) == "1.00"


def _is_far(value: float) -> bool:
    """Whether a cosine is called "only", by what is shown of it."""
    return float(two(value)) < _CLOSE


def _mask_off(lab: Lab, row: LabRow, layer: int) -> str:
    value = _at(row, layer)
    if _stays(row, layer):
        why = ": the embedding layer does not let tokens look at each other" if layer == 0 else ""
        return (
            f"Without the mask, every real token of {row.label} is **1.00** like itself at layer "
            f"{layer}{why}."
        )
    only = "only " if _is_far(value) else "still "
    return (
        f"Without the mask, sentence {row.label} padded to {lab.pad_to} is {only}{bold(value)} "
        f"like itself at layer {layer}: {_tokens(row, layer)}.{_harder(lab, row, layer)}"
    )


def _tokens(row: LabRow, layer: int) -> str:
    """Which token moves most and what the first keeps, or between what all of them lie."""
    cosines = row.damage.tokens[row.damage.layers.index(layer)].tolist()
    moved = leading([-value for value in cosines])
    low, high = min(cosines), max(cosines)
    if len(moved) > 1 or len(cosines) == 1:
        if two(low) == two(high):
            return f"each of its tokens is at {bold(low)}"
        return f"its tokens lie between {bold(low)} and {bold(high)}"
    at, labels = moved[0], token_labels(row.alone)
    first = "" if at == 0 else f", {escape(row.alone.tokens[0])} keeps {bold(cosines[0])}"
    return f"{placed(labels[at], at, labels)} moves most ({bold(low)}){first}"


def _harder(lab: Lab, row: LabRow, layer: int) -> str:
    """Which other texts are hit harder, by more than a margin, the hardest first."""
    values = {each.label: _at(each, layer) for each in lab.rows if each.n_padding}
    harder = [label for label in values if values[row.label] - values[label] > MARGIN]
    if not harder:
        return ""
    harder.sort(key=lambda label: values[label])
    named = ", ".join(f"{label} ({bold(values[label])})" for label in harder)
    return f" Hit harder: {named}."


def _mask_on(row: LabRow, layer: int) -> str:
    low = float(row.damage.tokens[row.damage.layers.index(layer)].min())
    if two(low) == "1.00":
        return (
            f"With the mask, every real token of {row.label} points where it points alone "
            "(cosine **1.00**)."
        )
    return f"Even with the mask, a token of {row.label} is at {bold(low)} only."


def _averaged(row: LabRow, layer: int, *, masked: bool) -> str:
    """What becomes of a mean in which padding is counted."""
    value = float(row.damage.mean_all[row.damage.layers.index(layer)])
    pad = escape(row.pad_token)
    if not _is_far(value):
        return f"The mean over all positions, {pad} included, stays at {bold(value)}."
    lead = "But a mean that counts" if masked else "A mean that counts"
    return f"{lead} the {pad} vectors too is only {bold(value)} like sentence {row.label}."
