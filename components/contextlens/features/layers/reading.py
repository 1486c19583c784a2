"""The conclusions of the Layer by layer page: verdicts with their numbers, from plain arrays.

One value is called higher than another only if they differ by more than a margin: 0.01 for
similarities, a hundredth of the longest for lengths. Values within the margin are tied. The
sentences are in `english.toml`, under `layers`. Independent of streamlit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from contextlens.analysis.baseline import Band
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import (
    MARGIN,
    are_alike,
    escape,
    leading,
    listed,
    occurrence,
    placed,
    quoted,
    several,
    shortened,
)
from contextlens.core.schema import FloatArray, ModelCard, PartState
from contextlens.features.layers.measures import LayerSimilarity, Measure, Neighbours

Claims: TypeAlias = list[Claim]
Cell: TypeAlias = tuple[int, int]
_LENGTH_MARGIN = 0.01
_RISE = 0.1  # of a cosine to another token's starting vector, to be called a movement towards it
_COMMON = 0.1  # random words that are more similar on average share a direction
_EXACT = 1e-5  # the float32 difference between two computations of the same value


# One token's way through the layers


def token_titles(measure: Measure, position: int, labels: Sequence[str]) -> list[Claim]:
    """The finding about one token, for each layer of a measure."""
    if measure.kind == "start":
        return [
            claim(
                f"layers.one.title.{_distance(measure, row, position)}",
                name=_titled(position, labels),
                layer=layer,
                value=float(measure.values[row, position]),
            )
            for row, layer in enumerate(measure.layers)
        ]
    if not measure.layers:
        return [claim("layers.title.none")]
    verdict, numbers = _peak(measure, position)
    numbers |= {"name": _titled(position, labels), "first": labels[0]}
    title = claim(f"layers.one.title.{measure.kind}{verdict}", **numbers)
    return [title] * len(measure.layers)


def token_reading(
    measure: Measure,
    labels: Sequence[str],
    position: int,
    layer: int,
    *,
    steps: Measure,
    to_starts: FloatArray,
    state: PartState,
) -> tuple[Claims, Claims]:
    """One token's value at a layer, its largest step and the token that it moves towards.

    The second list says that the direction cannot be told from the numbers.

    Args:
        measure: the measure in the picture.
        labels: the label of each token.
        position: the token.
        layer: the chosen layer.
        steps: the measure "before" of the same text.
        to_starts: (n_layers, n_tokens) the token's cosines to all tokens at layer 0.
        state: the training state of the encoder.
    """
    token = placed(labels[position], position, labels)
    empty = _without_own_tokens(measure, labels)
    caution = [] if state.state == "trained" else [_untrained(state)]
    if layer not in measure.layers:
        return [*empty, claim("layers.no_layer_before"), *caution], []
    value = float(measure.values[measure.row(layer), position])
    numbers: dict[str, Any] = {"layer": layer, "token": token, "value": value}
    if measure.kind != "start":
        average = float(measure.averages[measure.row(layer)])
        first = placed(labels[0], 0, labels)
        named = {"first": first} if measure.kind == "first" else {}
        key = f"layers.one.{measure.kind}"
        return [*empty, claim(key, average=average, **named, **numbers), *caution], []
    if layer == 0:
        return [*empty, claim("layers.one.begin", token=token), *caution], []
    claims = [*empty, claim("layers.one.alone", **numbers)]
    if measure.chance is not None:
        chance = float(measure.chance.mean[measure.row(layer)])
        claims = [claim("layers.one.start", chance=chance, **numbers)]
    claims += _rank(measure, position, layer)
    if len(steps.layers) > 1:
        verdict, peak = _peak(steps, position)
        claims.append(claim(f"layers.one.step{verdict}", **peak))
    direction = _towards(measure, labels, position, layer, to_starts)
    is_clear = direction is not None and direction.key == "layers.one.towards"
    found = [] if direction is None else [direction]
    return [*claims, *(found if is_clear else []), *caution], [] if is_clear else found


def _distance(measure: Measure, row: int, position: int) -> str:
    """A verdict on a token's cosine to its start, on the scale from other tokens' cosines to 1.

    It has moved "far" if it is nearer to what two different tokens have than to 1, and is "lost"
    if one of 20 pairs of different tokens has as much.
    """
    if measure.layers[row] == 0:
        return "begin"
    value, chance = float(measure.values[row, position]), measure.chance
    if chance is not None and value <= float(chance.high[row]):
        return "lost"
    usual = 0.0 if chance is None else float(chance.mean[row])
    return "near" if value > (1 + usual) / 2 else "far"


def _rank(measure: Measure, position: int, layer: int) -> Claims:
    """Whether a token has changed least or most of the text's own tokens; empty if neither."""
    own = np.flatnonzero(measure.own_mask).tolist()
    if position not in own or len(own) < 3:
        return []
    values = measure.values[measure.row(layer), own].tolist()
    for end, sign in (("least", 1), ("most", -1)):
        if [own[i] for i in leading([sign * value for value in values], MARGIN)] == [position]:
            return [claim(f"layers.one.rank.{end}", n=len(own))]
    return []


