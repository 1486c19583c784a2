"""Names beside a map: all that fit, none over another, each at the side of its group."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlens.figures.side_names import NAME_STEP, SideName, margins, placed, side_names

RANGES = ((-2.0, 6.0), (10.0, 30.0))
HEIGHT = 420.0


def names_of(n: int, seed: int = 0) -> list[SideName]:
    rng = np.random.default_rng(seed)
    places = rng.uniform((-2, 10), (6, 30), (n, 2)).tolist()
    return [
        SideName(f"k{i}", f"name {i}", "#0072B2", (x, y), float(rng.random()))
        for i, (x, y) in enumerate(places)
    ]


@given(n=st.integers(0, 214), seed=st.integers(0, 50))
def test_names_keep_apart_and_those_that_weigh_most_are_there(n: int, seed: int) -> None:
    names = names_of(n, seed)
    sides = placed(names, RANGES, height=HEIGHT)
    room = int(HEIGHT // NAME_STEP)
    shown = [name for side in sides for name, _ in side]
    heaviest = sorted(names, key=lambda name: -name.weight)[: 2 * room]
    assert {name.key for name in shown} == {name.key for name in heaviest}
    for side in sides:
        heights = [y for _, y in side]
        assert len(heights) <= room
        assert (np.diff(heights) >= NAME_STEP / HEIGHT - 1e-9).all()
        assert all(-1e-9 <= y <= 1 + 1e-9 for y in heights)
        groups = [name.place[1] for name, _ in side]
        assert groups == sorted(groups)  # so that lines of one side seldom cross
    if sides[0] and sides[1]:
        leftmost = max(name.place[0] for name, _ in sides[0])
        assert leftmost <= min(name.place[0] for name, _ in sides[1])


def test_a_scale_stands_in_its_order_at_one_side() -> None:
    names = names_of(5)
    left, right = placed(names, RANGES, height=HEIGHT, in_order=True)
    assert not left
    assert [name.key for name, _ in right[::-1]] == [name.key for name in names]


@pytest.mark.parametrize("n", [2, 30])
def test_a_line_goes_from_its_name_to_its_group(n: int) -> None:
    names = {name.key: name for name in names_of(n)}
    drawn = side_names(list(names.values()), RANGES, height=HEIGHT, chosen="k1")
    pairs = list(zip(drawn["annotations"], drawn["shapes"], strict=True))
    assert len(pairs) == n
    for note, line in pairs:
        start, *_, end = line["path"].replace("M", "").replace("C", "").split(" ")
        x, y = map(float, start.split(","))
        assert x == RANGES[0][note["x"]]
        assert y == pytest.approx(10 + 20 * note["y"], abs=0.01)
        place = names[note["name"]].place
        assert tuple(map(float, end.split(","))) == pytest.approx(place, rel=1e-3)
        assert line["line"]["width"] == (2 if note["name"] == "k1" else 1)


def test_long_names_are_cut_and_markup_stays_text() -> None:
    evil = SideName("k", "<b>" + "x" * 90, "#0072B2", (0.0, 20.0), 1)
    (note,) = side_names([evil], RANGES, height=HEIGHT)["annotations"]
    assert "<b>x" not in note["text"]
    assert len(note["text"]) < 90
    assert 0 < margins([evil]) <= 190
    assert margins([]) == 0
