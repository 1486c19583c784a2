"""Positions, segments and what of the embedding layer is learned, said in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from components.content.wording import bold, escape, percent, two
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
_FEWEST = 3  # positions that can be compared
_APART = 0.1  # of two mean cosines, for one to be called higher
_ROUNDING = 1e-9


def positions_title(look: Positions) -> str:
    """The finding of the matrix: are near positions more alike than far ones?"""
    if len(look.cosines) < _FEWEST:
        return "Too few positions to compare"
    near, far = _near_and_far(look)
    if abs(near - far) < _APART:
        return f"Near and far about as alike: {two(near)}, {two(far)}"
    more = "more" if near > far else "less"
    return f"Near positions {more} alike: {two(near)}, far {two(far)}"


def positions_reading(look: Positions, n_rows: int) -> list[str]:
    """How the rows of near and far positions compare, and what the curve can show.

    Args:
        look: the comparison.
        n_rows: rows of the table, unusable ones included.
    """
    if len(look.cosines) < _FEWEST:
        return [f"The table has **{n_rows}** rows, too few to compare."]
    near, far = _near_and_far(look)
    distance = min(_FAR, len(look.cosines) - 1)
    more = ""
    if abs(near - far) >= _APART:
        which = "nearer are more" if near > far else "nearer are less"
        more = f": those that are {which} alike"
    said = [
        f"Rows of neighbouring positions have a cosine of {bold(near)} on average, rows "
        f"{distance} apart {bold(far)}{more}.",
        _curve_said(look),
    ]
    if look.first:
        rows = "row 0 stands" if look.first == 1 else f"rows 0 to {look.first - 1} stand"
        said.append(f"A text begins at row **{look.first}**; {rows} for no place in a text.")
    return said


def _curve_said(look: Positions) -> str:
    shown = sum(look.explained)
    if not shown:
        return "All rows are the same, so the curve is one point."
    rest = "; the rest is in other dimensions" if shown < 1 - _ROUNDING else ""
    return f"The curve shows **{_variance(shown)}** of the rows' variance{rest}."


def curve_title(look: Positions) -> str:
    """How much the curve shows."""
    shown = sum(look.explained)
    return f"{_variance(shown)} of the variance, as a curve" if shown else "All rows are the same"


def _variance(shown: float) -> str:
    return "100%" if shown >= 1 - _ROUNDING else percent(shown)


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
    lengths = float(norms[0] * norms[1])
    cosine = f" (cosine {bold(float(rows[0] @ rows[1]) / lengths)})" if lengths else ""
    return [
        f"The rows of segments 0 and 1 have norms {bold(norms[0])} and {bold(norms[1])} and are "
        f"{bold(apart)} apart{cosine}."
    ]


def moved_reading(moved: FloatArray, text_ids: Sequence[int], change: str) -> list[str]:
    """How far layer 0 moved, of the first text's tokens and of the second's.

    Args:
        moved: (n_tokens,) in shares of the length.
        text_ids: the text of each token, 0 or 1, and -1 for added ones.
        change: what was chosen of `controls.CHANGE`.
    """
    if change == ALONE:
        return ["Without a second text nothing moves: each token's layer 0 is as it was alone."]
    if not moved.size:
        return ["Neither text has a token of its own, so there is nothing to move."]
    if change == SEGMENT_ONLY:
        return [
            "With segment row 1 in place of 0, and nothing else changed, the tokens move by "
            f"**{percent(moved.mean())}** of their length at layer 0 on average."
        ]
    ids = np.asarray(text_ids)
    first, second = moved[ids == 0], moved[ids == 1]
    said = []
    if first.size:
        said.append(
            "The first text's tokens do not move at layer 0: the same rows are added."
            if first.max() == 0
            else f"The first text's tokens move by up to **{percent(first.max())}** of their "
            "length at layer 0."
        )
    if second.size:
        said.append(
            "The second text's tokens, beside where they were alone, move by "
            f"**{percent(second.mean())}** of their length on average."
        )
    return said


def moved_title(moved: FloatArray) -> str:
    """The finding of the bars."""
    if not moved.any():
        return "Layer 0 stays as it is"
    return f"Layer 0 moves by up to {percent(moved.max())} of its length"


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
        f"{listed[:1].upper()}{listed[1:]} are tables of parameters; with what follows them, "
        f"the layer has **{count:,}** numbers."
    ]
    if look is not None and look.is_fixed:
        said.append(
            "The position rows point as the fixed sine and cosine formula's do (mean cosine "
            f"{bold(look.fixed)}): they look set, not learned."
        )
    elif look is not None:
        said.append(
            "The position rows are not the fixed sine and cosine formula's (mean cosine "
            f"{bold(look.fixed)})."
        )
    if state.state != "trained":
        said.append(f"The embedding layer as a whole looks {state.state}: {escape(state.reason)}")
    return said


def _near_and_far(look: Positions) -> tuple[float, float]:
    means = distance_means(look.cosines)
    if len(means) < 2:
        return 1.0, 1.0
    return float(means[1]), float(means[min(_FAR, len(means) - 1)])


def _plain_name(name: str) -> str:
    part = name.split(".")[-2].removesuffix("_embeddings")
    return f"{'segment' if part == 'token_type' else part} embeddings"