def _peak(measure: Measure, position: int) -> tuple[str, dict[str, Any]]:
    """The layers at which a token's measure is highest; for "before", lowest.

    The first value is the end of a sentence's key: "", or ".even" if no layer stands out.
    """
    values = measure.values[:, position].tolist()
    margin = _margin(values, measure)
    if are_alike(values, margin):
        return ".even", {"value": float(np.mean(values))}
    sign = -1 if measure.kind == "before" else 1
    best = leading([sign * value for value in values], margin)
    names = listed(sorted(measure.layers[i] for i in best)).capitalize()
    return "", {"n": len(best), "Layers": names, "value": values[best[0]]}


def _towards(
    measure: Measure, labels: Sequence[str], position: int, layer: int, to_starts: FloatArray
) -> Claim | None:
    """The token whose starting vector this one has come closer to, if only one stands out.

    It stands out if the cosine rose by `_RISE` at least and more than any other, and if fewer than
    one of 20 pairs of different tokens have as much.
    """
    others = [i for i in np.flatnonzero(measure.own_mask).tolist() if i != position]
    if not others or measure.chance is None:
        return None
    rises = (to_starts[measure.row(layer)] - to_starts[0])[others].tolist()
    best = leading(rises)
    at = others[best[0]]
    before, after = float(to_starts[0, at]), float(to_starts[measure.row(layer), at])
    usual = float(measure.chance.high[measure.row(layer)])
    if len(best) > 1 or rises[best[0]] < _RISE or after < usual:
        return claim("layers.one.unclear", layer=layer)
    other = placed(labels[at], at, labels)
    return claim("layers.one.towards", other=other, before=before, after=after)


def _untrained(state: PartState) -> Claim:
    return claim("layers.untrained", reason=escape(state.reason))


# Every token at every layer


def layers_picture_title(measure: Measure, first: str) -> Claim:
    """The finding of the main picture, from the averages over the text's own tokens."""
    averages, layers = measure.averages.tolist(), measure.layers
    if not layers:
        return claim("layers.title.none")
    if measure.kind == "start":
        return claim("layers.title.start", layer=layers[-1], average=averages[-1])
    margin = _margin(averages, measure)
    if are_alike(averages, margin):
        average = float(np.mean(averages))
        return claim(f"layers.title.{measure.kind}.even", average=average, first=first)
    sign = -1 if measure.kind == "before" else 1
    best = leading([sign * value for value in averages], margin)
    return claim(
        f"layers.title.{measure.kind}",
        n=len(best),
        Layers=listed(sorted(layers[i] for i in best)).capitalize(),
        average=averages[best[0]],
        first=first,
    )


def layers_reading(
    measure: Measure,
    labels: Sequence[str],
    layer: int,
    baseline: FloatArray | None,
    state: PartState,
) -> Claims:
    """The tokens with the highest and lowest measure at a layer, a yardstick, and a caution.

    Args:
        measure: the measure in the picture.
        labels: the label of each token.
        layer: the chosen layer.
        baseline: the average similarity of random pairs at each layer from 0 on, if known.
        state: the training state of the encoder.
    """
    claims = _without_own_tokens(measure, labels)
    if layer not in measure.layers:
        return [*claims, claim("layers.no_layer_before")]
    claims.append(_extremes(measure, labels, layer))
    if measure.kind == "first" and baseline is not None:
        claims.append(claim("layers.yardstick.first", similarity=float(baseline[layer])))
    if measure.chance is not None and layer > 0:
        chance = float(measure.chance.mean[measure.row(layer)])
        claims.append(claim(f"layers.yardstick.{measure.kind}", similarity=chance))
    if state.state != "trained":
        claims.append(_untrained(state))
    return claims


