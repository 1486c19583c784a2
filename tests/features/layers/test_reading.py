"""The conclusions of Layer by layer beside oracles, for inputs as odd as they come."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from contextlens.analysis.baseline import Band
from contextlens.content.language import Claim
from contextlens.content.wording import listed, quoted
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.schema import PartState
from contextlens.features.layers.measures import (
    KINDS,
    LayerSimilarity,
    Measure,
    MeasureKind,
    alike,
    cosines_to_starts,
    measure,
    nearest,
    token_pairs,
)
from contextlens.features.layers.reading import (
    alike_reading,
    alike_title,
    layers_picture_title,
    layers_reading,
    nearest_reading,
    pairs_reading,
    pairs_title,
    pooler_reading,
    spread_reading,
    spread_titles,
    text_notes,
    token_reading,
    token_titles,
)
from tests.support.claims import read, unreached

TRAINED = PartState("trained", "The checkpoint has weights.")
UNTRAINED = PartState("untrained", "Every bias is exactly 0.")
LABELS = ("the", "python", "[CLS]", "<s>", "🐍", "שלי", "<b>", "*", "x" * 40)
Chance = random.Random
Draw = np.random.Generator


def odd_values(draw: Draw, *shape: int) -> np.ndarray:
    """Numbers from 0 to 1: spread, tied, almost tied, or all the same."""
    values = draw.uniform(0, 1, shape)
    how = draw.integers(6)
    if how == 0:
        values = values.round(1)
    elif how == 1:
        values = 0.5 + draw.uniform(-0.015, 0.015, shape)
    elif how == 2:
        values = draw.integers(0, 2, shape) * 0.5 + draw.uniform(0, 0.004, shape)
    elif how == 3:
        values = np.full(shape, draw.choice([0.0, 0.125, 1.0]))
    return values.astype(np.float32)


def tied(values: Sequence[float], margin: float = 0.01, sign: int = 1) -> list[int] | None:
    """The places of the highest (or lowest) and of what lies near; None where all are alike."""
    own = [float(value) for value in values]
    if max(own) - min(own) <= 2 * margin:
        return None
    top = max(sign * value for value in own)
    return [i for i, value in enumerate(own) if top - sign * value <= margin]


def placed(at: int, labels: Sequence[str]) -> str:
    """A token's name, with its position where the name is there twice."""
    where = f" at position {at}" if list(labels).count(labels[at]) > 1 else ""
    return quoted(labels[at]) + where


def is_named(text: str, places: Sequence[int], names: Sequence[str]) -> bool:
    """True if a row of names is of these places, or the first of them and how many others."""
    own = [names[i] for i in places]
    if len(own) > 2:
        return any(text == f"{name} and {len(own) - 1} others" for name in own)
    return text in (" and ".join(own), " and ".join(own[::-1]))


# Every token at every layer


def odd_measure(chance: Chance, draw: Draw, kind: MeasureKind) -> Measure:
    n, n_layers = chance.choice((1, 2, 3, 9)), chance.choice((1, 2, 7))
    layers = tuple(range(kind == "before", n_layers))
    values = odd_values(draw, len(layers), n) * (chance.choice((1, 30)) if kind == "length" else 1)
    own = draw.random(n) < chance.choice((0, 0.6, 1))
    has_others = kind in ("start", "before") and own.sum() > 1
    low, mean, high = np.sort([odd_values(draw, len(layers)) for _ in range(3)], axis=0)
    return Measure(kind, layers, values, own, Band(low, mean, high) if has_others else None)


