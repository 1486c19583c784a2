"""The embedding layer, said in words: does the sum agree, and which part of it is the largest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from components.content.wording import escape, percent, quoted
from components.core.schema import FloatArray, PartState

__all__ = ["embedding_reading", "embedding_title", "tiny", "token_title"]

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
    said = ", ".join(f"{name} {percent(rows[token])}" for name, rows in shares.items())
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
    parts = ", ".join(f"{name} **{percent(rows[focus])}**" for name, rows in shares.items())
    said.append(f"Of {quoted(labels[focus])} they make up: {parts}.")
    if state.state != "trained":
        said.append(f"This embedding layer is {state.state}: {escape(state.reason)}")
    return [sentence for sentence in said if sentence]


def tiny(value: float) -> str:
    """A small number as it is said: "4e-7", "0" where it is none at all."""
    return "0" if value == 0 else f"{value:.0e}".replace("e-0", "e-")


def _strongest(shares: Mapping[str, FloatArray]) -> FloatArray:
    best: FloatArray = np.argmax(np.stack(list(shares.values())), axis=0)
    return best


def _agreement(names: Sequence[str], difference: float, largest: float) -> str:
    added = f"{', '.join(names[:-1])} and {names[-1]}"
    largest_difference = f"the largest difference is **{tiny(difference)}**"
    if difference <= _AGREE * max(1.0, largest):
        rounding = "" if difference == 0 else ", which is rounding"
        return (
            f"Adding {added} and normalising gives the model's own layer 0: "
            f"{largest_difference}{rounding}."
        )
    return (
        f"Adding {added} and normalising does **not** give the model's layer 0: "
        f"{largest_difference}. Please report this model."
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
        f"{quoted(labels[i])} ({names[best[i]]} **{percent(shares[names[best[i]]][i])}**)"
        for i in others[:_MOST]
    )
    more = f" and {len(others) - _MOST} more" if len(others) > _MOST else ""
    return f"{usual}**{counts[top]}** of **{len(best)}** tokens; not of {named}{more}."
