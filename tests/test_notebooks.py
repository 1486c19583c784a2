"""Notebooks of the pages: each runs, and draws the numbers that its page shows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plotly.graph_objects import Figure
from streamlit.testing.v1 import AppTest

from tests.support.pages import bundled_app, chart, framed, offered_files, settled
from tests.support.snippets import drawn, run

PAGES = (
    *("tokens", "masks", "embedding_layer", "layers", "attention", "anatomy"),
    *("meaning", "why", "pairs", "sentences", "corpora"),
)
"""The scripts of the other pages take long; their own tests run them."""


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory):
        yield


def cells_of(app: AppTest) -> list[list[str]]:
    """The cells that the page's Download menu has."""
    given = [json.loads(element.proto.json) for element in app.get("bidi_component")]
    (cells,) = [data["cells"] for data in given if "cells" in data and data.get("title")]
    return cells


def drawn_by(cells: list[list[str]]) -> Figure:
    """Run the code cells in order; the figure of the last one that ends with one."""
    names: dict[str, Any] = {}
    figure = None
    for kind, source in cells:
        if kind == "code" and "plotly" in source and not source.startswith("# Needs"):
            figure = drawn(source, names)
        elif kind == "code":
            names = run(source, names)
    assert figure is not None
    return figure


def numbers(values: Any) -> np.ndarray:
    """Numbers of a figure, to the digits that the app prints."""
    return np.round(np.asarray(values, float), 4)


def agrees_with_layers(app: AppTest, figure: Figure) -> bool:
    """The chosen token's line on the page is a column of the notebook's heatmap."""
    line = chart(app, "layers_picture")["data"][0]["y"]
    return any(np.allclose(line, row, atol=1e-4) for row in numbers(figure.data[0].z).T)


def agrees_with_meaning(app: AppTest, figure: Figure) -> bool:
    """The lines of the page and of the notebook are the same, one for each pair."""
    page = [trace["y"] for trace in chart(app)["data"] if " ~ " in trace.get("name", "")]
    return len(page) == len(figure.data) and all(
        any(np.allclose(numbers(line.y), row, atol=1e-4) for line in figure.data) for row in page
    )


AGREES = {"layers": agrees_with_layers, "meaning": agrees_with_meaning}


@pytest.mark.parametrize("page", PAGES)
def test_a_notebook_runs_and_ends_with_a_picture(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with offered_files() as files:
        app = settled(framed(page=page))
        for name, make in files.items():
            if name.endswith((".npz", ".csv")):
                (tmp_path / name).write_bytes(make())
        cells = cells_of(app)
    assert cells[0][1].startswith("# Needs: %pip install ")
    assert "plotly" in cells[0][1]
    figure = drawn_by(cells)
    assert AGREES.get(page, lambda *_: True)(app, figure)
