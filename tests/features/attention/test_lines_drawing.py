"""The lines between tokens as a drawing: every weight that is seen, the chosen pair, user text."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from contextlens.features.attention.attention import Pick
from contextlens.features.attention.grid import Grid, GridItem
from contextlens.features.attention.lines_drawing import lines_drawing

SVG = "{http://www.w3.org/2000/svg}"
VERBS = ("this token", "takes in")


def grid_of(labels: list[str]) -> Grid:
    n = len(labels)
    items = tuple(GridItem(label, (i,), "word", 0) for i, label in enumerate(labels))
    weights = np.random.default_rng(n).dirichlet(np.ones(n), size=n).astype(np.float32)
    return Grid(items, items, weights, (), renormalised=False)


@pytest.mark.parametrize("side", ["from", "to"])
def test_the_chosen_token_s_weights_are_drawn_and_written(side: str) -> None:
    grid = grid_of(["[CLS]", "<b>pet</b>", "python", "🐍", "[SEP]"])
    root = ElementTree.fromstring(lines_drawing(grid, Pick(side, 1, 2), VERBS))
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert texts.count("<b>pet</b>") == 2
    weights = grid.weights[1] if side == "from" else grid.weights[:, 2]
    shares = [text for text in texts if text and text.endswith("%")]
    assert shares == [f"{round(100 * w)}%" for w in weights.tolist() if round(100 * w)]
    lines = list(root.iter(f"{SVG}path"))
    joined = [line for line in lines if line.get("stroke") == "#009E73"]
    assert [line.get("stroke-width") for line in joined] == [f"{2 + 8 * grid.weights[1, 2]:.1f}"]
    own = [line for line in lines if line.get("stroke") == "#0072B2"]
    assert len(own) == sum(weights >= 0.004) - 1


def test_more_tokens_than_can_be_read_have_no_drawing() -> None:
    assert not lines_drawing(grid_of(["a"] * 21), Pick("from", 0, 0), VERBS)