def _without_own_tokens(measure: Measure, labels: Sequence[str]) -> Claims:
    if measure.own_mask.any():
        return []
    names = ", ".join(quoted(label) for label in dict.fromkeys(labels))
    return [claim("layers.empty", tokens=names)]


def _extremes(measure: Measure, labels: Sequence[str], layer: int) -> Claim:
    """The tokens with the highest and the lowest measure at a layer."""
    counted = measure.counted
    values = measure.values[measure.row(layer), counted].tolist()
    if measure.kind == "start" and layer == 0:
        return claim("layers.unchanged")
    numbers: dict[str, Any] = {"layer": layer, "first": placed(labels[0], 0, labels)}
    margin = _margin(values, measure)
    if are_alike(values, margin):
        average = float(np.mean(values))
        return claim(f"layers.even.{measure.kind}", n=len(counted), average=average, **numbers)
    for end, sign in (("most", 1), ("least", -1)):
        best = leading([sign * value for value in values], margin)
        numbers[end] = several([placed(labels[i], i, labels) for i in counted[best]])
        numbers["high" if sign == 1 else "low"] = values[best[0]]
    return claim(f"layers.ends.{measure.kind}", **numbers)


def _margin(values: Sequence[float], measure: Measure) -> float:
    return max(MARGIN, _LENGTH_MARGIN * max(values)) if measure.kind == "length" else MARGIN


def text_notes(
    *, n_own: int, n_unknown: int, n_lost: int, has_pair: bool, has_segments: bool
) -> Claims:
    """Notes on unknown or missing tokens, and on how the model joins two texts.

    Args:
        n_own: the number of the text's own tokens.
        n_unknown: the number of these that the model does not know.
        n_lost: the number of tokens beyond the model's limit.
        has_pair: True if there are two texts.
        has_segments: True if the model has segments.
    """
    claims = [claim("layers.notes.unknown", n=n_unknown, n_own=n_own)] if n_unknown else []
    if n_lost:
        claims.append(claim(f"layers.notes.lost.{'pair' if has_pair else 'text'}", n=n_lost))
    if has_pair:
        claims.append(claim(f"layers.notes.pair.{'segments' if has_segments else 'separators'}"))
    return claims


# The nearest tokens, and tokens in pairs


def nearest_reading(
    picked: int,
    names: Sequence[tuple[str, str]],
    neighbours: Neighbours,
    layers: Sequence[int],
    baseline: FloatArray | None,
) -> Claims:
    """The token nearest to the picked one at the first and the last layer.

    Args:
        picked: the index of the picked token.
        names: for each token of all sentences, its label and its sentence's letter.
        neighbours: the nearest tokens, by their indices.
        layers: the layer of each row of `neighbours`.
        baseline: the average similarity of random pairs at each layer, if known.
    """
    token = _named(picked, names)
    if not neighbours.indices.shape[1]:
        return [claim("layers.nearest.none", token=token)]
    numbers: dict[str, Any] = {"token": token, "start": layers[0], "end": layers[-1]}
    for name, row in (("first", 0), ("last", -1)):
        numbers[name] = several([_placed_in(i, names) for i in sorted(neighbours.tied[row])])
        numbers[f"{name}_similarity"] = float(neighbours.cosines[row, 0])
    claims = [claim("layers.nearest.ends", **numbers)]
    if baseline is not None:
        random = float(baseline[layers[-1]])
        claims.append(claim("layers.nearest.random", layer=layers[-1], similarity=random))
    return claims


def _named(place: int, names: Sequence[tuple[str, str]]) -> str:
    """A token by its label, with its position if the label occurs twice."""
    letter = names[place][1]
    labels = [label for label, its_letter in names if its_letter == letter]
    start = next(i for i, name in enumerate(names) if name[1] == letter)
    return placed(names[place][0], place - start, labels)


