"""One token's way through the layers: the conclusions beside oracles, and the lines."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from plotly import graph_objects as go
from sklearn.metrics.pairwise import cosine_similarity

from contextlens.analysis.baseline import Band
from contextlens.content.language import Claim
from contextlens.content.wording import two
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.layers.hidden_states import KINDS, Measure
from contextlens.features.layers.one_token import OneToken, cosines_to_starts, one_token
from contextlens.ui.state.view import DEFAULT
from tests.features.layers.odd import (
    LABELS,
    TRAINED,
    UNTRAINED,
    Chance,
    Draw,
    keys_of,
    odd_measure,
    odd_values,
    placed,
    states_of,
    tied,
)
from tests.support.claims import unreached

RANDOM = np.random.default_rng(0)


def check_token(chance: Chance, draw: Draw) -> Iterator[Claim]:
    found = odd_measure(chance, draw, chance.choice(KINDS))
    steps = odd_measure(chance, draw, "before")
    n = min(found.values.shape[1], steps.values.shape[1])
    labels = [chance.choice(LABELS) for _ in range(found.values.shape[1])]
    at, layer = chance.randrange(n), chance.randrange(8)
    if found.kind == "start" and found.layers:
        layer = chance.choice(found.layers)
    state, are_words = chance.choice((TRAINED, UNTRAINED)), chance.random() < 0.5
    result = OneToken(
        measure=found,
        labels=labels,
        position=at,
        layers=found.layers or (0,),
        layer=layer,
        steps=steps,
        to_starts=(to_starts := odd_values(draw, 7, len(labels))),
        training=state,
        are_words=are_words,
    )
    title, claims, sure = result.title(), result.claims(), result.sure()
    yield from [title, *claims, *sure]
    check_title(title, found, at, layer)
    keys = [each.key for each in (*claims, *sure)]
    assert ("layers.empty" in keys) == (not found.own_mask.any())
    assert ("layers.untrained" in keys) == (state is UNTRAINED)
    assert ("layers.no_layer_before" in keys) == (layer not in found.layers)
    if layer in found.layers and found.kind != "start":
        kind = found.kind if len(found.counted) > 1 else f"only.{found.kind}"
        assert f"layers.one.{kind}" in keys
    if layer not in found.layers or found.kind != "start" or not layer:
        assert not sure
        return
    row = found.layers.index(layer)
    own = np.flatnonzero(found.own_mask).tolist()
    if at in own and len(own) > 2:
        lines = np.array([found.values[row, i] for i in own])
        ends = {"least": tied(lines, of_change=True), "most": tied(lines, sign=-1, of_change=True)}
        unit = "words" if are_words else "tokens"
        expected = [f"rank.{unit}.{end}" for end, best in ends.items() if best == [own.index(at)]]
        assert [key.removeprefix("layers.one.") for key in keys if ".rank." in key] == expected[:1]
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
    is_unclear = bool(others) and found.chance is not None and not stands_out
    assert ("layers.one.unclear" in keys) == is_unclear
    if stands_out:
        told = next(each for each in sure if each.key == "layers.one.towards")
        assert told.numbers["other"] == placed(rises[-1][1], labels)


def check_title(title: Claim, found: Measure, at: int, layer: int) -> None:
    values, verdict = found.values[:, at], title.key.rpartition(".")[2]
    if found.kind != "start":
        margin = 0.01 if found.kind != "length" else max(0.01, 0.01 * values.max(initial=0))
        sign = -1 if found.kind == "before" else 1
        of_change = found.kind == "before"
        best = tied(values, margin, sign, of_change=of_change) if len(values) else None
        assert title.numbers.get("n") == (best and len(best))
    elif not found.layers:
        assert verdict == "none"
    elif layer == found.layers[0]:
        assert verdict == "begin"
    else:
        row = found.layers.index(layer)
        value, usual = float(values[row]), 0.0
        assert title.numbers["value"] == value
        if found.chance is not None:
            usual = float(found.chance.mean[row])
        if found.chance is not None and value <= found.chance.high[row]:
            assert verdict == "lost"
        else:
            assert verdict == ("near" if value - usual > 1 - value else "far")


def test_every_claim_is_what_the_numbers_show_and_none_is_dead() -> None:
    assert not unreached("layers.one", keys_of(check_token, 4000) | {"layers.one.piece"})


def test_sentences_are_read_whole(service: EncoderService) -> None:
    result = one_token(states_of(DEFAULT, service))
    assert [str(each) for each in (result.title(), *result.claims(), *result.sure())] == [
        "By layer 6, context has changed “python” a lot: similarity to its start **0.43** "
        "(1: unchanged).",
        "The other words have changed even more.",
        "Layer 6 changes it most.",
        "It does not move towards any one token.",
    ]


def test_a_token_is_compared_with_the_starts_of_all(service: EncoderService) -> None:
    encoding = service.encode(BUNDLED_ID, ["I love my pet python"])[0]
    found = cosines_to_starts(encoding, 2)
    expected = cosine_similarity(encoding.hidden[:, 2], encoding.hidden[0])
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("n", [1, 2, 9, 512])
def test_one_token_s_line_comes_to_each_layer_and_the_others_are_faint(n: int) -> None:
    values = RANDOM.uniform(-0.2, 1, size=(4, n)).astype(np.float32)
    found = Measure("start", (0, 1, 2, 3), values, np.ones(n, bool), None)
    band = Band(*np.sort(RANDOM.uniform(0, 0.5, size=(3, 4)), axis=0))
    labels = ["<b>", *(f"t{i}" for i in range(1, n))]
    result = OneToken(found, labels, 0, found.layers, 2, found, values, TRAINED, band=band)
    figure = go.Figure(result.figure())  # plotly checks the frames, too
    assert [frame.name for frame in figure.frames] == list("0123")
    for row, frame in enumerate(figure.frames):
        way, dot = frame.data
        np.testing.assert_allclose(way.y, values[: row + 1, 0], atol=1e-5)
        assert (dot.x, dot.y) == ((row,), (way.y[-1],))
        assert frame.layout.shapes[0].x0 == row
    np.testing.assert_allclose(figure.data[0].y, values[:3, 0], atol=1e-5)
    faint = np.array(figure.data[4].y, dtype=float).reshape(n - 1, 5)
    np.testing.assert_allclose(faint[:, :4], values.T[1:], atol=1e-5)
    names = [note.text for note in figure.layout.annotations]
    assert names[0] == f"<b>&lt;b&gt; {two(float(values[-1, 0]))}</b>"
    assert len(names) == 1 + (n if n < 10 else 1)  # the band's, and those that have room


def test_the_token_that_it_moves_towards_is_named_in_the_picture() -> None:
    n = 30
    values = np.tile(np.linspace(0.9, 0.1, n), (2, 1)).astype(np.float32)
    low = np.zeros(2, np.float32)
    found = Measure("start", (0, 1), values, np.ones(n, bool), Band(low, low, low))
    to_starts = np.zeros((2, n), np.float32)
    to_starts[1, 15] = 0.5
    labels = [f"t{i}" for i in range(n)]
    result = OneToken(found, labels, 0, (0, 1), 1, found, to_starts, TRAINED)
    assert any(each.numbers.get("other") == "“t15”" for each in result.sure())
    names = [note.text.split()[0] for note in result.figure().layout.annotations]
    assert names == ["<b>t0", "t15"]


def test_the_scale_begins_at_zero_and_added_tokens_are_dotted(service: EncoderService) -> None:
    figure = one_token(states_of(DEFAULT, service)).figure()
    assert figure.layout.yaxis.range[0] == 0
    lines = [t for t in figure.data if t.mode == "lines" and t.customdata is not None]
    drawn = {t.line.dash: set(np.ravel(t.customdata)) for t in lines if t.line.color == "#808080"}
    assert drawn["dot"] >= {"[CLS]", "[SEP]"}
    assert "love" in drawn[None]
