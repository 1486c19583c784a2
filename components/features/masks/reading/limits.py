"""What is left out or cut, what sorting saves, and the model's limit, said in words."""

from __future__ import annotations

from collections.abc import Sequence

from components.content.wording import escape, percent, quoted
from components.core.schema import Tokens
from components.features.masks.measures.laboratory import Lab, LabRow, Saving

__all__ = [
    "cut_title",
    "limit_reading",
    "limit_title",
    "problems",
    "saving_reading",
    "saving_title",
]

_LONGEST_QUOTE = 40


def problems(lab: Lab | None, *, left_out: Sequence[str], unfit: str, limit: str) -> list[str]:
    """What was left out, cut or not possible, in a sentence each.

    Args:
        lab: the batch, if any.
        left_out: the names of the sentences whose text is blank.
        unfit: a length that was asked for and is too short or too long, or "".
        limit: what the model takes.
    """
    said = [_left_out(left_out)] if left_out else []
    if lab is None:
        return said
    if unfit:
        said.append(
            f"Padding to {escape(unfit)} is not on offer here: the longest sentence has "
            f"{max(lab.lengths)} tokens and the model takes {limit}. "
            f"Padded to {lab.pad_to} instead."
        )
    return said + [_cut_off(row) for row in lab.rows if row.alone.n_truncated]


def _left_out(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"The text of {names[0]} is blank, so it is left out of the batch."
    return f"The texts of {', '.join(names)} are blank, so they are left out of the batch."


def _cut_off(row: LabRow) -> str:
    lost = row.alone.n_truncated
    count = "1 token is" if lost == 1 else f"{lost:,} tokens are"
    if row.alone.pair is None:
        return f"{row.label}: the text is longer than the model takes; {count} cut off at its end."
    return (
        f"{row.label}: its two texts are longer than the model takes; {count} cut off at their "
        "ends."
    )


def saving_title(found: Saving) -> str:
    """What sorting saves, in a line."""
    before, after = percent(found.padding_given), percent(found.padding_sorted)
    if found.saved <= 0:
        return f"Sorting by length saves nothing: {after} is padding"
    if before == after:
        return f"Sorting by length saves little: {after} is padding"
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
    if not lost:
        return f"All {kept:,} tokens fit"
    return f"{kept + lost:,} tokens: {kept:,} fit, {lost:,} {_be(lost)} cut off"


def limit_reading(tokens: Tokens, limit: int, rows: int | None, first: int = 0) -> list[str]:
    """What a model does with a text at or over its limit, told from what its tokenizer gave.

    Args:
        tokens: one text as the tokenizer cuts it.
        limit: how many tokens the model takes.
        rows: of its table of position vectors; None where it is not known.
        first: the row of the first place in a text.
    """
    total, lost = tokens.n_tokens + tokens.n_truncated, tokens.n_truncated
    added = int(tokens.special_tokens_mask.sum())
    if not lost:
        free = limit - total
        stay = "1 position stays" if free == 1 else f"{free:,} positions stay"
        left = f", so {stay} free" if free else ": exactly full"
        return [f"This text has **{total:,}** tokens. The model takes {limit:,}{left}."]
    rest = tokens.text[int(tokens.offsets[:, 1].max()) :]
    return [
        f"This text has **{total:,}** tokens. The model takes {limit:,}, the {added} special ones "
        f"included, so its last **{lost:,}** {_be(lost)} cut off{_beginning(rest)}, and no vector "
        f"knows of {'it' if lost == 1 else 'them'}.",
        *_table(rows, first, limit),
    ]


def _be(count: int) -> str:
    return "is" if count == 1 else "are"


def _beginning(lost: str) -> str:
    return f", from {quoted(lost, _LONGEST_QUOTE)} on" if lost.strip() else ""


def _table(rows: int | None, first: int, limit: int) -> list[str]:
    """Whether it is the table of position vectors that ends there."""
    if rows is None:
        return []
    if rows - first > limit:
        return [
            f"Its tokenizer stops there: the table of position vectors would have {rows - first:,} "
            "places."
        ]
    spare = f", {first} of them for no place in a text" if first else ""
    return [
        f"The model has no position {limit + 1:,}: its table of position vectors has {rows:,} "
        f"rows{spare}."
    ]
