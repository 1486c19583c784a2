"""The embedding layer, said in words: does the sum agree, and which part of it is the largest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from components.content.wording import bold, escape, quoted, two
from components.core.schema import FloatArray, PartState
from components.features.embedding_layer.measures.parts import Band, Shared

__all__ = [
    "embedding_reading",
    "embedding_title",
    "neighbours_reading",
    "same_rows_reading",
    "same_rows_title",
    "tiny",
    "token_title",
]

_AGREE = 1e-5
"""As the service promises it: largest difference over the largest value, which counts from 1."""
_MOST = 3  # tokens that a reading names


def embedding_title(shares: Mapping[str, FloatArray]) -> str:
    """The finding of the main picture: which part is the largest of how many tokens."""
    names, best = list(shares), _strongest(shares)
    counts = {name: int((best == i).sum()) for i, name in enumerate(names)}
    top = max(counts, key=lambda name: counts[name])
    whole = len(best)
    if counts[top] == whole:
        return f"The {top} leads in every token"
    return f"The {top} leads in {counts[top]} of {whole} tokens"


def token_title(shares: Mapping[str, FloatArray], token: int, label: str) -> str:
    """The finding of one token's picture: its shares; the label is not escaped here."""
    said = ", ".join(f"{name} {_percent(rows[token])}" for name, rows in shares.items())
    return f"{label}: {said}"


def embedding_reading(
    shares: Mapping[str, FloatArray],
    labels: Sequence[str],
    focus: int,
    *,
    difference: float,
    largest: float,
    state: PartState,
) -> list[str]:
    """One to four sentences: agreement, the exceptions, and one token's shares.

    Args:
        shares: for each part (n_tokens,) its share of the sum.
        labels: the tokens.
        focus: the position of the token that is told.
        difference: the largest one between our layer 0 and the model's own.
        largest: the largest absolute value of the model's layer 0.
        state: whether the embedding layer was trained.
    """
    said = [_agreement(list(shares), difference, largest), _exceptions(shares, labels)]
    parts = ", ".join(f"{name} **{_percent(rows[focus])}**" for name, rows in shares.items())
    said.append(f"Of {quoted(labels[focus])} they make up: {parts}.")
    if state.state != "trained":
        said.append(f"This embedding layer is {state.state}: {escape(state.reason)}")
    return [sentence for sentence in said if sentence]


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


def tiny(value: float) -> str:
    """A small number as it is said: "4e-7", "0" where it is none at all."""
    return "0" if value == 0 else f"{value:.0e}".replace("e-0", "e-")


def _strongest(shares: Mapping[str, FloatArray]) -> FloatArray:
    best: FloatArray = np.argmax(np.stack(list(shares.values())), axis=0)
    return best


def _percent(value: float) -> str:
    return f"{round(100 * float(value)) + 0}%"


def _tokens(count: int) -> str:
    return "token is" if count == 1 else "tokens are"


def _agreement(names: Sequence[str], difference: float, largest: float) -> str:
    added = f"{', '.join(names[:-1])} and {names[-1]}"
    what = f"**{tiny(difference)}**"
    if difference <= _AGREE * max(1.0, largest):
        rounding = "" if difference == 0 else ", which is rounding"
        return (
            f"Adding {added} and normalising gives the model's own layer 0: "
            f"the largest difference is {what}{rounding}."
        )
    return (
        f"Adding {added} and normalising does **not** give the model's layer 0: the largest "
        f"difference is {what}. Please report this model."
    )


def _exceptions(shares: Mapping[str, FloatArray], labels: Sequence[str]) -> str:
    """The part that is the largest of most tokens, and the tokens of which another one is."""
    names, best = list(shares), _strongest(shares)
    counts = np.bincount(best, minlength=len(names))
    top = int(counts.argmax())
    others = np.flatnonzero(best != top)
    usual = f"The {names[top]} row is the largest part of "
    if not others.size:
        return usual + "every token."
    named = ", ".join(
        f"{quoted(labels[i])} ({names[best[i]]} **{_percent(shares[names[best[i]]][i])}**)"
        for i in others[:_MOST]
    )
    more = f" and {len(others) - _MOST} more" if len(others) > _MOST else ""
    return f"{usual}**{counts[top]}** of **{len(best)}** tokens; not of {named}{more}."


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
