"""Rows of the word table, said in words: what two texts share, and what is near a token."""

from __future__ import annotations

from collections.abc import Sequence

from components.content.wording import bold, quoted, two
from components.features.embedding_layer.measures.words import Band, Shared

__all__ = ["neighbours_reading", "neighbours_title", "same_rows_reading", "same_rows_title"]

_MOST = 3  # tokens that a reading names


def same_rows_reading(
    shared: Sequence[Shared], labels: Sequence[str], special: Sequence[bool]
) -> list[str]:
    """Which tokens two texts share, and whether their rows are the same numbers.

    Args:
        shared: the tokens in both.
        labels: what the first text's tokens are called.
        special: for each of them, whether the tokenizer added it.
    """
    if not shared:
        return ["The two texts have no token in common."]
    same = [each for each in shared if each.word == 0]
    names = ", ".join(quoted(labels[each.first]) for each in same[:8])
    more = f" and {len(same) - 8} more" if len(same) > 8 else ""
    if len(same) < len(shared):
        return [f"**{len(same)}** of **{len(shared)}** common tokens have equal word rows."]
    said = [
        f"**{len(same)}** {_tokens(len(same))} in both texts: {names}{more}. Their word rows are "
        "the same numbers (largest difference **0**), whatever stands around them."
    ]
    if all(special[each.first] for each in same):
        said.append(
            "All of them were added by the tokenizer; the texts share no token of their own."
        )
    return [*said, _at_layer_0(same, labels)]


def same_rows_title(shared: Sequence[Shared]) -> str:
    """The finding of the matrix: how many tokens have one row in both texts."""
    count = sum(each.word == 0 for each in shared)
    if not count:
        return "No token has the same word row in both"
    return f"{count} {'token has' if count == 1 else 'tokens have'} the same word row in both"


def neighbours_reading(
    label: str, found: Sequence[tuple[str, float]], band: Band, *, trained: bool
) -> list[str]:
    """The rows nearest to a token's own, and how that stands against random rows."""
    if not found:
        return [f"The table has no other row than that of {quoted(label)}."]
    names = ", ".join(f"{quoted(name)} ({bold(cosine)})" for name, cosine in found[:_MOST])
    said = [f"Nearest to {quoted(label)} in the word table: {names}."]
    best = found[0][1]
    if best > band.high:
        said.append(f"Random pairs of rows average {two(band.mean)}.")
    else:
        said.append(
            "Even the nearest is no nearer than many random pairs of rows "
            f"(average {two(band.mean)}): this row has no neighbours to speak of."
        )
    if not trained:
        said.append("The table was never trained, so its neighbours mean nothing.")
    return said


def neighbours_title(label: str, n_found: int, n_rows: int) -> str:
    """What the bars are; the label is not escaped here."""
    return f"Of {n_rows:,} rows, the {n_found} nearest to {label}"


def _tokens(count: int) -> str:
    return "token is" if count == 1 else "tokens are"


def _at_layer_0(same: Sequence[Shared], labels: Sequence[str]) -> str:
    """Whether the common tokens are equal after position and segment were added."""
    moved = [each for each in same if each.output > 0]
    if not moved:
        return "They stand at the same positions too, so even their layer 0 is the same."
    first = max(moved, key=lambda each: each.output)
    at = f"positions {first.first} and {first.second}"
    return (
        f"Their layer 0 is the same for **{len(same) - len(moved)}** of them: "
        f"{quoted(labels[first.first])} stands at {at}, so it differs by up to "
        f"{bold(first.output)}."
    )
