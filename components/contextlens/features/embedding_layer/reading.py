"""The conclusions of the Embedding layer page: verdicts with their numbers, from plain arrays.

The sentences are in `english.toml`, under `embedding_layer`. Where a reading has two
lists, the page folds the second under "How sure is this?". Must not import streamlit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import escape, leading, placed, quoted, several, shortened, two
from contextlens.core.schema import FloatArray, Parameter, PartState
from contextlens.features.embedding_layer.controls import ALONE, SEGMENT_ONLY
from contextlens.features.embedding_layer.measures import (
    Contribution,
    PositionStatistics,
    RandomBand,
    SharedToken,
    distance_means,
)

Claims: TypeAlias = list[Claim]
_LONGEST = 20  # characters of a token in the title
_SAME = 1e-5  # differences of layer 0 up to this one can come from rounding
_FAR = 50  # positions apart that count as far
_FEWEST = 3  # the fewest positions that can be compared
_APART = 0.1  # the least difference at which one mean similarity is called higher


# The sum


def embedding_title(labels: Sequence[str], focus: int, segment: int | None) -> Claim:
    """One token's sum in a line, with the numbers of its rows; the label is not escaped here.

    Args:
        labels: the tokens.
        focus: the position of the followed token.
        segment: its segment; None if the model adds none.
    """
    numbers = {"token": shortened(labels[focus], _LONGEST), "position": focus}
    if segment is None:
        return claim("embedding_layer.title.two", **numbers)
    return claim("embedding_layer.title.three", segment=segment, **numbers)


def embedding_reading(
    contributions: Mapping[str, Contribution],
    labels: Sequence[str],
    focus: int,
    *,
    difference: float,
    agrees: bool,
    state: PartState,
    constant: Sequence[str],
) -> tuple[Claims, Claims]:
    """The part that contributes most to one token, the average of all tokens, and one caution.

    Args:
        contributions: the contribution of each row to each token.
        labels: the tokens.
        focus: the position of the followed token.
        difference: the largest difference between our layer 0 and the model's.
        agrees: True if rounding explains the difference.
        state: the training state of the embedding layer.
        constant: the rows that are the same for every token.
    """
    token = placed(labels[focus], focus, labels)
    shares = {name: float(part.share[focus]) for name, part in contributions.items()}
    means = {
        name: float(np.mean(part.share, dtype=np.float64)) for name, part in contributions.items()
    }
    moved = {name: float(part.moved[focus]) for name, part in contributions.items()}
    agreement = claim(
        f"embedding_layer.agreement.{'close' if agrees else 'off'}", difference=difference
    )
    caution = claim("embedding_layer.caution") if agrees else agreement
    claims = [
        _most(token, shares),
        claim("embedding_layer.average", n=len(labels), shares=_ranked(means)),
        *(_cautions(state) or [caution]),
    ]
    sure = [claim("embedding_layer.removed", token=token, shifts=_ranked(moved)), agreement]
    if constant:
        rows = ", ".join(say(f"embedding_layer.row.{name}") for name in constant)
        sure.append(claim("embedding_layer.constant", rows=rows, n_tokens=len(labels)))
    return claims, sure


def _most(token: str, shares: Mapping[str, float]) -> Claim:
    """The part with the largest share of one token's sum, if one is clearly the largest."""
    if not any(shares.values()):
        return claim("embedding_layer.focus.zeros", token=token)
    first = leading(list(shares.values()))
    if len(first) > 1:
        return claim("embedding_layer.focus.even", token=token, shares=_ranked(shares))
    top = list(shares)[first[0]]
    others = _ranked({name: share for name, share in shares.items() if name != top})
    return claim(f"embedding_layer.focus.{top}", token=token, share=shares[top], others=others)


def _ranked(shares: Mapping[str, float]) -> str:
    """Names with their shares in one line, the largest first."""
    ranked = sorted(shares.items(), key=lambda item: -item[1])
    return ", ".join(say(f"embedding_layer.share.{name}", share=share) for name, share in ranked)


def _cautions(state: PartState) -> Claims:
    """A caution if the layer does not look trained, else nothing."""
    if state.state == "trained":
        return []
    return [claim("embedding_layer.untrained", reason=escape(state.reason))]


# Rows of the word table


def same_rows_title(shared: Sequence[SharedToken]) -> Claim:
    """The finding of the matrix: the number of tokens with identical rows in both texts."""
    n = sum(token.word == 0 for token in shared)
    return claim("embedding_layer.same.title" if n else "embedding_layer.same.title_none", n=n)


def same_rows_reading(shared: Sequence[SharedToken], *, in_text: bool) -> Claims:
    """The number of tokens that two texts share, and how many of these differ at layer 0.

    Args:
        shared: the tokens in both, at their first positions.
        in_text: True if any of them occurs in both texts without being added by the tokenizer.
    """
    if not shared:
        return [claim("embedding_layer.same.none")]
    n, equal = len(shared), sum(token.word == 0 for token in shared)
    moved = sum(token.output > _SAME for token in shared)
    claims = [
        claim(f"embedding_layer.same.{'rows' if equal == n else 'differ'}", n=n, equal=equal),
        claim(f"embedding_layer.same.{'moved' if moved else 'still'}", moved=moved, n_shared=n),
    ]
    return claims if in_text else [*claims, claim("embedding_layer.same.added")]


def neighbours_title(label: str, n_found: int, n_rows: int) -> Claim:
    """The title of the bars; the label is not escaped here."""
    return claim("embedding_layer.near.title", n=n_found, n_rows=n_rows, token=label)


