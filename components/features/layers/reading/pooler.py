"""The pooler, said in words: whether there is one, what it looks like, and what it gives."""

from __future__ import annotations

from components.core.schema import ModelCard

__all__ = ["pooler_reading"]

_EXACT = 1e-5  # what float32 leaves between two ways of computing the same
_PAIR = "whether the second text really followed the first (next-sentence prediction)"
_ORDER = "whether two texts stand in their right order (sentence-order prediction)"
_TRAINED_FOR = {"bert": _PAIR, "albert": _ORDER}


def pooler_reading(card: ModelCard, largest: float | None) -> list[str]:
    """What this model's pooler is, and whether its arithmetic by hand gives the same.

    Args:
        card: the model's.
        largest: the largest difference; None where nothing was computed by hand.
    """
    pooler = card.provenance.pooler
    if pooler.state == "absent":
        return [
            f"This model has no pooler: {_lower(pooler.reason)} So there is no pooler output, and "
            "none is made up."
        ]
    said = []
    if largest is not None:
        same = "give" if largest <= _EXACT else "**do not** give"
        said.append(
            f"Weights, bias and tanh by hand {same} the model's own pooler output: the largest "
            f"difference is **{largest:.1e}**."
        )
    if pooler.state == "untrained":
        return [
            *said,
            f"But nothing shows that it was trained: {_lower(pooler.reason)} Take its output for a "
            "random mix of the first token's vector, with no meaning of its own.",
        ]
    return [*said, _purpose(card.family)]


def _lower(reason: str) -> str:
    return reason[:1].lower() + reason[1:]


def _purpose(family: str) -> str:
    unless = "a model that was trained further may use it for something else."
    if family in _TRAINED_FOR:
        return f"The first training of this family has it tell {_TRAINED_FOR[family]}; {unless}"
    return f"The first training of this family has no task for it; {unless}"