def check_measure(chance: Chance, draw: Draw) -> Iterator[Claim]:
    kind = chance.choice(KINDS)
    found = odd_measure(chance, draw, kind)
    labels = [chance.choice(LABELS) for _ in found.own_mask]
    title = layers_picture_title(found, labels[0])
    baseline = odd_values(draw, 8) if chance.random() < 0.5 else None
    layer, state = chance.randrange(8), chance.choice((TRAINED, UNTRAINED))
    claims = layers_reading(found, labels, layer, baseline, state)
    yield from [title, *claims]
    counted = [i for i, own in enumerate(found.own_mask) if own] or list(range(len(labels)))
    if kind == "first":
        counted = [i for i in counted if i > 0] or counted
    check_measure_title(title, found, counted)
    rest = list(claims)
    if not found.own_mask.any():
        assert all(quoted(label) in rest[0].numbers["tokens"] for label in labels)
        assert rest.pop(0).key == "layers.empty"
    if layer not in found.layers:
        assert [each.key for each in rest] == ["layers.no_layer_before"]
        return
    row = found.layers.index(layer)
    check_extremes(rest.pop(0), found.values[row], kind, counted, labels, layer)
    if kind == "first" and baseline is not None:
        assert rest[0].key == "layers.yardstick.first"
        assert rest.pop(0).numbers["similarity"] == pytest.approx(float(baseline[layer]))
    elif found.chance is not None and layer:
        assert rest[0].key == f"layers.yardstick.{kind}"
        assert rest.pop(0).numbers["similarity"] == pytest.approx(float(found.chance.mean[row]))
    assert [each.key for each in rest] == ([] if state is TRAINED else ["layers.untrained"])


def check_measure_title(title: Claim, found: Measure, counted: Sequence[int]) -> None:
    if not found.layers:
        assert title.key == "layers.title.none"
        return
    averages = [float(row[counted].mean()) for row in found.values]
    if found.kind == "start":
        assert title.numbers["layer"] == found.layers[-1]
        assert title.numbers["average"] == pytest.approx(averages[-1], abs=1e-6)
        return
    margin = max(0.01, 0.01 * max(averages)) if found.kind == "length" else 0.01
    best = tied(averages, margin, -1 if found.kind == "before" else 1)
    if best is None:
        assert title.key == f"layers.title.{found.kind}.even"
        assert title.numbers["average"] == pytest.approx(np.mean(averages), abs=1e-5)
    else:
        assert title.key == f"layers.title.{found.kind}"
        assert title.numbers["n"] == len(best)
        assert title.numbers["Layers"].lower() == listed([found.layers[i] for i in best])
        end = min if found.kind == "before" else max
        assert title.numbers["average"] == pytest.approx(end(averages), rel=1e-5)


def check_extremes(
    told: Claim,
    row: np.ndarray,
    kind: MeasureKind,
    counted: Sequence[int],
    labels: list[str],
    layer: int,
) -> None:
    if kind == "start" and layer == 0:
        assert told.key == "layers.unchanged"
        return
    values = [float(row[i]) for i in counted]
    margin = max(0.01, 0.01 * max(values)) if kind == "length" else 0.01
    most, least = (tied(values, margin, sign) for sign in (1, -1))
    assert told.numbers["layer"] == layer
    assert told.numbers["first"] == placed(0, labels)
    if most is None or least is None:
        assert told.key == f"layers.even.{kind}"
        assert told.numbers["n"] == len(counted)
        assert told.numbers["average"] == pytest.approx(np.mean(values), abs=1e-6)
        return
    assert told.key == f"layers.ends.{kind}"
    assert (told.numbers["high"], told.numbers["low"]) == (max(values), min(values))
    names = [placed(i, labels) for i in range(len(labels))]
    assert is_named(told.numbers["most"], [counted[i] for i in most], names)
    assert is_named(told.numbers["least"], [counted[i] for i in least], names)


def check_notes(chance: Chance, draw: Draw) -> Iterator[Claim]:
    n_own = chance.choice((1, 2, 9))
    n_unknown, n_lost = chance.randrange(n_own + 1), chance.choice((0, 1, 90))
    pair, segments = chance.random() < 0.5, chance.random() < 0.5
    notes = text_notes(n_own=n_own, n_unknown=n_unknown, n_lost=n_lost, has_pair=pair,
                       has_segments=segments)  # fmt: skip
    expected = ["unknown"] if n_unknown else []
    expected += [f"lost.{'pair' if pair else 'text'}"] if n_lost else []
    expected += [f"pair.{'segments' if segments else 'separators'}"] if pair else []
    assert [each.key for each in notes] == [f"layers.notes.{name}" for name in expected]
    numbers = {each.key.split(".")[2]: each.numbers.get("n") for each in notes}
    assert numbers.get("unknown", 0) == n_unknown
    assert numbers.get("lost", 0) == n_lost
    yield from notes


