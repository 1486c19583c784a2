"""Numbers beside points stand where they lie over one another least."""

from __future__ import annotations

import numpy as np

from components.features.map.figures import SIDES, map_ranges, sides

FRAME = [(0.0, 430.0), (0.0, 430.0)]  # a unit is a pixel


def test_a_point_by_itself_has_its_number_above() -> None:
    places = np.array([(100, 100), (300, 300)], float)
    assert sides(places, {0: "1", 1: "2"}, FRAME) == dict.fromkeys((0, 1), "top center")


def test_of_two_points_one_above_the_other_the_lower_one_s_number_makes_way() -> None:
    places = np.array([(100, 118), (100, 100)], float)
    found = sides(places, {0: "1", 1: "2"}, FRAME)
    assert found == {0: "top center", 1: "middle right"}


def test_points_in_a_heap_use_all_sides() -> None:
    random = np.random.default_rng(0)
    places = 215 + 12 * random.normal(size=(6, 2))
    found = sides(places, {i: str(i) for i in range(6)}, FRAME)
    assert len(set(found.values())) > 3
    assert set(found.values()) <= set(SIDES)


def test_in_space_and_without_labels_there_is_nothing_to_choose() -> None:
    places = np.zeros((2, 3))
    assert sides(places, {0: "1", 1: "2"}, map_ranges(places)) == dict.fromkeys(
        (0, 1), "top center"
    )
    assert sides(np.zeros((2, 2)), {}, FRAME) == {}
