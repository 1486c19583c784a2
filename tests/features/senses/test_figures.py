"""The pictures of Senses: every occurrence in its place, bands, counts, and nothing of HTML."""

from __future__ import annotations

import json

import numpy as np
import pytest

from contextlens.analysis.separation import Separation, separation, trial_of
from contextlens.core.errors import RequestError
from contextlens.features.senses.figures import (
    MAX_COLORED,
    MAX_PLAYED,
    Spot,
    kinds_of,
    map_order,
    ranges_of,
    senses_map,
    separation_curve,
)
from contextlens.features.senses.measures import first_placed, next_placed
from contextlens.figures.confusion import confusion_heatmap
from contextlens.figures.theme import CATEGORICAL, NEUTRAL
from tests.support.senses import clouds

SIZES = (9, 6, 5)
UNITS, CODES = clouds(SIZES)
CODES = np.where(np.arange(20) == 4, -1, CODES)
NAMES = ("animal", "<b>language</b>", "x")
TITLES = {0: "At zero", 2: "At two"}


def places() -> dict[int, np.ndarray]:
    first = first_placed(UNITS)
    return {0: first.places, 2: next_placed(UNITS[:, ::-1], first).places}


def spots(n: int = 20) -> list[Spot]:
    return [Spot("<i>my", f"python{i}", "& more", "animal", "group 1", 0.5) for i in range(n)]


def drawn(**own):
    given = {"titles": TITLES, **own}
    return senses_map(places(), 2, spots(), NAMES, CODES, **given)


def test_every_occurrence_lies_where_it_was_put() -> None:
    figure = drawn()
    order = map_order(NAMES, CODES)
    assert sorted(np.concatenate(order).tolist()) == list(range(20))
    for trace, rows in zip(figure.data, order, strict=False):
        np.testing.assert_allclose(np.stack([trace.x, trace.y], 1), places()[2][rows])
        assert [f"<b>python{i}</b>" in own for i, own in zip(rows, trace.hovertext, strict=True)]
    assert figure.layout.title.text == "At two"
    names = figure.data[len(order)]
    assert list(names.text) == ["<b>animal</b>", "<b>&lt;b&gt;language&lt;/b&gt;</b>", "<b>x</b>"]
    for i, rows in enumerate(order[1:]):
        assert names.x[i] == pytest.approx(np.median(places()[2][rows, 0]))
    assert min(np.diff(sorted(names.y))) >= 0.069 * np.ptp(figure.layout.yaxis.range)
    one = senses_map({0: places()[0]}, 0, spots(), (), np.full(20, -1), titles=TITLES)
    assert not one.data[-1].text, "a single kind needs no name"


def test_senses_have_colours_and_shapes_and_those_without_are_grey_and_first() -> None:
    figure = drawn()
    assert [trace.marker.color for trace in figure.data[:4]] == [NEUTRAL, *CATEGORICAL[:3]]
    assert next(trace.name for trace in figure.data) == "no sense"
    assert len({trace.marker.symbol for trace in figure.data[:4]}) == 4
    many = kinds_of([f"s{i}" for i in range(30)], np.arange(30), none="none")
    assert len(many) == MAX_COLORED
    assert many[0].name == f"other ({30 - MAX_COLORED + 1})"
    assert sum(len(kind.places) for kind in many) == 30


def test_what_was_typed_is_text() -> None:
    figure = drawn(titles={0: "<b>a</b>", 2: "<a href='x'>b</a>"})
    sent = figure.to_json()
    assert "<i>" not in sent.encode().decode("unicode_escape")
    assert "<a href" not in sent.encode().decode("unicode_escape")
    assert "<b>language" not in sent.encode().decode("unicode_escape")


def test_the_browser_moves_it_from_layer_to_layer() -> None:
    figure = drawn(chosen=3, near=[1, 2], sentence_places={0: np.zeros(2), 2: np.ones(2)})
    assert [frame.name for frame in figure.frames] == ["0", "2"]
    for frame, layer in zip(figure.frames, (0, 2), strict=True):
        assert len(frame.data) == len(figure.data) == 4 + 1 + 3
        np.testing.assert_allclose(frame.data[-2].x, places()[layer][[3], 0])
        assert frame.layout.title.text == TITLES[layer]
    assert [trace.name for trace in figure.data][-3:] == [
        "nearest to your sentence",
        "chosen",
        "your sentence",
    ]
    assert figure.frames[0].data[-1].x[0] == 0