# The tokens nearest to one, and tokens in pairs


def check_nearest(chance: Chance, draw: Draw) -> Iterator[Claim]:
    sizes = [chance.choice((1, 2, 5)) for _ in range(chance.choice((1, 2)))]
    n_layers, d = chance.choice((2, 3)), chance.choice((2, 3, 8))
    texts = [draw.normal(size=(n_layers, n, d)).astype(np.float32) for n in sizes]
    if chance.random() < 0.4:
        texts = [texts[0]] * len(sizes)  # the same sentence twice
        sizes = [texts[0].shape[1]] * len(sizes)
    if chance.random() < 0.1:
        texts = [np.ones_like(text) for text in texts]
    names = [(chance.choice(LABELS[:4]), "AB"[i]) for i, n in enumerate(sizes) for _ in range(n)]
    picked = chance.randrange(sizes[0])
    candidates = [i for i in range(len(names)) if i != picked and chance.random() < 0.8]
    found = nearest(texts[0][:, picked], texts, np.array(candidates, int), 2)
    baseline = odd_values(draw, n_layers) if chance.random() < 0.5 else None
    claims = nearest_reading(picked, names, found, range(n_layers), baseline)
    yield from claims
    where = [i - (sizes[0] if letter == "B" else 0) for i, (_, letter) in enumerate(names)]
    of_each = [[label for label, own in names if own == letter] for _, letter in names]
    said = [placed(at, own) for at, own in zip(where, of_each, strict=True)]
    assert claims[0].numbers["token"] == said[picked]
    if not candidates:
        assert [each.key for each in claims] == ["layers.nearest.none"]
        return
    rows = np.concatenate(texts, axis=1).astype(float)
    rows /= np.linalg.norm(rows, axis=2, keepdims=True)
    numbers = claims[0].numbers
    named = [f"{name} in {letter}" for name, (_, letter) in zip(said, names, strict=True)]
    for key, layer in (("first", 0), ("last", -1)):
        cosines = rows[layer] @ rows[layer][picked]
        best = max(cosines[i] for i in candidates)
        assert numbers[f"{key}_similarity"] == pytest.approx(best, abs=1e-5)
        gaps = [best - cosines[i] for i in candidates]
        if not any(9e-5 < gap < 1.1e-4 for gap in gaps):
            near = [i for i in candidates if best - cosines[i] <= 1e-4]
            assert is_named(numbers[key], near, named)
    assert (numbers["start"], numbers["end"]) == (0, n_layers - 1)
    random_pairs = [each.numbers["similarity"] for each in claims[1:]]
    assert random_pairs == ([] if baseline is None else [float(baseline[-1])])