def _placed_in(place: int, names: Sequence[tuple[str, str]]) -> str:
    return say("layers.nearest.name", token=_named(place, names), letter=names[place][1])


def pairs_title(matrix: FloatArray, labels: Sequence[str], own_mask: np.ndarray) -> Claim:
    """The finding of the picture of pairs at one layer."""
    pairs, cosines = _pairs(matrix, own_mask)
    if not len(cosines):
        return claim("layers.pairs.title.none")
    if are_alike(_ends(cosines)) and len(cosines) > 1:
        return claim("layers.pairs.title.even", average=float(cosines.mean()))
    best = _leading(cosines)
    first, second = (_titled(int(i), labels) for i in pairs[best[0]])
    numbers = {"n": len(best), "high": float(cosines[best[0]])}
    verdict = "most" if len(cosines) > 1 else "single"
    return claim(f"layers.pairs.title.{verdict}", one=first, other=second, **numbers)


def _titled(place: int, labels: Sequence[str]) -> str:
    """A token for a title: in quotation marks, not escaped."""
    name = shortened(labels[place], 24)
    return f"“{name}”{occurrence(labels[place], place, labels)[len(name) :]}"


def pairs_reading(
    matrix: FloatArray,
    labels: Sequence[str],
    own_mask: np.ndarray,
    layer: int,
    random: float | None,
) -> Claims:
    """The most and the least similar own tokens at a layer, beside the average."""
    pairs, cosines = _pairs(matrix, own_mask)
    if not len(cosines):
        return [claim("layers.pairs.none")]
    numbers: dict[str, Any] = {"layer": layer, "average": float(cosines.mean())}
    yardstick = [] if random is None else [claim("layers.pairs.random", similarity=random)]
    if are_alike(_ends(cosines)):
        verdict = "even" if len(cosines) > 1 else "single"
        pair = _some(pairs[:1], labels)
        return [claim(f"layers.pairs.{verdict}", pair=pair, **numbers), *yardstick]
    highest, lowest = _leading(cosines), _leading(-cosines)
    numbers |= {"most": _some(pairs[highest], labels), "least": _some(pairs[lowest], labels)}
    numbers |= {"high": float(cosines[highest[0]]), "low": float(cosines[lowest[0]])}
    average = claim("layers.pairs.average", average=numbers["average"])
    return [claim("layers.pairs.ends", **numbers), average, *yardstick]