def test_points_fill_the_frame_at_every_layer() -> None:
    for seed in range(10):
        units, _ = clouds((12, 7, 3), apart=seed / 3, seed=seed)
        own = first_placed(units).places
        for (low, high), axis in zip(ranges_of(own), own.T, strict=True):
            assert np.ptp(axis) >= 0.7 * (high - low)
            assert low < axis.min() <= axis.max() < high


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_points_and_points_on_a_line_have_a_frame(n: int) -> None:
    own = np.linspace(0, 1, n)[:, None] * np.array([[1.0, 0.0]])
    ranges = ranges_of(own.astype(np.float32))
    assert all(low < high for low, high in ranges)
    figure = senses_map(
        {0: own.astype(np.float32)}, 0, spots(n), (), np.full(n, -1), titles={0: "T"}
    )
    assert not figure.frames


def test_a_selection_stays_while_others_fade() -> None:
    figure = drawn(selected=[0, 1, 15])
    order = map_order(NAMES, CODES)
    kept = [
        rows[list(trace.selectedpoints)].tolist()
        for trace, rows in zip(figure.data, order, strict=False)
    ]
    assert sorted(row for rows in kept for row in rows) == [0, 1, 15]
    assert all(trace.selectedpoints is None for trace in drawn().data)


def test_many_points_are_not_sent_for_every_layer() -> None:
    n = MAX_PLAYED // 2 + 1
    own = np.random.default_rng(0).normal(size=(n, 2)).astype(np.float32)
    figure = senses_map(
        {0: own, 2: own}, 2, [Spot("", "a", "")] * n, (), np.full(n, -1), titles=TITLES
    )
    assert not figure.frames


def test_what_does_not_fit_together_is_refused() -> None:
    with pytest.raises(RequestError, match="20 occurrences at layer 1 need two coordinates"):
        senses_map(places(), 1, spots(), NAMES, CODES, titles=TITLES)
    with pytest.raises(RequestError, match="9 numbers"):
        senses_map(places(), 2, spots(), NAMES, CODES[:9], titles=TITLES)


def curve_of(n_layers: int, seed: int = 0) -> list[Separation]:
    trial = trial_of(["abc"[code] for code in CODES])
    return [
        separation(clouds(SIZES, apart=layer / 4, seed=seed)[0], trial, layer)
        for layer in range(n_layers)
    ]


def test_the_curve_has_its_band_its_chance_and_its_share_at_the_layer() -> None:
    curve = curve_of(5)
    figure = separation_curve([("python", curve)], 0.45, layer=3, title="A finding")
    band, line = figure.data
    np.testing.assert_allclose(line.y, [own.accuracy for own in curve], atol=1e-5)
    highs, lows = list(band.y)[:5], list(band.y)[5:][::-1]
    np.testing.assert_allclose(lows, [own.interval[0] for own in curve], atol=1e-5)
    np.testing.assert_allclose(highs, [own.interval[1] for own in curve], atol=1e-5)
    assert [shape.y0 for shape in figure.layout.shapes] == [0, 0.45]
    assert figure.layout.shapes[0].x0 == 3
    notes = {note.text: note.y for note in figure.layout.annotations}
    assert notes == {"always guessing": 0.45, f"<b>{curve[3].accuracy:.0%}</b>": curve[3].accuracy}


def test_two_curves_stand_in_one_picture_and_many_layers_fit() -> None:
    curves = [("<b>a</b>", curve_of(25)), ("b", curve_of(7, seed=1))]
    figure = separation_curve(curves, 0.5, layer=0, title="T")
    assert len(figure.data) == 4
    assert len(figure.layout.xaxis.tickvals) <= 13
    assert "<b>a" not in figure.to_json().encode().decode("unicode_escape")
    assert json.loads(figure.to_json())


def test_the_heatmap_counts_what_is_taken_for_what() -> None:
    own = curve_of(2)[1]
    figure = confusion_heatmap(own.confusion, ["a", "a", "<c>"], kind="sense", title="T")
    (trace,) = figure.data
    assert np.array(trace.text).tolist() == own.confusion.tolist()
    np.testing.assert_allclose(np.sum(trace.z, axis=1), 1, atol=1e-4)
    assert list(trace.x) == ["a (1)", "a (2)", "&lt;c&gt;"]
