"""All tokens: the conclusions beside oracles, for inputs as odd as they come, and the heatmap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from contextlens.content.language import Claim
from contextlens.content.wording import listed, quoted
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.layers.all_tokens import AllTokens
from contextlens.features.layers.hidden_states import KINDS, Measure, measure
from tests.features.layers.odd import (
    LABELS,
    TRAINED,
    UNTRAINED,
    Chance,
    Draw,
    drawn,
    is_named,
    keys_of,
    odd_measure,
    odd_values,
    placed,
    tied,
)
from tests.support.claims import unreached

RANDOM = np.random.default_rng(0)
SCALE = (-0.2, 1.0)
ELSEWHERE = ("one", "notes", "nearest", "pairs", "alike", "spread", "pooler")
"""The tables of sentences that other parts of the page say, and their tests read."""


def check_measure(chance: Chance, draw: Draw) -> Iterator[Claim]:
    kind = chance.choice(KINDS)
    found = odd_measure(chance, draw, kind)
    labels = [chance.choice(LABELS) for _ in found.own_mask]
    baseline = odd_values(draw, 8) if chance.random() < 0.5 else None
    layer, state = chance.randrange(8), chance.choice((TRAINED, UNTRAINED))
    result = AllTokens(found, labels, layer, state, random_cosines=baseline)
    title, claims = result.title(), result.claims()
    yield from [title, *claims]
    counted = [i for i, own in enumerate(found.own_mask) if own] or list(range(len(labels)))
    if kind == "first":
        counted = [i for i in counted if i > 0] or counted
    check_title(title, found, counted)
    rest = list(claims)
    if not found.own_mask.any():
        assert all(quoted(label) in rest[0].numbers["tokens"] for label in labels)
        assert rest.pop(0).key == "layers.empty"
    if layer not in found.layers:
        assert [each.key for each in rest] == ["layers.no_layer_before"]
        return
    row = found.layers.index(layer)
    check_extremes(rest.pop(0), found, row, counted, labels)
    if kind == "first" and baseline is not None:
        assert rest[0].key == "layers.yardstick.first"
        assert rest.pop(0).numbers["similarity"] == pytest.approx(float(baseline[layer]))
    elif found.chance is not None and layer:
        assert rest[0].key == f"layers.yardstick.{kind}"
        assert rest.pop(0).numbers["similarity"] == pytest.approx(float(found.chance.mean[row]))
    assert [each.key for each in rest] == ([] if state is TRAINED else ["layers.untrained"])


def is_change(found: Measure) -> bool:
    return found.kind in ("start", "before")


def check_title(title: Claim, found: Measure, counted: Sequence[int]) -> None:
    if not found.layers:
        assert title.key == "layers.title.none"
        return
    averages = [float(row[counted].mean()) for row in found.values]
    if found.kind == "start":
        assert title.numbers["layer"] == found.layers[-1]
        assert title.numbers["average"] == pytest.approx(averages[-1], abs=1e-6)
        return
    margin = max(0.01, 0.01 * max(averages)) if found.kind == "length" else 0.01
    best = tied(averages, margin, -1 if found.kind == "before" else 1, of_change=is_change(found))
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
    told: Claim, found: Measure, row: int, counted: Sequence[int], labels: list[str]
) -> None:
    kind, layer = found.kind, found.layers[row]
    if kind == "start" and layer == 0:
        assert told.key == "layers.unchanged"
        return
    values = [float(found.values[row, i]) for i in counted]
    margin = max(0.01, 0.01 * max(values)) if kind == "length" else 0.01
    most, least = (tied(values, margin, sign, of_change=is_change(found)) for sign in (1, -1))
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


def test_every_claim_is_what_the_numbers_show_and_none_is_dead() -> None:
    """Of all sentences of the page but those of its other parts."""
    dead = unreached("layers", keys_of(check_measure, 2000))
    assert not [key for key in dead if key.split(".")[1] not in ELSEWHERE]


def test_sentences_are_read_whole(service: EncoderService) -> None:
    encoding = service.encode(BUNDLED_ID, ["I love my pet python"])[0]
    result = AllTokens(measure(encoding, "start"), encoding.tokens, 6, TRAINED)
    assert str(result.title()) == (
        "By layer 6, the tokens keep a similarity of **0.31** to their starts, on average "
        "(unchanged: 1)."
    )
    assert [str(each) for each in result.claims()] == [
        "Of your text by layer 6, changed least: “python” (similarity to layer 0: **0.43**); most: "
        "“my” (**0.20**).",
        (
            "For comparison: two different tokens, one at this layer and one at layer 0, have a "
            "similarity of **0.05** on average."
        ),
    ]


def picture_of(n: int, n_layers: int = 4) -> AllTokens:
    values = RANDOM.uniform(-0.2, 1, size=(n_layers, n)).astype(np.float32)
    found = Measure("start", tuple(range(n_layers)), values, np.ones(n, bool), None)
    return AllTokens(found, [f"t{i}" for i in range(n)], 2, TRAINED, picked=1, scale=SCALE)


@pytest.mark.parametrize("n", [2, 16, 17, 120, 512])
def test_the_picture_has_every_token_at_every_layer(n: int) -> None:
    result = picture_of(n)
    figure = result.figure()
    np.testing.assert_allclose(drawn(figure), result.measure.values, atol=1e-4)
    assert (figure.data[0].zmin, figure.data[0].zmax) == SCALE
    assert len(set(figure.data[0].x)) == n
    assert figure.layout.xaxis.type == "category"
    assert figure.layout.xaxis.tickvals is None
    assert len(figure.layout.shapes) == 2


def test_few_bytes_go_to_the_browser() -> None:
    assert len(picture_of(512, 7).figure().to_json()) < 80_000