def _pairs(matrix: FloatArray, own_mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of own tokens: (n_pairs, 2) positions, and (n_pairs,) float64 cosines."""
    places = np.flatnonzero(own_mask)
    pairs = places[np.column_stack(np.triu_indices(len(places), 1))]
    return pairs, matrix[pairs[:, 0], pairs[:, 1]].astype(np.float64)


def _leading(cosines: np.ndarray) -> list[int]:
    """The pairs with the highest cosines; prefiltered, because 512 tokens have 130,000 pairs."""
    near = np.flatnonzero(cosines >= cosines.max() - 2 * MARGIN)
    return [int(near[i]) for i in leading(cosines[near].tolist())]


def _ends(cosines: np.ndarray) -> list[float]:
    return [float(cosines.min()), float(cosines.max())]


def _some(pairs: np.ndarray, labels: Sequence[str]) -> str:
    """The first pair, and the number of others."""
    first, second = (placed(labels[i], i, labels) for i in pairs[0])
    return say(
        f"layers.pairs.names.{min(len(pairs), 3)}", one=first, other=second, n=len(pairs) - 1
    )


# Whole layers


def alike_title(similarity: LayerSimilarity, *, same: bool) -> Claim:
    """The finding of the picture of layers by layers."""
    verdict, numbers = _alike(similarity, same=same)
    return claim(f"layers.alike.title.{verdict}", **numbers)


def alike_reading(
    similarity: LayerSimilarity, names: tuple[str, str], *, same: bool
) -> tuple[Claims, Claims]:
    """The layers most or least alike and the result for shuffled words; then debiased values.

    Args:
        similarity: CKA over the same words.
        names: the two models' titles.
        same: True if a model is compared with itself.
    """
    verdict, numbers = _alike(similarity, same=same)
    ours, theirs = (escape(name) for name in names)
    numbers |= {"n_words": similarity.n_words, "ours": ours, "theirs": theirs}
    claims = [claim(f"layers.alike.{verdict}", **numbers)]
    if verdict in ("few", "none"):
        return claims, []
    claims.append(claim("layers.alike.shuffled", cka=float(np.nanmean(similarity.shuffled))))
    sure = []
    ends = (0 if same else -1, -1)
    if np.isfinite(similarity.cka[ends]):
        case = "ends" if same else "last"
        sure.append(claim(f"layers.alike.sure.{case}", cka=float(similarity.cka[ends])))
        if np.isfinite(similarity.debiased[ends]):
            debiased = float(similarity.debiased[ends])
            sure.append(claim(f"layers.alike.sure.{case}_debiased", cka=debiased))
    return claims, sure


def _alike(similarity: LayerSimilarity, *, same: bool) -> tuple[str, dict[str, Any]]:
    """The verdict, and the two layers that differ most (of one model) or least (of two)."""
    cka = similarity.cka
    if not np.isfinite(cka).any():
        return "few", {}
    steps = [(i, i + 1) for i in range(len(cka) - 1)] if same else list(np.ndindex(cka.shape))
    cells: list[Cell] = [(i, j) for i, j in steps if np.isfinite(cka[i, j])]
    values = [float(cka[cell]) for cell in cells]
    if not cells:
        return "none", {}
    if are_alike(values):
        verdict = "steps_even" if same else "models_even"
        return verdict, {"cka": float(np.mean(values))}
    best = leading([-value for value in values] if same else values)
    i, j = cells[best[0]]
    verdict = "steps" if same else "models"
    return verdict, {"i": i, "j": j, "n": len(best), "cka": values[best[0]]}


def spread_titles(
    layers: Sequence[int], band: Band | None, shares: FloatArray
) -> tuple[Claim, Claim]:
    """The findings of the two pictures: random pairs, and the first components."""
    pairs = claim("layers.spread.pairs.pending")
    if band is not None:
        pairs = _highest("pairs", layers, band.mean.tolist())
    rows = np.flatnonzero(np.isfinite(shares[:, 0])).tolist()
    if not rows:
        return pairs, claim("layers.spread.variance.none")
    return pairs, _highest("variance", [layers[i] for i in rows], shares[rows, 0].tolist())


def _highest(picture: str, layers: Sequence[int], values: Sequence[float]) -> Claim:
    if are_alike(values):
        return claim(f"layers.spread.{picture}.even", value=float(np.mean(values)))
    best = leading(values)
    names = listed(sorted(layers[i] for i in best))
    return claim(f"layers.spread.{picture}.top", layers=names, value=values[best[0]])


def spread_reading(
    layers: Sequence[int], layer: int, band: Band | None, shares: FloatArray, n_words: int
) -> Claims:
    """The similarity of random words at a layer, and the first components' share of variance."""
    row = list(layers).index(layer)
    claims = []
    if band is not None:
        mean = float(band.mean[row])
        verdict = "common" if mean > _COMMON else "apart"
        claims.append(claim(f"layers.spread.{verdict}", layer=layer, similarity=mean))
    if np.isfinite(shares[row]).all():
        first, all_of = float(shares[row, 0]), float(shares[row, -1])
        numbers = {"first": first, "all_of": all_of, "n_components": shares.shape[1]}
        claims.append(claim("layers.spread.components", n_words=n_words, layer=layer, **numbers))
    return claims


# The pooler


def pooler_reading(card: ModelCard, largest: float | None) -> tuple[Claims, Claims]:
    """The architecture of this model's pooler, and whether a computation by hand agrees.

    Args:
        card: the model's card.
        largest: the largest difference; None if nothing was computed by hand.
    """
    pooler = card.provenance.pooler
    reason = escape(pooler.reason)
    if pooler.state != "trained":
        claims = [claim(f"layers.pooler.{pooler.state}", reason=reason)]
    else:
        family = card.family if card.family in ("bert", "albert") else "other"
        claims = [claim(f"layers.pooler.trained.{family}")]
    if pooler.state == "absent" or largest is None:
        return claims, []
    if largest > _EXACT:
        return [claim("layers.pooler.off", difference=largest), *claims], []
    return claims, [claim("layers.pooler.close", difference=largest)]
