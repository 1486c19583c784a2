"""Padding & masks, said in words: the damage, the padding's share, sorting, and the limit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from components.content.wording import bold, escape, percent, quoted, two
from components.core.schema import Tokens
from components.features.masks.measures.laboratory import Lab, LabRow, Saving, token_labels

__all__ = [
    "batch_title",
    "cut_title",
    "layers_title",
    "limit_reading",
    "limit_title",
    "masks_reading",
    "padding_note",
    "problems",
    "saving_reading",
    "saving_title",
    "share_title",
]

_SAME = 0.995  # shown as 1.00
_CLOSE = 0.95
_LONGEST_QUOTE = 40


def batch_title(lab: Lab, row: LabRow, layer: int) -> str:
    """The finding of the main picture, told of one text (or of another where it has no padding)."""
    told = _told(lab, row, layer)
    if told is None:
        return "No padding: the mask has nothing to hide"
    value = _at(told, layer)
    if lab.masked:
        kept = value >= _SAME
        return "With the mask, padding changes nothing" if kept else _like_itself(told, value)
    if value >= _SAME:
        return f"Without the mask, no change yet at layer {layer}"
    return f"Without the mask, {_like_itself(told, value)}"


def share_title(lab: Lab) -> str:
    """How much of the batch is padding, as a title."""
    return f"{percent(lab.share)} of this batch is padding"


def layers_title(row: LabRow, *, masked: bool) -> str:
    """The finding of one text's lines over the layers."""
    mean = row.damage.mean
    if not row.n_padding:
        return f"{row.label} has no padding"
    if mean.min() >= _SAME:
        return f"{row.label} stays itself at every layer" if masked else f"{row.label} hardly moves"
    if mean.min() >= _CLOSE or len(mean) < 2:
        return f"{row.label} never falls below {two(np.floor(100 * mean.min()) / 100)}"
    step = int((mean[:-1] - mean[1:]).argmax()) + 1
    return f"{row.label} loses most at layer {row.damage.layers[step]}"


def masks_reading(lab: Lab, row: LabRow, layer: int) -> list[str]:
    """How much is padding, what it does to a text, and what averaging it in does."""
    told = _told(lab, row, layer)
    n = len(lab.rows) * lab.pad_to
    if told is None:
        return [
            f"All **{n:,}** positions of this batch hold real tokens: nothing is padding, so the "
            "mask has nothing to hide. Pad to more to see what it is for."
        ]
    return [
        f"**{percent(lab.share)}** of the {n:,} positions in this batch are padding.",
        _mask_on(told, layer) if lab.masked else _mask_off(lab, told, layer),
        _averaged(told, layer, masked=lab.masked),
    ]


def padding_note(lab: Lab, row: LabRow, layer: int) -> str:
    """That padding has vectors too, with their length; empty where there is none."""
    told = _told(lab, row, layer)
    return "" if told is None else _padding_note(told, layer)


def _padding_note(row: LabRow, layer: int) -> str:
    lengths = row.damage.lengths[row.damage.layers.index(layer)]
    pad, real = lengths[row.n_real :].mean(), lengths[: row.n_real].mean()
    return (
        f"Hatched, not always to scale: {escape(row.pad_token)}, mask 0. These positions have "
        f"vectors too (of length {two(pad)} in {row.label}, real tokens {two(real)}): they mean "
        "nothing, ignore them."
    )


def problems(lab: Lab | None, *, left_out: Sequence[str], unfit: str, limit: str) -> list[str]:
    """What was left out, cut or not possible, in a sentence each.

    Args:
        lab: the batch, if any.
        left_out: the names of the sentences that are empty.
        unfit: a length that was asked for and is too short or too long, or "".
        limit: what the model takes.
    """
    verb = "is" if len(left_out) == 1 else "are"
    said = [f"{', '.join(left_out)} {verb} empty and left out of the batch."] if left_out else []
    if lab is None:
        return said
    if unfit:
        said.append(
            f"Padding to {escape(unfit)} is not possible here: the longest sentence has "
            f"{max(lab.lengths)} tokens and the model takes {limit}. "
            f"Padded to {lab.pad_to} instead."
        )
    cut = [row for row in lab.rows if row.alone.n_truncated]
    return said + [
        f"{row.label}: the text is longer than the model takes; its last "
        f"{row.alone.n_truncated} tokens were left out."
        for row in cut
    ]


def saving_title(found: Saving) -> str:
    """What sorting saves, in a line."""
    before, after = percent(found.padding_given), percent(found.padding_sorted)
    if before == after or found.saved <= 0:
        return f"Sorted by length, {after} of each batch is still padding"
    return f"Sorting by length cuts padding from {before} to {after}"


def saving_reading(found: Saving, n_texts: int) -> str:
    """What sorting many texts by their length saves."""
    start = (
        f"Take the {n_texts} sample sentences of this app in batches of {found.size}, each batch "
        f"padded to its longest: in the order given, **{percent(found.padding_given)}** of what "
        f"is computed is padding; sorted by length first, **{percent(found.padding_sorted)}**."
    )
    if found.saved <= 0:
        return f"{start} Sorting saves nothing here."
    return f"{start} Sorting saves **{percent(found.saved)}** of the positions."