def neighbours_reading(
    label: str,
    rows: Sequence[tuple[str, float]],
    band: RandomBand,
    state: PartState,
    n_rows: int,
) -> tuple[Claims, Claims]:
    """The row nearest to a token's row, with the similarity expected by chance, and any caution.

    Of n normally distributed similarities, the highest is about sqrt(2 log n) standard deviations
    above the mean, and the 95th percentile is 1.645 above it.
    """
    token = quoted(label)
    if not rows:
        return [claim("embedding_layer.near.alone", token=token)], []
    best = rows[0][1]
    names = several([quoted(name) for name, cosine in rows if two(cosine) == two(best)])
    deviation = (band.high - band.mean) / 1.645
    expected = min(1.0, band.mean + deviation * math.sqrt(2 * math.log(max(n_rows, 1))))
    numbers = {"similarity": best, "expected": expected, "n_rows": n_rows}
    claims = [claim("embedding_layer.near.first", token=token, nearest=names, **numbers)]
    if state.state != "trained":
        claims.append(claim("embedding_layer.near.untrained"))
    elif best <= expected:
        claims.append(claim("embedding_layer.near.far", token=token))
    random = claim("embedding_layer.random", mean=band.mean, low=band.low, high=band.high)
    return claims, [random, claim("embedding_layer.near.best_of")]


# Positions, segments and learned rows


def positions_title(statistics: PositionStatistics) -> Claim:
    """The finding of the matrix: the similarity of near and far positions."""
    verdict, near, far = _near_and_far(statistics)
    title = "few" if verdict == "few" else "compared"
    return claim(f"embedding_layer.positions.title.{title}", near=near, far=far)


def curve_title(statistics: PositionStatistics) -> Claim:
    """The title of the curve: the share of the variance that it shows."""
    verdict, share = _curve(statistics)
    return claim(f"embedding_layer.positions.curve_title.{verdict}", share=share)


def positions_reading(statistics: PositionStatistics, state: PartState) -> tuple[Claims, Claims]:
    """The similarity of near and far positions, the variance in the curve, and one caution."""
    verdict, near, far = _near_and_far(statistics)
    n = len(statistics.cosines)
    if verdict == "few":
        return [claim("embedding_layer.positions.few", n=n)], []
    numbers = {"near": near, "far": far, "distance": min(_FAR, n - 1)}
    curve, share = _curve(statistics)
    claims = [
        claim(f"embedding_layer.positions.{verdict}", **numbers),
        claim(f"embedding_layer.positions.curve.{curve}", share=share),
        *_cautions(state),
    ]
    first = claim("embedding_layer.positions.first", first=statistics.first)
    return claims, [first] if statistics.first else []


def _curve(statistics: PositionStatistics) -> tuple[str, float]:
    share = min(1.0, sum(statistics.explained))
    return ("some" if share else "none"), share


def _near_and_far(statistics: PositionStatistics) -> tuple[str, float, float]:
    """The verdict, and the mean similarity of adjacent rows and of rows far apart."""
    if len(statistics.cosines) < _FEWEST:
        return "few", 1.0, 1.0
    means = distance_means(statistics.cosines)
    near, far = float(means[1]), float(means[min(_FAR, len(means) - 1)])
    if abs(near - far) < _APART:
        return "even", near, far
    return ("nearer" if near > far else "farther"), near, far


def segment_rows_claim(rows: FloatArray | None) -> Claim:
    """The number of segment rows, and the distance between two of them."""
    n = 0 if rows is None else len(rows)
    if rows is None or n < 2:
        return claim(f"embedding_layer.segments.{'one' if n else 'none'}")
    lengths = np.linalg.norm([rows[0] - rows[1], rows[0], rows[1]], axis=1).tolist()
    numbers = dict(zip(("apart", "first", "second"), lengths, strict=True))
    return claim(f"embedding_layer.segments.{'apart' if lengths[0] else 'equal'}", **numbers)


def moved_title(moved: FloatArray) -> Claim:
    """The finding of the bars: the largest movement."""
    most = float(moved.max(initial=0))
    return claim(f"embedding_layer.moved.title.{'moved' if most else 'still'}", most=most)


def moved_claim(moved: FloatArray, text_ids: Sequence[int], change: str) -> Claim:
    """The movement of layer 0 for the first text's tokens and for the second's.

    Args:
        moved: (n_tokens,) relative to the vector's length.
        text_ids: the text of each token, 0 or 1, and -1 for added ones.
        change: the chosen option of `controls.CHANGE`.
    """
    if change == ALONE or not moved.size:
        return claim(f"embedding_layer.moved.{'alone' if change == ALONE else 'empty'}")
    if change == SEGMENT_ONLY:
        return claim("embedding_layer.moved.segment", share=float(moved.mean()))
    ids = np.asarray(text_ids)
    texts = {"first": moved[ids == 0], "second": moved[ids == 1]}
    means = {name: float(shares.mean()) for name, shares in texts.items() if shares.size}
    return claim(
        f"embedding_layer.moved.{'both' if len(means) > 1 else next(iter(means))}", **means
    )


def learned_reading(
    parameters: Sequence[Parameter], statistics: PositionStatistics | None, state: PartState
) -> Claims:
    """The number of parameters, whether positions follow the formula, and a caution.

    Args:
        parameters: the parameters of the embedding layer.
        statistics: those of the position table; None if they are unknown.
        state: the training state of the layer.
    """
    sizes = {p.name: int(np.prod(p.shape)) for p in parameters}
    words = sum(size for name, size in sizes.items() if "word_embeddings" in name)
    n = sum(sizes.values())
    claims = [claim("embedding_layer.learned.count", n=n, share=words / n)]
    if statistics is not None:
        verdict = "fixed" if statistics.is_fixed else "free"
        claims.append(claim(f"embedding_layer.learned.{verdict}", similarity=statistics.fixed))
    return [*claims, *_cautions(state)]