def check_pairs(chance: Chance, draw: Draw) -> Iterator[Claim]:
    n = chance.choice((1, 2, 3, 9))
    matrix = odd_values(draw, n, n)
    matrix = np.triu(matrix, 1) + np.triu(matrix, 1).T + np.eye(n, dtype=np.float32)
    own = draw.random(n) < chance.choice((0, 0.6, 1))
    labels = [chance.choice(LABELS) for _ in range(n)]
    average = chance.choice((None, 0.02))
    claims = pairs_reading(matrix, labels, own, 3, average)
    title = pairs_title(matrix, labels, own)
    yield from [title, *claims]
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n) if own[i] and own[j]]
    values = [float(matrix[pair]) for pair in pairs]
    if not pairs:
        assert (title.key, claims[0].key) == ("layers.pairs.title.none", "layers.pairs.none")
        return
    assert [e.key for e in claims if e.key.endswith("random")] == (
        [] if average is None else ["layers.pairs.random"]
    )
    assert claims[0].numbers["average"] == pytest.approx(np.mean(values), abs=1e-6)
    most, least = tied(values), tied(values, sign=-1)
    if most is None or least is None:
        assert claims[0].key == f"layers.pairs.{'even' if len(pairs) > 1 else 'single'}"
        assert title.key.endswith("even" if len(pairs) > 1 else "single")
        return
    assert title.numbers["n"] == len(most)
    numbers = claims[0].numbers
    assert (numbers["high"], numbers["low"]) == (max(values), min(values))
    for name, best in (("most", most), ("least", least)):
        more = len(best) - 1
        others = f" (and {more} other pair{'s' if more > 1 else ''})" if more else ""
        both = [" and ".join(placed(i, labels) for i in pairs[k]) for k in best]
        assert numbers[name] in [one + others for one in both]


# Whole layers


def check_alike(chance: Chance, draw: Draw) -> Iterator[Claim]:
    same = chance.random() < 0.5
    n_layers = chance.choice((1, 2, 5))
    shape = (n_layers, n_layers if same else chance.choice((1, 3)))
    cka, debiased, shuffled = (odd_values(draw, *shape) for _ in range(3))
    if chance.random() < 0.3:
        cka[draw.random(shape) < chance.choice((0.3, 1))] = np.nan
    debiased[draw.random(shape) < 0.3] = np.nan
    found = LayerSimilarity(cka, debiased, shuffled, chance.choice((2, 10)))
    claims, sure = alike_reading(found, ("*X*", "Y"), same=same)
    title = alike_title(found, same=same)
    yield from [title, *claims, *sure]
    cells = [(i, j) for i, j in np.ndindex(shape) if np.isfinite(cka[i, j])]
    compared = [(i, j) for i, j in cells if j == i + 1] if same else cells
    if not compared:
        verdict = "none" if cells else "few"
        assert (title.key, claims[0].key) == (
            f"layers.alike.title.{verdict}", f"layers.alike.{verdict}"
        )  # fmt: skip
        assert not sure
        return
    values = [float(cka[cell]) for cell in compared]
    best = tied(values, sign=-1 if same else 1)
    kind = "steps" if same else "models"
    numbers = claims[0].numbers
    assert numbers["n_words"] == found.n_words
    if best is None:
        assert claims[0].key == f"layers.alike.{kind}_even"
        assert numbers["cka"] == pytest.approx(np.mean(values), abs=1e-6)
    else:
        assert claims[0].key == f"layers.alike.{kind}"
        assert numbers["n"] == title.numbers["n"] == len(best)
        assert (numbers["i"], numbers["j"]) in [compared[k] for k in best]
        assert numbers["cka"] == (min if same else max)(values)
    assert claims[1].numbers["cka"] == pytest.approx(float(shuffled.mean()), abs=1e-5)
    end = cka[0, -1] if same else cka[-1, -1]
    other = debiased[0, -1] if same else debiased[-1, -1]
    expected = [end, other] if np.isfinite([end, other]).all() else [end]
    assert [each.numbers["cka"] for each in sure] == (expected if np.isfinite(end) else [])


