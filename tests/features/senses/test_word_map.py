"""The map of a word: every occurrence at its position, its colours, its frames, no HTML."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from plotly.graph_objects import Figure

from contextlens.core import EncoderService
from contextlens.core.errors import RequestError
from contextlens.features.senses.layers import first_plane, next_plane
from contextlens.features.senses.word_map import (
    MAX_PLAYED,
    Spot,
    WordMap,
    clicked_indices,
    color_of,
    ranges_of,
)
from contextlens.figures.theme import CATEGORICAL, MAX_COLORED, NEUTRAL
from tests.support.senses import SENSES, TEXTS, clouds, live, shown

UNITS, CODES = clouds((9, 6, 5))
CODES = np.where(np.arange(20) == 4, -1, CODES)
FIRST = first_plane(UNITS)
POSITIONS = {0: FIRST.positions, 2: next_plane(UNITS[:, ::-1], FIRST).positions}
MAP = WordMap(
    positions=POSITIONS,
    spots=tuple(Spot("<i>my", f"python{i}", "& more", "animal", "group 1", 0.5) for i in range(20)),
    names=("animal", "<b>language</b>", "x"),
    codes=CODES,
    by="sense",
    word="python",
    strays={0: np.array([1, 2]), 2: np.array([7])},
)
ORDER = [kind.indices for kind in MAP.kinds]


def one_kind(positions: np.ndarray, *layers: int) -> WordMap:
    """A map without senses."""
    n = len(positions)
    return WordMap(
        positions=dict.fromkeys(layers, positions.astype(np.float32)),
        spots=(Spot("", "a", ""),) * n,
        names=(),
        codes=np.full(n, -1),
        by="sense",
    )


def figure(**options: Any) -> Figure:
    return MAP.figure(2, **options)


def test_every_occurrence_lies_at_its_position() -> None:
    drawn = figure()
    assert sorted(np.concatenate(ORDER).tolist()) == list(range(20))
    for trace, rows in zip(drawn.data, ORDER, strict=False):
        np.testing.assert_allclose(np.stack([trace.x, trace.y], 1), POSITIONS[2][rows])
        for i, text in zip(rows, trace.hovertext, strict=True):
            assert f"<b>python{i}</b>" in text
    names = [note.name for note in drawn.layout.annotations]
    assert sorted(names) == ["&lt;b&gt;language&lt;/b&gt;", "animal", "x"]
    assert len(drawn.layout.shapes) == 3
    rings = drawn.data[len(ORDER)]
    np.testing.assert_allclose([rings.x[0], rings.y[0]], POSITIONS[2][7])
    assert not one_kind(POSITIONS[0], 0).figure(0).layout.annotations, "one kind needs no name"
    narrow = figure(narrow=True)
    assert not narrow.layout.annotations
    assert all(trace.showlegend for trace in narrow.data[: len(ORDER)])


def test_senses_have_colours_and_shapes_and_those_without_are_grey_and_first() -> None:
    traces = figure().data[:4]
    assert [trace.marker.color for trace in traces] == [NEUTRAL, *CATEGORICAL[:3]]
    assert traces[0].name == "no sense"
    assert len({trace.marker.symbol for trace in traces}) == 4
    many = replace(MAP, names=tuple(f"s{i}" for i in range(30)), codes=np.arange(30)).kinds
    assert len(many) == MAX_COLORED
    assert many[0].name == f"other ({30 - MAX_COLORED + 1})"
    assert sum(len(kind.indices) for kind in many) == 30


def test_colours_are_those_of_the_points() -> None:
    word_map = replace(MAP, names=("animal", "language", "x"))
    for kind in word_map.kinds:
        assert {word_map.color(index) for index in kind.indices.tolist()} == {kind.color}
        assert {word_map.mark(index) for index in kind.indices.tolist()} == {kind.name}
    assert color_of(-1, 2) == NEUTRAL
    assert color_of(30, 40) == color_of(39, 40)


def test_typed_markup_stays_text() -> None:
    drawn = MAP.figure(2)
    sent = drawn.to_json().encode().decode("unicode_escape")
    for markup in ("<i>", "<a href", "<b>language"):
        assert markup not in sent


def test_frames_move_the_points_from_layer_to_layer() -> None:
    with_sentence = replace(MAP, near=(1, 2), sentence_positions={0: np.zeros(2), 2: np.ones(2)})
    drawn = Figure(with_sentence.figure(2, chosen=3))  # plotly checks the frames, too
    assert [frame.name for frame in drawn.frames] == ["0", "2"]
    for frame, layer in zip(drawn.frames, (0, 2), strict=True):
        assert len(frame.data) == len(drawn.data) == 4 + 1 + 3
        np.testing.assert_allclose(frame.data[-2].x, POSITIONS[layer][[3], 0])
        strays = MAP.strays[layer]
        np.testing.assert_allclose(frame.data[4].x, POSITIONS[layer][strays, 0])
    assert [trace.name for trace in drawn.data][-3:] == [
        "nearest to your sentence",
        "chosen",
        "your sentence",
    ]
    assert drawn.frames[0].data[-1].x[0] == 0


def test_points_fill_the_frame_at_every_layer() -> None:
    for seed in range(10):
        units, _ = clouds((12, 7, 3), apart=seed / 3, seed=seed)
        positions = first_plane(units).positions
        for (low, high), axis in zip(ranges_of(positions), positions.T, strict=True):
            assert np.ptp(axis) >= 0.7 * (high - low)
            assert low < axis.min() <= axis.max() < high


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_points_and_points_on_a_line_have_a_frame(n: int) -> None:
    positions = np.linspace(0, 1, n)[:, None] * np.array([[1.0, 0.0]])
    assert all(low < high for low, high in ranges_of(positions.astype(np.float32)))
    assert not one_kind(positions, 0).figure(0).frames


def test_a_selection_stays_while_others_fade() -> None:
    drawn = figure(selected=[0, 1, 15])
    selected = [
        rows[list(trace.selectedpoints)].tolist()
        for trace, rows in zip(drawn.data, ORDER, strict=False)
    ]
    assert sorted(row for rows in selected for row in rows) == [0, 1, 15]
    assert all(trace.selectedpoints is None for trace in figure().data)


def test_many_points_are_not_sent_for_every_layer() -> None:
    positions = np.random.default_rng(0).normal(size=(MAX_PLAYED // 2 + 1, 2))
    assert not one_kind(positions, 0, 2).figure(2).frames


def test_numbers_that_do_not_match_are_refused() -> None:
    with pytest.raises(RequestError, match="20 occurrences at layer 1 need two coordinates"):
        MAP.figure(1)
    with pytest.raises(RequestError, match="9 numbers"):
        replace(MAP, codes=CODES[:9]).figure(2)


def test_clicks_on_other_points_are_left_out() -> None:
    order = (np.array([4, 2]), np.array([0]))
    points = [(0, 1), (1, 0), (2, 0), (1, 5), (-1, 0), (True, 0), (0, None)]
    reported = [{"curve_number": trace, "point_index": point} for trace, point in points]
    assert clicked_indices(reported, order) == [2, 0]


def test_a_words_map_has_every_layer_and_the_visitors_sentence(
    tiny_service: EncoderService,
) -> None:
    labelled = live(tiny_service, sense=SENSES)
    word_map = shown(tiny_service, labelled, own=TEXTS[0]).word_map
    assert word_map.sentence_positions is not None
    for layers in (word_map.positions, word_map.strays, word_map.sentence_positions):
        assert list(layers) == [0, 1, 2, 3]
    assert len(word_map.spots) == 8
    assert word_map.by == "sense"
    by_group = shown(tiny_service, labelled, color="group").word_map
    assert by_group.by == "group"
    assert list(by_group.strays) == [0, 1, 2, 3]  # ringed in any colours
    assert shown(tiny_service, live(tiny_service)).word_map.by == "group"
