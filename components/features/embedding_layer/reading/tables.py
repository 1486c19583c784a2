"""Positions, segments and what of the embedding layer is learned, said in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from components.content.wording import bold, escape
from components.core.schema import FloatArray, Parameter, PartState
from components.features.embedding_layer.controls import ALONE, SEGMENT_ONLY
from components.features.embedding_layer.measures.positions import Positions, distance_means

__all__ = [
    "curve_title",
    "learned_reading",
    "moved_reading",
    "moved_title",
    "positions_reading",
    "positions_title",
    "segment_rows_reading",
]

_FAR = 50


def positions_title(look: Positions) -> str:
    """The finding of the matrix: are near positions more alike than far ones?"""
    near, far = _near_and_far(look)
    if near - far < 0.1:
        return "Near positions are no more alike"
    return f"Near positions are alike ({near:.2f})"


def positions_reading(look: Positions, n_rows: int) -> list[str]:
    """How the rows of near and far positions compare, and what the curve can show.

    Args:
        look: the comparison.
        n_rows: rows of the table, unusable ones included.
    """
    if len(look.cosines) < 3:
        return [f"The table has **{n_rows}** rows, too few to compare."]
    near, far = _near_and_far(look)
    distance = min(_FAR, len(look.cosines) - 1)
    said = [
        f"Rows of neighbouring positions have a cosine of {bold(near)} on average, rows "
        f"{distance} apart {bold(far)}"
        + (": the table knows which positions are near." if near - far >= 0.1 else ".")
    ]
    held = f"**{sum(look.explained):.0%}**"
    said.append(f"The curve shows {held} of how the rows vary; the rest is in other dimensions.")
    if look.first:
        rows = "row 0 is" if look.first == 1 else f"rows 0 to {look.first - 1} are"
        said.append(f"A text begins at row **{look.first}**; {rows} never used by it.")
    return said


def curve_title(look: Positions) -> str:
    """How much the curve shows."""
    return f"{sum(look.explained):.0%} of the variance, as a curve"


def segment_rows_reading(rows: FloatArray | None, family: str) -> list[str]:
    """The segment table: how many rows, how long, how far apart."""
    if rows is None:
        return [f"This model ({escape(family)}) has no segment embeddings: nothing is added."]
    norms = np.linalg.norm(rows, axis=1)
    if len(rows) == 1:
        return [
            f"This model's segment table has **1** row (norm {bold(norms[0])}): it is added to "
            "every token, so it cannot tell two texts apart."
        ]
    apart = float(np.linalg.norm(rows[0] - rows[1]))
    cosine = float(rows[0] @ rows[1] / max(float(norms[0] * norms[1]), 1e-12))
    return [
        f"The rows of segments 0 and 1 have norms {bold(norms[0])} and {bold(norms[1])} and are "
        f"{bold(apart)} apart (cosine {bold(cosine)})."
    ]


def moved_reading(moved: FloatArray, text_ids: Sequence[int], change: str) -> list[str]:
    """How far layer 0 moved, of the first text's tokens and of the second's.

    Args:
        moved: (n_tokens,) in shares of the length.
        text_ids: the text of each token, 0 or 1, and -1 for added ones.
        change: what was chosen of `controls.CHANGE`.
    """
    if change == ALONE or not moved.size:
        return ["Without a second text nothing moves: each token's layer 0 is as it was alone."]
    if change == SEGMENT_ONLY:
        return [
            "With segment row 1 in place of 0, and nothing else changed, the tokens move by "
            f"**{moved.mean():.0%}** of their length on average."
        ]
    ids = np.asarray(text_ids)
    first, second = moved[ids == 0], moved[ids == 1]
    said = []
    if first.size:
        said.append(
            "The first text's tokens do not move at all: same word, position and segment."
            if first.max() == 0
            else f"The first text's tokens move by up to **{first.max():.0%}** of their length."
        )
    if second.size:
        said.append(
            "The second text's tokens, beside where they were alone, move by "
            f"**{second.mean():.0%}** of their length on average."
        )
    return said


def moved_title(moved: FloatArray) -> str:
    """The finding of the bars."""
    if not moved.any():
        return "Layer 0 stays as it is"
    return f"Layer 0 moves by up to {moved.max():.0%} of its length"


def learned_reading(
    parameters: Sequence[Parameter], look: Positions | None, state: PartState
) -> list[str]:
    """What of the embedding layer is learned, from its parameters and their values.

    Args:
        parameters: those of the embedding layer.
        look: the position table's comparison; None where it is not known.
        state: whether the layer was trained.
    """
    tables = [p for p in parameters if p.name.endswith("_embeddings.weight")]
    names = [_plain_name(p.name) for p in tables]
    count = sum(int(np.prod(p.shape)) for p in parameters)
    listed = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    said = [
        f"{listed[:1].upper()}{listed[1:]} are tables of parameters, "
        f"with what follows them **{count:,}** numbers."
    ]
    if look is not None and look.is_fixed:
        said.append(
            "The position rows are the fixed sine and cosine formula's (mean cosine "
            f"{bold(look.fixed)}): here they were set, not learned."
        )
    elif look is not None:
        said.append(
            "The position rows are not the fixed sine and cosine formula's (mean cosine "
            f"{bold(look.fixed)})" + (": they were learned." if state.state == "trained" else ".")
        )
    if state.state != "trained":
        said.append(f"The embedding layer as a whole is {state.state}: {escape(state.reason)}")
    return said


def _near_and_far(look: Positions) -> tuple[float, float]:
    means = distance_means(look.cosines)
    if len(means) < 2:
        return 1.0, 1.0
    return float(means[1]), float(means[min(_FAR, len(means) - 1)])


def _plain_name(name: str) -> str:
    part = name.split(".")[-2].removesuffix("_embeddings")
    return f"{'segment' if part == 'token_type' else part} embeddings"
