"""The cells and names of heatmaps."""

from __future__ import annotations

import numpy as np

from contextlens.content.wording import two
from contextlens.features.layers.heatmap import heatmap_traces, token_names
from contextlens.figures.theme import GROUND, INK

RANDOM = np.random.default_rng(0)


def traces_of(n: int) -> list[dict]:
    matrix = RANDOM.uniform(-0.2, 1, size=(4, n)).astype(np.float32)
    return heatmap_traces({"x": list(range(n))}, matrix, scale=(-0.2, 1.0), name="cosine")


def test_few_tokens_have_numbers_in_two_colours() -> None:
    high, low = traces_of(16)
    (many,) = traces_of(17)
    assert not {"texttemplate", "showscale"} & many.keys()
    assert high["texttemplate"] == low["texttemplate"] == "%{text}"
    cells = [value for row in high["text"] for value in row if value]
    assert cells == [two(v) for row in high["z"] for v in row if v is not None]
    assert (high["showscale"], low["showscale"]) == (True, False)
    assert (high["textfont"]["color"], low["textfont"]["color"]) == (GROUND, INK)
    assert np.nanmin(np.array(high["z"], float)) > np.nanmax(np.array(low["z"], float))


def test_names_are_safe_and_all_different() -> None:
    labels = ["the", "<b>", "the", "the (2)", "", "", "x" * 90, "x" * 90]
    names = token_names(labels)
    assert len(set(names)) == len(labels)
    assert names[0] == "the (0)"
    assert names[3] == "the (2) at 3"
    assert "&lt;b&gt;" in names
    assert not any("<" in name for name in names)
    assert max(map(len, names)) < 30
