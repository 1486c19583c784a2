"""Notebooks of the pages: each runs, and draws the numbers that its page shows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from plotly.graph_objects import Figure
from streamlit.testing.v1 import AppTest

from contextlens.core import BUNDLED_ID
from contextlens.ui.models import runtime
from contextlens.ui.state.view import DEFAULT
from tests.support.pages import (
    bundled_app,
    chart,
    finish_background_work,
    framed,
    offered_files,
    settled,
)
from tests.support.snippets import drawn, run
from tests.support.tiny_models import build, store_in

PAGES = (
    *("home", "tokens", "masks", "embedding_layer", "layers", "attention", "anatomy"),
    *("meaning", "why", "pairs", "sentences", "corpora"),
)
"""The scripts of the other pages take long; their own tests run them."""


HALF = "folder:half"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny model that is stored in bfloat16."""
    root = tmp_path_factory.mktemp("models")
    store_in(torch.bfloat16, build("bert", root / "half"))
    return root


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory, folder: Path) -> Iterator[None]:
    with bundled_app(tmp_path_factory, MODEL_FOLDERS=str(folder)):
        runtime.baseline(runtime.service().load(HALF))
        finish_background_work()
        yield


def cells_of(app: AppTest) -> list[list[str]]:
    """The cells that the page's Download menu has."""
    given = [json.loads(element.proto.json) for element in app.get("bidi_component")]
    (cells,) = [data["cells"] for data in given if "ipynb" in data.get("formats", ())]
    return cells


def drawn_by(cells: list[list[str]]) -> Figure:
    """Run the code cells in order; the figure of the last one that ends with one."""
    names: dict[str, Any] = {}
    figure = None
    for kind, source in cells:
        if kind == "code" and "plotly" in source and not source.startswith("# Install"):
            figure = drawn(source, names)
        elif kind == "code":
            names = run(source, names)
    assert figure is not None
    return figure


Arrays = Mapping[str, np.ndarray]


def shares(arrays: Arrays) -> np.ndarray:
    return np.stack([arrays[f"{part}_share"] for part in ("word", "position", "segment")])


def pairs(arrays: Arrays) -> np.ndarray:
    """The pairs of A, B and two references, without the references' own."""
    return arrays["cosines"][:, [0, 0, 0, 1, 1], [1, 2, 3, 2, 3]].T


EXPECTED: dict[str, Callable[[AppTest, Arrays], Any]] = {
    "home": lambda _, arrays: pairs(arrays),
    "tokens": lambda _, arrays: arrays["token_ids"],
    "masks": lambda _, arrays: arrays["mean_cosines"],
    "embedding_layer": lambda _, arrays: shares(arrays),
    "layers": lambda app, _: chart(app, "layers_picture")["data"][0]["y"],
    "attention": lambda _, arrays: arrays["weights"],
    "anatomy": lambda _, arrays: arrays["n_values"].sum(),
    "meaning": lambda _, arrays: pairs(arrays),
    "why": lambda _, arrays: arrays["changes"],
    "pairs": lambda _, arrays: arrays["accuracy"],
    "sentences": lambda _, arrays: arrays["cosines"][list(arrays["vector"]).index("mean")],
    "corpora": lambda _, arrays: arrays["counts"][:15],
}
"""The numbers of each page, of its chart or its NPZ."""


def tops(figure: Figure) -> np.ndarray:
    """True for the areas of a treemap that are in no other one."""
    return np.array(figure.data[0]["parents"]) == ""


DRAWN: dict[str, Callable[[Figure], Any]] = {
    "tokens": lambda figure: figure.data[0].cells["values"][1],
    "layers": lambda figure: figure.data[0].z[:, -2],  # the last word's
    "attention": lambda figure: figure.data[0].z,
    "anatomy": lambda figure: sum(np.array(figure.data[0]["values"])[tops(figure)]),
    "why": lambda figure: figure.data[0].y,
    "sentences": lambda figure: figure.data[0].z,
}
"""The same numbers in the notebook's picture; if none is named here, those of its lines."""


def lines(figure: Figure) -> Any:
    return [trace.y for trace in figure.data] if len(figure.data) > 1 else figure.data[0].y


@pytest.mark.slow
@pytest.mark.parametrize("model", [BUNDLED_ID, HALF])
@pytest.mark.parametrize("page", PAGES)
def test_a_notebook_runs_and_draws_the_numbers_of_its_page(
    page: str, model: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with offered_files() as files:
        app = settled(framed(replace(DEFAULT, model=model), page))
        for name, make in files.items():
            if name.endswith((".npz", ".csv")):
                (tmp_path / name).write_bytes(make())
        cells = [[k, source.replace("path/to", str(folder))] for k, source in cells_of(app)]
    assert cells[0][1].startswith("# Install these first: %pip install ")
    assert "plotly" in cells[0][1]
    figure = drawn_by(cells)
    (npz,) = tmp_path.glob("*.npz")
    with np.load(npz) as arrays:
        expected = np.asarray(EXPECTED[page](app, arrays), float)
    drawn_numbers = np.asarray(DRAWN.get(page, lines)(figure), float)
    np.testing.assert_allclose(drawn_numbers, expected, atol=5e-5)  # the printed digits
