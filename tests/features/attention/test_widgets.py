"""The data that the attention components send to the browser, and accept from it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlens.features.attention import widgets
from contextlens.features.attention.grid import Grid, GridItem

ITEMS = tuple(GridItem(f"w{i}", (2 * i, 2 * i + 1), "token", 0) for i in range(3))
GRID = Grid(ITEMS, ITEMS[:2], np.zeros((3, 2), np.float32), (), renormalised=False)


@pytest.mark.parametrize(
    ("pick", "expected"),
    [
        ({"side": "from", "position": 4}, ("from", 4)),
        ({"side": "to", "position": 2}, ("to", 2)),
        ({"side": "to", "position": 4}, None),
        ({"side": "from", "position": 1}, None),
        ({"side": "from", "position": True}, None),
        ({"side": "over", "position": 0}, None),
        ({"side": ["from"], "position": 0}, None),
        ({"side": "from"}, None),
        ("from", None),
        (None, None),
    ],
)
def test_only_items_of_the_grid_can_be_picked(pick: object, expected: object) -> None:
    assert widgets._checked_side(pick, widgets._first_positions(GRID)) == expected


@pytest.mark.parametrize(
    ("pick", "expected"),
    [
        ({"layer": 1, "head": 0}, (1, 0)),
        ({"layer": 6, "head": 11}, (6, 11)),
        ({"layer": 0, "head": 0}, None),
        ({"layer": 7, "head": 0}, None),
        ({"layer": 1, "head": 12}, None),
        ({"layer": 1.0, "head": 0}, None),
        ({"layer": "1", "head": 0}, None),
        (None, None),
    ],
)
def test_only_heads_of_the_model_can_be_picked(pick: object, expected: object) -> None:
    assert widgets._checked_head(pick, 6, 12) == expected


@given(st.text(st.characters(exclude_categories=()), max_size=30))
def test_any_label_survives_json(text: str) -> None:
    items = widgets._items([GridItem(text, (0,), "typed special", 0)])
    assert items[0]["kind"] == "typed"
    assert json.loads(json.dumps(items)) == items
    json.dumps(items, ensure_ascii=False).encode("utf-8")