def limit_title(limit: int) -> str:
    """The question that the limit answers."""
    return f"What happens to token {limit + 1}?"


def cut_title(tokens: Tokens) -> str:
    """How many tokens of a text fit."""
    kept, lost = tokens.n_tokens, tokens.n_truncated
    return (
        f"{kept + lost:,} tokens: {kept:,} fit, {lost:,} are cut off"
        if lost
        else f"All {kept:,} tokens fit"
    )


def limit_reading(tokens: Tokens, limit: int, rows: int | None) -> list[str]:
    """What a model does with a text at or over its limit, told from what its tokenizer gave."""
    total = tokens.n_tokens + tokens.n_truncated
    added = int(tokens.special_tokens_mask.sum())
    if not tokens.n_truncated:
        left = f", so {limit - total:,} positions stay free" if total < limit else ": exactly full"
        return [f"This text has **{total:,}** tokens. The model takes {limit:,}{left}."]
    end = int(tokens.offsets[:, 1].max())
    lost = tokens.text[end:]
    return [
        f"This text has **{total:,}** tokens. The model takes {limit:,}, the {added} special ones "
        f"included, so its last **{tokens.n_truncated:,}** are cut off"
        f"{_beginning(lost)}, and no vector knows of them.",
        f"The model has no position {limit + 1:,}{_table(rows, limit)}.",
    ]


def _beginning(lost: str) -> str:
    return f", from {quoted(lost, _LONGEST_QUOTE)} on" if lost.strip() else ""


def _table(rows: int | None, limit: int) -> str:
    if rows is None:
        return ""
    spare = rows - limit
    unused = f", {spare} of them never used for a token of a text" if spare > 0 else ""
    return f": its table of position vectors has {rows:,} rows{unused}"


def _at(row: LabRow, layer: int) -> float:
    return float(row.damage.mean[row.damage.layers.index(layer)])


def _worst(lab: Lab, layer: int) -> LabRow | None:
    """The padded text whose mean moved furthest at a layer; None where nothing is padding."""
    padded = [row for row in lab.rows if row.n_padding]
    return min(padded, key=lambda row: _at(row, layer), default=None)


def _told(lab: Lab, row: LabRow, layer: int) -> LabRow | None:
    """The text to tell of: the chosen one, or where that has no padding the one hit hardest."""
    return row if row.n_padding else _worst(lab, layer)


def _like_itself(row: LabRow, value: float) -> str:
    only = "only " if value < _CLOSE else ""
    return f"{row.label} is {only}{two(value)} like itself"


def _mask_off(lab: Lab, row: LabRow, layer: int) -> str:
    tokens = row.damage.tokens[row.damage.layers.index(layer)]
    value = _at(row, layer)
    if min(value, float(tokens.min())) >= _SAME:
        why = ": the embedding layer does not let tokens look at each other" if layer == 0 else ""
        return (
            f"Without the mask, no real token of {row.label} has moved at layer {layer} "
            f"(**1.00**){why}."
        )
    only = "only " if value < _CLOSE else "still "
    moved = int(tokens.argmin())
    first = "" if moved == 0 else f", {escape(row.alone.tokens[0])} keeps {bold(tokens[0])}"
    return (
        f"Without the mask, sentence {row.label} padded to {lab.pad_to} is {only}{bold(value)} "
        f"like itself at layer {layer}: {quoted(token_labels(row.alone)[moved])} moves most "
        f"({bold(tokens[moved])}){first}.{_hardest(lab, row, layer)}"
    )


def _hardest(lab: Lab, row: LabRow, layer: int) -> str:
    """Which other text is hit harder, where one is by what is shown."""
    worst = _worst(lab, layer)
    if worst is None or round(_at(worst, layer), 2) >= round(_at(row, layer), 2):
        return ""
    return f" Hit hardest is {worst.label} ({bold(_at(worst, layer))})."


def _mask_on(row: LabRow, layer: int) -> str:
    tokens = row.damage.tokens[row.damage.layers.index(layer)]
    if tokens.min() >= _SAME:
        return "With the mask, every real token has the vector that it has alone (**1.00**)."
    return f"Even with the mask, a token of {row.label} is only {bold(tokens.min())} like itself."


def _averaged(row: LabRow, layer: int, *, masked: bool) -> str:
    """What becomes of a mean in which padding is counted."""
    value = float(row.damage.mean_all[row.damage.layers.index(layer)])
    pad = escape(row.pad_token)
    if value >= _CLOSE:
        return f"The mean over all positions, {pad} included, stays at {bold(value)}."
    lead = "But a mean that counts" if masked else "A mean that counts"
    return f"{lead} the {pad} vectors too is only {bold(value)} like sentence {row.label}."
