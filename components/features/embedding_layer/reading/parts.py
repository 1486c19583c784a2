"""The embedding layer, said in words: does the sum agree, and what each part of it does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from components.content.wording import (
    escape,
    leading,
    occurrence,
    percent,
    placed,
    two,
)
from components.core.schema import FloatArray, PartState, Tokens
from components.features.embedding_layer.measures.parts import Contribution

__all__ = [
    "agreement_said",
    "cut_note",
    "embedding_reading",
    "embedding_title",
    "share_note",
    "share_said",
    "tiny",
    "token_title",
]

_AGREE = 1e-5
"""As the service promises it: largest difference over the largest value, which counts from 1."""
_MOST = 3  # tokens that a reading names


def embedding_title(shares: Mapping[str, FloatArray]) -> str:
    """The finding of the main picture: whose share is the largest in how many tokens."""
    leaders = _leaders(shares)
    counts = Counter(each[0] for each in leaders if len(each) == 1)
    if not counts:
        return "No part's share leads in any token"
    whole, most = len(leaders), max(counts.values())
    tops = [name for name in shares if counts[name] == most]
    if len(tops) > 1:
        return f"By share, {' and '.join(tops)} lead in {most} of {whole} tokens each"
    if most == whole:
        return f"The {tops[0]}'s share leads in every token"
    return f"The {tops[0]}'s share leads in {most} of {whole} tokens"


def token_title(shares: Mapping[str, FloatArray], token: int, labels: Sequence[str]) -> str:
    """The finding of one token's picture: its shares; the label is not escaped here."""
    said = ", ".join(f"{name} {share_said(rows[token])}" for name, rows in shares.items())
    return f"Shares of {occurrence(labels[token], token, labels)}: {said}"


def embedding_reading(
    contributions: Mapping[str, Contribution],
    labels: Sequence[str],
    focus: int,
    *,
    agreement: str,
    state: PartState,
) -> list[str]:
    """Agreement, the largest shares and the exceptions, and what each part does to one token.

    Args:
        contributions: what each part does to each token.
        labels: the tokens.
        focus: the position of the token that is told.
        agreement: what `agreement_said` gives.
        state: whether the embedding layer was trained.
    """
    shares = {name: part.share for name, part in contributions.items()}
    said = [agreement, _largest(shares, labels), *_focus(contributions, labels, focus)]
    if state.state != "trained":
        said.append(f"This embedding layer looks {state.state}: {escape(state.reason)}")
    return said


def share_note(shares: Mapping[str, FloatArray], constant: Sequence[str]) -> str:
    """What a share is not, with the parts that are the same row for every token as the case.

    Args:
        shares: for each part (n_tokens,) its share.
        constant: the parts that add one row to all tokens.
    """
    said = ["A share is not how much a part matters to what the model does later."]
    for name in constant:
        own = shares[name]
        low, high = share_said(float(own.min())), share_said(float(own.max()))
        span = low if low == high else f"{low} to {high}"
        said.append(
            f"The {name} row is the same for all {len(own)} tokens and has a share of {span}, "
            "though it cannot distinguish them."
        )
    return " ".join(said)


def cut_note(tokens: Tokens) -> str:
    """What of a text did not fit; empty where all of it did."""
    lost = tokens.n_truncated
    if not lost:
        return ""
    count = "1 token is" if lost == 1 else f"{lost} tokens are"
    if tokens.pair is None:
        return f"The text is longer than the model takes: {count} left out at its end."
    return f"The two texts are longer than the model takes: {count} left out at their ends."


def agreement_said(
    names: Sequence[str], difference: float, largest: float, *, projected: bool
) -> str:
    """Whether layer 0 as computed here is the model's own.

    Args:
        names: the parts that are added.
        difference: the largest one between our layer 0 and the model's own.
        largest: the largest absolute value of the model's layer 0.
        projected: whether a linear layer follows LayerNorm.
    """
    steps = "normalising and projecting" if projected else "normalising"
    added = f"Adding {', '.join(names[:-1])} and {names[-1]} rows, then {steps},"
    said = f"the largest difference is **{tiny(difference)}**"
    if difference <= _AGREE * max(1.0, largest):
        rounding = "" if difference == 0 else ", within rounding"
        return f"{added} gives the model's own layer 0: {said}{rounding}."
    return f"{added} does **not** give the model's own layer 0: {said}. Please report this model."


def tiny(value: float) -> str:
    """A small number as it is said: "4e-7", "0" where it is none at all, "2.40" where it is not."""
    if value >= 0.1:
        return two(value)
    return "0" if value == 0 else f"{value:.0e}".replace("e-0", "e-")


def share_said(share: float) -> str:
    """A share in whole per cent; one that is just negative never reads as 0%."""
    return "just below 0%" if share < 0 and round(100 * share) == 0 else percent(share)


def _leaders(shares: Mapping[str, FloatArray]) -> list[list[str]]:
    """For each token the part whose share is the largest, or all that it cannot be told from."""
    names, rows = list(shares), np.stack(list(shares.values())).astype(np.float64)
    return [[names[i] for i in leading(own.tolist())] for own in rows.T]


def _largest(shares: Mapping[str, FloatArray], labels: Sequence[str]) -> str:
    """The part whose share is the largest in most tokens, and the tokens in which it is not."""
    leaders = _leaders(shares)
    counts = Counter(each[0] for each in leaders if len(each) == 1)
    along = "of the sum's length, along its own direction,"
    if not counts:
        return f"No part has a clearly largest share {along} in any token."
    top = max(shares, key=lambda name: counts[name])
    usual = f"The {top} row has the largest share {along} in "
    others = [i for i, each in enumerate(leaders) if each != [top]]
    if not others:
        return usual + "every token."
    named = ", ".join(
        f"{placed(labels[i], i, labels)} ({_first(shares, leaders[i], i)})" for i in others[:_MOST]
    )
    more = f" and {len(others) - _MOST} more" if len(others) > _MOST else ""
    return f"{usual}**{counts[top]}** of **{len(leaders)}** tokens; not in {named}{more}."


def _first(shares: Mapping[str, FloatArray], names: Sequence[str], i: int) -> str:
    """Those that lead in a token, with their shares."""
    return ", ".join(f"{name} **{share_said(shares[name][i])}**" for name in names)


def _focus(
    contributions: Mapping[str, Contribution], labels: Sequence[str], focus: int
) -> list[str]:
    """One token's shares, and how far its layer 0 moves without each part."""
    token = placed(labels[focus], focus, labels)
    if not any(part.share[focus] for part in contributions.values()):
        return [f"The rows of {token} add up to zeros, so no part has a share."]
    shares = ", ".join(
        f"{name} **{share_said(part.share[focus])}**" for name, part in contributions.items()
    )
    moves = ", ".join(
        f"{name} **{percent(part.moved[focus])}**" for name, part in contributions.items()
    )
    return [
        f"The shares of {token}: {shares}.",
        f"Left out before LayerNorm, they move its layer 0 by this much of its length: {moves}.",
    ]
