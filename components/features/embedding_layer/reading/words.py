"""Rows of the word table, said in words: what two texts share, and what is near a token."""

from __future__ import annotations

from collections.abc import Sequence

from components.content.wording import bold, quoted, two
from components.core.schema import PartState
from components.features.embedding_layer.measures.words import Band, Shared
from components.features.embedding_layer.reading.parts import tiny

__all__ = ["neighbours_reading", "neighbours_title", "same_rows_reading", "same_rows_title"]

_MOST = 3  # tokens that a reading names
_SAME = 1e-5  # of layer 0: what rounding may leave


def same_rows_reading(shared: Sequence[Shared], labels: Sequence[str], *, own: bool) -> list[str]:
    """Which tokens two texts share, and whether their rows are the same numbers.

    Args:
        shared: the tokens in both.
        labels: what the first text's tokens are called.
        own: whether any of them stands in both texts without being added by the tokenizer.
    """
    if not shared:
        return ["The two texts have no token in common."]
    same = [each for each in shared if each.word == 0]
    names = ", ".join(quoted(labels[each.first]) for each in same[:8])
    more = f" and {len(same) - 8} more" if len(same) > 8 else ""
    if len(same) < len(shared):
        have = "has an equal word row" if len(same) == 1 else "have equal word rows"
        return [f"**{len(same)}** of **{len(shared)}** common tokens {have}."]
    one = len(same) == 1
    said = [
        f"**{len(same)}** {'token is' if one else 'different tokens are'} in both texts: "
        f"{names}{more}. {'Its word row is' if one else 'Their word rows are'} the same numbers "
        "in both (largest difference **0**), whatever stands around."
    ]
    if not own:
        said.append("The tokenizer adds what is common; the texts share no token of their own.")
    return [*said, _at_layer_0(same, labels)]


def same_rows_title(shared: Sequence[Shared]) -> str:
    """The finding of the matrix: how many tokens have one row in both texts."""
    count = sum(each.word == 0 for each in shared)
    if not count:
        return "No token has the same word row in both"
    return f"{count} {'token has' if count == 1 else 'tokens have'} the same word row in both"


def neighbours_reading(
    label: str, found: Sequence[tuple[str, float]], band: Band, state: PartState
) -> list[str]:
    """The rows nearest to a token's own, and how that stands against random rows."""
    if not found:
        return [f"The table has no other row than that of {quoted(label)}."]
    names = ", ".join(f"{quoted(name)} ({bold(cosine)})" for name, cosine in found[:_MOST])
    said = [f"Nearest to {quoted(label)} in the word table, by cosine: {names}."]
    best = found[0][1]
    if best > band.high:
        said.append(f"Random pairs of rows average {two(band.mean)}.")
    else:
        said.append(
            "Even that is no nearer than one in twenty random pairs of rows (they average "
            f"{two(band.mean)}): this row has no neighbours to speak of."
        )
    if state.state != "trained":
        said.append(f"This embedding layer looks {state.state}: its neighbours may mean nothing.")
    return said


def neighbours_title(label: str, n_found: int, n_rows: int) -> str:
    """What the bars are; the label is not escaped here."""
    return f"Of {n_rows:,} rows, the {n_found} nearest to {label}"


def _at_layer_0(same: Sequence[Shared], labels: Sequence[str]) -> str:
    """Whether the common tokens, at their first places, are equal at layer 0 too."""
    moved = [each for each in same if each.output > _SAME]
    if not moved:
        return "Where each stands first, the same is added, so even its layer 0 is the same."
    most = max(moved, key=lambda each: each.output)
    again = f"the first {quoted(labels[most.first])} stands at position {most.first} here and "
    return (
        f"Where each stands first, layer 0 is the same for **{len(same) - len(moved)}** of "
        f"**{len(same)}**: {again}{most.second} there, and differs by up to "
        f"{_difference(most.output)}, as another position or segment row is added."
    )


def _difference(value: float) -> str:
    return bold(value) if value >= 0.01 else f"**{tiny(value)}**"