def check_spread(chance: Chance, draw: Draw) -> Iterator[Claim]:
    n_layers = chance.choice((1, 2, 7))
    mean, low, high = (odd_values(draw, n_layers) * chance.choice((1, 0.2)) for _ in range(3))
    band = Band(low, mean, high) if chance.random() < 0.7 else None
    shares = np.sort(odd_values(draw, n_layers, 3), axis=1)
    shares[draw.random(n_layers) < chance.choice((0, 0.3, 1))] = np.nan
    layer = chance.randrange(n_layers)
    claims = spread_reading(range(n_layers), layer, band, shares, 50)
    titles = spread_titles(range(n_layers), band, shares)
    yield from [*titles, *claims]
    rows = [i for i in range(n_layers) if np.isfinite(shares[i, 0])]
    series = [None if band is None else (list(range(n_layers)), mean), (rows, shares[rows, 0])]
    for title, own in zip(titles, series, strict=True):
        if own is None or not len(own[0]):
            assert title.key.endswith("pending" if own is None else "none")
            continue
        layers, values = own
        best = tied(values)
        assert title.key.endswith("even" if best is None else "top")
        if best is not None:
            assert title.numbers["layers"] == listed([layers[i] for i in best])
            assert title.numbers["value"] == max(values)
    rest = list(claims)
    if band is not None:
        assert rest[0].numbers["similarity"] == mean[layer]
        verdict = "common" if float(mean[layer]) > 0.1 else "apart"
        assert rest.pop(0).key == f"layers.spread.{verdict}"
    assert len(rest) == np.isfinite(shares[layer]).all()
    for each in rest:
        assert (each.numbers["first"], each.numbers["all_of"]) == (
            shares[layer, 0], shares[layer, -1]
        )  # fmt: skip


def check_token(chance: Chance, draw: Draw) -> Iterator[Claim]:
    found = odd_measure(chance, draw, chance.choice(KINDS))
    steps = odd_measure(chance, draw, "before")
    n = min(found.values.shape[1], steps.values.shape[1])
    labels = [chance.choice(LABELS) for _ in range(found.values.shape[1])]
    at, layer = chance.randrange(n), chance.randrange(8)
    state = chance.choice((TRAINED, UNTRAINED))
    to_starts = odd_values(draw, 7, len(labels))
    titles = token_titles(found, at, labels)
    claims, sure = token_reading(
        found, labels, at, layer, steps=steps, to_starts=to_starts, state=state
    )
    yield from [*titles, *claims, *sure]
    check_token_titles(titles, found, at)
    keys = [each.key for each in (*claims, *sure)]
    assert ("layers.empty" in keys) == (not found.own_mask.any())
    assert ("layers.untrained" in keys) == (state is UNTRAINED)
    assert ("layers.no_layer_before" in keys) == (layer not in found.layers)
    if layer not in found.layers or found.kind != "start" or not layer:
        assert not sure
        return
    row = found.layers.index(layer)
    others = [i for i in np.flatnonzero(found.own_mask) if i != at]
    rises = sorted((float(to_starts[row, i] - to_starts[0, i]), i) for i in others)
    stands_out = (
        found.chance is not None
        and bool(others)
        and rises[-1][0] >= 0.1
        and (len(rises) == 1 or rises[-1][0] - rises[-2][0] > 0.01)
        and to_starts[row, rises[-1][1]] >= found.chance.high[row]
    )
    assert ("layers.one.towards" in keys) == stands_out
    assert [each.key for each in sure] == (
        ["layers.one.unclear"] if others and found.chance is not None and not stands_out else []
    )
    if stands_out:
        told = next(each for each in claims if each.key == "layers.one.towards")
        assert told.numbers["other"] == placed(rises[-1][1], labels)


def check_token_titles(titles: list[Claim], found: Measure, at: int) -> None:
    values = found.values[:, at]
    if found.kind != "start":
        margin = 0.01 if found.kind != "length" else max(0.01, 0.01 * values.max(initial=0))
        sign = -1 if found.kind == "before" else 1
        best = tied(values, margin, sign) if len(values) else None
        assert {each.numbers.get("n") for each in titles} == {best and len(best)}
        return
    for row, title in enumerate(titles):
        verdict, value = title.key.rpartition(".")[2], float(values[row])
        if row == 0:
            assert verdict == "begin"
        elif found.chance is not None and value <= found.chance.high[row]:
            assert verdict == "lost"
        else:
            usual = 0 if found.chance is None else float(found.chance.mean[row])
            assert verdict == ("near" if value - usual > 1 - value else "far")


CHECKS: dict[Callable[[Chance, Draw], Iterator[Claim]], int] = {
    check_measure: 2000, check_token: 2000, check_notes: 200, check_nearest: 500, check_pairs: 500,
    check_alike: 500, check_spread: 300,
}  # fmt: skip


@cache
def keys(check: Callable[[Chance, Draw], Iterator[Claim]]) -> frozenset[str]:
    chance, draw = random.Random(1), np.random.default_rng(1)
    return frozenset().union(*(read(check(chance, draw)) for _ in range(CHECKS[check])))


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS)
def test_every_claim_is_what_the_numbers_show(
    check: Callable[[Chance, Draw], Iterator[Claim]],
) -> None:
    assert keys(check)


@pytest.mark.slow
def test_no_sentence_of_the_page_is_dead(service: EncoderService) -> None:
    glue = {"layers.nearest.name", *(f"layers.pairs.names.{n}" for n in (1, 2, 3))}
    poolers = read(each for told in all_poolers(service) for each in told)
    assert not unreached("layers", glue.union(poolers, *map(keys, CHECKS)))


# The pooler


def all_poolers(service: EncoderService) -> Iterator[list[Claim]]:
    card = service.load(BUNDLED_ID)
    for state in ("trained", "untrained", "absent"):
        for family in ("bert", "albert", "roberta"):
            pooler = PartState(state, "Every bias is exactly 0.")
            own = replace(card, family=family, provenance=replace(card.provenance, pooler=pooler))
            for largest in (None, 1e-7, 0.1):
                claims, sure = pooler_reading(own, largest)
                assert bool(sure) == (largest == 1e-7 and state != "absent")
                off = [each for each in claims if each.key == "layers.pooler.off"]
                assert bool(off) == (largest == 0.1 and state != "absent")
                verdict = claims[-1].key.removeprefix("layers.pooler.")
                trained = f"trained.{family if family != 'roberta' else 'other'}"
                assert verdict == (trained if state == "trained" else state)
                yield [*claims, *sure]


# As they are read


def test_sentences_are_read_whole(service: EncoderService) -> None:
    encoding = service.encode(BUNDLED_ID, ["I love my pet python"])[0]
    measured = measure(encoding, "start")
    assert str(layers_picture_title(measured, "[CLS]")) == (
        "Layer 6: similarity to the starting vectors is 0.31"
    )
    assert str(token_titles(measured, 5, encoding.tokens)[6]) == (
        "By layer 6, “python” has moved away: 0.43"
    )
    claims, sure = token_reading(
        measured,
        encoding.tokens,
        5,
        6,
        steps=measure(encoding, "before"),
        to_starts=cosines_to_starts(encoding, 5),
        state=TRAINED,
    )
    assert [str(each) for each in (*claims, *sure)] == [
        "At layer 6, the similarity of “python” to its starting vector is **0.43** (two different "
        "tokens: about **0.05**).",
        "Of this text's 5 tokens, it has changed least.",
        "Layer 6 changes it most (similarity before and after: **0.64**; unchanged: 1).",
        (
            "Which token it moves towards by layer 6, we cannot tell: no other token's starting "
            "vector stands out."
        ),
    ]
    told = layers_reading(measured, encoding.tokens, 6, None, TRAINED)
    assert [str(each) for each in told] == [
        "By layer 6, the model has changed “python” least since layer 0 (cosine similarity "
        "**0.43**) and “my” most (**0.20**).",
        (
            "For comparison: two different tokens, one at this layer and one at layer 0, have a "
            "similarity of **0.05** on average."
        ),
    ]


def test_layers_compared_with_the_model_s_own_numbers() -> None:
    vectors = np.random.default_rng(0).normal(size=(3, 12, 4)).astype(np.float32)
    claims, _ = alike_reading(alike(vectors, vectors), ("A", "A"), same=True)
    assert str(claims[0]).endswith("over 12 words.")
    matrix = token_pairs(vectors)[0]
    assert str(pairs_title(matrix[:2, :2], ("my", "i"), np.array([True, True]))) == (
        f"“my” and “i”: similarity {matrix[0, 1]:.2f}".replace("-", "\N{MINUS SIGN}")
    )
